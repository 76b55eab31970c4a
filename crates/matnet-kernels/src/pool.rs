//! Buffers that are used again.
//!
//! What a forward pass keeps for its backward pass is large and comes back in the same size at every
//! training step, or in a similar one where sequences differ in length. Fresh memory would cost a page fault for every 4 KiB
//! of it.

use std::any::Any;
use std::ops::{Deref, DerefMut};
use std::sync::Mutex;

use crate::simd::Element;

/// At most so many bytes lie idle.
const MOST_IDLE: usize = 1 << 30;

static IDLE: Mutex<Vec<Box<dyn Idle>>> = Mutex::new(Vec::new());

/// A buffer waiting for its next use.
trait Idle: Any + Send {
    fn bytes(&self) -> usize;
}

impl<E: Element> Idle for Vec<E> {
    fn bytes(&self) -> usize {
        self.capacity() * size_of::<E>()
    }
}

/// A buffer that goes back to the pool when it is dropped.
#[derive(Debug, Default)]
pub struct Buffer<E: Element> {
    /// At least `len` numbers.
    memory: Vec<E>,
    len: usize,
}

impl<E: Element> Buffer<E> {
    /// A buffer of `len` numbers; what they are is left open.
    pub fn take(len: usize) -> Self {
        if len == 0 {
            return Self::default();
        }
        let found = IDLE.lock().ok().and_then(|mut idle| {
            let size = |buffer: &dyn Any| buffer.downcast_ref::<Vec<E>>().map(Vec::len);
            // The smallest that is large enough, but not one that something larger will ask for.
            let sizes = idle.iter().enumerate().rev().filter_map(|(at, buffer)| Some((at, size(&**buffer)?)));
            let fitting = sizes.filter(|(_, size)| (len..=len.saturating_mul(2)).contains(size));
            let (at, _) = fitting.min_by_key(|(_, size)| *size)?;
            let any: Box<dyn Any> = idle.remove(at);
            any.downcast::<Vec<E>>().ok()
        });
        Self { memory: found.map_or_else(|| vec![E::ZERO; len], |buffer| *buffer), len }
    }
}

impl<E: Element> Deref for Buffer<E> {
    type Target = [E];

    fn deref(&self) -> &[E] {
        &self.memory[..self.len]
    }
}

impl<E: Element> DerefMut for Buffer<E> {
    fn deref_mut(&mut self) -> &mut [E] {
        &mut self.memory[..self.len]
    }
}

impl<E: Element> Drop for Buffer<E> {
    fn drop(&mut self) {
        let buffer = std::mem::take(&mut self.memory);
        if buffer.is_empty() || buffer.bytes() > MOST_IDLE {
            return;
        }
        if let Ok(mut idle) = IDLE.lock() {
            idle.push(Box::new(buffer));
            // The longest unused goes first.
            let mut held: usize = idle.iter().map(|buffer| buffer.bytes()).sum();
            let mut gone = 0;
            while held > MOST_IDLE {
                held -= idle[gone].bytes();
                gone += 1;
            }
            idle.drain(..gone);
        }
    }
}

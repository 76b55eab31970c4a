//! Buffers that are used again.
//!
//! What a forward pass keeps for its backward pass is large and comes back in the same size at every
//! training step, or in a similar one where sequences differ in length. Fresh memory would cost a page fault for every 4 KiB
//! of it.

use std::any::Any;
use std::fmt::Debug;
use std::ops::{Deref, DerefMut};
use std::sync::Mutex;

use crate::parallel::to_line;

/// At most so many bytes lie idle.
const MOST_IDLE: usize = 1 << 30;

static IDLE: Mutex<Vec<Box<dyn Idle>>> = Mutex::new(Vec::new());

/// A buffer waiting for its next use.
trait Idle: Any + Send {
    fn bytes(&self) -> usize;
}

impl<T: Send + 'static> Idle for Vec<T> {
    fn bytes(&self) -> usize {
        self.capacity() * size_of::<T>()
    }
}

/// What a buffer may hold: plain numbers.
pub trait Pooled: Copy + Default + Debug + Send + 'static {}

impl<T: Copy + Default + Debug + Send + 'static> Pooled for T {}

/// A buffer that goes back to the pool when it is dropped.
#[derive(Debug, Default)]
pub struct Buffer<T: Pooled> {
    /// At least `len` numbers from the first cache line on, which begins at `start`.
    memory: Vec<T>,
    start: usize,
    len: usize,
}

impl<T: Pooled> Buffer<T> {
    /// A buffer of `len` numbers; what they are is left open.
    pub fn take(len: usize) -> Self {
        if len == 0 {
            return Self::default();
        }
        let room = len + 64 / size_of::<T>();
        let found = IDLE.lock().ok().and_then(|mut idle| {
            let size = |buffer: &dyn Any| buffer.downcast_ref::<Vec<T>>().map(Vec::len);
            // The smallest that is large enough, but not one that something larger will ask for.
            let sizes = idle.iter().enumerate().rev().filter_map(|(at, buffer)| Some((at, size(&**buffer)?)));
            let fitting = sizes.filter(|(_, size)| (room..=room.saturating_mul(2)).contains(size));
            let (at, _) = fitting.min_by_key(|(_, size)| *size)?;
            let any: Box<dyn Any> = idle.remove(at);
            any.downcast::<Vec<T>>().ok()
        });
        let memory = found.map_or_else(|| vec![T::default(); room], |buffer| *buffer);
        let start = to_line(&memory);
        Self { memory, start, len }
    }
}

impl<T: Pooled> Deref for Buffer<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        &self.memory[self.start..self.start + self.len]
    }
}

impl<T: Pooled> DerefMut for Buffer<T> {
    fn deref_mut(&mut self) -> &mut [T] {
        &mut self.memory[self.start..self.start + self.len]
    }
}

impl<T: Pooled> Drop for Buffer<T> {
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

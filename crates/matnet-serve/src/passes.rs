//! How much of a net's work is done at once.

use std::cell::RefCell;

use hyper::StatusCode;
use matnet_train::Predictor;

use crate::refusal::{Allowed, Refusal};

/// A net, and how much of its work is done at once.
pub struct Passes<'a> {
    pub net: &'a dyn Predictor,
    max_samples: usize,
    max_bytes: u64,
    /// The shape of a sample that was last asked about, and what one of them takes.
    last: RefCell<(Vec<usize>, u64)>,
}

impl<'a> Passes<'a> {
    /// Passes over so many samples, and in so many bytes, at most.
    pub fn new(net: &'a dyn Predictor, max_samples: usize, max_bytes: u64) -> Self {
        Self { net, max_samples, max_bytes, last: RefCell::default() }
    }

    /// How many samples of this shape fit into a pass.
    pub fn samples(&self, shape: &[usize]) -> Allowed<usize> {
        let mut last = self.last.borrow_mut();
        if last.0 != shape {
            *last = (shape.to_vec(), self.net.pass_bytes(shape).max(1));
        }
        let (bytes, limit) = (last.1, self.max_bytes);
        if bytes > limit {
            let what = format!(
                "a prediction for one sample {shape:?} would take {} MiB of memory; at most {} expected (--max-pass)",
                bytes.div_ceil(1 << 20),
                limit >> 20
            );
            return Err(Refusal::new(StatusCode::PAYLOAD_TOO_LARGE, what));
        }
        Ok(usize::try_from(limit / bytes).unwrap_or(usize::MAX).min(self.max_samples))
    }
}

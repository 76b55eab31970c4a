//! Sums whose terms come in any order and are added in one.
//!
//! Threads hand in the terms of their blocks as they get there; a term waits until all before it are in. So the sum does not
//! depend on the threads, and no more terms are held than the threads are apart.

use std::sync::{Mutex, PoisonError};

use crate::lanes;
use crate::pool::Buffer;
use crate::simd::{Element, Level};

/// Term 0 + term 1 + …, added from the left.
#[derive(Debug, Default)]
pub(crate) struct InOrder<E: Element>(Mutex<Line<E>>);

#[derive(Debug, Default)]
struct Line<E: Element> {
    /// The sum of the terms before `next`.
    sum: Buffer<E>,
    next: usize,
    waiting: Vec<(usize, Buffer<E>)>,
}

impl<E: Element> InOrder<E> {
    /// Hands in term number `at`.
    pub(crate) fn add(&self, level: Level, at: usize, term: Buffer<E>) {
        let mut line = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        line.waiting.push((at, term));
        while let Some(first) = line.waiting.iter().position(|(at, _)| *at == line.next) {
            let (at, term) = line.waiting.swap_remove(first);
            if at == 0 {
                line.sum = term;
            } else {
                lanes::add_to(level, &mut line.sum, &term);
            }
            line.next += 1;
        }
    }

    /// The sum of all terms.
    pub(crate) fn sum(self) -> Buffer<E> {
        let line = self.0.into_inner().unwrap_or_else(PoisonError::into_inner);
        assert!(line.waiting.is_empty(), "a term is missing");
        line.sum
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_order_of_arrival_does_not_matter() {
        let terms: Vec<f32> = (0..7).map(|at| 1.0 / (3.0 + at as f32).powi(3)).collect();
        let from_left = terms.iter().copied().reduce(|sum, term| sum + term);
        for order in [[0, 1, 2, 3, 4, 5, 6], [6, 5, 4, 3, 2, 1, 0], [3, 0, 6, 1, 5, 2, 4]] {
            let sum = InOrder::default();
            for at in order {
                let mut term = Buffer::take(1);
                term[0] = terms[at];
                sum.add(Level::best(), at, term);
            }
            assert_eq!(sum.sum().first().copied(), from_left);
        }
    }
}

//! Maps one after the other, X ↦ f(UᵀXV + B) ↦ …, over a batch: the layers of a deep net.
//!
//! A block of samples runs through all maps on one thread, laid side by side from the first to the last. The bits are those that
//! [`Map`](crate::Map) gives map by map; what is saved is taking blocks apart in between, and waiting for all of them.

mod backward;
mod forward;

use std::ops::Range;

use rayon::prelude::*;

use crate::Activation;
use crate::map::batch;
use crate::pair::{MapSize, Pair, Purpose};
use crate::parallel::at_least;
use crate::simd::{Element, Level};

pub use backward::{ChainGradients, LinkGradients};

/// One map of a chain.
#[derive(Clone, Copy, Debug)]
pub struct Link<'a, E> {
    /// Sizes of one sample.
    pub size: MapSize,
    /// U, `rows × rows_out`.
    pub row_map: &'a [E],
    /// V, `cols × cols_out`.
    pub col_map: &'a [E],
    /// B, `rows_out × cols_out`.
    pub bias: &'a [E],
    /// f
    pub activation: Activation,
}

/// The maps and what enters them.
#[derive(Clone, Copy, Debug)]
pub struct Chain<'a, E> {
    /// X of every sample, `batch × rows × cols`.
    pub input: &'a [E],
    /// At least one; each takes what the one before gives.
    pub links: &'a [Link<'a, E>],
}

/// Weights packed and sizes worked out.
struct Plan<'a, E> {
    level: Level,
    batch: usize,
    /// Samples a block.
    per_block: usize,
    /// Numbers in one X and in one sample of the output.
    x_size: usize,
    y_size: usize,
    pairs: Vec<Pair<'a, E>>,
}

impl<E: Element> Plan<'_, E> {
    /// The samples of a block.
    fn samples(&self, block: usize) -> Range<usize> {
        block * self.per_block..((block + 1) * self.per_block).min(self.batch)
    }

    /// Lengths of the longest block of states and of the longest middle product.
    fn longest(&self) -> [usize; 2] {
        let most = |length: fn(&Pair<E>) -> usize| self.pairs.iter().map(length).max().unwrap_or(0);
        [most(|pair| pair.input.len().max(pair.output.len())), most(|pair| pair.middle.len())]
    }

    /// Numbers in all that a block keeps for the backward pass: each state followed by the middle product that is made of it, the output
    /// last.
    fn share(&self) -> usize {
        let first = self.pairs[0].input.len();
        self.pairs.iter().map(|pair| pair.middle.len() + pair.output.len()).sum::<usize>() + first
    }
}

impl<'a, E: Element> Chain<'a, E> {
    fn plan(&self, level: Level, purpose: impl FnOnce(usize) -> Purpose) -> Plan<'a, E> {
        let (first, last) = (&self.links[0].size, &self.links[self.links.len() - 1].size);
        let batch = batch(self.input.len(), first.input());
        for pair in self.links.windows(2) {
            let (given, taken) = (&pair[0].size, &pair[1].size);
            let fits = (given.rows_out, given.cols_out) == (taken.rows, taken.cols);
            assert!(fits, "a map does not take what the one before gives");
        }
        for link in self.links {
            assert_eq!(link.bias.len(), link.size.output(), "the bias does not have the size it should");
        }
        let purpose = purpose(batch);
        let largest = self.links.iter().map(|link| link.size.input().max(link.size.output()));
        let level = purpose.level(level, batch, largest.max().unwrap_or(0));
        // Alone, waking a second thread would take longer than the work.
        let least = if purpose == Purpose::Alone { usize::MAX } else { at_least() };
        let pair = |link: &Link<'a, E>| Pair::new(level, link.size, link.row_map, link.col_map, purpose);
        Plan {
            level,
            batch,
            per_block: purpose.block::<E>(level),
            x_size: first.input(),
            y_size: last.output(),
            pairs: self.links.par_iter().with_min_len(least).map(pair).collect(),
        }
    }
}

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
use crate::pair::{Lay, MapSize, Pair};
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

/// Maps in a row whose samples lie alike: weights packed and sizes worked out.
struct Plan<'a, E: Element> {
    level: Level,
    links: &'a [Link<'a, E>],
    batch: usize,
    /// Samples a block.
    per_block: usize,
    /// Numbers in one X and in one sample of the output.
    x_size: usize,
    y_size: usize,
    pairs: Vec<Pair<'a, E>>,
}

impl<E: Element> Plan<'_, E> {
    /// Whether threads share products.
    fn is_shared(&self) -> bool {
        self.pairs.iter().any(Pair::is_shared)
    }

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

    /// Numbers in all that is kept.
    fn kept(&self) -> usize {
        self.batch.div_ceil(self.per_block) * self.share()
    }
}

impl<'a, E: Element> Chain<'a, E> {
    /// The maps, cut where the next one is better laid out in another way. Each map lies as it would alone, so that its gradients have the
    /// same bits.
    fn plans(&self, level: Level, forward: bool) -> Vec<Plan<'a, E>> {
        let batch = batch(self.input.len(), self.links[0].size.input());
        for pair in self.links.windows(2) {
            let (given, taken) = (&pair[0].size, &pair[1].size);
            let fits = (given.rows_out, given.cols_out) == (taken.rows, taken.cols);
            assert!(fits, "a map does not take what the one before gives");
        }
        for link in self.links {
            assert_eq!(link.bias.len(), link.size.output(), "the bias does not have the size it should");
        }
        // Many maps of a net have the same sizes.
        let mut known: Option<(MapSize, Lay)> = None;
        let mut lay = |size: MapSize| match known {
            Some((before, lay)) if before == size => lay,
            _ => known.insert((size, Lay::choose::<E>(level, batch, 1, &[size]))).1,
        };
        let lays: Vec<Lay> = self.links.iter().map(|link| lay(link.size)).collect();
        // For one sample, waking a second thread would take longer than the work.
        let least = if batch == 1 { usize::MAX } else { at_least() };
        let mut rest = self.links;
        let plan = |alike: &[Lay]| {
            let (lay, links) = (alike[0], rest.split_off(..alike.len()).unwrap_or_default());
            let pair = |link: &Link<'a, E>| Pair::new(lay, link.size, link.row_map, link.col_map, forward);
            Plan {
                level: lay.level,
                links,
                batch,
                per_block: lay.per_block::<E>(),
                x_size: links[0].size.input(),
                y_size: links[links.len() - 1].size.output(),
                pairs: links.par_iter().with_min_len(least).map(pair).collect(),
            }
        };
        lays.chunk_by(Lay::eq).map(plan).collect()
    }
}

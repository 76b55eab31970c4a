//! Which way samples are laid out for a pass.

use super::MapSize;
use crate::block::Layout;
use crate::simd::{Element, InLanes, Level, cores};

/// How the samples of a batch lie in vectors, and with which vectors they are computed. It depends on the CPU, the batch and the sizes
/// alone, so that neither the number of threads nor what is wanted of a pass changes a result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Lay {
    pub(crate) level: Level,
    batch: usize,
    /// Columns lie in the lanes, and so many samples make a block.
    columns: Option<usize>,
}

impl Lay {
    /// The faster way to take a batch through maps of these sizes. Threads can share a block of samples, in so many pieces.
    pub(crate) fn choose<E: Element>(level: Level, batch: usize, pieces: usize, sizes: &[MapSize]) -> Self {
        let largest = sizes.iter().map(|size| size.input().max(size.output())).max().unwrap_or(0);
        let columns = level.for_columns();
        // Products of vectors that a block of samples takes, and one sample with columns in lanes.
        let of_block: usize = sizes.iter().map(|size| 3 * size.products()).sum();
        let of_sample: usize = sizes.iter().map(|size| size.vectors(columns.lanes::<E>())).sum();
        let wide = level.whole_512() && level.is_near(largest) && {
            // Sums over lanes are a little slower than the other products.
            const WORTH: usize = 112;
            let (blocks, cores) = (batch.div_ceil(level.lanes::<E>()), cores());
            WORTH * (blocks * pieces).div_ceil(cores) * of_block
                < 100 * pieces * batch.div_ceil(cores) * of_sample
        };
        let samples = if wide { level } else { level.for_blocks(batch, largest) };
        let take_columns = match level.in_lanes() {
            Some(in_lanes) => in_lanes == InLanes::Columns,
            None if wide => false,
            None => {
                let blocks = batch.div_ceil(samples.lanes::<E>());
                // A single block of samples leaves nothing to a second thread. Where 512 bits are one piece, sums over few
                // terms lose more than this counts.
                let worth = match blocks {
                    1 => 150,
                    _ if columns.whole_512() => 75,
                    _ => 100,
                };
                100 * batch * of_sample <= worth * blocks * of_block
            }
        };
        if take_columns {
            Self::columns(columns, batch)
        } else {
            Self { level: samples, batch, columns: None }
        }
    }

    /// Columns in the lanes. Blocks are so small that threads find enough of them, and so large that the weights of a map serve several
    /// samples.
    fn columns(level: Level, batch: usize) -> Self {
        const MOST: usize = 8;
        Self { level, batch, columns: Some((batch / MOST).clamp(1, MOST)) }
    }

    /// The same with one sample a block where columns lie in the lanes: for samples that end at different steps.
    pub(crate) fn one_by_one(self) -> Self {
        Self { columns: self.columns.map(|_| 1), ..self }
    }

    /// How many threads may share a product: more than one where there are too few blocks to keep all of them busy to the end.
    pub(crate) fn threads(self) -> usize {
        const ENOUGH: usize = 4;
        let threads = rayon::current_num_threads();
        match self.columns {
            Some(samples) if self.batch.div_ceil(samples) < ENOUGH * threads => threads,
            _ => 1,
        }
    }

    /// Whether columns lie in the lanes.
    pub(crate) fn is_columns(self) -> bool {
        self.columns.is_some()
    }

    /// How many samples make a block.
    pub(crate) fn per_block<E: Element>(self) -> usize {
        self.columns.unwrap_or_else(|| self.level.lanes::<E>())
    }

    /// How a block of matrices lies in memory.
    pub(crate) fn layout<E: Element>(self, sides: [usize; 2]) -> Layout {
        match self.columns {
            Some(samples) => Layout::columns::<E>(self.level, sides, samples),
            None => Layout::new::<E>(self.level, sides),
        }
    }
}

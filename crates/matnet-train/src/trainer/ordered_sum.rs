//! Sums over shards, in the order of the shards, whoever has computed them.
//!
//! Each rank gets a slice of the vectors of all shards, adds them up in order and gives its sum to all. An all-reduce would move as
//! many bytes, but its order of additions depends on the number of ranks.

use std::ops::Range;

use matnet::numbers::{add_weighted, append_divided};

use crate::ranks::{Ranks, part};

/// Numbers that are exchanged at once, so that buffers stay small and MPI can count them.
const BLOCK: usize = 1 << 24;

/// A weighted sum of vectors. The first `split` numbers have other weights than the rest.
pub struct OrderedSum {
    /// The part of the vectors that is summed here.
    range: Range<usize>,
    split: usize,
    sums: Vec<f64>,
}

impl OrderedSum {
    /// Of a part of the vectors.
    pub fn new(range: Range<usize>, split: usize) -> Self {
        let sums = vec![0.0; range.len()];
        Self { range, split, sums }
    }

    /// Adds this part of a vector.
    pub fn add(&mut self, numbers: &[f32], [first, rest]: [f64; 2]) {
        let split = self.here();
        let (sums, other_sums) = self.sums.split_at_mut(split);
        add_weighted(sums, first, &numbers[..split]);
        add_weighted(other_sums, rest, &numbers[split..]);
    }

    /// The sums, divided by these.
    pub fn divided(self, [first, rest]: [f64; 2]) -> Vec<f32> {
        let (sums, other_sums) = self.sums.split_at(self.here());
        let mut divided = Vec::with_capacity(self.sums.len());
        append_divided(sums, first, &mut divided);
        append_divided(other_sums, rest, &mut divided);
        divided
    }

    /// Where this part is split.
    fn here(&self) -> usize {
        self.split.clamp(self.range.start, self.range.end) - self.range.start
    }
}

/// The vectors of all shards, weighted, summed and divided. `own` are those of this rank, `counts` says how many each rank has, and
/// `weights` are those of all.
pub fn across_ranks(
    ranks: &Ranks,
    own: &[Vec<f32>],
    counts: &[usize],
    length: usize,
    split: usize,
    weights: &[[f64; 2]],
    divisors: [f64; 2],
) -> Vec<f32> {
    let block = (BLOCK / weights.len().max(1)).max(1);
    let mut total = Vec::with_capacity(length);
    for start in (0..length).step_by(block) {
        let size = block.min(length - start);
        let slice = |rank: usize| {
            let range = part(size, ranks.size(), rank);
            start + range.start..start + range.end
        };
        let slices: Vec<Range<usize>> = (0..ranks.size()).map(slice).collect();
        let mut send = Vec::with_capacity(size * own.len());
        for slice in &slices {
            own.iter().for_each(|shard| send.extend_from_slice(&shard[slice.clone()]));
        }
        let mine = slices[ranks.rank()].clone();
        let send_counts: Vec<usize> = slices.iter().map(|slice| slice.len() * own.len()).collect();
        let receive_counts: Vec<usize> = counts.iter().map(|count| count * mine.len()).collect();
        let received = ranks.all_to_all(&send, &send_counts, &receive_counts);
        let mut sum = OrderedSum::new(mine.clone(), split);
        for (shard, &weights) in received.chunks_exact(mine.len().max(1)).zip(weights) {
            sum.add(shard, weights);
        }
        let lengths: Vec<usize> = slices.iter().map(Range::len).collect();
        total.extend(ranks.all_gather_numbers(&sum.divided(divisors), &lengths));
    }
    total
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_of_a_sum_are_the_sum() {
        let shards =
            [[0.1_f32, -3.0, 1e8, 4.0, 0.7], [0.3, 3.0, 1.0, -4.0, 0.2], [0.5, 1e-8, -1e8, 2.0, 0.9]];
        let weights = [[1.0, 2.0], [3.0, 0.5], [0.25, 1.0]];
        let whole = |range: Range<usize>| {
            let mut sum = OrderedSum::new(range.clone(), 3);
            for (shard, weights) in shards.iter().zip(weights) {
                sum.add(&shard[range.clone()], weights);
            }
            sum.divided([4.25, 3.5])
        };
        let all = whole(0..5);
        let pieces: Vec<f32> = [0..2, 2..4, 4..5].into_iter().flat_map(whole).collect();
        assert_eq!(all, pieces);
        assert_eq!(all[1], ((-3.0 + 9.0 + 0.25 * f64::from(1e-8_f32)) / 4.25) as f32);
        assert_eq!(all[3], ((8.0 - 2.0 + 2.0) / 3.5) as f32);
    }

    #[test]
    fn one_rank_alone_sums_in_order() {
        let (own, weights) = (vec![vec![1.0, 2.0, 3.0], vec![4.0, 5.0, 6.0]], [[0.5, 1.0], [0.25, 1.0]]);
        let sum = across_ranks(&Ranks::default(), &own, &[2], 3, 2, &weights, [1.0, 2.0]);
        assert_eq!(sum, [1.5, 2.25, 4.5]);
    }
}

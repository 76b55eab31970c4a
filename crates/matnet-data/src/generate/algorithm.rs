//! Algorithmic tasks on sequences of random bits, as for the Neural Turing Machine: copy, repeat copy, associative recall.

use std::ops::Range;

use matnet_random::SeededRng;
use serde::{Deserialize, Serialize};

/// An algorithmic task on vectors of random bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Algorithm {
    /// Copy the vectors.
    ///
    /// Input: `length` vectors, a delimiter on one more channel, then zeros. Target, from there on: the vectors.
    Copy,
    /// Copy the vectors several times, then output an end marker.
    ///
    /// Input: `length` vectors, a delimiter on one more channel together with the number of repeats on another, then zeros. Target:
    /// the vectors, repeated, and an end marker on one more channel.
    RepeatCopy,
    /// Recall the item that followed another one.
    ///
    /// Input: `length` items of `item` vectors, each after a delimiter; then any of them but the last as the query, between two
    /// delimiters on another channel; then zeros. Target: the item that followed the query.
    AssociativeRecall,
}

/// The size of a sequence.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct SequenceSize {
    /// The number of vectors; of items for associative recall.
    pub length: usize,
    /// The number of repeats; 1 except for repeat copy.
    pub repeats: usize,
}

/// One sequence with its targets.
#[derive(Clone, Debug, PartialEq)]
pub struct AlgorithmSequence {
    /// The input: `steps × channels`.
    pub input: Vec<f32>,
    /// The steps at which the output counts.
    pub target_steps: Range<usize>,
    /// The targets at these steps: `target_steps × bits`.
    pub target: Vec<f32>,
}

impl Algorithm {
    /// The name, as in configs.
    pub fn name(self) -> &'static str {
        match self {
            Self::Copy => "copy",
            Self::RepeatCopy => "repeat-copy",
            Self::AssociativeRecall => "associative-recall",
        }
    }

    /// The number of input channels for vectors of `width` bits.
    pub fn channels(self, width: usize) -> usize {
        match self {
            Self::Copy => width + 1,
            Self::RepeatCopy | Self::AssociativeRecall => width + 2,
        }
    }

    /// The number of output bits for vectors of `width` bits.
    pub fn bits(self, width: usize) -> usize {
        match self {
            Self::Copy | Self::AssociativeRecall => width,
            Self::RepeatCopy => width + 1,
        }
    }

    /// The number of steps before the first target, and the number of targets.
    pub fn steps(self, size: SequenceSize, item: usize) -> (usize, usize) {
        let SequenceSize { length, repeats } = size;
        match self {
            Self::Copy => (length + 1, length),
            Self::RepeatCopy => (length + 1, length * repeats + 1),
            Self::AssociativeRecall => (length * (1 + item) + item + 2, item),
        }
    }

    /// Generates a sequence of vectors of `width` bits; items have `item` vectors. A vector is *uneven* with probability `uneven`:
    /// its share of ones is drawn uniformly instead of being 0.5. `encode_repeats` encodes the number of repeats in the input.
    pub fn generate(
        self,
        size: SequenceSize,
        width: usize,
        item: usize,
        uneven: f64,
        encode_repeats: impl Fn(usize) -> f32,
        rng: &mut SeededRng,
    ) -> AlgorithmSequence {
        let (before, count) = self.steps(size, item);
        let channels = self.channels(width);
        let mut input = InputBuilder { values: Vec::with_capacity((before + count) * channels), channels };
        let mut vectors =
            |count: usize| -> Vec<f32> { (0..count).flat_map(|_| vector(width, uneven, rng)).collect() };
        let target = match self {
            Self::Copy => {
                let vectors = vectors(size.length);
                input.vectors(&vectors, width);
                input.mark(width, 1.0);
                vectors
            }
            Self::RepeatCopy => {
                let vectors = vectors(size.length);
                input.vectors(&vectors, width);
                input.mark(width, 1.0);
                let last = input.values.len() - 1;
                input.values[last] = encode_repeats(size.repeats);
                let mut target = Vec::with_capacity(count * (width + 1));
                for vector in vectors.repeat(size.repeats).chunks(width) {
                    target.extend_from_slice(vector);
                    target.push(0.0);
                }
                target.resize(count * (width + 1) - 1, 0.0);
                target.push(1.0);
                target
            }
            Self::AssociativeRecall => {
                let items: Vec<Vec<f32>> = (0..size.length).map(|_| vectors(item)).collect();
                for item in &items {
                    input.mark(width, 1.0);
                    input.vectors(item, width);
                }
                let query = rng.below(size.length - 1);
                input.mark(width + 1, 1.0);
                input.vectors(&items[query], width);
                input.mark(width + 1, 1.0);
                items[query + 1].clone()
            }
        };
        input.values.resize((before + count) * channels, 0.0);
        AlgorithmSequence { input: input.values, target_steps: before..before + count, target }
    }
}

fn vector(width: usize, uneven: f64, rng: &mut SeededRng) -> Vec<f32> {
    let ones = if uneven > 0.0 && rng.chance(uneven) { rng.uniform() } else { 0.5 };
    (0..width).map(|_| f32::from(u8::from(rng.chance(ones)))).collect()
}

/// An input under construction.
struct InputBuilder {
    values: Vec<f32>,
    channels: usize,
}

impl InputBuilder {
    fn vectors(&mut self, vectors: &[f32], width: usize) {
        for vector in vectors.chunks(width) {
            self.values.extend_from_slice(vector);
            self.values.resize(self.values.len() + self.channels - width, 0.0);
        }
    }

    /// Appends a step that is zero except for one channel.
    fn mark(&mut self, channel: usize, value: f32) {
        let start = self.values.len();
        self.values.resize(start + self.channels, 0.0);
        self.values[start + channel] = value;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn generate(algorithm: Algorithm, length: usize, repeats: usize) -> (AlgorithmSequence, Vec<Vec<f32>>) {
        let mut rng = SeededRng::new(1, "draw");
        let sequence =
            algorithm.generate(SequenceSize { length, repeats }, 2, 2, 0.0, |n| n as f32 / 10.0, &mut rng);
        let steps = sequence.input.chunks(algorithm.channels(2)).map(<[f32]>::to_vec).collect();
        (sequence, steps)
    }

    #[test]
    fn a_copy_follows_the_delimiter() {
        let (sequence, steps) = generate(Algorithm::Copy, 3, 1);
        assert_eq!((steps.len(), sequence.target_steps), (7, 4..7));
        assert_eq!(steps[3], [0.0, 0.0, 1.0]);
        assert!(steps[4..].iter().flatten().all(|&x| x == 0.0));
        let vectors: Vec<f32> = steps[..3].iter().flat_map(|step| step[..2].to_vec()).collect();
        assert_eq!(sequence.target, vectors);
        assert!(steps[..3].iter().all(|step| step[2] == 0.0));
    }

    #[test]
    fn repeats_end_with_a_marker() {
        let (sequence, steps) = generate(Algorithm::RepeatCopy, 2, 3);
        assert_eq!((steps.len(), sequence.target_steps), (10, 3..10));
        assert_eq!(steps[2], [0.0, 0.0, 1.0, 0.3]);
        let target: Vec<&[f32]> = sequence.target.chunks(3).collect();
        assert_eq!(target.len(), 7);
        for at in 0..6 {
            assert_eq!(target[at], [steps[at % 2][0], steps[at % 2][1], 0.0]);
        }
        assert_eq!(target[6], [0.0, 0.0, 1.0]);
    }

    #[test]
    fn the_target_followed_the_query() {
        let (sequence, steps) = generate(Algorithm::AssociativeRecall, 4, 1);
        assert_eq!((steps.len(), sequence.target_steps), (4 * 3 + 4 + 2, 16..18));
        assert_eq!((&steps[12], &steps[15]), (&vec![0.0, 0.0, 0.0, 1.0], &vec![0.0, 0.0, 0.0, 1.0]));
        let item = |at: usize| [&steps[3 * at + 1][..2], &steps[3 * at + 2][..2]].concat();
        assert!((0..4).all(|at| steps[3 * at] == [0.0, 0.0, 1.0, 0.0]));
        let query = [&steps[13][..2], &steps[14][..2]].concat();
        assert!((0..3).any(|at| item(at) == query && item(at + 1) == sequence.target));
    }

    #[test]
    fn uneven_vectors_have_any_number_of_ones_equally_often() {
        let mut counts = [[0; 9]; 2];
        for (uneven, counts) in [0.0, 1.0].into_iter().zip(&mut counts) {
            let mut rng = SeededRng::new(1, "uneven");
            let size = SequenceSize { length: 9000, repeats: 1 };
            let sequence = Algorithm::Copy.generate(size, 8, 1, uneven, |_| 0.0, &mut rng);
            sequence.target.chunks(8).for_each(|vector| counts[vector.iter().sum::<f32>() as usize] += 1);
        }
        // Of 9,000 vectors 35 ± 6 have no ones among eight fair bits, and 1,000 ± 30 if all numbers are alike.
        assert!((15..60).contains(&counts[0][0]) && (2300..2650).contains(&counts[0][4]), "{counts:?}");
        assert!(counts[1].iter().all(|count| (850..1150).contains(count)), "{counts:?}");
    }
}

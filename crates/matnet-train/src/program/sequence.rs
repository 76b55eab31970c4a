//! What goes in and what is to come out, bit by bit.

use std::ops::Range;

use matnet::random::SeededRng;
use serde::{Deserialize, Serialize};

/// What is to be done with some vectors of bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Program {
    /// The vectors again.
    ///
    /// In: `length` vectors, a mark on one more channel, then nothing. Out, from there on: the vectors.
    Copy,
    /// The vectors again and again, and then a mark.
    ///
    /// In: `length` vectors, a mark on one more channel together with how often on another, then nothing. Out: the vectors as
    /// often as that, and a mark on one more channel.
    RepeatCopy,
    /// The item that came after another.
    ///
    /// In: `length` items of `item` vectors, each after a mark; then one of them but the last between two marks on another
    /// channel, then nothing. Out: the item that followed it.
    Recall,
}

/// How large a sequence is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Size {
    /// Vectors; items for recall.
    pub length: usize,
    /// How often; 1 but for repeat-copy.
    pub repeats: usize,
}

/// One sequence.
#[derive(Clone, Debug, PartialEq)]
pub struct Sequence {
    /// What goes in: `steps × channels`.
    pub input: Vec<f32>,
    /// The steps at which an answer is wanted.
    pub answers: Range<usize>,
    /// What is to come out at these: `answers × bits`.
    pub wanted: Vec<f32>,
}

impl Program {
    /// The word for it.
    pub fn word(self) -> &'static str {
        match self {
            Self::Copy => "copy",
            Self::RepeatCopy => "repeat-copy",
            Self::Recall => "recall",
        }
    }

    /// Numbers in a step of input, when a vector has `width` bits.
    pub fn channels(self, width: usize) -> usize {
        match self {
            Self::Copy => width + 1,
            Self::RepeatCopy | Self::Recall => width + 2,
        }
    }

    /// Bits in a step of output.
    pub fn bits(self, width: usize) -> usize {
        match self {
            Self::Copy | Self::Recall => width,
            Self::RepeatCopy => width + 1,
        }
    }

    /// How many steps go in before the first answer, and how many answers are wanted.
    pub fn steps(self, size: Size, item: usize) -> (usize, usize) {
        let Size { length, repeats } = size;
        match self {
            Self::Copy => (length + 1, length),
            Self::RepeatCopy => (length + 1, length * repeats + 1),
            Self::Recall => (length * (1 + item) + item + 2, item),
        }
    }

    /// Draws a sequence. Of its vectors the share `uneven` has any share of ones, the others as many as zeros; `often` says how a
    /// number of repeats is written.
    pub fn draw(
        self,
        size: Size,
        width: usize,
        item: usize,
        uneven: f64,
        often: impl Fn(usize) -> f32,
        rng: &mut SeededRng,
    ) -> Sequence {
        let (before, count) = self.steps(size, item);
        let channels = self.channels(width);
        let mut tape = Tape { input: Vec::with_capacity((before + count) * channels), channels };
        let mut vectors =
            |count: usize| -> Vec<f32> { (0..count).flat_map(|_| vector(width, uneven, rng)).collect() };
        let wanted = match self {
            Self::Copy => {
                let vectors = vectors(size.length);
                tape.vectors(&vectors, width);
                tape.mark(width, 1.0);
                vectors
            }
            Self::RepeatCopy => {
                let vectors = vectors(size.length);
                tape.vectors(&vectors, width);
                tape.mark(width, 1.0);
                let last = tape.input.len() - 1;
                tape.input[last] = often(size.repeats);
                let mut wanted = Vec::with_capacity(count * (width + 1));
                for vector in vectors.repeat(size.repeats).chunks(width) {
                    wanted.extend_from_slice(vector);
                    wanted.push(0.0);
                }
                wanted.resize(count * (width + 1) - 1, 0.0);
                wanted.push(1.0);
                wanted
            }
            Self::Recall => {
                let items: Vec<Vec<f32>> = (0..size.length).map(|_| vectors(item)).collect();
                for item in &items {
                    tape.mark(width, 1.0);
                    tape.vectors(item, width);
                }
                let asked = rng.below(size.length - 1);
                tape.mark(width + 1, 1.0);
                tape.vectors(&items[asked], width);
                tape.mark(width + 1, 1.0);
                items[asked + 1].clone()
            }
        };
        tape.input.resize((before + count) * channels, 0.0);
        Sequence { input: tape.input, answers: before..before + count, wanted }
    }
}

fn vector(width: usize, uneven: f64, rng: &mut SeededRng) -> Vec<f32> {
    let ones = if uneven > 0.0 && rng.chance(uneven) { rng.uniform() } else { 0.5 };
    (0..width).map(|_| f32::from(u8::from(rng.chance(ones)))).collect()
}

/// An input that is being written.
struct Tape {
    input: Vec<f32>,
    channels: usize,
}

impl Tape {
    fn vectors(&mut self, vectors: &[f32], width: usize) {
        for vector in vectors.chunks(width) {
            self.input.extend_from_slice(vector);
            self.input.resize(self.input.len() + self.channels - width, 0.0);
        }
    }

    /// A step with nothing but this on one channel.
    fn mark(&mut self, channel: usize, value: f32) {
        let start = self.input.len();
        self.input.resize(start + self.channels, 0.0);
        self.input[start + channel] = value;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn draw(program: Program, length: usize, repeats: usize) -> (Sequence, Vec<Vec<f32>>) {
        let mut rng = SeededRng::new(1, "draw");
        let sequence = program.draw(Size { length, repeats }, 2, 2, 0.0, |n| n as f32 / 10.0, &mut rng);
        let steps = sequence.input.chunks(program.channels(2)).map(<[f32]>::to_vec).collect();
        (sequence, steps)
    }

    #[test]
    fn a_copy_is_asked_for_after_the_mark() {
        let (sequence, steps) = draw(Program::Copy, 3, 1);
        assert_eq!((steps.len(), sequence.answers), (7, 4..7));
        assert_eq!(steps[3], [0.0, 0.0, 1.0]);
        assert!(steps[4..].iter().flatten().all(|&x| x == 0.0));
        let vectors: Vec<f32> = steps[..3].iter().flat_map(|step| step[..2].to_vec()).collect();
        assert_eq!(sequence.wanted, vectors);
        assert!(steps[..3].iter().all(|step| step[2] == 0.0));
    }

    #[test]
    fn repeats_end_with_a_mark() {
        let (sequence, steps) = draw(Program::RepeatCopy, 2, 3);
        assert_eq!((steps.len(), sequence.answers), (10, 3..10));
        assert_eq!(steps[2], [0.0, 0.0, 1.0, 0.3]);
        let wanted: Vec<&[f32]> = sequence.wanted.chunks(3).collect();
        assert_eq!(wanted.len(), 7);
        for at in 0..6 {
            assert_eq!(wanted[at], [steps[at % 2][0], steps[at % 2][1], 0.0]);
        }
        assert_eq!(wanted[6], [0.0, 0.0, 1.0]);
    }

    #[test]
    fn what_is_recalled_followed_what_is_asked_for() {
        let (sequence, steps) = draw(Program::Recall, 4, 1);
        assert_eq!((steps.len(), sequence.answers), (4 * 3 + 4 + 2, 16..18));
        assert_eq!((&steps[12], &steps[15]), (&vec![0.0, 0.0, 0.0, 1.0], &vec![0.0, 0.0, 0.0, 1.0]));
        let item = |at: usize| [&steps[3 * at + 1][..2], &steps[3 * at + 2][..2]].concat();
        assert!((0..4).all(|at| steps[3 * at] == [0.0, 0.0, 1.0, 0.0]));
        let asked = [&steps[13][..2], &steps[14][..2]].concat();
        assert!((0..3).any(|at| item(at) == asked && item(at + 1) == sequence.wanted));
    }

    #[test]
    fn uneven_vectors_have_any_number_of_ones_equally_often() {
        let mut counts = [[0; 9]; 2];
        for (uneven, counts) in [0.0, 1.0].into_iter().zip(&mut counts) {
            let mut rng = SeededRng::new(1, "uneven");
            let size = Size { length: 9000, repeats: 1 };
            let sequence = Program::Copy.draw(size, 8, 1, uneven, |_| 0.0, &mut rng);
            sequence.wanted.chunks(8).for_each(|vector| counts[vector.iter().sum::<f32>() as usize] += 1);
        }
        // Of 9,000 vectors 35 ± 6 have no ones among eight fair bits, and 1,000 ± 30 if all numbers are alike.
        assert!((15..60).contains(&counts[0][0]) && (2300..2650).contains(&counts[0][4]), "{counts:?}");
        assert!(counts[1].iter().all(|count| (850..1150).contains(count)), "{counts:?}");
    }
}

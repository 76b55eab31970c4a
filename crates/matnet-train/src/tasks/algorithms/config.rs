//! `[data]` of algorithmic tasks.

use matnet::ConfigError;
use matnet::random::SeededRng;
use matnet_data::generate::algorithm::{Algorithm, AlgorithmSequence, SequenceSize};
use serde::{Deserialize, Serialize};

use crate::Result;
use crate::error::at;

/// The largest length or count.
const MAX: usize = 1_000_000;

/// Which algorithm, and how long its sequences are.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct AlgorithmDataConfig {
    /// copy, repeat-copy or associative-recall.
    pub source: Algorithm,
    /// Seeds the validation and test sequences. Default: 0.
    #[serde(default)]
    pub seed: u64,
    /// Bits in a vector. Default: 8; 6 for associative-recall.
    #[serde(default)]
    pub width: Option<usize>,
    /// The shortest and the longest training sequence, in vectors, or in items for associative-recall. Default: `[1, 20]`;
    /// `[1, 10]` for repeat-copy, `[2, 6]` for associative-recall.
    #[serde(default)]
    pub length: Option<[usize; 2]>,
    /// repeat-copy: the fewest and the most repeats. Default: `[1, 10]`.
    #[serde(default)]
    pub repeats: Option<[usize; 2]>,
    /// A training length is the minimum of up to so many draws: short sequences, from which more is learnt at
    /// first, come more often. Default: 1, all lengths alike.
    #[serde(default = "one")]
    pub length_draws: usize,
    /// The fraction of training vectors whose share of ones is uniform, not about one half: vectors of zeros alone, which
    /// look like silence, come more often. Default: 0.
    #[serde(default)]
    pub unbalanced_bits: f64,
    /// associative-recall: vectors in an item. Default: 3.
    #[serde(default)]
    pub item_length: Option<usize>,
    /// Sequences in an epoch, all of them new. Default: 3,200.
    #[serde(default = "sequences_per_epoch")]
    pub sequences_per_epoch: usize,
    /// Validation sequences. Default: 200.
    #[serde(default = "eval_sequences")]
    pub valid_sequences: usize,
    /// Their lengths, in turn; lengths beyond those of training select an epoch that extrapolates. Default: all
    /// training lengths.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub valid_lengths: Vec<usize>,
    /// Test sequences. Default: 200.
    #[serde(default = "eval_sequences")]
    pub test_sequences: usize,
    /// Their length. Default: that of the longest training sequences.
    #[serde(default)]
    pub test_length: Option<usize>,
    /// Test sequences of this length are evaluated at the end, too. Default: none.
    #[serde(default)]
    pub extrapolation_length: Option<usize>,
    /// repeat-copy: the repeats of the test sequences. Default: the most in training.
    #[serde(default)]
    pub test_repeats: Option<usize>,
}

fn one() -> usize {
    1
}

fn sequences_per_epoch() -> usize {
    3200
}

fn eval_sequences() -> usize {
    200
}

impl AlgorithmDataConfig {
    /// Checks everything, and writes the defaults out.
    pub(crate) fn resolved(&self) -> Result<Self> {
        self.checked().map_err(at("data"))
    }

    fn checked(&self) -> Result<Self, ConfigError> {
        let mut full = self.clone();
        let (recall, repeats) =
            (self.source == Algorithm::AssociativeRecall, self.source == Algorithm::RepeatCopy);
        let only = |key: &str, given: Option<String>, used: bool, user: &str| match given {
            Some(value) if !used => Err(ConfigError::new(key, value, format!("only {user} uses it"))),
            _ => Ok(()),
        };
        only("repeats", self.repeats.map(|value| format!("{value:?}")), repeats, "repeat-copy")?;
        only("test_repeats", self.test_repeats.map(|value| value.to_string()), repeats, "repeat-copy")?;
        only("item_length", self.item_length.map(|value| value.to_string()), recall, "associative-recall")?;
        let (valid, test) = (self.valid_sequences > 0, self.test_sequences > 0);
        let lengths = (!self.valid_lengths.is_empty()).then(|| format!("{:?}", self.valid_lengths));
        only("valid_lengths", lengths, valid, "valid_sequences above 0")?;
        for (key, value) in [
            ("test_length", self.test_length),
            ("test_repeats", self.test_repeats),
            ("extrapolation_length", self.extrapolation_length),
        ] {
            only(key, value.map(|value| value.to_string()), test, "test_sequences above 0")?;
        }
        // A single item is followed by none.
        let least = if recall { 2 } else { 1 };
        let length = *full.length.get_or_insert(match self.source {
            Algorithm::Copy => [1, 20],
            Algorithm::RepeatCopy => [1, 10],
            Algorithm::AssociativeRecall => [2, 6],
        });
        check_range("length", length, least)?;
        let test_length = self.test_length.unwrap_or(length[1]);
        check_range("test_length", [test_length, test_length], least)?;
        full.test_length = test.then_some(test_length);
        let valid = self.valid_lengths.iter().map(|&length| ("valid_lengths", length));
        for (key, length) in
            valid.chain(self.extrapolation_length.map(|length| ("extrapolation_length", length)))
        {
            check_range(key, [length, length], least)?;
        }
        let width = *full.width.get_or_insert(if recall { 6 } else { 8 });
        if repeats {
            let range = *full.repeats.get_or_insert([1, 10]);
            check_range("repeats", range, 1)?;
            let most = self.test_repeats.unwrap_or(range[1]);
            check_range("test_repeats", [most, most], 1)?;
            full.test_repeats = test.then_some(most);
        }
        if recall {
            let item = *full.item_length.get_or_insert(3);
            check_range("item_length", [item, item], 1)?;
        }
        check_range("width", [width, width], 1)?;
        check_range("length_draws", [self.length_draws, self.length_draws], 1)?;
        if !(0.0..=1.0).contains(&self.unbalanced_bits) {
            let value = self.unbalanced_bits.to_string();
            return Err(ConfigError::new("unbalanced_bits", value, "must lie between 0 and 1"));
        }
        check_range("sequences_per_epoch", [self.sequences_per_epoch, self.sequences_per_epoch], 1)?;
        let counts = [("valid_sequences", self.valid_sequences), ("test_sequences", self.test_sequences)];
        for (key, count) in counts {
            if count > MAX {
                return Err(ConfigError::new(key, count.to_string(), format!("must be at most {MAX}")));
            }
        }
        let of = |length: Option<usize>| SequenceSize { length: length.unwrap_or(1), ..full.largest() };
        for (key, size) in [
            ("length", full.largest()),
            ("valid_lengths", of(self.valid_lengths.iter().copied().max())),
            ("test_length", full.test_size()),
            (
                "extrapolation_length",
                SequenceSize { length: self.extrapolation_length.unwrap_or(1), ..full.test_size() },
            ),
        ] {
            let (before, answers) = full.source.steps(size, full.item_length());
            let steps = before.saturating_add(answers);
            if steps > MAX || steps.saturating_mul(full.channels()) > 100 * MAX {
                let value = format!("sequences of {steps} steps");
                return Err(ConfigError::new(key, value, "too long, or too wide, to be generated"));
            }
        }
        Ok(full)
    }

    /// Bits in a vector.
    pub fn width(&self) -> usize {
        self.width.unwrap_or(8)
    }

    /// Vectors in an item.
    pub(crate) fn item_length(&self) -> usize {
        self.item_length.unwrap_or(1)
    }

    /// Input channels per step.
    pub fn channels(&self) -> usize {
        self.source.channels(self.width())
    }

    /// Output bits per step.
    pub fn bits(&self) -> usize {
        self.source.bits(self.width())
    }

    pub(super) fn lengths(&self) -> [usize; 2] {
        self.length.unwrap_or([1, 1])
    }

    fn largest(&self) -> SequenceSize {
        SequenceSize { length: self.lengths()[1], repeats: self.repeat_range()[1] }
    }

    pub(super) fn repeat_range(&self) -> [usize; 2] {
        self.repeats.unwrap_or([1, 1])
    }

    /// The size of the test sequences.
    pub fn test_size(&self) -> SequenceSize {
        let SequenceSize { length, repeats } = self.largest();
        SequenceSize {
            length: self.test_length.unwrap_or(length),
            repeats: self.test_repeats.unwrap_or(repeats),
        }
    }

    /// Steps in a test sequence.
    pub fn test_steps(&self) -> usize {
        let (before, answers) = self.source.steps(self.test_size(), self.item_length());
        before + answers
    }

    /// A number of repeats as an input: about −1 for the fewest in training, +1 for the most.
    fn encoded(&self, repeats: usize) -> f32 {
        let [least, most] = self.repeat_range().map(|count| count as f32);
        let half = ((most - least) / 2.0).max(1.0);
        (repeats as f32 - (least + most) / 2.0) / half
    }

    /// Generates a sequence of this size.
    pub(super) fn generate(
        &self,
        size: SequenceSize,
        unbalanced: f64,
        rng: &mut SeededRng,
    ) -> AlgorithmSequence {
        let encode = |repeats| self.encoded(repeats);
        self.source.generate(size, self.width(), self.item_length(), unbalanced, encode, rng)
    }
}

fn check_range(key: &str, [low, high]: [usize; 2], least: usize) -> Result<(), ConfigError> {
    if low >= least && low <= high && high <= MAX {
        return Ok(());
    }
    let (value, expected) = match low == high {
        true => (low.to_string(), format!("must lie between {least} and {MAX}")),
        false => {
            (format!("[{low}, {high}]"), format!("must be the least and the most, between {least} and {MAX}"))
        }
    };
    Err(ConfigError::new(key, value, expected))
}

//! `[data]` of a program.

use matnet::ConfigError;
use matnet::random::SeededRng;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::sequence::{Program, Sequence, Size};
use crate::data::Part;
use crate::sealed::hex;
use crate::{Error, Result};

/// The longest sequence, and the most of everything that is counted.
const MOST: usize = 1_000_000;

/// Which program, and how large its sequences are.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ProgramDataConfig {
    /// copy, repeat-copy or recall.
    pub source: Program,
    /// The seed of the validation and test sequences. Default: 0.
    #[serde(default)]
    pub seed: u64,
    /// Bits in a vector. Default: 8; 6 for recall.
    #[serde(default)]
    pub width: Option<usize>,
    /// The shortest and the longest sequence that is learnt from, in vectors, or in items for recall. Default: `[1, 20]`;
    /// `[1, 10]` for repeat-copy, `[2, 6]` for recall.
    #[serde(default)]
    pub length: Option<[usize; 2]>,
    /// How often, for repeat-copy: the least and the most. Default: `[1, 10]`.
    #[serde(default)]
    pub repeats: Option<[usize; 2]>,
    /// A size is drawn up to so many times while learning, and the smallest counts: short sequences, from which more is learnt at
    /// first, come more often. Default: 1, all sizes alike.
    #[serde(default = "one")]
    pub draws: usize,
    /// The share of vectors, while learning, that have any share of ones, not about as many as zeros: those of zeros alone, which
    /// look like nothing, come more often. Default: 0.
    #[serde(default)]
    pub uneven: f64,
    /// Vectors in an item, for recall. Default: 3.
    #[serde(default)]
    pub item: Option<usize>,
    /// Sequences in an epoch, all of them new. Default: 3,200.
    #[serde(default = "sequences")]
    pub sequences: usize,
    /// Sequences that decide which epoch is the best. Default: 200.
    #[serde(default = "valid")]
    pub valid: usize,
    /// How long they are, in turn; those longer than what is learnt from choose an epoch whose net goes on well. Default: all
    /// lengths that are learnt from.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub valid_lengths: Vec<usize>,
    /// Sequences that the result is measured on. Default: 200.
    #[serde(default = "test")]
    pub test: usize,
    /// How long they are. Default: as the longest that are learnt from.
    #[serde(default)]
    pub test_length: Option<usize>,
    /// Sequences of this length are measured at the end too. Default: none are.
    #[serde(default)]
    pub far_length: Option<usize>,
    /// How often they are repeated, for repeat-copy. Default: as often as in learning, at most.
    #[serde(default)]
    pub test_repeats: Option<usize>,
}

fn one() -> usize {
    1
}

fn sequences() -> usize {
    3200
}

fn valid() -> usize {
    200
}

fn test() -> usize {
    200
}

impl ProgramDataConfig {
    /// Checks everything, and writes the defaults out.
    pub fn resolved(&self) -> Result<Self> {
        self.checked().map_err(|error| Error::key("data", error))
    }

    fn checked(&self) -> Result<Self, ConfigError> {
        let mut full = self.clone();
        let (recall, repeats) = (self.source == Program::Recall, self.source == Program::RepeatCopy);
        let only = |key: &str, given: Option<String>, used: bool, user: &str| match given {
            Some(value) if !used => Err(ConfigError::new(key, value, format!("only {user} uses it"))),
            _ => Ok(()),
        };
        only("repeats", self.repeats.map(|value| format!("{value:?}")), repeats, "repeat-copy")?;
        only("test_repeats", self.test_repeats.map(|value| value.to_string()), repeats, "repeat-copy")?;
        only("item", self.item.map(|value| value.to_string()), recall, "recall")?;
        // Of a single item nothing follows.
        let least = if recall { 2 } else { 1 };
        let length = *full.length.get_or_insert(match self.source {
            Program::Copy => [1, 20],
            Program::RepeatCopy => [1, 10],
            Program::Recall => [2, 6],
        });
        check_range("length", length, least)?;
        let test_length = *full.test_length.get_or_insert(length[1]);
        check_range("test_length", [test_length, test_length], least)?;
        let valid = self.valid_lengths.iter().map(|&length| ("valid_lengths", length));
        for (key, length) in valid.chain(self.far_length.map(|length| ("far_length", length))) {
            check_range(key, [length, length], least)?;
        }
        let width = *full.width.get_or_insert(if recall { 6 } else { 8 });
        if repeats {
            let range = *full.repeats.get_or_insert([1, 10]);
            check_range("repeats", range, 1)?;
            let most = *full.test_repeats.get_or_insert(range[1]);
            check_range("test_repeats", [most, most], 1)?;
        }
        if recall {
            let item = *full.item.get_or_insert(3);
            check_range("item", [item, item], 1)?;
        }
        check_range("width", [width, width], 1)?;
        check_range("draws", [self.draws, self.draws], 1)?;
        if !(0.0..=1.0).contains(&self.uneven) {
            return Err(ConfigError::new("uneven", self.uneven.to_string(), "must lie between 0 and 1"));
        }
        check_range("sequences", [self.sequences, self.sequences], 1)?;
        for (key, count) in [("valid", self.valid), ("test", self.test)] {
            if count > MOST {
                return Err(ConfigError::new(key, count.to_string(), format!("must be at most {MOST}")));
            }
        }
        let of = |length: Option<usize>| Size { length: length.unwrap_or(1), ..full.largest() };
        for (key, size) in [
            ("length", full.largest()),
            ("valid_lengths", of(self.valid_lengths.iter().copied().max())),
            ("test_length", full.test_size()),
            ("far_length", Size { length: self.far_length.unwrap_or(1), ..full.test_size() }),
        ] {
            let (before, answers) = full.source.steps(size, full.item());
            let steps = before.saturating_add(answers);
            if steps > MOST || steps.saturating_mul(full.channels()) > 100 * MOST {
                let value = format!("sequences of {steps} steps");
                return Err(ConfigError::new(key, value, "too long, or too wide, to be drawn"));
            }
        }
        Ok(full)
    }

    /// Bits in a vector.
    pub fn width(&self) -> usize {
        self.width.unwrap_or(8)
    }

    /// Vectors in an item.
    pub(crate) fn item(&self) -> usize {
        self.item.unwrap_or(1)
    }

    /// Numbers in a step of input.
    pub fn channels(&self) -> usize {
        self.source.channels(self.width())
    }

    /// Bits in a step of output.
    pub fn bits(&self) -> usize {
        self.source.bits(self.width())
    }

    fn lengths(&self) -> [usize; 2] {
        self.length.unwrap_or([1, 1])
    }

    fn largest(&self) -> Size {
        Size { length: self.lengths()[1], repeats: self.often()[1] }
    }

    fn often(&self) -> [usize; 2] {
        self.repeats.unwrap_or([1, 1])
    }

    /// The size of the test sequences.
    pub fn test_size(&self) -> Size {
        Size { length: self.test_length.unwrap_or(1), repeats: self.test_repeats.unwrap_or(1) }
    }

    /// Steps in a test sequence.
    pub fn test_steps(&self) -> usize {
        let (before, answers) = self.source.steps(self.test_size(), self.item());
        before + answers
    }

    /// A number of repeats as it goes in: about −1 for the least that is learnt from, +1 for the most.
    fn written(&self, repeats: usize) -> f32 {
        let [least, most] = self.often().map(|count| count as f32);
        let half = ((most - least) / 2.0).max(1.0);
        (repeats as f32 - (least + most) / 2.0) / half
    }

    /// Draws a sequence of this size.
    fn draw(&self, size: Size, uneven: f64, rng: &mut SeededRng) -> Sequence {
        self.source.draw(size, self.width(), self.item(), uneven, |repeats| self.written(repeats), rng)
    }
}

fn check_range(key: &str, [low, high]: [usize; 2], least: usize) -> Result<(), ConfigError> {
    if low >= least && low <= high && high <= MOST {
        return Ok(());
    }
    let (value, expected) = match low == high {
        true => (low.to_string(), format!("must lie between {least} and {MOST}")),
        false => (
            format!("[{low}, {high}]"),
            format!("must be the least and the most, between {least} and {MOST}"),
        ),
    };
    Err(ConfigError::new(key, value, expected))
}

/// The sequences of a program.
#[derive(Clone, Debug)]
pub struct ProgramData {
    /// The config, defaults written out.
    pub config: ProgramDataConfig,
    /// Over the validation and test sequences.
    pub checksum: String,
    /// The numbers of the sequences of each part.
    parts: [Vec<usize>; 3],
}

impl ProgramData {
    /// The data of a config.
    pub fn new(config: &ProgramDataConfig) -> Result<Self> {
        let config = config.resolved()?;
        let (train, valid, test) = (config.sequences, config.valid, config.test);
        let ends = [train, train + valid, train + valid + test];
        let parts = [(0..ends[0]).collect(), (ends[0]..ends[1]).collect(), (ends[1]..ends[2]).collect()];
        let mut data = Self { config, checksum: String::new(), parts };
        let mut sha = Sha256::new();
        for number in ends[0]..ends[2] {
            let Sequence { input, wanted, .. } = data.sequence(number);
            let bytes: Vec<u8> = input.iter().chain(&wanted).flat_map(|x| x.to_le_bytes()).collect();
            sha.update(&bytes);
        }
        data.checksum = hex(&sha.finalize());
        Ok(data)
    }

    /// The same with test sequences of `far_length`, if there is one.
    pub fn far(&self) -> Option<Self> {
        let far = ProgramDataConfig { test_length: Some(self.config.far_length?), ..self.config.clone() };
        Self::new(&far).ok()
    }

    /// The sequences of a part, by number.
    pub fn part(&self, part: Part) -> &[usize] {
        &self.parts[match part {
            Part::Train => 0,
            Part::Valid => 1,
            Part::Test => 2,
        }]
    }

    /// A sequence of the fixed ones. Those for training and validation go through all sizes that are learnt from, in turn,
    /// but for lengths that validation has of its own.
    pub fn sequence(&self, number: usize) -> Sequence {
        let config = &self.config;
        let [valid, test] = [Part::Valid, Part::Test].map(|part| {
            let part = self.part(part);
            part.first().is_some_and(|first| number >= *first)
        });
        let ([short, long], [few, many]) = (config.lengths(), config.often());
        let lengths = long - short + 1;
        let turn =
            Size { length: short + number % lengths, repeats: few + number / lengths % (many - few + 1) };
        let size = match config.valid_lengths.as_slice() {
            _ if test => config.test_size(),
            lengths @ [_, ..] if valid => Size { length: lengths[number % lengths.len()], ..turn },
            _ => turn,
        };
        config.draw(size, 0.0, &mut SeededRng::new(config.seed, &format!("sequence {number}")))
    }

    /// New sequences, all of one size, for a training step.
    pub fn fresh(&self, count: usize, rng: &mut SeededRng) -> Vec<Sequence> {
        let draws = match self.config.draws {
            1 => 1,
            most => 1 + rng.below(most),
        };
        let mut any = |[low, high]: [usize; 2]| {
            let once = |rng: &mut SeededRng| low + rng.below(high - low + 1);
            (1..draws).fold(once(rng), |least, _| least.min(once(rng)))
        };
        let size = Size { length: any(self.config.lengths()), repeats: any(self.config.often()) };
        (0..count).map(|_| self.config.draw(size, self.config.uneven, rng)).collect()
    }
}

//! Sequences of moving digits, a range at a time: the original ones if they are there, else generated ones.

use std::ops::Range;

use super::readers::mnist::{self, MnistSplit};
use super::readers::moving_mnist::MovingMnistFile;
use super::readers::repository;
use super::{Cache, LoadOptions};
use crate::generate::{MovingDigits, MovingDigitsConfig};
use crate::random::SeededRng;
use crate::{Array, ByteArray, Result, catalog};

/// Sequences generated or read at once, which bounds the memory they take as `f32`.
const CHUNK: usize = 200;

/// The sequences of `moving-mnist` or `moving-digits`.
#[derive(Debug)]
pub struct MovingSequences {
    source: SequenceSource,
    /// How many there are.
    pub count: usize,
    /// A remark for the user: where they come from.
    pub note: String,
}

#[derive(Debug)]
enum SequenceSource {
    Original(MovingMnistFile),
    Generated(MovingDigits),
}

impl MovingSequences {
    /// The names of the datasets that are sequences of moving digits.
    pub const NAMES: [&str; 2] = ["moving-mnist", "moving-digits"];

    /// Opens the dataset of this name: `moving-digits` is generated from `digits`; `moving-mnist` is read from the cache, or
    /// generated from MNIST's training set.
    pub fn open(name: &str, cache: &Cache, options: LoadOptions) -> Result<Self> {
        let (digits, from) = if name == "moving-digits" {
            (repository::digits(&cache.require(catalog::get("digits")?)?)?.inputs, "digits")
        } else if let Some(found) = cache.locate(catalog::get(name)?) {
            let file = MovingMnistFile::open(found.folder)?;
            let (count, total) = (options.sequences.min(file.len()), file.len());
            let note = format!("{count} of the {total} original sequences");
            return Ok(Self { source: SequenceSource::Original(file), count, note });
        } else {
            let folder = cache.require(catalog::get("mnist")?)?.folder;
            (mnist::load(folder, MnistSplit::Train)?.inputs, "mnist")
        };
        let mut rng = SeededRng::new(options.seed, "moving-mnist");
        let (count, seed) = (options.sequences, options.seed);
        let generated = MovingDigitsConfig::default().generate(digits, count, &mut rng)?;
        let note = format!("{count} sequences generated from {from}, seed {seed}");
        Ok(Self { source: SequenceSource::Generated(generated), count, note })
    }

    /// The sequences of a range `[n, frames, rows, cols]`, between 0 and 1.
    pub fn read(&mut self, range: Range<usize>) -> Result<Array> {
        match &mut self.source {
            SequenceSource::Original(file) => file.read(range),
            SequenceSource::Generated(digits) => digits.render(range),
        }
    }

    /// All sequences with one byte per pixel: 10,000 take 0.8 GB, where `f32` would take 3.3.
    pub fn to_bytes(&mut self) -> Result<ByteArray> {
        let first = self.read(0..self.count.min(1))?;
        let mut bytes = ByteArray::zeros(self.count, &first.shape()[1..])?;
        for start in (0..self.count).step_by(CHUNK) {
            bytes.set_samples(start, &self.read(start..self.count.min(start + CHUNK))?)?;
        }
        Ok(bytes)
    }
}

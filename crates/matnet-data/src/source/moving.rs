//! Sequences of moving digits, some at a time: the original ones if they are there, else ones that are drawn.

use std::ops::Range;

use crate::cache::Cache;
use crate::levels::Levels;
use crate::moving_mnist::{Config, MovingDigits};
use crate::named::Options;
use crate::random::SeededRng;
use crate::source::mnist::{self, Half};
use crate::source::moving_mnist_npy::Sequences;
use crate::{Array, Result, catalog, shipped};

/// Sequences drawn or read at once, which bounds what they take as numbers.
const AT_ONCE: usize = 200;

/// So many sequences, with a word on where they come from.
#[derive(Debug)]
pub struct Moving {
    source: Source,
    /// How many there are.
    pub count: usize,
    /// What a reader should know of them.
    pub note: String,
}

#[derive(Debug)]
enum Source {
    Original(Sequences),
    Drawn(MovingDigits),
}

impl Moving {
    /// The names of the datasets that are sequences of moving digits.
    pub const NAMES: [&str; 2] = ["moving-mnist", "moving-digits"];

    /// Opens the dataset of this name: `moving-digits` is drawn from the digits that ship, `moving-mnist` read from the
    /// cache, or drawn from MNIST's training half.
    pub fn open(name: &str, cache: &Cache, options: Options) -> Result<Self> {
        let (digits, from) = if name == "moving-digits" {
            (shipped::digits()?.inputs, "the digits that ship")
        } else if let Some(found) = cache.locate(catalog::get(name)?) {
            let sequences = Sequences::open(found.folder)?;
            let (count, there) = (options.sequences.min(sequences.len()), sequences.len());
            let note = format!("{count} of the {there} original sequences");
            return Ok(Self { source: Source::Original(sequences), count, note });
        } else {
            let folder = cache.require(catalog::get("mnist")?)?.folder;
            (mnist::load(folder, Half::Train)?.inputs, "mnist")
        };
        let mut rng = SeededRng::new(options.seed, "moving-mnist");
        let (count, seed) = (options.sequences, options.seed);
        let drawn = Config::default().generate(digits, count, &mut rng)?;
        let note = format!("{count} sequences generated from {from}, seed {seed}");
        Ok(Self { source: Source::Drawn(drawn), count, note })
    }

    /// Some of them `[n, frames, rows, cols]`, between 0 and 1.
    pub fn read(&mut self, range: Range<usize>) -> Result<Array> {
        match &mut self.source {
            Source::Original(sequences) => Ok(sequences.read(range)?.inputs),
            Source::Drawn(digits) => digits.render(range),
        }
    }

    /// All of them, a byte per pixel: 10,000 take 0.8 GB, where numbers would take 3.3.
    pub fn levels(&mut self) -> Result<Levels> {
        let first = self.read(0..self.count.min(1))?;
        let mut levels = Levels::black(self.count, &first.shape()[1..])?;
        for start in (0..self.count).step_by(AT_ONCE) {
            levels.put(start, &self.read(start..self.count.min(start + AT_ONCE))?)?;
        }
        Ok(levels)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shipped_digits_move_and_fit_into_bytes() {
        let options = Options { seed: 3, sequences: 7 };
        let cache = Cache::new(std::env::temp_dir());
        let mut moving = Moving::open("moving-digits", &cache, options).unwrap();
        let numbers = moving.read(0..7).unwrap();
        assert_eq!(numbers.shape(), [7, 20, 64, 64]);
        assert_eq!(moving.levels().unwrap().to_array().unwrap(), numbers);
        assert_eq!(moving.note, "7 sequences generated from the digits that ship, seed 3");
    }
}

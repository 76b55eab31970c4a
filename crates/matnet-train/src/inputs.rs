//! The inputs of all samples, in the form that takes the least room, and what hides a part of some.

use std::borrow::Cow;
use std::ops::Range;

use matnet::random::SeededRng;
use matnet_data::transform::corrupt::Patch;
use matnet_data::{Array, Levels, Split};

use crate::config::DataConfig;
use crate::data::Preprocess;
use crate::{Error, Result};

/// The inputs of all samples: `[n, rows, cols]` or `[n, time, rows, cols]`.
#[derive(Clone, Debug)]
pub enum Inputs {
    /// As numbers.
    Numbers(Array),
    /// As grey levels, a byte each: thousands of sequences of pictures would not fit into memory as numbers.
    Levels(Levels),
}

impl Inputs {
    /// The sides, outermost first.
    pub fn shape(&self) -> &[usize] {
        match self {
            Self::Numbers(array) => array.shape(),
            Self::Levels(levels) => levels.shape(),
        }
    }

    /// How many samples there are.
    pub fn len(&self) -> usize {
        self.shape().first().copied().unwrap_or(0)
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The numbers of a sample.
    pub fn sample(&self, index: usize) -> Cow<'_, [f32]> {
        self.part(index, 0..self.shape()[1..].iter().product())
    }

    /// Some numbers of a sample.
    pub(crate) fn part(&self, index: usize, part: Range<usize>) -> Cow<'_, [f32]> {
        match self {
            Self::Numbers(array) => Cow::Borrowed(&array.sample(index)[part]),
            Self::Levels(levels) => Cow::Owned(levels.numbers(index, part)),
        }
    }

    /// All of them as numbers.
    pub(crate) fn into_array(self) -> Result<Array> {
        match self {
            Self::Numbers(array) => Ok(array),
            Self::Levels(levels) => Ok(levels.to_array()?),
        }
    }

    /// Between which numbers all of them lie.
    pub(crate) fn range(&self) -> (f32, f32) {
        match self {
            Self::Numbers(array) => range(array.data()),
            Self::Levels(_) => (0.0, 1.0),
        }
    }
}

/// The least and the largest.
pub(crate) fn range(numbers: &[f32]) -> (f32, f32) {
    numbers.iter().fold((f32::INFINITY, f32::NEG_INFINITY), |(low, high), &x| (low.min(x), high.max(x)))
}

/// What is hidden from a net in the samples it is measured on: a black patch in each.
#[derive(Clone, Debug)]
pub struct Patches {
    places: Vec<Option<Patch>>,
    /// What black has become, entry by entry.
    black: Vec<f32>,
    cols: usize,
}

impl Patches {
    /// Draws a place for every sample that is not learnt from, if the config wants so.
    pub(crate) fn draw(
        config: &DataConfig,
        shape: &[usize],
        split: &Split,
        preprocess: &Preprocess,
    ) -> Result<Option<Self>> {
        let Some([height, width]) = config.patch else { return Ok(None) };
        let wrong = |what: String| Error::Config(format!("data.occlusion: {what}"));
        let &[count, rows, cols] = shape else {
            return Err(wrong("these data are sequences; single matrices can carry a patch".to_owned()));
        };
        let black = preprocess.apply(Array::new([1, rows, cols], vec![0.0; rows * cols])?)?.into_data();
        let mut rng = SeededRng::new(config.seed, "patch");
        let mut places = Vec::with_capacity(count);
        for _ in 0..count {
            let place = Patch::random((rows, cols), (height, width), &mut rng);
            places.push(Some(place.map_err(|error| wrong(error.to_string()))?));
        }
        for &at in &split.train {
            places[at] = None;
        }
        Ok(Some(Self { places, black, cols }))
    }

    /// The patch of a sample.
    pub fn of(&self, sample: usize) -> Option<Patch> {
        self.places[sample]
    }

    /// Blackens the patch of a sample.
    pub(crate) fn hide(&self, sample: usize, numbers: &mut [f32]) {
        for (place, (number, black)) in numbers.iter_mut().zip(&self.black).enumerate() {
            if self.hides(sample, place) {
                *number = *black;
            }
        }
    }

    /// Whether this entry of a sample lies under its patch.
    pub(crate) fn hides(&self, sample: usize, entry: usize) -> bool {
        self.places[sample].is_some_and(|patch| patch.contains(entry / self.cols, entry % self.cols))
    }
}

#[cfg(test)]
mod tests {
    use matnet_data::cache::Cache;
    use matnet_data::named::Options;
    use matnet_data::source::moving::Moving;

    use super::*;
    use crate::data::{Part, Prepared};

    fn config(text: &str) -> DataConfig {
        toml::from_str(text).unwrap()
    }

    fn cache() -> Cache {
        Cache::new(std::env::temp_dir())
    }

    #[test]
    fn bytes_give_the_numbers_they_were_made_of() {
        let config = config("source = 'moving-digits'\nsequences = 6\nlimit = 4");
        let prepared = Prepared::load(&config, &cache(), 1).unwrap();
        assert!(matches!(prepared.inputs, Inputs::Levels(_)));
        assert_eq!(prepared.inputs.shape(), [4, 20, 64, 64]);
        let mut moving = Moving::open("moving-digits", &cache(), Options { seed: 0, sequences: 6 }).unwrap();
        let all = moving.read(0..6).unwrap();
        let found = |at: usize| (0..6).any(|of| prepared.inputs.sample(at).as_ref() == all.sample(of));
        assert!((0..4).all(found));
        assert_eq!(prepared.inputs.part(2, 4096..4100).as_ref(), &prepared.inputs.sample(2)[4096..4100]);
    }

    #[test]
    fn patches_hide_what_is_measured_and_nothing_that_is_learnt_from() {
        let mut config = config("source = 'faces'\npatch = [5, 4]\nscale = 'standardise'");
        let prepared = Prepared::load(&config, &cache(), 1).unwrap();
        let patches = prepared.patches.as_ref().unwrap();
        assert!(prepared.part(Part::Train).iter().all(|&at| patches.of(at).is_none()));
        // Black is what 0 has become.
        let scaler = prepared.preprocess.scaler.as_ref().unwrap();
        let mut black = Array::new([1, 25, 25], vec![0.0; 625]).unwrap();
        scaler.apply(&mut black).unwrap();
        for &at in prepared.part(Part::Valid).iter().chain(prepared.part(Part::Test)) {
            let patch = patches.of(at).unwrap();
            assert_eq!((patch.height, patch.width), (5, 4));
            let whole = prepared.inputs.sample(at);
            let mut hidden = whole.to_vec();
            patches.hide(at, &mut hidden);
            for (entry, (hidden, whole)) in hidden.iter().zip(whole.iter()).enumerate() {
                let inside = patch.contains(entry / 25, entry % 25);
                assert_eq!(patches.hides(at, entry), inside);
                assert_eq!(hidden, if inside { &black.data()[entry] } else { whole });
            }
        }
        // The places belong to the data's seed.
        let again = Prepared::load(&config, &cache(), 2).unwrap().patches.unwrap();
        assert_eq!(again.places, patches.places);
        config.seed = 5;
        let other = Prepared::load(&config, &cache(), 1).unwrap().patches.unwrap();
        assert_ne!(other.places.iter().flatten().next(), patches.places.iter().flatten().next());
    }
}

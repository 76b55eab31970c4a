//! The inputs of all samples, in the form that takes the least memory, and the occlusions of some.

use std::borrow::Cow;
use std::ops::Range;

use matnet::random::SeededRng;
use matnet_data::transform::occlusion::Occlusion;
use matnet_data::{Array, ByteArray, SplitIndices};

use super::range::range;
use super::{Preprocess, SampleDataConfig, StoredInputs};
use crate::ranks::Ranks;
use crate::{Error, Result};

/// The inputs of all samples: `[n, rows, cols]` or `[n, time, rows, cols]`.
#[derive(Clone, Debug)]
pub enum Inputs {
    /// As `f32`.
    Floats(Array),
    /// As grey levels, a byte each: thousands of image sequences would not fit into memory as floats.
    Bytes(ByteArray),
    /// In their file: all of them would not fit into memory.
    Stored(StoredInputs),
}

impl Inputs {
    /// The sides, outermost first.
    pub fn shape(&self) -> &[usize] {
        match self {
            Self::Floats(array) => array.shape(),
            Self::Bytes(bytes) => bytes.shape(),
            Self::Stored(stored) => stored.shape(),
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

    /// The values of a sample.
    pub fn sample(&self, index: usize) -> Cow<'_, [f32]> {
        self.sample_range(index, 0..self.shape()[1..].iter().product())
    }

    /// Some values of a sample.
    pub(crate) fn sample_range(&self, index: usize, range: Range<usize>) -> Cow<'_, [f32]> {
        match self {
            Self::Floats(array) => Cow::Borrowed(&array.sample(index)[range]),
            Self::Bytes(bytes) => Cow::Owned(bytes.sample_range(index, range)),
            Self::Stored(stored) => Cow::Owned(stored.sample_range(index, range)),
        }
    }

    /// All of them as floats; those in a file before any transform.
    pub(crate) fn into_array(self) -> Result<Array> {
        match self {
            Self::Floats(array) => Ok(array),
            Self::Bytes(bytes) => Ok(bytes.to_array()?),
            Self::Stored(stored) => stored.raw(0..stored.shape()[0]),
        }
    }

    /// The minimum and the maximum. All ranks ask together.
    pub(crate) fn range(&self, ranks: &Ranks) -> Result<(f32, f32)> {
        match self {
            Self::Floats(array) => Ok(range(array.data())),
            Self::Bytes(_) => Ok((0.0, 1.0)),
            Self::Stored(stored) => stored.range(ranks),
        }
    }
}

/// The occlusions of validation and test samples: a black patch in each.
#[derive(Clone, Debug)]
pub struct Occlusions {
    places: Vec<Option<Occlusion>>,
    /// Black after preprocessing, entry by entry.
    black: Vec<f32>,
    cols: usize,
}

impl Occlusions {
    /// Draws a place for every sample outside the training split, if the config asks for it.
    pub(crate) fn draw(
        config: &SampleDataConfig,
        shape: &[usize],
        split: &SplitIndices,
        preprocess: &Preprocess,
    ) -> Result<Option<Self>> {
        let Some([height, width]) = config.occlusion else { return Ok(None) };
        if split.valid.is_empty() && split.test.is_empty() {
            let expected = "only validation and test matrices are occluded, and there are none";
            return Err(Error::config("data", "occlusion", format!("{height}×{width}"), expected));
        }
        let &[count, rows, cols] = shape else {
            let expected = "these data are sequences; only single matrices can be occluded";
            return Err(Error::config("data", "occlusion", format!("{height}×{width}"), expected));
        };
        let black =
            preprocess.apply(Array::new([1, rows, cols], vec![0.0; rows * cols])?, &[])?.0.into_data();
        let mut rng = SeededRng::new(config.seed, "patch");
        let mut places = Vec::with_capacity(count);
        for _ in 0..count {
            let place = Occlusion::random((rows, cols), (height, width), &mut rng);
            places.push(Some(place.map_err(|error| Error::DataKey { key: "data.occlusion", error })?));
        }
        for &at in &split.train {
            places[at] = None;
        }
        Ok(Some(Self { places, black, cols }))
    }

    /// The occlusion of a sample.
    pub fn of(&self, sample: usize) -> Option<Occlusion> {
        self.places[sample]
    }

    /// Blackens the occluded part of a sample.
    pub(crate) fn apply(&self, sample: usize, values: &mut [f32]) {
        for (entry, (value, black)) in values.iter_mut().zip(&self.black).enumerate() {
            if self.covers(sample, entry) {
                *value = *black;
            }
        }
    }

    /// Whether this entry of a sample is occluded.
    pub(crate) fn covers(&self, sample: usize, entry: usize) -> bool {
        self.places[sample].is_some_and(|place| place.contains(entry / self.cols, entry % self.cols))
    }
}

#[cfg(test)]
mod tests {
    use matnet_data::catalog::{Cache, LoadOptions, MovingSequences};

    use super::*;
    use crate::Split;
    use crate::task::TaskData;
    use crate::tasks::samples::SampleData;

    fn config(text: &str) -> SampleDataConfig {
        toml::from_str(text).unwrap()
    }

    fn cache() -> Cache {
        Cache::new(std::env::temp_dir())
    }

    #[test]
    fn bytes_give_the_same_values_as_floats() {
        let config =
            config("source = 'moving-digits'\nsequences = 6\nlimit = 4\nsplit = { valid = 1, test = 1 }");
        let data = SampleData::load(&config, &cache(), 1).unwrap();
        assert!(matches!(data.inputs, Inputs::Bytes(_)));
        assert_eq!(data.inputs.shape(), [4, 20, 64, 64]);
        let options = LoadOptions { seed: 0, sequences: 6 };
        let mut moving = MovingSequences::open("moving-digits", &cache(), options).unwrap();
        let all = moving.read(0..6).unwrap();
        let found = |at: usize| (0..6).any(|of| data.inputs.sample(at).as_ref() == all.sample(of));
        assert!((0..4).all(found));
        let range = data.inputs.sample_range(2, 4096..4100);
        assert_eq!(range.as_ref(), &data.inputs.sample(2)[4096..4100]);
    }

    #[test]
    fn occlusions_leave_the_training_split_alone() {
        let mut config = config("source = 'faces'\nocclusion = [5, 4]\nscale = 'standardize'");
        let data = SampleData::load(&config, &cache(), 1).unwrap();
        let occlusions = data.occlusions.as_ref().unwrap();
        assert!(data.split(Split::Train).iter().all(|&at| occlusions.of(at).is_none()));
        // Black is 0 after scaling.
        let scaler = data.preprocess.scaler.as_ref().unwrap();
        let mut black = Array::new([1, 25, 25], vec![0.0; 625]).unwrap();
        scaler.apply(&mut black).unwrap();
        for &at in data.split(Split::Valid).iter().chain(data.split(Split::Test)) {
            let place = occlusions.of(at).unwrap();
            assert_eq!((place.height, place.width), (5, 4));
            let whole = data.inputs.sample(at);
            let mut hidden = whole.to_vec();
            occlusions.apply(at, &mut hidden);
            for (entry, (hidden, whole)) in hidden.iter().zip(whole.iter()).enumerate() {
                let inside = place.contains(entry / 25, entry % 25);
                assert_eq!(occlusions.covers(at, entry), inside);
                assert_eq!(hidden, if inside { &black.data()[entry] } else { whole });
            }
        }
        // The places depend on the seed of the data alone.
        let again = SampleData::load(&config, &cache(), 2).unwrap().occlusions.unwrap();
        assert_eq!(again.places, occlusions.places);
        config.seed = 5;
        let other = SampleData::load(&config, &cache(), 1).unwrap().occlusions.unwrap();
        assert_ne!(other.places.iter().flatten().next(), occlusions.places.iter().flatten().next());
    }

    #[test]
    fn series_of_a_dataset_become_matrices() {
        let load = |text: &str| SampleData::load(&config(text), &cache(), 1);
        let sequences = load("source = 'vowels'").unwrap();
        assert_eq!(sequences.inputs.shape(), [640, 29, 12, 1]);
        let matrices = load("source = 'vowels'\nlayout = 'matrix'").unwrap();
        assert_eq!((matrices.inputs.shape(), matrices.lengths.len()), (&[640, 12, 29][..], 0));
        let (series, matrix) = (sequences.inputs.sample(3), matrices.inputs.sample(3));
        assert!((0..29 * 12).all(|at| series[at] == matrix[at % 12 * 29 + at / 12]));
        // Spectrograms: two windows of 8 frequencies, scaled before they are put beside each other.
        let text = "source = 'vowels'\nscale = 'standardize'\nscale_per = 'entry'\nspectrogram = { window = 16, overlap = 8 }";
        let spectra = load(text).unwrap();
        assert_eq!(spectra.inputs.shape(), [640, 2, 12, 8]);
        let joined = load(&format!("{text}\nlayout = 'matrix'")).unwrap();
        assert_eq!((joined.inputs.shape(), joined.lengths.len()), (&[640, 12, 16][..], 0));
        assert_eq!(joined.inputs.sample(5)[8..16], spectra.inputs.sample(5)[96..104]);
        // A trained net does the same with raw inputs.
        let raw = sequences.inputs.sample(5).to_vec();
        let raw = Array::new([1, 29, 12, 1], raw).unwrap();
        let (again, lengths) = joined.preprocess.apply(raw, &[sequences.length(5)]).unwrap();
        assert_eq!((again.data(), lengths.len()), (&joined.inputs.sample(5)[..], 0));
        for (text, said) in [
            ("source = 'faces'\nlayout = 'matrix'", "`faces` holds no sequences; `layout` is for those"),
            (
                "source = 'moving-digits'\nlayout = 'matrix'",
                "data.layout: for moving-digits; frames are matrices",
            ),
        ] {
            let error = load(text).unwrap_err().to_string();
            assert!(error.contains(said), "{error}");
        }
    }
}

//! Inputs that stay in their file, for data larger than memory: read and transformed when a batch needs them.
//!
//! A sample has the same bits as if all had been in memory, and so has everything that is made of it.

use std::fmt;
use std::ops::Range;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use matnet_data::checksum::Sum;
use matnet_data::pieces::Pieces;
use matnet_data::{Array, Samples, StoredArray, local};

use super::range::{EMPTY, joined, range};
use super::scan::scan;
use super::{Missing, Preprocess, SampleDataConfig};
use crate::ranks::{Ranks, pack, part, unpack};
use crate::tasks::source::{self, Place};
use crate::{Error, Result};

/// Inputs in a file.
#[derive(Clone)]
pub struct StoredInputs {
    array: StoredArray,
    /// The steps of each sequence; empty where all have the same. What follows them in the file counts as zero.
    lengths: Arc<[usize]>,
    preprocess: Option<Arc<Preprocess>>,
    /// After the transforms.
    shape: Vec<usize>,
    /// Over shape and values, before the transforms.
    checksum: Sum,
    /// Minimum and maximum after the transforms, once they are known.
    range: Arc<OnceLock<(f32, f32)>>,
    /// The first read that failed.
    failed: Arc<Mutex<Option<matnet_data::Error>>>,
}

impl fmt::Debug for StoredInputs {
    fn fmt(&self, out: &mut fmt::Formatter) -> fmt::Result {
        write!(out, "StoredInputs({}, {:?})", self.array.path().display(), self.shape)
    }
}

/// Samples whose inputs stay in their file, and remarks for the user.
pub(super) type Found = (Samples<StoredArray>, Vec<String>);

/// The samples of a config whose inputs stay in their file; `None` if they do not, or if the file must be read as a whole.
pub(super) fn open(config: &SampleDataConfig, ranks: &Ranks) -> Result<Option<Found>> {
    // The means of fills, and lengths of spectrograms, are those of all samples together.
    let spectra = config.spectrogram.is_some() || config.log_mel.is_some();
    if config.missing != Missing::Error || config.window.is_some() {
        return Ok(None);
    }
    let Some(found) = local::open_stored(&config.source, &config.read_options())? else { return Ok(None) };
    let (samples, _) = &found;
    match source::place(samples.inputs.bytes_in_memory(), ranks)? {
        _ if spectra && !samples.lengths.is_empty() => return Ok(None),
        Place::Memory => return Ok(None),
        Place::Shared => samples.inputs.keep_decoded(),
        Place::File => {}
    }
    Ok(Some(found))
}

impl StoredInputs {
    /// Reads all of the inputs once, together with the ranks that have the same file; fails if a value is not finite.
    pub(super) fn new(
        array: StoredArray,
        lengths: &[usize],
        source: &str,
        readers: &[usize],
        ranks: &Ranks,
    ) -> Result<Self> {
        let (shape, lengths) = (array.shape().to_vec(), lengths.into());
        let (range, failed) = Default::default();
        let mut inputs =
            Self { array, lengths, preprocess: None, shape, checksum: Sum::default(), range, failed };
        let found = scan(&inputs.shape, |samples| inputs.raw(samples), source, readers, ranks)?;
        inputs.checksum = found.checksum;
        inputs.range = Arc::new(found.range.into());
        Ok(inputs)
    }

    /// The checksum of shape and values, before the transforms.
    pub(super) fn checksum(&self) -> Sum {
        self.checksum
    }

    /// The shape, outermost axis first.
    pub fn shape(&self) -> &[usize] {
        &self.shape
    }

    /// The same with these transforms, which keep the number of steps where lengths differ.
    pub(super) fn with(mut self, preprocess: &Preprocess) -> Result<Self> {
        let sample = self.transformed(0, preprocess)?;
        self.shape = [&self.shape[..1], &sample.shape()[1..]].concat();
        self.preprocess = Some(Arc::new(preprocess.clone()));
        self.range = Arc::default();
        Ok(self)
    }

    /// Some values of a sample. A read that fails gives NaN, and is kept for [`StoredInputs::take_error`].
    pub(super) fn sample_range(&self, index: usize, range: Range<usize>) -> Vec<f32> {
        let count = range.len();
        let read = || -> Result<Vec<f32>> {
            match &self.preprocess {
                Some(preprocess) => Ok(self.transformed(index, preprocess)?.data()[range].to_vec()),
                None => {
                    let mut values = Vec::with_capacity(count);
                    let start = range.start;
                    self.array.read(index, range, &mut values)?;
                    let end = self.used(index).saturating_sub(start).min(count);
                    values[end..].fill(0.0);
                    Ok(values)
                }
            }
        };
        read().unwrap_or_else(|error| {
            let error = match error {
                Error::Data(error) => error,
                Error::Io { path, source } => matnet_data::Error::Io { path, source },
                other => matnet_data::Error::Invalid(other.to_string()),
            };
            self.failed.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
            vec![f32::NAN; count]
        })
    }

    /// The first read that failed since this was asked.
    pub(super) fn take_error(&self) -> Option<Error> {
        self.failed.lock().unwrap_or_else(PoisonError::into_inner).take().map(Error::from)
    }

    /// Reads the bytes of some samples, so that the system has them at hand.
    pub(super) fn touch(&self, samples: &[usize]) {
        let mut scratch = Vec::new();
        for &at in samples {
            // Whoever needs the sample reads it again, and reports what is wrong.
            let _ = self.array.touch(at, &mut scratch);
        }
    }

    /// Some samples before any transform.
    pub(super) fn select(&self, indices: &[usize]) -> Result<Array> {
        let mut array = self.array.select(indices)?;
        self.clear_padding(&mut array, indices.iter().copied());
        Ok(array)
    }

    /// Samples that stand one after another, before any transform.
    pub(super) fn raw(&self, range: Range<usize>) -> Result<Array> {
        let mut array = self.array.samples(range.clone())?;
        self.clear_padding(&mut array, range);
        Ok(array)
    }

    /// One sample with these transforms.
    pub(super) fn transformed(&self, index: usize, preprocess: &Preprocess) -> Result<Array> {
        Ok(preprocess.apply(self.raw(index..index + 1)?, self.length(index))?.0)
    }

    /// The length of a sample, as a list for a batch of one.
    pub(super) fn length(&self, index: usize) -> &[usize] {
        self.lengths.get(index..=index).unwrap_or_default()
    }

    /// The minimum and the maximum of all samples. If transforms have changed them, each rank reads its share once more.
    pub(super) fn range(&self, ranks: &Ranks) -> Result<(f32, f32)> {
        let (Some(preprocess), None) = (&self.preprocess, self.range.get()) else {
            return Ok(self.range.get().copied().unwrap_or(EMPTY));
        };
        let pieces = Pieces::of(&self.shape);
        let mut own = None;
        for at in part(pieces.count(), ranks.size(), ranks.rank()).flat_map(|piece| pieces.samples(piece)) {
            let sample = self.transformed(at, preprocess)?;
            own = Some(joined(own.unwrap_or(EMPTY), range(sample.data())));
        }
        let messages = ranks.gather(Ok(pack(&own, &[])))?;
        let all = messages.iter().map(|message| Ok(unpack::<Option<(f32, f32)>>(message)?.0));
        let all = all.collect::<Result<Vec<_>>>()?;
        Ok(*self.range.get_or_init(|| all.into_iter().flatten().fold(EMPTY, joined)))
    }

    /// How many numbers of a sample, before the transforms, are not padding.
    fn used(&self, index: usize) -> usize {
        match (self.lengths.get(index), self.array.shape()) {
            (Some(length), [_, _, sides @ ..]) => length * sides.iter().product::<usize>(),
            _ => self.array.sample_size(),
        }
    }

    fn clear_padding(&self, array: &mut Array, indices: impl Iterator<Item = usize>) {
        if self.lengths.is_empty() {
            return;
        }
        let size = self.array.sample_size().max(1);
        for (sample, at) in array.data_mut().chunks_exact_mut(size).zip(indices) {
            sample[self.used(at)..].fill(0.0);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs::File;

    use matnet_data::format::npy;

    use super::*;

    #[test]
    fn a_range_that_cannot_be_read_is_an_error() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.npy");
        npy::write_f32(&mut File::create(&path).unwrap(), &[3, 2, 1, 1], &[0.5, 2.0, -1.0, 0.0, 7.0, 3.0])
            .unwrap();
        let array = StoredArray::open(&path).unwrap().unwrap();
        let stored = StoredInputs::new(array, &[], "x.npy", &[0], &Ranks::default()).unwrap();
        assert_eq!(stored.range(&Ranks::default()).unwrap(), (-1.0, 7.0));
        let joined = Preprocess { join: true, ..Preprocess::default() };
        let stored = stored.with(&joined).unwrap();
        let before = stored.clone();
        assert_eq!(before.range(&Ranks::default()).unwrap(), (-1.0, 7.0));
        File::options().write(true).open(&path).unwrap().set_len(140).unwrap();
        // It is known by now.
        assert_eq!(stored.range(&Ranks::default()).unwrap(), (-1.0, 7.0));
        let error = stored.with(&joined).unwrap().range(&Ranks::default()).unwrap_err().to_string();
        assert!(error.ends_with("x.npy: was cut off while it was read"), "{error}");
    }
}

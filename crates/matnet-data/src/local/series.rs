//! Series of different lengths, collected one after the other and padded at the end.

use std::path::Path;

use super::{Layout, ReadOptions};
use crate::format::bounded::reserve;
use crate::{Array, Error, Result, memory};

/// Padding may make the values this many times as many …
const MOST_RATIO: usize = 100;
/// … plus this many.
const FREE_VALUES: usize = 4 << 20;

/// The form of the samples that series become.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SeriesForm {
    /// `[n, time, rows, cols]`, or `[n, time, channels, 1]`; lengths may differ.
    Sequence,
    /// `[n, channels, time]`; lengths may not differ.
    Matrix,
    /// `[n, channels, time]`; lengths may differ.
    Signals,
}

impl SeriesForm {
    /// The form that the options ask for, or else `default`.
    pub fn of(options: &ReadOptions, default: Layout) -> Self {
        match (options.signals, options.layout.unwrap_or(default)) {
            (true, _) => Self::Signals,
            (false, Layout::Sequence) => Self::Sequence,
            (false, Layout::Matrix) => Self::Matrix,
        }
    }
}

/// Series whose steps have one size, of any lengths.
#[derive(Debug, Default)]
pub(super) struct SeriesList {
    /// The size of a step: `[channels]` or `[rows, cols]`.
    step: Vec<usize>,
    /// All values: series after series, step after step.
    values: Vec<f32>,
    lengths: Vec<usize>,
}

impl SeriesList {
    /// An empty list of series whose steps have this size.
    pub fn new(step: &[usize]) -> Self {
        Self { step: step.to_vec(), ..Self::default() }
    }

    /// Appends a series; `values` are step after step.
    pub fn push(&mut self, values: &[f32]) -> Result<()> {
        self.lengths.push(values.len() / self.step_size());
        reserve(&mut self.values, values.len(), Path::new("series"))?;
        self.values.extend_from_slice(values);
        Ok(())
    }

    /// Appends a series; `values` are channel after channel.
    pub fn push_channels(&mut self, values: &[f32]) -> Result<()> {
        let channels = self.step_size();
        let length = values.len() / channels;
        self.lengths.push(length);
        reserve(&mut self.values, values.len(), Path::new("series"))?;
        for step in 0..length {
            self.values.extend((0..channels).map(|channel| values[channel * length + step]));
        }
        Ok(())
    }

    fn step_size(&self) -> usize {
        self.step.iter().product::<usize>().max(1)
    }

    /// The samples and, where they differ, the lengths.
    pub fn finish(self, form: SeriesForm, path: &Path) -> Result<(Array, Vec<usize>)> {
        let (count, step) = (self.lengths.len(), self.step_size());
        let (Some(&longest), Some(&shortest)) = (self.lengths.iter().max(), self.lengths.iter().min()) else {
            return Err(Error::format(path, "holds no series"));
        };
        if longest == 0 || self.step.contains(&0) {
            return Err(Error::format(path, "holds series without values"));
        }
        let differ = longest != shortest;
        if form == SeriesForm::Matrix && differ {
            let what = format!(
                "holds series of {shortest} to {longest} steps; matrices have one size; `layout = \"sequence\"` reads \
                 sequences of different lengths"
            );
            return Err(Error::format(path, what));
        }
        let size = longest.checked_mul(step).and_then(|size| size.checked_mul(count));
        let most = self.values.len().saturating_mul(MOST_RATIO).saturating_add(FREE_VALUES);
        let Some(size) = size.filter(|&size| size <= most) else {
            let what = format!(
                "holds {count} series of {shortest} to {longest} steps; padding all to the longest would make them more \
                 than {MOST_RATIO} times as large; cut the longest"
            );
            return Err(Error::format(path, what));
        };
        let data = match (form, differ) {
            (SeriesForm::Sequence, false) => self.values,
            _ => {
                let mut data = memory::filled(0.0, size, path.display())?;
                let mut from = &self.values[..];
                for (sample, &length) in data.chunks_exact_mut(longest * step).zip(&self.lengths) {
                    let (series, rest) = from.split_at(length * step);
                    match form {
                        SeriesForm::Sequence => sample[..series.len()].copy_from_slice(series),
                        SeriesForm::Matrix | SeriesForm::Signals => turn(series, step, sample, longest),
                    }
                    from = rest;
                }
                data
            }
        };
        let shape = match (form, &self.step[..]) {
            (SeriesForm::Sequence, &[rows, cols]) => vec![count, longest, rows, cols],
            (SeriesForm::Sequence, _) => vec![count, longest, step, 1],
            _ => vec![count, step, longest],
        };
        Ok((Array::new(shape, data)?, if differ { self.lengths } else { Vec::new() }))
    }
}

/// Writes a series, step after step, as rows of `longest` values, channel after channel.
fn turn(series: &[f32], channels: usize, rows: &mut [f32], longest: usize) {
    for (step, values) in series.chunks_exact(channels).enumerate() {
        for (channel, &value) in values.iter().enumerate() {
            rows[channel * longest + step] = value;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A series of two steps and one of one step, of two channels.
    fn list() -> SeriesList {
        let mut list = SeriesList::new(&[2]);
        list.push(&[1., 2., 3., 4.]).unwrap();
        list.push_channels(&[5., 6.]).unwrap();
        list
    }

    #[test]
    fn shorter_series_are_followed_by_zeros() {
        let (array, lengths) = list().finish(SeriesForm::Sequence, Path::new("t")).unwrap();
        assert_eq!((array.shape(), &lengths[..]), (&[2, 2, 2, 1][..], &[2, 1][..]));
        assert_eq!(array.data(), [1., 2., 3., 4., 5., 6., 0., 0.]);
        let (array, lengths) = list().finish(SeriesForm::Signals, Path::new("t")).unwrap();
        assert_eq!((array.shape(), &lengths[..]), (&[2, 2, 2][..], &[2, 1][..]));
        assert_eq!(array.data(), [1., 3., 2., 4., 5., 0., 6., 0.]);
        let error = list().finish(SeriesForm::Matrix, Path::new("t")).unwrap_err().to_string();
        assert!(error.starts_with("t: holds series of 1 to 2 steps; matrices have one size;"), "{error}");
    }

    #[test]
    fn padding_is_bounded() {
        let mut list = SeriesList::new(&[1]);
        list.push(&vec![0.0; 300_000]).unwrap();
        (0..300_000).for_each(|_| list.push(&[1.0]).unwrap());
        let error = list.finish(SeriesForm::Sequence, Path::new("t")).unwrap_err().to_string();
        assert!(error.contains("more than 100 times as large; cut the longest"), "{error}");
        let error =
            SeriesList::new(&[1]).finish(SeriesForm::Sequence, Path::new("t")).unwrap_err().to_string();
        assert_eq!(error, "t: holds no series");
    }
}

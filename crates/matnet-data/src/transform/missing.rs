//! Missing values, which are NaN: filled in, with the places as further channels if asked.

use crate::transform::scale::weight_of;
use crate::transform::{Channels, matrix_sides};
use crate::{Array, Error, Result, memory};

/// How missing values are filled in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FillMethod {
    /// By 0.
    Zero,
    /// By the mean of the channel in the training samples.
    Mean,
    /// By the last known value of the channel in the same sample; by the mean where none is known yet.
    Forward,
}

/// Filling, fitted to the training samples.
///
/// The channels of sequences `[n, time, rows, cols]` are the entries of their matrices, and time runs along the sequence. The channels of
/// matrices `[n, rows, cols]` are the rows, and time runs along the columns, as in signals.
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Fill {
    method: FillMethod,
    /// The mean of each channel; 0 where no value is known.
    means: Vec<f32>,
}

impl Fill {
    /// How values are filled in, and the mean of each channel.
    pub fn parts(&self) -> (FillMethod, &[f32]) {
        (self.method, &self.means)
    }

    /// Fits to the samples `train` of `data`. For sequences with `lengths`, what follows them is padding and does not count.
    pub fn fit(method: FillMethod, data: &Array, lengths: &[usize], train: &[usize]) -> Result<Self> {
        Self::fit_weighted(method, data, lengths, train, &[])
    }

    /// As [`Fill::fit`], with the weights of all samples of `data`; without weights each counts once.
    pub fn fit_weighted(
        method: FillMethod,
        data: &Array,
        lengths: &[usize],
        train: &[usize],
        weights: &[f32],
    ) -> Result<Self> {
        let channels = Channels::of(data)?;
        let used = channels.used_steps(data, lengths)?;
        let (mut sums, mut counts) = (vec![0.0; channels.count], vec![0.0; channels.count]);
        for &position in train {
            if position >= data.len() {
                let what = format!("sample {position} to fit on, the data have {}", data.len());
                return Err(Error::Invalid(what));
            }
            let (sample, weight) = (data.sample(position), weight_of(weights, position));
            for channel in 0..channels.count {
                for step in 0..used[position] {
                    let value = sample[channels.place(channel, step)];
                    if !value.is_nan() {
                        sums[channel] += f64::from(value) * weight;
                        counts[channel] += weight;
                    }
                }
            }
        }
        let mean = |(sum, count): (&f64, &f64)| if *count > 0.0 { (sum / count) as f32 } else { 0.0 };
        Ok(Self { method, means: sums.iter().zip(&counts).map(mean).collect() })
    }

    /// Fills `data` in place; padding becomes 0.
    pub fn apply(&self, data: &mut Array, lengths: &[usize]) -> Result<()> {
        let channels = Channels::of(data)?;
        if channels.count != self.means.len() {
            let (fitted, found) = (self.means.len(), channels.count);
            return Err(Error::Invalid(format!(
                "missing values of {fitted} channels are known, these have {found}"
            )));
        }
        let used = channels.used_steps(data, lengths)?;
        for (sample, used) in data.data_mut().chunks_exact_mut(channels.size().max(1)).zip(used) {
            for channel in 0..channels.count {
                let mut last = self.means[channel];
                for step in 0..channels.steps {
                    let value = &mut sample[channels.place(channel, step)];
                    if !value.is_nan() {
                        last = *value;
                    } else {
                        *value = match self.method {
                            _ if step >= used => 0.0,
                            FillMethod::Zero => 0.0,
                            FillMethod::Mean => self.means[channel],
                            FillMethod::Forward => last,
                        };
                    }
                }
            }
        }
        Ok(())
    }
}

/// 1 where a value of `data` is missing and 0 elsewhere, as scikit-learn's `MissingIndicator`; 0 in padding. To be taken before the
/// values are filled, and appended once they are scaled ([`append_rows`]).
pub fn missing_mask(data: &Array, lengths: &[usize]) -> Result<Array> {
    let channels = Channels::of(data)?;
    let used = channels.used_steps(data, lengths)?;
    let mut mask = memory::filled(0.0, data.data().len(), "the mask of missing values")?;
    for (at, sample) in mask.chunks_exact_mut(channels.size().max(1)).enumerate() {
        let values = data.sample(at);
        for channel in 0..channels.count {
            for place in (0..used[at]).map(|step| channels.place(channel, step)) {
                sample[place] = f32::from(values[place].is_nan());
            }
        }
    }
    Array::new(data.shape(), mask)
}

/// The matrices of `data` with the rows of `more` below their own: `[…, rows, cols]` and `[…, others, cols]` make
/// `[…, rows + others, cols]`.
pub fn append_rows(data: &Array, more: &Array) -> Result<Array> {
    let ((rows, cols), (others, _)) = (matrix_sides(data)?, matrix_sides(more)?);
    let mut shape = data.shape().to_vec();
    let axis = shape.len() - 2;
    let mut other = more.shape().to_vec();
    other[axis.min(more.shape().len() - 1)] = rows;
    if other != shape {
        let what = format!("rows of shape {:?} do not fit below {:?}", more.shape(), data.shape());
        return Err(Error::Invalid(what));
    }
    shape[axis] = rows + others;
    let mut values = Vec::with_capacity(data.data().len() + more.data().len());
    if cols > 0 && rows > 0 && others > 0 {
        for (top, bottom) in
            data.data().chunks_exact(rows * cols).zip(more.data().chunks_exact(others * cols))
        {
            values.extend_from_slice(top);
            values.extend_from_slice(bottom);
        }
    }
    Array::new(shape, values)
}

#[cfg(test)]
mod tests {
    use super::*;

    const GAP: f32 = f32::NAN;

    /// Two sequences of 4 steps of 2×1; the second has 2 steps.
    fn sequences() -> Array {
        let values = vec![GAP, 10., 2., GAP, GAP, GAP, 4., 40., 6., GAP, GAP, GAP, 0., 0., GAP, 0.];
        Array::new([2, 4, 2, 1], values).unwrap()
    }

    fn filled(method: FillMethod) -> Vec<f32> {
        let mut data = sequences();
        let fill = Fill::fit(method, &data, &[4, 2], &[0, 1]).unwrap();
        let text = serde_json::to_string(&fill).unwrap();
        let stored: Fill = serde_json::from_str(&text).unwrap();
        stored.apply(&mut data, &[4, 2]).unwrap();
        data.into_data()
    }

    #[test]
    fn values_are_filled_by_each_method() {
        let zero = [0., 10., 2., 0., 0., 0., 4., 40., 6., 0., 0., 0., 0., 0., 0., 0.];
        assert_eq!(filled(FillMethod::Zero), zero);
        // channel 0 knows 2, 4, 6, channel 1 knows 10, 40
        let mean = [4., 10., 2., 25., 4., 25., 4., 40., 6., 25., 4., 25., 0., 0., 0., 0.];
        assert_eq!(filled(FillMethod::Mean), mean);
        let forward = [4., 10., 2., 10., 2., 10., 4., 40., 6., 25., 6., 25., 0., 0., 0., 0.];
        assert_eq!(filled(FillMethod::Forward), forward);
    }

    #[test]
    fn signals_are_filled_along_their_rows() {
        let mut data = Array::new([1, 2, 3], vec![1., GAP, 3., GAP, GAP, GAP]).unwrap();
        let fill = Fill::fit(FillMethod::Forward, &data, &[], &[0]).unwrap();
        fill.apply(&mut data, &[]).unwrap();
        assert_eq!(data.data(), [1., 1., 3., 0., 0., 0.], "a channel without values has mean 0");
    }

    #[test]
    fn test_samples_do_not_change_the_means() {
        let fit = |value| {
            let data = Array::new([2, 1, 2], vec![1., GAP, value, value]).unwrap();
            Fill::fit(FillMethod::Mean, &data, &[], &[0]).unwrap()
        };
        assert_eq!(fit(5.0), fit(100.0));
    }

    #[test]
    fn the_mask_is_one_where_a_value_is_missing() {
        let mask = missing_mask(&sequences(), &[4, 2]).unwrap();
        assert_eq!(mask.data(), [1., 0., 0., 1., 1., 1., 0., 0., 0., 1., 1., 1., 0., 0., 0., 0.]);
        let both = append_rows(&sequences(), &mask).unwrap();
        assert_eq!(both.shape(), [2, 4, 4, 1]);
        assert_eq!((both.data()[4], &both.data()[6..8]), (2., &[0., 1.][..]));
        let wide = Array::new([2, 4, 2, 2], vec![0.; 32]).unwrap();
        let message = append_rows(&sequences(), &wide).unwrap_err().to_string();
        assert_eq!(message, "rows of shape [2, 4, 2, 2] do not fit below [2, 4, 2, 1]");
        assert!(append_rows(&sequences(), &Array::new([2, 2, 1], vec![0.; 4]).unwrap()).is_err());
    }

    #[test]
    fn wrong_requests_say_what_is_wrong() {
        let fill = Fill::fit(FillMethod::Mean, &sequences(), &[], &[0]).unwrap();
        let mut other = Array::new([1, 3, 2], vec![0.; 6]).unwrap();
        let message = fill.apply(&mut other, &[]).unwrap_err().to_string();
        assert_eq!(message, "missing values of 2 channels are known, these have 3");
        assert!(Fill::fit(FillMethod::Mean, &sequences(), &[5, 1], &[0]).is_err());
        assert!(Fill::fit(FillMethod::Mean, &sequences(), &[], &[2]).is_err());
        let mut signals = Array::new([1, 2, 2], vec![0.; 4]).unwrap();
        assert!(fill.apply(&mut signals, &[3]).is_err());
    }
}

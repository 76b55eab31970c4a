//! Scaling, fitted to the training samples only, so that no test data leak.

mod fit;

pub use fit::{PieceFit, ScalerFit};

use crate::pieces::Pieces;
use crate::transform::{Channels, matrix_sides};
use crate::{Array, Error, Result};

/// How values are scaled.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ScaleMethod {
    /// Mean 0 and standard deviation 1.
    Standardize,
    /// Minimum 0 and maximum 1.
    MinMax,
}

/// Which values share one scale.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ScalePer {
    /// All of them.
    Whole,
    /// Each row of the matrix (a channel, say) over samples, time and columns.
    Row,
    /// Each column of the matrix (a channel of a window over a table, or a time of a signal) over samples, time and rows.
    Column,
    /// Each entry of the matrix over samples and time.
    Entry,
}

/// A fitted scaling: x becomes (x − shift) / scale.
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Scaler {
    per: ScalePer,
    rows: usize,
    cols: usize,
    shift: Vec<f32>,
    scale: Vec<f32>,
}

impl Scaler {
    /// Fits to the samples `train` of `data`.
    pub fn fit(method: ScaleMethod, per: ScalePer, data: &Array, train: &[usize]) -> Result<Self> {
        Self::fit_padded(method, per, data, &[], train)
    }

    /// As [`Scaler::fit`], for sequences with these lengths: what follows them is padding and does not count. Without lengths all of
    /// it counts.
    pub fn fit_padded(
        method: ScaleMethod,
        per: ScalePer,
        data: &Array,
        lengths: &[usize],
        train: &[usize],
    ) -> Result<Self> {
        Self::fit_weighted(method, per, data, lengths, train, &[])
    }

    /// As [`Scaler::fit_padded`], with the weights of all samples of `data`: one of weight 2 counts as two, one of weight 0 does not.
    /// Without weights each counts once.
    pub fn fit_weighted(
        method: ScaleMethod,
        per: ScalePer,
        data: &Array,
        lengths: &[usize],
        train: &[usize],
        weights: &[f32],
    ) -> Result<Self> {
        let (rows, cols) = matrix_sides(data)?;
        let padding = Padding::of(data, lengths)?;
        let mut fit = ScalerFit::new(method, per, rows, cols);
        if let Some(position) = train.iter().find(|&&position| position >= data.len()) {
            return Err(Error::Invalid(format!("sample {position} to fit on, the data have {}", data.len())));
        }
        for (piece, samples) in Pieces::of(data.shape()).group(train).into_iter().enumerate() {
            let mut stats = fit.piece();
            for at in samples {
                stats.add_sample(data.sample(at), weight_of(weights, at), padding.of_sample(at));
            }
            fit.push(piece, stats);
        }
        fit.finish()
    }

    /// Scales `data` in place.
    pub fn apply(&self, data: &mut Array) -> Result<()> {
        self.apply_padded(data, &[])
    }

    /// As [`Scaler::apply`], for sequences with these lengths: padding stays as it is.
    pub fn apply_padded(&self, data: &mut Array, lengths: &[usize]) -> Result<()> {
        self.each(data, lengths, |x, shift, scale| (x - shift) / scale)
    }

    /// Turns scaled values back into the original ones.
    pub fn apply_inverse(&self, data: &mut Array) -> Result<()> {
        self.each(data, &[], |x, shift, scale| x * scale + shift)
    }

    /// Rows and columns of the matrices it was fitted to.
    pub fn sides(&self) -> (usize, usize) {
        (self.rows, self.cols)
    }

    /// What has a shift and a scale of its own, the shifts and the scales.
    pub fn parts(&self) -> (ScalePer, &[f32], &[f32]) {
        (self.per, &self.shift, &self.scale)
    }

    fn each(&self, data: &mut Array, lengths: &[usize], change: impl Fn(f32, f32, f32) -> f32) -> Result<()> {
        let (rows, cols) = matrix_sides(data)?;
        if (rows, cols) != (self.rows, self.cols) {
            return Err(Error::Invalid(format!(
                "scale fitted to {}×{} matrices, these are {rows}×{cols}",
                self.rows, self.cols
            )));
        }
        // A scaler read from a file may be damaged.
        let count = self.per.count(rows, cols);
        if self.shift.len() != count || self.scale.len() != count {
            return Err(Error::Invalid(format!("a scale per {:?} needs {count} numbers", self.per)));
        }
        let padding = Padding::of(data, lengths)?;
        let size = data.shape()[1..].iter().product::<usize>();
        for (position, sample) in data.data_mut().chunks_exact_mut(size.max(1)).enumerate() {
            let outside = padding.of_sample(position);
            for (place, x) in sample.iter_mut().enumerate() {
                if outside(place) {
                    continue;
                }
                let slot = self.per.slot(place, rows, cols);
                *x = change(*x, self.shift[slot], self.scale[slot]);
            }
        }
        Ok(())
    }
}

/// The weight of a sample; 1 where there are no weights.
pub fn weight_of(weights: &[f32], sample: usize) -> f64 {
    weights.get(sample).map_or(1.0, |&weight| weight.into())
}

/// Which values of a sample are padding.
struct Padding(Option<(Channels, Vec<usize>)>);

impl Padding {
    fn of(data: &Array, lengths: &[usize]) -> Result<Self> {
        if lengths.is_empty() {
            return Ok(Self(None));
        }
        let channels = Channels::of(data)?;
        Ok(Self(Some((channels, channels.used_steps(data, lengths)?))))
    }

    fn of_sample(&self, position: usize) -> impl Fn(usize) -> bool + use<> {
        let used = self.0.as_ref().map(|(channels, used)| (*channels, used[position]));
        move |place| used.is_some_and(|(channels, used)| channels.step(place) >= used)
    }
}

impl ScalePer {
    fn count(self, rows: usize, cols: usize) -> usize {
        match self {
            Self::Whole => 1,
            Self::Row => rows,
            Self::Column => cols,
            Self::Entry => rows * cols,
        }
    }

    fn slot(self, place: usize, rows: usize, cols: usize) -> usize {
        match self {
            Self::Whole => 0,
            Self::Row => place / cols % rows,
            Self::Column => place % cols,
            Self::Entry => place % (rows * cols),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn numbers(shape: [usize; 3], values: impl Fn(usize) -> f32) -> Array {
        let count = shape.iter().product();
        Array::new(shape, (0..count).map(values).collect()).unwrap()
    }

    #[test]
    fn test_samples_do_not_change_the_scale() {
        let mut data = numbers([3, 2, 2], |i| i as f32);
        let scaler = Scaler::fit(ScaleMethod::MinMax, ScalePer::Whole, &data, &[0, 1]).unwrap();
        data.data_mut()[11] = 1e6;
        assert_eq!(scaler, Scaler::fit(ScaleMethod::MinMax, ScalePer::Whole, &data, &[0, 1]).unwrap());
        scaler.apply(&mut data).unwrap();
        assert_eq!((data.data()[0], data.data()[7]), (0.0, 1.0));
    }

    #[test]
    fn each_row_and_entry_has_its_own_scale() {
        let data = numbers([4, 2, 3], |i| (i % 6) as f32 * 10.0 + (i / 6) as f32);
        let all = [0, 1, 2, 3];
        for per in [ScalePer::Whole, ScalePer::Row, ScalePer::Column, ScalePer::Entry] {
            let mut scaled = data.clone();
            Scaler::fit(ScaleMethod::Standardize, per, &data, &all).unwrap().apply(&mut scaled).unwrap();
            let mean = scaled.data().iter().sum::<f32>() / 24.0;
            let square = scaled.data().iter().map(|x| x * x).sum::<f32>() / 24.0;
            assert!(mean.abs() < 1e-6 && (square - 1.0).abs() < 1e-5, "{per:?}: {mean} {square}");
        }
        let mut entries = data.clone();
        Scaler::fit(ScaleMethod::MinMax, ScalePer::Entry, &data, &all).unwrap().apply(&mut entries).unwrap();
        assert_eq!((entries.sample(0), entries.sample(3)), (&[0.0; 6][..], &[1.0; 6][..]));
    }

    #[test]
    fn each_column_has_its_own_scale() {
        let mut data = numbers([2, 2, 3], |i| (i % 3 * 100) as f32 + (i / 3) as f32);
        Scaler::fit(ScaleMethod::MinMax, ScalePer::Column, &data, &[0, 1]).unwrap().apply(&mut data).unwrap();
        assert_eq!(data.sample(0), [0.0, 0.0, 0.0, 1.0 / 3.0, 1.0 / 3.0, 1.0 / 3.0]);
    }

    #[test]
    fn a_weight_stands_for_copies_of_a_sample() {
        // The sample that does not count has the largest numbers.
        let data = numbers([4, 2, 2], |i| (i * i % 7) as f32 + if i / 4 == 1 { 9.0 } else { 0.0 });
        for method in [ScaleMethod::Standardize, ScaleMethod::MinMax] {
            let fit = |train: &[usize], weights: &[f32]| {
                Scaler::fit_weighted(method, ScalePer::Row, &data, &[], train, weights).unwrap()
            };
            let (weighted, copied) =
                (fit(&[0, 1, 2, 3], &[2.0, 0.0, 1.0, 3.0]), fit(&[0, 0, 2, 3, 3, 3], &[]));
            for ((a, b), (c, d)) in
                (weighted.shift.iter().zip(&copied.shift)).zip(weighted.scale.iter().zip(&copied.scale))
            {
                assert!((a - b).abs() < 1e-6 && (c - d).abs() < 1e-6, "{weighted:?} {copied:?}");
            }
            assert_ne!(weighted, fit(&[0, 1, 2, 3], &[]));
            assert_eq!(fit(&[0, 1, 2, 3], &[1.0; 4]), fit(&[0, 1, 2, 3], &[]));
        }
    }

    #[test]
    fn padding_neither_counts_nor_changes() {
        // two sequences of 3 steps of 2×1, of which one has 1 step
        let values = vec![1.0, 10.0, 3.0, 30.0, 5.0, 50.0, 3.0, 30.0, 0.0, 0.0, 0.0, 0.0];
        let data = Array::new([2, 3, 2, 1], values).unwrap();
        let fit = |lengths: &[usize]| {
            Scaler::fit_padded(ScaleMethod::Standardize, ScalePer::Row, &data, lengths, &[0, 1])
        };
        let scaler = fit(&[3, 1]).unwrap();
        let mut scaled = data.clone();
        scaler.apply_padded(&mut scaled, &[3, 1]).unwrap();
        let expected = 2f32.sqrt();
        for (x, y) in scaled.sample(0).iter().zip([-expected, -expected, 0.0, 0.0, expected, expected]) {
            assert!((x - y).abs() < 1e-6, "{x} is not {y}");
        }
        assert_eq!(scaled.sample(1), [0.0; 6]);
        let message = fit(&[3, 4]).unwrap_err().to_string();
        assert_eq!(message, "2 lengths of up to 4 steps for samples of shape [2, 3, 2, 1]");
        assert!(fit(&[3]).is_err());
    }

    #[test]
    fn constants_are_only_shifted() {
        let mut data = numbers([2, 1, 2], |_| 3.0);
        Scaler::fit(ScaleMethod::Standardize, ScalePer::Entry, &data, &[0, 1])
            .unwrap()
            .apply(&mut data)
            .unwrap();
        assert_eq!(data.data(), [0.0; 4]);
    }

    #[test]
    fn wrong_requests_say_what_is_wrong() {
        let data = numbers([2, 2, 2], |i| i as f32);
        let fit = |train: &[usize]| Scaler::fit(ScaleMethod::MinMax, ScalePer::Whole, &data, train);
        assert_eq!(fit(&[]).unwrap_err().to_string(), "no training samples to fit a scale to");
        assert_eq!(fit(&[2]).unwrap_err().to_string(), "sample 2 to fit on, the data have 2");
        let mut other = numbers([2, 2, 3], |i| i as f32);
        let message = fit(&[0]).unwrap().apply(&mut other).unwrap_err().to_string();
        assert_eq!(message, "scale fitted to 2×2 matrices, these are 2×3");
    }

    proptest! {
        #[test]
        fn apply_inverse_restores_the_values(values in prop::collection::vec(-100f32..100.0, 24)) {
            let data = Array::new([4, 3, 2], values).unwrap();
            for method in [ScaleMethod::Standardize, ScaleMethod::MinMax] {
                let scaler = Scaler::fit(method, ScalePer::Row, &data, &[0, 1, 3]).unwrap();
                let mut there_and_back = data.clone();
                scaler.apply(&mut there_and_back).unwrap();
                scaler.apply_inverse(&mut there_and_back).unwrap();
                for (a, b) in there_and_back.data().iter().zip(data.data()) {
                    prop_assert!((a - b).abs() < 1e-3);
                }
            }
        }
    }
}

//! Windows over one long table, for forecasting: the samples are stretches of the table, and the targets what follows them.
//!
//! The table is scaled as a whole first ([`Windows::fit_scaler`]), by its training rows: that is the usual protocol of the ETT tables,
//! whose errors are given for scaled values. [`NormalizeWindow`] then takes the level of each window out of it, and puts it back into
//! the predictions.

use std::ops::Range;

use crate::transform::scale::{ScaleMethod, ScalePer, Scaler};
use crate::{Array, Error, Result, Samples, TableData, Target};

/// The size of windows: `window` rows are the input, the next `horizon` rows the target. There is one window per row (stride 1), and
/// window `i` starts at row `i`.
///
/// Keys: `window` and `horizon`, both numbers of rows; there are no defaults.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Windows {
    /// Rows of the input.
    pub window: usize,
    /// Rows to predict.
    pub horizon: usize,
}

/// The form of the samples that are made of a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WindowForm {
    /// Sequences `[n, window, columns, 1]` with sequences `[n, horizon, columns, 1]` as targets, for seq2seq nets.
    Sequence,
    /// Matrices `[n, window, columns]` with matrices `[n, horizon, columns]` as targets, for feed-forward nets.
    Matrix,
}

impl WindowForm {
    fn shape(self, count: usize, rows: usize, columns: usize) -> Vec<usize> {
        match self {
            Self::Sequence => vec![count, rows, columns, 1],
            Self::Matrix => vec![count, rows, columns],
        }
    }
}

impl Windows {
    /// The number of windows in `rows` rows; fails if there is none.
    pub fn count(&self, rows: usize) -> Result<usize> {
        let Self { window, horizon } = *self;
        if window == 0 || horizon == 0 {
            let what = format!("window {window} and horizon {horizon}: both must be at least 1");
            return Err(Error::Invalid(what));
        }
        let most = window.checked_add(horizon).and_then(|both| (rows + 1).checked_sub(both));
        most.filter(|&count| count > 0).ok_or_else(|| {
            Error::Invalid(format!(
                "window {window} and horizon {horizon} need more than the {rows} rows there are"
            ))
        })
    }

    /// The inputs and targets of some windows, given by their first rows. A window is a view of the table: only these are copied.
    pub fn gather(&self, table: &Array, form: WindowForm, starts: &[usize]) -> Result<(Array, Array)> {
        let table_shape = table.shape();
        let &[rows, columns] = table_shape else {
            return Err(Error::Invalid(format!(
                "shape {table_shape:?} is no table; [rows, columns] expected"
            )));
        };
        let count = self.count(rows)?;
        if let Some(start) = starts.iter().find(|&&start| start >= count) {
            return Err(Error::Invalid(format!("window {start}: there are {count}, counted from 0")));
        }
        let gather = |skip: usize, length: usize| {
            let mut values = Vec::with_capacity(starts.len() * length * columns);
            for start in starts {
                values.extend_from_slice(&table.data()[(start + skip) * columns..][..length * columns]);
            }
            Array::new(form.shape(starts.len(), length, columns), values)
        };
        Ok((gather(0, self.window)?, gather(self.window, self.horizon)?))
    }

    /// All windows in the first `rows` rows as samples.
    ///
    /// Each row is copied into every window that holds it: 14,400 rows of 7 channels with window and horizon 96 take 76 MB.
    /// [`Windows::gather`] copies no more than a batch needs.
    pub fn samples(&self, table: &TableData, form: WindowForm, rows: usize) -> Result<Samples> {
        let starts: Vec<usize> = (0..self.count(rows.min(table.rows()))?).collect();
        let (inputs, targets) = self.gather(&table.values, form, &starts)?;
        Ok(Samples::new(inputs, Target::Matrices(targets)))
    }

    /// A scale per column of a table, fitted to the rows `train`; it applies to the table as `[rows, columns, 1]`, and to sequences
    /// `[n, time, columns, 1]` made of it.
    pub fn fit_scaler(method: ScaleMethod, table: &TableData, train: Range<usize>) -> Result<Scaler> {
        let rows: Vec<usize> = train.collect();
        Scaler::fit(method, ScalePer::Row, &by_row(table.values.clone())?, &rows)
    }

    /// Scales a table in place.
    pub fn scale(scaler: &Scaler, table: &mut TableData) -> Result<()> {
        scale_columns(&mut table.values, |rows| scaler.apply(rows))
    }

    /// Turns scaled values back: predictions `[n, horizon, columns]` or `[n, horizon, columns, 1]`, or a table.
    pub fn scale_back(scaler: &Scaler, predictions: &mut Array, columns: usize) -> Result<()> {
        if columns == 0 || !predictions.data().len().is_multiple_of(columns) {
            let shape = predictions.shape();
            return Err(Error::Invalid(format!(
                "values of shape {shape:?} are no rows of {columns} columns"
            )));
        }
        let shape = predictions.shape().to_vec();
        let flat = [predictions.data().len() / columns, columns];
        reshape_in_place(predictions, flat)?;
        let done = scale_columns(predictions, |rows| scaler.apply_inverse(rows));
        reshape_in_place(predictions, shape)?;
        done
    }
}

fn by_row(table: Array) -> Result<Array> {
    let shape = [table.shape(), &[1]].concat();
    table.reshaped(shape)
}

fn reshape_in_place(array: &mut Array, shape: impl Into<Vec<usize>>) -> Result<()> {
    let values = std::mem::replace(array, Array::new([0], Vec::new())?);
    *array = values.reshaped(shape)?;
    Ok(())
}

/// Runs `change` on a table as `[rows, columns, 1]`.
fn scale_columns(table: &mut Array, change: impl FnOnce(&mut Array) -> Result<()>) -> Result<()> {
    let shape = table.shape().to_vec();
    reshape_in_place(table, [&shape[..], &[1]].concat())?;
    let done = change(table);
    reshape_in_place(table, shape)?;
    done
}

/// How the level of each window is taken out of it, and put back into its prediction. Each channel of each window has its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum NormalizeWindow {
    /// Subtract the last value of the input.
    Last,
    /// Subtract the mean of the input, and divide by its standard deviation: √(variance + 10⁻⁵), so that a constant channel stays
    /// finite. The constant suits tables that are standardized.
    Standardize,
}

/// What was taken out of each window, by [`NormalizeWindow::normalize`].
#[derive(Clone, Debug, PartialEq)]
pub struct WindowLevels {
    channels: usize,
    /// Sample after sample, channel after channel.
    shift: Vec<f32>,
    scale: Vec<f32>,
}

impl NormalizeWindow {
    /// Normalizes inputs `[n, time, …]` in place; each place of the axes after time is a channel.
    pub fn normalize(self, inputs: &mut Array) -> Result<WindowLevels> {
        let shape = inputs.shape();
        let [count, time, rest @ ..] = shape else {
            return Err(Error::Invalid(format!("windows of shape {shape:?}: [n, time, channels] expected")));
        };
        let (count, time, channels) = (*count, *time, rest.iter().product::<usize>());
        if time == 0 || channels == 0 {
            return Err(Error::Invalid(format!("windows of shape {shape:?} hold no values")));
        }
        let (mut shift, mut scale) =
            (Vec::with_capacity(count * channels), Vec::with_capacity(count * channels));
        for window in inputs.data().chunks_exact(time * channels) {
            for channel in 0..channels {
                let values = || window[channel..].iter().step_by(channels).map(|&x| f64::from(x));
                let (level, spread) = match self {
                    Self::Last => (f64::from(window[(time - 1) * channels + channel]), 1.0),
                    Self::Standardize => {
                        let mean = values().sum::<f64>() / time as f64;
                        let variance = values().map(|x| (x - mean).powi(2)).sum::<f64>() / time as f64;
                        (mean, (variance + 1e-5).sqrt())
                    }
                };
                shift.push(level as f32);
                scale.push(spread as f32);
            }
        }
        let levels = WindowLevels { channels, shift, scale };
        levels.apply(inputs)?;
        Ok(levels)
    }
}

impl WindowLevels {
    /// Normalizes the targets of the same windows, `[n, horizon, …]`.
    pub fn apply(&self, values: &mut Array) -> Result<()> {
        self.each(values, |x, shift, scale| (x - shift) / scale)
    }

    /// Puts the levels back into the predictions for the same windows, `[n, horizon, …]`.
    pub fn apply_inverse(&self, values: &mut Array) -> Result<()> {
        self.each(values, |x, shift, scale| x * scale + shift)
    }

    /// The levels of some windows, in this order.
    pub fn select(&self, indices: &[usize]) -> Self {
        let pick = |all: &[f32]| {
            indices.iter().flat_map(|at| &all[at * self.channels..][..self.channels]).copied().collect()
        };
        Self { channels: self.channels, shift: pick(&self.shift), scale: pick(&self.scale) }
    }

    fn each(&self, values: &mut Array, change: impl Fn(f32, f32, f32) -> f32) -> Result<()> {
        let channels = self.channels;
        let count = self.shift.len() / channels;
        let shape = values.shape();
        let fits =
            matches!(shape, [n, _, rest @ ..] if *n == count && rest.iter().product::<usize>() == channels);
        if !fits {
            let what = format!("values of shape {shape:?} for {count} windows of {channels} channels");
            return Err(Error::Invalid(what));
        }
        let size = shape[1] * channels;
        if size == 0 {
            return Ok(());
        }
        for (sample, window) in values.data_mut().chunks_exact_mut(size).enumerate() {
            let levels = sample * channels..(sample + 1) * channels;
            let (shift, scale) = (&self.shift[levels.clone()], &self.scale[levels]);
            for step in window.chunks_exact_mut(channels) {
                for ((x, &shift), &scale) in step.iter_mut().zip(shift).zip(scale) {
                    *x = change(*x, shift, scale);
                }
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Row r, column c is 10 r + c.
    fn table(rows: usize, columns: usize) -> TableData {
        let values = (0..rows * columns).map(|at| (at / columns * 10 + at % columns) as f32).collect();
        TableData::new(Array::new([rows, columns], values).unwrap()).unwrap()
    }

    #[test]
    fn a_window_is_followed_by_its_target() {
        let windows = Windows { window: 3, horizon: 2 };
        let samples = windows.samples(&table(6, 2), WindowForm::Matrix, 6).unwrap();
        assert_eq!(samples.inputs.shape(), [2, 3, 2]);
        assert_eq!(samples.inputs.sample(1), [10., 11., 20., 21., 30., 31.]);
        let Target::Matrices(targets) = &samples.target else { panic!("no matrices") };
        assert_eq!((targets.shape(), targets.sample(1)), (&[2, 2, 2][..], &[40., 41., 50., 51.][..]));
        let sequences = windows.samples(&table(6, 2), WindowForm::Sequence, 5).unwrap();
        assert_eq!(sequences.inputs.shape(), [1, 3, 2, 1]);
        assert_eq!(sequences.inputs.data(), &samples.inputs.data()[..6]);
    }

    #[test]
    fn wrong_requests_say_what_is_wrong() {
        let windows = Windows { window: 3, horizon: 2 };
        let message = |rows| windows.count(rows).unwrap_err().to_string();
        assert_eq!(message(4), "window 3 and horizon 2 need more than the 4 rows there are");
        assert_eq!(windows.count(5).unwrap(), 1);
        let none = Windows { window: 0, horizon: 2 }.count(4).unwrap_err().to_string();
        assert_eq!(none, "window 0 and horizon 2: both must be at least 1");
        assert!(Windows { window: usize::MAX, horizon: 2 }.count(4).is_err());
        let table = table(6, 2);
        let message = windows.gather(&table.values, WindowForm::Matrix, &[2]).unwrap_err().to_string();
        assert_eq!(message, "window 2: there are 2, counted from 0");
        let levels =
            NormalizeWindow::Last.normalize(&mut Array::new([2, 3, 2], vec![0.0; 12]).unwrap()).unwrap();
        let message =
            levels.apply(&mut Array::new([2, 4, 3], vec![0.0; 24]).unwrap()).unwrap_err().to_string();
        assert_eq!(message, "values of shape [2, 4, 3] for 2 windows of 2 channels");
        assert!(NormalizeWindow::Last.normalize(&mut Array::new([2, 0, 2], vec![]).unwrap()).is_err());
    }

    #[test]
    fn a_table_is_scaled_by_its_training_rows() {
        let mut scaled = table(8, 2);
        let scaler = Windows::fit_scaler(ScaleMethod::Standardize, &scaled, 0..4).unwrap();
        Windows::scale(&scaler, &mut scaled).unwrap();
        // the rows 0, 10, 20, 30 have mean 15 and variance 125
        let expected = (0..8).map(|row| (row as f32 * 10.0 - 15.0) / 125f32.sqrt());
        for (row, expected) in scaled.values.data().chunks(2).zip(expected) {
            assert!((row[0] - expected).abs() < 1e-6 && (row[1] - expected).abs() < 1e-6);
        }
        for form in [WindowForm::Matrix, WindowForm::Sequence] {
            let (inputs, _) =
                Windows { window: 2, horizon: 1 }.gather(&scaled.values, form, &[3, 1]).unwrap();
            let mut back = inputs.clone();
            Windows::scale_back(&scaler, &mut back, 2).unwrap();
            assert_eq!(back.shape(), inputs.shape());
            for (x, y) in back.data().iter().zip([30., 31., 40., 41., 10., 11., 20., 21.]) {
                assert!((x - y).abs() < 1e-4, "{x} is not {y}");
            }
        }
        assert!(Windows::scale_back(&scaler, &mut Array::new([1, 3], vec![0.0; 3]).unwrap(), 2).is_err());
    }

    #[test]
    fn levels_are_taken_out() {
        let mut last = Array::new([1, 3, 2], vec![1., 10., 2., 20., 4., 40.]).unwrap();
        let levels = NormalizeWindow::Last.normalize(&mut last).unwrap();
        assert_eq!(last.data(), [-3., -30., -2., -20., 0., 0.]);
        let mut prediction = Array::new([1, 1, 2, 1], vec![0.5, -1.0]).unwrap();
        levels.apply_inverse(&mut prediction).unwrap();
        assert_eq!(prediction.data(), [4.5, 39.0]);
        assert_eq!(levels.select(&[0, 0]).shift, [4., 40., 4., 40.]);
    }

    proptest! {
        #[test]
        fn what_is_taken_out_comes_back(
            values in prop::collection::vec(-100f32..100.0, 24), standardize: bool,
        ) {
            let method = if standardize { NormalizeWindow::Standardize } else { NormalizeWindow::Last };
            let inputs = Array::new([2, 4, 3], values).unwrap();
            let mut normalized = inputs.clone();
            let levels = method.normalize(&mut normalized).unwrap();
            if standardize {
                for window in normalized.data().chunks(12) {
                    let mean = (0..4).map(|step| window[step * 3]).sum::<f32>() / 4.0;
                    prop_assert!(mean.abs() < 1e-3);
                }
            }
            levels.apply_inverse(&mut normalized).unwrap();
            for (x, y) in normalized.data().iter().zip(inputs.data()) {
                prop_assert!((x - y).abs() < 1e-3);
            }
        }
    }
}

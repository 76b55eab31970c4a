//! Transforms of inputs and targets, with their fitted numbers.

use matnet_data::Array;
use matnet_data::transform::join::join_steps;
use matnet_data::transform::log::Log;
use matnet_data::transform::mel::LogMel;
use matnet_data::transform::missing::{Fill, append_rows, missing_mask};
use matnet_data::transform::permute::Permutation;
use matnet_data::transform::scale::Scaler;
use matnet_data::transform::stft::Stft;
use matnet_data::transform::windows::{NormalizeWindow, WindowLevels, Windows};
use serde::{Deserialize, Serialize};

use crate::{Error, Result};

/// The transforms of every input, and of the targets, with their fitted numbers. They are applied in this order.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Preprocess {
    /// The samples per second of the recordings that the net was trained on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sample_rate: Option<u32>,
    /// The days from one row to the next of the table that the net was trained on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub row_step: Option<f64>,
    /// Fills missing values.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fill: Option<Fill>,
    /// Whether rows that say which values are missing are appended, at the end.
    #[serde(default, skip_serializing_if = "is_false")]
    pub missing_mask: bool,
    /// From signals to spectrograms.
    pub spectrogram: Option<Stft>,
    /// From signals to log-mel spectrograms.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub log_mel: Option<LogMel>,
    /// The logarithm.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub log: Option<Log>,
    /// A permutation of rows and columns.
    pub permutation: Option<Permutation>,
    /// Shift and scale.
    pub scaler: Option<Scaler>,
    /// Whether the steps of spectrograms are put beside each other, to one matrix per sample. Padding stays as it is.
    #[serde(default, skip_serializing_if = "is_false")]
    pub join: bool,
    /// Windows over a table: the inputs are the last rows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub windows: Option<Windows>,
    /// How the level of each window is taken out, and put back into its prediction.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub normalize_window: Option<NormalizeWindow>,
    /// Shift and scale of the targets, which predictions are scaled back with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target_scaler: Option<Scaler>,
}

fn is_false(flag: &bool) -> bool {
    !flag
}

impl Preprocess {
    /// Transforms any number of inputs; `lengths` are those of padded sequences, and gives the new ones.
    pub fn apply(&self, inputs: Array, lengths: &[usize]) -> Result<(Array, Vec<usize>)> {
        let mut inputs = inputs;
        let mask = self.filled(&mut inputs, lengths)?;
        let (mut inputs, lengths) = self.spectra(inputs, lengths.to_vec())?;
        if let Some(permutation) = &self.permutation {
            permutation.apply(&mut inputs)?;
        }
        if let Some(scaler) = &self.scaler {
            scaler.apply_padded(&mut inputs, &lengths)?;
        }
        let (inputs, lengths) = self.joined(inputs, lengths)?;
        Ok((with_mask(inputs, mask)?, lengths))
    }

    /// Transforms windows over a table, `[n, window, columns, 1]`, each by itself; gives what was taken out of each, too.
    pub(super) fn apply_to_windows(&self, mut windows: Array) -> Result<(Array, Option<WindowLevels>)> {
        let mask = self.filled(&mut windows, &[])?;
        if let Some(scaler) = &self.scaler {
            scaler.apply(&mut windows)?;
        }
        let levels = self.normalize_window.map(|how| how.normalize(&mut windows)).transpose()?;
        Ok((with_mask(windows, mask)?, levels))
    }

    /// Fills missing values, and gives the rows that say which they were.
    pub(super) fn filled(&self, inputs: &mut Array, lengths: &[usize]) -> Result<Option<Array>> {
        let Some(fill) = &self.fill else { return Ok(None) };
        let mask = self.missing_mask.then(|| missing_mask(inputs, lengths)).transpose()?;
        fill.apply(inputs, lengths)?;
        Ok(mask)
    }

    /// Spectrograms and the logarithm.
    pub(super) fn spectra(&self, inputs: Array, lengths: Vec<usize>) -> Result<(Array, Vec<usize>)> {
        let (mut inputs, lengths) = match (&self.spectrogram, &self.log_mel) {
            (Some(stft), _) => stft.apply_padded(&inputs, &lengths)?,
            (None, Some(mel)) => mel.apply(&inputs, &lengths)?,
            (None, None) => (inputs, lengths),
        };
        if let Some(log) = &self.log {
            log.apply(&mut inputs, &lengths)?;
        }
        Ok((inputs, lengths))
    }

    /// One matrix per sample, without a length, if the steps are joined.
    pub(super) fn joined(&self, inputs: Array, lengths: Vec<usize>) -> Result<(Array, Vec<usize>)> {
        if self.join { Ok((join_steps(&inputs)?, Vec::new())) } else { Ok((inputs, lengths)) }
    }

    /// Whether inputs keep their shape.
    pub(super) fn keeps_shape(&self) -> bool {
        !self.missing_mask && self.spectrogram.is_none() && self.log_mel.is_none() && self.windows.is_none()
    }

    /// The last rows of tables `[n, rows, columns]` or sequences `[n, rows, columns, 1]`, as many as a window has.
    pub(super) fn last_window(&self, inputs: Array) -> Result<Array> {
        let Some(Windows { window, .. }) = self.windows else { return Ok(inputs) };
        let shape = inputs.shape().to_vec();
        if shape[1] < window {
            let what = format!("the net reads {window} rows, these inputs have {}", shape[1]);
            return Err(Error::Mismatch(what));
        }
        let columns: usize = shape[2..].iter().product();
        let last = |at: usize| &inputs.sample(at)[(shape[1] - window) * columns..];
        let values = (0..shape[0]).flat_map(last).copied().collect();
        Ok(Array::new([vec![shape[0], window], shape[2..].to_vec()].concat(), values)?)
    }
}

pub(super) fn with_mask(inputs: Array, mask: Option<Array>) -> Result<Array> {
    match mask {
        Some(mask) => Ok(append_rows(&inputs, &mask)?),
        None => Ok(inputs),
    }
}

/// Rows and columns of the matrices in an array of this shape.
pub(super) fn sides(shape: &[usize]) -> [usize; 2] {
    [shape[shape.len() - 2], shape[shape.len() - 1]]
}

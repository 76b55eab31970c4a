//! Transforms of whole datasets, in memory or in their files; the transforms are fitted to the training samples.

use matnet::random::SeededRng;
use matnet_data::pieces::Pieces;
use matnet_data::transform::missing::Fill;
use matnet_data::transform::permute::Permutation;
use matnet_data::transform::scale::{ScalePer, Scaler, ScalerFit, weight_of};

use super::preprocess::{Preprocess, sides, with_mask};
use super::{Inputs, SampleDataConfig, StoredInputs};
use crate::Result;
use crate::ranks::{Ranks, part};

impl Preprocess {
    /// Fits the transforms of a config to the training samples, of which each counts by its weight, and applies them; gives the new
    /// lengths, too. Of inputs in a file, each rank reads its share.
    pub(super) fn fit(
        config: &SampleDataConfig,
        inputs: Inputs,
        mut lengths: Vec<usize>,
        train: &[usize],
        weights: &[f32],
        ranks: &Ranks,
    ) -> Result<(Self, Inputs, Vec<usize>)> {
        let mut fitted = Self::default();
        if config.is_plain() {
            return Ok((fitted, inputs, lengths));
        }
        if let Inputs::Stored(stored) = inputs {
            let (fitted, stored) = Self::fit_stored(config, stored, train, weights, ranks)?;
            return Ok((fitted, Inputs::Stored(stored), lengths));
        }
        let mut array = inputs.into_array()?;
        if let Some(method) = config.missing.method() {
            fitted.fill = Some(Fill::fit_weighted(method, &array, &lengths, train, weights)?);
        }
        fitted.missing_mask = config.missing_mask;
        let mask = fitted.filled(&mut array, &lengths)?;
        (fitted.spectrogram, fitted.log_mel, fitted.log) = (config.spectrogram, config.log_mel, config.log);
        (array, lengths) = fitted.spectra(array, lengths)?;
        if config.permute {
            let [rows, cols] = sides(array.shape());
            let permutation = Permutation::random(rows, cols, &mut SeededRng::new(config.seed, "permute"));
            permutation.apply(&mut array)?;
            fitted.permutation = Some(permutation);
        }
        if let Some(method) = config.scale.method() {
            let per = config.scale_per.unwrap_or(ScalePer::Whole);
            let scaler = Scaler::fit_weighted(method, per, &array, &lengths, train, weights)?;
            scaler.apply_padded(&mut array, &lengths)?;
            fitted.scaler = Some(scaler);
        }
        fitted.join = config.joins_spectra();
        (array, lengths) = fitted.joined(array, lengths)?;
        Ok((fitted, Inputs::Floats(with_mask(array, mask)?), lengths))
    }

    /// The same for inputs in a file, sample by sample, to the same bits. None of them has missing values.
    fn fit_stored(
        config: &SampleDataConfig,
        stored: StoredInputs,
        train: &[usize],
        weights: &[f32],
        ranks: &Ranks,
    ) -> Result<(Self, StoredInputs)> {
        let (spectrogram, log_mel, log) = (config.spectrogram, config.log_mel, config.log);
        let mut fitted = Self { spectrogram, log_mel, log, ..Self::default() };
        let mut shape = stored.transformed(0, &fitted)?.shape().to_vec();
        shape[0] = stored.shape()[0];
        let [rows, cols] = sides(&shape);
        if config.permute {
            let rng = &mut SeededRng::new(config.seed, "permute");
            fitted.permutation = Some(Permutation::random(rows, cols, rng));
        }
        if let Some(method) = config.scale.method() {
            let per = config.scale_per.unwrap_or(ScalePer::Whole);
            let [mut own, mut all] = [(); 2].map(|()| ScalerFit::new(method, per, rows, cols));
            let groups = Pieces::of(&shape).group(train);
            for piece in part(groups.len(), ranks.size(), ranks.rank()) {
                let mut fit = own.piece();
                for &at in &groups[piece] {
                    let sample = stored.transformed(at, &fitted)?;
                    fit.add(&sample, stored.length(at), weight_of(weights, at))?;
                }
                own.push(piece, fit);
            }
            for message in ranks.gather(Ok(own.to_bytes()))? {
                all.push_bytes(&message)?;
            }
            fitted.scaler = Some(all.finish()?);
        }
        let stored = stored.with(&fitted)?;
        Ok((fitted, stored))
    }

    /// Applies the transforms to inputs in any form, which they keep if there is nothing to do.
    pub(super) fn apply_to(&self, inputs: Inputs, lengths: Vec<usize>) -> Result<(Inputs, Vec<usize>)> {
        match (Self { target_scaler: None, ..self.clone() }) == Self::default() {
            true => Ok((inputs, lengths)),
            false if let Inputs::Stored(stored) = inputs => Ok((Inputs::Stored(stored.with(self)?), lengths)),
            false => {
                let (array, lengths) = self.apply(inputs.into_array()?, &lengths)?;
                Ok((Inputs::Floats(array), lengths))
            }
        }
    }
}

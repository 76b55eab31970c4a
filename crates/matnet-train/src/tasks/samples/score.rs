//! The loss of an output, and what else is measured of it.

use burn::tensor::{Device, Tensor};
use matnet::Mode;
use matnet::net::SampleTarget;

use super::{SampleConfig, SampleOutput, SampleTask, TargetType};
use crate::task::{
    BatchScore, Task, WeightedMean, entry_losses, entry_weighted_mean, label_cross_entropy, to_vec,
    weighted_mean,
};

impl<C: SampleConfig> SampleTask<C> {
    /// The loss and the errors of an output, of which `shares` may be a part of each example.
    pub(super) fn weighed_score(
        &self,
        output: SampleOutput,
        examples: &[usize],
        shares: Option<&[f32]>,
        device: &Device,
    ) -> BatchScore {
        let rows = match &output {
            SampleOutput::Scores(scores) => scores.dims()[0],
            SampleOutput::Matrices(matrices) => matrices.dims()[0],
        };
        let weights = self.row_weights(examples, rows, shares);
        let weights = weights.as_deref();
        let mean = |WeightedMean { mean, weight }: WeightedMean| BatchScore {
            loss: mean,
            weight,
            wrong: None,
            predictions: examples.len() as f64,
        };
        let score = match (output, self.kind) {
            (SampleOutput::Scores(values), TargetType::Values) => {
                let targets = self.target_values(examples, device);
                mean(weighted_mean(entry_losses(self.loss, self.huber_delta, values, targets), weights))
            }
            (SampleOutput::Scores(logits), TargetType::Labels) => {
                mean(label_cross_entropy(logits, &self.flags(examples), &self.class_loss, weights))
            }
            (SampleOutput::Scores(scores), _) => {
                BatchScore::of_classes(scores, &self.classes(examples), &self.class_loss, weights)
            }
            (SampleOutput::Matrices(output), _) => {
                let losses = self.losses(output, self.targets(examples, device));
                mean(match self.entry_weights(examples, weights) {
                    Some(entries) => entry_weighted_mean(losses, entries),
                    None => weighted_mean(losses, weights),
                })
            }
        };
        // A sample of full length weighs 1, however many steps it has.
        let steps = match C::TARGET {
            SampleTarget::StepClass | SampleTarget::StepMatrix => self.data.time().unwrap_or(1),
            _ => rows / examples.len(),
        };
        BatchScore { weight: score.weight / steps as f64, ..score }
    }

    /// The loss of every entry of matrices.
    pub(super) fn losses(&self, output: Tensor<3>, targets: Tensor<3>) -> Tensor<3> {
        entry_losses(self.loss, self.huber_delta, output, targets)
    }

    /// The mean loss on occluded entries; `None` without occlusions.
    pub(super) fn occluded_loss(
        &self,
        net: &C::Net,
        examples: &[usize],
        batch_size: usize,
        device: &Device,
    ) -> Option<f64> {
        let occlusions = self.data.occlusions.as_ref()?;
        let (mut sum, mut occluded) = (0.0, 0_usize);
        for batch in examples.chunks(batch_size) {
            let SampleOutput::Matrices(output) = self.forward(net, batch, &mut Mode::Eval, device) else {
                return None;
            };
            let losses = to_vec(self.losses(output, self.targets(batch, device)));
            for (&at, losses) in batch.iter().zip(losses.chunks_exact(losses.len() / batch.len())) {
                for (_, loss) in losses.iter().enumerate().filter(|(entry, _)| occlusions.covers(at, *entry))
                {
                    sum += f64::from(*loss);
                    occluded += 1;
                }
            }
        }
        (occluded > 0).then(|| sum / occluded as f64)
    }

    /// The mean squared and absolute errors of forecasts, in the units of the scaled table.
    pub(super) fn forecast_errors(
        &self,
        net: &C::Net,
        examples: &[usize],
        batch_size: usize,
        device: &Device,
    ) -> Option<(f64, f64)> {
        self.data.preprocess.windows?;
        let (mut squares, mut distances, mut count) = (0.0, 0.0, 0_usize);
        for batch in examples.chunks(batch_size) {
            let SampleOutput::Matrices(output) = self.forward(net, batch, &mut Mode::Eval, device) else {
                return None;
            };
            let levelled = |matrices: Tensor<3>| self.data.with_levels(batch, matrices).ok();
            let (output, targets) = (levelled(output)?, levelled(self.targets(batch, device))?);
            let known = self.known_targets(batch);
            let counts = |entry: &usize| known.as_ref().is_none_or(|known| known[*entry]);
            for entry in (0..targets.data().len()).filter(counts) {
                let (output, target) = (output.data()[entry], targets.data()[entry]);
                let distance = f64::from(output - target);
                squares += distance * distance;
                distances += distance.abs();
                count += 1;
            }
        }
        (count > 0).then(|| (squares / count as f64, distances / count as f64))
    }
}

//! When the losses of steps are read from the device.
//!
//! On the CPU at once. A GPU works behind the program, and whoever reads a number waits until it has caught up; so there the losses
//! of some steps are read together, and before anything depends on them: the end of an epoch, a checkpoint.

use std::time::{Duration, Instant};

use burn::tensor::{Device, Tensor};
use matnet::Mode;

use super::Trainer;
use crate::Result;
use crate::task::{BatchScore, Task};

/// How many steps may wait, and how long.
const STEPS: usize = 32;
const WAIT: Duration = Duration::from_secs(1);

/// Losses that have not been read yet.
pub(super) struct Unread {
    scores: Vec<(BatchScore, usize)>,
    since: Instant,
}

impl Unread {
    pub(super) fn new() -> Self {
        Self { scores: Vec::new(), since: Instant::now() }
    }
}

impl<T: Task> Trainer<'_, T> {
    /// Takes the score of a step of these examples. Fails if its loss, or that of a step before, is not finite.
    pub(super) fn take_score(&mut self, score: BatchScore, batch: &[usize], replay: Mode) -> Result<()> {
        if self.options.device == Device::flex() {
            let loss = f64::from(score.loss.clone().into_scalar::<f32>());
            if !loss.is_finite() {
                return Err(self.diverged(batch, replay, &format!("the loss is {loss}")));
            }
            self.state.progress.sums.count(loss, &score, batch.len());
            return Ok(());
        }
        let first = self.state.progress.sums == Default::default();
        if first || self.unread.scores.len() >= STEPS || self.unread.since.elapsed() > WAIT {
            self.read_scores()?;
        }
        // The graph of the loss is not kept.
        self.unread.scores.push((BatchScore { loss: score.loss.detach(), ..score }, batch.len()));
        Ok(())
    }

    /// Reads all losses that wait.
    pub(super) fn read_scores(&mut self) -> Result<()> {
        let scores = std::mem::take(&mut self.unread.scores);
        self.unread.since = Instant::now();
        if scores.is_empty() {
            return Ok(());
        }
        let losses = Tensor::cat(scores.iter().map(|(score, _)| score.loss.clone()).collect(), 0);
        let losses: Vec<f32> = losses.into_data().convert::<f32>().iter::<f32>().collect();
        for (loss, (score, examples)) in losses.into_iter().zip(&scores) {
            let loss = f64::from(loss);
            if !loss.is_finite() {
                return Err(self.diverged_with_parameters(&format!("the loss is {loss}")));
            }
            self.state.progress.sums.count(loss, score, *examples);
        }
        Ok(())
    }
}

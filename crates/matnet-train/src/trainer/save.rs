//! What the training loop writes, and what it says when a number is not finite any more.

use std::time::Instant;

use burn::module::{Module, ModuleVisitor, Param};
use burn::tensor::Tensor;
use matnet::{Mode, weights};

use super::{Trainer, checkpoint};
use crate::run::{BEST, METRICS, TIMES, encode_weights, files};
use crate::task::{NetOf, Task};
use crate::{Error, Result};

impl<T: Task> Trainer<'_, T> {
    /// A weights file with the metadata of an epoch.
    pub(super) fn encoded(&self, net: &NetOf<T>, epoch: usize) -> Result<Vec<u8>> {
        self.check_finite(net)?;
        encode_weights(&weights::named(net), epoch, &self.config_sha256, &self.task.metadata())
    }

    fn check_finite(&self, net: &NetOf<T>) -> Result<()> {
        match first_not_finite(net) {
            Some(name) => Err(self.diverged_with(&format!("{name} is not finite any more"))),
            None => Ok(()),
        }
    }

    /// Writes a checkpoint and everything else that is up to date.
    pub(super) fn save(&mut self) -> Result<()> {
        let start = Instant::now();
        self.read_scores()?;
        self.check_finite(&self.state.net)?;
        let checkpoint = self.state.encode(self.run.folder())?;
        self.check_equal(&checkpoint)?;
        if self.options.ranks.is_first() {
            self.write(&checkpoint)?;
        }
        self.saving = start.elapsed();
        self.saved = Instant::now();
        Ok(())
    }

    fn write(&mut self, checkpoint: &[u8]) -> Result<()> {
        if let Some(bytes) = self.unwritten_best.take() {
            files::write(&self.run.path(BEST), &bytes)?;
        }
        checkpoint::write(self.run.folder(), checkpoint)?;
        self.write_outputs()
    }

    /// Writes what follows from a checkpoint, for people and other programs.
    pub(super) fn write_outputs(&self) -> Result<()> {
        let newest = self.encoded(&self.averaged(), self.state.progress.epoch)?;
        files::write(&self.run.path("last.safetensors"), &newest)?;
        self.write_lines(METRICS, &self.metrics_header(), &self.state.progress.metrics)?;
        self.write_lines(TIMES, "epoch,seconds,steps,evaluation", &self.times)
    }

    /// The first line of `metrics.csv`.
    pub(super) fn metrics_header(&self) -> String {
        let mut header = "epoch,split,loss,error,learning_rate".to_owned();
        for metric in &self.columns {
            header.push(',');
            header += metric.key();
        }
        header
    }

    fn write_lines(&self, name: &str, header: &str, lines: &[String]) -> Result<()> {
        let mut text = format!("{header}\n");
        for line in lines {
            text += line;
            text.push('\n');
        }
        files::write(&self.run.path(name), text.as_bytes())
    }

    /// Finds where numbers stopped being finite.
    pub(super) fn diverged(&self, batch: &[usize], mode: Mode, what: &str) -> Error {
        if first_not_finite(&self.state.net).is_some() {
            return self.diverged_with_parameters(what);
        }
        let mut watching = mode.detect_non_finite();
        let _ = self.task.forward_loss(&self.state.net, batch, &mut watching, &self.device);
        match watching.non_finite() {
            Some(place) => self.diverged_with(&format!("{what}: the output of {place} overflows f32")),
            None => self.diverged_with(what),
        }
    }

    /// The same where the step cannot be repeated: names a parameter at most.
    pub(super) fn diverged_with_parameters(&self, what: &str) -> Error {
        match first_not_finite(&self.state.net) {
            Some(name) => self.diverged_with(&format!("{what}: {name} is not finite any more")),
            None => self.diverged_with(what),
        }
    }

    fn diverged_with(&self, what: &str) -> Error {
        let progress = &self.state.progress;
        let last = self.run.path(checkpoint::LAST);
        let state = match last.exists() {
            true => format!("the last good checkpoint is {}", last.display()),
            false => "nothing had been saved yet".to_owned(),
        };
        Error::NotFinite(format!(
            "training diverged in epoch {}, step {}: {what}; {state}; a lower train.learning_rate or a train.grad_clip_norm would help",
            progress.epoch + 1,
            progress.step + 1
        ))
    }
}

/// The first parameter that is not finite.
fn first_not_finite<M: Module>(net: &M) -> Option<String> {
    struct Find(usize, Option<usize>);
    impl ModuleVisitor for Find {
        fn visit_float<const D: usize>(&mut self, param: &Param<Tensor<D>>) {
            if self.1.is_none() {
                let largest = param.val().inner().abs().max().into_scalar::<f32>();
                // A maximum may miss a NaN, a sum does not.
                let sum = param.val().inner().sum().into_scalar::<f32>();
                if !largest.is_finite() || sum.is_nan() {
                    self.1 = Some(self.0);
                }
            }
            self.0 += 1;
        }
    }
    let mut find = Find(0, None);
    net.visit(&mut find);
    find.1.map(|at| weights::names(net)[at].clone())
}

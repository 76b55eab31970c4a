//! What a run writes while it goes on, and what it says when a number is none any more.

use std::path::PathBuf;
use std::time::Instant;

use burn::module::{Module, ModuleVisitor, Param};
use burn::tensor::Tensor;
use matnet::{Mode, weights};

use super::Training;
use crate::task::Task;
use crate::{Error, Result, files, sealed, state};

impl<T: Task> Training<'_, T> {
    pub(super) fn weights(&self, net: &T::Net, epoch: usize) -> Result<Vec<u8>> {
        self.check_weights(net)?;
        Ok(sealed::seal(&weights::named(net), &self.task.note(epoch)))
    }

    fn check_weights<M: Module>(&self, net: &M) -> Result<()> {
        match first_not_finite(net) {
            Some(name) => Err(self.went_wrong(&format!("{name} is not finite any more"))),
            None => Ok(()),
        }
    }

    /// Writes the newest state and all that goes with it.
    pub(super) fn save(&mut self) -> Result<()> {
        let begun = Instant::now();
        self.check_weights(&self.state.net)?;
        if let Some(bytes) = self.unwritten_best.take() {
            files::write(&self.run.path("best.safetensors"), &bytes)?;
        }
        self.state.save(self.run.folder())?;
        self.write_what_follows()?;
        self.saving = begun.elapsed();
        self.saved = Instant::now();
        Ok(())
    }

    /// What follows from a state, for people to read.
    pub(super) fn write_what_follows(&self) -> Result<()> {
        let newest = self.weights(&self.state.kept(), self.state.place.epoch)?;
        files::write(&self.run.path("last.safetensors"), &newest)?;
        self.write_lines("metrics.csv", "epoch,part,loss,error,rate", &self.state.place.metrics)?;
        self.write_lines("times.csv", "epoch,seconds", &self.times)
    }

    fn write_lines(&self, name: &str, header: &str, lines: &[String]) -> Result<()> {
        let mut text = format!("{header}\n");
        for line in lines {
            text += line;
            text.push('\n');
        }
        files::write(&self.run.path(name), text.as_bytes())
    }

    /// Where a number stopped being one.
    pub(super) fn not_finite(&self, batch: &[usize], mode: Mode, what: &str) -> Error {
        if let Some(name) = first_not_finite(&self.state.net) {
            return self.went_wrong(&format!("{what}: {name} is not finite any more"));
        }
        let mut watching = mode.watching();
        let _ = self.task.measure(&self.state.net, batch, &mut watching, &self.device);
        match watching.found() {
            Some(place) => self.went_wrong(&format!("{what}: {place} gives numbers too large for f32")),
            None => self.went_wrong(what),
        }
    }

    fn went_wrong(&self, what: &str) -> Error {
        let place = &self.state.place;
        let kept: PathBuf = self.run.path(state::LAST);
        let state = match kept.exists() {
            true => format!("the last good state is {}", kept.display()),
            false => "nothing had been saved yet".to_owned(),
        };
        Error::NotFinite(format!(
            "epoch {}, step {}: {what}; {state}; a smaller train.learning_rate or train.grad_clip_norm would help",
            place.epoch + 1,
            place.step + 1
        ))
    }
}

/// The first parameter that holds something else than numbers.
fn first_not_finite<M: Module>(net: &M) -> Option<String> {
    struct Find(usize, Option<usize>);
    impl ModuleVisitor for Find {
        fn visit_float<const D: usize>(&mut self, param: &Param<Tensor<D>>) {
            if self.1.is_none() {
                let largest = param.val().inner().abs().max().into_scalar::<f32>();
                // A NaN may hide behind a maximum, but not behind a sum.
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

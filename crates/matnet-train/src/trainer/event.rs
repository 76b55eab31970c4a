//! Training events, and who receives them.

use std::fmt;

use crate::Split;
use crate::metrics::Metric;
use crate::run::{Run, Score, Transfer};

/// What the training loop reports while it runs.
#[derive(Clone, Copy, Debug)]
#[allow(clippy::large_enum_variant)] // An event is passed on once and not kept.
pub enum Event<'a> {
    /// The run is about to resume elsewhere than its checkpoint was computed. Users should know, however quiet they want it.
    Moved(&'a Moved),
    /// Training starts, or resumes from a checkpoint.
    Begin {
        /// The run.
        run: &'a Run,
        /// Trainable parameters.
        parameters: usize,
        /// Epochs in all, at most.
        epochs: usize,
        /// Steps per epoch.
        steps: usize,
        /// The metric that selects the best epoch.
        monitor: Metric,
        /// Epochs and steps done before, if a checkpoint was resumed.
        resumed: Option<(usize, usize)>,
        /// Notes on the dataset.
        notes: &'a [String],
        /// The weights that it starts from, with `train.from`, unless it resumes.
        transfer: Option<&'a Transfer>,
    },
    /// A step is done.
    Step {
        /// Epochs done before.
        epoch: usize,
        /// Steps done in this one.
        step: usize,
        /// Its mean loss so far.
        loss: f64,
        /// Its error rate so far.
        error: Option<f64>,
        /// The learning rate.
        learning_rate: f64,
    },
    /// An epoch is done and evaluated.
    Epoch {
        /// From 1.
        epoch: usize,
        /// On the training split, while it was trained on.
        train: Score,
        /// On the validation split, if there is one.
        valid: Option<Score>,
        /// On the test split, with `train.log_test`.
        test: Option<Score>,
        /// Whether it is the best so far.
        best: bool,
    },
    /// The best weights are being evaluated.
    Evaluating(Split),
    /// Everything is written.
    End,
}

/// Where the checkpoint of a run was computed, and where the run resumes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Moved {
    /// The device and SIMD level of the checkpoint.
    pub before: String,
    /// Those of this process.
    pub now: String,
}

impl fmt::Display for Moved {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(
            f,
            "the run was on {} and resumes on {}; equal bits are promised only for one CPU and binary, so it will not end in \
             the bytes of an uninterrupted run",
            self.before, self.now
        )
    }
}

/// Receives training events and may stop the run.
pub trait Observer {
    /// Receives an event.
    fn event(&mut self, event: Event);

    /// Whether to save a checkpoint and stop now.
    fn stop(&mut self) -> bool {
        false
    }
}

/// Ignores all events.
impl Observer for () {
    fn event(&mut self, _event: Event) {}
}

//! What a run tells of itself while it goes on.

use crate::data::Part;
use crate::run::{Run, Score};

/// What the loop tells while it works.
#[derive(Clone, Copy, Debug)]
pub enum Event<'a> {
    /// It begins, or goes on after so many epochs and steps.
    Begin {
        /// The run.
        run: &'a Run,
        /// Numbers to be learnt.
        parameters: usize,
        /// Epochs in all.
        epochs: usize,
        /// Steps per epoch.
        steps: usize,
        /// Epochs and steps that a saved state had done already.
        resumed: Option<(usize, usize)>,
        /// What a reader should know of the data.
        notes: &'a [String],
    },
    /// A step is done.
    Step {
        /// Epochs done before.
        epoch: usize,
        /// Steps done in this one.
        step: usize,
        /// Its mean loss so far.
        loss: f64,
        /// Its share of wrong answers so far.
        error: Option<f64>,
        /// The learning rate.
        rate: f64,
    },
    /// An epoch is done and measured.
    Epoch {
        /// From 1.
        epoch: usize,
        /// On the training part, while it was learning.
        train: Score,
        /// On the validation part, if there is one.
        valid: Option<Score>,
        /// On the test part, if it is watched.
        test: Option<Score>,
        /// Whether it is the best so far.
        best: bool,
    },
    /// The best weights are being measured.
    Measuring(Part),
    /// Everything is written.
    End,
}

/// Who watches a run and may stop it.
pub trait Observer {
    /// Something happened.
    fn event(&mut self, event: Event);

    /// Whether to save and stop now.
    fn stop(&mut self) -> bool {
        false
    }
}

/// Nobody.
impl Observer for () {
    fn event(&mut self, _event: Event) {}
}

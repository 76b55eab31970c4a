//! How a run is carried out, and how it ended.

use std::time::Duration;

use burn::tensor::Device;

use crate::ranks::Ranks;
use crate::run::RunResult;

/// How a run is carried out; none of it changes the result.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Options {
    /// Where the net lives.
    pub device: Device,
    /// The longest time between two checkpoints within an epoch.
    pub save_every: Duration,
    /// Resume from the checkpoint before the newest.
    pub from_previous: bool,
    /// Extend a run that has fewer epochs but else the same config, in place of refusing it.
    pub extend: bool,
    /// Leave a report in the folder, if the feature `report` is there.
    pub report: bool,
    /// The processes that train the run together.
    pub ranks: Ranks,
}

impl Default for Options {
    fn default() -> Self {
        let (save_every, from_previous, extend) = (Duration::from_secs(30), false, false);
        let ranks = Ranks::default();
        Self { device: Device::flex(), save_every, from_previous, extend, report: true, ranks }
    }
}

impl Options {
    /// The same on another device.
    pub fn with_device(mut self, device: Device) -> Self {
        self.device = device;
        self
    }

    /// The same with another interval between checkpoints.
    pub fn with_save_every(mut self, interval: Duration) -> Self {
        self.save_every = interval;
        self
    }

    /// The same, resuming from the checkpoint before the newest if `previous`.
    pub fn with_from_previous(mut self, previous: bool) -> Self {
        self.from_previous = previous;
        self
    }

    /// The same, with a report in the folder if `report`.
    pub fn with_report(mut self, report: bool) -> Self {
        self.report = report;
        self
    }

    /// The same, together with other processes, each of which trains the same plan.
    pub fn with_ranks(mut self, ranks: Ranks) -> Self {
        self.ranks = ranks;
        self
    }

    /// The same, giving a run that has fewer epochs the epochs of the plan if `extend`.
    pub fn with_extend(mut self, extend: bool) -> Self {
        self.extend = extend;
        self
    }
}

/// How a training ended.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome {
    /// The result.
    pub result: RunResult,
    /// Whether the run had been finished before.
    pub was_finished: bool,
}

//! Learning rate schedules: a function of the step alone, so that a checkpoint need not hold anything of them.

use std::f64::consts::PI;

use serde::{Deserialize, Serialize};

/// How the learning rate changes after the warm-up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Schedule {
    /// It does not change.
    #[default]
    Constant,
    /// A straight line down to the minimum.
    Linear,
    /// Half a cosine down to the minimum.
    Cosine,
    /// Half a cosine down to the minimum, then from the top again: SGDR, as PyTorch's `CosineAnnealingWarmRestarts`.
    CosineRestarts,
    /// The same factor at every step, down to the minimum.
    Exponential,
    /// Times `gamma` after every `step_size` epochs.
    Step,
}

/// A schedule with all its numbers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LearningRates {
    /// The schedule.
    pub schedule: Schedule,
    /// The learning rate after the warm-up.
    pub first: f64,
    /// Where falling schedules end.
    pub last: f64,
    /// Steps of linear warm-up from 0.
    pub warmup: u64,
    /// Steps in all.
    pub total: u64,
    /// For [`Schedule::Step`]: the factor.
    pub gamma: f64,
    /// For [`Schedule::Step`]: the steps between two drops.
    pub step_size: u64,
    /// For [`Schedule::CosineRestarts`]: the steps until the first restart.
    pub restart_steps: u64,
    /// For [`Schedule::CosineRestarts`]: how many times longer each cycle is than the one before.
    pub restart_factor: u64,
}

impl Schedule {
    /// Whether the learning rate of a step depends on the number of all steps.
    pub(crate) fn depends_on_total(self) -> bool {
        matches!(self, Self::Linear | Self::Cosine | Self::Exponential)
    }
}

impl LearningRates {
    /// The learning rate of a step, counted from 0.
    pub fn at(&self, step: u64) -> f64 {
        if step < self.warmup {
            return self.first * (step + 1) as f64 / self.warmup as f64;
        }
        let (done, length) = (step - self.warmup, self.total.saturating_sub(self.warmup).max(1));
        let part = (done as f64 / length as f64).min(1.0);
        let (from, to) = (self.first, self.last);
        match self.schedule {
            Schedule::Constant => from,
            Schedule::Linear => from + (to - from) * part,
            Schedule::Cosine => to + (from - to) * 0.5 * (1.0 + (PI * part).cos()),
            Schedule::CosineRestarts => {
                let (at, length) = self.cycle(done);
                to + (from - to) * 0.5 * (1.0 + (PI * at as f64 / length as f64).cos())
            }
            Schedule::Exponential => from * (to / from).powf(part),
            Schedule::Step => {
                from * self.gamma.powi(i32::try_from(done / self.step_size.max(1)).unwrap_or(i32::MAX))
            }
        }
    }

    /// The steps done since the last restart, and the length of this cycle.
    fn cycle(&self, mut done: u64) -> (u64, u64) {
        let mut length = self.restart_steps.max(1);
        if self.restart_factor <= 1 {
            return (done % length, length);
        }
        while done >= length {
            done -= length;
            length = length.saturating_mul(self.restart_factor);
        }
        (done, length)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rates(schedule: Schedule) -> LearningRates {
        let (first, last, warmup, total) = (0.1, 0.001, 10, 110);
        let (gamma, step_size, restart_steps, restart_factor) = (0.5, 20, 10, 2);
        LearningRates {
            schedule,
            first,
            last,
            warmup,
            total,
            gamma,
            step_size,
            restart_steps,
            restart_factor,
        }
    }

    #[test]
    fn schedules_start_and_end_where_they_should() {
        use Schedule::*;
        for schedule in [Constant, Linear, Cosine, CosineRestarts, Exponential, Step] {
            let rates = rates(schedule);
            assert!((rates.at(0) - 0.01).abs() < 1e-12, "{schedule:?} warms up");
            assert!((rates.at(9) - 0.1).abs() < 1e-12 && (rates.at(10) - 0.1).abs() < 1e-12, "{schedule:?}");
        }
        for schedule in [Linear, Cosine, Exponential] {
            assert!((rates(schedule).at(110) - 0.001).abs() < 1e-12, "{schedule:?}");
            assert!((1..100).all(|step| rates(schedule).at(10 + step) < rates(schedule).at(9 + step)));
        }
        let half = [Linear, Cosine, Exponential].map(|schedule| rates(schedule).at(60));
        assert!((half[0] - 0.0505).abs() < 1e-12 && (half[1] - 0.0505).abs() < 1e-12);
        assert!((half[2] - 0.01).abs() < 1e-12);
        assert_eq!([rates(Step).at(29), rates(Step).at(30), rates(Step).at(50)], [0.1, 0.05, 0.025]);
    }

    /// Frozen numbers: the formula and the cycles that PyTorch documents for `CosineAnnealingWarmRestarts`, evaluated in Python.
    #[test]
    fn restarts_are_those_of_pytorch() {
        let rates =
            |restart_factor| LearningRates { warmup: 0, restart_factor, ..rates(Schedule::CosineRestarts) };
        for (step, rate) in [
            (0, 0.1),
            (3, 0.07959536998847742),
            (9, 0.0034227024433899004),
            (10, 0.1),
            (17, 0.07297252973710756),
            (29, 0.001609427140540686),
            (30, 0.1),
            (55, 0.03155717009792806),
            (69, 0.0011525919802101658),
            (71, 0.09996183729391579),
        ] {
            assert!((rates(2).at(step) - rate).abs() < 1e-15, "{step}: {}", rates(2).at(step));
        }
        for (step, rate) in
            [(0, 0.1), (3, 0.07959536998847742), (10, 0.1), (19, 0.0034227024433899004), (25, 0.0505)]
        {
            assert!((rates(1).at(step) - rate).abs() < 1e-15, "{step}: {}", rates(1).at(step));
        }
    }
}

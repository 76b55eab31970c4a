//! Learning rate schedules: a function of the step alone, so that a checkpoint need not hold anything of them.

use std::f64::consts::PI;

use serde::{Deserialize, Serialize};

/// How the learning rate changes after the warm-up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Schedule {
    /// It does not change.
    #[default]
    Constant,
    /// A straight line down to the minimum.
    Linear,
    /// Half a cosine down to the minimum.
    Cosine,
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
            Schedule::Exponential => from * (to / from).powf(part),
            Schedule::Step => {
                from * self.gamma.powi(i32::try_from(done / self.step_size.max(1)).unwrap_or(i32::MAX))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rates(schedule: Schedule) -> LearningRates {
        LearningRates { schedule, first: 0.1, last: 0.001, warmup: 10, total: 110, gamma: 0.5, step_size: 20 }
    }

    #[test]
    fn schedules_start_and_end_where_they_should() {
        use Schedule::*;
        for schedule in [Constant, Linear, Cosine, Exponential, Step] {
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
}

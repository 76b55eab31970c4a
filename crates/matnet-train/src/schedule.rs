//! The learning rate at every step: a function of the step alone, so that nothing of it has to be saved.

use std::f64::consts::PI;

use serde::{Deserialize, Serialize};

/// How the learning rate changes after the warm-up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Schedule {
    /// It does not.
    #[default]
    Constant,
    /// Straight down to the final rate.
    Linear,
    /// Down to the final rate along half a cosine.
    Cosine,
    /// Down to the final rate by the same factor at every step.
    Exponential,
    /// Times `drop` after every `drop_every` epochs.
    Step,
}

/// A schedule with all its numbers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rates {
    pub schedule: Schedule,
    pub rate: f64,
    pub final_rate: f64,
    /// Steps until the rate is reached, from 0 in a straight line.
    pub warmup: u64,
    /// Steps in all.
    pub total: u64,
    /// For [`Schedule::Step`]: the factor, and the steps between.
    pub drop: f64,
    pub drop_every: u64,
}

impl Rates {
    /// The rate of step `step`, counted from 0.
    pub fn at(&self, step: u64) -> f64 {
        if step < self.warmup {
            return self.rate * (step + 1) as f64 / self.warmup as f64;
        }
        let (done, length) = (step - self.warmup, self.total.saturating_sub(self.warmup).max(1));
        let part = (done as f64 / length as f64).min(1.0);
        let (from, to) = (self.rate, self.final_rate);
        match self.schedule {
            Schedule::Constant => from,
            Schedule::Linear => from + (to - from) * part,
            Schedule::Cosine => to + (from - to) * 0.5 * (1.0 + (PI * part).cos()),
            Schedule::Exponential => from * (to / from).powf(part),
            Schedule::Step => {
                from * self.drop.powi(i32::try_from(done / self.drop_every.max(1)).unwrap_or(i32::MAX))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rates(schedule: Schedule) -> Rates {
        Rates { schedule, rate: 0.1, final_rate: 0.001, warmup: 10, total: 110, drop: 0.5, drop_every: 20 }
    }

    #[test]
    fn rates_begin_and_end_where_they_should() {
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

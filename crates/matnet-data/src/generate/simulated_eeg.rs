//! Simulated EEG: two classes of 64-channel signals, to try the pipeline without a download.
//!
//! **Nobody was measured.** Six sources lie under a cap of 64 electrodes; each oscillates at its own frequency over a 1/f
//! background, and nearby electrodes record the same sources. A subject belongs to one class: in class `b` the 10 Hz source is
//! weaker and the 21 Hz source stronger. The amplitudes and frequencies also vary between subjects, by about as much, so that a new
//! subject is harder to classify than new trials of a known one.

use std::f64::consts::TAU;

use rand::RngExt;
use rand_distr::{Distribution, StandardNormal};
use rayon::prelude::*;

use crate::random::SeededRng;
use crate::{Array, Error, Result, Samples, Target, memory};

/// The size of the simulation; the default is that of the UCI dataset.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct EegSimulator {
    /// Simulated subjects; every other one is of class `b`.
    pub subjects: usize,
    /// Trials per subject.
    pub trials: usize,
}

impl Default for EegSimulator {
    fn default() -> Self {
        Self { subjects: 20, trials: 60 }
    }
}

/// Electrodes.
const CHANNELS: usize = 64;
/// Samples per trial: one second.
const SAMPLES: usize = 256;
/// The sources: frequency in hertz, amplitude in microvolts in class `a` and in class `b`.
const SOURCES: [(f64, f64, f64); 6] = [
    (2.5, 6.0, 6.0),
    (6.0, 5.0, 5.0),
    (10.0, 9.0, 6.0),
    (13.0, 4.0, 4.0),
    (21.0, 3.0, 4.5),
    (34.0, 1.5, 1.5),
];
/// Time constants, in samples, of the processes whose sum is nearly 1/f.
const BACKGROUND: [f64; 4] = [2.0, 8.0, 32.0, 128.0];

impl EegSimulator {
    /// Simulates the trials `[subjects · trials, 64, 256]` in microvolts, subject after subject.
    ///
    /// Every trial has its own random generator, so that neither the number of threads nor that of trials changes it.
    pub fn generate(&self, seed: u64) -> Result<Samples> {
        let count =
            self.subjects.checked_mul(self.trials).filter(|&count| count < 1 << 20).ok_or_else(|| {
                Error::Invalid(format!("{} subjects of {} trials: too many", self.subjects, self.trials))
            })?;
        let gains = gains(&mut SeededRng::new(seed, "simulated-eeg/cap"));
        let subjects: Vec<Subject> = (0..self.subjects).map(|subject| Subject::new(subject, seed)).collect();
        let mut data = memory::filled(0.0, count * CHANNELS * SAMPLES, "simulated EEG")?;
        data.par_chunks_mut(CHANNELS * SAMPLES).enumerate().for_each(|(index, out)| {
            let (subject, trial) = (index / self.trials, index % self.trials);
            let mut rng = SeededRng::new(seed, &format!("simulated-eeg/{subject}/{trial}"));
            subjects[subject].trial(&gains, &mut rng, out);
        });
        let groups: Vec<u32> = (0..count).map(|index| (index / self.trials) as u32).collect();
        let inputs = Array::new([count, CHANNELS, SAMPLES], data)?;
        let target = Target::Classes {
            labels: groups.iter().map(|subject| subject % 2).collect(),
            names: vec!["simulated a".into(), "simulated b".into()],
        };
        let group_names = (0..self.subjects).map(|subject| format!("simulated {subject:02}")).collect();
        Ok(Samples { groups, group_names, ..Samples::new(inputs, target) })
    }
}

/// The gain of each source at each electrode.
type Gains = Vec<[f64; SOURCES.len()]>;

/// Electrodes are spread evenly over a cap; sources lie under it at random positions, and their gain decreases with distance.
fn gains(rng: &mut SeededRng) -> Gains {
    let place = |height: f64, turn: f64| {
        let radius = (1.0 - height * height).sqrt();
        [radius * turn.cos(), radius * turn.sin(), height]
    };
    let sources = SOURCES.map(|_| place(rng.random_range(0.2..1.0), rng.random_range(0.0..TAU)));
    // Steps of the golden angle fill a cap evenly.
    let golden = TAU * 0.381_966;
    (0..CHANNELS)
        .map(|channel| {
            let electrode = place(1.0 - (channel as f64 + 0.5) / CHANNELS as f64, golden * channel as f64);
            sources.map(|source| {
                let square: f64 = electrode.iter().zip(source).map(|(a, b)| (a - b) * (a - b)).sum();
                (-square / 0.5).exp()
            })
        })
        .collect()
}

/// The properties that all trials of a subject share.
struct Subject {
    /// Frequency and amplitude of each source.
    sources: [(f64, f64); SOURCES.len()],
}

impl Subject {
    fn new(index: usize, seed: u64) -> Self {
        let mut rng = SeededRng::new(seed, &format!("simulated-eeg/{index}"));
        let sources = SOURCES.map(|(frequency, in_a, in_b)| {
            let amplitude = if index.is_multiple_of(2) { in_a } else { in_b };
            (frequency * (1.0 + 0.05 * normal(&mut rng)), amplitude * (0.3 * normal(&mut rng)).exp())
        });
        Self { sources }
    }

    fn trial(&self, gains: &Gains, rng: &mut SeededRng, out: &mut [f32]) {
        let sources = self.sources.map(|(frequency, amplitude)| source(frequency, amplitude, rng));
        for (channel, gains) in out.chunks_exact_mut(SAMPLES).zip(gains) {
            for (sample, out) in channel.iter_mut().enumerate() {
                let signal: f64 =
                    sources.iter().zip(gains).map(|(source, gains)| source[sample] * gains).sum();
                *out = (signal + 0.7 * normal(rng)) as f32;
            }
        }
    }
}

/// One source in one trial: an oscillation whose amplitude and phase drift, over a 1/f background.
fn source(frequency: f64, amplitude: f64, rng: &mut SeededRng) -> Vec<f64> {
    let mut phase = rng.random_range(0.0..TAU);
    let mut envelope = normal(rng);
    let mut background = BACKGROUND.map(|_| normal(rng));
    (0..SAMPLES)
        .map(|_| {
            phase += TAU * frequency / SAMPLES as f64 + 0.05 * normal(rng);
            drift(&mut envelope, 40.0, rng);
            for (value, constant) in background.iter_mut().zip(BACKGROUND) {
                drift(value, constant, rng);
            }
            amplitude * (0.4 * envelope).exp() * phase.sin() + 2.0 * background.iter().sum::<f64>()
        })
        .collect()
}

/// A step of an Ornstein-Uhlenbeck process with variance 1.
fn drift(value: &mut f64, constant: f64, rng: &mut SeededRng) {
    let keep = (-1.0 / constant).exp();
    *value = keep * *value + (1.0 - keep * keep).sqrt() * normal(rng);
}

fn normal(rng: &mut SeededRng) -> f64 {
    StandardNormal.sample(rng)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::transform::stft::Stft;

    #[test]
    fn a_trial_depends_on_the_seed_and_on_nothing_else() {
        let small = EegSimulator { subjects: 3, trials: 2 };
        let all = small.generate(1).unwrap();
        assert_eq!(all.inputs.shape(), [6, 64, 256]);
        let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
        assert_eq!(pool.install(|| small.generate(1)).unwrap(), all);
        assert_ne!(small.generate(2).unwrap().inputs, all.inputs);
        let first = EegSimulator { subjects: 1, trials: 1 }.generate(1).unwrap();
        assert_eq!(first.inputs.sample(0), all.inputs.sample(0));
    }

    #[test]
    fn values_are_plausible_microvolts_and_names_say_simulated() {
        let samples = EegSimulator { subjects: 4, trials: 5 }.generate(0).unwrap();
        let data = samples.inputs.data();
        let power = data.iter().map(|&x| f64::from(x * x)).sum::<f64>() / data.len() as f64;
        assert!((3.0..20.0).contains(&power.sqrt()), "{power}");
        assert!(data.iter().all(|x| x.is_finite() && x.abs() < 200.0));
        let Target::Classes { names, .. } = &samples.target else { panic!("no classes") };
        assert!(names.iter().chain(&samples.group_names).all(|name| name.starts_with("simulated")));
    }

    /// The ratio of 21 Hz to 10 Hz separates most trials, but not all.
    #[test]
    fn the_classes_differ_but_overlap() {
        let samples = EegSimulator { subjects: 20, trials: 6 }.generate(0).unwrap();
        let Target::Classes { labels, .. } = &samples.target else { panic!("no classes") };
        let spectra = Stft::default().apply(&samples.inputs).unwrap();
        // Bins are 4 Hz wide and start at 4 Hz.
        let band = |trial: usize, bins: std::ops::Range<usize>| -> f32 {
            spectra.sample(trial).chunks_exact(32).map(|bin| bin[bins.clone()].iter().sum::<f32>()).sum()
        };
        let ratio: Vec<f32> = (0..120).map(|trial| band(trial, 4..6) / band(trial, 1..3)).collect();
        let mut sorted = ratio.clone();
        sorted.sort_by(f32::total_cmp);
        let right = (0..120).filter(|&trial| (ratio[trial] > sorted[60]) == (labels[trial] == 1)).count();
        assert!((75..120).contains(&right), "{right} of 120");
    }
}

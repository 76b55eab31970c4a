//! Simulated EEG: two classes of 64-channel signals, computed from a seed, to try the pipeline without a download.
//!
//! **Nobody was measured.** A handful of sources sit under a cap of 64 electrodes; each hums in its own rhythm over a
//! 1/f background, and electrodes nearby hear the same sources. A subject belongs to one class: in class `b` the 10 Hz
//! source is weaker and the 21 Hz source stronger. Subjects also differ in the strength and pitch of every source, by
//! about as much, so that trials of a new subject are harder to tell than new trials of a known one.

use std::f64::consts::TAU;

use rand::RngExt;
use rand_distr::{Distribution, StandardNormal};
use rayon::prelude::*;

use crate::random::SeededRng;
use crate::{Array, Error, Result, Samples, Target};

/// How much to simulate; the default has the size of the UCI set.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct EegSimulator {
    /// Make-believe subjects; every other one is of class `b`.
    pub subjects: usize,
    /// Trials of each.
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
/// What the sources hum: pitch in hertz, strength in microvolts in class `a` and in class `b`.
const RHYTHMS: [(f64, f64, f64); 6] = [
    (2.5, 6.0, 6.0),
    (6.0, 5.0, 5.0),
    (10.0, 9.0, 6.0),
    (13.0, 4.0, 4.0),
    (21.0, 3.0, 4.5),
    (34.0, 1.5, 1.5),
];
/// Time constants in samples of the processes whose sum is nearly 1/f.
const BACKGROUND: [f64; 4] = [2.0, 8.0, 32.0, 128.0];

impl EegSimulator {
    /// Computes the trials `[subjects · trials, 64, 256]` in microvolts, subject after subject.
    ///
    /// Every trial has a rng of its own, so neither the number of threads nor that of trials changes it.
    pub fn generate(&self, seed: u64) -> Result<Samples> {
        let count =
            self.subjects.checked_mul(self.trials).filter(|&count| count < 1 << 20).ok_or_else(|| {
                Error::Invalid(format!("{} subjects of {} trials: too many", self.subjects, self.trials))
            })?;
        let reach = reach(&mut SeededRng::new(seed, "simulated-eeg/cap"));
        let subjects: Vec<Subject> = (0..self.subjects).map(|subject| Subject::new(subject, seed)).collect();
        let mut data = vec![0.0; count * CHANNELS * SAMPLES];
        data.par_chunks_mut(CHANNELS * SAMPLES).enumerate().for_each(|(index, out)| {
            let (subject, trial) = (index / self.trials, index % self.trials);
            let mut rng = SeededRng::new(seed, &format!("simulated-eeg/{subject}/{trial}"));
            subjects[subject].trial(&reach, &mut rng, out);
        });
        let groups: Vec<u32> = (0..count).map(|index| (index / self.trials) as u32).collect();
        Ok(Samples {
            inputs: Array::new([count, CHANNELS, SAMPLES], data)?,
            target: Target::Classes {
                labels: groups.iter().map(|subject| subject % 2).collect(),
                names: vec!["simulated a".into(), "simulated b".into()],
            },
            groups,
            group_names: (0..self.subjects).map(|subject| format!("simulated {subject:02}")).collect(),
        })
    }
}

/// How strongly each electrode hears each source.
type Reach = Vec<[f64; RHYTHMS.len()]>;

/// Electrodes spread evenly over a cap; sources lie under it at random places, and fade with distance.
fn reach(rng: &mut SeededRng) -> Reach {
    let place = |height: f64, turn: f64| {
        let radius = (1.0 - height * height).sqrt();
        [radius * turn.cos(), radius * turn.sin(), height]
    };
    let sources = RHYTHMS.map(|_| place(rng.random_range(0.2..1.0), rng.random_range(0.0..TAU)));
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

/// What is the same in all trials of a subject.
struct Subject {
    /// Pitch and strength of each source.
    rhythms: [(f64, f64); RHYTHMS.len()],
}

impl Subject {
    fn new(index: usize, seed: u64) -> Self {
        let mut rng = SeededRng::new(seed, &format!("simulated-eeg/{index}"));
        let rhythms = RHYTHMS.map(|(pitch, in_a, in_b)| {
            let strength = if index.is_multiple_of(2) { in_a } else { in_b };
            (pitch * (1.0 + 0.05 * normal(&mut rng)), strength * (0.3 * normal(&mut rng)).exp())
        });
        Self { rhythms }
    }

    fn trial(&self, reach: &Reach, rng: &mut SeededRng, out: &mut [f32]) {
        let sources = self.rhythms.map(|(pitch, strength)| source(pitch, strength, rng));
        for (channel, reach) in out.chunks_exact_mut(SAMPLES).zip(reach) {
            for (sample, out) in channel.iter_mut().enumerate() {
                let heard: f64 =
                    sources.iter().zip(reach).map(|(source, reach)| source[sample] * reach).sum();
                *out = (heard + 0.7 * normal(rng)) as f32;
            }
        }
    }
}

/// One source in one trial: a rhythm whose strength and phase wander, over a 1/f background.
fn source(pitch: f64, strength: f64, rng: &mut SeededRng) -> Vec<f64> {
    let mut phase = rng.random_range(0.0..TAU);
    let mut swell = normal(rng);
    let mut background = BACKGROUND.map(|_| normal(rng));
    (0..SAMPLES)
        .map(|_| {
            phase += TAU * pitch / SAMPLES as f64 + 0.05 * normal(rng);
            wander(&mut swell, 40.0, rng);
            for (value, constant) in background.iter_mut().zip(BACKGROUND) {
                wander(value, constant, rng);
            }
            strength * (0.4 * swell).exp() * phase.sin() + 2.0 * background.iter().sum::<f64>()
        })
        .collect()
}

/// A step of a random walk that is pulled back to 0 and keeps variance 1.
fn wander(value: &mut f64, constant: f64, rng: &mut SeededRng) {
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
    fn numbers_look_like_microvolts_and_names_say_simulated() {
        let samples = EegSimulator { subjects: 4, trials: 5 }.generate(0).unwrap();
        let data = samples.inputs.data();
        let power = data.iter().map(|&x| f64::from(x * x)).sum::<f64>() / data.len() as f64;
        assert!((3.0..20.0).contains(&power.sqrt()), "{power}");
        assert!(data.iter().all(|x| x.is_finite() && x.abs() < 200.0));
        let Target::Classes { names, .. } = &samples.target else { panic!("no classes") };
        assert!(names.iter().chain(&samples.group_names).all(|name| name.starts_with("simulated")));
    }

    /// 21 Hz over 10 Hz tells the classes mostly, not always: there is something to learn, and something to get wrong.
    #[test]
    fn the_classes_differ_but_subjects_blur_them() {
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

//! Augmentation: training samples are changed at random, anew in every epoch.
//!
//! Everything random about a sample is drawn from a generator of its own, by seed, epoch and index. So the order of the samples and the
//! size of a batch change nothing, and an interrupted run resumes exactly.

use rand::seq::SliceRandom;
use rand_distr::{Beta, Distribution};
use rayon::prelude::*;

use crate::random::SeededRng;
use crate::transform::{Channels, matrix_sides};
use crate::{Array, Error, Result, memory};

/// What is changed at random in training. Only `crop` concerns evaluation, which takes the middle.
///
/// Time runs along sequences `[n, time, rows, cols]`, and along the rows of signals `[n, channels, time]`. Padding is never changed.
/// `crop` and `shift` move values in time: they suit targets of whole samples, not of steps.
///
/// | key | default | |
/// |---|---|---|
/// | `crop` | none | take so many consecutive steps: at a random place in training, the middle ones in evaluation; shorter samples stay whole |
/// | `shift` | 0 | move the sample in time by up to so many steps, either way; zeros follow |
/// | `noise` | 0 | standard deviation of normal noise that is added to every value |
/// | `time_mask` | 0 | set up to so many consecutive steps to 0, at most half of them |
/// | `channel_mask` | 0 | set up to so many consecutive rows to 0 (columns where there is one row), at most half of them |
/// | `mixup` | 0 | mix each sample with another of its batch: the parameter α of the Beta distribution of the weights |
#[derive(Clone, Copy, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct Augment {
    /// Steps that are kept.
    pub crop: Option<usize>,
    /// The largest shift in time, in steps.
    pub shift: usize,
    /// The standard deviation of added noise.
    pub noise: f64,
    /// The largest number of masked steps.
    pub time_mask: usize,
    /// The largest number of masked rows.
    pub channel_mask: usize,
    /// The parameter of mix-up; 0 for none.
    pub mixup: f64,
}

impl Augment {
    /// Fails unless every value is possible; the message names the key.
    pub fn check(&self) -> Result<()> {
        if self.crop == Some(0) {
            return Err(Error::Invalid("crop 0: must be at least 1 step; leave it out for none".into()));
        }
        for (key, value) in [("noise", self.noise), ("mixup", self.mixup)] {
            if !(value >= 0.0 && value.is_finite()) {
                return Err(Error::Invalid(format!("{key} {value}: must be at least 0")));
            }
        }
        Ok(())
    }

    /// Whether nothing is changed.
    pub fn is_none(&self) -> bool {
        *self == Self::default()
    }

    /// The number of steps that are left of `steps`; fails if `crop` is larger.
    pub fn steps(&self, steps: usize) -> Result<usize> {
        match self.crop {
            Some(crop) if crop > steps => {
                Err(Error::Invalid(format!("crop {crop}: the samples have {steps} steps")))
            }
            crop => Ok(crop.unwrap_or(steps)),
        }
    }

    /// Changes a batch for training. `samples` are the indices of its samples in the dataset, `lengths` their lengths, or empty; these
    /// become those of the result.
    pub fn train(
        &self,
        batch: Array,
        lengths: &mut [usize],
        seed: u64,
        epoch: usize,
        samples: &[usize],
    ) -> Result<Array> {
        self.check()?;
        if samples.len() != batch.len() {
            let what = format!("{} indices for a batch of {} samples", samples.len(), batch.len());
            return Err(Error::Invalid(what));
        }
        let mut rngs: Vec<SeededRng> =
            samples.iter().map(|sample| SeededRng::new(seed, &format!("augment {epoch} {sample}"))).collect();
        let mut batch = self.cropped(batch, lengths, |at, room| rngs[at].below(room + 1))?;
        let (rows, cols) = matrix_sides(&batch)?;
        let channels = Channels::of(&batch)?;
        let used = channels.used_steps(&batch, lengths)?;
        let size = channels.size().max(1);
        // On all threads: the step waits for it.
        let samples = batch.data_mut().par_chunks_exact_mut(size).zip(&mut rngs).zip(used);
        samples.for_each(|((values, rng), used)| {
            let mut sample = OneSample { values, channels, rows, cols, used };
            sample.shift(self.shift, rng);
            sample.add_noise(self.noise, rng);
            sample.mask_time(self.time_mask, rng);
            sample.mask_channels(self.channel_mask, rng);
        });
        Ok(batch)
    }

    /// Prepares samples for evaluation: the middle of each, if there is a `crop`.
    pub fn evaluate(&self, batch: Array, lengths: &mut [usize]) -> Result<Array> {
        self.check()?;
        self.cropped(batch, lengths, |_, room| room / 2)
    }

    /// Draws the partners of mix-up for batch number `step` of an epoch, with `count` samples.
    pub fn draw_mixup(&self, count: usize, seed: u64, epoch: usize, step: usize) -> Result<Option<Mixup>> {
        self.check()?;
        if self.mixup == 0.0 {
            return Ok(None);
        }
        let mut rng = SeededRng::new(seed, &format!("mixup {epoch} {step}"));
        let mut partners: Vec<usize> = (0..count).collect();
        partners.shuffle(&mut rng);
        let alpha = self.mixup;
        let beta =
            Beta::new(alpha, alpha).map_err(|error| Error::Invalid(format!("mixup {alpha}: {error}")))?;
        let mut weight = || {
            let drawn: f64 = beta.sample(&mut rng);
            // a sample is mostly itself; a tiny α may give 0/0
            if drawn.is_nan() { 1.0 } else { drawn.max(1.0 - drawn) as f32 }
        };
        let weights = (0..count).map(|_| weight()).collect();
        Ok(Some(Mixup { partners, weights }))
    }

    /// Crops every sample; `start` says where, from its place in the batch and the number of steps that are left out.
    fn cropped(
        &self,
        batch: Array,
        lengths: &mut [usize],
        mut start: impl FnMut(usize, usize) -> usize,
    ) -> Result<Array> {
        let channels = Channels::of(&batch)?;
        let used = channels.used_steps(&batch, lengths)?;
        let crop = self.steps(channels.steps)?;
        if crop == channels.steps {
            return Ok(batch);
        }
        let cropped = Channels { steps: crop, ..channels };
        let mut values = memory::filled(0.0, batch.len() * cropped.size(), "a batch")?;
        for (at, out) in values.chunks_exact_mut(cropped.size().max(1)).enumerate() {
            let kept = used[at].min(crop);
            let start = start(at, used[at] - kept);
            let sample = batch.sample(at);
            for channel in 0..channels.count {
                for step in 0..kept {
                    out[cropped.place(channel, step)] = sample[channels.place(channel, start + step)];
                }
            }
        }
        lengths.iter_mut().for_each(|length| *length = (*length).min(crop));
        let mut shape = batch.shape().to_vec();
        shape[if channels.sequence { 1 } else { 2 }] = crop;
        Array::new(shape, values)
    }
}

/// One sample, changed in place.
struct OneSample<'a> {
    values: &'a mut [f32],
    channels: Channels,
    rows: usize,
    cols: usize,
    used: usize,
}

impl OneSample<'_> {
    fn shift(&mut self, most: usize, rng: &mut SeededRng) {
        let most = most.min(self.used.saturating_sub(1));
        if most == 0 {
            return;
        }
        let drawn = rng.below(2 * most + 1);
        let (later, distance) = (drawn >= most, drawn.abs_diff(most));
        for channel in 0..self.channels.count {
            for at in 0..self.used {
                // the steps in an order in which none is overwritten before it is moved
                let step = if later { self.used - 1 - at } else { at };
                let from = if later { step.checked_sub(distance) } else { Some(step + distance) };
                let value = from.filter(|&from| from < self.used);
                let value = value.map_or(0.0, |from| self.values[self.channels.place(channel, from)]);
                self.values[self.channels.place(channel, step)] = value;
            }
        }
    }

    fn add_noise(&mut self, deviation: f64, rng: &mut SeededRng) {
        if deviation == 0.0 {
            return;
        }
        for step in 0..self.used {
            for channel in 0..self.channels.count {
                self.values[self.channels.place(channel, step)] += (deviation * rng.normal()) as f32;
            }
        }
    }

    fn mask_time(&mut self, most: usize, rng: &mut SeededRng) {
        let Some((first, width)) = mask(most, self.used, rng) else { return };
        for channel in 0..self.channels.count {
            for step in first..first + width {
                self.values[self.channels.place(channel, step)] = 0.0;
            }
        }
    }

    fn mask_channels(&mut self, most: usize, rng: &mut SeededRng) {
        // In signals the columns are times, so that only rows are channels.
        let by_rows = self.rows > 1 || !self.channels.sequence;
        let Some((first, width)) = mask(most, if by_rows { self.rows } else { self.cols }, rng) else {
            return;
        };
        let masked = |place: usize| {
            let at = if by_rows { place / self.cols % self.rows } else { place % self.cols };
            (first..first + width).contains(&at)
        };
        let values = self.values.iter_mut().enumerate().filter(|(place, _)| masked(*place));
        values.for_each(|(_, value)| *value = 0.0);
    }
}

/// The first place and the width of a mask of up to `most` of `count` places, at most half of them.
fn mask(most: usize, count: usize, rng: &mut SeededRng) -> Option<(usize, usize)> {
    let most = most.min(count / 2);
    if most == 0 {
        return None;
    }
    let width = rng.below(most + 1);
    Some((rng.below(count - width + 1), width))
}

/// Which samples of a batch are mixed, and how much: sample `i` becomes `weights[i]` times itself and the rest of 1 times its partner.
/// The loss is mixed in the same way: `weights[i]` times that for its own target, the rest times that for its partner's.
#[derive(Clone, Debug, PartialEq)]
pub struct Mixup {
    /// The partner of each sample, by its place in the batch.
    pub partners: Vec<usize>,
    /// The share of each sample itself, from 0.5 to 1.
    pub weights: Vec<f32>,
}

impl Mixup {
    /// Mixes the inputs of the batch in place. A sample keeps its own length: steps of its partner beyond that are left out, and a
    /// shorter partner counts as 0 there.
    pub fn mix(&self, batch: &mut Array, lengths: &[usize]) -> Result<()> {
        let channels = Channels::of(batch)?;
        let used = channels.used_steps(batch, lengths)?;
        if self.partners.len() != batch.len() {
            let what = format!("mix-up of {} samples, the batch has {}", self.partners.len(), batch.len());
            return Err(Error::Invalid(what));
        }
        let before = batch.clone();
        let size = channels.size().max(1);
        for (at, sample) in batch.data_mut().chunks_exact_mut(size).enumerate() {
            let partner = self.partners[at];
            let weight = self.weights[at];
            for (place, (x, other)) in sample.iter_mut().zip(before.sample(partner)).enumerate() {
                let step = channels.step(place);
                if step < used[at] {
                    let other = if step < used[partner] { *other } else { 0.0 };
                    *x = weight * *x + (1.0 - weight) * other;
                }
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Value `100 n + 10 step + channel` in sequences `[count, 8, 3, 1]`, from 1 on.
    fn sequences(count: usize) -> Array {
        let values = (0..count * 24).map(|at| (at / 24 * 100 + at % 24 / 3 * 10 + at % 3 + 1) as f32);
        Array::new([count, 8, 3, 1], values.collect()).unwrap()
    }

    fn all() -> Augment {
        Augment { crop: Some(6), shift: 2, noise: 0.1, time_mask: 2, channel_mask: 1, mixup: 0.0 }
    }

    #[test]
    fn crops_are_random_in_training_and_central_in_evaluation() {
        let crop = Augment { crop: Some(3), ..Augment::default() };
        let mut lengths = vec![8, 5, 2];
        let middle = crop.evaluate(sequences(3), &mut lengths).unwrap();
        assert_eq!((middle.shape(), &lengths[..]), (&[3, 3, 3, 1][..], &[3, 3, 2][..]));
        assert_eq!((middle.sample(0)[0], middle.sample(1)[0]), (21.0, 111.0));
        assert_eq!(middle.sample(2), [201., 202., 203., 211., 212., 213., 0., 0., 0.]);
        let mut starts = std::collections::BTreeSet::new();
        for epoch in 0..40 {
            let drawn = crop.train(sequences(1), &mut [], 0, epoch, &[0]).unwrap();
            let first = drawn.data()[0];
            assert_eq!(drawn.data()[8], first + 22.0, "consecutive steps");
            starts.insert(first as u32);
        }
        assert_eq!(starts.into_iter().collect::<Vec<_>>(), [1, 11, 21, 31, 41, 51]);
        let signals = Array::new([1, 2, 5], (0..10).map(|x| x as f32).collect()).unwrap();
        let middle = crop.evaluate(signals, &mut []).unwrap();
        assert_eq!((middle.shape(), middle.data()), (&[1, 2, 3][..], &[1., 2., 3., 6., 7., 8.][..]));
    }

    #[test]
    fn a_sample_moves_in_time() {
        let shift = Augment { shift: 2, ..Augment::default() };
        let mut seen = std::collections::BTreeSet::new();
        for epoch in 0..60 {
            let mut lengths = vec![4];
            let moved = shift.train(sequences(1), &mut lengths, 3, epoch, &[0]).unwrap();
            let steps: Vec<u32> = moved.data().iter().step_by(3).map(|&x| x as u32).collect();
            assert_eq!(steps[4..], [41, 51, 61, 71], "padding stays");
            seen.insert(steps[..4].to_vec());
        }
        let all = [[0, 0, 1, 11], [0, 1, 11, 21], [1, 11, 21, 31], [11, 21, 31, 0], [21, 31, 0, 0]];
        assert_eq!(seen.into_iter().collect::<Vec<_>>(), all);
    }

    #[test]
    fn masks_hide_steps_and_channels() {
        let time = Augment { time_mask: 3, ..Augment::default() };
        let channel = Augment { channel_mask: 9, ..Augment::default() };
        for epoch in 0..40 {
            let masked = time.train(sequences(1), &mut [], 0, epoch, &[0]).unwrap();
            let hidden: Vec<bool> =
                masked.data().chunks(3).map(|step| step.iter().all(|&x| x == 0.0)).collect();
            let count = hidden.iter().filter(|&&hidden| hidden).count();
            assert!(count <= 3 && masked.data().iter().filter(|&&x| x == 0.0).count() == 3 * count);
            let masked = channel.train(sequences(1), &mut [], 0, epoch, &[0]).unwrap();
            let count = masked.data()[..3].iter().filter(|&&x| x == 0.0).count();
            assert!(count <= 1, "at most half of three rows");
            assert_eq!(masked.data().iter().filter(|&&x| x == 0.0).count(), 8 * count);
        }
        // one row of four columns: the columns are the channels
        let bands = Array::new([1, 2, 1, 4], vec![1.0; 8]).unwrap();
        let any = (0..20).any(|epoch| {
            let masked = channel.train(bands.clone(), &mut [], 0, epoch, &[0]).unwrap();
            masked.data().iter().filter(|&&x| x == 0.0).count() == 4
        });
        assert!(any);
    }

    #[test]
    fn noise_has_its_standard_deviation() {
        let zeros = Array::new([1, 1, 20_000], vec![0.0; 20_000]).unwrap();
        let noise = Augment { noise: 0.5, ..Augment::default() };
        let noisy = noise.train(zeros, &mut [], 1, 0, &[0]).unwrap();
        let square = noisy.data().iter().map(|x| x * x).sum::<f32>() / 20_000.0;
        assert!((square.sqrt() - 0.5).abs() < 0.01, "{square}");
    }

    #[test]
    fn mixup_mixes_a_sample_with_its_partner() {
        let augment = Augment { mixup: 0.4, ..Augment::default() };
        let mixup = augment.draw_mixup(50, 7, 2, 3).unwrap().unwrap();
        assert_eq!(mixup, augment.draw_mixup(50, 7, 2, 3).unwrap().unwrap());
        assert_ne!(mixup, augment.draw_mixup(50, 7, 2, 4).unwrap().unwrap());
        let mut partners = mixup.partners.clone();
        partners.sort_unstable();
        assert_eq!(partners, (0..50).collect::<Vec<_>>());
        assert!(mixup.weights.iter().all(|w| (0.5..=1.0).contains(w)));
        assert!(Augment::default().draw_mixup(50, 7, 2, 3).unwrap().is_none());

        let mut batch = Array::new([2, 2, 1, 1], vec![1.0, 2.0, 5.0, 0.0]).unwrap();
        let mixup = Mixup { partners: vec![1, 0], weights: vec![0.75, 0.5] };
        mixup.mix(&mut batch, &[2, 1]).unwrap();
        assert_eq!(batch.data(), [2.0, 1.5, 3.0, 0.0], "padding is not mixed");
        assert!(mixup.mix(&mut sequences(3), &[]).is_err());
    }

    #[test]
    fn impossible_values_name_their_key() {
        let message = |augment: Augment| augment.check().unwrap_err().to_string();
        let none = Augment::default();
        assert_eq!(
            message(Augment { crop: Some(0), ..none }),
            "crop 0: must be at least 1 step; leave it out for none"
        );
        assert_eq!(message(Augment { noise: -1.0, ..none }), "noise -1: must be at least 0");
        assert_eq!(message(Augment { mixup: f64::NAN, ..none }), "mixup NaN: must be at least 0");
        let long = Augment { crop: Some(9), ..none };
        let message = long.evaluate(sequences(1), &mut []).unwrap_err().to_string();
        assert_eq!(message, "crop 9: the samples have 8 steps");
        assert!(none.is_none() && serde_json::from_str::<Augment>("{}").unwrap().is_none());
        assert!(none.train(sequences(2), &mut [], 0, 0, &[0]).is_err());
    }

    proptest! {
        #[test]
        fn a_sample_is_changed_in_the_same_way_in_any_batch(
            seed: u64, epoch in 0usize..5, lengths in prop::collection::vec(1usize..=8, 3),
        ) {
            let data = sequences(3);
            let mut together = vec![lengths[2], lengths[0], lengths[1]];
            let order = [2, 0, 1];
            let batch = all().train(data.select(&order).unwrap(), &mut together, seed, epoch, &order).unwrap();
            for (place, &sample) in order.iter().enumerate() {
                let mut length = vec![lengths[sample]];
                let one = data.select(&[sample]).unwrap();
                let alone = all().train(one, &mut length, seed, epoch, &[sample]).unwrap();
                prop_assert_eq!(alone.data(), batch.sample(place));
                prop_assert_eq!(length[0], together[place]);
            }
        }
    }
}

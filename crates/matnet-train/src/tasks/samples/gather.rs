//! What a net gets of some examples: inputs, with random changes in training, targets, and weights.

use std::ops::Range;
use std::sync::Arc;

use burn::tensor::{Device, Tensor, TensorData};
use matnet::Mode;
use matnet::net::{Net, SampleTarget};
use matnet_data::transform::augment::{Augment, Mixup};
use matnet_data::{Array, Target};
use rand::Rng;

use super::{SampleConfig, SampleData, SampleInput, SampleTask, batch, target};
use crate::{Error, Result};

/// The random changes of a training step.
pub(super) struct Changes {
    seed: u64,
    pub mixup: Option<Mixup>,
}

impl<C: SampleConfig> SampleTask<C> {
    /// The steps of some examples that the net reads, and how many of them count where lengths differ.
    fn steps_of(&self, examples: &[usize]) -> (Range<usize>, Option<Arc<[usize]>>) {
        let lengths = self.data.lengths_of(examples);
        let longest = lengths.as_ref().and_then(|lengths| lengths.iter().copied().max());
        (0..longest.or(self.steps()).unwrap_or(usize::MAX), lengths)
    }

    /// The inputs of some examples, with random changes in training.
    pub(super) fn input(
        &self,
        examples: &[usize],
        changes: Option<&Changes>,
        device: &Device,
    ) -> <C::Net as Net>::Input {
        let (inputs, (steps, lengths)) = (&self.data.inputs, self.steps_of(examples));
        let read = |at: usize, range: Range<usize>, into: &mut Vec<f32>| {
            let start = into.len();
            into.extend_from_slice(&inputs.sample_range(at, range));
            if let Some(occlusions) = &self.data.occlusions {
                occlusions.apply(at, &mut into[start..]);
            }
        };
        match &self.data.config.augment {
            None => batch::gather(inputs.shape(), examples, steps, lengths, device, read),
            Some(augment) => {
                let mut gathered = batch::gather_array(inputs.shape(), examples, steps, read);
                let window = self.data.preprocess.windows.and(match *gathered.shape() {
                    [n, time, columns] => Some([n, 1, time, columns]),
                    _ => None,
                });
                if let Some([n, _, time, columns]) = window {
                    // Time runs along the rows of a window, and along the columns of other matrices.
                    gathered =
                        Array::new([n, time, columns, 1], gathered.into_data()).expect("the same values");
                }
                let augment = within(augment, &gathered);
                let mut lengths = lengths.map(|lengths| lengths.to_vec()).unwrap_or_default();
                let changed = match changes {
                    None => augment.evaluate(gathered, &mut lengths),
                    Some(changes) => augment.train(gathered, &mut lengths, changes.seed, 0, examples),
                };
                // The config was checked, and the sizes are those of one dataset.
                let mut changed = changed.expect("changes that fit the data");
                if let Some(mixup) = changes.and_then(|changes| changes.mixup.as_ref()) {
                    mixup.mix(&mut changed, &lengths).expect("a partner for each sample");
                }
                let shape = match *changed.shape() {
                    [n, time, rows, cols] => window.unwrap_or([n, time, rows, cols]),
                    ref shape => [shape[0], 1, shape[1], shape[2]],
                };
                let lengths = (!lengths.is_empty()).then(|| lengths.into());
                SampleInput::from_batch(changed.into_data(), shape, lengths, device)
            }
        }
    }

    /// The random changes of a training step.
    pub(super) fn changes(&self, count: usize, mode: &mut Mode) -> Option<Changes> {
        let augment = self.data.config.augment.as_ref()?;
        let seed = mode.rng()?.next_u64();
        let mixup = augment.draw_mixup(count, seed, 0, 0).expect("a config that was checked");
        Some(Changes { seed, mixup })
    }

    /// The target matrices of some examples as the net learns them, those of sequences one after another.
    pub(super) fn targets(&self, examples: &[usize], device: &Device) -> Tensor<3> {
        let inputs = &self.data.inputs;
        let from_inputs = |steps| {
            batch::gather_matrices(inputs.shape(), examples, steps, None, device, |at, range, into| {
                into.extend_from_slice(&inputs.sample_range(at, range));
            })
        };
        match &self.data.target {
            _ if C::TARGET == SampleTarget::Input => from_inputs(0..usize::MAX),
            Target::Matrices(targets) => {
                let targets = self.data.scaled_target.as_ref().unwrap_or(targets);
                let lengths = self.data.lengths_of(examples).filter(|_| C::TARGET.per_step());
                let steps = 0..usize::MAX;
                batch::gather_matrices(
                    targets.shape(),
                    examples,
                    steps,
                    lengths.as_deref(),
                    device,
                    |at, range, into| into.extend_from_slice(&targets.sample(at)[range]),
                )
            }
            _ => {
                let (time, steps) = (self.data.time().unwrap_or(0), self.data.future().unwrap_or(0));
                from_inputs(time - steps..time)
            }
        }
    }

    /// The target values of some examples as the net learns them, `[n, k]`.
    pub(super) fn target_values(&self, examples: &[usize], device: &Device) -> Tensor<2> {
        let Target::Values { values, names } = &self.data.target else {
            unreachable!("only values are asked for");
        };
        let values = self.data.scaled_target.as_ref().unwrap_or(values);
        let rows: Vec<f32> = examples.iter().flat_map(|&at| values.sample(at)).copied().collect();
        Tensor::from_data(TensorData::new(rows, [examples.len(), names.len()]), device)
    }

    /// Whether each label applies to some examples.
    pub(super) fn flags(&self, examples: &[usize]) -> Vec<bool> {
        match &self.data.target {
            Target::MultiLabels { flags, names } => {
                examples.iter().flat_map(|&at| target::flags_of(flags, names, at)).copied().collect()
            }
            _ => Vec::new(),
        }
    }

    /// The weights of the rows of an output for some examples, times their shares; `None` if all weigh the same.
    pub(super) fn row_weights(
        &self,
        examples: &[usize],
        rows: usize,
        shares: Option<&[f32]>,
    ) -> Option<Vec<f32>> {
        if self.data.weights.is_empty() && shares.is_none() {
            return None;
        }
        let weight = |place: usize, at: usize| {
            self.data.weights.get(at).copied().unwrap_or(1.0) * shares.map_or(1.0, |shares| shares[place])
        };
        let each = |at: usize| match C::TARGET.per_step() {
            true => self.data.length(at),
            false => rows / examples.len().max(1),
        };
        let weights = examples.iter().enumerate();
        Some(weights.flat_map(|(place, &at)| std::iter::repeat_n(weight(place, at), each(at))).collect())
    }

    /// Which entries of the target matrices of some examples are known; `None` if all are.
    pub(super) fn known_targets(&self, examples: &[usize]) -> Option<Vec<bool>> {
        // An auto-encoder reconstructs its input, which is filled.
        if C::TARGET == SampleTarget::Input { None } else { self.data.known_of(examples) }
    }

    /// The weights of the entries of target matrices, from those of their rows: 0 where a target is missing. `None` if none is.
    pub(super) fn entry_weights(&self, examples: &[usize], rows: Option<&[f32]>) -> Option<Vec<f32>> {
        let known = self.known_targets(examples)?;
        let width = known.len() / rows.map_or(1, <[f32]>::len).max(1);
        let weight = |entry: usize| rows.map_or(1.0, |rows| rows[entry / width]);
        Some(
            known
                .into_iter()
                .enumerate()
                .map(|(entry, known)| if known { weight(entry) } else { 0.0 })
                .collect(),
        )
    }
}

/// The same changes for a batch whose samples may be shorter than the crop: they stay whole.
pub(super) fn within(augment: &Augment, batch: &Array) -> Augment {
    let mut augment = *augment;
    if let (Some(crop), &[_, steps, _, _]) = (&mut augment.crop, batch.shape()) {
        *crop = steps.min(*crop);
    }
    augment
}

/// Fails unless the random changes of a config suit the targets.
pub(super) fn check_augment<C: SampleConfig>(data: &SampleData) -> Result<()> {
    let Some(augment) = &data.config.augment else { return Ok(()) };
    let windows = data.preprocess.windows.is_some();
    let per_sample = matches!(C::TARGET, SampleTarget::Class | SampleTarget::Matrix);
    let wrong = |key: &str, value: String, expected: &str| {
        Err(Error::config("data", format!("augment.{key}"), value, expected))
    };
    if augment.is_none() {
        return Err(Error::config("data", "augment", "is empty", "it changes nothing; leave it out"));
    }
    for (key, value, given) in [
        ("crop", augment.crop.unwrap_or(0).to_string(), augment.crop.is_some()),
        ("shift", augment.shift.to_string(), augment.shift > 0),
        ("mixup", augment.mixup.to_string(), augment.mixup > 0.0),
    ] {
        if given && windows && key != "mixup" {
            return wrong(key, value, "a forecast continues where its window ends; leave it out");
        }
        if given && !per_sample && !windows {
            return wrong(key, value, "only nets with one target per sample use it");
        }
    }
    let [rows, cols] = data.sides();
    let channels = if rows == 1 && data.time().is_some() { cols } else { rows };
    if augment.channel_mask > 0 && channels == 1 {
        let expected = "at most half of the channels are set to 0, and the samples have one; leave it out";
        return wrong("channel_mask", augment.channel_mask.to_string(), expected);
    }
    match (augment.crop, data.time()) {
        (Some(crop), None) => wrong("crop", crop.to_string(), "only sequences use it"),
        (Some(crop), Some(time)) if crop > time => {
            wrong("crop", crop.to_string(), &format!("the samples have {time} steps"))
        }
        _ => Ok(()),
    }
}

//! Batches of samples, and what nets give for them.

use std::ops::Range;
use std::sync::Arc;

use burn::module::{Module, ModuleVisitor, Param};
use burn::tensor::{DType, Device, Int, Tensor, TensorData};
use matnet::net::{Net, SampleNetConfig, SampleTarget, Sequences};
use matnet::random::SeededRng;
use matnet_data::Array;

use rand::seq::SliceRandom;

use crate::task::to_vec;

/// The config of a net that takes matrices or sequences.
pub trait SampleConfig: SampleNetConfig<Net: Net<Input: SampleInput, Output: IntoOutput>> + 'static {}

impl<C: SampleNetConfig<Net: Net<Input: SampleInput, Output: IntoOutput>> + 'static> SampleConfig for C {}

/// What a net on samples takes.
pub trait SampleInput {
    /// Whether it is sequences of matrices, not single ones.
    const SEQUENCES: bool;

    /// A batch `[n, time, rows, cols]`; without sequences, time is 1. `lengths` says how many steps of each sequence count, 1 to
    /// time; without it all do.
    fn from_batch(
        values: Vec<f32>,
        shape: [usize; 4],
        lengths: Option<Arc<[usize]>>,
        device: &Device,
    ) -> Self;

    /// All values of the batch.
    fn values(&self) -> Vec<f32>;

    /// The same in another type.
    fn cast(self, dtype: DType) -> Self;
}

impl SampleInput for Tensor<3> {
    const SEQUENCES: bool = false;

    fn from_batch(
        values: Vec<f32>,
        [n, _, rows, cols]: [usize; 4],
        _lengths: Option<Arc<[usize]>>,
        device: &Device,
    ) -> Self {
        Self::from_data(TensorData::new(values, [n, rows, cols]), device)
    }

    fn values(&self) -> Vec<f32> {
        to_vec(self.clone())
    }

    fn cast(self, dtype: DType) -> Self {
        Self::cast(self, dtype)
    }
}

impl SampleInput for Sequences {
    const SEQUENCES: bool = true;

    fn from_batch(
        values: Vec<f32>,
        shape: [usize; 4],
        lengths: Option<Arc<[usize]>>,
        device: &Device,
    ) -> Self {
        let values = Tensor::<4>::from_data(TensorData::new(values, shape), device);
        match lengths {
            Some(lengths) => Self::padded(values, lengths),
            None => values.into(),
        }
    }

    fn values(&self) -> Vec<f32> {
        to_vec(Self::values(self).clone())
    }

    fn cast(self, dtype: DType) -> Self {
        let (values, lengths) = self.into_parts();
        let values = values.cast(dtype);
        match lengths {
            Some(lengths) => Self::padded(values, lengths.as_slice()),
            None => values.into(),
        }
    }
}

/// The type of a net's parameters.
pub(super) fn float_dtype<M: Module>(net: &M) -> DType {
    struct First(Option<DType>);
    impl ModuleVisitor for First {
        fn visit_float<const D: usize>(&mut self, param: &Param<Tensor<D>>) {
            if self.0.is_none() {
                self.0 = Some(param.val().dtype());
            }
        }
    }
    let mut first = First(None);
    net.visit(&mut first);
    first.0.unwrap_or(DType::F32)
}

/// What a net on samples gives, steps of sequences one after another, without padded ones.
#[derive(Clone)]
pub enum SampleOutput {
    /// Scores, values or logits `[n, width]`.
    Scores(Tensor<2>),
    /// Matrices `[n, rows, cols]`.
    Matrices(Tensor<3>),
}

impl SampleOutput {
    /// The output of the net of a config, for sequences of these lengths if they differ.
    pub fn new<C: SampleConfig>(output: <C::Net as Net>::Output, lengths: Option<&[usize]>) -> Self {
        let output = output.into_output(C::TARGET);
        match lengths.filter(|_| C::TARGET.per_step()) {
            None => output,
            Some(lengths) => output.without_padding(lengths),
        }
    }

    /// The same in 32 bits.
    pub(super) fn in_32_bits(self) -> Self {
        match self {
            Self::Scores(scores) => Self::Scores(scores.cast(DType::F32)),
            Self::Matrices(matrices) => Self::Matrices(matrices.cast(DType::F32)),
        }
    }

    /// The rows of steps that count, of sequences that were padded to the same length.
    fn without_padding(self, lengths: &[usize]) -> Self {
        let select = |count: usize, device: &Device| {
            let time = count / lengths.len();
            let real = lengths.iter().enumerate().flat_map(|(at, &length)| at * time..at * time + length);
            let real: Vec<i64> = real.map(|row| row as i64).collect();
            let rows = real.len();
            (rows < count).then(|| Tensor::<1, Int>::from_data(TensorData::new(real, [rows]), device))
        };
        match self {
            Self::Scores(scores) => match select(scores.dims()[0], &scores.device()) {
                Some(real) => Self::Scores(scores.select(0, real)),
                None => Self::Scores(scores),
            },
            Self::Matrices(matrices) => match select(matrices.dims()[0], &matrices.device()) {
                Some(real) => Self::Matrices(matrices.select(0, real)),
                None => Self::Matrices(matrices),
            },
        }
    }
}

/// A tensor that a net on samples gives.
pub trait IntoOutput {
    /// As scores or matrices, depending on the target.
    fn into_output(self, target: SampleTarget) -> SampleOutput;
}

impl IntoOutput for Tensor<2> {
    fn into_output(self, _target: SampleTarget) -> SampleOutput {
        SampleOutput::Scores(self)
    }
}

impl IntoOutput for Tensor<3> {
    fn into_output(self, target: SampleTarget) -> SampleOutput {
        match target {
            SampleTarget::StepClass => {
                let [batch, time, classes] = self.dims();
                SampleOutput::Scores(self.reshape([batch * time, classes]))
            }
            _ => SampleOutput::Matrices(self),
        }
    }
}

impl IntoOutput for Tensor<4> {
    fn into_output(self, _target: SampleTarget) -> SampleOutput {
        let [batch, time, rows, cols] = self.dims();
        SampleOutput::Matrices(self.reshape([batch * time, rows, cols]))
    }
}

/// Some samples of an array of this shape, of sequences only the steps in `steps`, of which `lengths` may say how many of each
/// count; `read` appends a range of one sample.
pub fn gather<I: SampleInput>(
    shape: &[usize],
    examples: &[usize],
    steps: Range<usize>,
    lengths: Option<Arc<[usize]>>,
    device: &Device,
    read: impl Fn(usize, Range<usize>, &mut Vec<f32>),
) -> I {
    let (values, shape) = gathered(shape, examples, steps, read);
    I::from_batch(values, shape, lengths, device)
}

/// The same as an array `[n, rows, cols]` or `[n, time, rows, cols]`.
pub fn gather_array(
    shape: &[usize],
    examples: &[usize],
    steps: Range<usize>,
    read: impl Fn(usize, Range<usize>, &mut Vec<f32>),
) -> Array {
    let sequences = shape.len() == 4;
    let (values, [n, time, rows, cols]) = gathered(shape, examples, steps, read);
    let shape = if sequences { vec![n, time, rows, cols] } else { vec![n, rows, cols] };
    Array::new(shape, values).expect("as many values as the shape says")
}

fn gathered(
    shape: &[usize],
    examples: &[usize],
    steps: Range<usize>,
    read: impl Fn(usize, Range<usize>, &mut Vec<f32>),
) -> (Vec<f32>, [usize; 4]) {
    let (time, rows, cols) = match *shape {
        [_, time, rows, cols] => (steps.end.min(time) - steps.start.min(time), rows, cols),
        _ => (1, shape[1], shape[2]),
    };
    let first = if shape.len() == 4 { steps.start.min(shape[1]) * rows * cols } else { 0 };
    let size = time * rows * cols;
    let mut values = Vec::with_capacity(examples.len() * size);
    for &at in examples {
        read(at, first..first + size, &mut values);
    }
    (values, [examples.len(), time, rows, cols])
}

/// The matrices of some examples, steps of sequences one after another: those in `steps`, or of each example as many of them as
/// `lengths` says.
pub fn gather_matrices(
    shape: &[usize],
    examples: &[usize],
    steps: Range<usize>,
    lengths: Option<&[usize]>,
    device: &Device,
    read: impl Fn(usize, Range<usize>, &mut Vec<f32>),
) -> Tensor<3> {
    let (time, sides) = match *shape {
        [_, time, rows, cols] => (time, [rows, cols]),
        _ => (1, [shape[1], shape[2]]),
    };
    let (first, last) = if shape.len() == 4 { (steps.start.min(time), steps.end.min(time)) } else { (0, 1) };
    let size = sides[0] * sides[1];
    let mut values = Vec::with_capacity(examples.len() * (last - first) * size);
    for (place, &at) in examples.iter().enumerate() {
        let last = lengths.map_or(last, |lengths| last.min(first + lengths[place]));
        read(at, first * size..last * size, &mut values);
    }
    let rows = values.len() / size.max(1);
    Tensor::from_data(TensorData::new(values, [rows, sides[0], sides[1]]), device)
}

/// Blocks whose samples are mixed with each other.
const MIXED_BLOCKS: usize = 16;

/// Puts samples into random order, so that those near each other in the data stay near in time: blocks of so many samples come in
/// random order, and the samples of each 16 blocks in a row are mixed.
pub fn shuffle_blocks(order: &mut [usize], block: usize, rng: &mut SeededRng) {
    order.sort_unstable();
    let mut blocks: Vec<&[usize]> = order.chunks(block).collect();
    blocks.shuffle(rng);
    let mut mixed = blocks.concat();
    for pool in mixed.chunks_mut(block.saturating_mul(MIXED_BLOCKS)) {
        pool.shuffle(rng);
    }
    order.copy_from_slice(&mixed);
}

/// Batches that are sorted by length together: few enough that an epoch stays random, enough that lengths in a batch are alike.
const POOL: usize = 16;

/// Batches of similar length, from a random order: each pool of batches is sorted by length, and all batches are then shuffled.
pub fn by_length(
    order: &[usize],
    batch_size: usize,
    length: impl Fn(usize) -> usize,
    rng: &mut SeededRng,
) -> Vec<Vec<usize>> {
    let mut batches = Vec::new();
    for pool in order.chunks(POOL * batch_size) {
        let mut pool = pool.to_vec();
        pool.sort_by_key(|&at| length(at));
        batches.extend(pool.chunks(batch_size).map(<[usize]>::to_vec));
    }
    batches.shuffle(rng);
    batches
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_are_mixed_and_hold_everything_once() {
        let mut order: Vec<usize> = (0..1003).map(|at| at * 577 % 1003).collect();
        shuffle_blocks(&mut order, 5, &mut SeededRng::new(1, "order"));
        let mut sorted = order.clone();
        sorted.sort_unstable();
        assert_eq!(sorted, (0..1003).collect::<Vec<_>>());
        // The first pool holds 16 whole blocks, from all over the data, and not in their order.
        let blocks = |pool: &[usize]| pool.iter().map(|at| at / 5).collect::<std::collections::BTreeSet<_>>();
        assert!(blocks(&order[..80]).len() <= 17, "{order:?}");
        assert!(order[..80].iter().max() > Some(&500) && !order[..5].is_sorted());
        let mut other = sorted.clone();
        shuffle_blocks(&mut other, 5, &mut SeededRng::new(1, "order"));
        assert_eq!(order, other, "the order before does not matter");
        let mut whole = sorted;
        shuffle_blocks(&mut whole, usize::MAX, &mut SeededRng::new(1, "order"));
        assert!(blocks(&whole[..80]).len() > 40);
    }

    #[test]
    fn batches_are_of_similar_length_and_hold_everything_once() {
        let order: Vec<usize> = (0..1003).map(|at| at * 577 % 1003).collect();
        let length = |at: usize| 7 + at % 23;
        let batches = by_length(&order, 10, length, &mut SeededRng::new(1, "order"));
        assert_eq!(batches.len(), 1003_usize.div_ceil(10));
        let mut all: Vec<usize> = batches.concat();
        all.sort_unstable();
        assert_eq!(all, (0..1003).collect::<Vec<_>>());
        let padding = |batches: &[Vec<usize>]| {
            let one = |batch: &Vec<usize>| {
                let longest = batch.iter().map(|&at| length(at)).max().unwrap();
                batch.iter().map(|&at| longest - length(at)).sum::<usize>()
            };
            batches.iter().map(one).sum::<usize>()
        };
        let plain: Vec<Vec<usize>> = order.chunks(10).map(<[usize]>::to_vec).collect();
        assert!(5 * padding(&batches) < padding(&plain), "{} {}", padding(&batches), padding(&plain));
        assert_eq!(batches, by_length(&order, 10, length, &mut SeededRng::new(1, "order")));
    }
}

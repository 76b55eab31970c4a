//! Batches of samples, and what nets give for them.

use std::ops::Range;

use burn::tensor::{Device, Tensor, TensorData};
use matnet::net::{Net, SampleNetConfig, SampleTarget};

use crate::task::to_vec;

/// The config of a net that takes matrices or sequences.
pub trait SampleConfig: SampleNetConfig<Net: Net<Input: SampleInput, Output: IntoOutput>> + 'static {}

impl<C: SampleNetConfig<Net: Net<Input: SampleInput, Output: IntoOutput>> + 'static> SampleConfig for C {}

/// What a net on samples takes.
pub trait SampleInput {
    /// Whether it is sequences of matrices, not single ones.
    const SEQUENCES: bool;

    /// A batch `[n, time, rows, cols]`; without sequences, time is 1.
    fn from_batch(values: Vec<f32>, shape: [usize; 4], device: &Device) -> Self;

    /// All values of the batch.
    fn values(&self) -> Vec<f32>;
}

impl SampleInput for Tensor<3> {
    const SEQUENCES: bool = false;

    fn from_batch(values: Vec<f32>, [n, _, rows, cols]: [usize; 4], device: &Device) -> Self {
        Self::from_data(TensorData::new(values, [n, rows, cols]), device)
    }

    fn values(&self) -> Vec<f32> {
        to_vec(self.clone())
    }
}

impl SampleInput for Tensor<4> {
    const SEQUENCES: bool = true;

    fn from_batch(values: Vec<f32>, shape: [usize; 4], device: &Device) -> Self {
        Self::from_data(TensorData::new(values, shape), device)
    }

    fn values(&self) -> Vec<f32> {
        to_vec(self.clone())
    }
}

/// What a net on samples gives, steps of sequences one after another.
pub enum SampleOutput {
    /// Scores `[n, classes]`.
    Scores(Tensor<2>),
    /// Matrices `[n, rows, cols]`.
    Matrices(Tensor<3>),
}

impl SampleOutput {
    /// The output of the net of a config.
    pub fn new<C: SampleConfig>(output: <C::Net as Net>::Output) -> Self {
        output.into_output(C::TARGET)
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

/// Some samples of an array of this shape, of sequences only the steps in `steps`; `read` appends a range of one sample.
pub fn gather<I: SampleInput>(
    shape: &[usize],
    examples: &[usize],
    steps: Range<usize>,
    device: &Device,
    read: impl Fn(usize, Range<usize>, &mut Vec<f32>),
) -> I {
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
    I::from_batch(values, [examples.len(), time, rows, cols], device)
}

/// The same as matrices, steps of sequences one after another.
pub fn gather_matrices(
    shape: &[usize],
    examples: &[usize],
    steps: Range<usize>,
    device: &Device,
    read: impl Fn(usize, Range<usize>, &mut Vec<f32>),
) -> Tensor<3> {
    let sequences: Tensor<4> = gather(shape, examples, steps, device, read);
    let [batch, time, rows, cols] = sequences.dims();
    sequences.reshape([batch * time, rows, cols])
}

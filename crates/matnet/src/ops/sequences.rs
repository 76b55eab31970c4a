//! Batches of sequences of one length or of many.

use std::sync::Arc;

use burn::tensor::{Bool, Device, IndexingUpdateOp, Int, Tensor, TensorData};

/// How many steps of each sequence of a padded batch count; the rest is padding.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lengths {
    steps: Arc<[usize]>,
    time: usize,
}

impl Lengths {
    /// The lengths of the sequences of a batch that was padded to `time` steps.
    ///
    /// # Panics
    ///
    /// If a length is 0 or greater than `time`.
    pub fn new(lengths: impl Into<Arc<[usize]>>, time: usize) -> Self {
        let steps = lengths.into();
        for (at, &length) in steps.iter().enumerate() {
            assert!(
                (1..=time).contains(&length),
                "sequences: the length of sequence {at} is {length}, expected 1 to {time}"
            );
        }
        Self { steps, time }
    }

    /// The length of each sequence.
    pub fn as_slice(&self) -> &[usize] {
        &self.steps
    }

    /// The steps that the batch was padded to.
    pub fn time(&self) -> usize {
        self.time
    }

    /// The steps of all sequences together, padding not counted.
    pub fn total(&self) -> usize {
        self.steps.iter().sum()
    }

    /// Whether step t of a sequence is padding: `[batch, time]`.
    pub(super) fn padding(&self, device: &Device) -> Tensor<2, Bool> {
        let padding = self.steps.iter().flat_map(|&length| (0..self.time).map(move |t| t >= length));
        let shape = [self.steps.len(), self.time];
        Tensor::from_data(TensorData::new(padding.collect::<Vec<bool>>(), shape), device)
    }

    /// Of every sequence, `pick` of its number and length, as indices.
    fn indices<I: Iterator<Item = usize>>(
        &self,
        device: &Device,
        pick: impl Fn(usize, usize) -> I,
    ) -> Tensor<1, Int> {
        let all = self.steps.iter().enumerate().flat_map(|(at, &length)| pick(at, length));
        let all: Vec<i64> = all.map(|index| index as i64).collect();
        let count = all.len();
        Tensor::from_data(TensorData::new(all, [count]), device)
    }

    /// The steps that count, of `batch · time` steps: those of the first sequence, of the second, and so on.
    fn real(&self, device: &Device) -> Tensor<1, Int> {
        self.indices(device, |at, length| at * self.time..at * self.time + length)
    }

    /// From `[batch · time, width]` to `[total, width]`: the steps that count, sequence after sequence.
    pub(crate) fn pack(&self, steps: Tensor<2>) -> Tensor<2> {
        let real = self.real(&steps.device());
        steps.select(0, real)
    }

    /// From `[total, width]` back to `[batch · time, width]`, with zeros as padding.
    pub(crate) fn unpack(&self, steps: Tensor<2>) -> Tensor<2> {
        let like = (&steps.device(), steps.dtype());
        let zeros = Tensor::zeros([self.steps.len() * self.time, steps.dims()[1]], like);
        zeros.select_assign(0, self.real(like.0), steps, IndexingUpdateOp::Add)
    }

    /// From `[batch · count, width]` to `[batch, width]`: row length − 1 of every sequence's `count` rows.
    pub(super) fn last(&self, rows: Tensor<2>, count: usize) -> Tensor<2> {
        let last = self.indices(&rows.device(), |at, length| std::iter::once(at * count + length - 1));
        rows.select(0, last)
    }

    /// `[batch · time, width]`, the steps of each sequence in reverse order. Padding stays where it is.
    fn reverse(&self, steps: Tensor<2>) -> Tensor<2> {
        let order = self.indices(&steps.device(), |at, length| {
            let first = at * self.time;
            (first..first + length).rev().chain(first + length..first + self.time)
        });
        steps.select(0, order)
    }
}

/// A batch of sequences of matrices. Shorter ones are padded at the end; the padding has no effect on any output or
/// gradient, whatever it holds.
///
/// A tensor `[batch, time, rows, cols]` becomes sequences of one length with `into()`.
///
/// ```
/// use burn::tensor::{Device, Tensor};
/// use matnet::prelude::*;
///
/// let device = Device::flex();
/// let values = Tensor::<4>::ones([3, 5, 2, 2], &device);
/// let net = SequenceClassifierConfig::new([2, 2], [4, 4], 2).init(&mut SeededRng::new(42, "init"), &device)?;
///
/// let scores = net.forward(values.clone().into(), &mut Mode::Eval);
/// let padded = net.forward(Sequences::padded(values, [5, 2, 4]), &mut Mode::Eval);
/// assert_eq!(scores.slice(0..1).into_data(), padded.slice(0..1).into_data());
/// # Ok::<(), matnet::ConfigError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Sequences {
    values: Tensor<4>,
    /// `None` if all steps count.
    lengths: Option<Lengths>,
}

impl From<Tensor<4>> for Sequences {
    fn from(values: Tensor<4>) -> Self {
        Self { values, lengths: None }
    }
}

impl Sequences {
    /// Sequences of these lengths, `values` padded at the end: `[batch, time, rows, cols]`.
    ///
    /// # Panics
    ///
    /// If there is not one length per sequence, or one is 0 or greater than `time`.
    pub fn padded(values: Tensor<4>, lengths: impl Into<Arc<[usize]>>) -> Self {
        let [batch, time, ..] = values.dims();
        let lengths = Lengths::new(lengths, time);
        let count = lengths.as_slice().len();
        assert!(count == batch, "sequences: {count} lengths for a batch of {batch}");
        Self::new(values, Some(lengths))
    }

    /// Sequences of these lengths, or of one length.
    pub(crate) fn new(values: Tensor<4>, lengths: Option<Lengths>) -> Self {
        // Without padding there is nothing to watch.
        let lengths = lengths.filter(|lengths| lengths.steps.iter().any(|&steps| steps < lengths.time));
        Self { values, lengths }
    }

    /// The matrices, padding included: `[batch, time, rows, cols]`.
    pub fn values(&self) -> &Tensor<4> {
        &self.values
    }

    /// The lengths; `None` if there is no padding.
    pub fn lengths(&self) -> Option<&Lengths> {
        self.lengths.as_ref()
    }

    /// The matrices and the lengths.
    pub fn into_parts(self) -> (Tensor<4>, Option<Lengths>) {
        (self.values, self.lengths)
    }

    /// The same sequences with other matrices at every step.
    pub(crate) fn map(self, f: impl FnOnce(Tensor<4>) -> Tensor<4>) -> Self {
        let [batch, time, ..] = self.values.dims();
        let values = f(self.values);
        debug_assert_eq!(values.dims()[..2], [batch, time], "as many sequences and steps as before");
        Self { values, lengths: self.lengths }
    }

    /// Every sequence in reverse order, within its own length.
    pub fn reversed(self) -> Self {
        match self.lengths.clone() {
            None => self.map(|values| values.flip([1])),
            Some(lengths) => self.map(|values| {
                let shape @ [batch, time, rows, cols] = values.dims();
                lengths.reverse(values.reshape([batch * time, rows * cols])).reshape(shape)
            }),
        }
    }

    /// Zeros as padding.
    pub(super) fn with_zeros(self) -> Self {
        match self.lengths.clone() {
            None => self,
            Some(lengths) => self.map(|values| {
                let [batch, time, ..] = values.dims();
                let padding = lengths.padding(&values.device()).reshape([batch, time, 1, 1]);
                let padding = padding.expand(values.dims());
                values.mask_fill(padding, 0)
            }),
        }
    }

    /// `f` of every step that counts, from `[steps, rows, cols]` to `[steps, width]`; the result is
    /// `[batch, time, width]`, with zeros as padding.
    pub(crate) fn each_step(self, f: impl FnOnce(Tensor<3>) -> Tensor<2>) -> Tensor<3> {
        let [batch, time, rows, cols] = self.values.dims();
        let steps = match &self.lengths {
            None => f(self.values.reshape([batch * time, rows, cols])),
            Some(lengths) => {
                let real = lengths.pack(self.values.reshape([batch * time, rows * cols]));
                let count = real.dims()[0];
                lengths.unpack(f(real.reshape([count, rows, cols])))
            }
        };
        let width = steps.dims()[1];
        steps.reshape([batch, time, width])
    }
}

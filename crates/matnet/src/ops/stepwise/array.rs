//! Tensors of any backend with the few operations that a recurrence needs, each of them one launch or none.

use std::fmt;
use std::ops::{Add, Mul, Range, Sub};

use burn::backend::tensor::{BoolTensor, Device, FloatTensor};
use burn::backend::{Backend, TensorMetadata, get_or_init_device_settings};
use burn::tensor::{Shape, Slice, TensorData};

use crate::ops::{Activation, Lengths};

/// A tensor of floats on a backend.
pub(super) struct Array<B: Backend>(pub(super) FloatTensor<B>);

impl<B: Backend> Clone for Array<B> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

impl<B: Backend> fmt::Debug for Array<B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Array{:?}", self.0.shape())
    }
}

impl<B: Backend> Add for Array<B> {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self(B::float_add(self.0, other.0))
    }
}

impl<B: Backend> Sub for Array<B> {
    type Output = Self;

    fn sub(self, other: Self) -> Self {
        Self(B::float_sub(self.0, other.0))
    }
}

impl<B: Backend> Mul for Array<B> {
    type Output = Self;

    fn mul(self, other: Self) -> Self {
        Self(B::float_mul(self.0, other.0))
    }
}

impl<B: Backend> Array<B> {
    pub(super) fn dims<const N: usize>(&self) -> [usize; N] {
        self.0.shape().dims()
    }

    pub(super) fn reshape<const N: usize>(self, sides: [usize; N]) -> Self {
        Self(B::float_reshape(self.0, Shape::from(sides)))
    }

    /// A batched product; a batch of one goes with any other.
    pub(super) fn matmul(self, other: Self) -> Self {
        Self(B::float_matmul(self.0, other.0))
    }

    pub(super) fn transpose(self) -> Self {
        Self(B::float_swap_dims(self.0, 1, 2))
    }

    pub(super) fn permute(self, axes: &[usize]) -> Self {
        Self(B::float_permute(self.0, axes))
    }

    /// Some of the places along a side.
    pub(super) fn narrow(self, side: usize, places: Range<usize>) -> Self {
        let mut slices = vec![Slice::full(); side];
        slices.push(Slice::from(places));
        Self(B::float_slice(self.0, &slices))
    }

    /// One after the other along a side.
    pub(super) fn join(arrays: Vec<Self>, side: usize) -> Self {
        match <[Self; 1]>::try_from(arrays) {
            Ok([only]) => only,
            Err(arrays) => Self(B::float_cat(arrays.into_iter().map(|array| array.0).collect(), side)),
        }
    }

    /// σ(X). By tanh, which no number overflows.
    pub(super) fn sigmoid(self) -> Self {
        let scaled = B::float_tanh(B::float_mul_scalar(self.0, 0.5.into()));
        Self(B::float_add_scalar(B::float_mul_scalar(scaled, 0.5.into()), 0.5.into()))
    }

    pub(super) fn tanh(self) -> Self {
        Self(B::float_tanh(self.0))
    }

    pub(super) fn activate(self, f: Activation) -> Self {
        match f {
            Activation::Identity => self,
            Activation::Relu => Self(B::relu(self.0)),
            Activation::Sigmoid => self.sigmoid(),
            Activation::Tanh => self.tanh(),
        }
    }

    /// The gradient before f, from that after it; `self` is what f gave.
    pub(super) fn before(self, f: Activation, gradient: Self) -> Self {
        match f {
            Activation::Identity => gradient,
            Activation::Relu => Self(B::relu_backward(self.0, gradient.0)),
            Activation::Sigmoid => {
                let scaled = gradient * self.clone();
                scaled.clone() - scaled * self
            }
            Activation::Tanh => gradient.clone() - gradient * self.clone() * self,
        }
    }

    /// These numbers, but `other` where the mask holds.
    pub(super) fn or(self, mask: &Mask<B>, other: Self) -> Self {
        Self(B::float_mask_where(self.0, mask.0.clone(), other.0))
    }

    /// These numbers, but zeros where the mask holds.
    pub(super) fn or_zero(self, mask: &Mask<B>) -> Self {
        Self(B::float_mask_fill(self.0, mask.0.clone(), 0.0.into()))
    }
}

/// Which numbers of an array are meant.
pub(super) struct Mask<B: Backend>(BoolTensor<B>);

/// For every step, which sequences have ended, as a mask of the state `[rows, batch, cols]`, and the opposite mask.
pub(super) fn ended<B: Backend>(
    lengths: &Lengths,
    [rows, batch, cols]: [usize; 3],
    device: &Device<B>,
) -> Vec<[Mask<B>; 2]> {
    let time = lengths.time();
    let steps = (0..time).flat_map(|t| lengths.as_slice().iter().map(move |&length| f32::from(t >= length)));
    let data = TensorData::new(steps.collect::<Vec<f32>>(), [time, batch]);
    let dtype = get_or_init_device_settings::<B>(device).bool_dtype;
    let all = B::float_greater_elem(B::float_from_data(data, device), 0.5.into(), dtype);
    let running = B::bool_not(all.clone());
    let of_step = |all: &BoolTensor<B>, t: usize| {
        let step = B::bool_slice(all.clone(), &[Slice::from(t..t + 1)]);
        let step = B::bool_reshape(step, Shape::from([1, batch, 1]));
        Mask(B::bool_expand(step, Shape::from([rows, batch, cols])))
    };
    (0..time).map(|t| [of_step(&all, t), of_step(&running, t)]).collect()
}

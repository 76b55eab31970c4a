//! In which floats operations save what their backward passes need.

use std::cell::Cell;

use matnet_kernels::Keep;

thread_local! {
    static KEEP: Cell<Keep> = const { Cell::new(Keep::Full) };
}

/// What the operations of this thread keep at the moment.
pub(super) fn keep() -> Keep {
    KEEP.get()
}

/// Runs a forward pass whose operations save what their backward passes need as bfloat16, in half the memory; in PyTorch,
/// `saved_tensors_hooks` with a cast. What goes into operations and comes out of them, and with it the loss, has the same bits as without;
/// gradients come from rounded activations. It is for operations with CPU kernels on `f32` or `f64`; others save what they always
/// do. The backward pass may run anywhere.
///
/// ```
/// # use burn::tensor::{Device, Distribution, Tensor};
/// # use matnet::ops::{Activation, mat1, save_as_bf16};
/// # let device = Device::flex().autodiff();
/// # let tensor = |shape: [usize; 2]| Tensor::<2>::random(shape, Distribution::Default, &device);
/// let (u, v) = (tensor([4, 3]).require_grad(), tensor([5, 2]));
/// let x = Tensor::<3>::random([8, 4, 5], Distribution::Default, &device);
/// let y = save_as_bf16(|| mat1(x, u.clone(), v, None, Activation::Tanh));
/// let gradients = y.sum().backward();
/// assert!(u.grad(&gradients).is_some());
/// ```
pub fn save_as_bf16<R>(work: impl FnOnce() -> R) -> R {
    /// Sets it back, also when the work panics.
    struct Before(Keep);
    impl Drop for Before {
        fn drop(&mut self) {
            KEEP.set(self.0);
        }
    }
    let _before = Before(KEEP.replace(Keep::Bf16));
    work()
}

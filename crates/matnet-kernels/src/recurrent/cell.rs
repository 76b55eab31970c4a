//! The elementwise half of the cells, forward and backward, on whole blocks.

use crate::Activation;
use crate::simd::{Element, Kernel, Level, Simd};

/// Runs `$body` for every vector of equally long blocks. `read` blocks are bound to vectors, `write`
/// blocks to vectors that are stored when the body is done.
macro_rules! each_vector {
    ($s:ident, read($($r:ident),*), write($($w:ident),*), $body:block) => {{
        let len = [$($r.len(),)* $($w.len()),*];
        assert!(len.iter().all(|&n| n == len[0] && n % S::LANES == 0), "blocks differ in size");
        $(let $r = $r.as_ptr();)*
        $(let $w = $w.as_mut_ptr();)*
        for at in (0..len[0]).step_by(S::LANES) {
            // SAFETY: all blocks are len[0] long, a multiple of LANES.
            unsafe {
                $(let $r = $s.load($r.add(at));)*
                #[allow(unused_mut)]
                let ($(mut $w,)*) = { $(let $w = ($w.add(at), $s.load($w.add(at)));)* ($($w,)*) };
                { $(let $w = &mut $w.1;)* $body }
                $($s.store($w.0, $w.1);)*
            }
        }
    }};
}

/// Defines a kernel struct with its blocks and what it does to their vectors.
macro_rules! elementwise {
    ($(#[$doc:meta])* $name:ident { $($r:ident),* } mut { $($w:ident),* } ($($p:ident: $t:ty),*) |$s:ident| $body:block) => {
        $(#[$doc])*
        pub(super) struct $name<'a, E> {
            $(pub(super) $r: &'a [E],)*
            $(pub(super) $w: &'a mut [E],)*
            $(pub(super) $p: $t,)*
        }

        impl<E: Element> $name<'_, E> {
            pub(super) fn on(self, level: Level) {
                level.run(self);
            }
        }

        impl<E: Element> Kernel<E> for $name<'_, E> {
            type Output = ();

            #[inline(always)]
            fn run<S: Simd<Elem = E>>(self, $s: S) {
                let Self { $($r,)* $($w,)* $($p,)* } = self;
                each_vector!($s, read($($r),*), write($($w),*), $body)
            }
        }
    };
}

elementwise! {
    /// C = F⊙C₋ + I⊙Ĉ; H = O⊙tanh(C)
    LstmForward { into, forget, out, candidate, before } mut { cell_state, hidden } () |s| {
        *cell_state = s.mul_add(forget, before, s.mul(into, candidate));
        *hidden = s.mul(out, s.tanh(*cell_state));
    }
}

elementwise! {
    /// From dH and dC (of C after the step) to the gradients before the gates' activations and dC₋.
    LstmBackward { into, forget, out, candidate, before, cell_state, d_hidden }
    mut { d_cell_state, d_into, d_forget, d_out, d_candidate } () |s| {
        let squashed = s.tanh(cell_state);
        let sigmoid = |y, g| Activation::Sigmoid.backward(s, y, g);
        *d_out = sigmoid(out, s.mul(d_hidden, squashed));
        let d_c = s.add(*d_cell_state, Activation::Tanh.backward(s, squashed, s.mul(d_hidden, out)));
        *d_into = sigmoid(into, s.mul(d_c, candidate));
        *d_forget = sigmoid(forget, s.mul(d_c, before));
        *d_candidate = Activation::Tanh.backward(s, candidate, s.mul(d_c, into));
        *d_cell_state = s.mul(d_c, forget);
    }
}

elementwise! {
    /// R⊙H
    Product { a, b } mut { product } () |s| {
        *product = s.mul(a, b);
    }
}

elementwise! {
    /// H = H₋ + Z⊙(H̃ − H₋)
    GruForward { update, candidate, before } mut { hidden } () |s| {
        *hidden = s.mul_add(update, s.sub(candidate, before), before);
    }
}

elementwise! {
    /// From dH to the gradients before Z's and H̃'s activations, and H's own share of dH₋ in its place.
    GruBackward { update, candidate, before } mut { d_hidden, d_update, d_candidate } (f: Activation) |s| {
        let d_h = *d_hidden;
        *d_update = Activation::Sigmoid.backward(s, update, s.mul(d_h, s.sub(candidate, before)));
        let d_new = s.mul(d_h, update);
        *d_candidate = f.backward(s, candidate, d_new);
        *d_hidden = s.sub(d_h, d_new);
    }
}

elementwise! {
    /// From the gradient of R⊙H₋ to that before R's activation, and on to dH₋.
    GruReset { reset, before, d_product } mut { d_hidden, d_reset } () |s| {
        *d_reset = Activation::Sigmoid.backward(s, reset, s.mul(d_product, before));
        *d_hidden = s.mul_add(d_product, reset, *d_hidden);
    }
}

elementwise! {
    /// dH ⊙ f′, from H = f(…)
    RnnBackward { hidden, d_hidden } mut { d_gate } (f: Activation) |s| {
        *d_gate = f.backward(s, hidden, d_hidden);
    }
}

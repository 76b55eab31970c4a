//! Register tiles: what every product comes down to, and the shapes that suit each CPU.

mod dense;
mod inner;
mod lanes;
mod outer;
mod pack;
#[cfg(target_arch = "x86_64")]
mod x86;

pub(crate) use dense::scratch;
pub use dense::{BlockArgs, block};
pub use inner::{InnerArgs, InnerTile, inner_tile, inner_tiles};
pub use outer::{OuterArgs, ScalarStrides, Tile, outer_tile, outer_tiles};

use crate::vector::Vector;

/// Vectors of one CPU with the register tiles that suit it.
///
/// # Safety
///
/// As for [`Vector`].
pub unsafe trait Simd: Vector {
    /// The outer-product kernel with the register tile that suits this CPU.
    ///
    /// # Safety
    /// As for [`outer_tiles`].
    unsafe fn outer(self, args: &OuterArgs<Self::Elem>);

    /// One tile of the outer-product kernel, of so many rows and vectors.
    ///
    /// # Safety
    /// As for [`outer_tiles`].
    unsafe fn outer_tile(self, sizes: [usize; 2], tile: &Tile<Self::Elem>);

    /// A block of a dense product with the register tile that suits this CPU.
    ///
    /// # Safety
    /// As for [`block`].
    unsafe fn product(self, args: &BlockArgs<Self::Elem>);

    /// The inner-product kernel with the register tile that suits this CPU.
    ///
    /// # Safety
    /// As for [`inner_tiles`].
    unsafe fn inner(self, args: &InnerArgs<Self::Elem>);

    /// One tile of the inner-product kernel, of so many rows and columns.
    ///
    /// # Safety
    /// As for [`inner_tiles`].
    unsafe fn inner_tile(self, sizes: [usize; 2], tile: &InnerTile<Self::Elem>);
}

/// Cuts `length` into so many pieces, as even as can be: a last piece of 1 would leave most registers idle.
#[inline(always)]
pub(crate) fn even(count: usize, length: usize) -> impl Iterator<Item = [usize; 2]> {
    (0..count).map(move |at| [at * length / count, (at + 1) * length / count])
}

/// `count` numbers, the other lanes 0.
///
/// # Safety
/// `from` is valid for reading `count` numbers.
#[inline(always)]
pub(crate) unsafe fn load<S: Vector>(s: S, from: *const S::Elem, count: usize) -> S::V {
    // SAFETY: as the caller vouches.
    unsafe { if count == S::LANES { s.load(from) } else { s.load_first(from, count) } }
}

/// Writes the first `count` lanes.
///
/// # Safety
/// `to` is valid for writing `count` numbers.
#[inline(always)]
pub(crate) unsafe fn store<S: Vector>(s: S, to: *mut S::Elem, value: S::V, count: usize) {
    // SAFETY: as the caller vouches.
    unsafe { if count == S::LANES { s.store(to, value) } else { s.store_first(to, value, count) } }
}

//! The two products everything is made of.
//!
//! With a sample a lane (see [`block`](crate::block)) there are no left-over columns to mask: a side of
//! 50 or 1 costs no more than its flops. A map by weights is [`outer`]: each weight is spread over the
//! lanes and multiplied by a vector of samples. A gradient of weights is [`inner`]: vectors of samples
//! are multiplied and, at the very end, their lanes summed.
//!
//! With the columns of a sample in the lanes every product is [`outer`].

mod inner;
mod operands;
mod outer;
mod share;
mod turn;

pub(crate) use inner::inner;
pub use inner::{InnerArgs, InnerTile, inner_tile, inner_tiles};
pub(crate) use operands::{Packed, Scalars, View};
pub(crate) use outer::{Bias, Finish, Stack, load, outer, outer_stack, store};
pub use outer::{OuterArgs, Tile, outer_tile, outer_tiles};
pub(crate) use share::{outer_shared, sharing};
pub(crate) use turn::turn;

/// Calls `$kernel` with the constants that fit a tile of `$m`×`$n`, of at most `SUMS` sums.
macro_rules! tile {
    ($m:expr, $n:expr, $kernel:ident::<$s:ty>($($arg:expr),*)) => {
        match $m {
            1 => tile!(@n $n, $kernel::<$s, 1>($($arg),*)),
            2 => tile!(@n $n, $kernel::<$s, 2>($($arg),*)),
            3 => tile!(@n $n, $kernel::<$s, 3>($($arg),*)),
            4 => tile!(@n $n, $kernel::<$s, 4>($($arg),*)),
            5 => tile!(@n $n, $kernel::<$s, 5>($($arg),*)),
            6 => tile!(@n $n, $kernel::<$s, 6>($($arg),*)),
            7 => tile!(@n $n, $kernel::<$s, 7>($($arg),*)),
            8 => tile!(@n $n, $kernel::<$s, 8>($($arg),*)),
            _ => unreachable!(),
        }
    };
    (@n $n:expr, $kernel:ident::<$s:ty, $m:literal>($($arg:expr),*)) => {
        match $n {
            1 if $m <= SUMS => $kernel::<$s, $m, 1>($($arg),*),
            2 if 2 * $m <= SUMS => $kernel::<$s, $m, 2>($($arg),*),
            3 if 3 * $m <= SUMS => $kernel::<$s, $m, 3>($($arg),*),
            4 if 4 * $m <= SUMS => $kernel::<$s, $m, 4>($($arg),*),
            _ => unreachable!(),
        }
    };
}
pub(crate) use tile;

/// Cuts `length` into so many pieces, as even as can be: a last piece of 1 would leave most registers idle.
#[inline(always)]
pub(crate) fn even(count: usize, length: usize) -> impl Iterator<Item = [usize; 2]> {
    (0..count).map(move |at| [at * length / count, (at + 1) * length / count])
}

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
pub(crate) use operands::{Packed, Scalars, View};
pub(crate) use outer::{Bias, Finish, Stack, outer, outer_stack};
pub(crate) use share::{outer_shared, sharing};
pub(crate) use turn::turn;

//! The vector twins of the matrix layers.
//!
//! Skip connections, dropout and batch norm need no twin: they are element-wise, and a vector is a state of one column (see
//! [`Form`](crate::Form)). Burn's `Lstm` and `Gru` have two biases per gate and separate weights, so the cells here are our
//! own.

mod linear;
mod recurrent;

pub use linear::{VecLinear, VecLinearConfig};
pub use recurrent::{VecCell, VecCellConfig};

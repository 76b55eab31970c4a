//! The vector twins of the matrix layers, where Burn has none that fits.
//!
//! Skips, dropout and batch norm need no twin: they work element by element, and a vector is a state of
//! one column (see [`Form`](crate::Form)). Burn's `Lstm` and `Gru` have two biases per gate, and their
//! weights are not stacked, so the recurrence is written here.

mod linear;
mod recurrent;

pub use linear::{VecLinear, VecLinearConfig};
pub use recurrent::{VecCell, VecCellConfig};

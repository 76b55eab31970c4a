//! Deep networks whose input, hidden state, memory and output are all matrices.
//!
//! The usual layer σ(Wx + b) becomes σ(UᵀXV + B). The parts build on each other:
//!
//! - [`ops`]: the maps themselves as functions on tensors, fused on the CPU, composed elsewhere.
//!
//! | paper | code | shape |
//! |---|---|---|
//! | U | `row_map` | `[rows, rows_out]` |
//! | V | `col_map` | `[cols, cols_out]` |
//! | B | `bias` | `[rows_out, cols_out]` |
//! | X, P | `input` | `[batch, rows, cols]` |
//! | H, Q | `hidden` | `[batch, rows, cols]` |

#![forbid(unsafe_code)]

mod error;
mod mode;
pub mod ops;
pub mod random;

pub use error::{ConfigError, MAX_DEPTH, MAX_NUMBERS};
pub use mode::Mode;

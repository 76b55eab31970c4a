//! matnet in the browser: trained nets predict, and small nets are trained, inside a page.
//!
//! - [`Run`]: the config and the weights of a run folder, as `matnet train` wrote them.
//! - [`SampleNet`], [`SequenceNet`] and [`NodeNet`]: nets of a run on matrices, sequences and a graph, with what happens inside.
//! - [`Trainer`]: a net that is trained step by step, as `matnet train` does it.
//!
//! All of this is ordinary Rust and compiles for every target. `bindings` hands it to JavaScript, for WebAssembly only. The page
//! itself is in `docs/demo`; `tools/demo` builds and serves it.

#![forbid(unsafe_code)]

#[cfg(target_arch = "wasm32")]
mod bindings;
mod error;
mod matrix;
mod node_net;
mod run;
mod sample_net;
mod sequence_net;
mod trainer;

pub use error::Error;
pub use matrix::Matrix;
pub use node_net::NodeNet;
pub use run::Run;
pub use sample_net::SampleNet;
pub use sequence_net::SequenceNet;
pub use trainer::{EpochScore, Trainer};

/// The result of everything that can fail here.
pub type Result<T> = std::result::Result<T, Error>;

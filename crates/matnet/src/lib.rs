//! Deep networks whose input, hidden state, memory and output are all matrices.
//!
//! The usual layer σ(Wx + b) becomes σ(UᵀXV + B). The parts build on each other:
//!
//! - [`ops`]: the maps themselves as functions on tensors, fused on the CPU, composed elsewhere.
//! - [`layer`]: maps with parameters, batch norm, dropout, skips, recurrent cells, tops; [`init`] gives
//!   the parameters their first values; [`vector`] holds the vector twins.
//! - [`net`]: feed-forward nets, auto-encoders, and nets over sequences, all behind one trait, [`Net`],
//!   whether their states are matrices or vectors ([`Form`]).
//! - [`graph`]: nodes and edges, for the nets on graphs.
//! - [`weights`] and [`penalty()`]: the parameters of a net by name, stored, and kept small.
//!
//! A config is checked when it becomes a net; what is wrong comes back as a [`ConfigError`] that names the
//! key. All that is random is drawn from a [`random::SeededRng`] handed in, and a [`Mode`] handed to each
//! forward pass says whether the net is learning.
//!
//! ```
//! use burn::tensor::{Device, Tensor};
//! use matnet::prelude::*;
//!
//! let device = Device::flex().autodiff();
//! let net = FeedForwardConfig::new([28, 28], [50, 50], 10)
//!     .with_depth(Some(3))
//!     .with_dropout(0.1)
//!     .init(&mut SeededRng::new(42, "init"), &device)?;
//!
//! let mut mode = Mode::train(SeededRng::new(42, "dropout"));
//! let digits = Tensor::ones([4, 28, 28], &device);
//! let gradients = net.forward(digits.clone(), &mut mode).sum().backward();
//! let scores = net.forward(digits, &mut Mode::Eval);
//! assert_eq!(scores.dims(), [4, 10]);
//! # let _ = gradients;
//!
//! let wrong = FeedForwardConfig::new([28, 28], vec![[50, 50], [50, 0]], 10);
//! let error = wrong.init(&mut SeededRng::new(42, "init"), &device).unwrap_err();
//! assert_eq!(error.to_string(), "hidden: 50×0 at layer 2; every side must be at least 1");
//! # Ok::<(), matnet::ConfigError>(())
//! ```
//!
//! | paper | code | shape |
//! |---|---|---|
//! | U | `row_map` | `[rows, rows_out]` |
//! | V | `col_map` | `[cols, cols_out]` |
//! | B | `bias` | `[rows_out, cols_out]` |
//! | X, P | `input` | `[batch, rows, cols]` |
//! | H, Q | `hidden` | `[batch, rows, cols]` |

#![forbid(unsafe_code)]

mod config;
mod error;
mod form;
pub mod graph;
pub mod init;
pub mod layer;
mod mode;
pub mod net;
pub mod ops;
pub mod optim;
mod penalty;
pub mod vector;
pub mod weights;

pub use matnet_random as random;

pub use error::{ConfigError, MAX_DEPTH, MAX_NUMBERS, MAX_TOTAL};
pub use form::Form;
pub use mode::Mode;
pub use net::Net;
pub use penalty::{penalty, penalty_below};

/// What most programs need.
pub mod prelude {
    pub use crate::graph::{Features, Graph, GraphInput, Links, Sampler};
    pub use crate::init::Init;
    pub use crate::layer::{CellKind, Noise, Aggregation, Skip};
    pub use crate::net::{
        AutoEncoder, AutoEncoderConfig, ChebyshevNet, ChebyshevNetConfig, Classifier, ColumnNet,
        ColumnNetConfig, ControllerKind, EndToEnd, EndToEndConfig, FeedForward, FeedForwardConfig, Gcn,
        GcnConfig, Hidden, MemoryNetwork, MemoryNetworkConfig, Net, Seq2Seq, Seq2SeqConfig,
        SequenceClassifier, SequenceClassifierConfig, SequenceLabeller, SequenceLabellerConfig, Start,
        Stories, TuringMachine, TuringMachineConfig, Tying,
    };
    pub use crate::ops::Activation;
    pub use crate::random::SeededRng;
    pub use crate::{ConfigError, Form, Mode, penalty};
    pub use burn::module::Module;
}

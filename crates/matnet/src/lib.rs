//! Deep networks whose inputs, hidden states, memories and outputs are matrices.
//!
//! The usual layer σ(Wx + b) becomes σ(UᵀXV + B), as in Do, Tran & Venkatesh,
//! [Learning Deep Matrix Representations](https://arxiv.org/abs/1703.01454). The modules build on each other:
//!
//! - [`ops`]: the equations as functions on tensors, fused on the CPU, composed of tensor operations elsewhere.
//! - [`layer`]: maps with parameters, batch norm, dropout, skip connections, recurrent cells, attention, heads; [`init`]
//!   initialises the parameters; [`vector`] has the vector twins.
//! - [`net`]: feed-forward nets, auto-encoders, nets on sequences, graphs and stories, all behind one trait, [`Net`], whether
//!   their states are matrices or vectors ([`Form`]).
//! - [`graph`]: graphs, their matrices, and neighbour sampling.
//! - [`summary`], [`weights`] and [`Regularizer`]: what a net is made of, its parameters by name, and L1 and L2.
//! - [`optim`]: Adam in one pass.
//!
//! A config is checked when it is initialised; errors are [`ConfigError`]s that name the key. All random numbers come from a
//! [`SeededRng`](random::SeededRng) that the caller passes in, and a [`Mode`] passed to each forward pass says whether the net is
//! trained or evaluated.
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
pub mod device;
mod error;
mod form;
pub mod graph;
pub mod init;
pub mod layer;
mod mode;
pub mod net;
#[doc(hidden)]
pub mod numbers;
pub mod ops;
pub mod optim;
mod output;
mod regularize;
pub mod summary;
pub mod vector;
pub mod weights;

pub use matnet_random as random;

pub use error::{ConfigError, MAX_DEPTH, MAX_NUMBERS, MAX_TOTAL};
pub use form::Form;
pub use mode::{LayerState, Mode};
pub use net::Net;
pub use regularize::Regularizer;

/// The SIMD level at which the kernels run on this CPU: portable, avx2 or avx512, the last with what else of the CPU the bits of gradients
/// depend on.
pub fn simd_level() -> String {
    matnet_kernels::Level::best().describe()
}

/// The types and traits that most programs need.
pub mod prelude {
    pub use crate::graph::{Features, Graph, GraphInput, Linking, Links, Sampler};
    pub use crate::init::Init;
    pub use crate::layer::{
        Aggregation, CellKind, Chebyshev, ChebyshevConfig, ClassHead, ColumnLayer, ColumnLayerConfig,
        DenseSkip, Dropout, EdgeAttention, EdgeAttentionConfig, GatedSkip, GraphConv, GraphConvConfig, Head,
        HeadConfig, Map, MapConfig, MatBatchNorm, MatBatchNormConfig, MatCell, MatCellConfig, MatLinear,
        MatLinearConfig, MatrixHead, MultiAttention, MultiAttentionConfig, Noise, Recurrent, RecurrentConfig,
        Skip, Unit, UnitConfig,
    };
    pub use crate::net::{
        AutoEncoder, AutoEncoderConfig, ChebyshevNet, ChebyshevNetConfig, Classifier, ColumnNet,
        ColumnNetConfig, ControllerKind, DecoderState, Encoding, EndToEnd, EndToEndConfig, FeedForward,
        FeedForwardConfig, Gcn, GcnConfig, GraphNet, GraphNetConfig, Hidden, ManyToOne, ManyToOneConfig,
        MemoryNetwork, MemoryNetworkConfig, Net, NetConfig, NetOutput, SampleNetConfig, Seq2Seq,
        Seq2SeqConfig, SequenceClassifier, SequenceClassifierConfig, SequenceLabeller,
        SequenceLabellerConfig, SequenceRegressor, SequenceRegressorConfig, Sequences, Stories, StoryNet,
        StoryNetConfig, TuringMachine, TuringMachineConfig, Tying,
    };
    pub use crate::ops::Activation;
    pub use crate::optim::AdamConfig;
    pub use crate::random::SeededRng;
    pub use crate::summary::{LayerSummary, Summarize};
    pub use crate::vector::{VecCell, VecCellConfig, VecLinear, VecLinearConfig};
    pub use crate::{ConfigError, Form, Mode, Regularizer};
    pub use burn::module::Module;
}

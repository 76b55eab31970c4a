//! Layers: the operations with their parameters, and the connections between them.
//!
//! | layer | what it computes |
//! |---|---|
//! | [`MatLinear`] | σ(UᵀXV + B) |
//! | [`Map`] | the same on matrices or vectors |
//! | [`MatBatchNorm`], [`Dropout`] | batch norm and dropout of matrices |
//! | [`Unit`] | map, batch norm, σ, dropout: one layer of a deep net |
//! | [`GatedSkip`], [`DenseSkip`] | skip connections: gated, highway, residual, dense |
//! | [`MatCell`], [`Recurrent`] | RNN, LSTM, GRU: one cell; stacked, unidirectional or bidirectional |
//! | [`MultiAttention`] | k heads over the rows of a memory: `mat1` with attention weights as U |
//! | [`MatrixHead`], [`ClassHead`] | from the last hidden state to a matrix or class scores |
//! | [`ColumnLayer`], [`EdgeAttention`], [`GraphConv`], [`Chebyshev`] | layers on graphs |

mod batch_norm;
mod dropout;
mod graph;
mod head;
mod map;
mod mat_cell;
mod mat_linear;
mod multi_attention;
mod recurrent;
mod skip;
mod unit;

pub use batch_norm::{MatBatchNorm, MatBatchNormConfig};
pub use dropout::{Dropout, Noise};
pub use graph::{
    Aggregation, Chebyshev, ChebyshevConfig, ColumnLayer, ColumnLayerConfig, EdgeAttention,
    EdgeAttentionConfig, FeatureMap, GraphConv, GraphConvConfig,
};
pub(crate) use graph::{HEADS, NUM_NEIGHBORS, drop_features};
pub use head::{ClassHead, Head, HeadConfig, MatrixHead};
pub use map::{Map, MapConfig};
pub use mat_cell::{MatCell, MatCellConfig};
pub use mat_linear::{MatLinear, MatLinearConfig};
pub(crate) use multi_attention::MASKED;
pub use multi_attention::{
    AdditiveScore, AttentionRead, AttentionScore, BilinearScore, MultiAttention, MultiAttentionConfig,
    ScoreKind,
};
pub use recurrent::{CellKind, Recurrent, RecurrentCell, RecurrentConfig};
pub use skip::{CARRY_BIAS_INIT, DenseSkip, Gate, GatedSkip, Skip, TRANSFORM_BIAS_INIT};
pub use unit::{Unit, UnitConfig};

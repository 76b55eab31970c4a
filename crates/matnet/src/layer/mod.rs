//! Layers: the operations with their parameters, and what connects them.
//!
//! | file | what |
//! |---|---|
//! | `mat_linear` | σ(UᵀXV + B) |
//! | `map` | the same in either form, matrix or vector |
//! | `batch_norm`, `dropout` | on matrices |
//! | `unit` | map, norm, σ, dropout: one layer of a deep net |
//! | `skip` | the gated skip: highway, residual, dense |
//! | `mat_cell`, `recurrent` | RNN, LSTM, GRU: one cell; stacked, in one direction or both |
//! | `multi_attention` | k heads over the rows of a memory: `mat1` with attention columns as U |
//! | `top` | from the last hidden state to a matrix or classes |
//! | `graph` | along the edges of a graph: attention, columns, convolutions |

mod batch_norm;
mod dropout;
mod graph;
mod map;
mod mat_cell;
mod mat_linear;
mod multi_attention;
mod recurrent;
mod skip;
mod head;
mod unit;

pub use batch_norm::{MatBatchNorm, MatBatchNormConfig};
pub use dropout::{Dropout, Noise};
pub(crate) use graph::drop_features;
pub use graph::{
    Chebyshev, ChebyshevConfig, ColumnLayer, ColumnLayerConfig, EdgeAttention, EdgeAttentionConfig,
    FeatureMap, GraphConv, GraphConvConfig, Aggregation,
};
pub use map::{Map, MapConfig};
pub use mat_cell::{MatCell, MatCellConfig};
pub use mat_linear::{MatLinear, MatLinearConfig};
pub use multi_attention::{Additive, Bilinear, Judge, MultiAttention, MultiAttentionConfig, Read, Score};
pub(crate) use recurrent::default_activation;
pub use recurrent::{CellKind, Recurrent, RecurrentCell, RecurrentConfig};
pub use skip::{CARRY_BIAS_INIT, DenseSkip, Gate, GatedSkip, Skip, TRANSFORM_BIAS_INIT};
pub use head::{ClassHead, MatrixHead, Output, Head};
pub use unit::{Unit, UnitConfig};

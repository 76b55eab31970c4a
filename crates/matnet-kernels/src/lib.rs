//! CPU kernels of matnet on plain slices: the only crate with `unsafe` and SIMD. The README describes how they work.

mod activation;
mod adam;
mod batch_norm;
mod block;
mod chain;
mod gemm;
mod graph;
mod in_order;
mod kept;
mod lanes;
mod map;
mod memory;
mod pair;
mod parallel;
mod pool;
mod product;
mod recurrent;
mod simd;
mod spread;
mod tile;
mod vector;

pub use activation::Activation;
pub use adam::AdamStep;
pub use batch_norm::{BatchNorm, BatchNormGradients, BatchStatistics};
pub use chain::{Chain, ChainGradients, Link, LinkGradients};
pub use graph::{
    Attention, AttentionGradients, AttentionMap, AttentionMapGradients, Csr, CsrError, Highway,
    HighwayGradients, SlotMap, SlotMapGradients, SparseHighway, SparseHighwayGradients, SparseHighwayKept,
    Weighted, sparse_product,
};
pub use kept::{Bf16, Keep, Kept};
pub use map::{Map, MapGradients, Term, TermGradients};
pub use memory::{MemoryGradients, MemorySize, MemoryStep};
pub use pair::MapSize;
pub use pool::Buffer;
pub use product::{BatchedProduct, Linear, LinearGradients, MatrixView, product};
pub use recurrent::{Cell, Reads, Recurrent, RecurrentGradients};
#[doc(hidden)]
pub use simd::InLanes;
pub use simd::{Element, Level};

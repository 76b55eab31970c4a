//! The equations of the paper as functions on tensors.
//!
//! Each operation exists twice. [`composed`] writes it with tensor operations, so that it runs and differentiates on every
//! Burn backend. The functions of this module compute the same and use the fused CPU kernels of `matnet-kernels`, with their
//! hand-written backward passes, for tensors on the CPU in `f32` or `f64`. Recurrences exist a third time: [`stepwise`] is for
//! GPUs.

mod activation;
mod batch_norm;
mod cell;
pub mod composed;
mod edge_attention;
mod fused;
mod highway;
mod maps;
mod mat1;
mod mat1_chain;
mod mat2;
mod memory;
mod memory_state;
mod product;
mod recurrent;
mod sequences;
mod sparse_highway;
mod sparse_product;
pub mod stepwise;

pub use activation::Activation;
pub use batch_norm::{batch_norm, batch_norm_train};
pub use cell::{Cell, Keep, MappedSteps, MatState, RecurrentMaps, StateMaps, Steps};
pub use edge_attention::{attention_map, edge_attention};
pub use fused::save_as_bf16;
pub use highway::highway;
pub use maps::{HighwayMaps, Mat2Maps, NormMaps, NormStatistics};
pub use mat1::mat1;
pub use mat1_chain::{Mat1Maps, mat1_chain};
pub use mat2::mat2;
pub use memory::memory_step;
pub use memory_state::{MemorySize, MemoryState};
pub use product::{
    batched_product, batched_product_transposed, linear, linear_transposed, product, product_transposed,
};
pub use recurrent::{recurrent, recurrent_mapped};
pub use sequences::{Lengths, Sequences};
pub use sparse_highway::sparse_highway;
pub use sparse_product::{slot_map, sparse_product};

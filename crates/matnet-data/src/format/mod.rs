//! One reader per file format. Each checks every size before it allocates: see [`bounded`].

pub mod archive;
pub mod bounded;
pub mod csv;
pub mod edgelist;
pub(crate) mod fields;
pub mod idx;
pub mod images;
#[cfg(feature = "research-formats")]
pub mod matlab;
pub mod npy;
pub mod npz;
#[cfg(feature = "parquet")]
pub mod parquet;
#[cfg(feature = "research-formats")]
pub mod pickle;
pub mod raw;
pub mod stories;
pub mod table;
pub mod ts;
pub mod wav;

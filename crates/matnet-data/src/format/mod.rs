//! One reader per file format. Each checks every size before it allocates: see [`bounded`].

pub mod archive;
#[cfg(feature = "columnar")]
mod arrow;
pub mod bounded;
pub(crate) mod calendar;
pub(crate) mod class_names;
#[cfg(feature = "columnar")]
pub mod columnar;
#[cfg(feature = "columnar")]
pub(crate) mod columnar_file;
pub mod csv;
pub mod edgelist;
pub(crate) mod fields;
pub mod idx;
pub mod images;
#[cfg(feature = "research-formats")]
pub mod matlab;
pub mod npy;
pub mod npz;
#[cfg(feature = "columnar")]
mod parquet;
#[cfg(feature = "research-formats")]
pub mod pickle;
pub mod raw;
pub mod stories;
pub mod table;
pub mod ts;
pub mod wav;

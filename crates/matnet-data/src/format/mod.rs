//! File formats. Each reader checks every size before it takes memory: see [`bounded`].

pub mod archive;
pub mod bounded;
mod chunks;
pub mod csv;
pub mod edgelist;
pub(crate) mod fields;
pub mod idx;
pub mod images;
pub mod matlab;
pub mod npy;
pub mod npz;
pub mod pickle;
pub mod raw;

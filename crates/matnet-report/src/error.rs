//! What can go wrong.

use thiserror::Error;

/// Why a picture could not be made.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ReportError {
    /// The drawing could not be read back, which would be a fault of this crate.
    #[error("drawing: {0}")]
    Drawing(#[from] resvg::usvg::Error),
    /// The picture would have no pixels or far too many.
    #[error("a picture of {width}×{height} pixels cannot be made")]
    Size {
        /// Pixels across.
        width: u64,
        /// Pixels down.
        height: u64,
    },
    /// The picture could not be encoded.
    #[error("picture: {0}")]
    Encode(#[from] image::ImageError),
    /// Frames of an animation differ in size, or there are none.
    #[error("an animation needs frames of one size, and at least one")]
    Frames,
    /// The entries do not fill the matrix.
    #[error("{found} entries cannot fill a {rows}×{cols} matrix")]
    Entries {
        /// Rows of the matrix.
        rows: usize,
        /// Columns of the matrix.
        cols: usize,
        /// How many entries there are.
        found: usize,
    },
}

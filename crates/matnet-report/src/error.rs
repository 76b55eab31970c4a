//! The error type of the crate.

use thiserror::Error;

/// Why a picture could not be created.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ReportError {
    /// The picture would have no pixels or too many.
    #[error(
        "cannot create a picture of {width}×{height} pixels: a picture has at least 1 pixel and at most 2^28"
    )]
    ImageSize {
        /// Width in pixels.
        width: u64,
        /// Height in pixels.
        height: u64,
    },
    /// The picture could not be encoded.
    #[error("cannot encode the picture: {0}")]
    Encode(#[from] image::ImageError),
    /// The frames of an animation differ in size, or there are none.
    #[error("an animation needs at least one frame, and all frames of the same size")]
    Frames,
    /// The number of values does not match the shape of the tile.
    #[error("a {rows}×{cols} tile needs rows × cols values, found {found}")]
    TileSize {
        /// Number of rows.
        rows: usize,
        /// Number of columns.
        cols: usize,
        /// Number of values given.
        found: usize,
    },
}

//! Matrices as pictures: grids of tiles and animations, as pixels or as text in a terminal.

mod colormap;
mod grid;
mod terminal;
mod tile;

pub use crate::encode::{gif, png};
pub use colormap::{ColorRange, Colormap};
pub use grid::{Grid, outer_products};
pub use terminal::half_blocks;
pub use tile::Tile;

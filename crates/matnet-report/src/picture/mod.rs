//! Matrices as pictures: grids of tiles, strips of frames, animations, and all of them as text in a terminal.

mod colours;
mod encode;
mod grid;
mod labels;
mod terminal;
mod tile;

pub use colours::{Colours, Range};
pub use encode::{gif, png};
pub use grid::{Grid, Paper, outer_products};
pub use terminal::half_blocks;
pub use tile::Tile;

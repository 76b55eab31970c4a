//! What products read.

use crate::simd::{Element, Level};
use crate::tile::ScalarStrides;

/// Weights in the order in which [`outer`](super::outer()) reads them: tiles of `tile` rows, depth running outside.
#[derive(Debug)]
pub(crate) struct Packed<E> {
    data: Vec<E>,
    tile: usize,
    rows: usize,
    depth: usize,
}

impl<E: Element> Packed<E> {
    /// Packs A\[m, k\] = `weights[m · m_stride + k · k_stride]`.
    pub(crate) fn new(
        level: Level,
        weights: &[E],
        (rows, m_stride): (usize, usize),
        (depth, k_stride): (usize, usize),
    ) -> Self {
        let tile = level.tile_rows::<E>();
        let mut data = Vec::with_capacity(rows.next_multiple_of(tile) * depth);
        for first in (0..rows).step_by(tile) {
            for k in 0..depth {
                for m in first..first + tile {
                    let weight = if m < rows { weights[m * m_stride + k * k_stride] } else { E::ZERO };
                    data.push(weight);
                }
            }
        }
        Self { data, tile, rows, depth }
    }
}

/// The scalar operand of [`outer`](super::outer()): A\[m, k\], where m = m₀ + i lies i within its tile, stands at
/// `m₀ · tile + i · row + k · depth`.
#[derive(Clone, Copy)]
pub(crate) struct Scalars<'a, E> {
    pub(super) data: &'a [E],
    /// Rows and depth.
    pub(super) sizes: (usize, usize),
    pub(super) strides: ScalarStrides,
    /// How many rows a tile has that was packed; as many as suit where nothing was.
    pub(super) packed: Option<usize>,
}

impl<'a, E> From<&'a Packed<E>> for Scalars<'a, E> {
    fn from(packed: &'a Packed<E>) -> Self {
        Self {
            data: &packed.data,
            sizes: (packed.rows, packed.depth),
            strides: ScalarStrides { tile: packed.depth, row: 1, depth: packed.tile },
            packed: Some(packed.tile),
        }
    }
}

impl<'a, E> Scalars<'a, E> {
    /// A\[m, k\] = `data[m · row + k · depth]`, as it stands.
    pub(crate) fn plain(data: &'a [E], (rows, row): (usize, usize), (depth, step): (usize, usize)) -> Self {
        assert!((rows - 1) * row + (depth - 1) * step < data.len(), "a is too short");
        let strides = ScalarStrides { tile: row, row, depth: step };
        Self { data, sizes: (rows, depth), strides, packed: None }
    }
}

/// A matrix of vectors for reading: entry (i, j) stands at `i · strides.0 + j · strides.1`.
#[derive(Clone, Copy)]
pub(crate) struct View<'a, E> {
    pub(crate) data: &'a [E],
    pub(crate) strides: (usize, usize),
}

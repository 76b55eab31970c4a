//! Tiles in rows and columns.

use image::{Rgb, RgbImage};

use super::colours::spread;
use super::labels::{self, Label};
use super::{Colours, Range, Tile};
use crate::{ReportError, text};

/// Pixels between tiles.
const GAP: u32 = 5;
/// About how large a tile is drawn if nothing is said.
const WANTED_SIDE: u32 = 56;
/// Names of rows are cut at this width.
const MOST_NAME: f64 = 240.0;
/// Pictures have at most so many pixels.
const MOST_PIXELS: u64 = 1 << 28;

/// What is behind and between the tiles.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Paper {
    /// Dark, but not as dark as a black pixel.
    Dark,
    /// Light, but not as light as a white one.
    Light,
}

impl Paper {
    fn colour(self) -> Rgb<u8> {
        match self {
            Self::Dark => Rgb([38, 50, 66]),
            Self::Light => Rgb([206, 212, 221]),
        }
    }

    fn ink(self) -> Rgb<u8> {
        match self {
            Self::Dark => Rgb([226, 232, 240]),
            Self::Light => Rgb([40, 48, 60]),
        }
    }
}

/// Matrices side by side, in rows that may have names.
///
/// Tiles of different size stand in the middle of equal cells.
///
/// ```
/// use matnet_report::picture::{Colours, Grid, Tile, png};
///
/// let tile = Tile::new(2, 2, [0.0, 0.3, 0.6, 1.0])?;
/// let image = Grid::new(Colours::Grey).with_row("one", [tile]).with_zoom(10, 10).draw()?;
/// assert!(png(&image)?.starts_with(b"\x89PNG"));
/// # Ok::<(), matnet_report::ReportError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Grid {
    rows: Vec<(String, Vec<Tile>)>,
    columns: Vec<String>,
    colours: Colours,
    range: Range,
    zoom: Option<(u32, u32)>,
    paper: Paper,
    most_width: u32,
}

impl Grid {
    /// A grid without tiles: light for signed pictures, dark for others.
    pub fn new(colours: Colours) -> Self {
        let paper = if colours == Colours::Signed { Paper::Light } else { Paper::Dark };
        let (rows, columns) = (Vec::new(), Vec::new());
        Self { rows, columns, colours, range: Range::Each, zoom: None, paper, most_width: u32::MAX }
    }

    /// One more row; its name may be empty.
    pub fn with_row(mut self, name: impl Into<String>, tiles: impl IntoIterator<Item = Tile>) -> Self {
        self.rows.push((name.into(), tiles.into_iter().collect()));
        self
    }

    /// Names above the columns.
    pub fn with_columns(mut self, names: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.columns = names.into_iter().map(Into::into).collect();
        self
    }

    /// Which numbers have the first and the last colour; each tile its own if nothing is said.
    pub fn with_range(mut self, range: Range) -> Self {
        self.range = range;
        self
    }

    /// How many pixels an entry takes, across and down; chosen by the size of the tiles if nothing is said.
    pub fn with_zoom(mut self, across: u32, down: u32) -> Self {
        self.zoom = Some((across.clamp(1, 1024), down.clamp(1, 1024)));
        self
    }

    /// What is behind the tiles.
    pub fn with_paper(mut self, paper: Paper) -> Self {
        self.paper = paper;
        self
    }

    /// About how wide the picture may be: what does not fit into a row goes on below it.
    pub fn with_most_width(mut self, pixels: u32) -> Self {
        self.most_width = pixels;
        self
    }

    /// Rows and columns of the largest tile, each at least one.
    fn largest(&self) -> (u32, u32) {
        let tiles = || self.rows.iter().flat_map(|(_, tiles)| tiles);
        let side = |of: fn(&Tile) -> usize| tiles().map(of).max().unwrap_or(1).clamp(1, 1 << 20) as u32;
        (side(Tile::rows), side(Tile::cols))
    }

    /// Rows of at most `most` tiles; the name stands at the first part of a row.
    fn lines(&self, most: usize) -> Vec<(&str, &[Tile])> {
        let mut lines = Vec::new();
        for (name, tiles) in &self.rows {
            for (part, tiles) in tiles.chunks(most.max(1)).enumerate() {
                lines.push((if part == 0 { name.as_str() } else { "" }, tiles));
            }
        }
        lines
    }

    /// The picture.
    ///
    /// # Errors
    ///
    /// If it would be far too large.
    pub fn draw(&self) -> Result<RgbImage, ReportError> {
        let (rows, cols) = self.largest();
        let zoom = self.zoom.unwrap_or_else(|| zoom(cols, rows));
        let cell = (cols * zoom.0 + GAP, rows * zoom.1 + GAP);
        let names = labels::widest(self.rows.iter().map(|(name, _)| name)).min(MOST_NAME).ceil() as u32;
        let left = if names > 0 { names + 3 * GAP } else { GAP };
        let top = if self.columns.is_empty() { GAP } else { 5 * GAP };
        let lines = self.lines((self.most_width / cell.0) as usize);
        let across = lines.iter().map(|(_, tiles)| tiles.len()).max().unwrap_or(0) as u64;
        let width = u64::from(left) + across * u64::from(cell.0);
        let height = u64::from(top) + lines.len() as u64 * u64::from(cell.1);
        if width.saturating_mul(height) > MOST_PIXELS || width.max(height) > 1 << 20 {
            return Err(ReportError::Size { width, height });
        }
        let mut image = RgbImage::from_pixel(width as u32, height as u32, self.paper.colour());
        let shared = spread(self.rows.iter().flat_map(|(_, tiles)| tiles).flat_map(|tile| &tile.values));
        let mut words = Vec::new();
        for ((name, tiles), top) in lines.iter().zip((top..).step_by(cell.1 as usize)) {
            words.push(Label {
                x: (2 * GAP).into(),
                y: f64::from(top) + f64::from(cell.1 - GAP) / 2.0,
                text: text::fitted(name, labels::SIZE, MOST_NAME),
                centred: false,
            });
            for (tile, left) in tiles.iter().zip((left..).step_by(cell.0 as usize)) {
                let room = |all: u32, own: usize, zoom: u32| (all - GAP - own as u32 * zoom) / 2;
                let corner = (left + room(cell.0, tile.cols, zoom.0), top + room(cell.1, tile.rows, zoom.1));
                self.place(&mut image, tile, shared, corner, zoom);
            }
        }
        for (name, left) in self.columns.iter().zip((left..).step_by(cell.0 as usize)) {
            let text = text::fitted(name, labels::SIZE, cell.0.into());
            let x = f64::from(left) + f64::from(cell.0 - GAP) / 2.0;
            words.push(Label { x, y: f64::from(top) / 2.0, text, centred: true });
        }
        labels::write(&mut image, &words, self.paper.ink())?;
        Ok(image)
    }

    fn place(&self, image: &mut RgbImage, tile: &Tile, shared: (f32, f32), at: (u32, u32), zoom: (u32, u32)) {
        let (low, high) = self.range.ends(tile, shared);
        for (row, values) in tile.values.chunks_exact(tile.cols.max(1)).enumerate() {
            for (col, &value) in values.iter().enumerate() {
                let colour = self.colours.of(value, low, high);
                for y in 0..zoom.1 {
                    for x in 0..zoom.0 {
                        image.put_pixel(
                            at.0 + col as u32 * zoom.0 + x,
                            at.1 + row as u32 * zoom.1 + y,
                            colour,
                        );
                    }
                }
            }
        }
    }
}

/// How many pixels an entry takes, across and down: alike for what may be an image.
fn zoom(width: u32, height: u32) -> (u32, u32) {
    let one = |side: u32| (WANTED_SIDE / side).max(1);
    if width > 4 * height || height > 4 * width {
        return (one(width), one(height));
    }
    let both = one(width.max(height));
    (both, both)
}

/// What a matrix layer looks at: the tiles U₍ᵢ₎ V₍ⱼ₎ᵀ of the first `most` columns of both maps, a row for each i.
///
/// A hidden unit (i, j) of Y = UᵀXV is the product of the input with this tile, entry by entry.
pub fn outer_products(row_map: &Tile, col_map: &Tile, most: usize) -> Grid {
    let count = |map: &Tile| map.cols.min(most);
    let mut grid = Grid::new(Colours::Signed).with_columns((1..=count(col_map)).map(|j| format!("v{j}")));
    for i in 0..count(row_map) {
        let down = row_map.column(i);
        let tiles = (0..count(col_map)).map(|j| Tile::outer(&down, &col_map.column(j)));
        grid = grid.with_row(format!("u{}", i + 1), tiles);
    }
    grid
}

//! Grids of tiles.

use image::{Rgb, RgbImage};

use super::colormap::percentiles;
use super::{ColorRange, Colormap, Tile};
use crate::ReportError;
use crate::color::ColorRole;
use crate::layout::{ellipsize, widest};
use crate::raster::{MAX_PIXELS, draw_over};
use crate::svg::{Drawing, Label};

/// Pixels between tiles.
const GAP: u32 = 5;
/// Default side of a tile, approximately.
const SIDE: u32 = 56;
/// Row names are cut at this width.
const MAX_NAME: f64 = 240.0;
/// Font size of the names.
const NAME_SIZE: f64 = 12.0;
/// Backgrounds that differ from both ends of the colormap.
const DARK: Rgb<u8> = Rgb([38, 50, 66]);
const LIGHT: Rgb<u8> = Rgb([206, 212, 221]);

/// Matrices as small pictures in rows, with optional names of rows and columns.
///
/// Tiles of different sizes are centred in equal cells.
///
/// ```
/// use matnet_report::picture::{Colormap, Grid, Tile, png};
///
/// let tile = Tile::new(2, 2, [0.0, 0.3, 0.6, 1.0])?;
/// let image = Grid::new(Colormap::Gray).with_row("one", [tile]).with_zoom(10, 10).draw()?;
/// assert!(png(&image)?.starts_with(b"\x89PNG"));
/// # Ok::<(), matnet_report::ReportError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Grid {
    rows: Vec<(String, Vec<Tile>)>,
    columns: Vec<String>,
    colormap: Colormap,
    range: ColorRange,
    zoom: Option<(u32, u32)>,
    max_width: u32,
}

impl Grid {
    /// A grid without tiles. The background is light for a diverging colormap and dark for others.
    pub fn new(colormap: Colormap) -> Self {
        let (rows, columns) = (Vec::new(), Vec::new());
        Self { rows, columns, colormap, range: ColorRange::PerTile, zoom: None, max_width: u32::MAX }
    }

    /// Adds a row; its name may be empty.
    pub fn with_row(mut self, name: impl Into<String>, tiles: impl IntoIterator<Item = Tile>) -> Self {
        self.rows.push((name.into(), tiles.into_iter().collect()));
        self
    }

    /// Names above the columns.
    pub fn with_columns(mut self, names: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.columns = names.into_iter().map(Into::into).collect();
        self
    }

    /// The numbers that have the first and the last colour; by default each tile has its own range.
    pub fn with_range(mut self, range: ColorRange) -> Self {
        self.range = range;
        self
    }

    /// Width and height of an entry in pixels; by default chosen by the size of the tiles.
    pub fn with_zoom(mut self, across: u32, down: u32) -> Self {
        self.zoom = Some((across.clamp(1, 1024), down.clamp(1, 1024)));
        self
    }

    /// Approximate largest width of the picture: rows that do not fit are wrapped.
    pub fn with_max_width(mut self, pixels: u32) -> Self {
        self.max_width = pixels;
        self
    }

    /// Rows and columns of the largest tile, each at least one.
    fn largest(&self) -> (u32, u32) {
        let tiles = || self.rows.iter().flat_map(|(_, tiles)| tiles);
        let side = |of: fn(&Tile) -> usize| tiles().map(of).max().unwrap_or(1).clamp(1, 1 << 20) as u32;
        (side(Tile::rows), side(Tile::cols))
    }

    /// Rows wrapped after `most` tiles; the name is at the first part of a row.
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
    /// If the picture would have too many pixels.
    pub fn draw(&self) -> Result<RgbImage, ReportError> {
        let (rows, cols) = self.largest();
        let zoom = self.zoom.unwrap_or_else(|| zoom(cols, rows));
        let cell = (cols * zoom.0 + GAP, rows * zoom.1 + GAP);
        let names = widest(self.rows.iter().map(|(name, _)| name), NAME_SIZE).min(MAX_NAME).ceil() as u32;
        let left = if names > 0 { names + 3 * GAP } else { GAP };
        let top = if self.columns.is_empty() { GAP } else { 5 * GAP };
        let lines = self.lines((self.max_width / cell.0) as usize);
        let across = lines.iter().map(|(_, tiles)| tiles.len()).max().unwrap_or(0) as u64;
        let width = u64::from(left) + across * u64::from(cell.0);
        let height = u64::from(top) + lines.len() as u64 * u64::from(cell.1);
        if width.saturating_mul(height) > MAX_PIXELS || width.max(height) > 1 << 20 {
            return Err(ReportError::ImageSize { width, height });
        }
        let (background, role) = match self.colormap {
            Colormap::Diverging => (LIGHT, ColorRole::Text),
            _ => (DARK, ColorRole::OnColor),
        };
        let mut image = RgbImage::from_pixel(width as u32, height as u32, background);
        let shared = percentiles(self.rows.iter().flat_map(|(_, tiles)| tiles).flat_map(|tile| &tile.values));
        let mut labels = Vec::new();
        // Names are vertically centred at `y`.
        let label = |x: f64, y: f64, name: &str, room: f64| {
            let name = ellipsize(name, NAME_SIZE, room);
            Label::new(x, y + NAME_SIZE * 0.36, name).size(NAME_SIZE).role(role)
        };
        for ((name, tiles), top) in lines.iter().zip((top..).step_by(cell.1 as usize)) {
            if !name.is_empty() {
                let middle = f64::from(top) + f64::from(cell.1 - GAP) / 2.0;
                labels.push(label((2 * GAP).into(), middle, name, MAX_NAME));
            }
            for (tile, left) in tiles.iter().zip((left..).step_by(cell.0 as usize)) {
                let room = |all: u32, own: usize, zoom: u32| (all - GAP - own as u32 * zoom) / 2;
                let corner = (left + room(cell.0, tile.cols, zoom.0), top + room(cell.1, tile.rows, zoom.1));
                self.place(&mut image, tile, shared, corner, zoom);
            }
        }
        for (name, left) in self.columns.iter().zip((left..).step_by(cell.0 as usize)) {
            let middle = f64::from(left) + f64::from(cell.0 - GAP) / 2.0;
            labels.push(label(middle, f64::from(top) / 2.0, name, cell.0.into()).middle());
        }
        if !labels.is_empty() {
            let mut drawing = Drawing::transparent(image.width(), image.height(), "");
            labels.iter().for_each(|label| drawing.write(label));
            draw_over(&drawing.finish(), 1.0, &mut image)?;
        }
        Ok(image)
    }

    fn place(&self, image: &mut RgbImage, tile: &Tile, shared: (f32, f32), at: (u32, u32), zoom: (u32, u32)) {
        let (low, high) = self.range.ends(tile, shared);
        for (row, values) in tile.values.chunks_exact(tile.cols.max(1)).enumerate() {
            for (col, &value) in values.iter().enumerate() {
                let color = self.colormap.color(value, low, high);
                for y in 0..zoom.1 {
                    for x in 0..zoom.0 {
                        image.put_pixel(
                            at.0 + col as u32 * zoom.0 + x,
                            at.1 + row as u32 * zoom.1 + y,
                            color,
                        );
                    }
                }
            }
        }
    }
}

/// Width and height of an entry in pixels: equal, unless the tile is far from square.
fn zoom(width: u32, height: u32) -> (u32, u32) {
    let one = |side: u32| (SIDE / side).max(1);
    if width > 4 * height || height > 4 * width {
        return (one(width), one(height));
    }
    let both = one(width.max(height));
    (both, both)
}

/// The receptive fields of a matrix layer Y = UᵀXV: the outer products U₍ᵢ₎ V₍ⱼ₎ᵀ of the first `max_columns` columns of
/// both maps, one row for each i.
///
/// Hidden unit (i, j) is the sum of the input weighted by this tile.
pub fn outer_products(row_map: &Tile, col_map: &Tile, max_columns: usize) -> Grid {
    let count = |map: &Tile| map.cols.min(max_columns);
    let mut grid = Grid::new(Colormap::Diverging).with_columns((1..=count(col_map)).map(|j| format!("v{j}")));
    for i in 0..count(row_map) {
        let down = row_map.column(i);
        let tiles = (0..count(col_map)).map(|j| Tile::outer(&down, &col_map.column(j)));
        grid = grid.with_row(format!("u{}", i + 1), tiles);
    }
    grid
}

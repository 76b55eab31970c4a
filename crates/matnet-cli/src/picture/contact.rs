//! The first samples as small pictures side by side.
//!
//! Matrices with classes: a row for each class, in the order of the labels. Sequences: a row of frames for each sample;
//! but one whose matrices have only a few entries is one picture, entry × time.

use image::{Rgb, RgbImage};
use matnet_data::{Array, Samples, Target};

use super::{INK, PAPER, letters};

/// Rows of a sheet at most.
const MOST_ROWS: usize = 20;
/// Rows of a sheet without classes.
const PLAIN_ROWS: usize = 6;
/// Pixels between pictures.
const GAP: u32 = 4;
/// Rows and columns of a small picture at most.
const MOST_SIDE: usize = 512;
/// A sheet is about so wide at most; longer rows are wrapped.
const MOST_WIDTH: u32 = 1200;
/// About how large a small picture is drawn.
const WANTED_SIDE: u32 = 56;
/// Matrices of at most so many entries are drawn as a column of their sequence.
const FEW_ENTRIES: usize = 16;

/// One grey picture.
struct Tile {
    width: u32,
    height: u32,
    grey: Vec<u8>,
}

impl Tile {
    /// A matrix as a picture; of a very large one only every second, third, … row and column.
    fn new(pixels: &[f32], height: usize, width: usize, as_they_are: bool) -> Self {
        let step = |side: usize| side.div_ceil(MOST_SIDE).max(1);
        let (down, across) = (step(height), step(width));
        let kept: Vec<f32> = pixels
            .chunks_exact(width.max(1))
            .step_by(down)
            .flat_map(|row| row.iter().step_by(across).copied())
            .collect();
        let (width, height) = (width.div_ceil(across) as u32, height.div_ceil(down) as u32);
        Self { width, height, grey: grey(&kept, as_they_are) }
    }
}

/// Pictures that belong together.
struct Row {
    label: String,
    tiles: Vec<Tile>,
}

/// The sheet: `per_row` samples (or frames) in each row, with the name of the class.
pub fn sheet(samples: &Samples, per_row: usize) -> RgbImage {
    let rows = rows(samples, per_row);
    let (width, height) = side(&rows);
    let zoom = zoom(width, height);
    let names = rows.iter().map(|row| letters::width(&row.label, 1)).max().unwrap_or(0).min(240);
    let left = if names > 0 { names + 2 * GAP } else { GAP };
    let per_line = (MOST_WIDTH / (width * zoom.0 + GAP)).max(1) as usize;
    draw(&wrapped(rows, per_line), left, zoom)
}

/// Rows of at most `per_line` pictures; what does not fit goes on below, without the name.
fn wrapped(rows: Vec<Row>, per_line: usize) -> Vec<Row> {
    let mut lines = Vec::new();
    for Row { mut label, tiles } in rows {
        let mut tiles = tiles.into_iter().peekable();
        while tiles.peek().is_some() {
            let line = tiles.by_ref().take(per_line).collect();
            lines.push(Row { label: std::mem::take(&mut label), tiles: line });
        }
    }
    lines
}

/// Ten small pictures at most, five in a row, for a quick look.
pub fn teaser(samples: &Samples) -> RgbImage {
    let mut rows = rows(samples, 10);
    let mut tiles = Vec::new();
    let wanted = rows.iter().map(|row| row.tiles.len()).sum::<usize>().min(10);
    // The first of each class, then the second of each, and so on; of sequences the frames of the first.
    let by_class = samples.inputs.shape().len() == 3 || is_flat(&samples.inputs);
    while tiles.len() < wanted {
        for row in &mut rows {
            let take = if by_class { 1 } else { 10 };
            for _ in 0..take.min(row.tiles.len()).min(wanted - tiles.len()) {
                tiles.push(row.tiles.remove(0));
            }
        }
    }
    let mut grid: Vec<Row> = Vec::new();
    for (place, tile) in tiles.into_iter().enumerate() {
        if place % 5 == 0 {
            grid.push(Row { label: String::new(), tiles: Vec::new() });
        }
        if let Some(row) = grid.last_mut() {
            row.tiles.push(tile);
        }
    }
    let (width, height) = side(&grid);
    // Long strips would vanish when they are shrunk to the terminal's width.
    let zoom = if height * 4 < width { (1, (width / 4 / height.max(1)).max(1)) } else { (1, 1) };
    draw(&grid, GAP, zoom)
}

/// Whether a sequence is drawn as one picture.
fn is_flat(inputs: &Array) -> bool {
    matches!(inputs.shape(), [_, _, rows, cols] if rows * cols <= FEW_ENTRIES)
}

fn rows(samples: &Samples, per_row: usize) -> Vec<Row> {
    let inputs = &samples.inputs;
    let whole_scale = inputs.data().iter().all(|x| (0.0..=1.0).contains(x));
    let &[_, .., height, width] = inputs.shape() else { return Vec::new() };
    let frame = height * width;
    let tile = |pixels: &[f32], height, width| Tile::new(pixels, height, width, whole_scale);
    let (strips, picture): (bool, Box<dyn Fn(usize) -> Tile>) = match inputs.shape() {
        &[_, time, ..] if inputs.shape().len() == 4 && is_flat(inputs) => (
            false,
            Box::new(move |sample| {
                let steps = inputs.sample(sample);
                let turned: Vec<f32> = (0..frame)
                    .flat_map(|entry| (0..time).map(move |step| steps[step * frame + entry]))
                    .collect();
                tile(&turned, frame, time)
            }),
        ),
        shape => (shape.len() == 4, Box::new(|sample| tile(inputs.sample(sample), height, width))),
    };
    let strip = |sample: usize| {
        let frames: Vec<&[f32]> = inputs.sample(sample).chunks_exact(frame.max(1)).collect();
        let shown = frames.len().min(per_row.max(1));
        (0..shown).map(|i| tile(frames[i * frames.len() / shown], height, width)).collect()
    };
    let pictures = |members: &[usize]| -> Vec<Tile> {
        match (strips, members) {
            (true, [first, ..]) => strip(*first),
            _ => members.iter().take(per_row).map(|&sample| picture(sample)).collect(),
        }
    };
    match &samples.target {
        Target::Classes { labels, names } if !names.is_empty() => {
            let mut members = vec![Vec::new(); names.len()];
            for (sample, &label) in labels.iter().enumerate().take(inputs.len()) {
                if let Some(members) = members.get_mut(label as usize) {
                    members.push(sample);
                }
            }
            let shown = names.iter().zip(&members).filter(|(_, members)| !members.is_empty()).take(MOST_ROWS);
            shown.map(|(name, members)| Row { label: name.clone(), tiles: pictures(members) }).collect()
        }
        _ => {
            let all: Vec<usize> = (0..inputs.len()).collect();
            let each = if strips { 1 } else { per_row.max(1) };
            let row = |members: &[usize]| Row { label: String::new(), tiles: pictures(members) };
            all.chunks(each).take(PLAIN_ROWS).map(row).collect()
        }
    }
}

/// Numbers between 0 and 1 as they are; others stretched so that all but the most extreme fit.
fn grey(pixels: &[f32], as_they_are: bool) -> Vec<u8> {
    let (mut low, mut high) = (0.0, 1.0);
    if !as_they_are {
        let mut sorted: Vec<f32> = pixels.iter().copied().filter(|x| x.is_finite()).collect();
        sorted.sort_unstable_by(f32::total_cmp);
        let at =
            |part: usize| sorted.get(sorted.len().saturating_sub(1) * part / 100).copied().unwrap_or(0.0);
        (low, high) = (at(1), at(99));
    }
    let room = if high > low { high - low } else { 1.0 };
    pixels.iter().map(|x| ((x - low) / room * 255.0).clamp(0.0, 255.0) as u8).collect()
}

fn side(rows: &[Row]) -> (u32, u32) {
    let tile = rows.iter().flat_map(|row| &row.tiles).next();
    tile.map_or((1, 1), |tile| (tile.width.max(1), tile.height.max(1)))
}

/// How many pixels a number takes, across and down: alike for what may be an image.
fn zoom(width: u32, height: u32) -> (u32, u32) {
    let one = |side: u32| (WANTED_SIDE / side).max(1);
    if width > 4 * height || height > 4 * width {
        return (one(width), one(height));
    }
    let both = one(width.max(height));
    (both, both)
}

fn draw(rows: &[Row], left: u32, zoom: (u32, u32)) -> RgbImage {
    let (width, height) = side(rows);
    let cell = (width * zoom.0 + GAP, height * zoom.1 + GAP);
    let columns = rows.iter().map(|row| row.tiles.len()).max().unwrap_or(0) as u32;
    let size = (left + columns * cell.0, GAP + rows.len() as u32 * cell.1);
    let mut image = RgbImage::from_pixel(size.0.max(1), size.1.max(1), PAPER);
    for (row, top) in rows.iter().zip((GAP..).step_by(cell.1 as usize)) {
        let middle = top + (cell.1 - GAP).saturating_sub(letters::SIDE) / 2;
        letters::write(&mut image, GAP, middle, 1, INK, &fitted(&row.label, left));
        for (tile, left) in row.tiles.iter().zip((left..).step_by(cell.0 as usize)) {
            for y in 0..height * zoom.1 {
                for x in 0..width * zoom.0 {
                    let place = (y / zoom.1 * tile.width + x / zoom.0) as usize;
                    let level = tile.grey.get(place).copied().unwrap_or(0);
                    image.put_pixel(left + x, top + y, Rgb([level; 3]));
                }
            }
        }
    }
    image
}

/// As much of a name as fits before the first picture.
fn fitted(label: &str, left: u32) -> String {
    label.chars().take((left.saturating_sub(2 * GAP) / letters::SIDE) as usize).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn samples(shape: &[usize], labels: Option<Vec<u32>>) -> Samples {
        let count = shape.iter().product();
        let target = match labels {
            Some(labels) => Target::Classes { labels, names: vec!["a".into(), "bb".into()] },
            None => Target::None,
        };
        let inputs = Array::new(shape, (0..count).map(|i| i as f32).collect()).unwrap();
        Samples { inputs, target, groups: vec![], group_names: vec![] }
    }

    #[test]
    fn rows_follow_the_labels() {
        let sheet = rows(&samples(&[4, 3, 2], Some(vec![1, 0, 1, 1])), 2);
        let sizes: Vec<(&str, usize)> =
            sheet.iter().map(|row| (row.label.as_str(), row.tiles.len())).collect();
        assert_eq!(sizes, [("a", 1), ("bb", 2)]);
    }

    #[test]
    fn sequences_are_strips_or_one_picture() {
        let strips = rows(&samples(&[3, 40, 5, 5], None), 8);
        assert_eq!((strips.len(), strips[0].tiles.len(), strips[0].tiles[0].height), (3, 8, 5));
        let flat = rows(&samples(&[3, 40, 2, 3], None), 8);
        assert_eq!((flat.len(), flat[0].tiles.len()), (1, 3));
        assert_eq!((flat[0].tiles[0].height, flat[0].tiles[0].width), (6, 40));
    }

    #[test]
    fn long_rows_are_wrapped() {
        let lines = wrapped(rows(&samples(&[5, 3, 2], Some(vec![0, 0, 0, 1, 0])), 9), 3);
        let sizes: Vec<(&str, usize)> =
            lines.iter().map(|row| (row.label.as_str(), row.tiles.len())).collect();
        assert_eq!(sizes, [("a", 3), ("", 1), ("bb", 1)]);
    }

    #[test]
    fn odd_shapes_make_a_picture_all_the_same() {
        for shape in [
            &[0, 3, 3][..],
            &[2, 0, 3],
            &[2, 3, 0],
            &[1, 1, 1],
            &[2, 0, 4, 4],
            &[1, 1, 500],
            &[4],
            &[2, 2],
            &[1, 3, 5000],
        ] {
            for labels in [None, Some(vec![0; shape[0]])] {
                let samples = samples(shape, labels);
                assert!(sheet(&samples, 3).width() > 0);
                assert!(teaser(&samples).height() > 0);
            }
        }
        let mut odd = samples(&[1, 2, 2], None);
        odd.inputs.data_mut()[0] = f32::NAN;
        assert!(sheet(&odd, 1).width() > 0);
    }
}

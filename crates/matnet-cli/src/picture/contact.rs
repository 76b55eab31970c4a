//! The first samples as small pictures side by side.
//!
//! Matrices with classes: a row for each class, in the order of the labels. Sequences: a row of frames for each sample;
//! but one whose matrices have only a few entries is one picture, entry × time.

use image::RgbImage;
use matnet_data::{Array, Samples, Target};
use matnet_report::picture::{ColorRange, Colormap, Grid, Tile};

use crate::failure::Failure;

/// Rows of a sheet at most.
pub const MAX_ROWS: usize = 20;
/// Rows of a sheet without classes.
const PLAIN_ROWS: usize = 6;
/// Rows and columns of a small picture at most.
const MAX_SIDE: usize = 512;
/// A sheet is about so wide at most; longer rows are wrapped.
const MAX_WIDTH: u32 = 1200;
/// Matrices of at most so many entries are drawn as a column of their sequence.
const FEW_ENTRIES: usize = 16;

/// Pictures that belong together.
struct Row {
    label: String,
    tiles: Vec<Tile>,
}

/// The sheet: `per_row` samples (or frames) in each row, with the name of the class.
pub fn sheet(samples: &Samples, per_row: usize) -> Result<RgbImage, Failure> {
    let rows = rows(samples, per_row).into_iter();
    let grid = rows.fold(grid(samples), |grid, row| grid.with_row(row.label, row.tiles));
    Ok(grid.with_max_width(MAX_WIDTH).draw()?)
}

/// Numbers between 0 and 1 are drawn as they are; others are stretched so that all but the most extreme fit.
fn grid(samples: &Samples) -> Grid {
    let as_they_are = samples.inputs.data().iter().all(|x| (0.0..=1.0).contains(x));
    Grid::new(Colormap::Gray).with_range(if as_they_are {
        ColorRange::Fixed(0.0, 1.0)
    } else {
        ColorRange::PerTile
    })
}

/// Ten small pictures at most, five in a row, for a quick look.
pub fn teaser(samples: &Samples) -> Result<RgbImage, Failure> {
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
    let (width, height) = tiles.first().map_or((1, 1), |tile| (tile.cols().max(1), tile.rows().max(1)));
    // Long strips would vanish when they are shrunk to the terminal's width.
    let down = if height * 4 < width { (width / 4 / height).max(1) } else { 1 };
    let lines = tiles.chunks(5).map(<[Tile]>::to_vec);
    let grid = lines.fold(grid(samples), |grid, line| grid.with_row("", line));
    Ok(grid.with_zoom(1, down as u32).draw()?)
}

/// Whether a sequence is drawn as one picture.
fn is_flat(inputs: &Array) -> bool {
    matches!(inputs.shape(), [_, _, rows, cols] if rows * cols <= FEW_ENTRIES)
}

fn rows(samples: &Samples, per_row: usize) -> Vec<Row> {
    let inputs = &samples.inputs;
    let &[_, .., height, width] = inputs.shape() else { return Vec::new() };
    let frame = height * width;
    let tile = |pixels: &[f32], height, width| match Tile::new(height, width, pixels) {
        Ok(tile) => tile.subsampled(MAX_SIDE),
        Err(_) => Tile::empty(),
    };
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
            let shown = names.iter().zip(&members).filter(|(_, members)| !members.is_empty()).take(MAX_ROWS);
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
        Samples::new(inputs, target)
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
        assert_eq!((strips.len(), strips[0].tiles.len(), strips[0].tiles[0].rows()), (3, 8, 5));
        let flat = rows(&samples(&[3, 40, 2, 3], None), 8);
        assert_eq!((flat.len(), flat[0].tiles.len()), (1, 3));
        assert_eq!((flat[0].tiles[0].rows(), flat[0].tiles[0].cols()), (6, 40));
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
                assert!(sheet(&samples, 3).unwrap().width() > 0);
                assert!(teaser(&samples).unwrap().height() > 0);
            }
        }
        let mut odd = samples(&[1, 2, 2], None);
        odd.inputs.data_mut()[0] = f32::NAN;
        assert!(sheet(&odd, 1).unwrap().width() > 0);
    }
}

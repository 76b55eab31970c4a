//! The frames that follow, as they are and as the nets predict them.

use std::time::Duration;

use image::RgbImage;
use matnet::Mode;
use matnet_report::picture::{Colours, Grid, Range, Tile, gif, png};
use matnet_train::data::Part;
use matnet_train::model::Output;

use super::{Content, Drawn, Stage, Wish};
use crate::commands::report::pictures::split;
use crate::failure::Failure;

/// Test sequences that are shown.
const SHOWN: usize = 3;
/// Frames of the past that a strip begins with.
const PAST: usize = 3;
/// Films run at this pace.
const BETWEEN_FRAMES: Duration = Duration::from_millis(160);

/// For every sequence that is shown: what was given, what follows, and the predictions by label.
struct Sequence {
    past: Vec<Tile>,
    truth: Vec<Tile>,
    predicted: Vec<(String, Vec<Tile>)>,
}

/// Strips and a film for every column.
pub fn draw(stage: &mut Stage, wish: &Wish) -> Result<Vec<Vec<Drawn>>, Failure> {
    let mut groups = Vec::new();
    for (column, data) in stage.columns(wish) {
        let mut sequences: Vec<Sequence> = Vec::new();
        for (row, net) in stage.rows(wish) {
            let Some((task, model)) = stage.trained(column, row)? else { continue };
            let all = task.data.part(Part::Test);
            let shown = &all[..all.len().min(SHOWN)];
            if shown.is_empty() {
                continue;
            }
            let given = model.forward(task.input(shown, stage.device), &mut Mode::Eval);
            let Output::Matrices(given) = given else { continue };
            let (given, wanted) = (split(task.finished(given))?, split(task.wanted(shown, stage.device))?);
            let each = given.len() / shown.len();
            if sequences.is_empty() {
                let [rows, cols] = task.data.sides();
                let past = task.steps().unwrap_or(0);
                for (&example, truth) in shown.iter().zip(wanted.chunks(each)) {
                    let numbers = task.data.inputs.sample(example);
                    let frames = numbers.chunks(rows * cols).take(past);
                    let past = frames.map(|frame| Tile::new(rows, cols, frame)).collect::<Result<_, _>>()?;
                    sequences.push(Sequence { past, truth: truth.to_vec(), predicted: Vec::new() });
                }
            }
            for (sequence, frames) in sequences.iter_mut().zip(given.chunks(each)) {
                sequence.predicted.push((net.label.clone(), frames.to_vec()));
            }
        }
        for (number, sequence) in sequences.iter().enumerate() {
            groups.push(vec![Drawn {
                name: stage.name(&[&data.name, "frames", &(number + 1).to_string()]),
                caption: format!(
                    "{}: the last {PAST} frames given, then the frames that follow and those predicted (first seed).",
                    data.label
                ),
                content: Content::Png(png(&strip(sequence)?.draw()?)?),
            }]);
        }
        if let Some(sequence) = sequences.first() {
            groups.push(vec![Drawn {
                name: stage.name(&[&data.name, "film"]),
                caption: format!(
                    "{}, in motion: the same sequences. The first {} frames are given.",
                    data.label,
                    sequence.past.len()
                ),
                content: Content::Gif(gif(&film(&sequences)?, BETWEEN_FRAMES)?),
            }]);
        }
    }
    Ok(groups)
}

/// The end of the past and what follows, with their numbers, a row for each net.
fn strip(sequence: &Sequence) -> Result<Grid, Failure> {
    let first = sequence.past.len().saturating_sub(PAST);
    let past = &sequence.past[first..];
    let nothing = vec![Tile::new(0, 0, [])?; past.len()];
    let mut grid = Grid::new(Colours::Grey)
        .with_range(Range::Fixed(0.0, 1.0))
        .with_columns((first..sequence.past.len() + sequence.truth.len()).map(|at| (at + 1).to_string()))
        .with_row("truth", past.iter().chain(&sequence.truth).cloned());
    for (name, frames) in &sequence.predicted {
        grid = grid.with_row(name, nothing.iter().chain(frames).cloned());
    }
    Ok(grid)
}

/// All frames one after another: a column for each sequence, a row for the truth and for every net.
fn film(sequences: &[Sequence]) -> Result<Vec<RgbImage>, Failure> {
    let Some(first) = sequences.first() else { return Ok(Vec::new()) };
    let past = first.past.len();
    let mut images = Vec::new();
    for step in 0..past + first.truth.len() {
        let frame = |sequence: &Sequence, frames: &[Tile]| match step.checked_sub(past) {
            None => sequence.past[step].clone(),
            Some(at) => frames[at].clone(),
        };
        let truth = sequences.iter().map(|sequence| frame(sequence, &sequence.truth));
        let mut grid = Grid::new(Colours::Grey)
            .with_range(Range::Fixed(0.0, 1.0))
            .with_columns(sequences.iter().map(|_| if step < past { "given" } else { "follows" }))
            .with_row("truth", truth);
        for (net, (name, _)) in first.predicted.iter().enumerate() {
            let tiles = sequences.iter().map(|sequence| frame(sequence, &sequence.predicted[net].1));
            grid = grid.with_row(name, tiles);
        }
        images.push(grid.draw()?);
    }
    Ok(images)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A row for the truth and for the net, a column for each of two sequences, and the net's frames only after the past.
    #[test]
    fn a_film_has_a_row_for_each_net_and_says_so() {
        let tile = |value: f32| Tile::new(64, 64, vec![value; 64 * 64]).unwrap();
        let sequence = || Sequence {
            past: vec![tile(0.0); 2],
            truth: vec![tile(0.0)],
            predicted: vec![("vector RNN 200".to_owned(), vec![tile(1.0)])],
        };
        let images = film(&[sequence(), sequence()]).unwrap();
        assert_eq!(images.len(), 3);
        let plain = Grid::new(Colours::Grey).with_row("", [tile(0.0), tile(0.0)]).draw().unwrap();
        let room = images[0].width() - plain.width();
        assert!(room > 60, "there is room for the names: {room}");
        let white = |image: &RgbImage| {
            image.enumerate_pixels().filter(|(x, _, pixel)| *x > room && pixel.0 == [255; 3]).count()
        };
        assert_eq!((white(&images[1]), white(&images[2])), (0, 2 * 64 * 64));
        let letters = |image: &RgbImage| {
            let paper = *image.get_pixel(0, 0);
            image.enumerate_pixels().filter(|(x, _, pixel)| *x < room && **pixel != paper).count()
        };
        assert!(letters(&images[0]) > 200, "truth and the net are named");
    }
}

//! The frames that follow, as they are and as the nets predict them.

use std::time::Duration;

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
                content: Content::Png(png(&strip(sequence).draw()?)?),
            }]);
        }
        if let Some(sequence) = sequences.first() {
            let names: Vec<&str> = sequence.predicted.iter().map(|(name, _)| name.as_str()).collect();
            groups.push(vec![Drawn {
                name: stage.name(&[&data.name, "film"]),
                caption: format!(
                    "{}, in motion: the truth, then {}. The first {} frames are given.",
                    data.label,
                    names.join(", "),
                    sequence.past.len()
                ),
                content: Content::Gif(film(sequence)?),
            }]);
        }
    }
    Ok(groups)
}

/// The end of the past and what follows, a row for each net.
fn strip(sequence: &Sequence) -> Grid {
    let past = &sequence.past[sequence.past.len().saturating_sub(PAST)..];
    let blank = past.iter().map(|tile| tile.scaled(0.0));
    let mut grid = Grid::new(Colours::Grey)
        .with_range(Range::Fixed(0.0, 1.0))
        .with_row("truth", past.iter().chain(&sequence.truth).cloned());
    for (name, frames) in &sequence.predicted {
        grid = grid.with_row(name, blank.clone().chain(frames.iter().cloned()));
    }
    grid
}

/// All frames one after another, the truth and every net side by side.
fn film(sequence: &Sequence) -> Result<Vec<u8>, Failure> {
    let mut images = Vec::new();
    for step in 0..sequence.past.len() + sequence.truth.len() {
        let frame = |frames: &[Tile]| match step.checked_sub(sequence.past.len()) {
            None => sequence.past[step].clone(),
            Some(at) => frames[at].clone(),
        };
        let tiles = sequence.predicted.iter().map(|(_, frames)| frame(frames));
        let grid = Grid::new(Colours::Grey)
            .with_range(Range::Fixed(0.0, 1.0))
            .with_row("", [frame(&sequence.truth)].into_iter().chain(tiles));
        images.push(grid.draw()?);
    }
    Ok(gif(&images, BETWEEN_FRAMES)?)
}

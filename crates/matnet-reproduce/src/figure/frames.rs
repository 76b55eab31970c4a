//! The frames that follow a sequence: the target and the predictions of the nets.

use std::time::Duration;

use image::RgbImage;
use matnet_cli::failure::Failure;
use matnet_report::ReportError;
use matnet_report::picture::{ColorRange, Colormap, Grid, Tile, gif, png};
use matnet_train::draw::tiles;
use matnet_train::tasks::samples::SampleData;
use matnet_train::{Model, Split};

use super::{Canvas, Content, Drawn, FigureSpec, Groups};

/// Test sequences that are shown.
const SHOWN: usize = 3;
/// Input frames at the beginning of a strip.
const INPUT_FRAMES: usize = 3;
/// The delay between the frames of an animation.
const DELAY: Duration = Duration::from_millis(160);

/// A test sequence: the input, the target, and the predictions by label.
struct Sequence {
    input: Vec<Tile>,
    target: Vec<Tile>,
    predicted: Vec<(String, Vec<Tile>)>,
}

/// Strips and an animation for every column.
pub fn draw(canvas: &mut Canvas, figure: &FigureSpec) -> Result<Groups, Failure> {
    let mut groups = Vec::new();
    for (column, data) in canvas.columns(figure) {
        let mut sequences: Vec<Sequence> = Vec::new();
        for (row, net) in canvas.rows(figure) {
            if let Some(model) = canvas.model(column, row)? {
                predict(&*model, &net.label, &mut sequences)?;
            }
        }
        for (number, sequence) in sequences.iter().enumerate() {
            groups.push(vec![Drawn {
                name: canvas.name(&[&data.name, "frames", &(number + 1).to_string()]),
                caption: format!(
                    "{}: the last {INPUT_FRAMES} input frames, then the target and the predictions (first seed).",
                    data.label
                ),
                content: Content::Png(png(&strip(sequence).draw()?)?),
            }]);
        }
        if let Some(sequence) = sequences.first() {
            groups.push(vec![Drawn {
                name: canvas.name(&[&data.name, "animation"]),
                caption: format!(
                    "{}: the same sequences as an animation. The first {} frames are the input.",
                    data.label,
                    sequence.input.len()
                ),
                content: Content::Gif(gif(&animation(&sequences)?, DELAY)?),
            }]);
        }
    }
    Ok(groups)
}

/// Adds the predictions of a net; does nothing if it does not predict sequences.
fn predict(model: &dyn Model, label: &str, sequences: &mut Vec<Sequence>) -> Result<(), Failure> {
    let all = model.examples(Split::Test);
    let shown = &all[..all.len().min(SHOWN)];
    let Some(data) = model.dataset().downcast_ref::<SampleData>() else { return Ok(()) };
    let (Some(time), Some(matrices)) = (data.time(), model.matrices(shown)?) else { return Ok(()) };
    let (target, output) = (tiles(&matrices.target)?, tiles(&matrices.output)?);
    let steps = output.len() / shown.len();
    if sequences.is_empty() {
        let [rows, cols] = data.sides();
        let context = data.config.context_length.unwrap_or(time);
        for (&example, target) in shown.iter().zip(target.chunks(steps)) {
            let values = data.inputs.sample(example);
            let frames = values.chunks(rows * cols).take(context);
            let input = frames.map(|frame| Tile::new(rows, cols, frame)).collect::<Result<_, _>>()?;
            sequences.push(Sequence { input, target: target.to_vec(), predicted: Vec::new() });
        }
    }
    for (sequence, frames) in sequences.iter_mut().zip(output.chunks(steps)) {
        sequence.predicted.push((label.to_owned(), frames.to_vec()));
    }
    Ok(())
}

fn grid(names: impl IntoIterator<Item = impl Into<String>>) -> Grid {
    Grid::new(Colormap::Gray).with_range(ColorRange::Fixed(0.0, 1.0)).with_columns(names)
}

/// The end of the input and the frames that follow, with their numbers; a row for each net.
fn strip(sequence: &Sequence) -> Grid {
    let first = sequence.input.len().saturating_sub(INPUT_FRAMES);
    let input = &sequence.input[first..];
    let empty = vec![Tile::empty(); input.len()];
    let numbers = first..sequence.input.len() + sequence.target.len();
    let mut grid = grid(numbers.map(|at| (at + 1).to_string()))
        .with_row("target", input.iter().chain(&sequence.target).cloned());
    for (name, frames) in &sequence.predicted {
        grid = grid.with_row(name, empty.iter().chain(frames).cloned());
    }
    grid
}

/// All frames one after another: a column for each sequence, a row for the target and for every net.
fn animation(sequences: &[Sequence]) -> Result<Vec<RgbImage>, ReportError> {
    let Some(first) = sequences.first() else { return Ok(Vec::new()) };
    let context = first.input.len();
    let mut images = Vec::new();
    for step in 0..context + first.target.len() {
        let frame = |sequence: &Sequence, frames: &[Tile]| match step.checked_sub(context) {
            None => sequence.input[step].clone(),
            Some(at) => frames[at].clone(),
        };
        let name = if step < context { "input" } else { "predicted" };
        let target = sequences.iter().map(|sequence| frame(sequence, &sequence.target));
        let mut grid = grid(sequences.iter().map(|_| name)).with_row("target", target);
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

    /// A row for the target and for the net, a column for each of two sequences, and the net's frames only after the input.
    #[test]
    fn an_animation_has_a_named_row_for_each_net() {
        let tile = |value: f32| Tile::new(64, 64, vec![value; 64 * 64]).unwrap();
        let sequence = || Sequence {
            input: vec![tile(0.0); 2],
            target: vec![tile(0.0)],
            predicted: vec![("vector RNN 200".to_owned(), vec![tile(1.0)])],
        };
        let images = animation(&[sequence(), sequence()]).unwrap();
        assert_eq!(images.len(), 3);
        let plain = Grid::new(Colormap::Gray).with_row("", [tile(0.0), tile(0.0)]).draw().unwrap();
        let room = images[0].width() - plain.width();
        assert!(room > 60, "there is room for the names: {room}");
        let white = |image: &RgbImage| {
            image.enumerate_pixels().filter(|(x, _, pixel)| *x > room && pixel.0 == [255; 3]).count()
        };
        assert_eq!((white(&images[1]), white(&images[2])), (0, 2 * 64 * 64));
        let letters = |image: &RgbImage| {
            let background = *image.get_pixel(0, 0);
            image.enumerate_pixels().filter(|(x, _, pixel)| *x < room && **pixel != background).count()
        };
        assert!(letters(&images[0]) > 200, "target and net are named");
    }
}

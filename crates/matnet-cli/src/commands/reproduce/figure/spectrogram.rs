//! A trial as it goes into the nets: the spectrograms of four channels.

use matnet_data::Target;
use matnet_report::picture::{Colours, Grid, Tile, png};
use matnet_train::data::Part;

use super::{Content, Drawn, Stage, Wish};
use crate::failure::Failure;

/// Channels that are shown.
const SHOWN: usize = 4;

/// The first test trial of the first column that belongs to the last class: with UCI's names, of an alcoholic subject.
pub fn draw(stage: &mut Stage, wish: &Wish) -> Result<Vec<Vec<Drawn>>, Failure> {
    let Some(&(column, data)) = stage.columns(wish).first() else { return Ok(Vec::new()) };
    let Some((task, _)) = stage.trained(column, 0)? else { return Ok(Vec::new()) };
    let (Some(time), Target::Classes { labels, names }) = (task.data.time(), &task.data.target) else {
        return Ok(Vec::new());
    };
    let wanted = names.iter().position(|name| name.contains("alcoholic")).unwrap_or(names.len() - 1);
    let trial = task.data.part(Part::Test).iter().find(|&&trial| labels[trial] as usize == wanted);
    let Some(&trial) = trial else { return Ok(Vec::new()) };
    let [channels, bins] = task.data.sides();
    let numbers = task.data.inputs.sample(trial);
    let mut tiles = Vec::new();
    let shown: Vec<usize> = (0..channels).step_by((channels / SHOWN).max(1)).take(SHOWN).collect();
    for &channel in &shown {
        // Time from left to right, high pitches on top.
        let at = |bin: usize, step: usize| numbers[(step * channels + channel) * bins + bin];
        let turned: Vec<f32> = (0..bins)
            .rev()
            .flat_map(|bin| (0..time).map(move |step| (bin, step)))
            .map(|(bin, step)| at(bin, step))
            .collect();
        tiles.push(Tile::new(bins, time, turned)?);
    }
    let grid = Grid::new(Colours::Heat)
        .with_columns(shown.iter().map(|channel| format!("channel {}", channel + 1)))
        .with_row("", tiles)
        .with_zoom(8, 6);
    Ok(vec![vec![Drawn {
        name: stage.name(&["spectrogram"]),
        caption: format!(
            "{}: spectrograms of four channels of a trial of class {}; time from left to right, {time} windows in one second; frequency from 4 Hz below to 128 Hz on top; brighter is stronger.",
            data.label, names[wanted]
        ),
        content: Content::Png(png(&grid.draw()?)?),
    }]])
}

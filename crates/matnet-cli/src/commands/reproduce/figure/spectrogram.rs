//! A trial as it goes into the nets: the spectrograms of four channels.

use matnet_data::Target;
use matnet_report::chart::HeatMap;
use matnet_train::data::Part;

use super::{Content, Drawn, Stage, Wish};
use crate::failure::Failure;

/// Channels that are shown.
const SHOWN: usize = 4;
/// Bins and windows from one name on an axis to the next.
const BETWEEN: usize = 4;

/// The first test trial of the first column that belongs to the last class: with UCI's names, of an alcoholic subject.
pub fn draw(stage: &mut Stage, wish: &Wish) -> Result<Vec<Vec<Drawn>>, Failure> {
    let Some(&(column, data)) = stage.columns(wish).first() else { return Ok(Vec::new()) };
    let Some((task, _)) = stage.trained(column, 0)? else { return Ok(Vec::new()) };
    let (Some(time), Some(stft)) = (task.data.time(), task.data.preprocess.spectrogram) else {
        return Ok(Vec::new());
    };
    let Target::Classes { labels, names } = &task.data.target else { return Ok(Vec::new()) };
    let wanted = names.iter().position(|name| name.contains("alcoholic")).unwrap_or(names.len() - 1);
    let trial = task.data.part(Part::Test).iter().find(|&&trial| labels[trial] as usize == wanted);
    let Some(&trial) = trial else { return Ok(Vec::new()) };
    let [channels, bins] = task.data.sides();
    let numbers = task.data.inputs.sample(trial);
    let least = numbers.iter().copied().fold(f32::INFINITY, f32::min);
    let sometimes = |place: usize, name: f64, digits: usize| match place % BETWEEN {
        0 => format!("{name:.digits$}"),
        _ => String::new(),
    };
    // A window is named by its middle. The bin of frequency 0 was left out.
    let hop = (stft.window - stft.overlap) as f64;
    let windows = (0..time)
        .map(|step| sometimes(step, (step as f64 * hop + stft.window as f64 / 2.0) / stft.sample_rate, 2));
    let pitches =
        (1..=bins).rev().map(|bin| sometimes(bin, bin as f64 * stft.sample_rate / stft.window as f64, 0));
    let mut group = Vec::new();
    for channel in (0..channels).step_by((channels / SHOWN).max(1)).take(SHOWN) {
        let strength =
            |bin: usize, step: usize| f64::from(numbers[(step * channels + channel) * bins + bin] - least);
        let rows = (0..bins).rev().map(|bin| (0..time).map(|step| strength(bin, step)).collect());
        let map = HeatMap::new(format!("channel {}", channel + 1), pitches.clone(), windows.clone(), rows)
            .with_axes("time (s)", "frequency (Hz)")
            .without_numbers();
        group.push(Drawn {
            name: stage.name(&["spectrogram", &(channel + 1).to_string()]),
            caption: format!(
                "{}: channel {} of a trial of class {}, as the nets read it; the weakest of all channels is 0.",
                data.label,
                channel + 1,
                names[wanted]
            ),
            content: Content::Chart(map.svg()),
        });
    }
    Ok(vec![group])
}

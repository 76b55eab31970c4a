//! Trials as they go into the nets: the spectrograms of some channels, a row for each class.

use matnet_data::transform::stft::Value;
use matnet_data::{Array, Target};
use matnet_report::chart::HeatPanels;
use matnet_train::data::Part;
use matnet_train::task::SampleTask;

use super::{Content, Drawn, Stage, Wish};
use crate::failure::Failure;

/// Channels that are shown.
const SHOWN: usize = 4;
/// Decibels from the strongest number down to the first colour.
const DEPTH: f64 = 60.0;

/// The first test trial of every class, of the first column, on one scale.
pub fn draw(stage: &mut Stage, wish: &Wish) -> Result<Vec<Vec<Drawn>>, Failure> {
    let Some(&(column, data)) = stage.columns(wish).first() else { return Ok(Vec::new()) };
    for (row, _) in stage.rows(wish) {
        let Some((task, _)) = stage.trained(column, row)? else { continue };
        let Some(panels) = panels(&task)? else { continue };
        return Ok(vec![vec![Drawn {
            name: stage.name(&["spectrogram"]),
            caption: format!(
                "{}: {SHOWN} of the channels of a test trial of each class, before they are scaled. Decibels below the strongest number shown.",
                data.label
            ),
            content: Content::Chart(panels.svg()),
        }]]);
    }
    Ok(Vec::new())
}

/// Time goes to the right, frequency up.
fn panels(task: &SampleTask) -> Result<Option<HeatPanels>, Failure> {
    let (Some(time), Some(stft)) = (task.data.time(), task.data.preprocess.spectrogram) else {
        return Ok(None);
    };
    let Target::Classes { labels, names } = &task.data.target else { return Ok(None) };
    let [channels, bins] = task.data.sides();
    let shown: Vec<usize> = (0..channels).step_by((channels / SHOWN).max(1)).take(SHOWN).collect();
    let factor = if stft.value == Value::Density { 10.0 } else { 20.0 };
    let mut rows = Vec::new();
    for (class, name) in names.iter().enumerate() {
        let test = task.data.part(Part::Test);
        let Some(&trial) = test.iter().find(|&&trial| labels[trial] as usize == class) else { continue };
        let mut trial = Array::new([1, time, channels, bins], task.data.inputs.sample(trial).to_vec())
            .map_err(matnet_train::Error::from)?;
        if let Some(scaler) = &task.data.preprocess.scaler {
            scaler.undo(&mut trial).map_err(matnet_train::Error::from)?;
        }
        let strength = |channel: usize, bin: usize, step: usize| {
            factor * f64::from(trial.data()[(step * channels + channel) * bins + bin]).max(0.0).log10()
        };
        let panel = |&channel: &usize| {
            let line = |bin| (0..time).map(|step| strength(channel, bin, step)).collect();
            (format!("{name}, channel {}", channel + 1), (0..bins).map(line).collect())
        };
        rows.push(shown.iter().map(panel).collect::<Vec<(String, Vec<Vec<f64>>)>>());
    }
    let numbers = rows.iter().flatten().flat_map(|(_, lines)| lines).flatten();
    let strongest = numbers.copied().fold(f64::NEG_INFINITY, f64::max);
    // A window is named by its middle. The bin of frequency 0 was left out.
    let (hop, window, rate) = ((stft.window - stft.overlap) as f64, stft.window as f64, stft.sample_rate);
    let seconds = ((time - 1) as f64 * hop + window) / rate;
    let quarters = || (1..=4).map(|quarter| f64::from(quarter) / 4.0);
    let across = quarters()
        .map(|part| ((part * seconds * rate - window / 2.0) / hop, format!("{:.2}", part * seconds)));
    let up = quarters().map(|part| (part * window / 2.0 - 1.0, format!("{:.0}", part * rate / 2.0)));
    let mut panels = HeatPanels::new("Spectrograms", "strength (dB)", (-DEPTH, 0.0))
        .with_axes("time (s)", "frequency (Hz)")
        .with_ticks(across, up);
    for row in rows {
        panels = panels.with_row(row.into_iter().map(|(name, lines)| {
            let below = |line: Vec<f64>| line.into_iter().map(|number| number - strongest).collect();
            (name, lines.into_iter().map(below).collect())
        }));
    }
    Ok(Some(panels))
}

#[cfg(test)]
mod tests {
    use matnet_data::cache::Cache;
    use matnet_train::config::Document;
    use matnet_train::run::Plan;

    use super::*;

    #[test]
    fn both_classes_are_shown_on_one_scale() {
        let config = "
[data]
source = 'simulated-eeg'
limit = 40
spectrogram = { window = 64, overlap = 56 }
scale = 'standardise'
[model]
kind = 'sequence-classifier'
form = 'vector'
cell = 'lstm'
hidden = [2]
output = 1
";
        let plan = Plan::new(&Document::parse(config).unwrap(), &Cache::new("none is needed")).unwrap();
        let Plan::Samples(work) = plan else { panic!("trials are samples") };
        let svg = panels(&work.task).unwrap().unwrap().svg();
        for name in work.task.data.class_names() {
            for channel in [1, 17, 33, 49] {
                assert!(svg.as_str().contains(&format!(">{name}, channel {channel}<")), "{name} {channel}");
            }
        }
        for said in [">strength (dB)<", ">−60<", ">0.50<", ">64<"] {
            assert!(svg.as_str().contains(said), "{said}");
        }
        // The strongest number of all has the last colour, in the bar and in one of the panels only.
        assert_eq!(svg.as_str().matches("#fcf6b2").count(), 2);
    }
}

//! Spectrograms that go into the nets: some channels, a row for each class.

use matnet_cli::failure::Failure;
use matnet_data::transform::stft::StftValue;
use matnet_data::{Array, Target};
use matnet_report::chart::HeatPanels;
use matnet_train::Split;
use matnet_train::task::TaskData;
use matnet_train::tasks::samples::SampleData;

use super::{Canvas, Content, Drawn, FigureSpec, Groups};

/// Channels that are shown.
const SHOWN: usize = 4;
/// Decibels from the maximum down to the first colour.
const RANGE: f64 = 60.0;

/// The first test trial of every class, of the first column, on one scale.
pub fn draw(canvas: &mut Canvas, figure: &FigureSpec) -> Result<Groups, Failure> {
    let Some(&(column, data)) = canvas.columns(figure).first() else { return Ok(Vec::new()) };
    for (row, _) in canvas.rows(figure) {
        let Some(model) = canvas.model(column, row)? else { continue };
        let Some(samples) = model.dataset().downcast_ref::<SampleData>() else { continue };
        let Some(panels) = panels(samples)? else { continue };
        return Ok(vec![vec![Drawn {
            name: canvas.name(&["spectrogram"]),
            caption: format!(
                "{}: {SHOWN} channels of a test trial of each class, before scaling. Decibels relative to the maximum shown.",
                data.label
            ),
            content: Content::Chart(panels.svg()),
        }]]);
    }
    Ok(Vec::new())
}

/// Time goes to the right, frequency up.
fn panels(data: &SampleData) -> Result<Option<HeatPanels>, Failure> {
    let (Some(time), Some(stft)) = (data.time(), data.preprocess.spectrogram) else {
        return Ok(None);
    };
    let Target::Classes { labels, names } = &data.target else { return Ok(None) };
    let [channels, bins] = data.sides();
    let shown: Vec<usize> = (0..channels).step_by((channels / SHOWN).max(1)).take(SHOWN).collect();
    let factor = if stft.value == StftValue::Density { 10.0 } else { 20.0 };
    let mut rows = Vec::new();
    for (class, name) in names.iter().enumerate() {
        let test = data.split(Split::Test);
        let Some(&trial) = test.iter().find(|&&trial| labels[trial] as usize == class) else { continue };
        let mut trial = Array::new([1, time, channels, bins], data.inputs.sample(trial).to_vec())?;
        if let Some(scaler) = &data.preprocess.scaler {
            scaler.apply_inverse(&mut trial)?;
        }
        let decibels = |channel: usize, bin: usize, step: usize| {
            factor * f64::from(trial.data()[(step * channels + channel) * bins + bin]).max(0.0).log10()
        };
        let panel = |&channel: &usize| {
            let line = |bin| (0..time).map(|step| decibels(channel, bin, step)).collect();
            (format!("{name}, ch. {}", channel + 1), (0..bins).map(line).collect())
        };
        rows.push(shown.iter().map(panel).collect::<Vec<(String, Vec<Vec<f64>>)>>());
    }
    let numbers = rows.iter().flatten().flat_map(|(_, lines)| lines).flatten();
    let max = numbers.copied().fold(f64::NEG_INFINITY, f64::max);
    // A window is at its middle. The bin of frequency 0 is left out of the data.
    let (hop, window, rate) = ((stft.window - stft.overlap) as f64, stft.window as f64, stft.sample_rate);
    let seconds = ((time - 1) as f64 * hop + window) / rate;
    let quarters = || (1..=4).map(|quarter| f64::from(quarter) / 4.0);
    let across = quarters()
        .map(|part| ((part * seconds * rate - window / 2.0) / hop, format!("{:.2}", part * seconds)));
    let up = quarters().map(|part| (part * window / 2.0 - 1.0, format!("{:.0}", part * rate / 2.0)));
    let mut panels = HeatPanels::new("Spectrograms", "magnitude (dB)", (-RANGE, 0.0))
        .with_axes("time (s)", "frequency (Hz)")
        .with_ticks(across, up);
    for row in rows {
        panels = panels.with_row(row.into_iter().map(|(name, lines)| {
            let below = |line: Vec<f64>| line.into_iter().map(|number| number - max).collect();
            (name, lines.into_iter().map(below).collect())
        }));
    }
    Ok(Some(panels))
}

#[cfg(test)]
mod tests {
    use matnet_data::catalog::Cache;

    use super::*;

    #[test]
    fn both_classes_are_shown_on_one_scale() {
        let config = "
source = 'simulated-eeg'
limit = 40
spectrogram = { window = 64, overlap = 56 }
scale = 'standardize'
";
        let data = SampleData::load(&toml::from_str(config).unwrap(), &Cache::new("not needed"), 1).unwrap();
        let svg = panels(&data).unwrap().unwrap().svg();
        for name in data.class_names() {
            for channel in [1, 17, 33, 49] {
                assert!(svg.as_str().contains(&format!(">{name}, ch. {channel}<")), "{name} {channel}");
            }
        }
        for text in [">magnitude (dB)<", ">−60<", ">0.50<", ">64<"] {
            assert!(svg.as_str().contains(text), "{text}");
        }
        // The maximum has the last colour, in the colour bar and in one of the panels only.
        assert_eq!(svg.as_str().matches("#fcf6b2").count(), 2);
    }
}

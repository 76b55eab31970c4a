//! Spectrograms as products with constant matrices: cosines and sines under the window.
//!
//! They are computed in 64-bit floats, as matnet does, because a logarithm magnifies the errors of small values.

use std::f64::consts::TAU;
use std::ops::Range;

use matnet_data::transform::mel::LogMel;
use matnet_data::transform::stft::{Stft, StftMean, StftValue};

use crate::Error;
use crate::graph::{Graph, Value};
use crate::proto::Type;

/// A signal cut into frames.
struct Frames {
    /// `[batch, channels, frames, window]`, 64-bit.
    values: Value,
    /// The number of frames of each signal, where lengths differ.
    lengths: Option<Value>,
}

/// How frames are cut.
struct Cut {
    window: usize,
    hop: usize,
    mean: Option<StftMean>,
}

impl Cut {
    /// From signals `[batch, channels, samples]`, or sequences `[batch, samples, rows, cols]` whose entries are channels.
    fn add(&self, graph: &mut Graph, x: &Value, lengths: Option<Value>, axes: usize) -> Frames {
        let x = match axes {
            3 => x.clone(),
            _ => {
                let flat = graph.reshape(x, &[0, 0, -1]);
                graph.transpose(&flat, &[0, 2, 1])
            }
        };
        let samples = graph.side(&x, 2);
        let counts = lengths.as_ref().map(|lengths| {
            let mask = graph.mask(lengths, &samples);
            graph.unsqueeze(&mask, &[1])
        });
        let mut signal = x;
        if let Some(counts) = &counts {
            let zero = graph.float(0.0);
            signal = graph.choose(counts, &signal, &zero);
        }
        signal = graph.cast(&signal, Type::Double);
        if self.mean == Some(StftMean::OfSignal) {
            let number = match &lengths {
                Some(lengths) => graph.reshape(lengths, &[-1, 1, 1]),
                None => samples.clone(),
            };
            let (sum, number) = (graph.sum(&signal, &[2]), graph.cast(&number, Type::Double));
            let mean = graph.div(&sum, &number);
            signal = graph.sub(&signal, &mean);
            if let Some(counts) = &counts {
                let counts = graph.cast(counts, Type::Double);
                signal = graph.mul(&signal, &counts);
            }
        }
        let count = self.count(graph, &samples);
        let (steps, hop) = (graph.range(&count), graph.int(self.hop as i64));
        let starts = graph.mul(&steps, &hop);
        let starts = graph.unsqueeze(&starts, &[1]);
        let within: Vec<usize> = (0..self.window).collect();
        let within = graph.indices("within_window", &within);
        let places = graph.add(&starts, &within);
        let mut values = graph.gather(&signal, 2, &places);
        if self.mean == Some(StftMean::OfWindow) {
            let window = graph.int(self.window as i64);
            let number = match &lengths {
                // A signal shorter than a window fills a part of it.
                Some(lengths) => {
                    let number = graph.op("Min", &[lengths, &window], vec![]);
                    graph.reshape(&number, &[-1, 1, 1, 1])
                }
                None => window,
            };
            let (sum, number) = (graph.sum(&values, &[3]), graph.cast(&number, Type::Double));
            let mean = graph.div(&sum, &number);
            values = graph.sub(&values, &mean);
        }
        let lengths = lengths.map(|lengths| self.count(graph, &lengths));
        Frames { values, lengths }
    }

    /// The number of frames in so many samples, one at least.
    fn count(&self, graph: &mut Graph, samples: &Value) -> Value {
        let (window, hop) = (graph.int(self.window as i64), graph.int(self.hop as i64));
        let (zero, one) = (graph.int(0), graph.int(1));
        let room = graph.sub(samples, &window);
        let room = graph.op("Max", &[&room, &zero], vec![]);
        let more = graph.div(&room, &hop);
        graph.add(&more, &one)
    }
}

/// |Σ wₛ xₛ exp(−2πi f s / n)|² for the frequencies `bins`: `[batch, channels, frames, bins]`.
fn add_power(graph: &mut Graph, frames: &Value, weights: &[f64], bins: Range<usize>) -> Value {
    let n = weights.len();
    let part = |wave: fn(f64) -> f64| -> Vec<f64> {
        let entry = |sample: usize, bin: usize| {
            // The product is reduced first, so that the angle keeps all its digits.
            weights[sample] * wave(TAU * (sample * bin % n) as f64 / n as f64)
        };
        (0..n).flat_map(|sample| bins.clone().map(move |bin| entry(sample, bin))).collect()
    };
    let square = |graph: &mut Graph, name: &str, matrix: Vec<f64>| {
        let matrix = graph.doubles(name, &[n, bins.len()], &matrix);
        let product = graph.matmul(frames, &matrix);
        graph.mul(&product, &product)
    };
    let (cosines, sines) = (part(f64::cos), part(f64::sin));
    let (real, imaginary) = (square(graph, "cosines", cosines), square(graph, "sines", sines));
    graph.add(&real, &imaginary)
}

/// Frames first, then channels, in 32-bit floats.
fn finished(graph: &mut Graph, values: &Value) -> Value {
    let values = graph.cast(values, Type::Float);
    graph.transpose(&values, &[0, 2, 1, 3])
}

/// The short-time Fourier transform.
pub fn add_stft(
    graph: &mut Graph,
    stft: &Stft,
    x: &Value,
    lengths: Option<Value>,
    axes: usize,
) -> (Value, Option<Value>) {
    let cut = Cut { window: stft.window, hop: stft.window - stft.overlap, mean: Some(stft.mean) };
    let Frames { values, lengths } = cut.add(graph, x, lengths, axes);
    // Zero frequency is left out.
    let power = add_power(graph, &values, &stft.weights(), 1..stft.window / 2 + 1);
    let power = match stft.value {
        StftValue::Magnitude => graph.op("Sqrt", &[&power], vec![]),
        StftValue::Density => power,
    };
    let factors = graph.doubles("spectrum_factors", &[stft.window / 2], &stft.factors());
    let values = graph.mul(&power, &factors);
    (finished(graph, &values), lengths)
}

/// The log-mel spectrogram.
pub fn add_log_mel(
    graph: &mut Graph,
    mel: &LogMel,
    x: &Value,
    lengths: Option<Value>,
    axes: usize,
) -> Result<(Value, Option<Value>), Error> {
    let cut = Cut { window: mel.fft_size, hop: mel.hop, mean: None };
    let Frames { values, lengths } = cut.add(graph, x, lengths, axes);
    let bins = mel.fft_size / 2 + 1;
    let power = add_power(graph, &values, &mel.window(), 0..bins);
    let filters = mel.filter_matrix().map_err(matnet_train::Error::Data)?;
    let filters = graph.doubles("mel_filters", &[bins, mel.n_mels], &filters);
    let bands = graph.matmul(&power, &filters);
    let offset = graph.doubles("mel_offset", &[], &[mel.offset]);
    let shifted = graph.add(&bands, &offset);
    let values = graph.op("Log", &[&shifted], vec![]);
    Ok((finished(graph, &values), lengths))
}

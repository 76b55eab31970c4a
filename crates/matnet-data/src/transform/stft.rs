//! Spectrograms: the short-time Fourier transform of the EEG experiment.
//!
//! The paper: Hamming window of 64 samples, 56 of them overlapping, signals "detrended by removing mean
//! values along the time axis", half of the bins of a real signal, zero frequency left out. That makes 25 steps
//! of 64×32 from 64×256 without padding. The paper leaves two things open:
//!
//! - the mean: *signals* are detrended, so the default subtracts each channel's mean over the whole trial before
//!   windowing ([`StftMean::OfSignal`]). SciPy and matplotlib subtract the mean of each window instead
//!   ([`StftMean::OfWindow`]); only the lowest bins differ.
//! - the value: the default is the magnitude, in the unit of the signal ([`StftValue::Magnitude`]). The alternative,
//!   power per hertz as `scipy.signal.spectrogram` returns by default, is [`StftValue::Density`]; its tail is
//!   long enough to saturate the gates of an LSTM unless it is scaled first.
//!
//! Windows are periodic, as SciPy's; all four combinations are tested against SciPy.

use rayon::prelude::*;
use realfft::num_complex::Complex;
use realfft::{RealFftPlanner, RealToComplex};
use std::sync::Arc;

use crate::transform::Channels;
use crate::{Array, Error, Result, memory};

/// Which mean is subtracted before the transform.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum StftMean {
    /// That of each whole signal.
    #[default]
    OfSignal,
    /// That of each window, as SciPy's `detrend="constant"`.
    OfWindow,
}

/// The value of each bin.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum StftValue {
    /// The magnitude, divided by the sum of the window: SciPy's `mode="magnitude", scaling="spectrum"`.
    #[default]
    Magnitude,
    /// Power per hertz of a one-sided spectrum: SciPy's `mode="psd", scaling="density"`.
    Density,
}

/// A short-time Fourier transform with a Hamming window; the default is the paper's.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct Stft {
    /// Samples per window.
    pub window: usize,
    /// Samples that consecutive windows share.
    pub overlap: usize,
    /// Which mean is subtracted.
    pub mean: StftMean,
    /// The value of each bin.
    pub value: StftValue,
    /// Samples per second; only used by [`StftValue::Density`].
    pub sample_rate: f64,
}

impl Default for Stft {
    fn default() -> Self {
        Self {
            window: 64,
            overlap: 56,
            mean: StftMean::OfSignal,
            value: StftValue::Magnitude,
            sample_rate: 256.0,
        }
    }
}

impl Stft {
    /// The number of windows in `samples`, and the number of bins of each.
    pub fn shape(&self, samples: usize) -> Result<(usize, usize)> {
        if self.window < 2 || self.overlap >= self.window {
            return Err(Error::Invalid(format!(
                "window {} with overlap {}: the overlap must be below the window, the window at least 2",
                self.window, self.overlap
            )));
        }
        if !(self.sample_rate > 0.0 && self.sample_rate.is_finite()) {
            return Err(Error::Invalid(format!("sample rate {}: must be above 0", self.sample_rate)));
        }
        if samples < self.window {
            return Err(Error::Invalid(format!("{samples} samples do not fill a window of {}", self.window)));
        }
        Ok(((samples - self.window) / (self.window - self.overlap) + 1, self.window / 2))
    }

    /// Transforms signals `[n, channels, samples]`, or sequences `[n, samples, rows, cols]` with rows × cols channels, to sequences
    /// `[n, time, channels, bins]`.
    pub fn apply(&self, signals: &Array) -> Result<Array> {
        Ok(self.apply_padded(signals, &[])?.0)
    }

    /// As [`Stft::apply`], for signals with these numbers of samples, and with the number of windows of each; empty where `lengths` is.
    /// A signal that is shorter than a window is followed by zeros and gives one. What follows the last window of a signal is 0.
    pub fn apply_padded(&self, signals: &Array, lengths: &[usize]) -> Result<(Array, Vec<usize>)> {
        let channels = Channels::of(signals)?;
        let (_, width) = self.shape(channels.steps)?;
        let (value, factors) = (self.value, self.factors());
        let spectra = Spectra::new(self.weights(), self.window - self.overlap, Some(self.mean));
        spectra.apply(signals, lengths, width, |bins, out| {
            // Zero frequency is left out.
            for ((bin, factor), out) in bins.iter().skip(1).zip(&factors).zip(out) {
                let value = match value {
                    // `norm` guards against overflow that microvolts never reach, at twice the time.
                    StftValue::Magnitude => bin.norm_sqr().sqrt() * factor,
                    StftValue::Density => bin.norm_sqr() * factor,
                };
                *out = value as f32;
            }
        })
    }

    /// What each sample of a window is weighed with.
    pub fn weights(&self) -> Vec<f64> {
        let turn = std::f64::consts::TAU / self.window as f64;
        (0..self.window).map(|i| 0.54 - 0.46 * (turn * i as f64).cos()).collect()
    }

    /// What the magnitude, or the squared magnitude, of each frequency is multiplied with; from the lowest above zero on.
    pub fn factors(&self) -> Vec<f64> {
        let weights = self.weights();
        let bins = 1..=self.window / 2;
        match self.value {
            StftValue::Magnitude => bins.map(|_| 1.0 / weights.iter().sum::<f64>()).collect(),
            StftValue::Density => {
                let scale = 1.0 / (self.sample_rate * weights.iter().map(|w| w * w).sum::<f64>());
                // A one-sided spectrum counts each frequency twice, except the highest of an even window.
                bins.map(|bin| if 2 * bin == self.window { scale } else { 2.0 * scale }).collect()
            }
        }
    }
}

/// A window and its FFT, ready for many signals.
pub(super) struct Spectra {
    fft: Arc<dyn RealToComplex<f64>>,
    window: Vec<f64>,
    hop: usize,
    mean: Option<StftMean>,
}

struct Scratch {
    signal: Vec<f64>,
    piece: Vec<f64>,
    bins: Vec<Complex<f64>>,
    work: Vec<Complex<f64>>,
}

impl Spectra {
    /// Windows start `hop` samples apart; `mean` is subtracted from them.
    pub fn new(window: Vec<f64>, hop: usize, mean: Option<StftMean>) -> Self {
        Self { fft: RealFftPlanner::new().plan_fft_forward(window.len()), window, hop, mean }
    }

    /// The number of windows in `samples` samples; one at least.
    fn count(&self, samples: usize) -> usize {
        samples.saturating_sub(self.window.len()) / self.hop + 1
    }

    /// Transforms signals to sequences `[n, time, channels, width]`; `values` makes the values of a window from its bins, from zero
    /// frequency on. Returns them with their lengths, if there are `lengths`.
    pub fn apply(
        &self,
        signals: &Array,
        lengths: &[usize],
        width: usize,
        values: impl Fn(&[Complex<f64>], &mut [f32]) + Sync,
    ) -> Result<(Array, Vec<usize>)> {
        let channels = Channels::of(signals)?;
        if channels.steps < self.window.len() {
            let (samples, window) = (channels.steps, self.window.len());
            return Err(Error::Invalid(format!("{samples} samples do not fill a window of {window}")));
        }
        let used = channels.used_steps(signals, lengths)?;
        let (trials, steps) = (signals.len(), self.count(channels.steps));
        let size = steps * channels.count * width;
        let mut out = memory::filled(0.0, trials * size, "spectrograms")?;
        if !out.is_empty() {
            out.par_chunks_mut(size).enumerate().for_each_init(
                || self.scratch(),
                |scratch, (trial, out)| {
                    let signal = signals.sample(trial);
                    for channel in 0..channels.count {
                        let samples = (0..used[trial]).map(|step| signal[channels.place(channel, step)]);
                        scratch.signal.clear();
                        scratch.signal.extend(samples.map(f64::from));
                        self.channel(scratch, |step, bins| {
                            values(bins, &mut out[(step * channels.count + channel) * width..][..width]);
                        });
                    }
                },
            );
        }
        let counts = lengths.iter().map(|&length| self.count(length)).collect();
        Ok((Array::new([trials, steps, channels.count, width], out)?, counts))
    }

    fn scratch(&self) -> Scratch {
        Scratch {
            signal: Vec::new(),
            piece: self.fft.make_input_vec(),
            bins: self.fft.make_output_vec(),
            work: self.fft.make_scratch_vec(),
        }
    }

    /// Passes the bins of every window of the signal in `scratch` to `store`.
    fn channel(&self, scratch: &mut Scratch, mut store: impl FnMut(usize, &[Complex<f64>])) {
        let Scratch { signal: whole, piece, bins, work } = scratch;
        if self.mean == Some(StftMean::OfSignal) {
            let mean = average(whole);
            whole.iter_mut().for_each(|x| *x -= mean);
        }
        let length = self.window.len();
        let samples = whole.len();
        if samples < length {
            whole.resize(length, 0.0);
        }
        for (step, part) in whole.windows(length).step_by(self.hop).enumerate() {
            let mean = match self.mean {
                Some(StftMean::OfWindow) => average(&part[..samples.min(length)]),
                _ => 0.0,
            };
            for ((out, x), w) in piece.iter_mut().zip(part).zip(&self.window) {
                *out = (x - mean) * w;
            }
            // This fails only for buffers of the wrong length.
            let done = self.fft.process_with_scratch(piece, bins, work);
            debug_assert!(done.is_ok());
            store(step, bins);
        }
    }
}

fn average(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Values from `peers/stft/make_reference.py`, which uses SciPy.
    const REFERENCE: &str = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/reference/stft.txt"));

    /// A named block of the reference file: `name: numbers…` on one line.
    fn block(name: &str) -> Vec<f32> {
        let line = REFERENCE.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(": ")).unwrap();
        line.split_whitespace().map(|number| number.parse().unwrap()).collect()
    }

    #[test]
    fn equals_scipy_in_every_mode() {
        let signals = Array::new([1, 3, 256], block("signals")).unwrap();
        for (mean, mean_name) in [(StftMean::OfSignal, "signal"), (StftMean::OfWindow, "window")] {
            for (value, value_name) in [(StftValue::Magnitude, "magnitude"), (StftValue::Density, "density")]
            {
                let ours = Stft { mean, value, ..Stft::default() }.apply(&signals).unwrap();
                assert_eq!(ours.shape(), [1, 25, 3, 32]);
                let theirs = block(&format!("{mean_name} {value_name}"));
                assert_eq!(theirs.len(), ours.data().len());
                for (ours, theirs) in ours.data().iter().zip(&theirs) {
                    assert!((ours - theirs).abs() <= 2e-6 * theirs.abs() + 1e-9, "{ours} is not {theirs}");
                }
            }
        }
    }

    #[test]
    fn an_eeg_trial_becomes_25_steps_of_64_by_32() {
        let out = Stft::default().apply(&Array::new([2, 64, 256], vec![1.5; 2 * 64 * 256]).unwrap()).unwrap();
        assert_eq!(out.shape(), [2, 25, 64, 32]);
        assert!(out.data().iter().all(|&x| x.abs() < 1e-12), "a constant has nothing above zero frequency");
    }

    #[test]
    fn sequences_and_padded_signals_have_their_own_windows() {
        let stft = Stft::default();
        let signals = Array::new([1, 3, 256], block("signals")).unwrap();
        let whole = stft.apply(&signals).unwrap();
        // the same as a sequence of 256 matrices 3×1
        let turned = (0..256 * 3).map(|at| signals.data()[at % 3 * 256 + at / 3]).collect();
        let sequence = Array::new([1, 256, 3, 1], turned).unwrap();
        assert_eq!(stft.apply(&sequence).unwrap(), whole);

        let cut = |length: usize| {
            signals.data().chunks(256).flat_map(|row| row[..length].to_vec()).collect::<Vec<f32>>()
        };
        let alone = stft.apply(&Array::new([1, 3, 100], cut(100)).unwrap()).unwrap();
        assert_eq!(alone.shape(), [1, 5, 3, 32]);
        let (padded, counts) = stft.apply_padded(&signals, &[100]).unwrap();
        assert_eq!((padded.shape(), &counts[..]), (&[1, 25, 3, 32][..], &[5][..]));
        let (own, rest) = padded.data().split_at(alone.data().len());
        assert_eq!(own, alone.data(), "a signal gives the same bits alone and padded");
        assert!(rest.iter().all(|&x| x == 0.0));
        assert_eq!(stft.apply_padded(&signals, &[3]).unwrap().1, [1]);
        assert!(stft.apply_padded(&signals, &[257]).is_err());
    }

    #[test]
    fn impossible_sizes_are_refused() {
        let short = Array::new([1, 1, 63], vec![0.0; 63]).unwrap();
        let message = |stft: Stft| stft.apply(&short).unwrap_err().to_string();
        assert_eq!(message(Stft::default()), "63 samples do not fill a window of 64");
        assert_eq!(
            message(Stft { overlap: 64, ..Stft::default() }),
            "window 64 with overlap 64: the overlap must be below the window, the window at least 2"
        );
        let flat = Array::new([63], vec![0.0; 63]).unwrap();
        assert!(Stft::default().apply(&flat).is_err());
        let none = Array::new([0, 64, 256], vec![]).unwrap();
        assert_eq!(Stft::default().apply(&none).unwrap().shape(), [0, 25, 64, 32]);
    }
}

//! Log-mel spectrograms, the usual features of sound.
//!
//! Each frame is the power spectrum of a piece of the signal under a periodic Hann window, summed over triangular bands that are
//! evenly spaced on the mel scale, and its natural logarithm. Frames are not centred: the first starts with the signal, and there are
//! as many as fit. Bands are normalised to unit area. All this is `librosa.feature.melspectrogram` with `center=False`, and is tested
//! against it.

use realfft::num_complex::Complex;

use crate::transform::stft::Spectra;
use crate::{Array, Error, Result};

/// How frequencies become mels.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum MelScale {
    /// Linear up to 1 kHz, logarithmic above: Slaney's, the default of librosa.
    #[default]
    Slaney,
    /// 2595 log₁₀(1 + f / 700): HTK's, the default of torchaudio.
    Htk,
}

/// A log-mel spectrogram.
///
/// | key | default | |
/// |---|---|---|
/// | `sample_rate` | – | samples per second; required |
/// | `n_mels` | 64 | number of bands |
/// | `fft_size` | 1024 | samples per frame |
/// | `hop` | 256 | samples from one frame to the next |
/// | `f_min` | 0 | lowest frequency in hertz |
/// | `f_max` | half of `sample_rate` | highest frequency in hertz |
/// | `mel_scale` | `"slaney"` | or `"htk"` |
/// | `offset` | 1e-6 | added to the power before the logarithm |
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct LogMel {
    /// Samples per second.
    pub sample_rate: f64,
    /// Number of bands.
    #[serde(default = "default_n_mels")]
    pub n_mels: usize,
    /// Samples per frame.
    #[serde(default = "default_fft_size")]
    pub fft_size: usize,
    /// Samples from one frame to the next.
    #[serde(default = "default_hop")]
    pub hop: usize,
    /// Lowest frequency in hertz.
    #[serde(default)]
    pub f_min: f64,
    /// Highest frequency in hertz. Default: half of the sample rate.
    #[serde(default)]
    pub f_max: Option<f64>,
    /// How frequencies become mels.
    #[serde(default)]
    pub mel_scale: MelScale,
    /// Added to the power before the logarithm.
    #[serde(default = "default_offset")]
    pub offset: f64,
}

fn default_n_mels() -> usize {
    64
}

fn default_fft_size() -> usize {
    1024
}

fn default_hop() -> usize {
    256
}

fn default_offset() -> f64 {
    1e-6
}

impl LogMel {
    /// The defaults for signals of this rate.
    pub fn new(sample_rate: f64) -> Self {
        Self {
            sample_rate,
            n_mels: default_n_mels(),
            fft_size: default_fft_size(),
            hop: default_hop(),
            f_min: 0.0,
            f_max: None,
            mel_scale: MelScale::default(),
            offset: default_offset(),
        }
    }

    /// Fails unless every value is possible; the message names the key.
    pub fn check(&self) -> Result<()> {
        self.filters().map(drop)
    }

    /// Transforms signals `[n, channels, samples]`, or sequences `[n, samples, rows, cols]` with rows × cols channels, to sequences
    /// `[n, frames, channels, n_mels]`. Returns them with the number of frames of each; empty where `lengths` is. A signal that is
    /// shorter than a frame is followed by zeros and gives one. What follows the last frame of a signal is 0.
    pub fn apply(&self, signals: &Array, lengths: &[usize]) -> Result<(Array, Vec<usize>)> {
        let filters = self.filters()?;
        let offset = self.offset;
        Spectra::new(self.window(), self.hop, None).apply(signals, lengths, self.n_mels, |bins, out| {
            for (out, filter) in out.iter_mut().zip(&filters) {
                *out = (filter.sum(bins) + offset).ln() as f32;
            }
        })
    }

    /// The window that each frame is weighed with.
    pub fn window(&self) -> Vec<f64> {
        let turn = std::f64::consts::TAU / self.fft_size as f64;
        (0..self.fft_size).map(|i| 0.5 - 0.5 * (turn * i as f64).cos()).collect()
    }

    /// The weight of each frequency, from zero on, in each band: a matrix of `fft_size / 2 + 1` rows and `n_mels` columns.
    pub fn filter_matrix(&self) -> Result<Vec<f64>> {
        let mut matrix = vec![0.0; (self.fft_size / 2 + 1) * self.n_mels];
        for (band, filter) in self.filters()?.into_iter().enumerate() {
            for (bin, weight) in filter.weights.into_iter().enumerate() {
                matrix[(filter.first + bin) * self.n_mels + band] = weight;
            }
        }
        Ok(matrix)
    }

    fn filters(&self) -> Result<Vec<Filter>> {
        let wrong = |what: String| Err(Error::Invalid(what));
        let high = self.f_max.unwrap_or(self.sample_rate / 2.0);
        if !(self.sample_rate > 0.0 && self.sample_rate.is_finite()) {
            return wrong(format!("sample_rate {}: must be above 0", self.sample_rate));
        }
        if self.n_mels == 0 || self.fft_size < 2 || self.hop == 0 {
            let Self { n_mels, fft_size, hop, .. } = self;
            return wrong(format!(
                "n_mels {n_mels}, fft_size {fft_size}, hop {hop}: at least 1, 2 and 1 expected"
            ));
        }
        if !(0.0 <= self.f_min && self.f_min < high && high <= self.sample_rate / 2.0) {
            let (low, half) = (self.f_min, self.sample_rate / 2.0);
            return wrong(format!("f_min {low} and f_max {high}: 0 ≤ f_min < f_max ≤ {half} expected"));
        }
        if !(self.offset > 0.0 && self.offset.is_finite()) {
            return wrong(format!("offset {}: must be above 0", self.offset));
        }
        let (low_mel, high_mel) = (self.mel_scale.to_mel(self.f_min), self.mel_scale.to_mel(high));
        let edge = |at: usize| {
            let share = at as f64 / (self.n_mels + 1) as f64;
            self.mel_scale.to_hertz(low_mel + share * (high_mel - low_mel))
        };
        let filters: Vec<Filter> =
            (0..self.n_mels).map(|band| self.filter([edge(band), edge(band + 1), edge(band + 2)])).collect();
        if let Some(band) = filters.iter().position(|filter| filter.weights.is_empty()) {
            return wrong(format!(
                "n_mels {}: band {band} holds no frequency of fft_size {}; fewer bands, or a larger fft_size, expected",
                self.n_mels, self.fft_size
            ));
        }
        Ok(filters)
    }

    /// The triangle over three frequencies, with area 1.
    fn filter(&self, [left, middle, right]: [f64; 3]) -> Filter {
        let mut filter = Filter { first: 0, weights: Vec::new() };
        for bin in 0..=self.fft_size / 2 {
            let frequency = bin as f64 * self.sample_rate / self.fft_size as f64;
            let rising = (frequency - left) / (middle - left);
            let falling = (right - frequency) / (right - middle);
            let weight = rising.min(falling) * 2.0 / (right - left);
            if weight > 0.0 {
                if filter.weights.is_empty() {
                    filter.first = bin;
                }
                filter.weights.push(weight);
            }
        }
        filter
    }
}

/// The weights of a band, from its first bin on.
struct Filter {
    first: usize,
    weights: Vec<f64>,
}

impl Filter {
    fn sum(&self, bins: &[Complex<f64>]) -> f64 {
        bins[self.first..].iter().zip(&self.weights).map(|(bin, weight)| bin.norm_sqr() * weight).sum()
    }
}

impl MelScale {
    /// Slaney's scale is linear up to this frequency …
    const KNEE_HERTZ: f64 = 1000.0;
    /// … which is this many mels, …
    const KNEE_MELS: f64 = 15.0;
    /// … and from there on 27 mels are a factor of 6.4.
    const MELS_PER_LOG: f64 = 27.0;

    fn to_mel(self, hertz: f64) -> f64 {
        match self {
            Self::Htk => 2595.0 * (1.0 + hertz / 700.0).log10(),
            Self::Slaney if hertz < Self::KNEE_HERTZ => hertz * Self::KNEE_MELS / Self::KNEE_HERTZ,
            Self::Slaney => {
                Self::KNEE_MELS + (hertz / Self::KNEE_HERTZ).ln() * Self::MELS_PER_LOG / 6.4f64.ln()
            }
        }
    }

    fn to_hertz(self, mel: f64) -> f64 {
        match self {
            Self::Htk => 700.0 * (10f64.powf(mel / 2595.0) - 1.0),
            Self::Slaney if mel < Self::KNEE_MELS => mel * Self::KNEE_HERTZ / Self::KNEE_MELS,
            Self::Slaney => {
                Self::KNEE_HERTZ * ((mel - Self::KNEE_MELS) * 6.4f64.ln() / Self::MELS_PER_LOG).exp()
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Values from `peers/mel/make_reference.py`, which uses librosa.
    const REFERENCE: &str = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/reference/mel.txt"));

    /// A named block of the reference file: `name: numbers…` on one line.
    fn block(name: &str) -> Vec<f32> {
        let line = REFERENCE.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(": ")).unwrap();
        line.split_whitespace().map(|number| number.parse().unwrap()).collect()
    }

    fn cases() -> [(&'static str, LogMel); 2] {
        let slaney = LogMel { n_mels: 20, fft_size: 256, hop: 96, ..LogMel::new(8000.0) };
        let htk =
            LogMel { n_mels: 16, f_min: 100.0, f_max: Some(3500.0), mel_scale: MelScale::Htk, ..slaney };
        [("slaney", slaney), ("htk", htk)]
    }

    #[test]
    fn equals_librosa_on_both_scales() {
        let signals = Array::new([1, 2, 900], block("signals")).unwrap();
        for (name, mel) in cases() {
            let (ours, lengths) = mel.apply(&signals, &[]).unwrap();
            assert_eq!((ours.shape(), lengths.len()), (&[1, 7, 2, mel.n_mels][..], 0));
            let theirs = block(name);
            assert_eq!(theirs.len(), ours.data().len());
            for (ours, theirs) in ours.data().iter().zip(&theirs) {
                assert!((ours - theirs).abs() < 1e-4, "{name}: {ours} is not {theirs}");
            }
        }
    }

    #[test]
    fn padding_gives_no_frames() {
        let signals = block("signals");
        let mel = cases()[0].1;
        // the first channel as sequences of 900, 400 and 10 samples
        let (mut padded, lengths) = (vec![0.0; 3 * 900], [900, 400, 10]);
        for (sample, length) in padded.chunks_mut(900).zip(lengths) {
            sample[..length].copy_from_slice(&signals[..length]);
            sample[length..].fill(55.0);
        }
        let sequences = Array::new([3, 900, 1, 1], padded.clone()).unwrap();
        let (frames, found) = mel.apply(&sequences, &lengths).unwrap();
        assert_eq!((frames.shape(), &found[..]), (&[3, 7, 1, 20][..], &[7, 2, 1][..]));
        let rows = Array::new([3, 1, 900], padded).unwrap();
        assert_eq!(mel.apply(&rows, &lengths).unwrap(), (frames.clone(), found));
        for (sample, length) in lengths.into_iter().enumerate().take(2) {
            let alone = Array::new([1, 1, length], signals[..length].to_vec()).unwrap();
            let (alone, _) = mel.apply(&alone, &[]).unwrap();
            let (own, padding) = frames.sample(sample).split_at(alone.data().len());
            assert_eq!(own, alone.data(), "a signal gives the same bits alone and padded");
            assert!(padding.iter().all(|&x| x == 0.0));
        }
    }

    #[test]
    fn scales_go_there_and_back() {
        for scale in [MelScale::Slaney, MelScale::Htk] {
            for hertz in [0.0, 440.0, 1000.0, 7999.0] {
                assert!((scale.to_hertz(scale.to_mel(hertz)) - hertz).abs() < 1e-9 * (1.0 + hertz));
            }
        }
        assert!((MelScale::Htk.to_mel(700.0) - 2595.0 * 2f64.log10()).abs() < 1e-9);
    }

    #[test]
    fn impossible_values_name_their_key() {
        let message = |mel: LogMel| mel.check().unwrap_err().to_string();
        let mel = LogMel::new(8000.0);
        assert_eq!(
            message(LogMel { f_max: Some(5000.0), ..mel }),
            "f_min 0 and f_max 5000: 0 ≤ f_min < f_max ≤ 4000 expected"
        );
        assert_eq!(
            message(LogMel { n_mels: 0, ..mel }),
            "n_mels 0, fft_size 1024, hop 256: at least 1, 2 and 1 expected"
        );
        assert_eq!(message(LogMel::new(0.0)), "sample_rate 0: must be above 0");
        assert_eq!(message(LogMel { offset: 0.0, ..mel }), "offset 0: must be above 0");
        let text = message(LogMel { n_mels: 128, fft_size: 128, ..mel });
        assert!(text.starts_with("n_mels 128: band ") && text.contains("fft_size 128"), "{text}");
        assert!(serde_json::from_str::<LogMel>("{}").is_err(), "the rate is required");
        assert_eq!(serde_json::from_str::<LogMel>(r#"{"sample_rate": 8000}"#).unwrap(), mel);
    }
}

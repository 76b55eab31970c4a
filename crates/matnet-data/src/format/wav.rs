//! Recordings in `.wav` files: 8, 16, 24 and 32-bit integers, and 32-bit floats.

use std::io::BufReader;
use std::path::Path;

use hound::{SampleFormat, WavReader};

use crate::format::bounded::{Input, reserve};
use crate::{Error, Result};

/// A recording.
#[derive(Clone, Debug, PartialEq)]
pub struct Recording {
    /// Samples per second.
    pub sample_rate: u32,
    /// The number of channels.
    pub channels: usize,
    /// All values, step after step, channel after channel; integers are scaled to between -1 and 1.
    pub values: Vec<f32>,
}

/// Reads a `.wav` file, gzipped or not.
pub fn read(path: impl AsRef<Path>) -> Result<Recording> {
    parse(Input::open(path)?)
}

/// Reads `.wav` from a stream.
pub fn parse(input: Input) -> Result<Recording> {
    let name = input.name().to_owned();
    let bad = |error: hound::Error| Error::format(&name, describe(&error));
    let reader = WavReader::new(BufReader::new(input)).map_err(bad)?;
    let spec = reader.spec();
    let mut values = Vec::new();
    let mut push = |value: f32| -> Result<()> {
        reserve(&mut values, 1, &name)?;
        values.push(value);
        Ok(())
    };
    match spec.sample_format {
        SampleFormat::Float => {
            for value in reader.into_samples::<f32>() {
                push(value.map_err(bad)?)?;
            }
        }
        SampleFormat::Int => {
            let unit = f64::from(spec.bits_per_sample.clamp(1, 32) - 1).exp2().recip();
            for value in reader.into_samples::<i32>() {
                push((f64::from(value.map_err(bad)?) * unit) as f32)?;
            }
        }
    }
    let channels = usize::from(spec.channels);
    if channels == 0 || values.is_empty() {
        return Err(Error::format(&name, "holds no samples"));
    }
    if values.len() % channels != 0 {
        return Err(Error::format(&name, format!("ends within a step of {channels} channels")));
    }
    Ok(Recording { sample_rate: spec.sample_rate, channels, values })
}

fn describe(error: &hound::Error) -> String {
    match error {
        // That is what hound makes of the end of a file.
        hound::Error::IoError(error)
            if matches!(error.kind(), std::io::ErrorKind::Other | std::io::ErrorKind::UnexpectedEof) =>
        {
            "is not .wav, or ends too early".to_owned()
        }
        hound::Error::IoError(error) => error.to_string(),
        hound::Error::FormatError(what) => format!("is not a valid .wav: {what}"),
        _ => "is a .wav of a kind that is not supported; 8 to 32-bit integers or 32-bit floats expected"
            .to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use hound::{WavSpec, WavWriter};

    use super::*;

    fn spec(channels: u16, bits_per_sample: u16, sample_format: SampleFormat) -> WavSpec {
        WavSpec { channels, sample_rate: 8000, bits_per_sample, sample_format }
    }

    fn file<T: hound::Sample + Copy>(spec: WavSpec, values: &[T]) -> Vec<u8> {
        let mut out = std::io::Cursor::new(Vec::new());
        let mut writer = WavWriter::new(&mut out, spec).unwrap();
        values.iter().for_each(|&value| writer.write_sample(value).unwrap());
        writer.finalize().unwrap();
        out.into_inner()
    }

    fn parsed(bytes: &[u8]) -> Result<Recording> {
        parse(Input::bytes("t.wav", bytes).unwrap())
    }

    #[test]
    fn every_width_gives_the_same_values() {
        for bits in [8, 16, 24, 32] {
            let half = 1i32 << (bits - 2);
            let found = parsed(&file(spec(1, bits, SampleFormat::Int), &[half, -half, 0])).unwrap();
            assert_eq!((found.sample_rate, found.channels), (8000, 1));
            assert_eq!(found.values, [0.5, -0.5, 0.0], "{bits} bits");
        }
        let found = parsed(&file(spec(2, 32, SampleFormat::Float), &[0.5f32, 0.25, -0.5, 1.0])).unwrap();
        assert_eq!((found.channels, found.values), (2, vec![0.5, 0.25, -0.5, 1.0]));
    }

    #[test]
    fn what_is_no_recording_is_refused() {
        let error = |bytes: &[u8]| parsed(bytes).unwrap_err().to_string();
        assert_eq!(error(b"RIFX1234WAVEfmt "), "t.wav: is not a valid .wav: no RIFF tag found");
        assert_eq!(error(b""), "t.wav: is not .wav, or ends too early");
        let whole = file(spec(1, 16, SampleFormat::Int), &[1i32, 2, 3]);
        assert!(error(&whole[..whole.len() - 1]).starts_with("t.wav: "));
        assert_eq!(error(&file::<i32>(spec(1, 16, SampleFormat::Int), &[])), "t.wav: holds no samples");
    }
}

//! Data of another kind than those of the training are refused: in `data.valid` and `data.test`, in `eval` and `predict`.

mod common;

use std::fs;
use std::path::Path;

use common::run;
use common::stored::{LIMITS, error, ok};
use matnet_data::format::npy::{write_f32, write_i64};
use matnet_data::format::npz::NpzWriter;
use tempfile::TempDir;

/// Two classes of sounds, eight of each, at so many samples per second.
fn sounds(folder: &Path, rate: u32) {
    for sample in 0..16 {
        let class = folder.join(["low", "high"][sample % 2]);
        fs::create_dir_all(&class).unwrap();
        let format = hound::WavSpec {
            channels: 1,
            sample_rate: rate,
            bits_per_sample: 16,
            sample_format: hound::SampleFormat::Int,
        };
        let mut file = hound::WavWriter::create(class.join(format!("{sample}.wav")), format).unwrap();
        for time in 0..512 {
            let hertz = [300.0, 900.0][sample % 2] + 10.0 * sample as f64;
            let phase = std::f64::consts::TAU * hertz * f64::from(time) / f64::from(rate);
            file.write_sample((8000.0 * phase.sin()) as i16).unwrap();
        }
        file.finalize().unwrap();
    }
}

#[test]
fn recordings_have_the_sample_rate_of_the_config_and_of_the_training() {
    let folder = TempDir::new().unwrap();
    let path = folder.path();
    for (name, rate) in [("slow", 8000), ("again", 8000), ("fast", 16000)] {
        sounds(&path.join(name), rate);
    }
    let trained = |data: &str| {
        let net = "[model]\nkind = 'sequence-classifier'\nhidden = [3, 3]\n[train]\nepochs = 1\n";
        fs::write(path.join("c.toml"), format!("[data]\n{data}\n{net}")).unwrap();
        let (code, _, said) = run(path, &["train", "c.toml", "--fresh", "--out", "run"]);
        (code, said)
    };
    let expected = |found: u32, wanted: u32| {
        format!(
            "{found} samples per second; {wanted} expected, the sample rate of the config or of the training data"
        )
    };
    let mel = "log_mel = { sample_rate = 16000, n_mels = 8, fft_size = 128, hop = 64 }";
    let density = "spectrogram = { window = 64, overlap = 32, value = 'density', sample_rate = 16000 }";
    for transform in [mel, density] {
        let (code, said) = trained(&format!("source = 'slow'\n{transform}"));
        assert!(code == 1 && said.contains(&expected(8000, 16000)), "{said}");
        let (code, said) = trained(&format!("source = 'fast'\n{transform}"));
        assert_eq!(code, 0, "{said}");
        let (code, _, said) = run(path, &["eval", "run", "--data", "slow"]);
        assert!(code == 1 && said.contains(&expected(8000, 16000)), "{said}");
    }
    // Without a transform that knows the rate, the training data say it.
    for transform in ["layout = 'sequence'", "spectrogram = { window = 64, overlap = 32 }"] {
        let (code, said) = trained(&format!("source = 'slow'\ntest = 'fast'\n{transform}"));
        assert!(code != 0 && said.contains("data.test: ") && said.contains(&expected(16000, 8000)), "{said}");
        let (code, said) = trained(&format!("source = 'slow'\ntest = 'again'\n{transform}"));
        assert_eq!(code, 0, "{said}");
        for (data, fits) in [("again", true), ("fast", false)] {
            let (code, _, said) = run(path, &["eval", "run", "--data", data]);
            assert!(code == i32::from(!fits) && said.contains(&expected(16000, 8000)) != fits, "{said}");
            let (code, _, said) =
                run(path, &["predict", "run", "--input", data, "--output", "y.npy", "--quiet"]);
            assert!(code == i32::from(!fits) && said.contains(&expected(16000, 8000)) != fits, "{said}");
        }
    }
}

#[test]
fn rows_of_a_forecast_have_the_step_of_the_training() {
    let folder = TempDir::new().unwrap();
    let path = folder.path();
    // A row per hour, per day, and per hour with some hours missing; and times without a unit.
    let table = |name: &str, time: &dyn Fn(usize) -> String| {
        let row = |at: usize| format!("{},{},{}\n", time(at), at % 7, at * 5 % 11);
        let rows: String = (0..80).map(row).collect();
        fs::write(path.join(name), format!("date,a,b\n{rows}")).unwrap();
    };
    let hour = |at: usize| format!("2024-01-{:02} {:02}:00", 1 + at / 24, at % 24);
    table("hours.csv", &hour);
    table("gaps.csv", &|at| hour(at + 5 * (at / 30)));
    table("days.csv", &|at| format!("2024-{:02}-{:02}", 1 + at / 28, 1 + at % 28));
    table("numbers.csv", &|at| at.to_string());
    let text = "[data]\nsource = 'hours.csv'\nwindow = 4\nhorizon = 2\n[model]\nkind = 'seq2seq'\nhidden = [3, 1]\n[train]\nepochs = 1\n";
    fs::write(path.join("c.toml"), text).unwrap();
    let (code, _, said) = run(path, &["train", "c.toml", "--out", "run"]);
    assert_eq!(code, 0, "{said}");
    for (data, fits) in [("gaps.csv", true), ("numbers.csv", true), ("days.csv", false)] {
        for args in [
            &["eval", "run", "--data", data][..],
            &["predict", "run", "--input", data, "--output", "y.npy", "--quiet"],
        ] {
            let (code, _, said) = run(path, args);
            let refused = said.contains(
                "days.csv: in column \"date\" rows follow each other after 1 day, those of the training data after 1 hour",
            );
            assert!(code == i32::from(!fits) && refused != fits, "{args:?}: {said}");
        }
    }
}

/// Thirty sequences of four to eight steps and two classes, padded with zeros; the array of lengths is perhaps left out.
fn sequences(path: &Path, with_lengths: bool) {
    let length = |at: usize| 4 + at * 7 % 5;
    let value = |at: usize, step: usize| match step < length(at) {
        true => (1 + at % 2) as f32 + 0.1 * step as f32,
        false => 0.0,
    };
    let x: Vec<f32> = (0..240).flat_map(|at| [value(at / 8, at % 8); 2]).collect();
    let mut npz = NpzWriter::new(fs::File::create(path).unwrap());
    npz.add("x", |mut out| write_f32(&mut out, &[30, 8, 2, 1], &x)).unwrap();
    let y: Vec<i64> = (0..30).map(|at| at % 2).collect();
    npz.add("y", |mut out| write_i64(&mut out, &[30], &y)).unwrap();
    if with_lengths {
        let lengths: Vec<i64> = (0..30).map(|at| length(at) as i64).collect();
        npz.add("length", |mut out| write_i64(&mut out, &[30], &lengths)).unwrap();
    }
    npz.finish().unwrap();
    write_f32(&mut fs::File::create(path.with_extension("npy")).unwrap(), &[30, 8, 2, 1], &x).unwrap();
    // The same in a folder of arrays, without lengths.
    let folder = path.with_extension("");
    fs::create_dir(&folder).unwrap();
    fs::copy(path.with_extension("npy"), folder.join("x.npy")).unwrap();
    write_i64(&mut fs::File::create(folder.join("y.npy")).unwrap(), &[30], &y).unwrap();
}

#[test]
fn padding_without_lengths_is_told_and_refused_where_the_training_had_lengths() {
    let folder = TempDir::new().unwrap();
    let path = folder.path();
    sequences(&path.join("counted.npz"), true);
    sequences(&path.join("padded.npz"), false);
    let trained = |data: &str| {
        let net = "[model]\nkind = 'sequence-classifier'\nhidden = [3, 1]\n[train]\nepochs = 1\n";
        fs::write(path.join("c.toml"), format!("[data]\n{data}\n{net}")).unwrap();
        let (code, _, said) = run(path, &["train", "c.toml", "--fresh", "--out", "run"]);
        (code, said)
    };
    let predict = |data: &str| {
        run(path, &["predict", "run", "--input", data, "--output", "y.npy", "--quiet", "--batch-size", "1"])
    };
    let note = "data: 24 of 30 sequences end in steps of zeros; if these are padding, an array `length` says";
    let (code, said) = trained("source = 'padded.npz'");
    assert!(code == 0 && said.contains(note), "{said}");
    assert_eq!(predict("padded.npy").0, 0);
    let refused = "end in steps of zeros; those of the training data had different lengths";
    let (code, said) = trained("source = 'counted.npz'\ntest = 'padded.npz'");
    assert!(code != 0 && said.contains("data.test: ") && said.contains(refused), "{said}");
    let (code, said) = trained("source = 'counted.npz'");
    assert!(code == 0 && !said.contains("zeros"), "{said}");
    for (data, fits) in
        [("counted.npz", true), ("padded.npz", false), ("padded.npy", false), ("padded", false)]
    {
        let (code, _, said) = predict(data);
        assert!(code == i32::from(!fits) && said.contains(refused) != fits, "{data}: {said}");
    }
    // Whether they stay in their file or not.
    for (_, above) in LIMITS {
        for data in ["padded.npz", "padded"] {
            let said = error(path, &["eval", "run", "--data", data], above);
            assert!(said.contains(refused), "{data} {above}: {said}");
        }
        assert!(ok(path, &["eval", "run", "--data", "counted.npz"], above).contains("30 examples"));
    }
}

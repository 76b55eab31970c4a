//! Forecasting: windows over one long table, by sequences and by matrices, with missing values and with random changes.

mod common;

use std::path::Path;

use common::{run, same};
use matnet_data::format::npy::{self, write_f32};
use tempfile::TempDir;

fn write(folder: &Path, name: &str, text: &str) {
    std::fs::write(folder.join(name), text).unwrap();
}

fn trained(folder: &Path, args: &[&str]) {
    let (code, _, err) = run(folder, &[&["train", "--quiet"], args].concat());
    assert_eq!(code, 0, "{args:?}: {err}");
}

fn evaluated(folder: &Path, args: &[&str]) -> serde_json::Value {
    let (code, out, err) = run(folder, &[&["eval", "--json"], args].concat());
    assert_eq!(code, 0, "{err}");
    serde_json::from_str(&out).unwrap()
}

/// What `predict` gives for a file.
fn predicted(folder: &Path, run_folder: &str, input: &str) -> matnet_data::Array {
    let (code, _, err) = run(folder, &["predict", run_folder, "--input", input, "--output", "y.npy"]);
    assert_eq!(code, 0, "{err}");
    npy::read(folder.join("y.npy")).unwrap().into_array(Path::new("y")).unwrap()
}

const CONFIG: &str = "
[data]
source = 'series.csv'
window = 16
horizon = 4
scale = 'standardize'
[model]
kind = 'KIND'
hidden = [8, 8]
[train]
epochs = 15
batch_size = 32
learning_rate = 0.01
";

/// Two waves of 600 rows; `gap` says which values are missing.
fn waves(gap: fn(usize, usize) -> bool) -> String {
    let wave = |t: usize| [50.0 + 10.0 * (t as f32 / 5.0).sin(), (t as f32 / 7.0).cos()];
    let field = |t: usize, column: usize| match gap(t, column) {
        true => String::new(),
        false => wave(t)[column].to_string(),
    };
    let rows: String = (0..600).map(|t| format!("{},{}\n", field(t, 0), field(t, 1))).collect();
    format!("a,b\n{rows}")
}

#[test]
fn a_table_is_forecast_by_sequences_and_by_matrices() {
    let folder = TempDir::new().unwrap();
    let folder = folder.path();
    write(folder, "series.csv", &waves(|_, _| false));
    for (kind, normalize) in [("seq2seq", "last"), ("feedforward", "standardize"), ("feedforward", "")] {
        let out = format!("{kind}{normalize}");
        write(folder, "mine.toml", &CONFIG.replace("KIND", kind));
        let set = format!("data.normalize_window={normalize}");
        let set = if normalize.is_empty() { vec![] } else { vec!["--set", &set] };
        trained(folder, &[&["mine.toml", "--out", &out], &set[..]].concat());
        let found = evaluated(folder, &[&out]);
        // A constant forecast has a mean squared error of 1.
        assert!(
            found["mse"].as_f64().unwrap() < 0.35 && found["mae"].as_f64().unwrap() < 0.5,
            "{out}: {found}"
        );
        // 0.2 of 600 rows, of which windows predict 4.
        assert_eq!(found["examples"], 117);
        let forecast = predicted(folder, &out, "series.csv");
        let first: Vec<f32> = forecast.data().iter().step_by(2).copied().collect();
        assert_eq!(first.len(), 4);
        for (step, value) in first.iter().enumerate() {
            let wanted = 50.0 + 10.0 * ((600 + step) as f32 / 5.0).sin();
            assert!((value - wanted).abs() < 8.0, "{out}: {first:?}, {wanted} at step {step}");
        }
    }
}

#[test]
fn missing_values_are_filled_in_windows_and_left_out_of_the_loss() {
    let folder = TempDir::new().unwrap();
    let folder = folder.path();
    write(folder, "series.csv", &waves(|t, column| (t + 3 * column) % 7 == 0));
    for (kind, more) in [
        ("seq2seq", &["data.missing=forward", "data.normalize_window=last"][..]),
        ("feedforward", &["data.missing=mean"]),
        ("feedforward", &["data.missing=forward", "data.missing_mask=true"]),
        ("seq2seq", &["data.missing=zero", "data.missing_mask=true", "data.normalize_window=last"]),
    ] {
        write(folder, "mine.toml", &CONFIG.replace("KIND", kind));
        let (code, _, err) = run(folder, &["train", "-q", "mine.toml", "--out", "refused"]);
        assert!(code != 0 && err.contains("series.csv: row 0 holds NaN; finite numbers expected"), "{err}");
        let set: Vec<&str> = more.iter().flat_map(|set| ["--set", set]).collect();
        trained(folder, &[&["mine.toml", "--out", "x", "--fresh"], &set[..]].concat());
        let found = evaluated(folder, &["x"]);
        // Filled targets would count as errors: these waves are far from their means.
        assert!(found["mse"].as_f64().unwrap() < 0.6, "{kind} {more:?}: {found}");
        // A window is filled by itself, so that one alone gives what it gives in the table.
        let gap = |t: usize, column: usize| (t + 3 * column).is_multiple_of(7);
        let row = |t: usize| {
            let wave = [50.0 + 10.0 * (t as f32 / 5.0).sin(), (t as f32 / 7.0).cos()];
            [0, 1].map(|column| if gap(t, column) { f32::NAN } else { wave[column] })
        };
        let window: Vec<f32> = (584..600).flat_map(row).collect();
        let long: Vec<f32> = (500..600).flat_map(row).collect();
        for (name, rows, values) in [("window.npy", 16, window), ("long.npy", 100, long)] {
            write_f32(&mut std::fs::File::create(folder.join(name)).unwrap(), &[1, rows, 2], &values)
                .unwrap();
        }
        let alone = predicted(folder, "x", "window.npy");
        assert_eq!(alone, predicted(folder, "x", "long.npy"), "{kind} {more:?}");
        assert!(alone.data().iter().all(|x| x.is_finite()));
        assert_eq!(alone.shape()[1..3], [4, 2]);
    }
}

#[test]
fn windows_are_changed_at_random_in_training_alone() {
    let folder = TempDir::new().unwrap();
    let folder = folder.path();
    write(folder, "series.csv", &waves(|_, _| false));
    let changes = "\n[data.augment]\nnoise = 0.05\ntime_mask = 3\nchannel_mask = 1\nmixup = 0.2\n";
    for kind in ["seq2seq", "feedforward"] {
        let config = CONFIG.replace("KIND", kind).replace("epochs = 15", "epochs = 3");
        write(folder, "plain.toml", &config);
        write(folder, "changed.toml", &(config + changes));
        trained(folder, &["plain.toml", "--out", "plain", "--fresh"]);
        for out in ["one", "two"] {
            trained(folder, &["changed.toml", "--out", out, "--fresh"]);
        }
        same(&folder.join("one"), &folder.join("two"));
        let losses = |run: &str| std::fs::read_to_string(folder.join(run).join("metrics.csv")).unwrap();
        assert_ne!(losses("one"), losses("plain"), "{kind}");
        // Evaluation and prediction take windows as they are.
        let [first, again] = [0, 1].map(|_| evaluated(folder, &["one"])["mse"].as_f64().unwrap());
        assert!(first == again && first.is_finite(), "{kind}");
        assert_eq!(predicted(folder, "one", "series.csv"), predicted(folder, "one", "series.csv"));
    }
}

//! The command on a GPU, or on a driver that runs on the CPU; `.ci/gpu` runs it. `MATNET_TEST_DEVICE` names the device, else it
//! is wgpu:0.
#![cfg(any(feature = "cuda", feature = "rocm", feature = "wgpu"))]

mod common;

use std::path::Path;

use common::{SMALL, VOWELS, folder_with, losses, ok, run};

fn device() -> String {
    std::env::var("MATNET_TEST_DEVICE").unwrap_or_else(|_| "wgpu:0".to_owned())
}

/// Sequences of moving digits.
const FRAMES: &str = "
[data]
source = 'moving-digits'
sequences = 40
context_length = 15
split = { valid = 8, test = 8 }
[model]
kind = 'seq2seq'
hidden = [6, 6]
cell = 'lstm'
[train]
epochs = 2
batch_size = 8
grad_clip_norm = 0.5
";

/// Trains on the CPU and on the GPU; gives the largest relative difference of a loss.
fn largest_difference(config: &str, more: &[&str]) -> f64 {
    let (_guard, folder) = folder_with(config);
    let gpu = device();
    for (out, device) in [("cpu", "flex"), ("gpu", gpu.as_str())] {
        ok(&folder, &[&["train", "digits.toml", "--out", out, "--device", device], more].concat());
    }
    apart(&folder, ["cpu", "gpu"])
}

/// The largest relative difference of a loss of two runs.
fn apart(folder: &Path, runs: [&str; 2]) -> f64 {
    let [cpu, gpu] = runs.map(|run| losses(&folder.join(run)));
    assert!(!cpu.is_empty() && cpu.len() == gpu.len(), "{cpu:?} {gpu:?}");
    let apart = cpu.iter().zip(&gpu).map(|(cpu, gpu)| (cpu - gpu).abs() / cpu.abs());
    apart.fold(0.0, |most: f64, apart| if apart > most || apart.is_nan() { apart } else { most })
}

#[test]
fn training_on_a_gpu_gives_the_losses_of_the_cpu() {
    for (name, config, more) in [
        ("feed-forward", SMALL, &[][..]),
        ("clipping each gradient", SMALL, &["--set", "train.grad_clip_norm_per_param=0.05"][..]),
        ("seq2seq", FRAMES, &[][..]),
        ("a batch in shards", SMALL, &["--set", "train.shards=2"][..]),
    ] {
        let apart = largest_difference(config, more);
        println!("{name}: losses differ by {apart:.1e} at most");
        assert!(apart < 1e-4, "{name}: losses differ by {apart:e}");
    }
}

#[test]
fn sixteen_bits_give_nearly_the_losses_of_thirty_two_where_the_gpu_has_them() {
    let gpu = device();
    for (name, config) in [("feed-forward", SMALL), ("sequences", VOWELS), ("seq2seq", FRAMES)] {
        let (_guard, folder) = folder_with(config);
        ok(&folder, &["train", "digits.toml", "-q", "--out", "full"]);
        let listed = ok(&folder, &["devices"]).0;
        let listed = listed.lines().find(|line| line.starts_with(&gpu)).expect("the device");
        for (precision, bits, close) in [("16-mixed", " f16", 0.01), ("bf16-mixed", " bf16", 0.05)] {
            let key = format!("train.precision=\"{precision}\"");
            let args = ["train", "digits.toml", "-q", "--out", precision, "--device", &gpu, "--set", &key];
            if !listed.contains(bits) {
                let (code, _, err) = run(&folder, &args);
                assert_eq!((code, err.lines().count()), (2, 1), "{err}");
                assert!(err.contains(precision) && !folder.join(precision).exists(), "{err}");
                println!("{name}, {precision}: not on this device, which is an error");
                continue;
            }
            ok(&folder, &args);
            let apart = apart(&folder, ["full", precision]);
            println!(
                "{name}, {precision}: losses differ by {apart:.1e} at most from those in 32 bits on the CPU"
            );
            assert!(apart > 0.0 && apart < close, "{name}, {precision}: losses differ by {apart:e}");
        }
    }
}

#[test]
fn a_run_that_moves_from_the_gpu_to_the_cpu_says_so() {
    let (_guard, folder) = folder_with(SMALL);
    let gpu = device();
    let train = |epochs: &str, device: &str| {
        ok(&folder, &["train", "digits.toml", "--out", "x", "--epochs", epochs, "--device", device]).1
    };
    assert!(!train("1", &gpu).contains("warning"));
    assert!(!train("2", &gpu).contains("warning"));
    let said = train("3", "flex");
    assert!(said.contains("warning: the run was on ") && said.contains(" and resumes on flex ("), "{said}");
}

#[test]
fn a_gpu_that_is_not_there_is_an_error() {
    let (_guard, folder) = folder_with(SMALL);
    let gpu = device();
    let backend = gpu.split(':').next().unwrap();
    let listed = ok(&folder, &["devices"]).0;
    assert!(listed.contains(&format!("{backend}:0")), "{listed}");
    let far = format!("{backend}:99");
    let (code, out, err) = run(&folder, &["train", "digits.toml", "--device", &far]);
    assert_eq!((code, out.as_str()), (2, ""), "{err}");
    assert!(err.starts_with(&format!("error: --device {far}: there ")), "{err}");
    assert_eq!(err.lines().count(), 1, "{err}");
}

#[test]
fn predictions_on_a_gpu_are_those_of_the_cpu() {
    let (_guard, folder) = folder_with(SMALL);
    ok(&folder, &["train", "digits.toml", "--out", "x", "-q"]);
    let gpu = device();
    let scores = |device: &str| -> serde_json::Value {
        let out = ok(&folder, &["eval", "x", "--json", "--device", device]).0;
        serde_json::from_str(&out).unwrap()
    };
    let [cpu, gpu] = ["flex", gpu.as_str()].map(|device| scores(device)["loss"].as_f64().unwrap());
    assert!((cpu - gpu).abs() < 1e-4 * cpu.abs(), "{cpu} on the CPU, {gpu} on the GPU");
}

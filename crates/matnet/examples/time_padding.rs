//! Times nets on padded batches against full ones: `RAYON_NUM_THREADS=1 cargo run --release --example time_padding`.
//!
//! Half: every sequence has half as many steps as the batch. Mixed: the lengths are spread evenly from 1 to all steps. Times
//! are CPU times of the thread where the system tells them, so that other programs disturb little.

use std::time::Instant;

use burn::tensor::{Device, Tensor, TensorData};
use matnet::prelude::*;

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

const TIME: usize = 32;
const SIDES: [usize; 2] = [16, 12];
/// Seconds of CPU time before the measurement, and of full batches in it.
const WARM_UP: f64 = 0.2;
const ENOUGH: f64 = 1.0;
/// Linux counts CPU time in steps of some milliseconds.
const AT_ONCE: usize = 10;

fn main() -> Result<(), ConfigError> {
    println!(
        "{:<44} {:>5}  {:>8}  {:>6}  {:>6}",
        "net, training step or inference", "batch", "full, ms", "half", "mixed"
    );
    for (name, form, hidden) in
        [("matrix LSTM 20×20", Form::Matrix, vec![20, 20]), ("vector LSTM 200", Form::Vector, vec![200])]
    {
        for batch in [64] {
            for both in [false, true] {
                let config = SequenceClassifierConfig::new(SIDES, hidden.clone(), 5).with_form(form);
                let config = config.with_bidirectional(both);
                compare(&format!("{name}{}", if both { ", two directions" } else { "" }), batch, |device| {
                    config.init(&mut SeededRng::new(1, "init"), device)
                })?;
            }
            let config = SequenceLabellerConfig::new(SIDES, hidden.clone(), 5).with_form(form);
            compare(&format!("{name}, labeller"), batch, |device| {
                config.init(&mut SeededRng::new(1, "init"), device)
            })?;
        }
    }
    Ok(())
}

/// Prints the times of a net.
fn compare<N, const O: usize>(
    name: &str,
    batch: usize,
    init: impl Fn(&Device) -> Result<N, ConfigError>,
) -> Result<(), ConfigError>
where
    N: Net<Input = Sequences, Output = Tensor<O>>,
{
    for (what, device) in [("training", Device::flex().autodiff()), ("inference", Device::flex())] {
        let net = init(&device)?;
        let mut rng = SeededRng::new(2, "input");
        let numbers: Vec<f32> =
            (0..batch * TIME * SIDES[0] * SIDES[1]).map(|_| rng.normal() as f32).collect();
        let values =
            Tensor::<4>::from_data(TensorData::new(numbers, [batch, TIME, SIDES[0], SIDES[1]]), &device);
        let mixed: Vec<usize> = (0..batch).map(|at| 1 + at * 37 % batch * TIME / batch).collect();
        let cases = [vec![TIME; batch], vec![TIME / 2; batch], mixed];
        let run = |lengths: &[usize]| {
            let input = Sequences::padded(values.clone(), lengths);
            let output = net.forward(input, &mut Mode::Eval).square().sum();
            match what {
                "training" => drop(output.backward()),
                _ => drop(output.into_data()),
            }
        };
        let begun = now();
        while now() - begun < WARM_UP {
            cases.iter().for_each(|lengths| run(lengths));
        }
        let mut spent = [0.0; 3];
        let mut rounds = 0;
        while spent[0] < ENOUGH {
            for (lengths, spent) in cases.iter().zip(&mut spent) {
                let begun = now();
                (0..AT_ONCE).for_each(|_| run(lengths));
                *spent += now() - begun;
            }
            rounds += AT_ONCE;
        }
        let percent = |time: f64| format!("{:.0} %", 100.0 * time / spent[0]);
        let full = 1e3 * spent[0] / rounds as f64;
        let (half, mixed) = (percent(spent[1]), percent(spent[2]));
        println!("{:<44} {batch:>5}  {full:>8.2}  {half:>6}  {mixed:>6}", format!("{name}, {what}"));
    }
    Ok(())
}

/// Seconds: the CPU time of this thread, or elsewhere than on Linux the time of day.
fn now() -> f64 {
    thread_local!(static BEGUN: Instant = Instant::now());
    let spent = std::fs::read_to_string("/proc/thread-self/schedstat").ok();
    let nanoseconds = spent.and_then(|text| text.split_whitespace().next()?.parse::<f64>().ok());
    nanoseconds
        .map_or_else(|| BEGUN.with(|begun| begun.elapsed().as_secs_f64()), |nanoseconds| 1e-9 * nanoseconds)
}

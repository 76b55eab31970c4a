//! Times a training step of a Neural Turing Machine on sequences of 21 steps: `cargo run --release --example time_memory`.

use std::time::Instant;

use burn::tensor::{Device, Tensor};
use matnet::ops::{MemorySize, MemoryState, composed, memory_step};
use matnet::prelude::*;

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

const BATCH: usize = 16;
const TIME: usize = 21;

fn main() -> Result<(), ConfigError> {
    let device = Device::flex().autodiff();
    for (name, form, hidden, controller) in [
        ("feedforward, 100", Form::Vector, vec![100], ControllerKind::Feedforward),
        ("vector LSTM, 100", Form::Vector, vec![100], ControllerKind::Lstm),
        ("matrix LSTM, 20×20", Form::Matrix, vec![20, 20], ControllerKind::Lstm),
    ] {
        let config =
            TuringMachineConfig::new([1, 10], hidden, [1, 8]).with_form(form).with_controller(controller);
        let net = config.init(&mut SeededRng::new(1, "init"), &device)?;
        let input = Tensor::<4>::ones([BATCH, TIME, 1, 10], &device);
        let forward = || net.forward(input.clone(), &mut Mode::Eval).square().mean();
        println!(
            "{name}: {:.2} ms forward, {:.2} ms with the backward pass",
            milliseconds(|| drop(forward().into_data())),
            milliseconds(|| drop(forward().backward()))
        );
    }
    let size = MemorySize { slots: 128, width: 20, reads: 1, writes: 1, shift: 1 };
    for (name, step) in [("fused", memory_step as fn(_, _, _) -> _), ("composed", composed::memory_step)] {
        let told = |count: usize| Tensor::<2>::ones([BATCH, count], &device).require_grad();
        let (addresses, changes) = (told(size.addresses()), told(size.changes()));
        let run = || {
            let start = MemoryState::start(size, BATCH, &device);
            let end = (0..TIME).fold(start, |state, _| step(state, addresses.clone(), changes.clone()));
            drop(end.read().sum().backward());
        };
        println!("the memory alone, {name}: {:.2} ms there and back", milliseconds(run));
    }
    Ok(())
}

/// The median of twenty times.
fn milliseconds(work: impl Fn()) -> f64 {
    work();
    let mut times: Vec<f64> = (0..20)
        .map(|_| {
            let begun = Instant::now();
            work();
            1e3 * begun.elapsed().as_secs_f64()
        })
        .collect();
    times.sort_by(f64::total_cmp);
    times[10]
}

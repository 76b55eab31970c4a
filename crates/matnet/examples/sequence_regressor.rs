//! Estimates a matrix from noisy observations, in sequences of different lengths, with a matrix GRU and with its vector twin.
//!
//! ```text
//! cargo run --release --example sequence_regressor
//! ```

use burn::optim::GradientsParams;
use burn::tensor::{Device, Tensor, TensorData};
use matnet::prelude::*;
use matnet::weights;

const SIDES: [usize; 2] = [6, 4];
const TIME: usize = 10;
const BATCH: usize = 32;
const STEPS: usize = 400;

fn main() -> Result<(), ConfigError> {
    let device = Device::flex().autodiff();
    println!("2 to {TIME} observations of a 6×4 matrix, each with noise of variance 1\n");
    for (name, form, hidden) in
        [("matrix GRU 8×8", Form::Matrix, vec![8, 8]), ("vector GRU 64", Form::Vector, vec![64])]
    {
        let config =
            SequenceRegressorConfig::new(SIDES, hidden, SIDES).with_form(form).with_cell(CellKind::Gru);
        let mut net = config.init(&mut SeededRng::new(1, "init"), &device)?;
        let mut adam = AdamConfig::default().init()?;
        let mut mode = Mode::train(SeededRng::new(1, "dropout"));
        let mut rng = SeededRng::new(1, "observations");
        for _ in 0..STEPS {
            let (input, target) = observations(BATCH, &mut rng, &device);
            let loss = (net.forward(input, &mut mode) - target).square().mean();
            let gradients = GradientsParams::from_grads(loss.backward(), &net);
            net = adam.step(5e-3, net, gradients);
        }
        // New matrices, without gradients.
        let (input, target) = observations(1000, &mut SeededRng::new(2, "observations"), &Device::flex());
        let error = (net.valid().forward(input, &mut Mode::Eval) - target).square().mean();
        let error = error.into_scalar::<f32>();
        println!("{name}: {} parameters, mean squared error {error:.3}", weights::count(&net));
    }
    Ok(())
}

/// Sequences of noisy observations, and the matrices `[count, rows, cols]` that they are of.
fn observations(count: usize, rng: &mut SeededRng, device: &Device) -> (Sequences, Tensor<3>) {
    let size = SIDES[0] * SIDES[1];
    let (mut seen, mut matrices, mut lengths) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..count {
        let matrix: Vec<f32> = (0..size).map(|_| rng.normal() as f32).collect();
        for _ in 0..TIME {
            seen.extend(matrix.iter().map(|x| x + rng.normal() as f32));
        }
        matrices.extend(matrix);
        lengths.push(2 + rng.below(TIME - 1));
    }
    let seen = Tensor::from_data(TensorData::new(seen, [count, TIME, SIDES[0], SIDES[1]]), device);
    let matrices = Tensor::from_data(TensorData::new(matrices, [count, SIDES[0], SIDES[1]]), device);
    (Sequences::padded(seen, lengths), matrices)
}

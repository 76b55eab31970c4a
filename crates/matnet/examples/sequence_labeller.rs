//! Labels every step of a sequence: has the signal appeared yet?
//!
//! ```text
//! cargo run --release --example sequence_labeller
//! ```
//!
//! Each step is a matrix of noise. At one step of a sequence a row of the matrix is raised. The net must say 1 from that step
//! on, so it has to remember what it has seen.

use burn::nn::loss::CrossEntropyLossConfig;
use burn::optim::GradientsParams;
use burn::tensor::{Device, Int, Tensor, TensorData};
use matnet::prelude::*;

const SIDES: [usize; 2] = [5, 6];
const TIME: usize = 12;
const BATCH: usize = 32;
const STEPS: usize = 200;

fn main() -> Result<(), ConfigError> {
    let device = Device::flex().autodiff();
    let config = SequenceLabellerConfig::new(SIDES, [6, 6], 2).with_cell(CellKind::Gru);
    let mut net = config.init(&mut SeededRng::new(1, "init"), &device)?;
    let mut adam = AdamConfig::default().init()?;
    let mut mode = Mode::train(SeededRng::new(1, "dropout"));
    let mut rng = SeededRng::new(1, "sequences");
    let criterion = CrossEntropyLossConfig::new().init(&device);
    for step in 1..=STEPS {
        let (input, labels) = sequences(BATCH, &mut rng, &device);
        // Scores [batch, time, classes], and a label for each step.
        let scores = net.forward(input.into(), &mut mode).reshape([BATCH * TIME, 2]);
        let loss = criterion.forward(scores, labels.reshape([BATCH * TIME]));
        if step % 50 == 0 {
            println!("step {step}: loss {:.4}", loss.clone().into_scalar::<f32>());
        }
        let gradients = GradientsParams::from_grads(loss.backward(), &net);
        net = adam.step(1e-2, net, gradients);
    }

    let (input, labels) = sequences(3, &mut SeededRng::new(2, "sequences"), &Device::flex());
    let predicted = net.valid().forward(input.into(), &mut Mode::Eval).argmax(2).squeeze_dim::<2>(2);
    println!();
    for at in 0..3 {
        println!("labels    {}", show(labels.clone().narrow(0, at, 1)));
        println!("predicted {}\n", show(predicted.clone().narrow(0, at, 1)));
    }
    Ok(())
}

/// Sequences `[count, time, rows, cols]` and labels `[count, time]`.
fn sequences(count: usize, rng: &mut SeededRng, device: &Device) -> (Tensor<4>, Tensor<2, Int>) {
    let [rows, cols] = SIDES;
    let (mut numbers, mut labels) = (Vec::new(), Vec::new());
    for _ in 0..count {
        let signal = rng.below(TIME);
        let raised = rng.below(rows);
        for step in 0..TIME {
            for row in 0..rows {
                let mean = if step == signal && row == raised { 2.0 } else { 0.0 };
                numbers.extend((0..cols).map(|_| (mean + 0.5 * rng.normal()) as f32));
            }
            labels.push(i64::from(step >= signal));
        }
    }
    let input = Tensor::from_data(TensorData::new(numbers, [count, TIME, rows, cols]), device);
    (input, Tensor::from_data(TensorData::new(labels, [count, TIME]), device))
}

fn show(labels: Tensor<2, Int>) -> String {
    labels.into_data().iter::<i64>().map(|label| label.to_string()).collect::<Vec<_>>().join(" ")
}

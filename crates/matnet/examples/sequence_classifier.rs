//! Classifies short films by the direction in which a dot moves, with a matrix LSTM and with its vector twin.
//!
//! ```text
//! cargo run --release --example sequence_classifier
//! ```

use burn::nn::loss::CrossEntropyLossConfig;
use burn::optim::GradientsParams;
use burn::tensor::{Device, Int, Tensor, TensorData};
use matnet::prelude::*;
use matnet::weights;

const SIDE: usize = 8;
const TIME: usize = 5;
const BATCH: usize = 32;
const STEPS: usize = 300;
const DIRECTIONS: [(i64, i64); 4] = [(0, 1), (0, -1), (1, 0), (-1, 0)];

fn main() -> Result<(), ConfigError> {
    let device = Device::flex().autodiff();
    println!("films of {TIME} frames of {SIDE}×{SIDE}; a dot moves right, left, down or up, under noise\n");
    for (name, form, hidden) in
        [("matrix LSTM 8×8", Form::Matrix, vec![8, 8]), ("vector LSTM 64", Form::Vector, vec![64])]
    {
        let config = SequenceClassifierConfig::new([SIDE, SIDE], hidden, DIRECTIONS.len())
            .with_form(form)
            .with_forget_bias(1.0);
        let mut net = config.init(&mut SeededRng::new(1, "init"), &device)?;
        let mut adam = AdamConfig::default().init()?;
        let mut mode = Mode::train(SeededRng::new(1, "dropout"));
        let mut rng = SeededRng::new(1, "films");
        let criterion = CrossEntropyLossConfig::new().init(&device);
        for _ in 0..STEPS {
            let (input, target) = films(BATCH, &mut rng, &device);
            let loss = criterion.forward(net.forward(input.into(), &mut mode), target);
            let gradients = GradientsParams::from_grads(loss.backward(), &net);
            net = adam.step(5e-3, net, gradients);
        }
        // New films, without gradients.
        let (input, target) = films(1000, &mut SeededRng::new(2, "films"), &Device::flex());
        let predicted = net.valid().forward(input.into(), &mut Mode::Eval).argmax(1).squeeze_dim::<1>(1);
        let correct = predicted.equal(target).int().sum().into_scalar::<i64>();
        println!("{name}: {} parameters, accuracy {:.1} %", weights::count(&net), correct as f64 / 10.0);
    }
    Ok(())
}

/// Films `[count, time, rows, cols]` and the directions of their dots.
fn films(count: usize, rng: &mut SeededRng, device: &Device) -> (Tensor<4>, Tensor<1, Int>) {
    let (mut pixels, mut classes) = (Vec::new(), Vec::new());
    for _ in 0..count {
        let class = rng.below(DIRECTIONS.len());
        let (down, right) = DIRECTIONS[class];
        // The dot starts near the middle and stops at the border.
        let [row, col] = [(); 2].map(|()| 3 + rng.below(2) as i64);
        for step in 0..TIME as i64 {
            let place = |from: i64, by: i64| (from + step * by).clamp(0, SIDE as i64 - 1);
            let dot = place(row, down) * SIDE as i64 + place(col, right);
            let noise = |rng: &mut SeededRng| 0.2 * rng.normal() as f32;
            pixels.extend((0..(SIDE * SIDE) as i64).map(|at| f32::from(u8::from(at == dot)) + noise(rng)));
        }
        classes.push(class as i64);
    }
    let input = Tensor::from_data(TensorData::new(pixels, [count, TIME, SIDE, SIDE]), device);
    (input, Tensor::from_data(TensorData::new(classes, [count]), device))
}

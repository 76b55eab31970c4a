//! Predicts the next frames of a bouncing ball with an encoder and a decoder of matrix LSTMs.
//!
//! ```text
//! cargo run --release --example seq2seq
//! ```

use burn::optim::GradientsParams;
use burn::tensor::{Device, Tensor, TensorData};
use matnet::prelude::*;

const SIDE: usize = 8;
const SEEN: usize = 6;
const PREDICTED: usize = 3;
const BATCH: usize = 32;
const STEPS: usize = 400;

fn main() -> Result<(), ConfigError> {
    let device = Device::flex().autodiff();
    let config = Seq2SeqConfig::new([SIDE, SIDE], [16, 16], PREDICTED)
        .with_cell(CellKind::Lstm)
        .with_decoder_state(DecoderState::Encoder)
        .with_output_activation(Activation::Sigmoid)
        .with_forget_bias(1.0);
    let mut net = config.init(&mut SeededRng::new(1, "init"), &device)?;
    let mut adam = AdamConfig::default().init()?;
    let mut mode = Mode::train(SeededRng::new(1, "dropout"));
    let mut rng = SeededRng::new(1, "films");
    for step in 1..=STEPS {
        let (seen, next) = films(BATCH, &mut rng, &device);
        let loss = (net.forward(seen.into(), &mut mode) - next).square().mean();
        if step % 100 == 0 {
            println!("step {step}: mean squared error {:.4}", loss.clone().into_scalar::<f32>());
        }
        let gradients = GradientsParams::from_grads(loss.backward(), &net);
        net = adam.step(1e-2, net, gradients);
    }

    let (seen, next) = films(1, &mut SeededRng::new(2, "films"), &Device::flex());
    let predicted = net.valid().forward(seen.clone().into(), &mut Mode::Eval);
    println!(
        "\nthe last {PREDICTED} frames that the net has seen:\n{}",
        show(seen.narrow(1, SEEN - PREDICTED, PREDICTED))
    );
    println!("the next {PREDICTED} frames:\n{}", show(next));
    println!("the prediction:\n{}", show(predicted));
    Ok(())
}

/// Frames `[count, time, rows, cols]` of a ball of 2×2 pixels that bounces off the walls: those that are seen, and the next.
fn films(count: usize, rng: &mut SeededRng, device: &Device) -> (Tensor<4>, Tensor<4>) {
    let time = SEEN + PREDICTED;
    let mut pixels = Vec::new();
    for _ in 0..count {
        let mut place = [0, 1].map(|_| rng.below(SIDE - 1) as i64);
        let mut speed = [0, 1].map(|_| if rng.chance(0.5) { 1 } else { -1 });
        for _ in 0..time {
            let inside = |at: usize, axis: usize| (place[axis]..place[axis] + 2).contains(&(at as i64));
            let pixel = |at: usize| f32::from(u8::from(inside(at / SIDE, 0) && inside(at % SIDE, 1)));
            pixels.extend((0..SIDE * SIDE).map(pixel));
            for axis in 0..2 {
                if !(0..SIDE as i64 - 1).contains(&(place[axis] + speed[axis])) {
                    speed[axis] = -speed[axis];
                }
                place[axis] += speed[axis];
            }
        }
    }
    let films = Tensor::<4>::from_data(TensorData::new(pixels, [count, time, SIDE, SIDE]), device);
    (films.clone().narrow(1, 0, SEEN), films.narrow(1, SEEN, PREDICTED))
}

/// The frames of one film side by side.
fn show(film: Tensor<4>) -> String {
    let frames = film.dims()[1];
    let pixels: Vec<f32> = film.into_data().iter::<f32>().collect();
    let symbol = |number: f32| [' ', '.', 'o', '@'][(number.clamp(0.0, 0.99) * 4.0) as usize];
    let line = |row: usize, frame: usize| -> String {
        (0..SIDE).map(|col| symbol(pixels[(frame * SIDE + row) * SIDE + col])).collect()
    };
    let row = |row: usize| (0..frames).map(|frame| format!("|{}|  ", line(row, frame))).collect::<String>();
    (0..SIDE).map(|at| row(at) + "\n").collect()
}

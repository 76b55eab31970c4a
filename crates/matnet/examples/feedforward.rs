//! Recognises drawn digits with a net of 20 matrix layers and with its vector twin.
//!
//! ```text
//! cargo run --release --example feedforward
//! ```

use std::time::Instant;

use burn::nn::loss::CrossEntropyLossConfig;
use burn::optim::GradientsParams;
use burn::tensor::{Device, Int, Tensor, TensorData};
use matnet::prelude::*;
use matnet::weights;

const SIDE: usize = 16;
const DEPTH: usize = 20;
const BATCH: usize = 64;
const STEPS: usize = 400;

/// The digits 0 to 9 in a font of 3×5 pixels.
const FONT: [&str; 10] = [
    "####.##.##.####",
    ".#.##..#..#.###",
    "##...#.#.#..###",
    "##...#.#...###.",
    "#.##.####..#..#",
    "####..##...###.",
    ".###..####.####",
    "###..#.#..#..#.",
    "####.#####.####",
    "####.####..###.",
];

fn main() -> Result<(), ConfigError> {
    let device = Device::flex().autodiff();
    let (input, _) = digits(1, &mut SeededRng::new(5, "digits"), &Device::flex());
    println!("noisy digits of {SIDE}×{SIDE} pixels like this one:\n{}", show(input));
    println!("| net | parameters | accuracy | seconds |\n|---|---|---|---|");
    for (name, form, hidden) in
        [("matrix 16×16", Form::Matrix, vec![16, 16]), ("vector 64", Form::Vector, vec![64])]
    {
        let start = Instant::now();
        let config = FeedForwardConfig::new([SIDE, SIDE], hidden, FONT.len())
            .with_form(form)
            .with_depth(Some(DEPTH))
            .with_skip(Skip::Highway);
        let mut net = config.init(&mut SeededRng::new(1, "init"), &device)?;
        let mut adam = AdamConfig::default().init()?;
        let mut mode = Mode::train(SeededRng::new(1, "dropout"));
        let mut rng = SeededRng::new(1, "digits");
        let criterion = CrossEntropyLossConfig::new().init(&device);
        for _ in 0..STEPS {
            let (input, target) = digits(BATCH, &mut rng, &device);
            let loss = criterion.forward(net.forward(input, &mut mode), target);
            let gradients = GradientsParams::from_grads(loss.backward(), &net);
            net = adam.step(3e-3, net, gradients);
        }
        // New digits, without gradients.
        let (input, target) = digits(1000, &mut SeededRng::new(2, "digits"), &Device::flex());
        let predicted = net.valid().forward(input, &mut Mode::Eval).argmax(1).squeeze_dim::<1>(1);
        let accuracy = predicted.equal(target).int().sum().into_scalar::<i64>() as f64 / 10.0;
        let (parameters, seconds) = (weights::count(&net), start.elapsed().as_secs_f64());
        println!("| {name} | {parameters} | {accuracy:.1} % | {seconds:.1} |");
    }
    Ok(())
}

/// Digits `[count, rows, cols]` of double size at a random place under noise, and their classes.
fn digits(count: usize, rng: &mut SeededRng, device: &Device) -> (Tensor<3>, Tensor<1, Int>) {
    let (mut pixels, mut classes) = (Vec::new(), Vec::new());
    for _ in 0..count {
        let class = rng.below(FONT.len());
        let [top, left] = [rng.below(SIDE - 9), rng.below(SIDE - 5)];
        for at in 0..SIDE * SIDE {
            let (row, col) = ((at / SIDE).wrapping_sub(top) / 2, (at % SIDE).wrapping_sub(left) / 2);
            let ink = row < 5 && col < 3 && FONT[class].as_bytes()[row * 3 + col] == b'#';
            pixels.push(f32::from(u8::from(ink)) + 0.3 * rng.normal() as f32);
        }
        classes.push(class as i64);
    }
    let input = Tensor::from_data(TensorData::new(pixels, [count, SIDE, SIDE]), device);
    (input, Tensor::from_data(TensorData::new(classes, [count]), device))
}

/// A digit as text.
fn show(digit: Tensor<3>) -> String {
    let pixels: Vec<f32> = digit.into_data().iter::<f32>().collect();
    let symbol = |&number: &f32| [' ', '.', 'o', '@'][(number.clamp(0.0, 0.99) * 4.0) as usize];
    pixels.chunks(SIDE).map(|row| row.iter().map(symbol).collect::<String>() + "\n").collect()
}

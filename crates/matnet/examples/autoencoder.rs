//! Restores images of which a third of the pixels is missing, with a deep auto-encoder of matrices.
//!
//! ```text
//! cargo run --release --example autoencoder
//! ```

use burn::optim::GradientsParams;
use burn::tensor::{Device, Tensor, TensorData};
use matnet::layer::Noise;
use matnet::prelude::*;
use matnet::weights;

const SIDE: usize = 16;
const BATCH: usize = 32;
const STEPS: usize = 600;

fn main() -> Result<(), ConfigError> {
    let device = Device::flex().autodiff();
    // Four layers: two that encode, and two that decode with the same maps transposed.
    let config = AutoEncoderConfig::new([SIDE, SIDE], [12, 12], 4)
        .with_activation(Activation::Tanh)
        .with_noise(Noise::Masking)
        .with_noise_ratio(0.33);
    let mut net = config.init(&mut SeededRng::new(1, "init"), &device)?;
    println!("{} parameters for {} pixels\n", weights::count(&net), SIDE * SIDE);
    let mut adam = AdamConfig::default().init()?;
    // The noise is drawn from this generator, and only in training.
    let mut mode = Mode::train(SeededRng::new(1, "noise"));
    let mut rng = SeededRng::new(1, "images");
    for step in 1..=STEPS {
        let images = images(BATCH, &mut rng, &device);
        let loss = (net.forward(images.clone(), &mut mode) - images).square().mean();
        if step % 150 == 0 {
            println!("step {step}: mean squared error {:.4}", loss.clone().into_scalar::<f32>());
        }
        let gradients = GradientsParams::from_grads(loss.backward(), &net);
        net = adam.step(3e-3, net, gradients);
    }

    let net = net.valid();
    let image = images(1, &mut SeededRng::new(2, "images"), &Device::flex());
    let mut mode = Mode::train(SeededRng::new(2, "noise"));
    let masked = Noise::Masking.corrupt(image.clone(), 0.33, &mut mode);
    let restored = net.decode(net.encode(masked.clone()));
    println!("\n{:SIDE$}   {:SIDE$}   {:SIDE$}", "image", "masked", "restored");
    let [image, masked, restored] = [image, masked, restored].map(show);
    for ((image, masked), restored) in image.iter().zip(&masked).zip(&restored) {
        println!("{image}   {masked}   {restored}");
    }
    Ok(())
}

/// Images `[count, rows, cols]` of two crossing bars of different widths.
fn images(count: usize, rng: &mut SeededRng, device: &Device) -> Tensor<3> {
    let mut pixels = Vec::new();
    for _ in 0..count {
        let [row, col, high, wide] = [(); 4].map(|()| rng.uniform());
        let bar = |at: usize, middle: f64, width: f64| {
            let distance = (at as f64 - 3.0 - 10.0 * middle) / (1.0 + 2.0 * width);
            (-distance * distance).exp()
        };
        let pixel = |at: usize| bar(at / SIDE, row, high).max(bar(at % SIDE, col, wide)) as f32;
        pixels.extend((0..SIDE * SIDE).map(pixel));
    }
    Tensor::from_data(TensorData::new(pixels, [count, SIDE, SIDE]), device)
}

/// The rows of one image as text.
fn show(image: Tensor<3>) -> Vec<String> {
    let pixels: Vec<f32> = image.into_data().iter::<f32>().collect();
    let symbol = |&number: &f32| [' ', '.', ':', 'o', '@'][(number.clamp(0.0, 0.99) * 5.0) as usize];
    pixels.chunks(SIDE).map(|row| row.iter().map(symbol).collect()).collect()
}

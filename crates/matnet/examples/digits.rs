//! Trains a deep feed-forward net of matrices and its vector twin on the digits that ship with matnet, and compares them.
//!
//! ```text
//! cargo run --release --example digits
//! cargo run --release --example digits initialisation
//! ```
//!
//! The second compares initialisations; its tables are in the docs of `matnet::init`.

use std::error::Error;
use std::time::Instant;

use burn::nn::loss::CrossEntropyLossConfig;
use burn::optim::GradientsParams;
use burn::tensor::{Device, Int, Tensor, TensorData};
use matnet::prelude::*;
use matnet_data::catalog::{self, Cache, LoadOptions};
use matnet_data::{Array, Samples, Target};
use rand::seq::SliceRandom;

// A step allocates hundreds of tensors, and fresh pages cost more than many of the products.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

const DEPTH: usize = 30;
const BATCH: usize = 64;
const TEST: usize = 1000;

fn main() -> Result<(), Box<dyn Error>> {
    let digits = Digits::load()?;
    match std::env::args().nth(1).as_deref() {
        None => compare_forms(&digits),
        Some("initialisation") => compare_initialisations(&digits),
        Some(other) => Err(format!("{other}: unknown argument; `initialisation`, or none").into()),
    }
}

/// A matrix net and its vector twin.
fn compare_forms(digits: &Digits) -> Result<(), Box<dyn Error>> {
    println!(
        "{} training images of 28×28, {} test images, {DEPTH} layers\n",
        digits.train.len(),
        digits.test.len()
    );
    let mut rows = Vec::new();
    for (name, form, hidden) in
        [("matrix 20×20", Form::Matrix, vec![20, 20]), ("vector 50", Form::Vector, vec![50])]
    {
        let config = FeedForwardConfig::new([28, 28], hidden, 10).with_form(form).with_depth(Some(DEPTH));
        let start = Instant::now();
        let net = train(name, &config, digits, 30)?;
        rows.push((name, net.num_params(), error(&net, digits), start.elapsed().as_secs_f64()));
    }
    println!("\n| net          | parameters | test error | seconds |");
    println!("|--------------|-----------:|-----------:|--------:|");
    for (name, parameters, wrong, seconds) in rows {
        println!("| {name:<12} | {parameters:>10} | {:>8.1} % | {seconds:>7.1} |", 100.0 * wrong);
    }
    Ok(())
}

/// Deep nets with different initialisations.
fn compare_initialisations(digits: &Digits) -> Result<(), Box<dyn Error>> {
    const SHORT: usize = 8;
    let mut table = format!("test error after {SHORT} epochs, {DEPTH} layers without batch norm\n\n");
    table += "| net | orthogonal | normal | Glorot |\n|---|---|---|---|\n";
    for (name, form, hidden) in
        [("matrix 20×20", Form::Matrix, vec![20, 20]), ("vector 100", Form::Vector, vec![100])]
    {
        table += &format!("| {name} |");
        for init in [Init::Orthogonal, Init::Normal, Init::Glorot] {
            let config = FeedForwardConfig::new([28, 28], hidden.clone(), 10)
                .with_form(form)
                .with_depth(Some(DEPTH))
                .with_init(init);
            let net = train(&format!("{name}, {init:?}"), &config, digits, SHORT)?;
            table += &format!(" {:.1} % |", 100.0 * error(&net, digits));
        }
        table += "\n";
    }
    table += "\nwith batch norm, by its initial shift\n\n| net | 0 | 1 | 2 |\n|---|---|---|---|\n| matrix 20×20, 50 layers |";
    for shift in [0.0, 1.0, 2.0] {
        let config = FeedForwardConfig::new([28, 28], [20, 20], 10)
            .with_depth(Some(50))
            .with_batch_norm(true)
            .with_batch_norm_bias_init(Some(shift));
        let net = train(&format!("batch norm from {shift}"), &config, digits, SHORT)?;
        table += &format!(" {:.1} % |", 100.0 * error(&net, digits));
    }
    println!("\n{table}");
    Ok(())
}

/// The digits that ship with the library, split.
struct Digits {
    images: Array,
    labels: Vec<u32>,
    train: Vec<usize>,
    test: Vec<usize>,
}

impl Digits {
    fn load() -> Result<Self, Box<dyn Error>> {
        let Samples { inputs: images, target: Target::Classes { labels, .. }, .. } =
            catalog::load("digits", &Cache::standard()?, LoadOptions::default())?.into_samples()?
        else {
            return Err("the digits have no classes".into());
        };
        let mut train: Vec<usize> = (0..labels.len()).collect();
        train.shuffle(&mut SeededRng::new(1, "split"));
        let test = train.split_off(labels.len() - TEST);
        Ok(Self { images, labels, train, test })
    }

    /// A batch as tensors.
    fn take(&self, batch: &[usize], device: &Device) -> (Tensor<3>, Tensor<1, Int>) {
        let pixels: Vec<f32> = batch.iter().flat_map(|&at| self.images.sample(at)).copied().collect();
        let classes: Vec<i64> = batch.iter().map(|&at| i64::from(self.labels[at])).collect();
        let count = batch.len();
        (
            Tensor::from_data(TensorData::new(pixels, [count, 28, 28]), device),
            Tensor::from_data(TensorData::new(classes, [count]), device),
        )
    }
}

/// Trains a net, and prints the loss of each epoch.
fn train(
    name: &str,
    config: &FeedForwardConfig<usize>,
    digits: &Digits,
    epochs: usize,
) -> Result<Classifier, Box<dyn Error>> {
    let device = Device::flex().autodiff();
    let mut net = config.init(&mut SeededRng::new(1, "init"), &device)?;
    let mut adam = AdamConfig::default().init()?;
    let mut mode = Mode::train(SeededRng::new(1, "dropout"));
    let criterion = CrossEntropyLossConfig::new().init(&device);
    let (mut train, mut rng) = (digits.train.clone(), SeededRng::new(1, "order"));
    for epoch in 1..=epochs {
        train.shuffle(&mut rng);
        let mut total = 0.0;
        for batch in train.chunks(BATCH) {
            let (input, target) = digits.take(batch, &device);
            let loss = criterion.forward(net.forward(input, &mut mode), target);
            total += f64::from(loss.clone().into_scalar::<f32>()) * batch.len() as f64;
            let gradients = GradientsParams::from_grads(loss.backward(), &net);
            net = adam.step(1e-3, net, gradients);
        }
        let (mean, wrong) = (total / train.len() as f64, 100.0 * error(&net, digits));
        println!("{name}: epoch {epoch:>2} of {epochs}, loss {mean:.4}, test error {wrong:.1} %");
    }
    Ok(net)
}

/// The error rate on the test images.
fn error(net: &Classifier, digits: &Digits) -> f64 {
    let net = net.valid();
    let mut wrong = 0;
    for batch in digits.test.chunks(500) {
        let (input, target) = digits.take(batch, &Device::flex());
        let predicted = net.forward(input, &mut Mode::Eval).argmax(1).squeeze_dim::<1>(1);
        wrong += predicted.not_equal(target).int().sum().into_scalar::<i64>();
    }
    wrong as f64 / digits.test.len() as f64
}

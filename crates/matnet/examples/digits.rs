//! Trains a deep matrix net and its vector twin on the digits that ship with matnet, and compares them.
//!
//! ```text
//! cargo run --release --example digits
//! ```

use std::error::Error;
use std::io::IsTerminal;
use std::time::Instant;

use burn::nn::loss::CrossEntropyLossConfig;
use burn::optim::GradientsParams;
use burn::tensor::{Device, Int, Tensor, TensorData};
use matnet::net::Classifier;
use matnet::optim::AdamConfig;
use matnet::prelude::*;
use matnet_data::{Samples, Target, shipped};

// Tensors come and go by the hundred a step, and fresh pages cost more than many of the products.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

const DEPTH: usize = 30;
const EPOCHS: usize = 12;
const BATCH: usize = 64;
const TEST: usize = 1000;

fn main() -> Result<(), Box<dyn Error>> {
    let digits = shipped::digits()?;
    let Target::Classes { labels, .. } = &digits.target else {
        return Err("the digits have lost their classes".into());
    };
    let mut order: Vec<usize> = (0..labels.len()).collect();
    shuffle(&mut order, &mut Stream::new(1, "split"));
    let (test, train) = order.split_at(TEST);
    println!(
        "{} digits of 28×28 to learn from, {} to be tested on, {DEPTH} layers\n",
        train.len(),
        test.len()
    );

    let mut rows = Vec::new();
    for (name, form, hidden) in
        [("matrix 20×20", Form::Matrix, vec![20, 20]), ("vector 50", Form::Vector, vec![50])]
    {
        let config = FeedForwardConfig::new([28, 28], hidden, 10).with_form(form).with_depth(Some(DEPTH));
        let start = Instant::now();
        let net = learn(name, &config, &digits, labels, train.to_vec(), test)?;
        let wrong = error(&net, &digits, labels, test);
        rows.push((name, net.num_params(), wrong, start.elapsed().as_secs_f64()));
    }
    println!("\n| net          | parameters | test error | seconds |");
    println!("|--------------|-----------:|-----------:|--------:|");
    for (name, parameters, wrong, seconds) in rows {
        println!("| {name:<12} | {parameters:>10} | {:>8.1} % | {seconds:>7.1} |", 100.0 * wrong);
    }
    Ok(())
}

/// Trains a net, telling how it goes after each epoch.
fn learn(
    name: &str,
    config: &FeedForwardConfig<usize>,
    digits: &Samples,
    labels: &[u32],
    mut train: Vec<usize>,
    test: &[usize],
) -> Result<Classifier, Box<dyn Error>> {
    let device = Device::flex().autodiff();
    let mut net = config.init(&mut Stream::new(1, "init"), &device)?;
    let mut adam = AdamConfig::default().init()?;
    let mut mode = Mode::train(Stream::new(1, "dropout"));
    let loss = CrossEntropyLossConfig::new().init(&device);
    let mut stream = Stream::new(1, "order");
    for epoch in 1..=EPOCHS {
        shuffle(&mut train, &mut stream);
        let mut total = 0.0;
        for batch in train.chunks(BATCH) {
            let (input, target) = take(digits, labels, batch, &device);
            let loss = loss.forward(net.forward(input, &mut mode), target);
            total += f64::from(loss.clone().into_scalar::<f32>()) * batch.len() as f64;
            let gradients = GradientsParams::from_grads(loss.backward(), &net);
            net = adam.step(1e-3, net, gradients);
        }
        let (mean, wrong) = (total / train.len() as f64, 100.0 * error(&net, digits, labels, test));
        let line = format!("{name}: epoch {epoch:>2} of {EPOCHS}, loss {mean:.4}, test error {wrong:.1} %");
        // One line that changes on a terminal, a line an epoch elsewhere.
        if std::io::stdout().is_terminal() && epoch < EPOCHS {
            use std::io::Write;
            print!("\r{line} ");
            std::io::stdout().flush()?;
        } else {
            println!("{}{line} ", if std::io::stdout().is_terminal() { "\r" } else { "" });
        }
    }
    Ok(net)
}

/// The share of wrong answers.
fn error(net: &Classifier, digits: &Samples, labels: &[u32], samples: &[usize]) -> f64 {
    let net = net.valid();
    let mut wrong = 0;
    for batch in samples.chunks(500) {
        let (input, target) = take(digits, labels, batch, &Device::flex());
        let answers = net.forward(input, &mut Mode::Eval).argmax(1).squeeze_dim::<1>(1);
        wrong += answers.not_equal(target).int().sum().into_scalar::<i64>();
    }
    wrong as f64 / samples.len() as f64
}

/// Some of the digits as tensors.
fn take(digits: &Samples, labels: &[u32], batch: &[usize], device: &Device) -> (Tensor<3>, Tensor<1, Int>) {
    let pixels: Vec<f32> = batch.iter().flat_map(|&at| digits.inputs.sample(at)).copied().collect();
    let classes: Vec<i64> = batch.iter().map(|&at| i64::from(labels[at])).collect();
    let count = batch.len();
    (
        Tensor::from_data(TensorData::new(pixels, [count, 28, 28]), device),
        Tensor::from_data(TensorData::new(classes, [count]), device),
    )
}

/// Puts things into a random order.
fn shuffle<T>(things: &mut [T], stream: &mut Stream) {
    for last in (1..things.len()).rev() {
        things.swap(last, stream.below(last + 1));
    }
}

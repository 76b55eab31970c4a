//! A net that is trained a few steps at a time, so that a page can draw curves and stop.

use burn::module::Module;
use burn::optim::{GradientsParams, ModuleOptimizer};
use burn::tensor::activation::log_softmax;
use burn::tensor::{Device, Int, Tensor, TensorData};
use matnet::net::{Classifier, FeedForwardConfig, Net, NetConfig};
use matnet::optim::AdamConfig;
use matnet::random::SeededRng;
use matnet::{Mode, weights};
use rand::seq::SliceRandom;
use serde::Deserialize;

use crate::matrix::check_input;
use crate::{Error, Result};

/// Samples per batch of an evaluation.
const EVAL_BATCH_SIZE: usize = 128;

/// What the page decides.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Config {
    model: FeedForwardConfig<usize>,
    learning_rate: f64,
    batch_size: usize,
    seed: u64,
}

/// Trains a `feedforward` net on matrices with a class each, as `matnet train` does it with Adam: the same seed gives the same initial
/// weights and the same batches.
pub struct Trainer {
    config: Config,
    net: Classifier,
    adam: ModuleOptimizer,
    inputs: Vec<f32>,
    labels: Vec<u8>,
    /// So many samples are for training, the rest for the test.
    train: usize,
    device: Device,
    epoch: usize,
    /// What is left of the epoch, last first.
    batches: Vec<Vec<usize>>,
    sums: Sums,
}

/// The score of an epoch.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct EpochScore {
    /// Which epoch, from 1.
    pub epoch: usize,
    /// The mean loss over its training steps.
    pub train_loss: f64,
    /// The mean loss on the test samples after it.
    pub test_loss: f64,
    /// The error rate on the test samples after it, between 0 and 1.
    pub test_error: f64,
}

#[derive(Clone, Copy, Debug, Default)]
struct Sums {
    loss: f64,
    wrong: usize,
    samples: usize,
}

impl Trainer {
    /// From a config in JSON: `model` as in a config of `matnet train`, `learning_rate`, `batch_size` and `seed`. The first `train`
    /// of the samples are for training, the others for the test.
    pub fn new(config: &str, inputs: Vec<f32>, labels: Vec<u8>, train: usize) -> Result<Self> {
        let config: Config = serde_json::from_str(config).map_err(|error| Error::Input(error.to_string()))?;
        let [rows, cols] = config.model.input;
        check_input(&inputs, &[labels.len(), rows, cols])?;
        if train == 0 || train >= labels.len() {
            return Err(Error::Input(format!("{train} of {} samples are for training", labels.len())));
        }
        if let Some(label) = labels.iter().find(|&&label| usize::from(label) >= config.model.output) {
            let classes = config.model.output;
            return Err(Error::Input(format!("a sample is of class {label}; the net has {classes} classes")));
        }
        if config.batch_size == 0 {
            return Err(Error::Input("batch_size: 0; must be at least 1".to_owned()));
        }
        if !(config.learning_rate > 0.0 && config.learning_rate.is_finite()) {
            let what = format!("learning_rate: {}; must be greater than 0", config.learning_rate);
            return Err(Error::Input(what));
        }
        let device = Device::flex().autodiff();
        let net = config.model.init(&mut SeededRng::new(config.seed, "init"), &device)?;
        let adam = AdamConfig::default().init()?;
        let (batches, sums) = (Vec::new(), Sums::default());
        Ok(Self { config, net, adam, inputs, labels, train, device, epoch: 0, batches, sums })
    }

    /// The number of parameters.
    pub fn parameters(&self) -> usize {
        weights::count(&self.net)
    }

    /// At most `count` steps, none of them beyond the end of an epoch: the score of the epoch, if this is its end.
    pub fn steps(&mut self, count: usize) -> Result<Option<EpochScore>> {
        if self.batches.is_empty() {
            self.shuffle();
        }
        for _ in 0..count.max(1) {
            let Some(batch) = self.batches.pop() else { break };
            self.step(&batch)?;
        }
        if !self.batches.is_empty() {
            return Ok(None);
        }
        self.epoch += 1;
        let (train, test) = (std::mem::take(&mut self.sums), self.evaluate());
        Ok(Some(EpochScore {
            epoch: self.epoch,
            train_loss: train.loss / train.samples as f64,
            test_loss: test.loss / test.samples as f64,
            test_error: test.wrong as f64 / test.samples as f64,
        }))
    }

    fn shuffle(&mut self) {
        let mut order: Vec<usize> = (0..self.train).collect();
        order.shuffle(&mut SeededRng::new(self.config.seed, &format!("order of epoch {}", self.epoch)));
        self.batches = order.chunks(self.config.batch_size).map(<[usize]>::to_vec).rev().collect();
    }

    /// Forward, loss, backward, Adam.
    fn step(&mut self, batch: &[usize]) -> Result<()> {
        let number = self.epoch * self.train.div_ceil(self.config.batch_size) + self.batches_done();
        let mut mode = Mode::train(SeededRng::new(self.config.seed, &format!("step {number}")));
        let scores = self.net.forward(self.batch(batch, &self.device), &mut mode);
        let loss = self.cross_entropy(scores, batch);
        let value = f64::from(loss.clone().into_scalar::<f32>());
        if !value.is_finite() {
            return Err(Error::Input("the training diverged; try a smaller learning rate".to_owned()));
        }
        self.sums.loss += value * batch.len() as f64;
        self.sums.samples += batch.len();
        let gradients = GradientsParams::from_grads(loss.backward(), &self.net);
        self.net = self.adam.step(self.config.learning_rate, self.net.clone(), gradients);
        Ok(())
    }

    /// Steps of this epoch before the one that is being done.
    fn batches_done(&self) -> usize {
        self.train.div_ceil(self.config.batch_size) - self.batches.len() - 1
    }

    fn evaluate(&self) -> Sums {
        let net = self.net.valid();
        let device = Device::flex();
        let test: Vec<usize> = (self.train..self.labels.len()).collect();
        let mut sums = Sums::default();
        for batch in test.chunks(EVAL_BATCH_SIZE) {
            let scores = net.forward(self.batch(batch, &device), &mut Mode::Eval);
            let rows: Vec<f32> = scores.to_data().iter::<f32>().collect();
            for (row, &sample) in rows.chunks_exact(self.config.model.output).zip(batch) {
                let best =
                    (1..row.len()).fold(0, |best, class| if row[class] > row[best] { class } else { best });
                sums.wrong += usize::from(best != usize::from(self.labels[sample]));
            }
            sums.loss +=
                f64::from(self.cross_entropy(scores, batch).into_scalar::<f32>()) * batch.len() as f64;
            sums.samples += batch.len();
        }
        sums
    }

    fn batch(&self, batch: &[usize], device: &Device) -> Tensor<3> {
        let [rows, cols] = self.config.model.input;
        let size = rows * cols;
        let values: Vec<f32> =
            batch.iter().flat_map(|&at| &self.inputs[at * size..(at + 1) * size]).copied().collect();
        Tensor::from_data(TensorData::new(values, [batch.len(), rows, cols]), device)
    }

    fn cross_entropy(&self, scores: Tensor<2>, batch: &[usize]) -> Tensor<1> {
        let classes: Vec<i64> = batch.iter().map(|&at| self.labels[at].into()).collect();
        let classes = TensorData::new(classes, [batch.len(), 1]);
        let classes = Tensor::<2, Int>::from_data(classes, &scores.device());
        -log_softmax(scores, 1).gather(1, classes).mean()
    }
}

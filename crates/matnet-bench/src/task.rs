//! A row made ready: net, batch, loss and optimiser, to be run again and again.

use burn::module::Module;
use burn::nn::loss::{BinaryCrossEntropyLossConfig, CrossEntropyLossConfig, MseLoss, Reduction};
use burn::optim::{self, GradientsParams, ModuleOptimizer};
use burn::tensor::{Device, Int, Tensor, TensorData};
use matnet::optim::AdamConfig;
use matnet::prelude::*;
use matnet::weights;
use safetensors::tensor::{Dtype, TensorView};
use serde::{Deserialize, Serialize};

use crate::row::{Kind, Row, Timed};
use crate::{composed, graph};

/// The usual one for Adam, and small enough that repeating a batch does no harm.
pub const LEARNING_RATE: f64 = 1e-3;

/// Fused operations or ordinary ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Variant {
    /// The kernels of matnet, Adam included.
    Fused,
    /// Ordinary Burn operations and Burn's Adam.
    Composed,
}

/// Something that can be repeated.
pub trait Task {
    /// One training step or one forward pass; gives the loss before the step, or the sum of the output.
    fn step(&mut self) -> Tensor<1>;
    /// Weights, input and target as a safetensors file.
    fn export(&self) -> Vec<u8>;
    /// The number of parameters.
    fn parameters(&self) -> usize;
}

/// Makes a row ready.
pub fn load(row: &Row, variant: Variant) -> Result<Box<dyn Task>, String> {
    let device = match row.mode {
        Timed::Train => Device::flex().autodiff(),
        Timed::Infer => Device::flex(),
    };
    let rng = &mut SeededRng::new(1, "bench");
    let fused = variant == Variant::Fused;
    let wrong = |error: ConfigError| error.to_string();
    let optimiser = match variant {
        Variant::Fused => AdamConfig::default().init().map_err(wrong)?,
        Variant::Composed => optim::AdamConfig::new().with_epsilon(1e-8).init(),
    };
    // In use, the sum of the output stands for the loss: it costs nothing and tells as much.
    let learns = row.mode == Timed::Train;
    Ok(match row.net {
        Kind::Feedforward => {
            let config: FeedForwardConfig<usize> = row.config()?;
            let net = config.init(rng, &device).map_err(wrong)?;
            let input = normal([row.batch, config.input[0], config.input[1]], &device);
            let target = labels(row.batch, config.output, &device);
            let loss = CrossEntropyLossConfig::new().init(&device);
            Repeat::boxed(row.mode, optimiser, net, input, target.clone().float(), move |net, input| {
                let output = match fused {
                    true => net.forward(input, &mut Mode::Eval),
                    false => composed::feed_forward(net, input),
                };
                if learns { loss.forward(output, target.clone()) } else { output.sum() }
            })
        }
        Kind::SequenceClassifier => {
            let config: SequenceClassifierConfig = row.config()?;
            let net = config.init(rng, &device).map_err(wrong)?;
            let cell = config.cell.with(config.activation);
            let input = normal([row.batch, row.time, config.input[0], config.input[1]], &device);
            let target = labels(row.batch, 2, &device).reshape([row.batch, 1]);
            let loss = BinaryCrossEntropyLossConfig::new().with_logits(true).init(&device);
            Repeat::boxed(row.mode, optimiser, net, input, target.clone().float(), move |net, input| {
                let output = match fused {
                    true => net.forward(input, &mut Mode::Eval),
                    false => composed::sequence_classifier(net, cell, input),
                };
                if learns { loss.forward(output, target.clone()) } else { output.sum() }
            })
        }
        Kind::Seq2seq => {
            let config: Seq2SeqConfig = row.config()?;
            let net = config.init(rng, &device).map_err(wrong)?;
            let cell = config.cell.with(config.activation);
            let ([rows, cols], steps) = (config.input, config.steps);
            let input = normal([row.batch, row.time, rows, cols], &device);
            let target = normal([row.batch, steps, rows, cols], &device);
            Repeat::boxed(row.mode, optimiser, net, input, target.clone(), move |net, input| {
                let output = match fused {
                    true => net.forward(input, &mut Mode::Eval),
                    false => composed::seq2seq(net, cell, steps, input),
                };
                if learns {
                    MseLoss::new().forward(output, target.clone(), Reduction::Mean)
                } else {
                    output.sum()
                }
            })
        }
        Kind::ColumnNet | Kind::Gcn if !fused => {
            return Err(format!("{}: nets on graphs have no composed side", row.id));
        }
        Kind::ColumnNet => {
            let config: ColumnNetConfig = row.config()?;
            let net = config.init(rng, &device).map_err(wrong)?;
            let links = |net: &ColumnNet, graph: &Graph| net.links(graph);
            graph::task(row, optimiser, net, links, config.features, config.classes, &device)?
        }
        Kind::Gcn => {
            let config: GcnConfig = row.config()?;
            let net = config.init(rng, &device).map_err(wrong)?;
            let links = |net: &Gcn, graph: &Graph| net.links(graph);
            graph::task(row, optimiser, net, links, config.features, config.classes, &device)?
        }
    })
}

/// Numbers around 0, the same on every machine.
fn normal<const D: usize>(shape: [usize; D], device: &Device) -> Tensor<D> {
    let mut rng = SeededRng::new(2, "batch");
    let numbers: Vec<f32> = (0..shape.iter().product()).map(|_| 0.5 * rng.normal() as f32).collect();
    Tensor::from_data(TensorData::new(numbers, shape), device)
}

/// Classes in turn.
fn labels(batch: usize, classes: usize, device: &Device) -> Tensor<1, Int> {
    let numbers: Vec<i64> = (0..batch).map(|sample| (sample % classes) as i64).collect();
    Tensor::from_data(TensorData::new(numbers, [batch]), device)
}

/// A net and a way from its input to the loss.
struct Repeat<N, F, const I: usize, const T: usize> {
    timed: Timed,
    /// Taken out while the optimiser has it.
    net: Option<N>,
    optimiser: ModuleOptimizer,
    input: Tensor<I>,
    target: Tensor<T>,
    loss: F,
}

impl<N, F, const I: usize, const T: usize> Repeat<N, F, I, T>
where
    N: Module + 'static,
    F: Fn(&N, Tensor<I>) -> Tensor<1> + 'static,
{
    fn boxed(
        timed: Timed,
        optimiser: ModuleOptimizer,
        net: N,
        input: Tensor<I>,
        target: Tensor<T>,
        loss: F,
    ) -> Box<dyn Task> {
        Box::new(Self { timed, net: Some(net), optimiser, input, target, loss })
    }

    fn net(&self) -> &N {
        self.net.as_ref().expect("put back after every step")
    }
}

impl<N, F, const I: usize, const T: usize> Task for Repeat<N, F, I, T>
where
    N: Module + 'static,
    F: Fn(&N, Tensor<I>) -> Tensor<1> + 'static,
{
    fn step(&mut self) -> Tensor<1> {
        let loss = (self.loss)(self.net(), self.input.clone());
        if self.timed == Timed::Train {
            let gradients = GradientsParams::from_grads(loss.backward(), self.net());
            let net = self.net.take().expect("put back after every step");
            self.net = Some(self.optimiser.step(LEARNING_RATE, net, gradients));
        }
        loss
    }

    fn export(&self) -> Vec<u8> {
        let mut tensors: Vec<(String, TensorData)> = weights::named(self.net())
            .into_iter()
            .map(|(name, data)| (format!("weight.{name}"), data))
            .collect();
        tensors.push(("input".to_owned(), self.input.clone().into_data()));
        tensors.push(("target".to_owned(), self.target.clone().into_data()));
        let views = tensors.iter().map(|(name, data)| {
            let view = TensorView::new(Dtype::F32, data.shape().to_vec(), data.as_bytes());
            (name, view.expect("f32 tensors are f32 tensors"))
        });
        safetensors::serialize(views, None).expect("in memory")
    }

    fn parameters(&self) -> usize {
        self.net().num_params()
    }
}

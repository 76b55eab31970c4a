//! A row that is ready to be timed: net, batch, loss and optimizer.

use burn::module::Module;
use burn::nn::loss::{BinaryCrossEntropyLossConfig, CrossEntropyLossConfig, MseLoss, Reduction};
use burn::optim::{self, GradientsParams, ModuleOptimizer};
use burn::tensor::{Device, Int, Tensor, TensorData};
use matnet::optim::AdamConfig;
use matnet::prelude::*;
use matnet::weights;
use safetensors::tensor::{Dtype, TensorView};

use crate::Saved;
use crate::row::{BenchNet, Row, Timed};
use crate::task::{LEARNING_RATE, Task, Variant};
use crate::{composed, graph_task};

/// Loads a row.
pub fn load(row: &Row, variant: Variant, saved: Saved) -> Result<Box<dyn Task>, String> {
    let device = match row.mode {
        Timed::Train if saved == Saved::None => Device::flex().autodiff().gradient_checkpointing(),
        Timed::Train => Device::flex().autodiff(),
        Timed::Infer => Device::flex(),
    };
    let rng = &mut SeededRng::new(1, "bench");
    let fused = variant == Variant::Fused;
    let text = |error: ConfigError| error.to_string();
    let optimizer = match variant {
        Variant::Fused => AdamConfig::default().init().map_err(text)?,
        Variant::Composed => optim::AdamConfig::new().with_epsilon(1e-8).init(),
    };
    // In inference the sum of the output replaces the loss: it costs nothing and is as good a check.
    let training = row.mode == Timed::Train;
    Ok(match row.net {
        BenchNet::Feedforward => {
            let config: FeedForwardConfig<usize> = row.config()?;
            let net = config.init(rng, &device).map_err(text)?;
            let input = normal([row.batch, config.input[0], config.input[1]], &device);
            let target = labels(row.batch, config.output, &device);
            let loss = CrossEntropyLossConfig::new().init(&device);
            Repeat::boxed(row.mode, optimizer, net, input, target.clone().float(), move |net, input| {
                let output = match fused {
                    true => net.forward(input, &mut Mode::Eval),
                    false => composed::feed_forward(net, input),
                };
                if training { loss.forward(output, target.clone()) } else { output.sum() }
            })
        }
        BenchNet::SequenceClassifier => {
            let config: SequenceClassifierConfig = row.config()?;
            let net = config.init(rng, &device).map_err(text)?;
            let cell = config.cell.with(config.activation);
            let input = normal([row.batch, row.time, config.input[0], config.input[1]], &device);
            let target = labels(row.batch, 2, &device).reshape([row.batch, 1]);
            let loss = BinaryCrossEntropyLossConfig::new().with_logits(true).init(&device);
            Repeat::boxed(row.mode, optimizer, net, input, target.clone().float(), move |net, input| {
                let output = match fused {
                    true => net.forward(input.into(), &mut Mode::Eval),
                    false => composed::sequence_classifier(net, cell, input),
                };
                if training { loss.forward(output, target.clone()) } else { output.sum() }
            })
        }
        BenchNet::Seq2seq => {
            let config: Seq2SeqConfig = row.config()?;
            let net = config.init(rng, &device).map_err(text)?;
            let cell = config.cell.with(config.activation);
            let ([rows, cols], steps) = (config.input, config.steps);
            let input = normal([row.batch, row.time, rows, cols], &device);
            let target = normal([row.batch, steps, rows, cols], &device);
            Repeat::boxed(row.mode, optimizer, net, input, target.clone(), move |net, input| {
                let output = match fused {
                    true => net.forward(input.into(), &mut Mode::Eval),
                    false => composed::seq2seq(net, cell, steps, input),
                };
                if training {
                    MseLoss::new().forward(output, target.clone(), Reduction::Mean)
                } else {
                    output.sum()
                }
            })
        }
        BenchNet::ColumnNet | BenchNet::Gcn if !fused => {
            return Err(format!("{}: nets on graphs have no composed variant", row.id));
        }
        BenchNet::ColumnNet => {
            let config: ColumnNetConfig = row.config()?;
            let net = config.init(rng, &device).map_err(text)?;
            graph_task::task(row, optimizer, net, &config, &device)?
        }
        BenchNet::Gcn => {
            let config: GcnConfig = row.config()?;
            let net = config.init(rng, &device).map_err(text)?;
            graph_task::task(row, optimizer, net, &config, &device)?
        }
    })
}

/// Normally distributed numbers, the same on every machine.
fn normal<const D: usize>(shape: [usize; D], device: &Device) -> Tensor<D> {
    let mut rng = SeededRng::new(2, "batch");
    let numbers: Vec<f32> = (0..shape.iter().product()).map(|_| 0.5 * rng.normal() as f32).collect();
    Tensor::from_data(TensorData::new(numbers, shape), device)
}

/// Classes in rotation.
fn labels(batch: usize, classes: usize, device: &Device) -> Tensor<1, Int> {
    let numbers: Vec<i64> = (0..batch).map(|sample| (sample % classes) as i64).collect();
    Tensor::from_data(TensorData::new(numbers, [batch]), device)
}

/// A net and a function from its input to the loss.
struct Repeat<N, F, const I: usize, const T: usize> {
    timed: Timed,
    /// Taken out while the optimizer updates it.
    net: Option<N>,
    optimizer: ModuleOptimizer,
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
        optimizer: ModuleOptimizer,
        net: N,
        input: Tensor<I>,
        target: Tensor<T>,
        loss: F,
    ) -> Box<dyn Task> {
        Box::new(Self { timed, net: Some(net), optimizer, input, target, loss })
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
            self.net = Some(self.optimizer.step(LEARNING_RATE, net, gradients));
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

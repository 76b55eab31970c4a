//! A feed-forward net on matrices, and what happens inside it.

use burn::tensor::activation::softmax;
use burn::tensor::{Device, Tensor, TensorData};
use matnet::Mode;
use matnet::net::{Classifier, FeedForwardConfig, Net};
use matnet::weights;

use crate::matrix::{Matrix, check_input};
use crate::{Error, Result, Run};

/// A trained `feedforward` net that gives classes.
#[derive(Debug)]
pub struct SampleNet {
    net: Classifier,
    input: [usize; 2],
    classes: Vec<String>,
    device: Device,
}

impl SampleNet {
    /// The net of a run.
    pub fn new(run: &Run) -> Result<Self> {
        let device = Device::flex();
        let (config, net): (FeedForwardConfig<usize>, _) = run.net("feedforward", &device)?;
        let classes = run.metadata.classes.clone();
        if classes.len() != config.output || config.output < 2 {
            let what = format!("names {} classes where the net has {}", classes.len(), config.output);
            return Err(Error::Weights(what));
        }
        Ok(Self { net, input: config.input, classes, device })
    }

    /// A name per class.
    pub fn classes(&self) -> &[String] {
        &self.classes
    }

    /// The number of parameters.
    pub fn parameters(&self) -> usize {
        weights::count(&self.net)
    }

    /// The probability of every class, and the states of all hidden layers.
    pub fn predict(&self, values: Vec<f32>) -> Result<(Vec<f32>, Vec<Matrix>)> {
        check_input(&values, &self.input)?;
        let [rows, cols] = self.input;
        let input = Tensor::<3>::from_data(TensorData::new(values, [1, rows, cols]), &self.device);
        let mut mode = Mode::Eval.record();
        let scores = self.net.forward(input, &mut mode);
        let probabilities = softmax(scores, 1).into_data().iter::<f32>().collect();
        let states = mode.recorded().iter().filter(|state| state.layer.starts_with("layer."));
        Ok((probabilities, states.flat_map(Matrix::of_state).collect()))
    }

    /// U, V and B of every hidden layer, under the names of the parameters.
    pub fn maps(&self) -> Vec<Matrix> {
        let named = weights::named(&self.net).into_iter();
        let maps = named.filter(|(name, data)| name.starts_with("layer.") && data.shape().len() == 2);
        let matrix = |(name, data): (String, TensorData)| {
            let (rows, cols) = (data.shape()[0], data.shape()[1]);
            Matrix { name, rows, cols, values: data.iter::<f32>().collect() }
        };
        maps.map(matrix).collect()
    }
}

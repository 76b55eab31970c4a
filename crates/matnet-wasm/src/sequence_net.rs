//! A net that reads matrices and predicts those that follow.

use burn::tensor::activation::sigmoid;
use burn::tensor::{Device, Tensor, TensorData};
use matnet::net::{Net, Seq2Seq, Seq2SeqConfig};
use matnet::ops::{Keep, Steps};
use matnet::{Form, LayerState, Mode, weights};

use crate::matrix::{Matrix, check_input};
use crate::{Error, Result, Run};

/// Predicted at most, whatever the page asks for.
const MAX_STEPS: usize = 1000;

/// A trained `seq2seq` net of matrices.
#[derive(Debug)]
pub struct SequenceNet {
    net: Seq2Seq,
    context_length: usize,
    logits: bool,
    device: Device,
}

impl SequenceNet {
    /// The net of a run.
    pub fn new(run: &Run) -> Result<Self> {
        let device = Device::flex();
        let (_, net): (Seq2SeqConfig, _) = run.net("seq2seq", &device)?;
        let Some(context_length) = run.metadata.context_length.filter(|&steps| steps > 0) else {
            return Err(Error::Weights("the net does not predict the rest of its own input".to_owned()));
        };
        if net.form() != Form::Matrix {
            return Err(Error::Config("model.form is \"vector\"; \"matrix\" expected".to_owned()));
        }
        Ok(Self { net, context_length, logits: run.metadata.logits, device })
    }

    /// How many matrices it reads.
    pub fn context_length(&self) -> usize {
        self.context_length
    }

    /// How many matrices it was trained to predict.
    pub fn steps(&self) -> usize {
        self.net.steps
    }

    /// Rows and columns of a matrix.
    pub fn sides(&self) -> [usize; 2] {
        self.net.input
    }

    /// The number of parameters.
    pub fn parameters(&self) -> usize {
        weights::count(&self.net)
    }

    /// The `steps` matrices that follow those of the context, one after another, and the hidden states: one for each step of the
    /// context, then one for each prediction.
    pub fn predict(&self, context: Vec<f32>, steps: usize) -> Result<(Vec<f32>, Vec<Matrix>)> {
        let [rows, cols] = self.net.input;
        let shape = [1, self.context_length, rows, cols];
        check_input(&context, &shape[1..])?;
        if !(1..=MAX_STEPS).contains(&steps) {
            return Err(Error::Input(format!("{steps} steps: between 1 and {MAX_STEPS} expected")));
        }
        let input = Tensor::<4>::from_data(TensorData::new(context, shape), &self.device);
        let mut mode = Mode::Eval.record();
        let output = self.net.predict(input.clone().into(), steps, &mut mode);
        let output = if self.logits { sigmoid(output) } else { output };
        // The net keeps only the last state of its encoder; the page shows all of them.
        let reading = Steps::Sequence(input.into());
        let (read, _) = self.net.encoder.forward(reading, None, Keep::All, &mut Mode::Eval);
        let read = LayerState {
            layer: "encoder".to_owned(),
            shape: read.dims().to_vec(),
            values: read.into_data().iter::<f32>().collect(),
        };
        // The decoder comes last, and its last layer is the one that is drawn from.
        let states = [Some(&read), mode.recorded().last()].into_iter().flatten();
        Ok((output.into_data().iter::<f32>().collect(), states.flat_map(Matrix::of_state).collect()))
    }
}

//! A trained net that has learnt a program, ready to be used.

use std::sync::Arc;

use burn::tensor::{Device, Tensor, TensorData};
use matnet::Mode;
use matnet::net::{Net, TuringMachine};
use matnet_data::Array;

use super::{ProgramData, ProgramModelConfig, ProgramNote, ProgramTask};
use crate::config::TrainConfig;
use crate::run::Answers;
use crate::{Error, Result, task};

/// A trained net, and what belongs to it.
#[derive(Debug)]
pub struct TrainedProgram {
    /// The net.
    pub net: TuringMachine,
    /// Its config.
    pub config: ProgramModelConfig,
    /// What else there is to know.
    pub note: ProgramNote,
    pub(crate) device: Device,
}

impl TrainedProgram {
    /// What the net was trained to do, on these sequences.
    pub fn task(&self, data: ProgramData, train: &TrainConfig) -> Result<ProgramTask> {
        ProgramTask::new(Arc::new(data), self.config.clone(), train)
    }

    /// The bits of every step, `[n, time, rows, cols]`, for inputs `[n, time, rows, cols]`, or `[n, time, cols]`
    /// where they have one row.
    pub fn answer(&self, inputs: Array) -> Result<Answers> {
        let [rows, cols] = self.config.0.input;
        let given = inputs.shape().to_vec();
        let shape = match *given {
            [n, time, r, c] if time > 0 && [r, c] == [rows, cols] => [n, time, rows, cols],
            [n, time, c] if time > 0 && rows == 1 && c == cols => [n, time, rows, cols],
            _ => {
                let what = format!("the net takes [n, time, {rows}, {cols}], these inputs are {given:?}");
                return Err(Error::Run(what));
            }
        };
        let inputs = Tensor::<4>::from_data(TensorData::new(inputs.into_data(), shape), &self.device);
        let given = self.net.forward(inputs, &mut Mode::Eval);
        let shape = given.dims().to_vec();
        let bits = task::numbers(given).into_iter().map(|x| f32::from(u8::from(x > 0.0))).collect();
        Ok(Answers { numbers: Array::new(shape, bits)?, classes: Vec::new() })
    }
}

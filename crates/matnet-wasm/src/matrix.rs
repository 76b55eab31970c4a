//! Matrices with a name, as the page draws them.

use matnet::LayerState;

use crate::{Error, Result};

/// A matrix with a name.
#[derive(Clone, Debug, PartialEq)]
pub struct Matrix {
    /// What it is: a parameter or a layer.
    pub name: String,
    /// How many rows.
    pub rows: usize,
    /// How many columns.
    pub cols: usize,
    /// The numbers, row by row.
    pub values: Vec<f32>,
}

impl Matrix {
    /// The states of a layer, one matrix for each step; all have the name of the layer.
    pub(crate) fn of_state(state: &LayerState) -> Vec<Self> {
        let (rows, cols) = match state.shape[..] {
            [.., rows, cols] => (rows, cols),
            _ => (state.values.len(), 1),
        };
        let matrix = |values: &[f32]| Self { name: state.layer.clone(), rows, cols, values: values.to_vec() };
        state.values.chunks_exact((rows * cols).max(1)).map(matrix).collect()
    }
}

/// Fails unless there are as many numbers as the net takes, all of them finite.
pub(crate) fn check_input(values: &[f32], shape: &[usize]) -> Result<()> {
    let wanted: usize = shape.iter().product();
    if values.len() != wanted {
        let sides = shape.iter().map(usize::to_string).collect::<Vec<_>>().join("×");
        let what = format!("the input has {} numbers; the net takes {sides}", values.len());
        return Err(Error::Input(what));
    }
    match values.iter().position(|value| !value.is_finite()) {
        Some(at) => Err(Error::Input(format!("number {at} of the input is {}", values[at]))),
        None => Ok(()),
    }
}

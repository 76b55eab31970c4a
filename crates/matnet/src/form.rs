//! The form of a net: matrix or vector.

use burn::tensor::Tensor;
use serde::{Deserialize, Serialize};

use crate::error::{ConfigError, check_sides, show};

/// Whether the states of a net are matrices or vectors.
///
/// Between layers a state is always `[batch, rows, cols]`. A vector of n numbers is a state of one column, `[batch, n, 1]`, so
/// that element-wise layers (skip connections, gates, dropout, batch norm) are the same for both; only the maps differ. A vector
/// net has the same inputs and outputs as its matrix twin: it flattens its input in row-major order.
///
/// ```
/// use matnet::Form;
///
/// assert_eq!(Form::Matrix.state("hidden", &[50, 40]).unwrap(), [50, 40]);
/// assert_eq!(Form::Vector.state("hidden", &[200]).unwrap(), [200, 1]);
/// let error = Form::Vector.state("hidden", &[50, 40]).unwrap_err();
/// assert_eq!(error.to_string(), "hidden: 50×40; form = \"vector\" takes 1 side, like [200]");
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Form {
    /// Y = σ(UᵀXV + B)
    #[default]
    Matrix,
    /// y = σ(Wᵀx + b)
    Vector,
}

impl Form {
    /// The shape `[rows, cols]` of a state with these sides, one for a vector and two for a matrix.
    pub fn state(self, key: &str, sides: &[usize]) -> Result<[usize; 2], ConfigError> {
        let state = match (self, sides) {
            (Self::Matrix, &[rows, cols]) => [rows, cols],
            (Self::Vector, &[units]) => [units, 1],
            (Self::Matrix, _) => {
                return Err(ConfigError::new(
                    key,
                    show(sides),
                    "form = \"matrix\" takes 2 sides, like [50, 50]",
                ));
            }
            (Self::Vector, _) => {
                return Err(ConfigError::new(key, show(sides), "form = \"vector\" takes 1 side, like [200]"));
            }
        };
        check_sides(key, &state)?;
        Ok(state)
    }

    /// The shape of the state that holds a matrix of `rows` × `cols`.
    pub fn holding(self, key: &str, [rows, cols]: [usize; 2]) -> Result<[usize; 2], ConfigError> {
        check_sides(key, &[rows, cols])?;
        Ok(match self {
            Self::Matrix => [rows, cols],
            Self::Vector => [rows * cols, 1],
        })
    }

    /// Matrices `[batch, rows, cols]` become states.
    pub fn enter(self, matrices: Tensor<3>) -> Tensor<3> {
        match self {
            Self::Matrix => matrices,
            Self::Vector => {
                let [batch, rows, cols] = matrices.dims();
                matrices.reshape([batch, rows * cols, 1])
            }
        }
    }

    /// Sequences `[batch, time, rows, cols]` become sequences of states.
    pub fn enter_sequence(self, matrices: Tensor<4>) -> Tensor<4> {
        match self {
            Self::Matrix => matrices,
            Self::Vector => {
                let [batch, time, rows, cols] = matrices.dims();
                matrices.reshape([batch, time, rows * cols, 1])
            }
        }
    }

    /// States become matrices `[batch, rows, cols]`.
    pub fn leave(self, states: Tensor<3>, [rows, cols]: [usize; 2]) -> Tensor<3> {
        match self {
            Self::Matrix => states,
            Self::Vector => {
                let batch = states.dims()[0];
                states.reshape([batch, rows, cols])
            }
        }
    }
}

//! The shapes of hidden layers in a config.

use serde::{Deserialize, Serialize};

use crate::error::{ConfigError, MAX_DEPTH, check_count};
use crate::form::Form;

/// One shape for all hidden layers, or a shape for each.
///
/// ```
/// use matnet::{Form, net::Hidden};
///
/// let same = Hidden::from([50, 40]);
/// assert_eq!(same.shapes(Form::Matrix, Some(3)).unwrap(), [[50, 40]; 3]);
/// let each = Hidden::from(vec![vec![200], vec![100]]);
/// assert_eq!(each.shapes(Form::Vector, None).unwrap(), [[200, 1], [100, 1]]);
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged, expecting = "sides expected, like [50, 50] or [200], or a list of such")]
pub enum Hidden {
    /// `[50, 50]`, or `[200]` for vectors.
    Same(Vec<usize>),
    /// `[[50, 50], [20, 20]]`, or `[[200], [100]]` for vectors.
    Each(Vec<Vec<usize>>),
}

impl Hidden {
    /// The shape of every hidden layer. One shape is repeated `depth` times, 1 if it is missing.
    pub fn shapes(&self, form: Form, depth: Option<usize>) -> Result<Vec<[usize; 2]>, ConfigError> {
        match self {
            Self::Same(sides) => {
                let depth = depth.unwrap_or(1);
                check_count("depth", depth, MAX_DEPTH)?;
                Ok(vec![form.state("hidden", sides)?; depth])
            }
            Self::Each(list) => {
                check_count("depth", depth.unwrap_or(list.len()), MAX_DEPTH)?;
                if let Some(depth) = depth.filter(|&depth| depth != list.len()) {
                    let expected = format!("hidden lists {} shapes; leave depth out", list.len());
                    return Err(ConfigError::new("depth", depth.to_string(), expected));
                }
                let at = |layer: usize, mut error: ConfigError| {
                    error.value = format!("{} at layer {}", error.value, layer + 1);
                    error
                };
                let state = |(layer, sides): (usize, &Vec<usize>)| {
                    form.state("hidden", sides).map_err(|error| at(layer, error))
                };
                list.iter().enumerate().map(state).collect()
            }
        }
    }
}

impl<const N: usize> From<[usize; N]> for Hidden {
    fn from(sides: [usize; N]) -> Self {
        Self::Same(sides.to_vec())
    }
}

impl From<Vec<usize>> for Hidden {
    fn from(sides: Vec<usize>) -> Self {
        Self::Same(sides)
    }
}

impl<const N: usize> From<Vec<[usize; N]>> for Hidden {
    fn from(list: Vec<[usize; N]>) -> Self {
        Self::Each(list.into_iter().map(|sides| sides.to_vec()).collect())
    }
}

impl From<Vec<Vec<usize>>> for Hidden {
    fn from(list: Vec<Vec<usize>>) -> Self {
        Self::Each(list)
    }
}

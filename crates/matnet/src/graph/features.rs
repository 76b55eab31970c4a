//! Node features: dense or sparse rows.

use burn::tensor::{Device, Int, Tensor, TensorData};

use super::{GraphError, Sparse};

/// Below this density, rows are stored as a sparse matrix. Measured, forward and backward, on 4,000 rows of 1,000 numbers: for
/// maps to 16, 20 and 100 numbers the sparse product is faster up to a density of 0.2, 0.25 and 0.3. Cora has 1.3 %, PubMed 10 %.
const SPARSE: f64 = 0.2;

/// A row of features per node.
#[derive(Clone, Debug)]
#[allow(clippy::large_enum_variant)] // There is one per input, and a box would only hide the tensor.
pub enum Features {
    /// `[nodes, width]`
    Dense(Tensor<2>),
    /// The same without the zeros: the words of a paper, for example. It has no gradient.
    Sparse(Sparse),
}

impl From<Tensor<2>> for Features {
    fn from(features: Tensor<2>) -> Self {
        Self::Dense(features)
    }
}

impl From<Sparse> for Features {
    fn from(features: Sparse) -> Self {
        Self::Sparse(features)
    }
}

impl Features {
    /// Rows of `width` numbers, stored as a sparse matrix if most of them are zero.
    ///
    /// ```
    /// use burn::tensor::Device;
    /// use matnet::graph::Features;
    ///
    /// let mut words = vec![0.0; 3 * 100];
    /// words[7] = 1.0;
    /// let features = Features::new(words, 100, &Device::flex())?;
    /// assert!(matches!(features, Features::Sparse(_)));
    /// assert_eq!((features.nodes(), features.width()), (3, 100));
    /// # Ok::<(), matnet::graph::GraphError>(())
    /// ```
    pub fn new(numbers: Vec<f32>, width: usize, device: &Device) -> Result<Self, GraphError> {
        if width == 0 || numbers.is_empty() || !numbers.len().is_multiple_of(width) {
            let what = format!("{} numbers are no rows of {width} features", numbers.len());
            return Err(GraphError::Matrix(what));
        }
        let filled = numbers.iter().filter(|&&number| number != 0.0).count();
        let all = numbers.len() as u64;
        Self::of_whole(numbers, width, [filled as u64, all], device)
    }

    /// Some rows of a whole of which `filled` of `all` numbers are not zero; the whole decides whether they are stored as a sparse matrix.
    pub fn of_whole(
        numbers: Vec<f32>,
        width: usize,
        [filled, all]: [u64; 2],
        device: &Device,
    ) -> Result<Self, GraphError> {
        if (filled as f64) < SPARSE * all as f64 {
            return Sparse::from_rows(width, &numbers).map(Self::Sparse);
        }
        let shape = [numbers.len() / width, width];
        Ok(Self::Dense(Tensor::from_data(TensorData::new(numbers, shape), device)))
    }

    /// How many nodes.
    pub fn nodes(&self) -> usize {
        match self {
            Self::Dense(features) => features.dims()[0],
            Self::Sparse(features) => features.rows(),
        }
    }

    /// How many features a node has.
    pub fn width(&self) -> usize {
        match self {
            Self::Dense(features) => features.dims()[1],
            Self::Sparse(features) => features.cols(),
        }
    }

    /// The rows of these nodes, in this order.
    ///
    /// # Panics
    ///
    /// If there is no such node.
    pub fn select(&self, nodes: &[u32]) -> Self {
        match self {
            Self::Dense(features) => {
                assert!(nodes.iter().all(|&node| (node as usize) < self.nodes()), "no such node");
                let places: Vec<i64> = nodes.iter().map(|&node| node.into()).collect();
                let places = TensorData::new(places, [nodes.len()]);
                let places = Tensor::<1, Int>::from_data(places, &features.device());
                Self::Dense(features.clone().select(0, places))
            }
            Self::Sparse(features) => Self::Sparse(features.select(nodes)),
        }
    }
}

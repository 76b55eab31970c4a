//! What a net is made of: one row per layer, told by the layers themselves.

use burn::module::Param;
use burn::tensor::Tensor;

/// One row of a net's summary; see [`Net::summary`](crate::Net::summary).
///
/// ```
/// use burn::tensor::Device;
/// use matnet::prelude::*;
///
/// let config = FeedForwardConfig::new([28, 28], [20, 20], 10).with_depth(Some(30));
/// let net = config.init(&mut SeededRng::new(42, "init"), &Device::flex())?;
/// let summary = net.summary(1);
/// assert_eq!((summary.len(), &*summary[0].name, summary[0].kind), (31, "layer.0", "matrix map"));
/// // Layers that differ only in their names can be shown as one row.
/// assert_eq!(summary.chunk_by(LayerSummary::alike).count(), 3);
/// # Ok::<(), matnet::ConfigError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct LayerSummary {
    /// The name of the layer, as in the stored weights: `layer.0`.
    pub name: String,
    /// What the layer is: `matrix map`, `vector LSTM cell`, …
    pub kind: &'static str,
    /// The shapes of input and output, for layers that map one to the other.
    pub shapes: Option<([usize; 2], [usize; 2])>,
    /// How many numbers are trained. Running statistics are not among them.
    pub parameters: usize,
    /// How often one sample passes through the layer: time steps and tied layers count.
    pub uses: usize,
    /// Floating-point operations of the layer's products in the forward pass of one sample, over all uses.
    pub flops: u64,
    /// Parameters of the same layer in a vector net with as many hidden units as the matrices have entries.
    pub vector_parameters: u64,
    /// Stored names of the weights that L1 and L2 regularisation reaches.
    pub regularized: Vec<String>,
}

impl LayerSummary {
    /// A layer without parameters; the `with_*` functions add what it has.
    pub fn new(name: &str, kind: &'static str, uses: usize) -> Self {
        Self {
            name: name.to_owned(),
            kind,
            shapes: None,
            parameters: 0,
            uses,
            flops: 0,
            vector_parameters: 0,
            regularized: Vec::new(),
        }
    }

    /// Adds a weight if there is one: a parameter that is regularised. `field` is its name within the layer.
    pub fn with_weight<const D: usize>(mut self, field: &str, weight: Option<&Param<Tensor<D>>>) -> Self {
        if weight.is_some() {
            self.regularized.push(join(&self.name, field));
        }
        self.with_parameter(weight)
    }

    /// Adds a parameter if there is one that is not regularised: a bias, or the scale of a batch norm.
    pub fn with_parameter<const D: usize>(mut self, parameter: Option<&Param<Tensor<D>>>) -> Self {
        let numbers = parameter.map_or(0, |parameter| parameter.lazy_shape().num_elements());
        self.parameters += numbers;
        self.vector_parameters += numbers as u64;
        self
    }

    /// A row for a weight that stands in a net by itself and gives the row its name.
    pub(crate) fn of_weight<const D: usize>(
        name: &str,
        kind: &'static str,
        weight: &Param<Tensor<D>>,
    ) -> Self {
        let row = Self::new("", kind, 1).with_weight(name, Some(weight));
        Self { name: name.to_owned(), ..row }
    }

    /// Sets the shapes of input and output.
    pub fn with_shapes(mut self, input: [usize; 2], output: [usize; 2]) -> Self {
        self.shapes = Some((input, output));
        self
    }

    /// Sets the operations of one use.
    pub fn with_flops(mut self, flops: u64) -> Self {
        self.flops = flops * self.uses as u64;
        self
    }

    /// Sets the weights that the vector twin has in the place of the matrix layer's own; biases stay as they are.
    pub(crate) fn with_vector_weights(mut self, numbers: u64, bias: usize) -> Self {
        self.vector_parameters = numbers + bias as u64;
        self
    }

    /// How many numbers it gives for one sample, over all uses; 0 for layers without shapes.
    pub fn output_numbers(&self) -> u64 {
        let [rows, cols] = self.shapes.map_or([0, 0], |(_, output)| output);
        (rows as u64).saturating_mul(cols as u64).saturating_mul(self.uses as u64)
    }

    /// Whether two layers differ only in their names.
    pub fn alike(&self, other: &Self) -> bool {
        let nameless = |layer: &Self| Self { name: String::new(), regularized: Vec::new(), ..layer.clone() };
        nameless(self) == nameless(other) && self.regularized.len() == other.regularized.len()
    }
}

/// A layer that can say what it is made of.
pub trait Summarize {
    /// The rows of this layer and of those inside it, in the order of the stored weights.
    ///
    /// `name` is the stored name of the layer, `uses` how often one sample passes through it.
    fn summarize(&self, name: &str, uses: usize) -> Vec<LayerSummary>;
}

/// A layer that may be missing.
impl<L: Summarize> Summarize for Option<L> {
    fn summarize(&self, name: &str, uses: usize) -> Vec<LayerSummary> {
        self.as_ref().map_or(Vec::new(), |layer| layer.summarize(name, uses))
    }
}

/// Layers that are stored by number.
impl<L: Summarize> Summarize for Vec<L> {
    fn summarize(&self, name: &str, uses: usize) -> Vec<LayerSummary> {
        let layers = self.iter().enumerate();
        layers.flat_map(|(at, layer)| layer.summarize(&join(name, &at.to_string()), uses)).collect()
    }
}

/// The stored name of a part: `layer.0` and `bias` make `layer.0.bias`.
pub(crate) fn join(name: &str, part: &str) -> String {
    if name.is_empty() { part.to_owned() } else { format!("{name}.{part}") }
}

/// Operations of UᵀXV in the cheaper order.
pub(crate) fn two_sided_flops([r, c]: [usize; 2], [p, q]: [usize; 2]) -> u64 {
    2 * (p * r * c + p * c * q).min(r * c * q + p * r * q) as u64
}

//! Chebyshev polynomials of the Laplacian.

use burn::module::{Content, DisplaySettings, Module, ModuleDisplay, Param};
use burn::tensor::{Device, Tensor};

use super::feature_map::product;
use super::{activated, first_rows};
use crate::config::config;
use crate::error::{ConfigError, MAX_DEPTH, check_sides};
use crate::graph::{Features, Links};
use crate::init::{self, Init};
use crate::ops::{Activation, sparse_product};
use crate::random::SeededRng;
use crate::summary::{LayerSummary, Summarize};

config! {
    /// The config of a [`Chebyshev`] layer.
    pub struct ChebyshevConfig {
        /// The input size of a node.
        pub input: usize,
        /// The output size of a node.
        pub output: usize,
        /// The degree K of the polynomial: a node aggregates from nodes up to K edges away.
        pub order: usize,
        /// Whether there is a bias b. Default: yes.
        pub bias: bool = true,
        /// σ. Default: the identity.
        pub activation: Activation = Activation::Identity,
        /// How Θ is initialised. Default: orthogonal.
        pub init: Init = Init::default(),
    }

    /// A layer between these sizes with polynomials of degree `order`.
    pub fn new(input: usize, output: usize, order: usize);
}

impl ChebyshevConfig {
    /// The number of parameters; an error if one of them is too large.
    pub(crate) fn numbers(&self) -> Result<usize, ConfigError> {
        check_sides("input", &[self.input])?;
        check_sides("output", &[self.output])?;
        if self.order > MAX_DEPTH {
            let expected = format!("must be at most {MAX_DEPTH}");
            return Err(ConfigError::new("order", self.order.to_string(), expected));
        }
        check_sides("order", &[self.order + 1, self.input, self.output])?;
        Ok((self.order + 1) * self.input * self.output + self.output)
    }

    /// Checks the config and initialises the layer with random numbers from `rng`.
    pub fn init(&self, rng: &mut SeededRng, device: &Device) -> Result<Chebyshev, ConfigError> {
        self.numbers()?;
        let Self { input, output, order, .. } = *self;
        let gain = init::gain(self.activation) / (order + 1) as f64;
        Ok(Chebyshev {
            weight: self.init.stacked([order + 1, input, output], gain, rng, device),
            bias: self.bias.then(|| init::constant(0.0, [output], device)),
            activation: self.activation,
        })
    }
}

/// The Chebyshev graph convolution of [Defferrard et al.](https://arxiv.org/abs/1606.09375), made with [`ChebyshevConfig`]:
/// Y = σ(Σₖ Tₖ(L̃) X Θₖ + b) for k = 0 … K, with T₀ = 1, T₁ = x, Tₖ = 2x Tₖ₋₁ − Tₖ₋₂.
///
/// The sum is computed with the Clenshaw recurrence, Bₖ = X Θₖ + 2L̃ Bₖ₊₁ − Bₖ₊₂ and Y = σ(X Θ₀ + L̃ B₁ − B₂ + b), so that the
/// sparse products are of the output's width, not of the features'.
#[derive(Module, Debug)]
#[module(custom_display)]
pub struct Chebyshev {
    /// Θ of every degree: `[order + 1, input, output]`
    pub weight: Param<Tensor<3>>,
    /// b: `[output]`
    pub bias: Option<Param<Tensor<1>>>,
    /// σ
    #[module(skip)]
    pub activation: Activation,
}

impl Chebyshev {
    /// X → Y: `[others, input]` → `[nodes, output]`, through the hops from `first` on, as many as the order is.
    ///
    /// # Panics
    ///
    /// If the features have another width, or the links do not fit them.
    pub fn forward(&self, links: &Links, first: usize, features: &Features) -> Tensor<2> {
        let [terms, input, output] = self.weight.val().dims();
        let nodes = features.nodes();
        // All XΘₖ at once: [nodes, (order + 1) · output].
        let weight = self.weight.val().swap_dims(0, 1).reshape([input, terms * output]);
        let mapped = product(features, weight);
        let term = |k: usize, rows: usize| mapped.clone().slice([0..rows, k * output..(k + 1) * output]);
        let mut sum = term(terms - 1, nodes);
        let mut before: Option<Tensor<2>> = None;
        for k in (0..terms - 1).rev() {
            let matrix = &links.hop(first + terms - 2 - k)[0];
            let rows = matrix.rows();
            let moved = sparse_product(matrix, sum.clone());
            let moved = if k > 0 { moved * 2.0 } else { moved };
            let mut next = term(k, rows) + moved;
            if let Some(before) = before {
                next = next - first_rows(before, rows);
            }
            before = Some(sum);
            sum = next;
        }
        activated(sum, &self.bias, self.activation)
    }
}

impl Summarize for Chebyshev {
    fn summarize(&self, name: &str, uses: usize) -> Vec<LayerSummary> {
        let [terms, input, output] = self.weight.lazy_shape().dims();
        let row = LayerSummary::new(name, "Chebyshev convolution", uses)
            .with_weight("weight", Some(&self.weight))
            .with_parameter(self.bias.as_ref())
            .with_shapes([input, 1], [output, 1])
            .with_flops(2 * (terms * input * output) as u64);
        vec![row]
    }
}

impl ModuleDisplay for Chebyshev {
    fn custom_settings(&self) -> Option<DisplaySettings> {
        DisplaySettings::new().with_new_line_after_attribute(false).optional()
    }

    fn custom_content(&self, content: Content) -> Option<Content> {
        let [terms, input, output] = self.weight.lazy_shape().dims();
        content
            .add("input", &input)
            .add("output", &output)
            .add("order", &(terms - 1))
            .add_debug_attribute("activation", &self.activation)
            .optional()
    }
}

//! Multi-head bilinear attention over each node's neighbours.

use burn::module::{Content, DisplaySettings, Module, ModuleDisplay, Param};
use burn::tensor::{Device, Tensor};

use crate::config::config;
use crate::error::{ConfigError, check_sides};
use crate::graph::Sparse;
use crate::init::{self, Init};
use crate::ops::{attention_map, edge_attention, product};
use crate::random::SeededRng;
use crate::summary::{LayerSummary, Summarize};

config! {
    /// The config of an [`EdgeAttention`].
    pub struct EdgeAttentionConfig {
        /// The size of a node's state.
        pub width: usize,
        /// The number of heads.
        pub heads: usize,
        /// How W is initialised. Default: orthogonal.
        pub init: Init = Init::default(),
    }

    /// Attention over states of `width` numbers with so many heads.
    pub fn new(width: usize, heads: usize);
}

impl EdgeAttentionConfig {
    /// Checks the config and initialises W with random numbers from `rng`, and b with 0.
    pub fn init(&self, rng: &mut SeededRng, device: &Device) -> Result<EdgeAttention, ConfigError> {
        let Self { width, heads, .. } = *self;
        check_sides("width", &[width])?;
        check_sides("heads", &[heads])?;
        check_sides("heads", &[heads, width, width])?;
        // xᵀWy sums width² products: this keeps initial scores near 1, and the softmax soft.
        let power = 1.0 / width as f64;
        Ok(EdgeAttention {
            score_map: self.init.stacked([heads, width, width], power, rng, device),
            score_bias: init::constant(0.0, [heads, width], device),
        })
    }
}

/// The multi-attention over each node's neighbours of Do, Tran & Venkatesh,
/// [Learning Deep Matrix Representations](https://arxiv.org/abs/1703.01454), with n heads, made with
/// [`EdgeAttentionConfig`]: H̃⁽ᵏ⁾ = Λ⁽ᵏ⁾ H with
/// Λᵢⱼ = softmax over j ∈ N(i) of g(hᵢ, hⱼ), g(x, y) = xᵀWy + aᵀx + bᵀy + c, and H̃ = \[H̃⁽¹⁾ … H̃⁽ⁿ⁾\].
///
/// a and c are not parameters: aᵀx + c is the same for all neighbours of a node, so it cancels in the softmax, and its
/// gradient is always 0.
///
/// ```
/// use burn::tensor::{Device, Tensor};
/// use matnet::graph::{Graph, Linking};
/// use matnet::layer::EdgeAttentionConfig;
/// use matnet::random::SeededRng;
///
/// let device = Device::flex();
/// let graph = Graph::new(3, &[(0, 1), (1, 2)], false)?;
/// let links = Linking::Adjacency.links(&graph)?;
/// let attention = EdgeAttentionConfig::new(4, 10).init(&mut SeededRng::new(42, "init"), &device)?;
/// let aggregated = attention.forward(&links.hop(0)[0], Tensor::ones([3, 4], &device));
/// assert_eq!(aggregated.dims(), [3, 40]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Module, Debug)]
#[module(custom_display)]
pub struct EdgeAttention {
    /// W of every head: `[heads, width, width]`
    pub score_map: Param<Tensor<3>>,
    /// b of every head: `[heads, width]`
    pub score_bias: Param<Tensor<2>>,
}

impl EdgeAttention {
    /// H → H̃, the heads concatenated: `[others, width]` → `[nodes, heads · width]`.
    ///
    /// # Panics
    ///
    /// If the state has another width, or not a row for every column of the matrix.
    pub fn forward(&self, matrix: &Sparse, state: Tensor<2>) -> Tensor<2> {
        let ([heads, width, _], nodes) = (self.score_map.val().dims(), matrix.rows());
        let own = super::first_rows(state.clone(), nodes);
        let query = product(own, self.joined()).reshape([nodes, width, heads]);
        let aggregated = edge_attention(matrix, query, self.score_bias.val().transpose(), state);
        aggregated.swap_dims(1, 2).reshape([nodes, heads * width])
    }

    /// H → H̃ V with V `[heads · width, output]`: [`forward`](Self::forward) followed by a map, without storing H̃.
    ///
    /// # Panics
    ///
    /// As `forward`, and if V has another number of rows.
    pub fn mapped(&self, matrix: &Sparse, state: Tensor<2>, map: Tensor<2>) -> Tensor<2> {
        let ([heads, width, _], [_, output]) = (self.score_map.val().dims(), map.dims());
        // Rows in the order of the kernels, the heads innermost.
        let map = map.reshape([heads, width, output]).swap_dims(0, 1).reshape([width * heads, output]);
        attention_map(matrix, state, self.joined(), self.score_bias.val().transpose(), map)
    }

    /// W of all heads, the heads innermost, as the kernels expect it.
    fn joined(&self) -> Tensor<2> {
        let [heads, width, _] = self.score_map.val().dims();
        self.score_map.val().permute([1, 2, 0]).reshape([width, width * heads])
    }

    /// The number of heads.
    pub fn heads(&self) -> usize {
        self.score_map.lazy_shape()[0]
    }
}

impl Summarize for EdgeAttention {
    fn summarize(&self, name: &str, uses: usize) -> Vec<LayerSummary> {
        let [heads, width, _] = self.score_map.lazy_shape().dims();
        let row = LayerSummary::new(name, "edge attention", uses)
            .with_weight("score_map", Some(&self.score_map))
            .with_parameter(Some(&self.score_bias))
            .with_shapes([width, 1], [width, heads])
            .with_flops(2 * (heads * width * width) as u64);
        vec![row]
    }
}

impl ModuleDisplay for EdgeAttention {
    fn custom_settings(&self) -> Option<DisplaySettings> {
        DisplaySettings::new().with_new_line_after_attribute(false).optional()
    }

    fn custom_content(&self, content: Content) -> Option<Content> {
        let [heads, width, _] = self.score_map.lazy_shape().dims();
        content.add("width", &width).add("heads", &heads).optional()
    }
}

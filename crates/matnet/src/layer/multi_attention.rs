//! Multi-head attention over the rows of a memory.

use burn::module::{Content, DisplaySettings, Module, ModuleDisplay, Param};
use burn::tensor::activation::softmax;
use burn::tensor::{Bool, Device, Tensor};
use serde::{Deserialize, Serialize};

use crate::config::config;
use crate::error::{ConfigError, check_count, check_finite, check_sides};
use crate::init::{Init, constant};
use crate::ops::{batched_product, batched_product_transposed, product};
use crate::random::SeededRng;
use crate::summary::{LayerSummary, Summarize, join};

/// How a head scores a row p of the memory, given a context c.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ScoreKind {
    /// qⱼᵀp: the context holds the queries, one after another.
    Dot,
    /// cᵀWⱼp; without a context, wⱼᵀp.
    #[default]
    Bilinear,
    /// vⱼᵀ tanh(Wp + Cc + b); without a context, vⱼᵀ tanh(Wp + b).
    Additive,
}

/// Added to the score of a masked row. It is finite, so that a softmax over such rows alone is finite too.
pub(crate) const MASKED: f32 = -1e30;

config! {
    /// The config of a [`MultiAttention`].
    ///
    /// ```
    /// use burn::tensor::{Device, Tensor};
    /// use matnet::layer::MultiAttentionConfig;
    /// use matnet::random::SeededRng;
    ///
    /// // Three heads attend to a memory of seven rows, given a context of four numbers.
    /// let device = Device::flex();
    /// let attention = MultiAttentionConfig::new(5, 3)
    ///     .with_context(Some(4))
    ///     .with_output(Some(6))
    ///     .init(&mut SeededRng::new(42, "init"), &device)?;
    /// let memory = Tensor::ones([2, 7, 5], &device);
    /// let read = attention.forward(memory, Some(Tensor::ones([2, 4], &device)), None);
    /// assert_eq!((read.matrix.dims(), read.weights.dims()), ([2, 3, 6], [2, 3, 7]));
    /// # Ok::<(), matnet::ConfigError>(())
    /// ```
    pub struct MultiAttentionConfig {
        /// Columns of the memory.
        pub cols: usize,
        /// The number of heads.
        pub heads: usize,
        /// How rows are scored. Default: bilinear.
        pub score: ScoreKind = ScoreKind::Bilinear,
        /// The size of the context. Default: no context.
        pub context: Option<usize> = None,
        /// The hidden size of the additive score. Default: the columns of the memory.
        pub hidden: Option<usize> = None,
        /// The temperature of the softmax; scores are divided by it. Default: 1.
        pub temperature: f64 = 1.0,
        /// Columns of the output, mapped by V. Default: no V, and the columns of the memory.
        pub output: Option<usize> = None,
        /// How the maps are initialised. Default: orthogonal.
        pub init: Init = Init::default(),
    }

    /// `heads` heads over a memory of `cols` columns, without a context.
    pub fn new(cols: usize, heads: usize);
}

impl MultiAttentionConfig {
    /// Checks the config and initialises the layer with random numbers from `rng`.
    pub fn init(&self, rng: &mut SeededRng, device: &Device) -> Result<MultiAttention, ConfigError> {
        check_sides("cols", &[self.cols])?;
        check_count("heads", self.heads, crate::MAX_NUMBERS)?;
        check_sides("heads", &[self.heads, self.cols])?;
        check_finite("temperature", self.temperature)?;
        if self.temperature <= 0.0 {
            let expected = "must be greater than 0";
            return Err(ConfigError::new("temperature", self.temperature.to_string(), expected));
        }
        let queries = self.heads * self.cols;
        if self.score == ScoreKind::Dot && self.context != Some(queries) {
            let value = self.context.map_or("none".to_owned(), |context| context.to_string());
            let expected = format!("score = \"dot\" takes the {queries} numbers of its queries as context");
            return Err(ConfigError::new("context", value, expected));
        }
        if self.hidden.is_some() && self.score != ScoreKind::Additive {
            let value = self.hidden.unwrap_or_default().to_string();
            return Err(ConfigError::new("hidden", value, "only score = \"additive\" has hidden units"));
        }
        let hidden = self.hidden.unwrap_or(self.cols);
        check_sides("hidden", &[hidden, self.cols.max(self.heads)])?;
        if self.score != ScoreKind::Dot {
            check_sides("context", &[self.context.unwrap_or(1), queries.max(hidden)])?;
        }
        check_sides("output", &[self.cols, self.output.unwrap_or(1)])?;
        let mut map = |from, to| self.init.map([from, to], 1.0, rng, device);
        let score = match self.score {
            ScoreKind::Dot => None,
            ScoreKind::Bilinear => {
                let query_map = map(self.context.unwrap_or(1), queries);
                Some(AttentionScore::Bilinear(BilinearScore { query_map }))
            }
            ScoreKind::Additive => Some(AttentionScore::Additive(AdditiveScore {
                memory_map: map(self.cols, hidden),
                context_map: self.context.map(|context| map(context, hidden)),
                bias: constant(0.0, [1, hidden], device),
                score_map: map(hidden, self.heads),
            })),
        };
        Ok(MultiAttention {
            score,
            col_map: self.output.map(|output| map(self.cols, output)),
            heads: self.heads,
            cols: self.cols,
            context: self.context,
            temperature: self.temperature,
            softmax: true,
        })
    }
}

/// The multi-attention of Do, Tran & Venkatesh, [Learning Deep Matrix Representations](https://arxiv.org/abs/1703.01454): k heads
/// over the rows of a memory P, made with [`MultiAttentionConfig`].
///
/// Every head j has attention weights αⱼ over the rows, the softmax of its scores. They are the columns of U, so that the read
/// S = UᵀPV is a [`mat1`](crate::ops::mat1) whose U depends on the memory. The keys that are scored and the values that are read may be
/// two memories with as many rows, as in [`EndToEnd`](crate::net::EndToEnd): [`attend`](Self::attend).
#[derive(Module, Debug)]
#[module(custom_display)]
pub struct MultiAttention {
    /// The score; `None` if the context holds the queries.
    pub score: Option<AttentionScore>,
    /// V: `[cols, output]`, if there is one.
    pub col_map: Option<Param<Tensor<2>>>,
    heads: usize,
    cols: usize,
    context: Option<usize>,
    temperature: f64,
    #[module(skip)]
    softmax: bool,
}

/// The parameters of a score.
#[derive(Module, Debug)]
#[allow(clippy::large_enum_variant)] // There is one per layer, and a box would only hide the maps.
pub enum AttentionScore {
    /// The queries are a map of the context.
    Bilinear(BilinearScore),
    /// A net with one hidden layer over row and context.
    Additive(AdditiveScore),
}

/// cᵀWⱼp
#[derive(Module, Debug)]
pub struct BilinearScore {
    /// W: `[context, heads · cols]`, or `[1, heads · cols]` without a context.
    pub query_map: Param<Tensor<2>>,
}

/// vⱼᵀ tanh(Wp + Cc + b)
#[derive(Module, Debug)]
pub struct AdditiveScore {
    /// W: `[cols, hidden]`
    pub memory_map: Param<Tensor<2>>,
    /// C: `[context, hidden]`
    pub context_map: Option<Param<Tensor<2>>>,
    /// b: `[1, hidden]`
    pub bias: Param<Tensor<2>>,
    /// v: `[hidden, heads]`
    pub score_map: Param<Tensor<2>>,
}

/// The output of a [`MultiAttention`].
#[derive(Clone, Debug)]
pub struct AttentionRead {
    /// S: `[batch, heads, output]`
    pub matrix: Tensor<3>,
    /// Uᵀ, the attention weights: `[batch, heads, rows]`.
    pub weights: Tensor<3>,
}

impl MultiAttention {
    /// Attends to a memory `[batch, rows, cols]`, given a context `[batch, context]`. Rows where the mask `[batch, rows]` is
    /// false are not read; if the mask is false everywhere, the read is 0.
    ///
    /// # Panics
    ///
    /// If the shapes do not fit the config or each other, or the memory has no rows.
    pub fn forward(
        &self,
        memory: Tensor<3>,
        context: Option<Tensor<2>>,
        mask: Option<Tensor<2, Bool>>,
    ) -> AttentionRead {
        let Some(mask) = mask else {
            return self.attend(memory.clone(), memory, context, None);
        };
        let [batch, rows, cols] = memory.dims();
        assert_eq!(mask.dims(), [batch, rows], "multi-attention: the mask does not fit");
        let masked = mask.unsqueeze_dim::<3>(1).bool_not();
        let scores = Tensor::zeros([batch, 1, rows], (&memory.device(), memory.dtype()));
        let scores = scores.mask_fill(masked.clone(), MASKED);
        let memory = memory.mask_fill(masked.swap_dims(1, 2).expand([batch, rows, cols]), 0.0);
        self.attend(memory.clone(), memory, context, Some(scores))
    }

    /// Scores the rows of `keys` and reads the rows of `values`, `[batch, rows, cols]` both, given a context `[batch, context]`.
    /// The mask `[batch, 1, rows]` is added to the scores, as PyTorch's `attn_mask` is; −1e30 masks a row. (−∞ would give NaN where
    /// all rows are masked.)
    ///
    /// # Panics
    ///
    /// If the shapes do not fit the config or each other, or the memories have no rows.
    pub fn attend(
        &self,
        keys: Tensor<3>,
        values: Tensor<3>,
        context: Option<Tensor<2>>,
        mask: Option<Tensor<3>>,
    ) -> AttentionRead {
        let [batch, rows, cols] = keys.dims();
        assert!(batch > 0 && rows > 0, "multi-attention: the memory is empty: {:?}", keys.dims());
        assert_eq!(cols, self.cols, "multi-attention: built for {} columns, got {cols}", self.cols);
        assert_eq!(values.dims(), keys.dims(), "multi-attention: the values do not fit the keys");
        let given = context.as_ref().map(|context| context.dims());
        assert_eq!(
            given,
            self.context.map(|width| [batch, width]),
            "multi-attention: the context does not fit"
        );
        let mut weights = self.scores(&keys, context);
        if self.temperature != 1.0 {
            weights = weights / self.temperature;
        }
        if let Some(mask) = mask {
            assert_eq!(mask.dims(), [batch, 1, rows], "multi-attention: the mask does not fit");
            weights = weights + mask;
        }
        if self.softmax {
            weights = softmax(weights, 2);
        }
        let read = batched_product(weights.clone(), values);
        let matrix = match &self.col_map {
            None => read,
            Some(map) => {
                let output = map.lazy_shape().dims::<2>()[1];
                let flat = read.reshape([batch * self.heads, cols]);
                product(flat, map.val()).reshape([batch, self.heads, output])
            }
        };
        AttentionRead { matrix, weights }
    }

    /// The number of heads.
    pub fn heads(&self) -> usize {
        self.heads
    }

    /// The layer with its softmax on or off. Without it, the attention weights are the scores.
    pub fn with_softmax(mut self, on: bool) -> Self {
        self.softmax = on;
        self
    }

    /// Whether the softmax is on; see [`with_softmax`](Self::with_softmax).
    pub fn has_softmax(&self) -> bool {
        self.softmax
    }

    /// `[batch, heads, rows]`
    fn scores(&self, memory: &Tensor<3>, context: Option<Tensor<2>>) -> Tensor<3> {
        let [batch, rows, cols] = memory.dims();
        let dot = |queries: Tensor<2>| {
            let queries = queries.reshape([batch, self.heads, cols]);
            batched_product_transposed(queries, memory.clone())
        };
        match (&self.score, context) {
            (None, Some(queries)) => dot(queries),
            (None, None) => unreachable!("the context was compared with the config"),
            (Some(AttentionScore::Bilinear(score)), Some(context)) => {
                dot(product(context, score.query_map.val()))
            }
            (Some(AttentionScore::Bilinear(score)), None) => {
                dot(score.query_map.val().expand([batch, self.heads * cols]))
            }
            (Some(AttentionScore::Additive(score)), context) => {
                let hidden = score.bias.lazy_shape().dims::<2>()[1];
                let rows_in = product(memory.clone().reshape([batch * rows, cols]), score.memory_map.val());
                let mut state =
                    rows_in.reshape([batch, rows, hidden]) + score.bias.val().unsqueeze_dim::<3>(0);
                if let (Some(context), Some(map)) = (context, &score.context_map) {
                    state = state + product(context, map.val()).unsqueeze_dim::<3>(1);
                }
                let scores = product(state.tanh().reshape([batch * rows, hidden]), score.score_map.val());
                scores.reshape([batch, rows, self.heads]).swap_dims(1, 2)
            }
        }
    }
}

impl Summarize for MultiAttention {
    fn summarize(&self, name: &str, uses: usize) -> Vec<LayerSummary> {
        let row = |kind| LayerSummary::new(name, kind, uses);
        let score = LayerSummary { name: join(name, "score"), ..row("attention score") };
        let mut rows = match &self.score {
            None => Vec::new(),
            Some(AttentionScore::Bilinear(own)) => vec![score.with_weight("query_map", Some(&own.query_map))],
            Some(AttentionScore::Additive(own)) => vec![
                score
                    .with_weight("memory_map", Some(&own.memory_map))
                    .with_weight("context_map", own.context_map.as_ref())
                    .with_parameter(Some(&own.bias))
                    .with_weight("score_map", Some(&own.score_map)),
            ],
        };
        rows.push(row("multi-head attention").with_weight("col_map", self.col_map.as_ref()));
        rows
    }
}

impl ModuleDisplay for MultiAttention {
    fn custom_settings(&self) -> Option<DisplaySettings> {
        DisplaySettings::new().with_new_line_after_attribute(false).optional()
    }

    fn custom_content(&self, content: Content) -> Option<Content> {
        let output = self.col_map.as_ref().map_or(self.cols, |map| map.lazy_shape().dims::<2>()[1]);
        content
            .add_single(&format!("{} heads over {} columns, reads {output}", self.heads, self.cols))
            .optional()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ops::{Activation, mat1};
    use burn::tensor::TensorData;

    fn random<const D: usize>(rng: &mut SeededRng, shape: [usize; D]) -> Tensor<D> {
        let numbers: Vec<f32> = (0..shape.iter().product()).map(|_| rng.normal() as f32).collect();
        Tensor::from_data(TensorData::new(numbers, shape), &Device::flex())
    }

    fn apart<const D: usize>(a: Tensor<D>, b: Tensor<D>) -> f32 {
        (a - b).abs().max().into_scalar::<f32>()
    }

    #[test]
    fn reading_is_mat1_with_attention_columns() {
        let mut rng = SeededRng::new(1, "attention");
        let config = MultiAttentionConfig::new(5, 3).with_context(Some(4)).with_output(Some(6));
        let attention = config.init(&mut rng, &Device::flex()).unwrap();
        let memory = random(&mut rng, [1, 7, 5]);
        let read = attention.forward(memory.clone(), Some(random(&mut rng, [1, 4])), None);
        let u = read.weights.clone().squeeze_dim::<2>(0).transpose();
        let v = attention.col_map.as_ref().unwrap().val();
        let same = mat1(memory, u, v, None, Activation::Identity);
        assert!(apart(read.matrix, same) < 1e-6);
        let sums = read.weights.sum_dim(2);
        assert!(apart(sums.clone(), sums.ones_like()) < 1e-6);
    }

    #[test]
    fn equal_scores_read_the_mean_and_a_cold_head_reads_one_row() {
        let mut rng = SeededRng::new(2, "attention");
        let config = MultiAttentionConfig::new(3, 1).with_score(ScoreKind::Dot).with_context(Some(3));
        let memory = random(&mut rng, [1, 6, 3]);
        let even = config.init(&mut rng, &Device::flex()).unwrap();
        let read = even.forward(memory.clone(), Some(Tensor::zeros([1, 3], &Device::flex())), None);
        assert!(apart(read.matrix, memory.clone().mean_dim(1)) < 1e-6);
        let sharp = config.with_temperature(1e-4).init(&mut rng, &Device::flex()).unwrap();
        let read = sharp.forward(memory.clone(), Some(random(&mut rng, [1, 3])), None);
        assert!(read.weights.max().into_scalar::<f32>() > 0.999);
    }

    #[test]
    fn masked_rows_are_not_there() {
        let mut rng = SeededRng::new(3, "attention");
        for score in [ScoreKind::Bilinear, ScoreKind::Additive] {
            let config = MultiAttentionConfig::new(4, 2).with_score(score);
            let attention = config.init(&mut rng, &Device::flex()).unwrap();
            let memory = random(&mut rng, [2, 5, 4]);
            let seen = [[true, true, true, false, false], [false; 5]];
            let mask = Tensor::<2, Bool>::from_data(TensorData::from(seen), &Device::flex());
            let padding = mask.clone().bool_not().unsqueeze_dim::<3>(2).expand([2, 5, 4]);
            let padded = memory.clone().mask_fill(padding, f32::NAN);
            let read = attention.forward(padded, None, Some(mask)).matrix;
            let short = attention.forward(memory.slice([0..1, 0..3]), None, None).matrix;
            assert!(apart(read.clone().narrow(0, 0, 1), short) < 1e-6, "{score:?}");
            assert_eq!(read.narrow(0, 1, 1).abs().max().into_scalar::<f32>(), 0.0, "{score:?}");
        }
    }

    #[test]
    fn keys_are_scored_and_values_are_read() {
        let mut rng = SeededRng::new(4, "attention");
        let config = MultiAttentionConfig::new(3, 2).with_score(ScoreKind::Dot).with_context(Some(6));
        let attention = config.init(&mut rng, &Device::flex()).unwrap();
        let [keys, values] = [(); 2].map(|()| random(&mut rng, [2, 5, 3]));
        let queries = random(&mut rng, [2, 6]);
        let one = attention.forward(keys.clone(), Some(queries.clone()), None);
        let two = attention.attend(keys.clone(), values.clone(), Some(queries.clone()), None);
        assert_eq!(apart(one.weights, two.weights.clone()), 0.0, "the values have no part in the weights");
        assert!(apart(two.matrix, two.weights.matmul(values.clone())) < 1e-6);
        // Without the softmax, the weights are the scores.
        let linear = attention.with_softmax(false);
        let scores = queries.clone().reshape([2, 2, 3]).matmul(keys.clone().swap_dims(1, 2));
        let read = linear.attend(keys, values, Some(queries), None);
        assert!(apart(read.weights, scores) < 1e-6);
    }

    #[test]
    fn wrong_configs_name_their_keys() {
        let key = |config: MultiAttentionConfig| {
            config.init(&mut SeededRng::new(1, "init"), &Device::flex()).unwrap_err().key
        };
        let config = || MultiAttentionConfig::new(3, 2);
        assert_eq!(key(MultiAttentionConfig::new(0, 2)), "cols");
        assert_eq!(key(MultiAttentionConfig::new(3, 0)), "heads");
        assert_eq!(key(config().with_score(ScoreKind::Dot)), "context");
        assert_eq!(key(config().with_context(Some(0))), "context");
        assert_eq!(key(config().with_hidden(Some(4))), "hidden");
        assert_eq!(key(config().with_temperature(0.0)), "temperature");
        assert_eq!(key(config().with_output(Some(0))), "output");
    }
}

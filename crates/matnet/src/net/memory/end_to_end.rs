//! The end-to-end memory network.

use burn::module::{Content, DisplaySettings, Module, ModuleDisplay, Param};
use burn::tensor::{Device, Tensor};
use serde::{Deserialize, Serialize};

use super::encoder::{Embedding, Encoder, Encoding, normal};
use super::{Stories, StoryNet, StoryNetConfig};
use crate::config::config;
use crate::error::{ConfigError, check_count, check_gain, check_rate, check_sides, check_total};
use crate::form::Form;
use crate::init::{constant, parameter};
use crate::layer::{MultiAttention, MultiAttentionConfig, ScoreKind};
use crate::mode::Mode;
use crate::net::{Net, NetConfig};
use crate::ops::{product, product_transposed};
use crate::random::SeededRng;
use crate::summary::{LayerSummary, Summarize};

/// Which parameters the hops share.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Tying {
    /// The output embedding of a hop is the input embedding of the next: Aₜ₊₁ = Cₜ. The question has B = A₁, the answer
    /// W = C of the last hop.
    #[default]
    Adjacent,
    /// All hops share A and C, as the steps of a recurrent net do, and a map V is applied to the state between hops.
    LayerWise,
}

config! {
    /// The config of an [`EndToEnd`].
    ///
    /// ```
    /// use burn::tensor::Device;
    /// use matnet::prelude::*;
    ///
    /// // 20 words, sentences of at most 6 words, 8 dimensions; three hops of two heads.
    /// let device = Device::flex();
    /// let net = EndToEndConfig::new(20, 6, 8).with_heads(2).init(&mut SeededRng::new(42, "init"), &device)?;
    /// let mut stories = Stories::default();
    /// stories.push([&[1, 2, 3][..], &[4, 2, 5]], &[6, 7, 1]);
    /// assert_eq!(net.forward(stories.clone(), &mut Mode::Eval).dims(), [1, 20]);
    /// let attention = net.attention(&stories);
    /// assert_eq!((attention.len(), attention[0].len(), attention[0][0].len()), (1, 3, 2));
    /// # Ok::<(), matnet::ConfigError>(())
    /// ```
    pub struct EndToEndConfig {
        /// The number of words; each may be the answer.
        pub vocab_size: usize,
        /// J, the length of the longest sentence in words, for the position encoding.
        pub sentence_length: usize,
        /// d, the size of an embedding: the columns of memory and state.
        pub embedding_dim: usize,
        /// How many sentences the memory holds, the last ones of a story. Default: 50.
        pub memory_size: usize = 50,
        /// The number of hops. Default: 3.
        pub hops: usize = 3,
        /// k, the number of attention heads at every hop: the rows of the state. Default: 1.
        pub heads: usize = 1,
        /// Which parameters the hops share. Default: adjacent.
        pub tying: Tying = Tying::default(),
        /// How words become rows of the memory. Default: position.
        pub encoding: Encoding = Encoding::default(),
        /// Whether the age of a sentence is encoded. Default: yes.
        pub temporal_encoding: bool = true,
        /// In training, empty sentences are inserted at random: up to this fraction of the sentences. Default: 0.1.
        pub time_noise: f64 = 0.1,
        /// Whether empty slots of the memory take part in the softmax. Default: yes, as in the original.
        pub empty_slots: bool = true,
        /// The standard deviation of the initial values. Default: 0.1.
        pub init_std: f64 = 0.1,
        /// Epochs of a linear start, at most: training begins without the softmax. Default: none.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub linear_start: Option<usize> = None,
        /// Epochs without a lower validation loss that end the linear start. Default: 10.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub linear_start_patience: Option<usize> = None,
    }

    /// A net for `vocab_size` words and sentences of at most `sentence_length` words.
    pub fn new(vocab_size: usize, sentence_length: usize, embedding_dim: usize);
}

/// The validation loss of a hundred questions goes up and down: with 5, of three restarts on bAbI's task 16 two end the linear
/// start so early that they never learn it.
const LINEAR_START_PATIENCE: usize = 10;

impl NetConfig for EndToEndConfig {
    type Net = EndToEnd;

    fn init(&self, rng: &mut SeededRng, device: &Device) -> Result<EndToEnd, ConfigError> {
        let encoder = Encoder {
            vocab_size: self.vocab_size,
            embedding_dim: self.embedding_dim,
            sentence_length: self.sentence_length,
            memory_size: self.memory_size,
            encoding: self.encoding,
            temporal_encoding: self.temporal_encoding,
        };
        encoder.check()?;
        check_count("hops", self.hops, 1000)?;
        check_sides("heads", &[self.heads, self.embedding_dim, self.embedding_dim])?;
        check_rate("time_noise", self.time_noise)?;
        check_gain("init_std", self.init_std)?;
        let counts =
            [("linear_start", self.linear_start), ("linear_start_patience", self.linear_start_patience)];
        if let Some((key, _)) = counts.into_iter().find(|(_, count)| *count == Some(0)) {
            return Err(ConfigError::new(key, "0", "must be at least 1"));
        }
        if let Some(patience) = self.linear_start_patience.filter(|_| self.linear_start.is_none()) {
            let expected = "only linear_start uses it";
            return Err(ConfigError::new("linear_start_patience", patience.to_string(), expected));
        }
        let (adjacent, d, k) = (self.tying == Tying::Adjacent, self.embedding_dim, self.heads);
        let tables = if adjacent { self.hops + 1 } else { 2 };
        let heads = k.saturating_mul(k).max(k.saturating_mul(d * d));
        check_total("hops", (tables * d).saturating_mul(self.vocab_size + self.memory_size))?;
        check_total("heads", heads.saturating_mul(self.hops))?;
        let embedding =
            (0..tables).map(|_| Embedding::new(&encoder, true, self.init_std, rng, device)).collect();
        let question = (!adjacent).then(|| Embedding::new(&encoder, false, self.init_std, rng, device));
        let col_map = (!adjacent).then(|| normal([d, d], self.init_std, rng, device));
        let answer_map = (!adjacent).then(|| normal([d, self.vocab_size], self.init_std, rng, device));
        let shared = if adjacent { self.hops } else { 1 };
        let heads = (k > 1).then(|| Heads::new([k, d], shared, self.init_std, rng, device));
        let attention = MultiAttentionConfig::new(d, k).with_score(ScoreKind::Dot).with_context(Some(k * d));
        Ok(EndToEnd {
            embedding,
            question,
            col_map,
            heads,
            answer_map,
            attention: attention.init(rng, device)?,
            encoder,
            hops: self.hops,
            time_noise: self.time_noise,
            empty_slots: self.empty_slots,
        })
    }

    fn form(&self) -> Form {
        Form::Matrix
    }
}

impl StoryNetConfig for EndToEndConfig {
    fn vocab_size(&self) -> usize {
        self.vocab_size
    }

    fn memory_size(&self) -> usize {
        self.memory_size
    }

    fn linear_start(&self) -> Option<(usize, usize)> {
        Some((self.linear_start?, self.linear_start_patience.unwrap_or(LINEAR_START_PATIENCE)))
    }
}

/// The end-to-end memory network (MemN2N) of [Sukhbaatar et al.](https://arxiv.org/abs/1503.08895), made with
/// [`EndToEndConfig`]: a question attends to the sentences of a story over several hops. Here it may have several heads.
///
/// A story of n sentences becomes two memories, `[n, d]` each: Mₜ holds the keys and Cₜ the values. The state is a matrix
/// Q, `[k, d]`, with a row for each of k heads; with one head it is the vector u of the original.
///
/// ```text
/// mᵢ = Σⱼ lⱼ ⊙ A xᵢⱼ + T_A(i)       a row of M for sentence i of words xᵢⱼ;   cᵢ by C and T_C
/// Q₁ = a row qᵀSⱼ for each head j    q = Σⱼ lⱼ ⊙ B xⱼ, the question;   with one head Q₁ = qᵀ
/// Uₜ = softmax(Mₜ Qₜᵀ)               [n, k], over the sentences
/// Qₜ₊₁ = Rₜᵀ Qₜ V + Uₜᵀ Cₜ           the old states of the heads, mixed by R [k, k], and what they read
/// scores = wᵀ Q W                     over all words;   w [k, 1]
/// ```
///
/// So a hop is [`mat2`](crate::ops::mat2()) over state and memory: the first term is an ordinary `mat1`, the second one whose
/// U are attention weights. With adjacent tying V = I. With one head there are no R, S and w, and the net is exactly the
/// original. With several, each head keeps its own state from hop to hop; S is initialised near the identity and R as the
/// identity, so that training starts from k near copies of the original, whose mean gives the answer.
///
/// U and what the heads read are computed by [`MultiAttention`] with the dot product as score: the states of the heads are its
/// queries. Its softmax is off during a linear start ([`StoryNet::with_softmax`]): Uₜ = Mₜ Qₜᵀ.
#[derive(Module, Debug)]
#[module(custom_display)]
pub struct EndToEnd {
    /// A₁ = B, A₂ = C₁, …, Cₜ = W for adjacent tying; A and C for layer-wise.
    pub embedding: Vec<Embedding>,
    /// B, for layer-wise tying.
    pub question: Option<Embedding>,
    /// V: `[embedding_dim, embedding_dim]`, for layer-wise tying.
    pub col_map: Option<Param<Tensor<2>>>,
    /// The parameters of more than one head.
    pub heads: Option<Heads>,
    /// W: `[embedding_dim, vocab_size]`, for layer-wise tying.
    pub answer_map: Option<Param<Tensor<2>>>,
    attention: MultiAttention,
    #[module(skip)]
    encoder: Encoder,
    hops: usize,
    time_noise: f64,
    empty_slots: bool,
}

/// The parameters of an [`EndToEnd`] with k > 1 heads.
#[derive(Module, Debug)]
pub struct Heads {
    /// S: `[embedding_dim, k · embedding_dim]`
    pub query_map: Param<Tensor<2>>,
    /// R: `[k, k]`, one per hop, or one for all hops with layer-wise tying. Not regularised.
    pub row_map: Vec<Param<Tensor<2>>>,
    /// w: `[k, 1]`
    pub answer_row_map: Param<Tensor<2>>,
}

impl Heads {
    fn new([k, d]: [usize; 2], hops: usize, std: f64, rng: &mut SeededRng, device: &Device) -> Self {
        let mut near_identity = |rows: usize, cols: usize, std: f64| {
            let mut number = |n: usize| f64::from(u8::from(n / cols == n % cols % rows)) + std * rng.normal();
            parameter((0..rows * cols).map(|n| number(n) as f32).collect(), [rows, cols], device)
        };
        Self {
            query_map: near_identity(d, k * d, std),
            row_map: (0..hops).map(|_| near_identity(k, k, 0.0)).collect(),
            answer_row_map: constant(1.0 / k as f64, [k, 1], device),
        }
    }
}

impl Summarize for Heads {
    fn summarize(&self, name: &str, uses: usize) -> Vec<LayerSummary> {
        let [embedding_dim, states] = self.query_map.lazy_shape().dims();
        let mut row = LayerSummary::new(name, "attention heads", uses)
            .with_shapes([embedding_dim, 1], [states / embedding_dim, embedding_dim])
            .with_weight("query_map", Some(&self.query_map))
            .with_weight("answer_row_map", Some(&self.answer_row_map));
        for map in &self.row_map {
            row = row.with_parameter(Some(map));
        }
        vec![row]
    }
}

impl EndToEnd {
    /// Whether the softmax is on; see [`StoryNet::with_softmax`].
    pub fn has_softmax(&self) -> bool {
        self.attention.has_softmax()
    }

    /// Which embedding holds the keys of a hop, and which the values.
    fn memories(&self, hop: usize) -> (usize, usize) {
        if self.col_map.is_some() { (0, 1) } else { (hop, hop + 1) }
    }

    /// Scores `[batch, vocab_size]`; on request the attention weights Uᵀ of every hop, `[batch, heads, rows]`.
    fn run(
        &self,
        stories: &Stories,
        mode: &mut Mode,
        mut attention: Option<&mut Vec<Tensor<3>>>,
    ) -> Tensor<2> {
        let encoder = &self.encoder;
        let (batch, rows, d) = (stories.len(), encoder.rows(stories), encoder.embedding_dim);
        let k = self.attention.heads();
        let sentences = encoder.sentences(stories, self.time_noise, mode);
        let memory: Vec<Tensor<3>> = self
            .embedding
            .iter()
            .map(|embedding| embedding.encode(encoder, &sentences).reshape([batch, rows, d]))
            .collect();
        let embedding = self.question.as_ref().unwrap_or(&self.embedding[0]);
        let question = embedding.encode(encoder, &encoder.questions(stories));
        let mask = self.has_softmax().then(|| encoder.mask(stories, self.empty_slots, &question));
        let queries = match &self.heads {
            None => question,
            Some(heads) => product(question, heads.query_map.val()),
        };
        let mut state = queries.reshape([batch, k, d]);
        for hop in 0..self.hops {
            let (keys, values) = self.memories(hop);
            let (keys, values) = (memory[keys].clone(), memory[values].clone());
            let queries = state.clone().reshape([batch, k * d]);
            let read = self.attention.attend(keys, values, Some(queries), mask.clone());
            if let Some(attention) = &mut attention {
                attention.push(read.weights);
            }
            state = self.carried(state, hop) + read.matrix;
            mode.observe(|| format!("hop.{hop}"), &state);
        }
        let answer = match &self.heads {
            None => state.reshape([batch, d]),
            Some(heads) => by_rows(state, heads.answer_row_map.val()).reshape([batch, d]),
        };
        match &self.answer_map {
            Some(map) => product(answer, map.val()),
            None => product_transposed(answer, self.embedding[self.hops].word_map.val()),
        }
    }

    /// RᵀQV, without R or V where the net has none.
    fn carried(&self, state: Tensor<3>, hop: usize) -> Tensor<3> {
        let [batch, k, d] = state.dims();
        let state = match &self.heads {
            None => state,
            Some(heads) => by_rows(state, heads.row_map[hop.min(heads.row_map.len() - 1)].val()),
        };
        match &self.col_map {
            None => state,
            Some(map) => product(state.reshape([batch * k, d]), map.val()).reshape([batch, k, d]),
        }
    }
}

/// UᵀX for every matrix X of a batch.
fn by_rows(matrices: Tensor<3>, row_map: Tensor<2>) -> Tensor<3> {
    let ([batch, rows, cols], [_, rows_out]) = (matrices.dims(), row_map.dims());
    let flat = matrices.swap_dims(1, 2).reshape([batch * cols, rows]);
    product(flat, row_map).reshape([batch, cols, rows_out]).swap_dims(1, 2)
}

impl Net for EndToEnd {
    type Input = Stories;
    /// Scores `[batch, vocab_size]`: word w of the stories has column w − 1.
    type Output = Tensor<2>;

    fn forward(&self, stories: Stories, mode: &mut Mode) -> Tensor<2> {
        self.run(&stories, mode, None)
    }

    fn form(&self) -> Form {
        Form::Matrix
    }

    /// Operations are counted for a full memory, with the embedding that holds the keys or the values.
    fn summary(&self, _steps: usize) -> Vec<LayerSummary> {
        let mut rows = self.embedding.summarize("embedding", 1);
        rows.iter_mut().for_each(|row| row.flops = self.encoder.flops());
        let heads = self.attention.heads() as u64;
        for hop in 0..self.hops {
            let (keys, values) = self.memories(hop);
            rows[keys].flops += heads * self.encoder.read_flops();
            rows[values].flops += heads * self.encoder.read_flops();
        }
        rows.extend(self.question.summarize("question", 1));
        let map = |name, map: &Option<Param<Tensor<2>>>| {
            let map = map.as_ref()?;
            let [input, output] = map.lazy_shape().dims();
            Some(LayerSummary::of_weight(name, "vector map", map).with_shapes([input, 1], [output, 1]))
        };
        rows.extend(map("col_map", &self.col_map));
        rows.extend(self.heads.summarize("heads", 1));
        rows.extend(map("answer_map", &self.answer_map));
        rows
    }
}

impl StoryNet for EndToEnd {
    /// Weights that do not add up to 1 leave the rest to empty slots.
    fn attention(&self, stories: &Stories) -> Vec<Vec<Vec<Vec<f32>>>> {
        let mut hops = Vec::new();
        self.run(stories, &mut Mode::Eval, Some(&mut hops));
        let rows = self.encoder.rows(stories);
        let hops: Vec<Vec<f32>> =
            hops.into_iter().map(|hop| hop.into_data().convert::<f32>().iter::<f32>().collect()).collect();
        let k = hops.first().map_or(0, Vec::len) / (rows * stories.len()).max(1);
        let of = |story: usize, hop: &Vec<f32>| {
            let kept = self.encoder.kept(stories, story);
            let head = |head: usize| hop[(story * k + head) * rows..][..kept].to_vec();
            (0..k).map(head).collect()
        };
        (0..stories.len()).map(|story| hops.iter().map(|hop| of(story, hop)).collect()).collect()
    }

    fn with_softmax(mut self, on: bool) -> Self {
        self.attention = self.attention.with_softmax(on);
        self
    }
}

impl ModuleDisplay for EndToEnd {
    fn custom_settings(&self) -> Option<DisplaySettings> {
        DisplaySettings::new().with_new_line_after_attribute(false).optional()
    }

    fn custom_content(&self, content: Content) -> Option<Content> {
        let Encoder { vocab_size, embedding_dim, memory_size, .. } = self.encoder;
        let (hops, heads) = (self.hops, self.attention.heads());
        let words = format!(
            "{vocab_size} words in {embedding_dim} dimensions, {memory_size} sentences, hops: {hops}, heads: {heads}"
        );
        content.add_single(&words).optional()
    }
}

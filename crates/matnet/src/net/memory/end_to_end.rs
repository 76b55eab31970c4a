//! The end-to-end memory network.

use burn::module::{Content, DisplaySettings, Module, ModuleDisplay, Param};
use burn::tensor::activation::softmax;
use burn::tensor::{Device, Tensor};
use serde::{Deserialize, Serialize};

use super::Stories;
use super::encoder::{Embedding, Encoder, Encoding, normal};
use crate::config::{fifty, one, setters, yes};
use crate::error::{ConfigError, check_count, check_gain, check_rate, check_sides, check_total};
use crate::form::Form;
use crate::init::{constant, parameter};
use crate::mode::Mode;
use crate::net::Net;
use crate::random::SeededRng;

/// Which maps the hops share.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Tying {
    /// What one hop reads the next one looks at: Aₜ₊₁ = Cₜ; the question has B = A₁, the answer W = C of the last hop.
    #[default]
    Adjacent,
    /// All hops have one A and one C, as the steps of a recurrent net, and a map V takes the state from hop to hop.
    LayerWise,
}

/// The config of an [`EndToEnd`].
///
/// ```
/// use burn::tensor::Device;
/// use matnet::prelude::*;
///
/// // 20 words, sentences of at most 6 of them, in 8 numbers each; three hops by two heads.
/// let device = Device::flex();
/// let net = EndToEndConfig::new(20, 6, 8).with_heads(2).init(&mut SeededRng::new(42, "init"), &device)?;
/// let mut stories = Stories::default();
/// stories.push([&[1, 2, 3][..], &[4, 2, 5]], &[6, 7, 1]);
/// assert_eq!(net.forward(stories.clone(), &mut Mode::Eval).dims(), [1, 20]);
/// let looked = net.attention(&stories);
/// assert_eq!((looked.len(), looked[0].len(), looked[0][0].len()), (1, 3, 2));
/// # Ok::<(), matnet::ConfigError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EndToEndConfig {
    /// How many words there are; each may be the answer.
    pub vocabulary: usize,
    /// J, the most words of a sentence, for the position encoding.
    pub words: usize,
    /// d, the columns of memory and state.
    pub width: usize,
    /// The most sentences that are kept. Default: 50.
    #[serde(default = "fifty")]
    pub memory: usize,
    /// How often the memory is read. Default: 3.
    #[serde(default = "three")]
    pub hops: usize,
    /// k, the heads that read it at every hop; the rows of the state. Default: 1.
    #[serde(default = "one")]
    pub heads: usize,
    /// Default: adjacent.
    #[serde(default)]
    pub tying: Tying,
    /// How words become rows. Default: position.
    #[serde(default)]
    pub encoding: Encoding,
    /// Whether sentences know how long ago they were. Default: yes.
    #[serde(default = "yes")]
    pub time: bool,
    /// While learning, up to this share of sentences more may have passed. Default: 0.1.
    #[serde(default = "tenth")]
    pub noise: f64,
    /// Whether places of the memory without a sentence take part in the softmax. Default: yes, as in the original.
    #[serde(default = "yes")]
    pub empty: bool,
    /// The standard deviation of the first values. Default: 0.1.
    #[serde(default = "tenth")]
    pub deviation: f64,
}

fn three() -> usize {
    3
}

fn tenth() -> f64 {
    0.1
}

impl EndToEndConfig {
    /// So many words, at most `words` in a sentence, in `width` numbers.
    pub fn new(vocabulary: usize, words: usize, width: usize) -> Self {
        Self {
            vocabulary,
            words,
            width,
            memory: fifty(),
            hops: three(),
            heads: one(),
            tying: Tying::default(),
            encoding: Encoding::default(),
            time: true,
            noise: tenth(),
            empty: true,
            deviation: tenth(),
        }
    }

    setters! {
        with_memory(memory: usize);
        with_hops(hops: usize);
        with_heads(heads: usize);
        with_tying(tying: Tying);
        with_encoding(encoding: Encoding);
        with_time(time: bool);
        with_noise(noise: f64);
        with_empty(empty: bool);
        with_deviation(deviation: f64);
    }

    /// Checks the config and draws the first values from `rng`.
    pub fn init(&self, rng: &mut SeededRng, device: &Device) -> Result<EndToEnd, ConfigError> {
        let encoder = Encoder {
            vocabulary: self.vocabulary,
            width: self.width,
            words: self.words,
            memory: self.memory,
            encoding: self.encoding,
            time: self.time,
        };
        encoder.check()?;
        check_count("hops", self.hops, 1000)?;
        check_sides("heads", &[self.heads, self.width, self.width])?;
        check_rate("noise", self.noise)?;
        check_gain("deviation", self.deviation)?;
        let (adjacent, d, k) = (self.tying == Tying::Adjacent, self.width, self.heads);
        let tables = if adjacent { self.hops + 1 } else { 2 };
        let heads = k.saturating_mul(k).max(k.saturating_mul(d * d));
        check_total("hops", (tables * d).saturating_mul(self.vocabulary + self.memory))?;
        check_total("heads", heads.saturating_mul(self.hops))?;
        let deviation = self.deviation;
        let embedding =
            (0..tables).map(|_| Embedding::new(&encoder, true, deviation, rng, device)).collect();
        let question = (!adjacent).then(|| Embedding::new(&encoder, false, deviation, rng, device));
        let col_map = (!adjacent).then(|| normal([d, d], deviation, rng, device));
        let answer_map = (!adjacent).then(|| normal([d, self.vocabulary], deviation, rng, device));
        let shared = if adjacent { self.hops } else { 1 };
        let heads = (k > 1).then(|| Heads::new([k, d], shared, deviation, rng, device));
        Ok(EndToEnd {
            embedding,
            question,
            col_map,
            heads,
            answer_map,
            running_softmax: constant::<1>(1.0, [1], device).set_require_grad(false),
            encoder,
            hops: self.hops,
            noise: self.noise,
            empty: self.empty,
        })
    }
}

/// The end-to-end memory network, made with [`EndToEndConfig`]: a question looks at the sentences of a story, reads, and
/// looks again with what it has read.
///
/// A story of n sentences becomes two memories, `[n, d]` each: Mₜ to look at and Cₜ to read from. The state is a matrix Q,
/// `[k, d]`, with a row for each of k heads; with one head it is the vector u of the original.
///
/// ```text
/// mᵢ = Σⱼ lⱼ ⊙ A xᵢⱼ + T_A(i)       a row of M for sentence i of words xᵢⱼ;   cᵢ by C and T_C
/// Q₁ = a row qᵀSⱼ for each head j    q = Σⱼ lⱼ ⊙ B xⱼ, the question;   with one head Q₁ = qᵀ
/// Uₜ = softmax(Mₜ Qₜᵀ)               [n, k], over the sentences
/// Qₜ₊₁ = Rₜᵀ Qₜ V + Uₜᵀ Cₜ           what the heads knew, exchanged by R [k, k], and what they have read
/// scores = wᵀ Q W                     over all words;   w [k, 1]
/// ```
///
/// So a hop is [`mat2`](crate::ops::mat2()) over state and memory: the first term is an ordinary `mat1`, the read is one
/// whose U are the columns of attention. With adjacent tying V = I; with one head R, S and w are not there, and the net is
/// the original to the letter. With several, a head keeps a state of its own from hop to hop, where mapping all reads back to
/// one vector would make it forget whose they were; S starts near the identity and R at it, so that learning begins with k
/// near copies of the original whose mean answers.
///
/// In a linear start ([`with_softmax`](Self::with_softmax)) Uₜ = Mₜ Qₜᵀ.
#[derive(Module, Debug)]
#[module(custom_display)]
pub struct EndToEnd {
    /// A₁ = B, A₂ = C₁, …, Cₜ = W for adjacent tying; A and C for layer-wise.
    pub embedding: Vec<Embedding>,
    /// B, for layer-wise tying.
    pub question: Option<Embedding>,
    /// V: `[width, width]`, for layer-wise tying.
    pub col_map: Option<Param<Tensor<2>>>,
    /// What more than one head needs.
    pub heads: Option<Heads>,
    /// W: `[width, vocabulary]`, for layer-wise tying.
    pub answer_map: Option<Param<Tensor<2>>>,
    /// 1, or 0 during a linear start. A number of the net, as running statistics are, so that it is stored with the weights.
    pub running_softmax: Param<Tensor<1>>,
    #[module(skip)]
    encoder: Encoder,
    hops: usize,
    noise: f64,
    empty: bool,
}

/// The maps of an [`EndToEnd`] with k > 1 heads.
#[derive(Module, Debug)]
pub struct Heads {
    /// S: `[width, k · width]`
    pub query_map: Param<Tensor<2>>,
    /// R: `[k, k]`, for every hop or, with layer-wise tying, for all.
    pub row_map: Vec<Param<Tensor<2>>>,
    /// w: `[k, 1]`
    pub answer_row_map: Param<Tensor<2>>,
}

impl Heads {
    fn new([k, d]: [usize; 2], hops: usize, deviation: f64, rng: &mut SeededRng, device: &Device) -> Self {
        let mut near_identity = |rows: usize, cols: usize, deviation: f64| {
            let mut number =
                |n: usize| f64::from(u8::from(n / cols == n % cols % rows)) + deviation * rng.normal();
            parameter((0..rows * cols).map(|n| number(n) as f32).collect(), [rows, cols], device)
        };
        Self {
            query_map: near_identity(d, k * d, deviation),
            row_map: (0..hops).map(|_| near_identity(k, k, 0.0)).collect(),
            answer_row_map: constant(1.0 / k as f64, [k, 1], device),
        }
    }

    /// k
    fn count(&self) -> usize {
        self.answer_row_map.lazy_shape().dims::<2>()[0]
    }
}

impl EndToEnd {
    /// The net with its softmax on, or off for a linear start.
    pub fn with_softmax(mut self, on: bool) -> Self {
        self.running_softmax = self.running_softmax.map(|old| {
            let device = (&old.device(), old.dtype());
            Tensor::full([1], f32::from(u8::from(on)), device).set_require_grad(false)
        });
        self
    }

    /// Whether the softmax is on.
    pub fn has_softmax(&self) -> bool {
        self.running_softmax.val().into_data().iter::<f64>().all(|on| on > 0.5)
    }

    /// Where every head looked: for each story, hop and head a share for each sentence that is kept. What is missing to 1 went
    /// to empty places.
    pub fn attention(&self, stories: &Stories) -> Vec<Vec<Vec<Vec<f32>>>> {
        let mut looked = Vec::new();
        self.run(stories, &mut Mode::Eval, Some(&mut looked));
        let rows = self.encoder.rows(stories);
        let looked: Vec<Vec<f32>> =
            looked.into_iter().map(|hop| hop.into_data().convert::<f32>().iter::<f32>().collect()).collect();
        let k = looked.first().map_or(0, Vec::len) / (rows * stories.len()).max(1);
        let of = |story: usize, hop: &Vec<f32>| {
            let kept = self.encoder.kept(stories, story);
            let head = |head: usize| hop[(story * k + head) * rows..][..kept].to_vec();
            (0..k).map(head).collect()
        };
        (0..stories.len()).map(|story| looked.iter().map(|hop| of(story, hop)).collect()).collect()
    }

    /// Scores `[batch, vocabulary]`; where asked, U of every hop, `[batch, heads, rows]`.
    fn run(&self, stories: &Stories, mode: &mut Mode, mut looked: Option<&mut Vec<Tensor<3>>>) -> Tensor<2> {
        let encoder = &self.encoder;
        let (batch, rows, d) = (stories.len(), encoder.rows(stories), encoder.width);
        let sentences = encoder.sentences(stories, self.noise, mode);
        let memory: Vec<Tensor<3>> = self
            .embedding
            .iter()
            .map(|embedding| embedding.encode(encoder, &sentences).reshape([batch, rows, d]))
            .collect();
        let asking = self.question.as_ref().unwrap_or(&self.embedding[0]);
        let question = asking.encode(encoder, &encoder.questions(stories));
        let open = self.has_softmax().then(|| encoder.openness(stories, self.empty, &question));
        let mut state = match &self.heads {
            None => question.reshape([batch, 1, d]),
            Some(heads) => question.matmul(heads.query_map.val()).reshape([batch, heads.count(), d]),
        };
        for hop in 0..self.hops {
            let (look, read) = if self.col_map.is_some() { (0, 1) } else { (hop, hop + 1) };
            let scores = state.clone().matmul(memory[look].clone().swap_dims(1, 2));
            let shares = match &open {
                Some(open) => softmax(scores + open.clone(), 2),
                None => scores,
            };
            if let Some(looked) = &mut looked {
                looked.push(shares.clone());
            }
            let found = shares.matmul(memory[read].clone());
            state = self.carried(state, hop) + found;
            mode.see(|| format!("hop {}", hop + 1), &state);
        }
        let answer = match &self.heads {
            None => state.reshape([batch, d]),
            Some(heads) => by_rows(state, heads.answer_row_map.val()).reshape([batch, d]),
        };
        match &self.answer_map {
            Some(map) => answer.matmul(map.val()),
            None => answer.matmul(self.embedding[self.hops].word_map.val().transpose()),
        }
    }

    /// RᵀQV, as far as they are there.
    fn carried(&self, state: Tensor<3>, hop: usize) -> Tensor<3> {
        let [batch, k, d] = state.dims();
        let state = match &self.heads {
            None => state,
            Some(heads) => by_rows(state, heads.row_map[hop.min(heads.row_map.len() - 1)].val()),
        };
        match &self.col_map {
            None => state,
            Some(map) => state.reshape([batch * k, d]).matmul(map.val()).reshape([batch, k, d]),
        }
    }
}

/// UᵀX for every matrix X of a batch.
fn by_rows(matrices: Tensor<3>, row_map: Tensor<2>) -> Tensor<3> {
    let ([batch, rows, cols], [_, rows_out]) = (matrices.dims(), row_map.dims());
    let flat = matrices.swap_dims(1, 2).reshape([batch * cols, rows]);
    flat.matmul(row_map).reshape([batch, cols, rows_out]).swap_dims(1, 2)
}

impl Net for EndToEnd {
    type Input = Stories;
    /// Scores `[batch, vocabulary]`: word w of the stories has column w − 1.
    type Output = Tensor<2>;

    fn forward(&self, stories: Stories, mode: &mut Mode) -> Tensor<2> {
        self.run(&stories, mode, None)
    }

    fn form(&self) -> Form {
        Form::Matrix
    }
}

impl ModuleDisplay for EndToEnd {
    fn custom_settings(&self) -> Option<DisplaySettings> {
        DisplaySettings::new().with_new_line_after_attribute(false).optional()
    }

    fn custom_content(&self, content: Content) -> Option<Content> {
        let Encoder { vocabulary, width, memory, .. } = self.encoder;
        let (hops, heads) = (self.hops, self.heads.as_ref().map_or(1, Heads::count));
        let words = format!(
            "{vocabulary} words in {width} numbers, {memory} sentences, {hops} hops of {heads} heads"
        );
        content.add_single(&words).optional()
    }
}

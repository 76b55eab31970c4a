//! From words to the rows of a memory.

use burn::module::{Module, Param};
use burn::tensor::{Device, Tensor, TensorData};
use serde::{Deserialize, Serialize};

use super::Stories;
use crate::error::{ConfigError, check_count, check_sides};
use crate::graph::Sparse;
use crate::init::parameter;
use crate::layer::MASKED;
use crate::mode::Mode;
use crate::ops::sparse_product;
use crate::random::SeededRng;
use crate::summary::{LayerSummary, Summarize};

/// How the words of a sentence become one row of the memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Encoding {
    /// Σⱼ A xⱼ: the order of the words is lost.
    BagOfWords,
    /// Σⱼ lⱼ ⊙ A xⱼ where number k of lⱼ is 1 + 4 (k − (d+1)/2) (j − (J+1)/2) / (d J), for sentences of up to J words in d
    /// numbers: the position encoding of the end-to-end memory network, which has half of this.
    #[default]
    Position,
}

/// The number of rows of a memory is a multiple of this. Sums over the rows then have the same order in every batch, so
/// that the scores of a story do not depend, to the bit, on the other stories of the batch.
const ROWS: usize = 16;

/// How stories become matrices: sizes and options, no parameters.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Encoder {
    pub vocab_size: usize,
    /// d
    pub embedding_dim: usize,
    /// J
    pub sentence_length: usize,
    /// The memory holds this many sentences, the last ones of a story.
    pub memory_size: usize,
    pub encoding: Encoding,
    pub temporal_encoding: bool,
}

impl Encoder {
    pub fn check(&self) -> Result<(), ConfigError> {
        check_sides("vocab_size", &[self.vocab_size])?;
        check_sides("embedding_dim", &[self.embedding_dim, self.vocab_size])?;
        check_count("sentence_length", self.sentence_length, 10_000)?;
        check_count("memory_size", self.memory_size, 1_000_000)?;
        check_sides("memory_size", &[self.memory_size, self.embedding_dim])
    }

    /// Whether words have a second row in the tables, for the position encoding.
    fn placed(&self) -> bool {
        self.encoding == Encoding::Position
    }

    /// How many sentences of a story are in the memory.
    pub fn kept(&self, stories: &Stories, story: usize) -> usize {
        stories.count(story).min(self.memory_size)
    }

    /// Operations of encoding a full memory with one embedding.
    pub fn flops(&self) -> u64 {
        self.read_flops() * self.sentence_length as u64
    }

    /// Operations of one product of a state row with a full memory, or of reading a full memory once.
    pub fn read_flops(&self) -> u64 {
        2 * (self.memory_size * self.embedding_dim) as u64
    }

    /// The rows of a memory: at least one more than the longest story has sentences.
    pub fn rows(&self, stories: &Stories) -> usize {
        (stories.longest().min(self.memory_size) + 1).next_multiple_of(ROWS)
    }

    /// The sparse matrix X `[batch · rows, entries of a table]`: a row of X times a table is a sentence as a vector.
    /// Rows beyond the sentences of a story are empty, so that they become zeros.
    pub fn sentences(&self, stories: &Stories, noise: f64, mode: &mut Mode) -> Sparse {
        assert!(!stories.is_empty(), "memory net: there are no stories");
        let rows = self.rows(stories);
        let mut lines = Lines::new(self, stories);
        for story in 0..stories.len() {
            let kept = self.kept(stories, story);
            let first = stories.count(story) - kept;
            let ages = self.ages(kept, noise, mode.rng());
            for (at, age) in ages.into_iter().enumerate() {
                lines.words(stories.sentence(story, first + at));
                if self.temporal_encoding {
                    lines.entry(lines.time + age as u32, 1.0);
                }
                lines.end();
            }
            (kept..rows).for_each(|_| lines.end());
        }
        lines.matrix()
    }

    /// The same of the questions, `[batch, entries of a table]`; they have no time.
    pub fn questions(&self, stories: &Stories) -> Sparse {
        let mut lines = Lines::new(self, stories);
        for story in 0..stories.len() {
            lines.words(stories.question(story));
            lines.end();
        }
        lines.matrix()
    }

    /// The age of each of `count` sentences, 0 for the last one. In training, up to `noise` · `count` empty sentences are
    /// inserted at random places.
    fn ages(&self, count: usize, noise: f64, rng: Option<&mut SeededRng>) -> Vec<usize> {
        let Some(rng) = rng.filter(|_| noise > 0.0 && self.temporal_encoding) else {
            return (0..count).rev().collect();
        };
        let blanks = rng.below((noise * count as f64).ceil() as usize + 1);
        let mut ages: Vec<usize> = (0..count + blanks).collect();
        for _ in 0..blanks {
            ages.remove(rng.below(ages.len()));
        }
        ages.into_iter().rev().map(|age| age.min(self.memory_size - 1)).collect()
    }

    /// The mask that is added to scores `[batch, 1, rows]`: 0 for sentences, [`MASKED`] for rows without one. With
    /// `empty_slots`, the empty slots of the memory take part in the softmax as zeros of score 0. A softmax over n such slots
    /// equals one over a single slot of score log n, which is the row after the last sentence.
    pub fn mask(&self, stories: &Stories, empty_slots: bool, like: &Tensor<2>) -> Tensor<3> {
        let (batch, rows) = (stories.len(), self.rows(stories));
        let mut open = vec![MASKED; batch * rows];
        for (story, row) in open.chunks_mut(rows).enumerate() {
            let kept = self.kept(stories, story);
            row[..kept].fill(0.0);
            let unused = self.memory_size - kept;
            if empty_slots && unused > 0 {
                row[kept] = (unused as f32).ln();
            }
        }
        Tensor::from_data(TensorData::new(open, [batch, 1, rows]), (&like.device(), like.dtype()))
    }
}

/// Builds a sparse matrix row by row.
struct Lines<'a> {
    encoder: &'a Encoder,
    /// The first row of the temporal encoding in a table.
    time: u32,
    offsets: Vec<usize>,
    columns: Vec<u32>,
    weights: Vec<f32>,
}

impl<'a> Lines<'a> {
    fn new(encoder: &'a Encoder, stories: &Stories) -> Self {
        let (largest, vocab_size) = (stories.largest() as usize, encoder.vocab_size);
        assert!(largest <= vocab_size, "memory net: built for {vocab_size} words, got word {largest}");
        let time = (vocab_size * (1 + usize::from(encoder.placed()))) as u32;
        Self { encoder, time, offsets: vec![0], columns: Vec::new(), weights: Vec::new() }
    }

    /// An entry for each word and, with position encoding, one for its position.
    fn words(&mut self, words: impl Iterator<Item = u32>) {
        let places = self.encoder.sentence_length as f32;
        for (at, word) in words.enumerate() {
            self.entry(word, 1.0);
            if self.encoder.placed() {
                let place = (at as f32 + 1.0 - (places + 1.0) / 2.0) / places;
                self.entry(self.encoder.vocab_size as u32 + word, place);
            }
        }
    }

    fn entry(&mut self, column: u32, weight: f32) {
        self.columns.push(column);
        self.weights.push(weight);
    }

    fn end(&mut self) {
        self.offsets.push(self.columns.len());
    }

    fn matrix(self) -> Sparse {
        let times = if self.encoder.temporal_encoding { self.encoder.memory_size } else { 0 };
        Sparse::new(self.time as usize + times, self.offsets, self.columns, Some(self.weights))
            .expect("words were compared with the vocabulary, ages with the memory")
    }
}

/// The embedding of words, and the temporal encoding: A and T_A of the end-to-end memory network.
#[derive(Module, Debug)]
pub struct Embedding {
    /// A: `[vocab_size, embedding_dim]`
    pub word_map: Param<Tensor<2>>,
    /// T: `[memory_size, embedding_dim]`; row t is added to the sentence that was t sentences ago.
    pub time_map: Option<Param<Tensor<2>>>,
}

impl Embedding {
    /// Independent normal numbers of this standard deviation.
    pub(super) fn new(
        encoder: &Encoder,
        timed: bool,
        std: f64,
        rng: &mut SeededRng,
        device: &Device,
    ) -> Self {
        let mut map = |rows| normal([rows, encoder.embedding_dim], std, rng, device);
        let word_map = map(encoder.vocab_size);
        Self { word_map, time_map: (timed && encoder.temporal_encoding).then(|| map(encoder.memory_size)) }
    }

    /// The rows that sentences are sums of: one for each word, one for each word with its position, one for each age. In the
    /// position encoding, lⱼ is 1 plus a product of a factor for j and one for k; the latter is applied here, once for all
    /// sentences.
    fn table(&self, encoder: &Encoder) -> Tensor<2> {
        let words = self.word_map.val();
        let (device, dtype) = (words.device(), words.dtype());
        let mut parts = vec![words.clone()];
        if encoder.placed() {
            let width = encoder.embedding_dim as f32;
            let slope = |k: usize| 4.0 * (k as f32 + 1.0 - (width + 1.0) / 2.0) / width;
            let slopes =
                TensorData::new((0..encoder.embedding_dim).map(slope).collect(), [1, encoder.embedding_dim]);
            parts.push(words * Tensor::from_data(slopes, (&device, dtype)));
        }
        if encoder.temporal_encoding {
            parts.push(match &self.time_map {
                Some(map) => map.val(),
                None => Tensor::zeros([encoder.memory_size, encoder.embedding_dim], (&device, dtype)),
            });
        }
        if parts.len() == 1 { parts.remove(0) } else { Tensor::cat(parts, 0) }
    }

    /// Every row of X as a vector, `[rows of X, embedding_dim]`.
    pub(super) fn encode(&self, encoder: &Encoder, rows: &Sparse) -> Tensor<2> {
        sparse_product(rows, self.table(encoder))
    }
}

impl Summarize for Embedding {
    fn summarize(&self, name: &str, uses: usize) -> Vec<LayerSummary> {
        let [vocab_size, embedding_dim] = self.word_map.lazy_shape().dims();
        let row = LayerSummary::new(name, "embedding", uses)
            .with_shapes([vocab_size, 1], [embedding_dim, 1])
            .with_weight("word_map", Some(&self.word_map))
            .with_weight("time_map", self.time_map.as_ref());
        vec![row]
    }
}

/// A map of independent normal numbers.
pub(super) fn normal(shape: [usize; 2], std: f64, rng: &mut SeededRng, device: &Device) -> Param<Tensor<2>> {
    let numbers = (0..shape[0] * shape[1]).map(|_| (std * rng.normal()) as f32).collect();
    parameter(numbers, shape, device)
}

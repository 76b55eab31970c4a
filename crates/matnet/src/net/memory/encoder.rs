//! From words to the rows of a memory.

use burn::module::{Module, Param};
use burn::tensor::{Device, Tensor, TensorData};
use serde::{Deserialize, Serialize};

use super::Stories;
use crate::error::{ConfigError, check_count, check_sides};
use crate::graph::Sparse;
use crate::init::parameter;
use crate::mode::Mode;
use crate::ops::sparse_product;
use crate::random::SeededRng;

/// How the words of a sentence become one row.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Encoding {
    /// Σⱼ A xⱼ: the order of the words is lost.
    Bag,
    /// Σⱼ lⱼ ⊙ A xⱼ where number k of lⱼ is 1 + 4 (k − (d+1)/2) (j − (J+1)/2) / (d J), for sentences of up to J words in d
    /// numbers: the position encoding of the end-to-end memory network, which has half of this.
    #[default]
    Position,
}

/// What no score comes up to: of nothing but this, a softmax is still a number.
const CLOSED: f32 = -1e30;
/// Memories have a multiple of so many rows. A sum over them is then taken in the same order whatever else is in the
/// batch, and a story gives the same bits alone and in any company.
const ROWS: usize = 16;

/// How stories become matrices: sizes and ways, no parameters.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Encoder {
    pub vocabulary: usize,
    /// d
    pub width: usize,
    /// J
    pub words: usize,
    /// The most sentences that are kept; of more, the last ones are.
    pub memory: usize,
    pub encoding: Encoding,
    pub time: bool,
}

impl Encoder {
    pub fn check(&self) -> Result<(), ConfigError> {
        check_sides("vocabulary", &[self.vocabulary])?;
        check_sides("width", &[self.width, self.vocabulary])?;
        check_count("words", self.words, 10_000)?;
        check_count("memory", self.memory, 1_000_000)?;
        check_sides("memory", &[self.memory, self.width])
    }

    /// Whether words have a second row in the tables, for their place.
    fn placed(&self) -> bool {
        self.encoding == Encoding::Position
    }

    /// How many sentences of a story are kept.
    pub fn kept(&self, stories: &Stories, story: usize) -> usize {
        stories.count(story).min(self.memory)
    }

    /// The rows of a memory: at least one more than the longest story has sentences.
    pub fn rows(&self, stories: &Stories) -> usize {
        (stories.longest().min(self.memory) + 1).next_multiple_of(ROWS)
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
                if self.time {
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

    /// How long ago each of `count` sentences was, the last one 0. While learning, up to `noise` · `count` sentences that
    /// are not there have passed between them.
    fn ages(&self, count: usize, noise: f64, rng: Option<&mut SeededRng>) -> Vec<usize> {
        let Some(rng) = rng.filter(|_| noise > 0.0 && self.time) else {
            return (0..count).rev().collect();
        };
        let blanks = rng.below((noise * count as f64).ceil() as usize + 1);
        let mut ages: Vec<usize> = (0..count + blanks).collect();
        for _ in 0..blanks {
            ages.remove(rng.below(ages.len()));
        }
        ages.into_iter().rev().map(|age| age.min(self.memory - 1)).collect()
    }

    /// What is added to scores `[batch, 1, rows]`: nothing for sentences, [`CLOSED`] where there is none. With `empty`, the
    /// places of the memory that hold no sentence are looked at as well: zeros of score 0. A softmax over n such places is one
    /// over a single one whose score is log n, which is the row after the last sentence.
    pub fn openness(&self, stories: &Stories, empty: bool, like: &Tensor<2>) -> Tensor<3> {
        let (batch, rows) = (stories.len(), self.rows(stories));
        let mut open = vec![CLOSED; batch * rows];
        for (story, row) in open.chunks_mut(rows).enumerate() {
            let kept = self.kept(stories, story);
            row[..kept].fill(0.0);
            let unused = self.memory - kept;
            if empty && unused > 0 {
                row[kept] = (unused as f32).ln();
            }
        }
        Tensor::from_data(TensorData::new(open, [batch, 1, rows]), (&like.device(), like.dtype()))
    }
}

/// A sparse matrix, entry after entry.
struct Lines<'a> {
    encoder: &'a Encoder,
    /// The first row of the times in a table.
    time: u32,
    offsets: Vec<usize>,
    columns: Vec<u32>,
    weights: Vec<f32>,
}

impl<'a> Lines<'a> {
    fn new(encoder: &'a Encoder, stories: &Stories) -> Self {
        let (largest, vocabulary) = (stories.largest() as usize, encoder.vocabulary);
        assert!(largest <= vocabulary, "memory net: built for {vocabulary} words, got word {largest}");
        let time = (vocabulary * (1 + usize::from(encoder.placed()))) as u32;
        Self { encoder, time, offsets: vec![0], columns: Vec::new(), weights: Vec::new() }
    }

    /// Each word once as it is and, if places count, once for its place.
    fn words(&mut self, words: impl Iterator<Item = u32>) {
        let places = self.encoder.words as f32;
        for (at, word) in words.enumerate() {
            self.entry(word, 1.0);
            if self.encoder.placed() {
                let place = (at as f32 + 1.0 - (places + 1.0) / 2.0) / places;
                self.entry(self.encoder.vocabulary as u32 + word, place);
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
        let times = if self.encoder.time { self.encoder.memory } else { 0 };
        Sparse::new(self.time as usize + times, self.offsets, self.columns, Some(self.weights))
            .expect("words were compared with the vocabulary, ages with the memory")
    }
}

/// Vectors for words and for times: A and T_A of the end-to-end memory network.
#[derive(Module, Debug)]
pub struct Embedding {
    /// A: `[vocabulary, width]`
    pub word_map: Param<Tensor<2>>,
    /// T: `[memory, width]`; row t is added to the sentence that was t sentences ago.
    pub time_map: Option<Param<Tensor<2>>>,
}

impl Embedding {
    /// Independent normal numbers of this deviation.
    pub(super) fn new(
        encoder: &Encoder,
        timed: bool,
        deviation: f64,
        rng: &mut SeededRng,
        device: &Device,
    ) -> Self {
        let mut map = |rows| normal([rows, encoder.width], deviation, rng, device);
        let word_map = map(encoder.vocabulary);
        Self { word_map, time_map: (timed && encoder.time).then(|| map(encoder.memory)) }
    }

    /// A row for each word; for each word at its place: lⱼ is 1 plus a product of one number for j and one for k, and
    /// the latter are multiplied here, once for all sentences; and for each time.
    fn table(&self, encoder: &Encoder) -> Tensor<2> {
        let words = self.word_map.val();
        let (device, dtype) = (words.device(), words.dtype());
        let mut parts = vec![words.clone()];
        if encoder.placed() {
            let width = encoder.width as f32;
            let slope = |k: usize| 4.0 * (k as f32 + 1.0 - (width + 1.0) / 2.0) / width;
            let slopes = TensorData::new((0..encoder.width).map(slope).collect(), [1, encoder.width]);
            parts.push(words * Tensor::from_data(slopes, (&device, dtype)));
        }
        if encoder.time {
            parts.push(match &self.time_map {
                Some(map) => map.val(),
                None => Tensor::zeros([encoder.memory, encoder.width], (&device, dtype)),
            });
        }
        if parts.len() == 1 { parts.remove(0) } else { Tensor::cat(parts, 0) }
    }

    /// Every row of X as a vector, `[rows of X, width]`.
    pub(super) fn encode(&self, encoder: &Encoder, rows: &Sparse) -> Tensor<2> {
        sparse_product(rows, self.table(encoder))
    }
}

/// A map of independent normal numbers.
pub(super) fn normal(
    shape: [usize; 2],
    deviation: f64,
    rng: &mut SeededRng,
    device: &Device,
) -> Param<Tensor<2>> {
    let numbers = (0..shape[0] * shape[1]).map(|_| (deviation * rng.normal()) as f32).collect();
    parameter(numbers, shape, device)
}

//! The memory network, trained on supporting facts.

use burn::module::{Content, DisplaySettings, Module, ModuleDisplay, Param};
use burn::tensor::activation::log_softmax;
use burn::tensor::{Device, Int, Tensor, TensorData};

use super::encoder::{Embedding, Encoder, Encoding, normal};
use super::{Stories, StoryNet, StoryNetConfig, SupervisedLoss};
use crate::config::config;
use crate::error::{ConfigError, check_count, check_gain, check_rate, check_total};
use crate::form::Form;
use crate::mode::Mode;
use crate::net::{Net, NetConfig};
use crate::ops::{Activation, batched_product_transposed, product, product_transposed};
use crate::random::SeededRng;
use crate::summary::{LayerSummary, Summarize};

config! {
    /// The config of a [`MemoryNetwork`].
    ///
    /// ```
    /// use burn::tensor::Device;
    /// use matnet::prelude::*;
    ///
    /// let device = Device::flex();
    /// let net = MemoryNetworkConfig::new(20, 6, 8).with_hops(2).init(&mut SeededRng::new(42, "init"), &device)?;
    /// let mut stories = Stories::default();
    /// stories.push([&[1, 2, 3][..], &[4, 2, 5]], &[6, 7, 1]);
    /// assert_eq!(net.forward(stories.clone(), &mut Mode::Eval).dims(), [1, 20]);
    /// assert_eq!(net.chosen(&stories)[0].len(), 2);
    /// # Ok::<(), matnet::ConfigError>(())
    /// ```
    pub struct MemoryNetworkConfig {
        /// The number of words; each may be the answer.
        pub vocab_size: usize,
        /// J, the length of the longest sentence in words, for the position encoding.
        pub sentence_length: usize,
        /// d, the size of an embedding.
        pub embedding_dim: usize,
        /// How many sentences the memory holds, the last ones of a story. Default: 50.
        pub memory_size: usize = 50,
        /// The number of hops: how many supporting sentences are looked for at most. Default: 1.
        pub hops: usize = 1,
        /// How words become rows of the memory. Default: position.
        pub encoding: Encoding = Encoding::default(),
        /// Whether the age of a sentence is encoded. Default: yes.
        pub temporal_encoding: bool = true,
        /// In training, empty sentences are inserted at random: up to this fraction of the sentences. Default: 0.
        pub time_noise: f64 = 0.0,
        /// f of the response. Default: identity, as in the original. Yes/no questions need tanh: their answer is not a sum of what
        /// is asked and what is found.
        pub activation: Activation = Activation::Identity,
        /// With a margin, every choice is trained by the ranking loss Σ max(0, margin − right + wrong) over all wrong choices, as in the
        /// original, which samples some of them and takes 0.1. Default: none; by the cross-entropy.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub margin: Option<f64> = None,
        /// The standard deviation of the initial values. Default: 0.1.
        pub init_std: f64 = 0.1,
    }

    /// A net for `vocab_size` words and sentences of at most `sentence_length` words.
    pub fn new(vocab_size: usize, sentence_length: usize, embedding_dim: usize);
}

impl NetConfig for MemoryNetworkConfig {
    type Net = MemoryNetwork;

    fn init(&self, rng: &mut SeededRng, device: &Device) -> Result<MemoryNetwork, ConfigError> {
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
        check_rate("time_noise", self.time_noise)?;
        check_gain("init_std", self.init_std)?;
        if let Some(margin) = self.margin {
            check_gain("margin", margin)?;
        }
        check_total("embedding_dim", 6 * self.embedding_dim * (self.vocab_size + self.memory_size))?;
        let mut embedding = |timed| Embedding::new(&encoder, timed, self.init_std, rng, device);
        let (question, sentence, found) = (embedding(false), embedding(true), embedding(true));
        let (answer_question, answer_found) = (embedding(false), embedding(true));
        Ok(MemoryNetwork {
            question,
            sentence,
            found,
            nothing_map: normal([1, self.embedding_dim], self.init_std, rng, device),
            answer_question,
            answer_found,
            answer_map: normal([self.embedding_dim, self.vocab_size], self.init_std, rng, device),
            encoder,
            hops: self.hops,
            time_noise: self.time_noise,
            activation: self.activation,
            margin: self.margin,
        })
    }

    fn form(&self) -> Form {
        Form::Matrix
    }
}

impl StoryNetConfig for MemoryNetworkConfig {
    const NEEDS_FACTS: bool = true;

    fn vocab_size(&self) -> usize {
        self.vocab_size
    }

    fn memory_size(&self) -> usize {
        self.memory_size
    }
}

/// The memory network of [Weston et al.](https://arxiv.org/abs/1410.3916), made with [`MemoryNetworkConfig`]: it finds the
/// sentences that support an answer, one after another, and answers from them.
///
/// Its four parts are those of the paper. *Input* embeds every sentence, *generalisation* stores it as a row of the memory M,
/// `[n, d]`. *Output* finds sentence f₁ by the question q, f₂ by the question and f₁, and so on:
///
/// ```text
/// uₜ = B q + Σ_{s<t} F fₛ          q, fₛ as words;   B, F and A as in [`EndToEnd`](super::EndToEnd)
/// fₜ = argmaxᵢ uₜᵀ mᵢ              M = A x, and a row z for "nothing more"
/// scores = f(B' q + Σₜ F' fₜ) W     the *response*, over all words
/// ```
///
/// This is `mat1` with hard attention: each column of U is 1 at one sentence. A hard choice has no gradient, so every choice
/// is supervised ([`StoryNet::supervised_loss`]): in training, fₜ are the supporting sentences of the data. Where a question
/// has fewer of them than the net has hops, the next choice is "nothing more", and the search ends there.
#[derive(Module, Debug)]
#[module(custom_display)]
pub struct MemoryNetwork {
    /// B
    pub question: Embedding,
    /// A
    pub sentence: Embedding,
    /// F
    pub found: Embedding,
    /// z: `[1, embedding_dim]`
    pub nothing_map: Param<Tensor<2>>,
    /// B'
    pub answer_question: Embedding,
    /// F'
    pub answer_found: Embedding,
    /// W: `[embedding_dim, vocab_size]`
    pub answer_map: Param<Tensor<2>>,
    #[module(skip)]
    encoder: Encoder,
    hops: usize,
    time_noise: f64,
    #[module(skip)]
    activation: Activation,
    #[module(skip)]
    margin: Option<f64>,
}

/// The target or the result of one hop.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Choice {
    Row(usize),
    Nothing,
    /// The sentence is no longer in the memory, so the hop cannot be trained.
    Lost,
}

/// An encoded batch.
struct Encoded {
    size: usize,
    rows: usize,
    /// The sentences as keys, `[batch, rows, embedding_dim]`, and as values for the next hop and for the answer,
    /// `[batch · rows, embedding_dim]`.
    sentences: Tensor<3>,
    found: Tensor<2>,
    answer_found: Tensor<2>,
    /// Added to the scores: 0, or a large negative number for rows without a sentence, `[batch, rows]`.
    mask: Tensor<2>,
    question: Tensor<2>,
    answer: Tensor<2>,
}

impl MemoryNetwork {
    /// The loss of every choice and of the answer; see [`StoryNet::supervised_loss`].
    fn loss(
        &self,
        stories: &Stories,
        facts: &[Vec<usize>],
        answers: &[u32],
        mode: &mut Mode,
    ) -> SupervisedLoss {
        assert_eq!(facts.len(), stories.len(), "memory network: facts for every story");
        assert_eq!(answers.len(), stories.len(), "memory network: an answer for every story");
        let mut batch = self.encode(stories, mode);
        let mut total: Option<Tensor<1>> = None;
        for hop in 0..self.hops {
            let scores = self.choice_scores(&batch);
            let right: Vec<Choice> =
                facts.iter().enumerate().map(|(at, facts)| self.right(stories, at, facts, hop)).collect();
            let column = |choice: &Choice| match choice {
                Choice::Row(row) => Some(*row as u32),
                Choice::Nothing => Some(batch.rows as u32),
                Choice::Lost => None,
            };
            // Hops after "nothing more" are not trained.
            let taught: Vec<Option<u32>> = right
                .iter()
                .zip(facts)
                .map(|(choice, facts)| column(choice).filter(|_| hop <= facts.len()))
                .collect();
            let loss = self.choice_loss(scores, &taught);
            total = Some(match total {
                Some(total) => total + loss,
                None => loss,
            });
            self.take(&mut batch, &right);
            mode.observe(|| format!("hop.{hop}"), &batch.question);
        }
        let scores = self.response(&batch);
        let right: Vec<Option<u32>> = answers.iter().map(|&answer| Some(answer)).collect();
        let loss = self.choice_loss(scores.clone(), &right);
        let loss = match total {
            Some(total) => total + loss,
            None => loss,
        };
        SupervisedLoss { loss, scores }
    }

    /// The sentence that each hop chooses for each story, counted from 0 in the memory; `None` for "nothing more".
    pub fn chosen(&self, stories: &Stories) -> Vec<Vec<Option<usize>>> {
        self.answer(stories, &mut Mode::Eval).1
    }

    /// Scores and choices at inference.
    fn answer(&self, stories: &Stories, mode: &mut Mode) -> (Tensor<2>, Vec<Vec<Option<usize>>>) {
        let mut batch = self.encode(stories, mode);
        let mut chosen: Vec<Vec<Option<usize>>> = vec![Vec::new(); batch.size];
        for hop in 0..self.hops {
            let best: Vec<Choice> = best(self.choice_scores(&batch))
                .into_iter()
                .zip(&chosen)
                .map(|(column, before)| match before.last() {
                    Some(None) => Choice::Nothing,
                    _ if column < batch.rows => Choice::Row(column),
                    _ => Choice::Nothing,
                })
                .collect();
            self.take(&mut batch, &best);
            for (chosen, choice) in chosen.iter_mut().zip(&best) {
                chosen.push(match choice {
                    Choice::Row(row) => Some(*row),
                    _ => None,
                });
            }
            mode.observe(|| format!("hop.{hop}"), &batch.question);
        }
        (self.response(&batch), chosen)
    }

    /// Scores `[batch, vocab_size]` from what was found.
    fn response(&self, batch: &Encoded) -> Tensor<2> {
        product(self.activation.forward(batch.answer.clone()), self.answer_map.val())
    }

    fn encode(&self, stories: &Stories, mode: &mut Mode) -> Encoded {
        let encoder = &self.encoder;
        let (size, rows, d) = (stories.len(), encoder.rows(stories), encoder.embedding_dim);
        let (x, q) = (encoder.sentences(stories, self.time_noise, mode), encoder.questions(stories));
        let question = self.question.encode(encoder, &q);
        Encoded {
            size,
            rows,
            sentences: self.sentence.encode(encoder, &x).reshape([size, rows, d]),
            found: self.found.encode(encoder, &x),
            answer_found: self.answer_found.encode(encoder, &x),
            mask: encoder.mask(stories, false, &question).reshape([size, rows]),
            answer: self.answer_question.encode(encoder, &q),
            question,
        }
    }

    /// uᵀmᵢ for every row and uᵀz, `[batch, rows + 1]`.
    fn choice_scores(&self, batch: &Encoded) -> Tensor<2> {
        let (size, rows, d) = (batch.size, batch.rows, self.encoder.embedding_dim);
        let state = batch.question.clone().reshape([size, 1, d]);
        let scores = batched_product_transposed(state, batch.sentences.clone()).reshape([size, rows]);
        let nothing = product_transposed(batch.question.clone(), self.nothing_map.val());
        Tensor::cat(vec![scores + batch.mask.clone(), nothing], 1)
    }

    /// Adds the chosen sentences to the query of the next hop and to the input of the response.
    fn take(&self, batch: &mut Encoded, choices: &[Choice]) {
        // The last row of every memory is empty, so it is zero and stands for nothing.
        let place = |(at, choice): (usize, &Choice)| match choice {
            Choice::Row(row) => (at * batch.rows + row) as i64,
            _ => (at * batch.rows + batch.rows - 1) as i64,
        };
        let places: Vec<i64> = choices.iter().enumerate().map(place).collect();
        let device = batch.question.device();
        let places = Tensor::<1, Int>::from_data(TensorData::new(places, [batch.size]), &device);
        batch.question = batch.question.clone() + batch.found.clone().select(0, places.clone());
        batch.answer = batch.answer.clone() + batch.answer_found.clone().select(0, places);
    }

    /// The target of a hop.
    fn right(&self, stories: &Stories, story: usize, facts: &[usize], hop: usize) -> Choice {
        let lost = stories.count(story) - self.encoder.kept(stories, story);
        match facts.get(hop) {
            None => Choice::Nothing,
            Some(fact) => fact.checked_sub(lost).map_or(Choice::Lost, Choice::Row),
        }
    }

    /// The mean over the batch of the loss of choosing these columns; questions without a target count as 0.
    fn choice_loss(&self, scores: Tensor<2>, right: &[Option<u32>]) -> Tensor<1> {
        let [batch, _] = scores.dims();
        let (device, dtype) = (scores.device(), scores.dtype());
        let columns: Vec<i64> = right.iter().map(|column| i64::from(column.unwrap_or(0))).collect();
        let taught: Vec<f32> = right.iter().map(|column| f32::from(u8::from(column.is_some()))).collect();
        let columns = Tensor::<2, Int>::from_data(TensorData::new(columns, [batch, 1]), &device);
        let taught = Tensor::<2>::from_data(TensorData::new(taught, [batch, 1]), (&device, dtype));
        let each = match self.margin {
            None => -log_softmax(scores, 1).gather(1, columns),
            Some(margin) => {
                let right = scores.clone().gather(1, columns);
                // The sum includes the target itself, which adds exactly the margin.
                (scores - right + margin).clamp_min(0.0).sum_dim(1) - margin
            }
        };
        (each * taught).sum() / batch as f64
    }
}

/// The column of the largest number of each row, the first of equal ones.
fn best(scores: Tensor<2>) -> Vec<usize> {
    let columns = scores.dims()[1];
    let numbers: Vec<f64> = scores.into_data().iter::<f64>().collect();
    let best = |row: &[f64]| {
        let mut best = 0;
        for (column, score) in row.iter().enumerate() {
            if *score > row[best] {
                best = column;
            }
        }
        best
    };
    numbers.chunks_exact(columns).map(best).collect()
}

impl Net for MemoryNetwork {
    type Input = Stories;
    /// Scores `[batch, vocab_size]`: word w of the stories has column w − 1.
    type Output = Tensor<2>;

    fn forward(&self, stories: Stories, mode: &mut Mode) -> Tensor<2> {
        self.answer(&stories, mode).0
    }

    fn form(&self) -> Form {
        Form::Matrix
    }

    /// Operations are counted for a full memory, with the embeddings of its sentences.
    fn summary(&self, _steps: usize) -> Vec<LayerSummary> {
        let row = |embedding: &Embedding, name, flops| {
            embedding.summarize(name, 1).into_iter().map(move |row| row.with_flops(flops))
        };
        let (encode, search) = (self.encoder.flops(), self.hops as u64 * self.encoder.read_flops());
        let [input, output] = self.answer_map.lazy_shape().dims();
        let answer = LayerSummary::of_weight("answer_map", "vector map", &self.answer_map);
        row(&self.question, "question", 0)
            .chain(row(&self.sentence, "sentence", encode + search))
            .chain(row(&self.found, "found", encode))
            .chain([LayerSummary::of_weight("nothing_map", "embedding", &self.nothing_map)])
            .chain(row(&self.answer_question, "answer_question", 0))
            .chain(row(&self.answer_found, "answer_found", encode))
            .chain([answer.with_shapes([input, 1], [output, 1])])
            .collect()
    }
}

impl StoryNet for MemoryNetwork {
    fn attention(&self, stories: &Stories) -> Vec<Vec<Vec<Vec<f32>>>> {
        let one_hot = |story: usize, chosen: Option<usize>| {
            let weight = |sentence| f32::from(u8::from(Some(sentence) == chosen));
            vec![(0..self.encoder.kept(stories, story)).map(weight).collect()]
        };
        let chosen = self.chosen(stories).into_iter().enumerate();
        chosen.map(|(at, hops)| hops.into_iter().map(|hop| one_hot(at, hop)).collect()).collect()
    }

    fn supervised_loss(
        &self,
        stories: &Stories,
        facts: &[Vec<usize>],
        answers: &[u32],
        mode: &mut Mode,
    ) -> Option<SupervisedLoss> {
        Some(self.loss(stories, facts, answers, mode))
    }
}

impl ModuleDisplay for MemoryNetwork {
    fn custom_settings(&self) -> Option<DisplaySettings> {
        DisplaySettings::new().with_new_line_after_attribute(false).optional()
    }

    fn custom_content(&self, content: Content) -> Option<Content> {
        let Encoder { vocab_size, embedding_dim, memory_size, .. } = self.encoder;
        let hops = self.hops;
        let words = format!(
            "{vocab_size} words in {embedding_dim} dimensions, {memory_size} sentences, up to {hops} of them found"
        );
        content.add_single(&words).optional()
    }
}

//! The memory network, told which sentences support an answer.

use burn::module::{Content, DisplaySettings, Module, ModuleDisplay, Param};
use burn::tensor::activation::log_softmax;
use burn::tensor::{Device, Int, Tensor, TensorData};
use serde::{Deserialize, Serialize};

use super::Stories;
use super::encoder::{Embedding, Encoder, Encoding, normal};
use crate::config::{fifty, one, setters, yes};
use crate::error::{ConfigError, check_count, check_gain, check_rate, check_total};
use crate::form::Form;
use crate::mode::Mode;
use crate::net::Net;
use crate::ops::Activation;
use crate::random::SeededRng;

/// How far a right choice is to be from the wrong ones.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum FactLoss {
    /// −log of its share in a softmax.
    #[default]
    Softmax,
    /// Σ max(0, margin − right + wrong) over all wrong ones: the ranking loss of the original, which draws some of them.
    Margin,
}

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
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MemoryNetworkConfig {
    /// How many words there are; each may be the answer.
    pub vocabulary: usize,
    /// J, the most words of a sentence, for the position encoding.
    pub words: usize,
    /// d, the numbers that words become.
    pub width: usize,
    /// The most sentences that are kept. Default: 50.
    #[serde(default = "fifty")]
    pub memory: usize,
    /// The most sentences that are looked for, one after another. Default: 1.
    #[serde(default = "one")]
    pub hops: usize,
    /// How words become rows. Default: position.
    #[serde(default)]
    pub encoding: Encoding,
    /// Whether sentences know how long ago they were. Default: yes.
    #[serde(default = "yes")]
    pub time: bool,
    /// While learning, up to this share of sentences more may have passed. Default: 0.
    #[serde(default)]
    pub noise: f64,
    /// f of the response. Default: identity, as in the original; with tanh it can weigh what is asked against what is found, which
    /// questions for yes or no need.
    #[serde(default = "identity")]
    pub activation: Activation,
    /// What is made small for every choice. Default: softmax.
    #[serde(default)]
    pub loss: FactLoss,
    /// How far right is to be above wrong, for the margin loss. Default: 0.1.
    #[serde(default)]
    pub margin: Option<f64>,
    /// The standard deviation of the first values. Default: 0.1.
    #[serde(default = "tenth")]
    pub deviation: f64,
}

fn tenth() -> f64 {
    0.1
}

fn identity() -> Activation {
    Activation::Identity
}

impl MemoryNetworkConfig {
    /// So many words, at most `words` in a sentence, in `width` numbers.
    pub fn new(vocabulary: usize, words: usize, width: usize) -> Self {
        Self {
            vocabulary,
            words,
            width,
            memory: fifty(),
            hops: one(),
            encoding: Encoding::default(),
            time: true,
            noise: 0.0,
            activation: identity(),
            loss: FactLoss::default(),
            margin: None,
            deviation: tenth(),
        }
    }

    setters! {
        with_memory(memory: usize);
        with_hops(hops: usize);
        with_encoding(encoding: Encoding);
        with_time(time: bool);
        with_noise(noise: f64);
        with_activation(activation: Activation);
        with_loss(loss: FactLoss);
        with_margin(margin: Option<f64>);
        with_deviation(deviation: f64);
    }

    /// Checks the config and draws the first values from `rng`.
    pub fn init(&self, rng: &mut SeededRng, device: &Device) -> Result<MemoryNetwork, ConfigError> {
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
        check_rate("noise", self.noise)?;
        check_gain("deviation", self.deviation)?;
        if let Some(margin) = self.margin {
            check_gain("margin", margin)?;
            if self.loss != FactLoss::Margin {
                return Err(ConfigError::new("margin", margin.to_string(), "only loss = \"margin\" uses it"));
            }
        }
        check_total("width", 6 * self.width * (self.vocabulary + self.memory))?;
        let mut embedding = |timed| Embedding::new(&encoder, timed, self.deviation, rng, device);
        let (question, sentence, found) = (embedding(false), embedding(true), embedding(true));
        let (answer_question, answer_found) = (embedding(false), embedding(true));
        Ok(MemoryNetwork {
            question,
            sentence,
            found,
            nothing_map: normal([1, self.width], self.deviation, rng, device),
            answer_question,
            answer_found,
            answer_map: normal([self.width, self.vocabulary], self.deviation, rng, device),
            encoder,
            hops: self.hops,
            noise: self.noise,
            activation: self.activation,
            loss: self.loss,
            margin: self.margin.unwrap_or(0.1),
        })
    }
}

/// The memory network, made with [`MemoryNetworkConfig`]: it looks for the sentences that support an answer, one after
/// another, and answers from them.
///
/// Its four parts are those of the paper. *Input* makes a row of numbers of every sentence, *generalisation* stores it in the
/// memory M, `[n, d]`. *Output* looks for sentence f₁ by the question q, for f₂ by the question and f₁, and so on:
///
/// ```text
/// uₜ = B q + Σ_{s<t} F fₛ          q, fₛ as words;   B, F and A as in [`EndToEnd`](super::EndToEnd)
/// fₜ = argmaxᵢ uₜᵀ mᵢ              M = A x, and a row z for "nothing more"
/// scores = f(B' q + Σₜ F' fₜ) W     the *response*, over all words
/// ```
///
/// That is `mat1` whose attention columns are hard: each is 1 at one sentence. A choice has no gradient, so every one of
/// them is taught ([`loss`](Self::loss)): while learning, fₜ are the sentences that are known to support the answer.
/// Of questions with fewer of them than the net has hops, the next choice is nothing, and looking ends there.
#[derive(Module, Debug)]
#[module(custom_display)]
pub struct MemoryNetwork {
    /// B
    pub question: Embedding,
    /// A
    pub sentence: Embedding,
    /// F
    pub found: Embedding,
    /// z: `[1, width]`
    pub nothing_map: Param<Tensor<2>>,
    /// B'
    pub answer_question: Embedding,
    /// F'
    pub answer_found: Embedding,
    /// W: `[width, vocabulary]`
    pub answer_map: Param<Tensor<2>>,
    #[module(skip)]
    encoder: Encoder,
    hops: usize,
    noise: f64,
    #[module(skip)]
    activation: Activation,
    #[module(skip)]
    loss: FactLoss,
    margin: f64,
}

/// What a [`MemoryNetwork`] says when it is shown the sentences.
#[derive(Clone, Debug)]
pub struct Taught {
    /// The mean loss of choices and answers, one number.
    pub loss: Tensor<1>,
    /// Scores `[batch, vocabulary]`, given the right sentences.
    pub scores: Tensor<2>,
}

/// A sentence to be looked for, or what there is in its place.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Choice {
    Row(usize),
    Nothing,
    /// It supports the answer, but the memory has lost it: nobody can be taught to find it.
    Lost,
}

/// A batch made ready.
struct Ready {
    batch: usize,
    rows: usize,
    /// The sentences to look at `[batch, rows, width]`, and as what is found `[batch · rows, width]`, for the next hop and for
    /// the answer.
    sentences: Tensor<3>,
    found: Tensor<2>,
    answer_found: Tensor<2>,
    /// What is added to the scores of rows without a sentence `[batch, rows]`.
    open: Tensor<2>,
    question: Tensor<2>,
    answer: Tensor<2>,
}

impl MemoryNetwork {
    /// The loss while learning: of every choice and of the answer, given the sentences `facts` that support it (counted from 0
    /// in the story, in the order in which they are to be found) and the words that answer (from 0).
    ///
    /// # Panics
    ///
    /// If there is not one list of facts and one answer per story.
    pub fn loss(&self, stories: &Stories, facts: &[Vec<usize>], answers: &[u32], mode: &mut Mode) -> Taught {
        assert_eq!(facts.len(), stories.len(), "memory network: facts for every story");
        assert_eq!(answers.len(), stories.len(), "memory network: an answer for every story");
        let mut ready = self.ready(stories, mode);
        let mut total: Option<Tensor<1>> = None;
        for hop in 0..self.hops {
            let scores = self.choice_scores(&ready);
            let right: Vec<Choice> =
                facts.iter().enumerate().map(|(at, facts)| self.right(stories, at, facts, hop)).collect();
            let column = |choice: &Choice| match choice {
                Choice::Row(row) => Some(*row as u32),
                Choice::Nothing => Some(ready.rows as u32),
                Choice::Lost => None,
            };
            // Once nothing more is to be found, later hops have nothing to learn.
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
            self.take(&mut ready, &right);
            mode.see(|| format!("hop {}", hop + 1), &ready.question);
        }
        let scores = self.response(&ready);
        let right: Vec<Option<u32>> = answers.iter().map(|&answer| Some(answer)).collect();
        let loss = self.choice_loss(scores.clone(), &right);
        let loss = match total {
            Some(total) => total + loss,
            None => loss,
        };
        Taught { loss, scores }
    }

    /// The sentences that are chosen for each story, counted from 0 among those that are kept; `None` once it has stopped.
    pub fn chosen(&self, stories: &Stories) -> Vec<Vec<Option<usize>>> {
        self.answer(stories, &mut Mode::Eval).1
    }

    /// Scores and choices of the net in use.
    fn answer(&self, stories: &Stories, mode: &mut Mode) -> (Tensor<2>, Vec<Vec<Option<usize>>>) {
        let mut ready = self.ready(stories, mode);
        let mut chosen: Vec<Vec<Option<usize>>> = vec![Vec::new(); ready.batch];
        for hop in 0..self.hops {
            let best: Vec<Choice> = best(self.choice_scores(&ready))
                .into_iter()
                .zip(&chosen)
                .map(|(column, before)| match before.last() {
                    Some(None) => Choice::Nothing,
                    _ if column < ready.rows => Choice::Row(column),
                    _ => Choice::Nothing,
                })
                .collect();
            self.take(&mut ready, &best);
            for (chosen, choice) in chosen.iter_mut().zip(&best) {
                chosen.push(match choice {
                    Choice::Row(row) => Some(*row),
                    _ => None,
                });
            }
            mode.see(|| format!("hop {}", hop + 1), &ready.question);
        }
        (self.response(&ready), chosen)
    }

    /// Scores `[batch, vocabulary]` from what was found.
    fn response(&self, ready: &Ready) -> Tensor<2> {
        self.activation.forward(ready.answer.clone()).matmul(self.answer_map.val())
    }

    fn ready(&self, stories: &Stories, mode: &mut Mode) -> Ready {
        let encoder = &self.encoder;
        let (batch, rows, d) = (stories.len(), encoder.rows(stories), encoder.width);
        let (x, q) = (encoder.sentences(stories, self.noise, mode), encoder.questions(stories));
        let question = self.question.encode(encoder, &q);
        Ready {
            batch,
            rows,
            sentences: self.sentence.encode(encoder, &x).reshape([batch, rows, d]),
            found: self.found.encode(encoder, &x),
            answer_found: self.answer_found.encode(encoder, &x),
            open: encoder.openness(stories, false, &question).reshape([batch, rows]),
            answer: self.answer_question.encode(encoder, &q),
            question,
        }
    }

    /// uᵀmᵢ for every row and uᵀz, `[batch, rows + 1]`.
    fn choice_scores(&self, ready: &Ready) -> Tensor<2> {
        let (batch, rows, d) = (ready.batch, ready.rows, self.encoder.width);
        let state = ready.question.clone().reshape([batch, 1, d]);
        let scores = state.matmul(ready.sentences.clone().swap_dims(1, 2)).reshape([batch, rows]);
        let nothing = ready.question.clone().matmul(self.nothing_map.val().transpose());
        Tensor::cat(vec![scores + ready.open.clone(), nothing], 1)
    }

    /// Adds what is found to what is asked, and to what is answered from.
    fn take(&self, ready: &mut Ready, choices: &[Choice]) {
        // A row that no story fills is zero: the last of each, which there always is, stands for nothing.
        let place = |(at, choice): (usize, &Choice)| match choice {
            Choice::Row(row) => (at * ready.rows + row) as i64,
            _ => (at * ready.rows + ready.rows - 1) as i64,
        };
        let places: Vec<i64> = choices.iter().enumerate().map(place).collect();
        let device = ready.question.device();
        let places = Tensor::<1, Int>::from_data(TensorData::new(places, [ready.batch]), &device);
        ready.question = ready.question.clone() + ready.found.clone().select(0, places.clone());
        ready.answer = ready.answer.clone() + ready.answer_found.clone().select(0, places);
    }

    /// What the hop is to find.
    fn right(&self, stories: &Stories, story: usize, facts: &[usize], hop: usize) -> Choice {
        let lost = stories.count(story) - self.encoder.kept(stories, story);
        match facts.get(hop) {
            None => Choice::Nothing,
            Some(fact) => fact.checked_sub(lost).map_or(Choice::Lost, Choice::Row),
        }
    }

    /// The mean over the batch of the loss of choosing these columns; who has none loses nothing.
    fn choice_loss(&self, scores: Tensor<2>, right: &[Option<u32>]) -> Tensor<1> {
        let [batch, _] = scores.dims();
        let (device, dtype) = (scores.device(), scores.dtype());
        let columns: Vec<i64> = right.iter().map(|column| i64::from(column.unwrap_or(0))).collect();
        let taught: Vec<f32> = right.iter().map(|column| f32::from(u8::from(column.is_some()))).collect();
        let columns = Tensor::<2, Int>::from_data(TensorData::new(columns, [batch, 1]), &device);
        let taught = Tensor::<2>::from_data(TensorData::new(taught, [batch, 1]), (&device, dtype));
        let each = match self.loss {
            FactLoss::Softmax => -log_softmax(scores, 1).gather(1, columns),
            FactLoss::Margin => {
                let right = scores.clone().gather(1, columns);
                // The right one itself adds the margin, wherever it stands.
                (scores - right + self.margin).clamp_min(0.0).sum_dim(1) - self.margin
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
    /// Scores `[batch, vocabulary]`: word w of the stories has column w − 1.
    type Output = Tensor<2>;

    fn forward(&self, stories: Stories, mode: &mut Mode) -> Tensor<2> {
        self.answer(&stories, mode).0
    }

    fn form(&self) -> Form {
        Form::Matrix
    }
}

impl ModuleDisplay for MemoryNetwork {
    fn custom_settings(&self) -> Option<DisplaySettings> {
        DisplaySettings::new().with_new_line_after_attribute(false).optional()
    }

    fn custom_content(&self, content: Content) -> Option<Content> {
        let Encoder { vocabulary, width, memory, .. } = self.encoder;
        let hops = self.hops;
        let words =
            format!("{vocabulary} words in {width} numbers, {memory} sentences, up to {hops} of them found");
        content.add_single(&words).optional()
    }
}

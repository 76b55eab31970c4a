//! A net that learns a program.

use std::collections::BTreeMap;
use std::sync::Arc;

use burn::tensor::{Device, Int, Tensor, TensorData};
use matnet::Mode;
use matnet::net::{Net, Trace, TuringMachine};
use matnet::random::SeededRng;
use serde::{Deserialize, Serialize};

use super::{ProgramData, ProgramDataConfig, ProgramModelConfig, Sequence};
use crate::config::{Loss, TrainConfig};
use crate::data::Part;
use crate::model::Output;
use crate::run::{Facts, Score};
use crate::task::{Measured, Task, binary_cross_entropies, numbers};
use crate::{Error, Result};

/// Sequences per step, unless the config says how many.
const BATCH: usize = 16;
/// Sequences that are measured at once.
const MEASURED: usize = 100;

/// What the wrong bits in a test sequence are called, in the mean.
pub const WRONG_BITS: &str = "wrong_bits";
/// The same in sequences of the length `data.extrapolation_length`.
pub const WRONG_BITS_FAR: &str = "wrong_bits_far";

/// What stands beside the weights.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ProgramNote {
    /// The epoch of these weights, from 1.
    pub epoch: usize,
    /// The program.
    pub program: super::Program,
}

/// A program, and a net that learns it. The loss is the mean binary cross entropy of the bits that are asked for; the error is the
/// share of those that are wrong.
#[derive(Clone, Debug)]
pub struct ProgramTask {
    /// The sequences.
    pub data: Arc<ProgramData>,
    /// The config of the net.
    pub model: ProgramModelConfig,
}

/// How well a net does on sequences of one size.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct BitScore {
    /// The mean loss of a bit.
    pub loss: f64,
    /// How many sequences.
    pub sequences: usize,
    /// How many of them without a wrong bit.
    pub faultless: usize,
    /// Bits in all.
    pub bits: u64,
    /// Bits that are wrong.
    pub wrong: u64,
}

impl BitScore {
    /// Wrong bits in a sequence, in the mean.
    pub fn wrong_per_sequence(&self) -> f64 {
        self.wrong as f64 / self.sequences.max(1) as f64
    }
}

impl ProgramTask {
    /// The task of this net on these data; fails if the training does not fit.
    pub fn new(data: Arc<ProgramData>, model: ProgramModelConfig, train: &TrainConfig) -> Result<Self> {
        if let Some(loss) = train.loss.filter(|&loss| loss != Loss::Bce) {
            let loss = format!("{loss:?}").to_lowercase();
            return Err(Error::Config(format!("train.loss: {loss}; bits are learnt with \"bce\"")));
        }
        Ok(Self { data, model })
    }

    /// Sequences as a net takes them, `[batch, time, 1, channels]`; all have one size.
    pub fn input(&self, sequences: &[&Sequence], device: &Device) -> Tensor<4> {
        let channels = self.data.config.channels();
        let numbers: Vec<f32> = sequences.iter().flat_map(|sequence| &sequence.input).copied().collect();
        let time = sequences.first().map_or(0, |sequence| sequence.input.len() / channels);
        Tensor::from_data(TensorData::new(numbers, [sequences.len(), time, 1, channels]), device)
    }

    /// What a net gives where answers are wanted, before σ: `[answers, bits]`, those of the sequences one after another. Sequences of
    /// one size go through the net together.
    fn answers(
        &self,
        net: &TuringMachine,
        sequences: &[Sequence],
        mode: &mut Mode,
        device: &Device,
    ) -> Tensor<2> {
        let bits = self.data.config.bits();
        let mut groups: BTreeMap<(usize, usize), Vec<usize>> = BTreeMap::new();
        for (at, sequence) in sequences.iter().enumerate() {
            groups.entry((sequence.answers.start, sequence.answers.end)).or_default().push(at);
        }
        let starts: Vec<usize> = sequences
            .iter()
            .scan(0, |next, sequence| {
                let start = *next;
                *next += sequence.answers.len();
                Some(start)
            })
            .collect();
        let (mut parts, mut places) = (Vec::new(), Vec::new());
        for ((start, end), members) in &groups {
            let of_group: Vec<&Sequence> = members.iter().map(|&at| &sequences[at]).collect();
            let given = net.forward(self.input(&of_group, device), mode);
            let count = end - start;
            parts.push(given.narrow(1, *start, count).reshape([members.len() * count, bits]));
            places.extend(members.iter().flat_map(|&at| starts[at]..starts[at] + count));
        }
        let all = Tensor::cat(parts, 0);
        if groups.len() == 1 {
            return all;
        }
        // Back from the order of the groups to that of the sequences.
        let mut order = vec![0_i64; places.len()];
        places.iter().enumerate().for_each(|(from, &to)| order[to] = from as i64);
        let count = order.len();
        all.select(0, Tensor::<1, Int>::from_data(TensorData::new(order, [count]), device))
    }

    fn judge_bits(&self, given: Tensor<2>, sequences: &[Sequence]) -> Measured {
        let wanted: Vec<f32> = sequences.iter().flat_map(|sequence| &sequence.wanted).copied().collect();
        let wrong = numbers(given.clone().detach())
            .iter()
            .zip(&wanted)
            .filter(|(given, wanted)| (**given > 0.0) != (**wanted > 0.5))
            .count();
        let answers = wanted.len() as u64;
        let wanted = Tensor::<2>::from_data(TensorData::new(wanted, given.dims()), &given.device());
        Measured { loss: binary_cross_entropies(given, wanted).mean(), wrong: Some(wrong as u64), answers }
    }

    /// Wrong bits in a test sequence, in the mean, for a share of wrong bits in so many.
    fn wrong_bits(&self, error: f64, sequences: usize) -> f64 {
        let config = &self.data.config;
        let (_, answers) = config.source.steps(config.test_size(), config.item());
        let bits = (answers * config.bits() * sequences) as f64;
        (error * bits).round() / sequences as f64
    }

    fn sequences(&self, examples: &[usize]) -> Vec<Sequence> {
        examples.iter().map(|&number| self.data.sequence(number)).collect()
    }

    /// How well a net does on the fixed sequences of a part, bit by bit; nothing if there are none.
    pub fn score(&self, net: &TuringMachine, part: Part, device: &Device) -> Option<BitScore> {
        let examples = self.data.part(part);
        if examples.is_empty() {
            return None;
        }
        let mut score = BitScore { loss: 0.0, sequences: 0, faultless: 0, bits: 0, wrong: 0 };
        for examples in examples.chunks(MEASURED) {
            let sequences = self.sequences(examples);
            let given = self.answers(net, &sequences, &mut Mode::Eval, device);
            let measured = self.judge_bits(given.clone(), &sequences);
            score.loss += f64::from(measured.loss.into_scalar::<f32>()) * measured.answers as f64;
            score.bits += measured.answers;
            score.wrong += measured.wrong.unwrap_or(0);
            let given = numbers(given);
            let mut given = given.as_slice();
            for sequence in &sequences {
                let (mine, rest) = given.split_at(sequence.wanted.len());
                given = rest;
                let right = mine
                    .iter()
                    .zip(&sequence.wanted)
                    .all(|(given, wanted)| (*given > 0.0) == (*wanted > 0.5));
                score.faultless += usize::from(right);
            }
            score.sequences += sequences.len();
        }
        score.loss /= score.bits.max(1) as f64;
        Some(score)
    }

    /// What a net does with one of the fixed sequences, for looking at.
    pub fn trace(&self, net: &TuringMachine, number: usize, device: &Device) -> (Sequence, Trace) {
        let sequence = self.data.sequence(number);
        let trace = net.trace(self.input(&[&sequence], device));
        (sequence, trace)
    }
}

impl Task for ProgramTask {
    type Net = TuringMachine;
    type Data = ProgramDataConfig;
    type Model = ProgramModelConfig;

    fn net(&self, rng: &mut SeededRng, device: &Device) -> Result<TuringMachine> {
        self.model.0.init(rng, device).map_err(|error| Error::key("model", error))
    }

    fn examples(&self, part: Part) -> &[usize] {
        self.data.part(part)
    }

    /// For the fixed sequences, whatever the mode; what is drawn while learning has no number.
    fn forward(&self, net: &TuringMachine, examples: &[usize], mode: &mut Mode, device: &Device) -> Output {
        let given = self.answers(net, &self.sequences(examples), mode, device);
        Output::Matrices(given.unsqueeze_dim(1))
    }

    fn judge(&self, output: Output, examples: &[usize], _device: &Device) -> Measured {
        match output {
            Output::Matrices(given) => self.judge_bits(given.squeeze_dim(1), &self.sequences(examples)),
            Output::Scores(_) => unreachable!("a program's net gives bits"),
        }
    }

    /// While learning, as many new sequences as there are examples.
    fn measure(&self, net: &TuringMachine, examples: &[usize], mode: &mut Mode, device: &Device) -> Measured {
        let sequences = match mode.rng() {
            Some(rng) => self.data.fresh(examples.len(), rng),
            None => self.sequences(examples),
        };
        self.judge_bits(self.answers(net, &sequences, mode, device), &sequences)
    }

    /// Wrong bits in a test sequence, and in one of `data.extrapolation_length`.
    fn also(
        &self,
        net: &TuringMachine,
        examples: &[usize],
        score: Option<Score>,
        _chunk: usize,
        device: &Device,
    ) -> BTreeMap<String, f64> {
        let score = score.filter(|_| examples == self.data.part(Part::Test));
        let near = score.and_then(|score| Some(self.wrong_bits(score.error?, score.examples)));
        let far = self.data.far().map(|data| Self { data: Arc::new(data), model: self.model.clone() });
        let far = far.filter(|_| near.is_some()).and_then(|task| task.score(net, Part::Test, device));
        let far = far.map(|score| score.wrong_per_sequence());
        let named = [(WRONG_BITS, near), (WRONG_BITS_FAR, far)];
        named.into_iter().filter_map(|(name, wrong)| Some((name.to_owned(), wrong?))).collect()
    }

    fn classes(&self, _examples: &[usize]) -> Vec<u32> {
        Vec::new()
    }

    fn class_names(&self) -> &[String] {
        &[]
    }

    fn has_errors(&self) -> bool {
        true
    }

    fn loss(&self) -> Loss {
        Loss::Bce
    }

    fn batch(&self, wanted: Option<usize>) -> Option<usize> {
        Some(wanted.unwrap_or(BATCH))
    }

    fn chunk(&self, _wanted: Option<usize>) -> usize {
        MEASURED
    }

    fn note(&self, epoch: usize) -> String {
        let note = ProgramNote { epoch, program: self.data.config.source };
        serde_json::to_string(&note).expect("numbers and words")
    }

    fn facts(&self) -> Facts<'_> {
        Facts {
            kind: super::PROGRAM_KINDS[0],
            form: format!("{:?}", self.model.0.form).to_lowercase(),
            source: self.data.config.source.word(),
            checksum: &self.data.checksum,
            notes: &[],
        }
    }

    fn configs(&self) -> (&ProgramDataConfig, &ProgramModelConfig) {
        (&self.data.config, &self.model)
    }
}

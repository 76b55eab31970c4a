//! Algorithmic tasks: copying, repeated copying and associative recall, learnt from inputs and outputs alone.
//!
//! The sequences are generated. A training step draws its own from its random generator, so that no sequence need come twice
//! and a run is exact all the same; validation and test sequences are drawn once, from the data's seed.

mod config;
mod data;
#[cfg(feature = "report")]
mod report;

use std::collections::BTreeMap;
use std::sync::Arc;

use burn::tensor::{Device, Int, Tensor, TensorData};
use matnet::Mode;
use matnet::net::{Net, TuringMachine, TuringMachineConfig};
use matnet_data::Array;
use matnet_data::catalog::Cache;
use matnet_data::generate::algorithm::{Algorithm, AlgorithmSequence, SequenceSize};
use serde::{Deserialize, Serialize};
use serde_json::json;
use toml::Table;

pub use self::config::AlgorithmDataConfig;
pub use self::data::AlgorithmData;
use crate::config::{Loss, TrainConfig, fill_sides, from_table};
use crate::metrics::MetricValues;
use crate::ranks::Ranks;
use crate::run::Score;
use crate::task::{
    BatchScore, Breakdown, ClassLoss, EvalOptions, Evaluation, ExampleShape, Interface, Loaded, OtherData,
    OutputKind, PredictRequest, PredictionStream, Predictions, Reading, Task, TaskData, Wrong,
    binary_cross_entropy, check_lengths, for_samples, to_vec,
};
use crate::{Error, Result, Split};

/// Sequences per step, unless the config says how many.
const BATCH_SIZE: usize = 16;
/// Sequences per batch of an evaluation.
const EVAL_BATCH_SIZE: usize = 100;

/// The name of the mean number of wrong bits in a test sequence.
pub const WRONG_BITS: &str = "wrong_bits";
/// The same in sequences of the length `data.extrapolation_length`.
pub const EXTRAPOLATION_WRONG_BITS: &str = "extrapolation_wrong_bits";

/// What is stored beside the weights.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AlgorithmMetadata {
    /// The algorithm.
    pub algorithm: Algorithm,
}

/// A net that learns an algorithm. The loss is the mean binary cross-entropy of the target bits, the error rate the share of those
/// that are wrong.
pub struct AlgorithmTask {
    data: Arc<AlgorithmData>,
    net: TuringMachineConfig,
}

/// How well a net does on sequences of one size.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub(crate) struct BitScore {
    /// The mean loss of a bit.
    pub loss: f64,
    /// How many sequences.
    pub sequences: usize,
    /// How many of them without a wrong bit.
    pub perfect: usize,
    /// Bits in all.
    pub bits: u64,
    /// Wrong bits.
    pub wrong: u64,
}

impl BitScore {
    /// The mean number of wrong bits in a sequence.
    pub fn wrong_per_sequence(&self) -> f64 {
        self.wrong as f64 / self.sequences.max(1) as f64
    }
}

/// Whether a logit gives the target bit; what is not a number gives none.
fn is_right(logit: f32, target: f32) -> bool {
    !logit.is_nan() && (logit > 0.0) == (target > 0.5)
}

impl AlgorithmTask {
    /// Sequences of one size as a net takes them, `[batch, time, 1, channels]`.
    fn input(&self, sequences: &[&AlgorithmSequence], device: &Device) -> Tensor<4> {
        let channels = self.data.config.channels();
        let values: Vec<f32> = sequences.iter().flat_map(|sequence| &sequence.input).copied().collect();
        let time = sequences.first().map_or(0, |sequence| sequence.input.len() / channels);
        Tensor::from_data(TensorData::new(values, [sequences.len(), time, 1, channels]), device)
    }

    /// The logits of the target bits, `[target steps, bits]`, those of the sequences one after another. Sequences of
    /// one size go through the net together.
    fn logits(
        &self,
        net: &TuringMachine,
        sequences: &[AlgorithmSequence],
        mode: &mut Mode,
        device: &Device,
    ) -> Tensor<2> {
        let bits = self.data.config.bits();
        let mut groups: BTreeMap<(usize, usize), Vec<usize>> = BTreeMap::new();
        for (at, sequence) in sequences.iter().enumerate() {
            groups.entry((sequence.target_steps.start, sequence.target_steps.end)).or_default().push(at);
        }
        let starts: Vec<usize> = sequences
            .iter()
            .scan(0, |next, sequence| {
                let start = *next;
                *next += sequence.target_steps.len();
                Some(start)
            })
            .collect();
        let (mut parts, mut places) = (Vec::new(), Vec::new());
        for ((start, end), members) in &groups {
            let group: Vec<&AlgorithmSequence> = members.iter().map(|&at| &sequences[at]).collect();
            let output = net.forward(self.input(&group, device), mode);
            let count = end - start;
            parts.push(output.narrow(1, *start, count).reshape([members.len() * count, bits]));
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

    fn score_bits(&self, logits: Tensor<2>, sequences: &[AlgorithmSequence]) -> BatchScore {
        let targets: Vec<f32> = sequences.iter().flat_map(|sequence| &sequence.target).copied().collect();
        let (output, bits) = (logits.clone().detach(), targets.clone());
        let wrong = Wrong::later(move || {
            let logits = to_vec(output.clone());
            let pairs = logits.iter().zip(&bits);
            pairs.filter(|(logit, target)| !is_right(**logit, **target)).count() as f64
        });
        let predictions = targets.len() as f64;
        let targets = Tensor::<2>::from_data(TensorData::new(targets, logits.dims()), &logits.device());
        BatchScore {
            loss: binary_cross_entropy(logits, targets).mean(),
            weight: sequences.len() as f64,
            wrong: Some(wrong),
            predictions,
        }
    }

    /// The mean number of wrong bits in a test sequence, for a share of wrong bits in so many.
    fn wrong_bits(&self, error: f64, sequences: usize) -> f64 {
        let config = &self.data.config;
        let (_, targets) = config.source.steps(config.test_size(), config.item_length());
        let bits = (targets * config.bits() * sequences) as f64;
        (error * bits).round() / sequences as f64
    }

    fn sequences(&self, examples: &[usize]) -> Vec<AlgorithmSequence> {
        examples.iter().map(|&number| self.data.sequence(number)).collect()
    }

    /// How well a net does on the sequences of a split, bit by bit; nothing if there are none.
    fn bit_score(&self, net: &TuringMachine, split: Split, device: &Device) -> Option<BitScore> {
        let examples = self.data.split(split);
        if examples.is_empty() {
            return None;
        }
        let mut score = BitScore { loss: 0.0, sequences: 0, perfect: 0, bits: 0, wrong: 0 };
        for examples in examples.chunks(EVAL_BATCH_SIZE) {
            let sequences = self.sequences(examples);
            let logits = self.logits(net, &sequences, &mut Mode::Eval, device);
            let batch = self.score_bits(logits.clone(), &sequences);
            score.loss += f64::from(batch.loss.into_scalar::<f32>()) * batch.predictions;
            score.bits += batch.predictions as u64;
            score.wrong += batch.wrong.map_or(0.0, |wrong| wrong.weight()) as u64;
            let logits = to_vec(logits);
            let mut rest = logits.as_slice();
            for sequence in &sequences {
                let (own, others) = rest.split_at(sequence.target.len());
                rest = others;
                let mut pairs = own.iter().zip(&sequence.target);
                let perfect = pairs.all(|(logit, target)| is_right(*logit, *target));
                score.perfect += usize::from(perfect);
            }
            score.sequences += sequences.len();
        }
        score.loss /= score.bits.max(1) as f64;
        Some(score)
    }

    /// The same task with test sequences of another size.
    fn with_test_size(&self, length: usize, repeats: Option<usize>) -> Result<Self> {
        let mut config = self.data.config.clone();
        config.test_length = Some(length);
        config.test_repeats = repeats.or(config.test_repeats);
        Ok(Self { data: Arc::new(AlgorithmData::new(&config)?), net: self.net.clone() })
    }
}

impl Task for AlgorithmTask {
    type DataConfig = AlgorithmDataConfig;
    type Data = AlgorithmData;
    type NetConfig = TuringMachineConfig;
    type Metadata = AlgorithmMetadata;
    type Output = Tensor<2>;

    fn load(config: &AlgorithmDataConfig, _: &Cache, _: u64, _: &Ranks) -> Result<AlgorithmData> {
        AlgorithmData::new(config)
    }

    fn load_other(
        _other: OtherData,
        _config: &AlgorithmDataConfig,
        _metadata: &AlgorithmMetadata,
        _cache: &Cache,
    ) -> Result<AlgorithmData> {
        let what = "the sequences of an algorithm are generated; --length asks for others than the run's";
        Err(Error::Mismatch(what.to_owned()))
    }

    fn split_per_seed(_config: &AlgorithmDataConfig) -> bool {
        false
    }

    fn net_config(mut table: Table, data: &AlgorithmData) -> Result<TuringMachineConfig> {
        let sizes = [("input", [1, data.config.channels()]), ("output", [1, data.config.bits()])];
        for (key, sides) in sizes {
            fill_sides(&mut table, key, &sides);
        }
        let config: TuringMachineConfig = from_table("model", table)?;
        for ((key, [rows, cols]), [r, c]) in sizes.into_iter().zip([config.input, config.output]) {
            if [r, c] != [rows, cols] {
                let expected = format!("the data are {rows}×{cols}; leave it out");
                return Err(Error::config("model", key, format!("{r}×{c}"), expected));
            }
        }
        Ok(config)
    }

    fn new(
        data: Arc<AlgorithmData>,
        net: TuringMachineConfig,
        train: &TrainConfig,
        _ranks: &Ranks,
    ) -> Result<Self> {
        if let Some(loss) = train.loss.filter(|&loss| loss != Loss::Bce) {
            return Err(Error::config("train", "loss", loss.name(), "bits are trained with \"bce\""));
        }
        ClassLoss::refuse(train, "only classes use it, and these are bits")?;
        Ok(Self { data, net })
    }

    fn data(&self) -> &Arc<AlgorithmData> {
        &self.data
    }

    fn data_config(&self) -> &AlgorithmDataConfig {
        &self.data.config
    }

    fn config(&self) -> &TuringMachineConfig {
        &self.net
    }

    fn metadata(&self) -> AlgorithmMetadata {
        AlgorithmMetadata { algorithm: self.data.config.source }
    }

    fn example(&self) -> ExampleShape {
        let (steps, [rows, cols]) = (self.data.config.test_steps(), self.net.input);
        let shape = format!("{steps} × {rows}×{cols}");
        ExampleShape { shape, unit: "sequence", steps, per_epoch: self.data.config.sequences_per_epoch }
    }

    fn loss(&self) -> Loss {
        Loss::Bce
    }

    fn batch_size(&self, wanted: Option<usize>) -> Option<usize> {
        Some(wanted.unwrap_or(BATCH_SIZE))
    }

    fn eval_batch_size(&self, _wanted: Option<usize>) -> usize {
        EVAL_BATCH_SIZE
    }

    /// For the fixed sequences, whatever the mode; training sequences have no index.
    fn forward(
        &self,
        net: &TuringMachine,
        examples: &[usize],
        mode: &mut Mode,
        device: &Device,
    ) -> Tensor<2> {
        self.logits(net, &self.sequences(examples), mode, device)
    }

    fn score(&self, logits: Tensor<2>, examples: &[usize], _device: &Device) -> BatchScore {
        self.score_bits(logits, &self.sequences(examples))
    }

    /// A training step takes as many new sequences as there are examples.
    fn forward_loss(
        &self,
        net: &TuringMachine,
        examples: &[usize],
        mode: &mut Mode,
        device: &Device,
    ) -> BatchScore {
        let sequences = match mode.rng() {
            Some(rng) => self.data.fresh(examples.len(), rng),
            None => self.sequences(examples),
        };
        self.score_bits(self.logits(net, &sequences, mode, device), &sequences)
    }

    fn class_scores<'a>(&self, _logits: &'a Tensor<2>) -> Option<&'a Tensor<2>> {
        None
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

    /// Wrong bits in a test sequence, and in one of `data.extrapolation_length`.
    fn extra_metrics(
        &self,
        net: &TuringMachine,
        examples: &[usize],
        score: Option<Score>,
        _batch_size: usize,
        device: &Device,
    ) -> BTreeMap<String, f64> {
        let score = score.filter(|_| examples == self.data.split(Split::Test));
        let near = score.and_then(|score| Some(self.wrong_bits(score.error?, score.examples)));
        let far = self.data.extrapolation().map(|data| Self { data: Arc::new(data), net: self.net.clone() });
        let far = far.filter(|_| near.is_some()).and_then(|task| task.bit_score(net, Split::Test, device));
        let far = far.map(|score| score.wrong_per_sequence());
        let named = [(WRONG_BITS, near), (EXTRAPOLATION_WRONG_BITS, far)];
        named.into_iter().filter_map(|(name, wrong)| Some((name.to_owned(), wrong?))).collect()
    }

    /// The bits of every step, `[n, time, rows, cols]`.
    fn predict(loaded: &Loaded<Self>, inputs: Array, lengths: &[usize]) -> Result<Predictions> {
        let inputs = entered(loaded, inputs)?;
        check_lengths(&inputs.dims(), lengths)?;
        let logits = loaded.net.forward(inputs, &mut Mode::Eval);
        let shape = logits.dims();
        let mut bits: Vec<f32> = to_vec(logits).into_iter().map(|x| f32::from(u8::from(x > 0.0))).collect();
        let step = shape[2] * shape[3];
        for (bits, length) in bits.chunks_mut((shape[1] * step).max(1)).zip(lengths) {
            bits[length * step..].fill(0.0);
        }
        Ok(Predictions { lengths: lengths.to_vec(), ..Predictions::of_values(Array::new(shape, bits)?) })
    }

    fn predict_file<'a>(loaded: &'a Loaded<Self>, request: &PredictRequest) -> Result<PredictionStream<'a>> {
        if let Some(layer) = request.hidden_layer(loaded.kind)? {
            let what =
                format!("no hidden layer is called `{layer}`; a Turing machine has a state at every step");
            return Err(Error::Mismatch(what));
        }
        for_samples(request, &[], Reading::default(), |inputs, lengths| {
            Self::predict(loaded, inputs, lengths)
        })
    }

    fn interface(loaded: &Loaded<Self>) -> Option<Interface> {
        let sides = |[rows, cols]: [usize; 2]| vec![None, Some(rows), Some(cols)];
        Some(Interface {
            kind: loaded.kind,
            input: sides(loaded.net_config.input),
            sequences: true,
            missing: false,
            output_kind: OutputKind::Matrices,
            output: sides(loaded.net_config.output),
            names: Vec::new(),
        })
    }

    /// Bit by bit, at every length that is asked for.
    fn evaluate(
        &self,
        net: &TuringMachine,
        split: Split,
        _train: &TrainConfig,
        options: &EvalOptions,
        device: &Device,
    ) -> Result<Evaluation> {
        let asked = !options.lengths.is_empty() || options.repeats.is_some();
        if asked && split != Split::Test {
            let what = "length and repeats: only the test split has one length".to_owned();
            return Err(Error::Mismatch(what));
        }
        let own = self.data.config.test_size();
        let lengths = if options.lengths.is_empty() { vec![own.length] } else { options.lengths.clone() };
        let (mut rows, mut first) = (Vec::new(), None);
        for length in lengths {
            let task = self.with_test_size(length, options.repeats)?;
            let Some(score) = task.bit_score(net, split, device) else { continue };
            let SequenceSize { length, repeats } = task.data.config.test_size();
            let size = |value: usize| if split == Split::Test { json!(value) } else { json!("any") };
            rows.push(vec![
                size(length),
                size(repeats),
                json!(score.sequences),
                json!(score.loss),
                json!(score.wrong),
                json!(score.bits),
                json!(score.wrong_per_sequence()),
                json!(score.perfect),
            ]);
            first.get_or_insert(score);
        }
        let score = first.ok_or_else(|| Error::Mismatch(format!("the {} split is empty", split.name())))?;
        let error = Some(score.wrong as f64 / score.bits.max(1) as f64);
        let columns = vec![
            "length",
            "repeats",
            "sequences",
            "loss",
            "wrong bits",
            "bits",
            "wrong bits per sequence",
            "perfect sequences",
        ];
        let score =
            Score { loss: score.loss, error, examples: score.sequences, metrics: MetricValues::default() };
        Ok(Evaluation { breakdown: Some(Breakdown { columns, rows }), ..Evaluation::new(score) })
    }
}

/// Inputs `[n, time, rows, cols]`, or `[n, time, cols]` where they have one row, as the net takes them.
fn entered(loaded: &Loaded<AlgorithmTask>, inputs: Array) -> Result<Tensor<4>> {
    let [rows, cols] = loaded.net_config.input;
    let shape = match *inputs.shape() {
        [n, time, r, c] if time > 0 && [r, c] == [rows, cols] => [n, time, rows, cols],
        [n, time, c] if time > 0 && rows == 1 && c == cols => [n, time, rows, cols],
        _ => {
            let shape = inputs.shape();
            let what = format!("the net takes [n, time, {rows}, {cols}], these inputs are {shape:?}");
            return Err(Error::Mismatch(what));
        }
    };
    Ok(Tensor::from_data(TensorData::new(inputs.into_data(), shape), &loaded.device))
}

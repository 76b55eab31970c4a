//! Samples that are ready for training: loaded, transformed, split.

use std::ops::Range;

use matnet::random::SeededRng;
use matnet_data::catalog::{Cache, LoadOptions, MovingSequences};
use matnet_data::split::{self, SplitFractions};
use matnet_data::transform::permute::Permutation;
use matnet_data::transform::scale::{ScalePer, Scaler};
use matnet_data::transform::stft::Stft;
use matnet_data::{Array, Contents, Dataset as Loaded, Samples, SplitIndices, Target};
use rand::seq::SliceRandom;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::{Inputs, Occlusions, SampleDataConfig, SplitRule};
use crate::config::Amount;
use crate::run::checksummed::hex;
use crate::task::Dataset;
use crate::tasks::source;
use crate::{Error, Result, Split};

/// Sequences of moving digits, unless the config says how many.
const SEQUENCES: usize = 10_000;

/// The test split, unless the config says how large.
const DEFAULT_TEST: Amount = Amount::Fraction(0.2);

/// The transforms of every input, with their fitted numbers.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Preprocess {
    /// From signals to spectrograms.
    pub spectrogram: Option<Stft>,
    /// A permutation of rows and columns.
    pub permutation: Option<Permutation>,
    /// Shift and scale.
    pub scaler: Option<Scaler>,
}

impl Preprocess {
    /// Transforms any number of inputs.
    pub fn apply(&self, inputs: Array) -> Result<Array> {
        let mut inputs = match &self.spectrogram {
            Some(stft) => stft.apply(&inputs)?,
            None => inputs,
        };
        if let Some(permutation) = &self.permutation {
            permutation.apply(&mut inputs)?;
        }
        if let Some(scaler) = &self.scaler {
            scaler.apply(&mut inputs)?;
        }
        Ok(inputs)
    }

    /// The same for inputs in any form, which they keep if there is nothing to do.
    fn apply_to(&self, inputs: Inputs) -> Result<Inputs> {
        match *self == Self::default() {
            true => Ok(inputs),
            false => Ok(Inputs::Floats(self.apply(inputs.into_array()?)?)),
        }
    }
}

/// Samples, their targets and their splits.
#[derive(Clone, Debug)]
pub struct SampleData {
    /// The inputs, preprocessed: `[n, rows, cols]` or `[n, time, rows, cols]`.
    pub inputs: Inputs,
    /// The occlusions of validation and test inputs.
    pub occlusions: Option<Occlusions>,
    /// The targets.
    pub target: Target,
    /// The splits.
    pub indices: SplitIndices,
    /// The transforms of the inputs.
    pub preprocess: Preprocess,
    /// The config, with the defaults that the data decided.
    pub config: SampleDataConfig,
    checksum: String,
    notes: Vec<String>,
}

impl SampleData {
    /// Loads and prepares the dataset of a config; `seed` is that of the run, for splits that depend on it.
    pub fn load(config: &SampleDataConfig, cache: &Cache, seed: u64) -> Result<Self> {
        let raw = Raw::load(config, cache)?;
        let checksum = raw.checksum();
        let Raw { inputs, target, groups, official, notes } = raw;
        let (indices, config) = divide(inputs.len(), &groups, &target, official, config, seed)?;
        let mut preprocess = Preprocess { spectrogram: config.spectrogram, ..Preprocess::default() };
        let mut inputs = preprocess.apply_to(inputs)?;
        if config.permute {
            let [rows, cols] = sides(inputs.shape());
            let permutation = Permutation::random(rows, cols, &mut SeededRng::new(config.seed, "permute"));
            let mut array = inputs.into_array()?;
            permutation.apply(&mut array)?;
            inputs = Inputs::Floats(array);
            preprocess.permutation = Some(permutation);
        }
        if let Some(method) = config.scale.method() {
            let mut array = inputs.into_array()?;
            let scaler =
                Scaler::fit(method, config.scale_per.unwrap_or(ScalePer::Whole), &array, &indices.train)?;
            scaler.apply(&mut array)?;
            inputs = Inputs::Floats(array);
            preprocess.scaler = Some(scaler);
        }
        let occlusions = Occlusions::draw(&config, inputs.shape(), &indices, &preprocess)?;
        Ok(Self { inputs, occlusions, target, indices, preprocess, config, checksum, notes })
    }

    /// The same dataset with the same splits, preprocessed as for a trained net: nothing is fitted anew, which
    /// matters when the data have changed since.
    pub fn reload(
        config: &SampleDataConfig,
        cache: &Cache,
        seed: u64,
        preprocess: &Preprocess,
    ) -> Result<Self> {
        let raw = Raw::load(config, cache)?;
        let (indices, config) =
            divide(raw.inputs.len(), &raw.groups, &raw.target, raw.official.clone(), config, seed)?;
        raw.prepared(indices, config, preprocess)
    }

    /// Other data, preprocessed as for a trained net; all of them are the test split. `config` is that of the run.
    pub fn load_other(
        source: &str,
        config: &SampleDataConfig,
        cache: &Cache,
        preprocess: &Preprocess,
    ) -> Result<Self> {
        let mut config = config.clone();
        if config.source != source {
            config.sequences = None;
        }
        config.source = source.to_owned();
        config.limit = None;
        let raw = Raw::load(&config, cache)?;
        let test = (0..raw.inputs.len()).collect();
        raw.prepared(SplitIndices { test, ..SplitIndices::default() }, config, preprocess)
    }

    /// Rows and columns of the matrices.
    pub fn sides(&self) -> [usize; 2] {
        sides(self.inputs.shape())
    }

    /// Matrices per sample, if the samples are sequences.
    pub fn time(&self) -> Option<usize> {
        match self.inputs.shape() {
            &[_, time, _, _] => Some(time),
            _ => None,
        }
    }

    /// Steps of a sequence to be predicted.
    pub fn future(&self) -> Option<usize> {
        match (&self.target, self.time()) {
            (Target::Matrices(targets), _) if targets.shape().len() == 4 => Some(targets.shape()[1]),
            (_, Some(time)) => self.config.context_length.map(|context| time.saturating_sub(context)),
            _ => None,
        }
    }

    /// A name per class; empty without classes.
    pub fn class_names(&self) -> &[String] {
        match &self.target {
            Target::Classes { names, .. } | Target::StepClasses { names, .. } => names,
            Target::None | Target::Matrices(_) => &[],
        }
    }
}

impl Dataset for SampleData {
    fn source(&self) -> &str {
        &self.config.source
    }

    fn checksum(&self) -> &str {
        &self.checksum
    }

    fn notes(&self) -> &[String] {
        &self.notes
    }

    fn split(&self, split: Split) -> &[usize] {
        split.of(&self.indices)
    }
}

/// A dataset before any transform.
struct Raw {
    inputs: Inputs,
    target: Target,
    groups: Vec<u32>,
    /// The official test split.
    official: Option<Range<usize>>,
    notes: Vec<String>,
}

impl Raw {
    fn load(config: &SampleDataConfig, cache: &Cache) -> Result<Self> {
        config.check()?;
        let mut raw = match MovingSequences::NAMES.contains(&config.source.as_str()) {
            true => Self::moving(config, cache)?,
            false => Self::samples(config, cache)?,
        };
        if let Some(limit) = config.limit.filter(|&limit| limit < raw.inputs.len()) {
            raw.draw(limit, config.seed)?;
        }
        Ok(raw)
    }

    fn samples(config: &SampleDataConfig, cache: &Cache) -> Result<Self> {
        let found = source::open(&config.source, cache, options(config))?;
        let Loaded { contents, official_test, notes } =
            found.ok_or_else(|| source::not_found(&config.source))?;
        let Contents::Samples(samples) = contents else {
            return Err(source::wrong_contents(&config.source, "matrices or sequences"));
        };
        let not_finite = |array: &Array, whose: &str| {
            let at = array.data().iter().position(|x| !x.is_finite())?;
            let size = (array.data().len() / array.len().max(1)).max(1);
            let what = format!("{whose}sample {} holds {}", at / size, array.data()[at]);
            let value = format!("{}: {what}", config.source);
            Some(Error::config("data", "source", value, "finite numbers expected"))
        };
        if let Some(error) = not_finite(&samples.inputs, "") {
            return Err(error);
        }
        if let Target::Matrices(targets) = &samples.target
            && let Some(error) = not_finite(targets, "the target of ")
        {
            return Err(error);
        }
        let Samples { inputs, target, groups, .. } = samples;
        Ok(Self { inputs: Inputs::Floats(inputs), target, groups, official: official_test, notes })
    }

    /// Sequences of moving digits, a byte per pixel.
    fn moving(config: &SampleDataConfig, cache: &Cache) -> Result<Self> {
        let mut moving = MovingSequences::open(&config.source, cache, options(config))?;
        let inputs = Inputs::Bytes(moving.to_bytes()?);
        let notes = vec![moving.note];
        Ok(Self { inputs, target: Target::None, groups: Vec::new(), official: None, notes })
    }

    /// Keeps so many, drawn at random.
    fn draw(&mut self, limit: usize, seed: u64) -> Result<()> {
        let count = self.inputs.len();
        let mut order: Vec<usize> = (0..count).collect();
        order.shuffle(&mut SeededRng::new(seed, "limit"));
        order.truncate(limit);
        order.sort_unstable();
        // What is left of an official test split still stands at the end.
        self.official = self.official.take().map(|test| {
            let before = order.iter().filter(|&&at| at < test.start).count();
            before..order.iter().filter(|&&at| at < test.end).count()
        });
        self.notes.push(format!("{limit} of {count} samples, drawn with seed {seed}"));
        self.inputs = match &self.inputs {
            Inputs::Floats(array) => Inputs::Floats(select(array, &order)?),
            Inputs::Bytes(bytes) => Inputs::Bytes(bytes.select(&order)?),
        };
        self.target = match &self.target {
            Target::None => Target::None,
            Target::Classes { labels, names } => {
                Target::Classes { labels: order.iter().map(|&at| labels[at]).collect(), names: names.clone() }
            }
            Target::StepClasses { labels, names } => {
                let time = labels.len() / count.max(1);
                let labels =
                    order.iter().flat_map(|&at| &labels[at * time..(at + 1) * time]).copied().collect();
                Target::StepClasses { labels, names: names.clone() }
            }
            Target::Matrices(matrices) => Target::Matrices(select(matrices, &order)?),
        };
        if !self.groups.is_empty() {
            self.groups = order.iter().map(|&at| self.groups[at]).collect();
        }
        Ok(())
    }

    fn prepared(
        self,
        indices: SplitIndices,
        config: SampleDataConfig,
        preprocess: &Preprocess,
    ) -> Result<SampleData> {
        let checksum = self.checksum();
        let Self { inputs, target, notes, .. } = self;
        let inputs = preprocess.apply_to(inputs).map_err(|error| {
            error.within(format!("{} cannot be transformed as the run's data", config.source))
        })?;
        let preprocess = preprocess.clone();
        let occlusions = Occlusions::draw(&config, inputs.shape(), &indices, &preprocess)?;
        Ok(SampleData { inputs, occlusions, target, indices, preprocess, config, checksum, notes })
    }

    /// Over inputs, targets and groups, and their shapes.
    fn checksum(&self) -> String {
        let mut sha = Sha256::new();
        let mut add = |array: &Array| {
            sha.update(format!("{:?}", array.shape()));
            for chunk in array.data().chunks(1 << 14) {
                let bytes: Vec<u8> = chunk.iter().flat_map(|x| x.to_le_bytes()).collect();
                sha.update(&bytes);
            }
        };
        if let Inputs::Floats(array) = &self.inputs {
            add(array);
        }
        if let Target::Matrices(matrices) = &self.target {
            add(matrices);
        }
        if let Inputs::Bytes(bytes) = &self.inputs {
            sha.update(format!("{:?}", bytes.shape()));
            sha.update(bytes.data());
        }
        if let Target::Classes { labels, names } | Target::StepClasses { labels, names } = &self.target {
            sha.update(format!("{labels:?} {names:?}"));
        }
        sha.update(format!("{:?}", self.groups));
        hex(&sha.finalize())
    }
}

/// How to load what is not simply read.
fn options(config: &SampleDataConfig) -> LoadOptions {
    LoadOptions { seed: config.seed, sequences: config.sequences.unwrap_or(SEQUENCES) }
}

fn divide(
    count: usize,
    groups: &[u32],
    target: &Target,
    official: Option<Range<usize>>,
    config: &SampleDataConfig,
    seed: u64,
) -> Result<(SplitIndices, SampleDataConfig)> {
    let mut config = config.clone();
    let rule = config.split.rule.unwrap_or(match official {
        Some(_) => SplitRule::Official,
        None => SplitRule::Random,
    });
    config.split.rule = Some(rule);
    match (rule, config.split.test) {
        (SplitRule::Official, Some(_)) => {
            let expected = "the official test split decides it; leave it out, or choose another rule";
            return Err(Error::config("data", "split.test", "is given", expected));
        }
        (SplitRule::Official, None) => {}
        (_, test) => config.split.test = Some(test.unwrap_or(DEFAULT_TEST)),
    }
    let wanted = &config.split;
    let test = wanted.test.unwrap_or(DEFAULT_TEST);
    let name = if wanted.per_seed { format!("split of run {seed}") } else { "split".to_owned() };
    let mut rng = SeededRng::new(config.seed, &name);
    let wrong = |error| Error::DataKey { key: "data.split", error };
    let fractions = || SplitFractions::new(wanted.valid.fraction(count), test.fraction(count)).map_err(wrong);
    let indices = match (rule, official) {
        (SplitRule::Random, _) => split::by_fraction(count, fractions()?, &mut rng),
        (SplitRule::WithinGroups, _) => split::within_groups(groups, fractions()?, &mut rng),
        (SplitRule::BetweenGroups, _) => {
            let groups_in_all = split::group_count(groups).map_err(wrong)?;
            // A fraction above 0 is one group at least.
            let number = |amount: Amount| match amount.count(groups_in_all) {
                0 if amount.fraction(groups_in_all) > 0.0 => 1,
                number => number,
            };
            let classes = match target {
                Target::Classes { labels, .. } => Some(&labels[..]),
                _ => None,
            };
            split::between_groups(groups, classes, number(wanted.valid), number(test), &mut rng)
        }
        (SplitRule::Official, Some(test)) => {
            let valid = wanted.valid.count(count - test.len());
            split::official_test(count, test, valid, &mut rng)
        }
        (SplitRule::Official, None) => {
            let expected = format!("{} has no official test split; \"random\" draws one", config.source);
            return Err(Error::config("data", "split.rule", "official", expected));
        }
    };
    let indices = indices.map_err(wrong)?;
    for (key, amount, split) in [
        ("split.valid", Some(wanted.valid), &indices.valid),
        ("split.test", config.split.test, &indices.test),
    ] {
        let asked = amount.filter(|amount| amount.fraction(count) > 0.0 && split.is_empty());
        if let Some(amount) = asked {
            let value = format!("{} of {count} samples are none", amount.fraction(count));
            return Err(Error::config("data", key, value, "a larger fraction, or 0 for no such split"));
        }
    }
    Ok((indices, config))
}

/// Some samples of an array.
fn select(array: &Array, indices: &[usize]) -> Result<Array> {
    let mut shape = array.shape().to_vec();
    shape[0] = indices.len();
    let data = indices.iter().flat_map(|&at| array.sample(at)).copied().collect();
    Ok(Array::new(shape, data)?)
}

fn sides(shape: &[usize]) -> [usize; 2] {
    [shape[shape.len() - 2], shape[shape.len() - 1]]
}

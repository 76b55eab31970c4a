//! Data that are ready to be learnt from: loaded, transformed, divided.

use matnet::random::SeededRng;
use matnet_data::cache::Cache;
use matnet_data::named::{self, Contents, Named, Options};
use matnet_data::source::moving::Moving;
use matnet_data::split::{self, Fractions};
use matnet_data::transform::permute::Permutation;
use matnet_data::transform::scale::Scaler;
use matnet_data::transform::stft::Stft;
use matnet_data::{Array, Samples, Split, Target, catalog, own};
use rand::seq::SliceRandom;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::config::{DataConfig, SplitRule};
use crate::inputs::{Inputs, Patches};
use crate::sealed::hex;
use crate::{Error, Result};

/// Moving digits unless the config says how many.
const SEQUENCES: usize = 10_000;

/// What is done to every input before a net sees it, with the numbers that were fitted.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Preprocess {
    /// Signals become spectrograms.
    pub spectrogram: Option<Stft>,
    /// Rows and columns change places.
    pub permutation: Option<Permutation>,
    /// Numbers are shifted and scaled.
    pub scaler: Option<Scaler>,
}

impl Preprocess {
    /// Does it to inputs of any number.
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

    /// The same to inputs in any form; they keep it if there is nothing to do.
    fn apply_to(&self, inputs: Inputs) -> Result<Inputs> {
        match *self == Self::default() {
            true => Ok(inputs),
            false => Ok(Inputs::Numbers(self.apply(inputs.into_array()?)?)),
        }
    }
}

/// Samples, what is to be learnt from them, and the parts.
#[derive(Clone, Debug)]
pub struct Prepared {
    /// The inputs, preprocessed: `[n, rows, cols]` or `[n, time, rows, cols]`.
    pub inputs: Inputs,
    /// What is hidden from the net in those it is measured on.
    pub patches: Option<Patches>,
    /// What is to be learnt.
    pub target: Target,
    /// The parts.
    pub split: Split,
    /// What was done to the inputs.
    pub preprocess: Preprocess,
    /// The config, with the defaults that the data decided.
    pub config: DataConfig,
    /// Over everything as it was loaded.
    pub checksum: String,
    /// What a reader should know.
    pub notes: Vec<String>,
}

impl Prepared {
    /// Loads and prepares the data of a config. `seed` is that of the run, for splits that depend on it.
    pub fn load(config: &DataConfig, cache: &Cache, seed: u64) -> Result<Self> {
        let Found { inputs, target, groups, official, notes } = Found::load(config, cache)?;
        let checksum = checksum(&inputs, &target, &groups);
        let (split, config) = divide(inputs.len(), &groups, official, config, seed)?;
        let mut preprocess = Preprocess { spectrogram: config.spectrogram, ..Preprocess::default() };
        let mut inputs = preprocess.apply_to(inputs)?;
        if config.permute {
            let [rows, cols] = matrix_sides(inputs.shape());
            let permutation = Permutation::random(rows, cols, &mut SeededRng::new(config.seed, "permute"));
            let mut array = inputs.into_array()?;
            permutation.apply(&mut array)?;
            inputs = Inputs::Numbers(array);
            preprocess.permutation = Some(permutation);
        }
        if let Some(kind) = config.scale.kind() {
            let mut array = inputs.into_array()?;
            let scaler = Scaler::fit(kind, config.scale_per, &array, &split.train)?;
            scaler.apply(&mut array)?;
            inputs = Inputs::Numbers(array);
            preprocess.scaler = Some(scaler);
        }
        let patches = Patches::draw(&config, inputs.shape(), &split, &preprocess)?;
        Ok(Self { inputs, patches, target, split, preprocess, config, checksum, notes })
    }

    /// The same data divided in the same way, but preprocessed as a trained net has it: nothing is fitted anew, which
    /// matters when the data are not those of the run any more.
    pub fn load_for(config: &DataConfig, cache: &Cache, seed: u64, preprocess: &Preprocess) -> Result<Self> {
        let found = Found::load(config, cache)?;
        let (split, config) =
            divide(found.inputs.len(), &found.groups, found.official.clone(), config, seed)?;
        found.prepared(split, config, preprocess)
    }

    /// Other data, by name or path, prepared as a trained net has it; all of them are the test part. `config` is that of
    /// the run.
    pub fn load_whole(
        source: &str,
        config: &DataConfig,
        cache: &Cache,
        preprocess: &Preprocess,
    ) -> Result<Self> {
        let mut config = config.clone();
        if config.source != source {
            config.sequences = None;
        }
        config.source = source.to_owned();
        config.limit = None;
        let found = Found::load(&config, cache).map_err(|error| match error {
            // What is wrong is not the run's config.
            Error::Config(what) => Error::Config(what.trim_start_matches("data.source: ").to_owned()),
            other => other,
        })?;
        let test = (0..found.inputs.len()).collect();
        found.prepared(Split { test, ..Split::default() }, config, preprocess)
    }

    /// Rows and columns of the matrices.
    pub fn sides(&self) -> [usize; 2] {
        matrix_sides(self.inputs.shape())
    }

    /// Matrices per sample, if the samples are sequences.
    pub fn time(&self) -> Option<usize> {
        match self.inputs.shape() {
            &[_, time, _, _] => Some(time),
            _ => None,
        }
    }

    /// A name per class; empty without classes.
    pub fn class_names(&self) -> &[String] {
        match &self.target {
            Target::Classes { names, .. } | Target::Steps { names, .. } => names,
            Target::None | Target::Matrices(_) => &[],
        }
    }

    /// The samples of a part.
    pub fn part(&self, part: Part) -> &[usize] {
        match part {
            Part::Train => &self.split.train,
            Part::Valid => &self.split.valid,
            Part::Test => &self.split.test,
        }
    }
}

/// Data as they were found, before anything is done to them.
struct Found {
    inputs: Inputs,
    target: Target,
    groups: Vec<u32>,
    /// The test half that came with them.
    official: Option<std::ops::Range<usize>>,
    notes: Vec<String>,
}

impl Found {
    fn load(config: &DataConfig, cache: &Cache) -> Result<Self> {
        config.check()?;
        let mut found = match Moving::NAMES.contains(&config.source.as_str()) {
            true => Self::moving(config, cache)?,
            false => Self::samples(config, cache)?,
        };
        if let Some(limit) = config.limit.filter(|&limit| limit < found.inputs.len()) {
            found.draw(limit, config.seed)?;
        }
        Ok(found)
    }

    fn samples(config: &DataConfig, cache: &Cache) -> Result<Self> {
        let Named { contents, official_test, notes } = find(config, cache)?;
        let Contents::Samples(samples) = contents else {
            return Err(Error::Config(format!(
                "data.source: `{}` holds no matrices or sequences, which is what these nets take",
                config.source
            )));
        };
        check_numbers(&samples, config)?;
        let Samples { inputs, target, groups, .. } = samples;
        Ok(Self { inputs: Inputs::Numbers(inputs), target, groups, official: official_test, notes })
    }

    /// Sequences of moving digits, a byte per pixel.
    fn moving(config: &DataConfig, cache: &Cache) -> Result<Self> {
        let mut moving = Moving::open(&config.source, cache, options(config))?;
        let inputs = Inputs::Levels(moving.levels()?);
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
        // What is left of an official test half still stands at the end.
        self.official = self.official.take().map(|half| {
            let before = order.iter().filter(|&&at| at < half.start).count();
            before..order.iter().filter(|&&at| at < half.end).count()
        });
        self.notes.push(format!("{limit} of {count} samples, drawn with seed {seed}"));
        self.inputs = match &self.inputs {
            Inputs::Numbers(array) => Inputs::Numbers(rows(array, &order)?),
            Inputs::Levels(levels) => Inputs::Levels(levels.take(&order)?),
        };
        self.target = match &self.target {
            Target::None => Target::None,
            Target::Classes { labels, names } => {
                Target::Classes { labels: order.iter().map(|&at| labels[at]).collect(), names: names.clone() }
            }
            Target::Steps { labels, names } => {
                let time = labels.len() / count.max(1);
                let labels =
                    order.iter().flat_map(|&at| &labels[at * time..(at + 1) * time]).copied().collect();
                Target::Steps { labels, names: names.clone() }
            }
            Target::Matrices(matrices) => Target::Matrices(rows(matrices, &order)?),
        };
        if !self.groups.is_empty() {
            self.groups = order.iter().map(|&at| self.groups[at]).collect();
        }
        Ok(())
    }

    fn prepared(self, split: Split, config: DataConfig, preprocess: &Preprocess) -> Result<Prepared> {
        let Self { inputs, target, groups, notes, .. } = self;
        let checksum = checksum(&inputs, &target, &groups);
        let inputs = preprocess.apply_to(inputs).map_err(|error| {
            Error::Run(format!("{} cannot be prepared as the run's data were: {error}", config.source))
        })?;
        let preprocess = preprocess.clone();
        let patches = Patches::draw(&config, inputs.shape(), &split, &preprocess)?;
        Ok(Prepared { inputs, patches, target, split, preprocess, config, checksum, notes })
    }
}

/// The parts of the data.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Part {
    /// What the net learns from.
    Train,
    /// What decides when to stop.
    Valid,
    /// What the result is measured on.
    Test,
}

impl Part {
    /// The word in files and options.
    pub fn name(self) -> &'static str {
        match self {
            Self::Train => "train",
            Self::Valid => "valid",
            Self::Test => "test",
        }
    }
}

/// How to load what is not simply read.
fn options(config: &DataConfig) -> Options {
    Options { seed: config.seed, sequences: config.sequences.unwrap_or(SEQUENCES) }
}

/// By name, or else by path.
fn find(config: &DataConfig, cache: &Cache) -> Result<Named> {
    if catalog::get(&config.source).is_ok() {
        return Ok(named::load(&config.source, cache, options(config))?);
    }
    if !std::path::Path::new(&config.source).exists() {
        let names: Vec<String> = catalog::all().iter().map(|dataset| dataset.name.to_owned()).collect();
        let hint = crate::config::suggestion(&config.source, &names);
        let what = format!("data.source: `{}` is neither a dataset nor a file; {hint}", config.source);
        return Err(Error::Config(what));
    }
    let contents = match own::load(&config.source)? {
        own::Loaded::Samples(samples) => Contents::Samples(samples),
        own::Loaded::Graph(graph) => Contents::Graph(graph),
    };
    Ok(Named { contents, official_test: None, notes: Vec::new() })
}

/// A net cannot learn from what is no number.
fn check_numbers(samples: &Samples, config: &DataConfig) -> Result<()> {
    let inputs = samples.inputs.data().iter().position(|x| !x.is_finite());
    let size = samples.inputs.data().len() / samples.inputs.len().max(1);
    if let Some(at) = inputs {
        return Err(Error::Config(format!(
            "data.source: {}: sample {} holds {}; finite numbers expected",
            config.source,
            at / size.max(1),
            samples.inputs.data()[at]
        )));
    }
    if let Target::Matrices(targets) = &samples.target
        && let Some(at) = targets.data().iter().position(|x| !x.is_finite())
    {
        let size = targets.data().len() / targets.len().max(1);
        return Err(Error::Config(format!(
            "data.source: {}: the target of sample {} holds {}; finite numbers expected",
            config.source,
            at / size.max(1),
            targets.data()[at]
        )));
    }
    Ok(())
}

fn divide(
    count: usize,
    groups: &[u32],
    official: Option<std::ops::Range<usize>>,
    config: &DataConfig,
    seed: u64,
) -> Result<(Split, DataConfig)> {
    let mut config = config.clone();
    let rule = config.split.rule.unwrap_or(match official {
        Some(_) => SplitRule::Official,
        None => SplitRule::Fraction,
    });
    config.split.rule = Some(rule);
    let wanted = &config.split;
    let name = if wanted.per_run { format!("split of run {seed}") } else { "split".to_owned() };
    let mut rng = SeededRng::new(config.seed, &name);
    let fractions = || Fractions::new(wanted.valid.share(count), wanted.test.share(count));
    let wrong = |error: matnet_data::Error| Error::Config(format!("data.split: {error}"));
    let split = match (rule, official) {
        (SplitRule::Fraction, _) => split::by_fraction(count, fractions().map_err(wrong)?, &mut rng),
        (SplitRule::WithinGroups, _) => {
            split::within_groups(groups, fractions().map_err(wrong)?, &mut rng)
        }
        (SplitRule::BetweenGroups, _) => {
            split::between_groups(groups, fractions().map_err(wrong)?, &mut rng)
        }
        (SplitRule::Official, Some(half)) => {
            let valid = wanted.valid.count(count - half.len());
            split::official_test(count, half, valid, &mut rng)
        }
        (SplitRule::Official, None) => Err(matnet_data::Error::Invalid(format!(
            "{} comes without a test half of its own; rule = \"fraction\" draws one",
            config.source
        ))),
    }
    .map_err(wrong)?;
    Ok((split, config))
}

/// Some rows of an array.
fn rows(array: &Array, order: &[usize]) -> Result<Array> {
    let mut shape = array.shape().to_vec();
    shape[0] = order.len();
    let data = order.iter().flat_map(|&at| array.sample(at)).copied().collect();
    Ok(Array::new(shape, data)?)
}

/// Over inputs, targets and groups, and their shapes.
fn checksum(inputs: &Inputs, target: &Target, groups: &[u32]) -> String {
    let mut sha = Sha256::new();
    let mut numbers = |array: &Array| {
        sha.update(format!("{:?}", array.shape()));
        for chunk in array.data().chunks(1 << 14) {
            let bytes: Vec<u8> = chunk.iter().flat_map(|x| x.to_le_bytes()).collect();
            sha.update(&bytes);
        }
    };
    if let Inputs::Numbers(array) = inputs {
        numbers(array);
    }
    if let Target::Matrices(matrices) = target {
        numbers(matrices);
    }
    if let Inputs::Levels(levels) = inputs {
        sha.update(format!("{:?}", levels.shape()));
        sha.update(levels.levels());
    }
    if let Target::Classes { labels, names } | Target::Steps { labels, names } = target {
        sha.update(format!("{labels:?} {names:?}"));
    }
    sha.update(format!("{groups:?}"));
    hex(&sha.finalize())
}

fn matrix_sides(shape: &[usize]) -> [usize; 2] {
    [shape[shape.len() - 2], shape[shape.len() - 1]]
}

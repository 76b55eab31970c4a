//! Samples as they are read, before any transform.

use std::ops::Range;

use matnet::random::SeededRng;
use matnet_data::catalog::{self, Cache, LoadOptions, MovingSequences};
use matnet_data::checksum::{add_numbers, of_samples};
use matnet_data::local::Layout;
use matnet_data::transform::join::join_steps;
use matnet_data::{Array, Contents, Dataset, Samples, SplitIndices, StoredArray, Target};
use rand::seq::SliceRandom;
use sha2::{Digest, Sha256};

use super::{Inputs, Missing, SampleDataConfig, StoredInputs, scan, stored, target};
use crate::ranks::Ranks;
use crate::run::checksummed::hex;
use crate::tasks::source;
use crate::{Error, Result};

/// Sequences of moving digits, unless the config says how many.
const SEQUENCES: usize = 10_000;

/// A dataset before any transform.
pub(super) struct Raw {
    pub inputs: Inputs,
    /// The steps of each sequence; empty where all have the same.
    pub lengths: Vec<usize>,
    pub target: Target,
    /// The weight of each sample; empty where all count the same.
    pub weights: Vec<f32>,
    pub groups: Vec<u32>,
    /// The columns of a table that the inputs are made of; empty if they are not.
    pub column_names: Vec<String>,
    /// The samples per second of recordings.
    pub sample_rate: Option<u32>,
    /// The split that comes with the data.
    pub official: Option<SplitIndices>,
    /// Whether the samples come from a file: the split of a dataset with a name does not change.
    pub own_file: bool,
    /// The validation samples of a file of their own, after those that are to be split.
    pub own_valid: Range<usize>,
    pub notes: Vec<String>,
}

impl Raw {
    /// All samples of a config: those of its source, then of its own validation and test data. Where ranks load them together, each reads
    /// a share of the inputs that stay in their file.
    pub fn load(config: &SampleDataConfig, cache: &Cache, ranks: &Ranks) -> Result<Self> {
        config.check()?;
        let mut raw = Self::of_source(config, cache, ranks)?;
        let config = SampleDataConfig {
            sample_rate: raw.sample_rate.or(config.sample_rate),
            lengths_differ: !raw.lengths.is_empty(),
            ..config.with_columns(&raw.column_names)
        };
        raw.own_file = catalog::get(&config.source).is_err();
        let count = raw.inputs.len();
        raw.own_valid = count..count;
        for (key, path) in [("data.valid", &config.valid), ("data.test", &config.test)] {
            let Some(path) = path else { continue };
            if same_place(path, &config.source) {
                return Err(Error::data_key(
                    key,
                    format!("{path} is data.source itself; other samples expected"),
                ));
            }
            if key == "data.test" && raw.official.as_ref().is_some_and(|given| !given.test.is_empty()) {
                let what = format!("{} has a test split of its own; leave data.test out", config.source);
                return Err(Error::data_key(key, what));
            }
            if key == "data.valid" && raw.official.as_ref().is_some_and(|given| !given.valid.is_empty()) {
                let what =
                    format!("{} has a validation split of its own; leave data.valid out", config.source);
                return Err(Error::data_key(key, what));
            }
            let other = Self::of_source(&config.for_source(path), cache, ranks);
            let other = other.map_err(|error| match error {
                Error::DataKey { error, .. } => Error::DataKey { key, error },
                other => other.within(key),
            })?;
            let added;
            (raw, added) =
                raw.append(other).map_err(|what| Error::data_key(key, format!("{path}: {what}")))?;
            match (key, &mut raw.official) {
                ("data.valid", Some(official)) => official.valid = added.collect(),
                ("data.valid", None) => raw.own_valid = added,
                (_, Some(official)) => official.test = added.collect(),
                (_, None) => {
                    let valid = std::mem::replace(&mut raw.own_valid, count..count).collect();
                    let (train, test) = ((0..count).collect(), added.collect());
                    raw.official = Some(SplitIndices { train, valid, test });
                }
            }
        }
        Ok(raw)
    }

    /// The samples of one source.
    fn of_source(config: &SampleDataConfig, cache: &Cache, ranks: &Ranks) -> Result<Self> {
        let mut raw = match MovingSequences::NAMES.contains(&config.source.as_str()) {
            true => Self::moving(config, cache)?,
            false => Self::samples(config, cache, ranks)?,
        };
        if let Some(limit) = config.limit.filter(|&limit| limit < raw.inputs.len()) {
            raw.draw(limit, config.seed)?;
        }
        Ok(raw)
    }

    /// The dataset of a forecast, with its notes.
    pub fn table(config: &SampleDataConfig, cache: &Cache) -> Result<(Dataset, Vec<String>)> {
        let found = source::open(&config.source, cache, options(config), &config.read_options())?;
        let found = found.ok_or_else(|| source::not_found(&config.source))?;
        let notes = found.notes.clone();
        Ok((found, notes))
    }

    fn samples(config: &SampleDataConfig, cache: &Cache, ranks: &Ranks) -> Result<Self> {
        if catalog::get(&config.source).is_err() {
            let found = stored::open(config, ranks)?;
            // Else ranks that have the data would say that this one loads them.
            if found.is_none() && !source::exists(&config.source, cache) {
                return Err(source::not_found(&config.source));
            }
            let readers = scan::readers(ranks, found.as_ref().map(|(samples, _)| &samples.inputs))?;
            if let Some(found) = found {
                return Self::stored(config, found, &readers, ranks);
            }
        }
        let found = source::open(&config.source, cache, options(config), &config.read_options())?;
        let Dataset { contents, notes } = found.ok_or_else(|| source::not_found(&config.source))?;
        if let Contents::Table(_) = contents {
            let what = format!(
                "{} is one long table; data.window and data.horizon make samples of it",
                config.source
            );
            return Err(Error::data_key("data.source", what));
        }
        let Contents::Samples(samples) = contents else {
            return Err(source::wrong_contents(&config.source, "matrices or sequences"));
        };
        let not_finite = |array: &Array, whose: &str| {
            let filled = whose.is_empty() && config.missing != Missing::Error;
            let at = array.data().iter().position(|x| !(x.is_finite() || filled && x.is_nan()))?;
            let size = (array.data().len() / array.len().max(1)).max(1);
            let (source, sample) = (&config.source, at / size);
            let what = format!(
                "{source}: {whose}sample {sample} holds {}; finite numbers expected",
                array.data()[at]
            );
            Some(Error::data_key("data.source", what))
        };
        if let Some(error) = not_finite(&samples.inputs, "") {
            return Err(error);
        }
        if let Target::Matrices(targets) = &samples.target
            && let Some(error) = not_finite(targets, "the target of ")
        {
            return Err(error);
        }
        if let Target::Values { values, .. } = &samples.target
            && let Some(error) = not_finite(values, "the target of ")
        {
            return Err(error);
        }
        let Samples {
            mut inputs,
            mut lengths,
            target,
            weights,
            groups,
            column_names,
            sample_rate,
            split,
            ..
        } = samples;
        // Files were read as `layout` says.
        if let Some(layout) = config.layout.filter(|_| catalog::get(&config.source).is_ok()) {
            let is_sequence = inputs.shape().len() == 4;
            if !is_sequence && !config.joins_spectra() {
                let what = format!("`{}` holds no sequences; `layout` is for those", config.source);
                return Err(Error::data_key("data.layout", what));
            }
            if layout == Layout::Matrix && !config.joins_spectra() {
                // Padding stays: matrices have one size.
                (inputs, lengths) = (join_steps(&inputs)?, Vec::new());
            }
        }
        let inputs = Inputs::Floats(inputs);
        let raw = Self::new(inputs, target, notes);
        Ok(Self { lengths, weights, groups, column_names, sample_rate, official: split, ..raw })
    }

    /// Samples whose inputs stay in their file.
    fn stored(
        config: &SampleDataConfig,
        (samples, notes): (Samples<StoredArray>, Vec<String>),
        readers: &[usize],
        ranks: &Ranks,
    ) -> Result<Self> {
        let Samples { inputs, lengths, target, weights, groups, column_names, split, .. } = samples;
        if let Target::Matrices(numbers) | Target::Values { values: numbers, .. } = &target
            && let Some(at) = numbers.data().iter().position(|x| !x.is_finite())
        {
            let sample = at / (numbers.data().len() / numbers.len().max(1)).max(1);
            let what = format!("the target of sample {sample} holds {}", numbers.data()[at]);
            let what = format!("{}: {what}; finite numbers expected", config.source);
            return Err(Error::data_key("data.source", what));
        }
        let inputs = Inputs::Stored(StoredInputs::new(inputs, &lengths, &config.source, readers, ranks)?);
        let raw = Self::new(inputs, target, notes);
        Ok(Self { lengths, weights, groups, column_names, official: split, ..raw })
    }

    /// Samples of one length, with nothing but their targets.
    pub fn new(inputs: Inputs, target: Target, notes: Vec<String>) -> Self {
        Self {
            inputs,
            lengths: Vec::new(),
            target,
            weights: Vec::new(),
            groups: Vec::new(),
            column_names: Vec::new(),
            sample_rate: None,
            official: None,
            own_file: false,
            own_valid: 0..0,
            notes,
        }
    }

    /// Sequences of moving digits, a byte per pixel.
    fn moving(config: &SampleDataConfig, cache: &Cache) -> Result<Self> {
        let mut moving = MovingSequences::open(&config.source, cache, options(config))?;
        let inputs = Inputs::Bytes(moving.to_bytes()?);
        Ok(Self::new(inputs, Target::None, vec![moving.note]))
    }

    /// Keeps so many, drawn at random.
    fn draw(&mut self, limit: usize, seed: u64) -> Result<()> {
        let count = self.inputs.len();
        let mut order: Vec<usize> = (0..count).collect();
        order.shuffle(&mut SeededRng::new(seed, "limit"));
        order.truncate(limit);
        order.sort_unstable();
        self.official = self.official.take().map(|split| split.select(&order));
        self.notes.push(format!("{limit} of {count} samples, drawn with seed {seed}"));
        self.inputs = match &self.inputs {
            Inputs::Floats(array) => Inputs::Floats(array.select(&order)?),
            Inputs::Bytes(bytes) => Inputs::Bytes(bytes.select(&order)?),
            Inputs::Stored(stored) => Inputs::Floats(stored.select(&order)?),
        };
        self.target = self.target.select(&order, count)?;
        fn pick<T: Copy>(all: &mut Vec<T>, order: &[usize]) {
            if !all.is_empty() {
                *all = order.iter().map(|&at| all[at]).collect();
            }
        }
        pick(&mut self.groups, &order);
        pick(&mut self.lengths, &order);
        pick(&mut self.weights, &order);
        Ok(())
    }

    /// Appends samples of the same kind, and says where they are.
    fn append(self, other: Self) -> Result<(Self, Range<usize>), String> {
        let (count, more) = (self.inputs.len(), other.inputs.len());
        let (ours, theirs) = (self.inputs.shape().to_vec(), other.inputs.shape().to_vec());
        let sequences = ours.len() == 4;
        // Sequences may be longer or shorter.
        let fixed = if sequences { 2 } else { 1 };
        if ours.len() != theirs.len() || ours[fixed..] != theirs[fixed..] {
            let (have, want) = (&theirs[1..], &ours[1..]);
            return Err(format!("samples of shape {have:?}; {want:?} expected, as in data.source"));
        }
        if std::mem::discriminant(&self.target) != std::mem::discriminant(&other.target) {
            let (have, want) = (target::describe(&other.target), target::describe(&self.target));
            return Err(format!("has {have}; {want} expected, as in data.source"));
        }
        let steps = if sequences { [ours[1], theirs[1]] } else { [1, 1] };
        let all = |own: &[usize], steps: usize, count: usize| match own {
            [] => vec![steps; count],
            own => own.to_vec(),
        };
        let lengths = [all(&self.lengths, steps[0], count), all(&other.lengths, steps[1], more)].concat();
        let time = steps[0].max(steps[1]);
        let said = |error: Error| error.to_string();
        let mut values = padded(self.inputs, time).map_err(said)?;
        values.extend(padded(other.inputs, time).map_err(said)?);
        let mut shape = ours;
        shape[0] = count + more;
        if sequences {
            shape[1] = time;
        }
        let inputs = Inputs::Floats(Array::new(shape, values).map_err(|error| error.to_string())?);
        let differ = sequences && lengths.iter().any(|&length| length != lengths[0]);
        let weights = match (&self.weights[..], &other.weights[..]) {
            ([], []) => Vec::new(),
            ([], second) => [&vec![1.0; count], second].concat(),
            (first, []) => [first, &vec![1.0; more]].concat(),
            (first, second) => [first, second].concat(),
        };
        let target = joined(self.target, other.target, steps, time)?;
        let notes = [self.notes, other.notes].concat();
        let lengths = if differ { lengths } else { Vec::new() };
        let Self { groups, column_names, sample_rate, official, own_file, own_valid, .. } = self;
        let more = count..count + more;
        let mut all = Self::new(inputs, target, notes);
        (all.lengths, all.weights, all.groups, all.column_names) = (lengths, weights, groups, column_names);
        (all.sample_rate, all.official) = (sample_rate, official);
        (all.own_file, all.own_valid) = (own_file, own_valid);
        Ok((all, more))
    }

    /// Over inputs, targets, groups, lengths and weights, and their shapes; and over the split that comes in the user's file.
    pub fn checksum(&self) -> String {
        let mut sha = Sha256::new();
        match &self.inputs {
            Inputs::Floats(array) => sha.update(of_samples(array)),
            Inputs::Stored(stored) => sha.update(stored.checksum()),
            Inputs::Bytes(_) => {}
        }
        let mut add = |array: &Array| {
            sha.update(format!("{:?}", array.shape()));
            add_numbers(&mut sha, array.data());
        };
        if let Target::Matrices(numbers) | Target::Values { values: numbers, .. } = &self.target {
            add(numbers);
        }
        if let Inputs::Bytes(bytes) = &self.inputs {
            sha.update(format!("{:?}", bytes.shape()));
            sha.update(bytes.data());
        }
        if let Target::Classes { labels, names } | Target::StepClasses { labels, names } = &self.target {
            sha.update(format!("{labels:?} {names:?}"));
        }
        if let Target::MultiLabels { flags, names } = &self.target {
            sha.update(format!("{flags:?} {names:?}"));
        }
        sha.update(format!("{:?}", self.groups));
        if !self.lengths.is_empty() {
            sha.update(format!("lengths {:?}", self.lengths));
        }
        if !self.weights.is_empty() {
            sha.update(format!("weights {:?}", self.weights));
        }
        if let Some(split) = self.official.as_ref().filter(|_| self.own_file) {
            sha.update(format!("split {split:?}"));
        }
        hex(&sha.finalize())
    }
}

/// Whether two paths are the same file or folder.
fn same_place(one: &str, other: &str) -> bool {
    let place = |path: &str| std::fs::canonicalize(path).ok();
    one == other || place(one).is_some_and(|found| place(other) == Some(found))
}

/// How to load what is not simply read.
fn options(config: &SampleDataConfig) -> LoadOptions {
    LoadOptions { seed: config.seed, sequences: config.sequences.unwrap_or(SEQUENCES) }
}

/// The values of all inputs, sequences padded to so many steps.
fn padded(inputs: Inputs, time: usize) -> Result<Vec<f32>> {
    let array = inputs.into_array()?;
    let &[_, own, rows, cols] = array.shape() else { return Ok(array.into_data()) };
    if own == time {
        return Ok(array.into_data());
    }
    let mut values = Vec::with_capacity(array.len() * time * rows * cols);
    for at in 0..array.len() {
        values.extend_from_slice(array.sample(at));
        values.resize((at + 1) * time * rows * cols, 0.0);
    }
    Ok(values)
}

/// The targets of samples, and of those that are appended; sequences of these numbers of steps become `time` steps long.
fn joined(first: Target, second: Target, steps: [usize; 2], time: usize) -> Result<Target, String> {
    let known = match &first {
        Target::Classes { names, .. } | Target::StepClasses { names, .. } => names.clone(),
        other => target::output_names(other).to_vec(),
    };
    let second = target::with_names(second, &known).map_err(|error| error.to_string())?;
    let shapes = |a: &Array, b: &Array| {
        format!("targets of shape {:?}; {:?} expected, as in data.source", &b.shape()[1..], &a.shape()[1..])
    };
    let together = |a: Array, b: Array| {
        if a.shape()[1..] != b.shape()[1..] {
            return Err(shapes(&a, &b));
        }
        let mut shape = a.shape().to_vec();
        shape[0] += b.len();
        Array::new(shape, [a.into_data(), b.into_data()].concat()).map_err(|error| error.to_string())
    };
    Ok(match (first, second) {
        (Target::Classes { labels, names }, Target::Classes { labels: more, .. }) => {
            Target::Classes { labels: [labels, more].concat(), names }
        }
        (Target::StepClasses { labels, names }, Target::StepClasses { labels: more, .. }) => {
            let pad = |labels: Vec<u32>, own: usize| -> Vec<u32> {
                let steps = labels.chunks_exact(own.max(1));
                steps
                    .flat_map(|steps| steps.iter().copied().chain(std::iter::repeat_n(0, time - own)))
                    .collect()
            };
            Target::StepClasses { labels: [pad(labels, steps[0]), pad(more, steps[1])].concat(), names }
        }
        (Target::Values { values, names }, Target::Values { values: more, .. }) => {
            Target::Values { values: together(values, more)?, names }
        }
        (Target::MultiLabels { flags, names }, Target::MultiLabels { flags: more, .. }) => {
            Target::MultiLabels { flags: [flags, more].concat(), names }
        }
        (Target::Matrices(a), Target::Matrices(b)) => {
            // A matrix per step is padded with its sequence.
            let per_step = |array: &Array, own: usize| array.shape().len() == 4 && array.shape()[1] == own;
            if !(per_step(&a, steps[0]) && per_step(&b, steps[1])) || steps[0] == steps[1] {
                return Ok(Target::Matrices(together(a, b)?));
            }
            let long = |array: Array| {
                let mut shape = array.shape().to_vec();
                shape[1] = time;
                let values = padded(Inputs::Floats(array), time).map_err(|error| error.to_string())?;
                Array::new(shape, values).map_err(|error| error.to_string())
            };
            Target::Matrices(together(long(a)?, long(b)?)?)
        }
        _ => Target::None,
    })
}

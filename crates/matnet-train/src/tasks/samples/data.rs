//! Samples that are ready for training: loaded, transformed, split.

use std::sync::Arc;

use burn::tensor::Tensor;
use matnet_data::catalog::Cache;
use matnet_data::transform::scale::Scaler;
use matnet_data::transform::windows::{WindowLevels, Windows};
use matnet_data::{Array, SplitIndices, Target, split};

use super::divide::{divide, notes};
use super::forecast::{Forecast, Series};
use super::preprocess::sides;
use super::raw::Raw;
use super::remarks::remarks;
use super::{Inputs, Occlusions, Preprocess, SampleDataConfig, SplitRule, TargetType, target};
use crate::config::TrainConfig;
use crate::ranks::{Ranks, check_data};
use crate::task::{ClassLoss, impl_task_data, to_vec};
use crate::tasks::check_weights;
use crate::{Error, Result};

/// Samples, their targets and their splits.
#[derive(Clone, Debug)]
pub struct SampleData {
    /// The inputs, preprocessed: `[n, rows, cols]` or `[n, time, rows, cols]`.
    pub inputs: Inputs,
    /// The steps of each sequence; empty where all have the same.
    pub lengths: Vec<usize>,
    /// The occlusions of validation and test inputs.
    pub occlusions: Option<Occlusions>,
    /// The targets, in the units of the data.
    pub target: Target,
    /// The targets as the net learns them, where they are scaled.
    pub(super) scaled_target: Option<Array>,
    /// What was taken out of each window of a forecast.
    pub(super) levels: Option<WindowLevels>,
    /// Which entries of the target matrices are known, where some are missing.
    known_targets: Option<Arc<[bool]>>,
    /// The weight of each sample in the loss; empty where all count the same.
    pub weights: Vec<f32>,
    /// The splits.
    pub indices: SplitIndices,
    /// The transforms of the inputs and targets.
    pub preprocess: Preprocess,
    /// The config, with the defaults that the data decided.
    pub config: SampleDataConfig,
    checksum: String,
    notes: Vec<String>,
    fold_count: Option<usize>,
}

impl SampleData {
    /// Loads and prepares the dataset of a config; `seed` is that of the run, for splits that depend on it.
    pub fn load(config: &SampleDataConfig, cache: &Cache, seed: u64) -> Result<Self> {
        Self::load_together(config, cache, seed, &Ranks::default())
    }

    /// The same on one of the ranks: each reads a share of the inputs that stay in their file, and all fail if one has other data.
    pub(super) fn load_together(
        config: &SampleDataConfig,
        cache: &Cache,
        seed: u64,
        ranks: &Ranks,
    ) -> Result<Self> {
        if let Some(windows) = config.windows() {
            let mut config = config.clone();
            config.check()?;
            let (dataset, notes) = Raw::table(&config, cache)?;
            let series = Series::new(dataset, windows, &mut config)?;
            let preprocess = series.fit(&config)?;
            return Self::forecast(series, notes, config, preprocess);
        }
        let mut raw = Raw::load(config, cache, ranks)?;
        let checksum = raw.checksum();
        check_data(ranks, &checksum)?;
        let (indices, mut config) = divide(&raw, config, seed)?;
        raw.notes.extend(notes(&raw, &indices, &config));
        raw.notes.extend(remarks(&raw, &indices.train));
        check_weights(&raw.weights, &indices, "sample")?;
        let (mut preprocess, inputs, lengths) =
            Preprocess::fit(&config, raw.inputs, raw.lengths, &indices.train, &raw.weights, ranks)?;
        preprocess.sample_rate = raw.sample_rate;
        let raw = Raw { inputs, lengths, ..raw };
        let values = matches!(raw.target, Target::Values { .. });
        if let Some(scale) =
            config.scale_target.filter(|_| !values && !matches!(raw.target, Target::Matrices(_)))
        {
            let expected = format!(
                "only values and target matrices use it, the data have {}",
                target::describe(&raw.target)
            );
            return Err(Error::config("data", "scale_target", scale.to_string(), expected));
        }
        if values {
            config.scale_target.get_or_insert(true);
        }
        if config.scale_target == Some(true) {
            preprocess.target_scaler = target::fit_scaler(&raw.target, &indices.train, &raw.weights)?;
        }
        Self { checksum, ..Self::assemble(raw, indices, config, preprocess)? }.with_scaled_target()
    }

    /// The same dataset with the same splits, preprocessed as for a trained net: nothing is fitted anew, which
    /// matters when the data have changed since.
    pub fn reload(
        config: &SampleDataConfig,
        cache: &Cache,
        seed: u64,
        preprocess: &Preprocess,
    ) -> Result<Self> {
        if let Some(windows) = config.windows() {
            let mut config = config.clone();
            let (dataset, notes) = Raw::table(&config, cache)?;
            let series = Series::new(dataset, windows, &mut config)?;
            return Self::forecast(series, notes, config, preprocess.clone());
        }
        let raw = Raw::load(config, cache, &Ranks::default())?;
        let (indices, config) = divide(&raw, config, seed)?;
        Self::prepared(raw, indices, config, preprocess)
    }

    /// Other data, preprocessed as for a trained net; all of them are the test split. `config` is that of the run.
    pub fn load_other(
        source: &str,
        config: &SampleDataConfig,
        cache: &Cache,
        preprocess: &Preprocess,
    ) -> Result<Self> {
        let &Preprocess { sample_rate, row_step, .. } = preprocess;
        let config = SampleDataConfig { sample_rate, row_step, ..config.for_source(source) };
        if let Some(windows) = config.windows() {
            let (dataset, notes) = Raw::table(&config, cache).map_err(Error::without_key)?;
            let series = Series::whole(dataset, windows, &config)?;
            return Self::forecast(series, notes, config, preprocess.clone()).map_err(Error::without_key);
        }
        let raw = Raw::load(&config, cache, &Ranks::default()).map_err(Error::without_key)?;
        let test = (0..raw.inputs.len()).collect();
        Self::prepared(raw, SplitIndices { test, ..SplitIndices::default() }, config, preprocess)
    }

    fn prepared(
        raw: Raw,
        indices: SplitIndices,
        config: SampleDataConfig,
        preprocess: &Preprocess,
    ) -> Result<Self> {
        let checksum = raw.checksum();
        let (inputs, lengths) = preprocess.apply_to(raw.inputs, raw.lengths).map_err(|error| {
            Error::Mismatch(format!("{} cannot be transformed as the run's data: {error}", config.source))
        })?;
        let raw = Raw { inputs, lengths, ..raw };
        Ok(Self { checksum, ..Self::assemble(raw, indices, config, preprocess.clone())? })
    }

    fn assemble(
        raw: Raw,
        indices: SplitIndices,
        config: SampleDataConfig,
        preprocess: Preprocess,
    ) -> Result<Self> {
        let fold_count = match config.split.rule {
            Some(SplitRule::LeaveOneGroupOut) => split::group_count(&raw.groups).ok(),
            rule => rule.filter(|rule| rule.has_folds()).map(|_| config.split.folds()),
        };
        let Raw { inputs, lengths, target, weights, notes, .. } = raw;
        let occlusions = Occlusions::draw(&config, inputs.shape(), &indices, &preprocess)?;
        Ok(Self {
            inputs,
            lengths,
            occlusions,
            scaled_target: None,
            levels: None,
            known_targets: None,
            target,
            weights,
            indices,
            preprocess,
            config,
            checksum: String::new(),
            notes,
            fold_count,
        })
    }

    /// Windows over a table.
    fn forecast(
        series: Series,
        notes: Vec<String>,
        config: SampleDataConfig,
        preprocess: Preprocess,
    ) -> Result<Self> {
        let (checksum, indices) = (series.checksum(), series.indices()?);
        let Forecast { inputs, target, levels, known } = series.samples(&preprocess)?;
        let raw = Raw::new(inputs, target, notes);
        let known_targets = known.map(Arc::from);
        Ok(Self { checksum, levels, known_targets, ..Self::assemble(raw, indices, config, preprocess)? })
    }

    /// Scales the targets, whose names are those of the net by now.
    pub(super) fn with_scaled_target(mut self) -> Result<Self> {
        // Windows are made of a table that was scaled as a whole.
        if self.preprocess.windows.is_none() {
            self.scaled_target = target::scaled(&self.target, self.preprocess.target_scaler.as_ref())?;
        }
        Ok(self)
    }

    /// The same with its targets scaled by these numbers.
    pub(super) fn with_target_scaler(&self, scaler: Scaler) -> Result<Self> {
        let mut scaled = self.clone();
        scaled.preprocess.target_scaler = Some(scaler);
        scaled.config.scale_target = Some(true);
        scaled.with_scaled_target()
    }

    /// The same with the classes, values or labels of a trained net.
    pub(super) fn with_names(mut self, names: &[String]) -> Result<Self> {
        self.target = target::with_names(self.target, names)?;
        self.with_scaled_target()
    }

    /// Outputs or targets of some windows, with the levels that were taken out of them; other matrices stay as they are.
    pub(super) fn with_levels(&self, examples: &[usize], matrices: Tensor<3>) -> Result<Array> {
        let dims = matrices.dims();
        let mut array = Array::new(dims, to_vec(matrices))?;
        if let Some(levels) = &self.levels {
            let steps = array.data().len() / examples.len().max(1) / self.table_columns().max(1);
            let mut windows = Array::new([examples.len(), steps, self.table_columns()], array.into_data())?;
            levels.select(examples).apply_inverse(&mut windows)?;
            array = Array::new(dims, windows.into_data())?;
        }
        Ok(array)
    }

    /// Outputs or targets of some examples in the units of the data.
    pub(super) fn in_units(&self, examples: &[usize], matrices: Tensor<3>) -> Result<Array> {
        let mut array = self.with_levels(examples, matrices)?;
        if let Some(scaler) = &self.preprocess.target_scaler {
            match self.preprocess.windows {
                Some(_) => Windows::scale_back(scaler, &mut array, self.table_columns())?,
                None => scaler.apply_inverse(&mut array)?,
            }
        }
        Ok(array)
    }

    /// The columns of the table that windows are made of; inputs may have more, for a mask of missing values.
    fn table_columns(&self) -> usize {
        match &self.target {
            Target::Matrices(targets) if targets.shape().len() > 2 => targets.shape()[2],
            _ => 1,
        }
    }

    /// Which entries of the target matrices of some examples are known; `None` if all are.
    pub(super) fn known_of(&self, examples: &[usize]) -> Option<Vec<bool>> {
        let known = self.known_targets.as_ref()?;
        let size = known.len() / self.inputs.len().max(1);
        Some(examples.iter().flat_map(|&at| &known[at * size..(at + 1) * size]).copied().collect())
    }

    /// The target classes of some examples, step after step where every step has one.
    pub(super) fn classes(&self, examples: &[usize]) -> Vec<u32> {
        match &self.target {
            Target::Classes { labels, .. } => examples.iter().map(|&at| labels[at]).collect(),
            Target::StepClasses { labels, .. } => {
                let time = self.time().unwrap_or(1);
                let steps = |at: usize| &labels[at * time..at * time + self.length(at)];
                examples.iter().flat_map(|&at| steps(at)).copied().collect()
            }
            _ => Vec::new(),
        }
    }

    /// The steps of a sample; 1 if it is a single matrix.
    pub fn length(&self, sample: usize) -> usize {
        self.lengths.get(sample).copied().unwrap_or_else(|| self.time().unwrap_or(1))
    }

    /// The lengths of some samples, where lengths differ.
    pub(super) fn lengths_of(&self, examples: &[usize]) -> Option<Arc<[usize]>> {
        (!self.lengths.is_empty()).then(|| examples.iter().map(|&at| self.lengths[at]).collect())
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
            _ => &[],
        }
    }

    /// Windows as a net sees them: sequences `[n, time, columns, 1]`, or matrices `[n, time, columns]`.
    pub(super) fn seen_as(&self, sequences: bool) -> Result<Option<Self>> {
        if self.preprocess.windows.is_none() || self.time().is_some() == sequences {
            return Ok(None);
        }
        let reshaped = |array: &Array| {
            let shape = array.shape();
            let shape = if sequences { [shape, &[1]].concat() } else { shape[..3].to_vec() };
            Array::new(shape, array.data().to_vec())
        };
        let mut seen = self.clone();
        if let Inputs::Floats(inputs) = &self.inputs {
            seen.inputs = Inputs::Floats(reshaped(inputs)?);
        }
        if let Target::Matrices(targets) = &self.target {
            seen.target = Target::Matrices(reshaped(targets)?);
        }
        Ok(Some(seen))
    }

    /// The weight of a sample.
    fn weight(&self, at: usize) -> f64 {
        self.weights.get(at).map_or(1.0, |&weight| weight.into())
    }

    /// The weights and the smoothing of classes or labels, from the training split.
    pub(super) fn class_loss(&self, kind: TargetType, train: &TrainConfig) -> Result<ClassLoss> {
        let split = &self.indices.train;
        match &self.target {
            Target::Classes { names, .. } | Target::StepClasses { names, .. } if kind.has_classes() => {
                let mut counts = vec![0.0; names.len()];
                for &at in split {
                    self.classes(&[at])
                        .into_iter()
                        .for_each(|class| counts[class as usize] += self.weight(at));
                }
                ClassLoss::of_classes(train, names, &counts)
            }
            Target::MultiLabels { flags, names } if kind == TargetType::Labels => {
                let mut counts = vec![[0.0; 2]; names.len()];
                for &at in split {
                    for (count, &flag) in counts.iter_mut().zip(target::flags_of(flags, names, at)) {
                        count[usize::from(flag)] += self.weight(at);
                    }
                }
                ClassLoss::of_labels(train, names, &counts)
            }
            _ => {
                ClassLoss::refuse(
                    train,
                    &format!("only classes and labels use it, these are {}", kind.plural()),
                )?;
                Ok(ClassLoss::default())
            }
        }
    }
}

impl_task_data! {
    SampleData,
    fn fold_count(&self) -> Option<usize> {
        self.fold_count
    }

    fn take_read_error(&self) -> Option<Error> {
        match &self.inputs {
            Inputs::Stored(stored) => stored.take_error(),
            _ => None,
        }
    }
}

//! `[train]`

use std::collections::BTreeMap;

use matnet::optim::AdamConfig;
use serde::{Deserialize, Serialize};

use super::precision::{Precision, SavedActivations};
use super::schedule::{LearningRates, Schedule};
use crate::metrics::Metric;

/// `[train]`: how a net is trained.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
#[non_exhaustive]
pub struct TrainConfig {
    /// Passes over the training split, at most. Default: 20.
    pub epochs: usize,
    /// Examples per step. Default: 64 samples, 32 questions, 16 sequences, or all training nodes of a graph.
    pub batch_size: Option<usize>,
    /// Parts that every batch is divided into; several ranks compute them together. Default: 1.
    #[serde(skip_serializing_if = "is_1")]
    pub shards: usize,
    /// Whether batches hold samples of similar length, which wastes less on padding. Default: yes where lengths differ.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bucket_by_length: Option<bool>,
    /// Seeds the initial values, the order of the examples, dropout and noise. Default: 1.
    pub seed: u64,
    /// The loss. Default: cross-entropy for classes, bce for several labels, mse for values and matrices.
    pub loss: Option<Loss>,
    /// Huber loss: errors beyond this count linearly. Default: 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub huber_delta: Option<f64>,
    /// So much of the target probability is spread over all classes. Default: 0.
    #[serde(skip_serializing_if = "is_0")]
    pub label_smoothing: f64,
    /// Whether a step takes the mean or the sum of its examples' losses. Default: mean.
    #[serde(skip_serializing_if = "Reduction::is_mean")]
    pub reduction: Reduction,
    /// The floats of a training step: 32, 16-mixed or bf16-mixed. Default: 32.
    #[serde(skip_serializing_if = "Precision::is_full")]
    pub precision: Precision,
    /// Gradient checkpointing: the backward pass computes again what layers would keep for it. The same results in less memory and
    /// more time. Default: no.
    #[serde(skip_serializing_if = "is_false")]
    pub checkpointing: bool,
    /// The floats in which layers save activations for the backward pass: 32 or bf16. Default: 32.
    #[serde(skip_serializing_if = "SavedActivations::is_full")]
    pub saved_activations: SavedActivations,
    /// The optimizer. Default: Adam.
    pub optimizer: OptimizerKind,
    /// The learning rate. Default: 0.001.
    pub learning_rate: f64,
    /// Adam's decay of the first moment. Default: 0.9.
    pub beta_1: Option<f64>,
    /// Adam's decay of the second moment. Default: 0.999.
    pub beta_2: Option<f64>,
    /// Adam's ε. Default: 1e-8.
    pub epsilon: Option<f64>,
    /// SGD's momentum. Default: 0.
    pub momentum: Option<f64>,
    /// Weight decay: decoupled in AdamW, added to the gradient in SGD. Default: 0.01 for AdamW, 0 for SGD.
    pub weight_decay: Option<f64>,
    /// The learning rate schedule. Default: constant.
    pub schedule: Schedule,
    /// Epochs of linear warm-up from 0. Default: 0.
    pub warmup_epochs: f64,
    /// Where linear, cosine and exponential schedules end. Default: a hundredth of the learning rate.
    pub min_learning_rate: Option<f64>,
    /// Step schedule: the factor, as in PyTorch's `StepLR`. Default: 0.5.
    pub gamma: Option<f64>,
    /// Step schedule: epochs between two drops. Default: 10.
    pub step_size: Option<f64>,
    /// Cosine-restarts schedule: epochs until the first restart. Default: 10.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub restart_epochs: Option<f64>,
    /// Cosine-restarts schedule: how many times longer each cycle is than the one before. Default: 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub restart_factor: Option<u64>,
    /// Clip the norm of all gradients together. Default: no clipping.
    pub grad_clip_norm: Option<f64>,
    /// Clip the norm of each parameter's gradient. Default: no clipping.
    pub grad_clip_norm_per_param: Option<f64>,
    /// Adds l1 · Σ|w| over the regularized weights to the loss. Default: 0.
    pub l1: f64,
    /// Adds l2 · Σw² over the regularized weights to the loss. Default: 0.
    pub l2: f64,
    /// Restricts l1 and l2 to weights whose names start with this, like `layer.0`. Default: all.
    pub regularize_only: Option<String>,
    /// Early stopping: epochs without a better validation score. Default: never stop early.
    pub patience: Option<usize>,
    /// The metric that "better" compares. Default: error for classes, loss for matrices.
    pub monitor: Option<Metric>,
    /// Evaluate the test split after every epoch, for its learning curve; it decides nothing. Default: no.
    pub log_test: bool,
    /// The decay of an exponential moving average of the weights, which is then evaluated and saved in place of the
    /// weights. Default: no averaging.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ema_decay: Option<f64>,
    /// Multiplies the learning rate of the parameters whose names contain a word, like `row_map`; the longest matching
    /// word counts. Default: none.
    pub learning_rate_multipliers: BTreeMap<String, f64>,
    /// The weights of the classes in the loss: `"balanced"`, one per class, or some by name. Default: all 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub class_weights: Option<ClassWeights>,
    /// Fine-tuning: a run folder, or a file of weights in one, whose weights this run starts from, as far as they fit by
    /// name and shape. Default: none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub from: Option<String>,
    /// The SHA-256 of the file that `from` names; the config of a run records it. Default: whatever it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub from_sha256: Option<String>,
    /// Parameters that are not trained, by name or by the name of their layer, like `layer.0`. Default: none.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub freeze: Vec<String>,
    /// The numbers of epochs that the run had before `--epochs` extended it; the config of a run records them where the
    /// schedule depends on them. Default: none.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub previous_epochs: Vec<usize>,
}

fn is_1(number: &usize) -> bool {
    *number == 1
}

fn is_false(flag: &bool) -> bool {
    !flag
}

fn is_0(number: &f64) -> bool {
    *number == 0.0
}

impl Default for TrainConfig {
    fn default() -> Self {
        Self {
            epochs: 20,
            batch_size: None,
            shards: 1,
            bucket_by_length: None,
            seed: 1,
            loss: None,
            huber_delta: None,
            label_smoothing: 0.0,
            reduction: Reduction::Mean,
            precision: Precision::Full,
            checkpointing: false,
            saved_activations: SavedActivations::Full,
            optimizer: OptimizerKind::Adam,
            learning_rate: 1e-3,
            beta_1: None,
            beta_2: None,
            epsilon: None,
            momentum: None,
            weight_decay: None,
            schedule: Schedule::Constant,
            warmup_epochs: 0.0,
            min_learning_rate: None,
            gamma: None,
            step_size: None,
            restart_epochs: None,
            restart_factor: None,
            grad_clip_norm: None,
            grad_clip_norm_per_param: None,
            l1: 0.0,
            l2: 0.0,
            regularize_only: None,
            patience: None,
            monitor: None,
            log_test: false,
            ema_decay: None,
            learning_rate_multipliers: BTreeMap::new(),
            from: None,
            from_sha256: None,
            freeze: Vec::new(),
            previous_epochs: Vec::new(),
            class_weights: None,
        }
    }
}

/// The losses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Loss {
    /// −log of the probability of the target class.
    CrossEntropy,
    /// The mean of (y − ŷ)².
    Mse,
    /// The mean of |y − ŷ|.
    Mae,
    /// Binary cross-entropy for several labels, or for matrices between 0 and 1; the net gives logits.
    Bce,
    /// (y − ŷ)² / 2 up to |y − ŷ| = δ, beyond that δ·(|y − ŷ| − δ/2).
    Huber,
}

/// The weights of the classes in the loss.
#[derive(Clone, Debug, PartialEq)]
pub enum ClassWeights {
    /// Each class weighs as much as any other: n / (classes · count), as in scikit-learn.
    Balanced,
    /// One per class, in their order.
    List(Vec<f64>),
    /// Those of some classes; the others are 1.
    ByName(BTreeMap<String, f64>),
}

impl Serialize for ClassWeights {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Balanced => serializer.serialize_str("balanced"),
            Self::List(weights) => weights.serialize(serializer),
            Self::ByName(weights) => weights.serialize(serializer),
        }
    }
}

impl<'de> Deserialize<'de> for ClassWeights {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(
            untagged,
            expecting = "\"balanced\", a list of numbers, or a table of numbers by class expected"
        )]
        enum Form {
            Word(Word),
            List(Vec<f64>),
            ByName(BTreeMap<String, f64>),
        }
        #[derive(Deserialize)]
        #[serde(rename_all = "lowercase")]
        enum Word {
            Balanced,
        }
        Ok(match Form::deserialize(deserializer)? {
            Form::Word(Word::Balanced) => Self::Balanced,
            Form::List(weights) => Self::List(weights),
            Form::ByName(weights) => Self::ByName(weights),
        })
    }
}

impl Loss {
    /// The name in configs.
    pub fn name(self) -> &'static str {
        match self {
            Self::CrossEntropy => "cross-entropy",
            Self::Mse => "mse",
            Self::Mae => "mae",
            Self::Bce => "bce",
            Self::Huber => "huber",
        }
    }
}

/// How the losses of a batch become one number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Reduction {
    /// Their mean.
    Mean,
    /// Their sum, which is what the learning rate and the clipping norms of some papers refer to.
    Sum,
}

impl Reduction {
    fn is_mean(&self) -> bool {
        *self == Self::Mean
    }
}

/// The optimizers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum OptimizerKind {
    /// Adam.
    Adam,
    /// Adam with decoupled weight decay.
    AdamW,
    /// Stochastic gradient descent, with momentum if asked for.
    Sgd,
}

impl TrainConfig {
    /// The same with the class weights that a run was trained with, which balanced ones had from its training split.
    pub(crate) fn with_fitted_weights(&self, weights: &[f32]) -> Self {
        let fitted = weights.iter().map(|&weight| f64::from(weight)).collect();
        let class_weights = match self.class_weights {
            Some(_) if !weights.is_empty() => Some(ClassWeights::List(fitted)),
            _ => None,
        };
        Self { class_weights, ..self.clone() }
    }

    /// Adam's numbers.
    pub(crate) fn adam(&self) -> AdamConfig {
        let mut adam = AdamConfig::default();
        adam.beta_1 = self.beta_1.unwrap_or(adam.beta_1);
        adam.beta_2 = self.beta_2.unwrap_or(adam.beta_2);
        adam.epsilon = self.epsilon.unwrap_or(adam.epsilon);
        adam
    }

    /// The weight decay, by default that of the optimizer.
    pub(crate) fn decay(&self) -> f64 {
        self.weight_decay.unwrap_or(if self.optimizer == OptimizerKind::AdamW { 0.01 } else { 0.0 })
    }

    /// The learning rate at every step of an epoch, when an epoch has so many steps. A run that was extended keeps the rates
    /// of its first epochs.
    pub(crate) fn learning_rates(&self, steps: usize, epoch: usize) -> LearningRates {
        let epochs = |epochs: f64| (epochs * steps as f64).round() as u64;
        let total = self.previous_epochs.iter().copied().find(|&total| epoch < total).unwrap_or(self.epochs);
        LearningRates {
            schedule: self.schedule,
            first: self.learning_rate,
            last: self.min_learning_rate.unwrap_or(self.learning_rate / 100.0),
            warmup: epochs(self.warmup_epochs),
            total: total as u64 * steps as u64,
            gamma: self.gamma.unwrap_or(0.5),
            step_size: epochs(self.step_size.unwrap_or(10.0)).max(1),
            restart_steps: epochs(self.restart_epochs.unwrap_or(10.0)).max(1),
            restart_factor: self.restart_factor.unwrap_or(1),
        }
    }

    /// The config with every default written out that has an effect.
    pub(crate) fn resolved(&self, loss: Loss, monitor: Metric, batch_size: Option<usize>) -> Self {
        let mut full = self.clone();
        full.batch_size = batch_size;
        full.loss = Some(loss);
        full.monitor = Some(monitor);
        if loss == Loss::Huber {
            full.huber_delta.get_or_insert(1.0);
        }
        full.weight_decay = (self.optimizer != OptimizerKind::Adam).then_some(self.decay());
        if self.optimizer == OptimizerKind::Sgd {
            full.momentum.get_or_insert(0.0);
        } else {
            let adam = self.adam();
            full.beta_1 = Some(adam.beta_1);
            full.beta_2 = Some(adam.beta_2);
            full.epsilon = Some(adam.epsilon);
        }
        match self.schedule {
            Schedule::Constant => {}
            Schedule::Step => {
                full.gamma.get_or_insert(0.5);
                full.step_size.get_or_insert(10.0);
            }
            schedule => {
                full.min_learning_rate = Some(self.learning_rates(1, 0).last);
                if schedule == Schedule::CosineRestarts {
                    full.restart_epochs.get_or_insert(10.0);
                    full.restart_factor.get_or_insert(1);
                }
            }
        }
        full
    }
}

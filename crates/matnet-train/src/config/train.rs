//! `[train]`

use std::collections::BTreeMap;

use matnet::ConfigError;
use matnet::optim::AdamConfig;
use serde::{Deserialize, Serialize};

use crate::optimizer::Rule;
use crate::schedule::{Rates, Schedule};
use crate::{Error, Result};

/// Epochs without a smaller validation loss that end a linear start. The loss of a hundred questions goes up and down: with 5,
/// of three restarts on bAbI's task 16 two end so early that they never learn it.
const LINEAR_PATIENCE: usize = 10;

/// How a net is trained.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct TrainConfig {
    /// How often the training part is gone through, at most. Default: 20.
    pub epochs: usize,
    /// Examples per step. Default: 64 samples, or all training nodes of a graph.
    pub batch: Option<usize>,
    /// Decides first values, order, dropout and noise. Default: 1.
    pub seed: u64,
    /// What is made small. Default: cross-entropy for classes, mse for matrices.
    pub loss: Option<Loss>,
    /// Default: Adam.
    pub optimizer: OptimizerKind,
    /// The learning rate. Default: 0.001.
    pub rate: f64,
    /// Adam's memory of gradients. Default: 0.9.
    pub beta_1: Option<f64>,
    /// Adam's memory of their squares. Default: 0.999.
    pub beta_2: Option<f64>,
    /// What keeps Adam's quotient finite. Default: 1e-8.
    pub epsilon: Option<f64>,
    /// SGD's memory of its direction. Default: 0.
    pub momentum: Option<f64>,
    /// How much of every parameter AdamW or SGD takes off, times the rate. Default: 0.01 for AdamW, 0 for SGD.
    pub weight_decay: Option<f64>,
    /// How the rate changes. Default: constant.
    pub schedule: Schedule,
    /// Epochs over which the rate rises from 0. Default: 0.
    pub warmup: f64,
    /// Where linear, cosine and exponential schedules end. Default: a hundredth of the rate.
    pub final_rate: Option<f64>,
    /// The factor of the step schedule. Default: 0.5.
    pub drop: Option<f64>,
    /// Epochs between the steps of the step schedule. Default: 10.
    pub drop_every: Option<f64>,
    /// The longest gradient, over all parameters; longer ones are shortened. Default: any.
    pub clip: Option<f64>,
    /// The longest gradient of one parameter, each measured by itself. Default: any.
    pub clip_each: Option<f64>,
    /// Whether a step makes the sum of its examples' losses small, not their mean: what `rate` and the clips mean in papers
    /// that add losses up. Default: no.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub sum_loss: bool,
    /// Epochs, at most, in which an end-to-end memory net goes without its softmax before the others begin; it ends earlier
    /// when the validation loss no longer falls. Default: none.
    pub linear_start: Option<usize>,
    /// Epochs without a smaller validation loss that end a linear start. Default: 10.
    pub linear_patience: Option<usize>,
    /// Added to the loss: l1 · Σ|w| over the maps. Default: 0.
    pub l1: f64,
    /// Added to the loss: l2 · Σw² over the maps. Default: 0.
    pub l2: f64,
    /// Which maps l1 and l2 reach, by the beginning of their names, like layer.0. Default: all.
    pub penalised: Option<String>,
    /// Stop after so many epochs without a better validation. Default: never.
    pub patience: Option<usize>,
    /// What "better" looks at. Default: error for classes, loss for matrices.
    pub monitor: Option<Monitor>,
    /// Whether the test part is measured after every epoch, for its learning curve; it decides nothing. Default: no.
    pub watch_test: bool,
    /// The decay of the mean of the weights over the steps, which then is what is measured and kept; the closer to 1, the more
    /// steps it goes back. Default: the weights themselves.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub average: Option<f64>,
    /// Factors of the rate, for the parameters whose names contain a word, like `row_map`; of several that fit, the
    /// longest word's. Default: none.
    pub rate_factors: BTreeMap<String, f64>,
}

impl Default for TrainConfig {
    fn default() -> Self {
        Self {
            epochs: 20,
            batch: None,
            seed: 1,
            loss: None,
            optimizer: OptimizerKind::Adam,
            rate: 1e-3,
            beta_1: None,
            beta_2: None,
            epsilon: None,
            momentum: None,
            weight_decay: None,
            schedule: Schedule::Constant,
            warmup: 0.0,
            final_rate: None,
            drop: None,
            drop_every: None,
            clip: None,
            clip_each: None,
            sum_loss: false,
            linear_start: None,
            linear_patience: None,
            l1: 0.0,
            l2: 0.0,
            penalised: None,
            patience: None,
            monitor: None,
            watch_test: false,
            average: None,
            rate_factors: BTreeMap::new(),
        }
    }
}

/// What is made small.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Loss {
    /// −log of the probability given to the right class.
    CrossEntropy,
    /// The mean of (y − ŷ)².
    Mse,
    /// The mean of |y − ŷ|.
    Mae,
    /// The mean of −y·log σ(ŷ) − (1−y)·log(1−σ(ŷ)), for matrices between 0 and 1; what the net gives stands before σ.
    Bce,
}

/// What decides which epoch is the best.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Monitor {
    /// The smallest validation loss.
    Loss,
    /// The smallest share of wrong answers; of equal ones, the smaller loss.
    Error,
}

/// The optimisers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum OptimizerKind {
    /// Adam.
    Adam,
    /// Adam with decoupled weight decay.
    AdamW,
    /// Gradient descent, with momentum if asked.
    Sgd,
}

impl TrainConfig {
    /// Checks every number.
    pub fn check(&self) -> Result<()> {
        self.checked().map_err(|error| Error::key("train", error))
    }

    fn checked(&self) -> Result<(), ConfigError> {
        let wrong = |key: &str, value: String, expected: &str| Err(ConfigError::new(key, value, expected));
        let counts = [
            ("epochs", Some(self.epochs)),
            ("batch", self.batch),
            ("linear_start", self.linear_start),
            ("linear_patience", self.linear_patience),
        ];
        for (key, value) in counts {
            if value == Some(0) {
                return wrong(key, "0".to_owned(), "must be at least 1");
            }
        }
        let positive = [
            ("rate", Some(self.rate)),
            ("final_rate", self.final_rate),
            ("clip", self.clip),
            ("clip_each", self.clip_each),
            ("drop_every", self.drop_every),
        ];
        for (key, value) in positive {
            if let Some(value) = value.filter(|value| !(*value > 0.0 && value.is_finite())) {
                return wrong(key, value.to_string(), "must be a number above 0");
            }
        }
        for (word, factor) in &self.rate_factors {
            if !(*factor >= 0.0 && factor.is_finite()) {
                let key = format!("rate_factors.{word}");
                return wrong(&key, factor.to_string(), "must be a number of at least 0");
            }
        }
        let at_least_0 = [
            ("warmup", Some(self.warmup)),
            ("l1", Some(self.l1)),
            ("l2", Some(self.l2)),
            ("weight_decay", self.weight_decay),
        ];
        for (key, value) in at_least_0 {
            if let Some(value) = value.filter(|value| !(*value >= 0.0 && value.is_finite())) {
                return wrong(key, value.to_string(), "must be a number of at least 0");
            }
        }
        if let Some(momentum) = self.momentum.filter(|momentum| !(0.0..1.0).contains(momentum)) {
            return wrong("momentum", momentum.to_string(), "must be at least 0 and less than 1");
        }
        if let Some(average) = self.average.filter(|average| !(*average > 0.0 && *average < 1.0)) {
            return wrong("average", average.to_string(), "must be above 0 and less than 1");
        }
        if let Some(drop) = self.drop.filter(|drop| !(*drop > 0.0 && *drop <= 1.0)) {
            return wrong("drop", drop.to_string(), "must be above 0 and at most 1");
        }
        if self.patience == Some(0) {
            return wrong("patience", "0".to_owned(), "must be at least 1; leave it out to train all epochs");
        }
        if let Some(patience) = self.linear_patience.filter(|_| self.linear_start.is_none()) {
            return wrong("linear_patience", patience.to_string(), "only linear_start uses it");
        }
        if let Some(start) = self.penalised.as_ref().filter(|_| self.l1 == 0.0 && self.l2 == 0.0) {
            return wrong("penalised", start.clone(), "only l1 and l2 use it, and both are 0");
        }
        self.adam().init().map(|_| ())?;
        self.only()
    }

    /// A key that has no effect is a mistake.
    fn only(&self) -> Result<(), ConfigError> {
        use OptimizerKind::{Adam, Sgd};
        let kind = self.optimizer;
        let adams = [("beta_1", self.beta_1), ("beta_2", self.beta_2), ("epsilon", self.epsilon)];
        let unused = adams
            .into_iter()
            .filter(|_| kind == Sgd)
            .chain([("momentum", self.momentum)].into_iter().filter(|_| kind != Sgd))
            .chain([("weight_decay", self.weight_decay)].into_iter().filter(|_| kind == Adam))
            .find_map(|(key, value)| value.map(|value| (key, value)));
        if let Some((key, value)) = unused {
            let takers = match key {
                "momentum" => "sgd",
                "weight_decay" => "adamw and sgd",
                _ => "adam and adamw",
            };
            return Err(ConfigError::new(key, value.to_string(), format!("only {takers} use it")));
        }
        let falls = matches!(self.schedule, Schedule::Linear | Schedule::Cosine | Schedule::Exponential);
        let steps = self.schedule == Schedule::Step;
        let unused = [("final_rate", self.final_rate)]
            .into_iter()
            .filter(|_| !falls)
            .chain([("drop", self.drop), ("drop_every", self.drop_every)].into_iter().filter(|_| !steps))
            .find_map(|(key, value)| value.map(|value| (key, value)));
        if let Some((key, value)) = unused {
            let takers = if key == "final_rate" {
                "linear, cosine and exponential schedules"
            } else {
                "step schedules"
            };
            return Err(ConfigError::new(key, value.to_string(), format!("only {takers} use it")));
        }
        Ok(())
    }

    fn adam(&self) -> AdamConfig {
        let default = AdamConfig::default();
        AdamConfig {
            beta_1: self.beta_1.unwrap_or(default.beta_1),
            beta_2: self.beta_2.unwrap_or(default.beta_2),
            epsilon: self.epsilon.unwrap_or(default.epsilon),
        }
    }

    /// The optimiser.
    pub(crate) fn rule(&self) -> Rule {
        match self.optimizer {
            OptimizerKind::Adam => Rule::Adam { adam: self.adam(), weight_decay: 0.0 },
            OptimizerKind::AdamW => {
                Rule::Adam { adam: self.adam(), weight_decay: self.weight_decay.unwrap_or(0.01) }
            }
            OptimizerKind::Sgd => Rule::Sgd {
                momentum: self.momentum.unwrap_or(0.0),
                weight_decay: self.weight_decay.unwrap_or(0.0),
            },
        }
    }

    /// The schedule, when an epoch has so many steps.
    pub(crate) fn rates(&self, steps: usize) -> Rates {
        let epochs = |epochs: f64| (epochs * steps as f64).round() as u64;
        Rates {
            schedule: self.schedule,
            rate: self.rate,
            final_rate: self.final_rate.unwrap_or(self.rate / 100.0),
            warmup: epochs(self.warmup),
            total: self.epochs as u64 * steps as u64,
            drop: self.drop.unwrap_or(0.5),
            drop_every: epochs(self.drop_every.unwrap_or(10.0)).max(1),
        }
    }

    /// The config with every default written out that has an effect.
    pub(crate) fn resolved(&self, loss: Loss, monitor: Monitor, batch: Option<usize>) -> Self {
        let mut full = self.clone();
        full.batch = batch;
        full.loss = Some(loss);
        full.monitor = Some(monitor);
        if self.optimizer == OptimizerKind::Sgd {
            full.momentum = Some(self.momentum.unwrap_or(0.0));
        } else {
            let adam = self.adam();
            full.beta_1 = Some(adam.beta_1);
            full.beta_2 = Some(adam.beta_2);
            full.epsilon = Some(adam.epsilon);
        }
        match self.rule() {
            Rule::Adam { weight_decay, .. } if self.optimizer == OptimizerKind::AdamW => {
                full.weight_decay = Some(weight_decay);
            }
            Rule::Sgd { weight_decay, .. } => full.weight_decay = Some(weight_decay),
            Rule::Adam { .. } => {}
        }
        full.linear_patience = self.linear_start.map(|_| self.linear_patience.unwrap_or(LINEAR_PATIENCE));
        let rates = self.rates(1);
        match self.schedule {
            Schedule::Constant => {}
            Schedule::Step => {
                full.drop = Some(rates.drop);
                full.drop_every = Some(self.drop_every.unwrap_or(10.0));
            }
            _ => full.final_rate = Some(rates.final_rate),
        }
        full
    }
}

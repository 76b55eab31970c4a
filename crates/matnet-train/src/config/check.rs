//! Whether the values of `[train]` make sense, one by one and together.

use matnet::ConfigError;

use super::schedule::Schedule;
use super::train::{ClassWeights, Loss, OptimizerKind, TrainConfig};
use crate::Result;
use crate::error::at;

impl TrainConfig {
    /// Checks every value.
    pub fn check(&self) -> Result<()> {
        self.checked().map_err(at("train"))
    }

    fn checked(&self) -> Result<(), ConfigError> {
        let wrong = |key: &str, value: String, expected: &str| Err(ConfigError::new(key, value, expected));
        let counts =
            [("epochs", Some(self.epochs)), ("batch_size", self.batch_size), ("shards", Some(self.shards))];
        for (key, value) in counts {
            if value == Some(0) {
                return wrong(key, "0".to_owned(), "must be at least 1");
            }
        }
        let positive = [
            ("learning_rate", Some(self.learning_rate)),
            ("min_learning_rate", self.min_learning_rate),
            ("grad_clip_norm", self.grad_clip_norm),
            ("grad_clip_norm_per_param", self.grad_clip_norm_per_param),
            ("step_size", self.step_size),
            ("restart_epochs", self.restart_epochs),
            ("huber_delta", self.huber_delta),
        ];
        for (key, value) in positive {
            if let Some(value) = value.filter(|value| !(*value > 0.0 && value.is_finite())) {
                return wrong(key, value.to_string(), "must be a number above 0");
            }
        }
        for (word, factor) in &self.learning_rate_multipliers {
            if !(*factor >= 0.0 && factor.is_finite()) {
                let key = format!("learning_rate_multipliers.{word}");
                return wrong(&key, factor.to_string(), "must be a number of at least 0");
            }
        }
        let at_least_0 = [
            ("warmup_epochs", Some(self.warmup_epochs)),
            ("l1", Some(self.l1)),
            ("l2", Some(self.l2)),
            ("weight_decay", self.weight_decay),
        ];
        for (key, value) in at_least_0 {
            if let Some(value) = value.filter(|value| !(*value >= 0.0 && value.is_finite())) {
                return wrong(key, value.to_string(), "must be a number of at least 0");
            }
        }
        if !(0.0..1.0).contains(&self.label_smoothing) {
            let value = self.label_smoothing.to_string();
            return wrong("label_smoothing", value, "must be at least 0 and less than 1");
        }
        let weights: Vec<(String, f64)> = match &self.class_weights {
            None | Some(ClassWeights::Balanced) => Vec::new(),
            Some(ClassWeights::List(weights)) => {
                weights.iter().map(|&weight| ("class_weights".to_owned(), weight)).collect()
            }
            Some(ClassWeights::ByName(weights)) => {
                weights.iter().map(|(name, &weight)| (format!("class_weights.{name}"), weight)).collect()
            }
        };
        if let Some((key, weight)) =
            weights.iter().find(|(_, weight)| !(*weight >= 0.0 && weight.is_finite()))
        {
            return wrong(key, weight.to_string(), "must be a number of at least 0");
        }
        if let Some(momentum) = self.momentum.filter(|momentum| !(0.0..1.0).contains(momentum)) {
            return wrong("momentum", momentum.to_string(), "must be at least 0 and less than 1");
        }
        if let Some(decay) = self.ema_decay.filter(|decay| !(*decay > 0.0 && *decay < 1.0)) {
            return wrong("ema_decay", decay.to_string(), "must be above 0 and less than 1");
        }
        if let Some(gamma) = self.gamma.filter(|gamma| !(*gamma > 0.0 && *gamma <= 1.0)) {
            return wrong("gamma", gamma.to_string(), "must be above 0 and at most 1");
        }
        if self.patience == Some(0) {
            return wrong("patience", "0".to_owned(), "must be at least 1; leave it out to train all epochs");
        }
        if let Some(prefix) = self.regularize_only.as_ref().filter(|_| self.l1 == 0.0 && self.l2 == 0.0) {
            return wrong("regularize_only", prefix.clone(), "only l1 and l2 use it, and both are 0");
        }
        if self.restart_factor == Some(0) {
            return wrong("restart_factor", "0".to_owned(), "must be at least 1");
        }
        self.check_fine_tuning()?;
        self.adam().init().map(|_| ())?;
        self.check_unused()
    }

    fn check_fine_tuning(&self) -> Result<(), ConfigError> {
        let wrong = |key: &str, value: String, expected: &str| Err(ConfigError::new(key, value, expected));
        if self.from.as_deref() == Some("") {
            return wrong("from", "\"\"".to_owned(), "the folder of a run expected");
        }
        if let Some(sum) = self.from_sha256.as_ref().filter(|_| self.from.is_none()) {
            return wrong("from_sha256", sum.clone(), "only train.from uses it");
        }
        let previous = &self.previous_epochs;
        if !previous.is_empty() {
            let value = format!("{previous:?}");
            if !self.schedule.depends_on_total() {
                return wrong(
                    "previous_epochs",
                    value,
                    "only linear, cosine and exponential schedules use it",
                );
            }
            let rising = previous.iter().chain([&self.epochs]).is_sorted_by(|a, b| a < b);
            if !rising || previous[0] == 0 {
                return wrong("previous_epochs", value, "rising numbers below train.epochs expected");
            }
        }
        Ok(())
    }

    /// A key without effect is a mistake.
    fn check_unused(&self) -> Result<(), ConfigError> {
        use OptimizerKind::{Adam, AdamW, Sgd};
        let (adams, decays) = (&[Adam, AdamW][..], &[AdamW, Sgd][..]);
        for (key, value, optimizers, users) in [
            ("beta_1", self.beta_1, adams, "adam and adamw use it"),
            ("beta_2", self.beta_2, adams, "adam and adamw use it"),
            ("epsilon", self.epsilon, adams, "adam and adamw use it"),
            ("momentum", self.momentum, &[Sgd][..], "sgd uses it"),
            ("weight_decay", self.weight_decay, decays, "adamw and sgd use it"),
        ] {
            if let Some(value) = value.filter(|_| !optimizers.contains(&self.optimizer)) {
                return Err(ConfigError::new(key, value.to_string(), format!("only {users}")));
            }
        }
        if let Some(delta) = self.huber_delta.filter(|_| self.loss != Some(Loss::Huber)) {
            return Err(ConfigError::new(
                "huber_delta",
                delta.to_string(),
                "only the loss \"huber\" uses it",
            ));
        }
        use Schedule::{Cosine, CosineRestarts, Exponential, Linear, Step};
        let falling = &[Linear, Cosine, CosineRestarts, Exponential][..];
        let restarting = (&[CosineRestarts][..], "the cosine-restarts schedule uses it");
        for (key, value, schedules, users) in [
            (
                "min_learning_rate",
                self.min_learning_rate,
                falling,
                "linear, cosine, cosine-restarts and exponential schedules use it",
            ),
            ("gamma", self.gamma, &[Step][..], "the step schedule uses it"),
            ("step_size", self.step_size, &[Step][..], "the step schedule uses it"),
            ("restart_epochs", self.restart_epochs, restarting.0, restarting.1),
            ("restart_factor", self.restart_factor.map(|factor| factor as f64), restarting.0, restarting.1),
        ] {
            if let Some(value) = value.filter(|_| !schedules.contains(&self.schedule)) {
                return Err(ConfigError::new(key, value.to_string(), format!("only {users}")));
            }
        }
        Ok(())
    }
}

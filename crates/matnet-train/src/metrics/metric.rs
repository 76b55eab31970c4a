//! The metrics by name, and a value for some of them.

use serde::de::{MapAccess, Visitor};
use serde::ser::SerializeMap;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::number::Number;

/// What can be said of predictions in one number. `train.monitor` takes any of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Metric {
    /// The mean loss.
    Loss,
    /// The error rate: the share of wrong predictions.
    Error,
    /// The share of right predictions.
    Accuracy,
    /// The mean of the classes' recalls.
    BalancedAccuracy,
    /// The mean of the F1 scores of the classes or labels (macro).
    F1,
    /// The F1 score of all classes or labels counted together.
    F1Micro,
    /// The mean of the F1 scores, weighted by support.
    F1Weighted,
    /// The area under the ROC curve: of the second of two classes, else the mean over one-versus-rest.
    Auc,
    /// The average precision: of the second of two classes, else the mean over one-versus-rest.
    AveragePrecision,
    /// The mean of −log p of the target class, with p clipped as in scikit-learn.
    LogLoss,
    /// Cohen's κ.
    Kappa,
    /// Several labels at once: the share of examples whose labels are all right.
    ExactMatch,
    /// The mean absolute error, averaged over the targets.
    Mae,
    /// The root mean squared error, averaged over the targets.
    Rmse,
    /// R², averaged over the targets.
    R2,
}

impl Metric {
    /// All metrics, in the order in which they are listed.
    pub const ALL: [Self; 15] = [
        Self::Loss,
        Self::Error,
        Self::Accuracy,
        Self::BalancedAccuracy,
        Self::F1,
        Self::F1Micro,
        Self::F1Weighted,
        Self::Auc,
        Self::AveragePrecision,
        Self::LogLoss,
        Self::Kappa,
        Self::ExactMatch,
        Self::Mae,
        Self::Rmse,
        Self::R2,
    ];

    /// The name in configs.
    pub fn name(self) -> &'static str {
        self.names()[0]
    }

    /// The name in files: a column of `metrics.csv`, a key of `result.json`.
    pub fn key(self) -> &'static str {
        self.names()[1]
    }

    /// What tables and charts call it.
    pub fn title(self) -> &'static str {
        self.names()[2]
    }

    fn names(self) -> [&'static str; 3] {
        match self {
            Self::Loss => ["loss", "loss", "loss"],
            Self::Error => ["error", "error", "error"],
            Self::Accuracy => ["accuracy", "accuracy", "accuracy"],
            Self::BalancedAccuracy => ["balanced-accuracy", "balanced_accuracy", "balanced accuracy"],
            Self::F1 => ["f1", "f1", "F1 (macro)"],
            Self::F1Micro => ["f1-micro", "f1_micro", "F1 (micro)"],
            Self::F1Weighted => ["f1-weighted", "f1_weighted", "F1 (weighted)"],
            Self::Auc => ["auc", "auc", "ROC AUC"],
            Self::AveragePrecision => ["average-precision", "average_precision", "average precision"],
            Self::LogLoss => ["log-loss", "log_loss", "log loss"],
            Self::Kappa => ["kappa", "kappa", "Cohen's kappa"],
            Self::ExactMatch => ["exact-match", "exact_match", "exact match"],
            Self::Mae => ["mae", "mae", "MAE"],
            Self::Rmse => ["rmse", "rmse", "RMSE"],
            Self::R2 => ["r2", "r2", "R²"],
        }
    }

    /// The metric with this key.
    pub fn from_key(key: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|metric| metric.key() == key)
    }

    /// Whether lower is better.
    pub fn lower_is_better(self) -> bool {
        matches!(self, Self::Loss | Self::Error | Self::LogLoss | Self::Mae | Self::Rmse)
    }

    /// ↓ where lower is better, else ↑.
    pub fn arrow(self) -> char {
        if self.lower_is_better() { '↓' } else { '↑' }
    }
}

/// The value of every metric that is known, except loss and error rate, which each task computes itself.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct MetricValues([Option<f64>; Metric::ALL.len()]);

impl MetricValues {
    /// The value of a metric.
    pub fn get(&self, metric: Metric) -> Option<f64> {
        self.0[metric as usize]
    }

    /// Sets the value of a metric.
    pub fn set(&mut self, metric: Metric, value: f64) {
        self.0[metric as usize] = Some(value);
    }

    /// The known metrics with their values, in the order of [`Metric::ALL`].
    pub fn iter(&self) -> impl Iterator<Item = (Metric, f64)> {
        Metric::ALL.into_iter().filter_map(|metric| Some((metric, self.get(metric)?)))
    }
}

impl Serialize for MetricValues {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        for (metric, value) in self.iter() {
            map.serialize_entry(metric.key(), &Number(value))?;
        }
        map.end()
    }
}

/// Other keys are left alone: the values stand among those of a score.
impl<'de> Deserialize<'de> for MetricValues {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Values;
        impl<'de> Visitor<'de> for Values {
            type Value = MetricValues;

            fn expecting(&self, formatter: &mut std::fmt::Formatter) -> std::fmt::Result {
                formatter.write_str("metrics by name")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<MetricValues, A::Error> {
                let mut values = MetricValues::default();
                while let Some(key) = map.next_key::<String>()? {
                    match Metric::from_key(&key) {
                        Some(metric) => values.set(metric, map.next_value::<Number>()?.0),
                        None => drop(map.next_value::<serde::de::IgnoredAny>()?),
                    }
                }
                Ok(values)
            }
        }
        deserializer.deserialize_map(Values)
    }
}

/// Why a metric has no value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Undefined {
    /// There are no examples, or all have weight 0.
    NoExamples,
    /// Every target is the same class; for several labels: each label applies always or never.
    OneClass,
    /// No example has the label.
    NoPositives,
    /// Neither targets nor predictions have the label.
    NeverUsed,
    /// Targets and predictions are all the same class, so that agreement by chance is perfect, too.
    PerfectByChance,
    /// Every target is the same value.
    ConstantTargets,
    /// The net gives numbers that are not finite.
    NotFinite,
}

impl std::fmt::Display for Undefined {
    fn fmt(&self, formatter: &mut std::fmt::Formatter) -> std::fmt::Result {
        formatter.write_str(match self {
            Self::NoExamples => "no examples",
            Self::OneClass => "only one class among the targets",
            Self::NoPositives => "no example has the label",
            Self::NeverUsed => "the label is neither a target nor predicted",
            Self::PerfectByChance => "one class only, among targets and predictions",
            Self::ConstantTargets => "the targets are constant",
            Self::NotFinite => "the net's outputs are not finite",
        })
    }
}

/// The value of a metric, or why it has none.
pub type MetricResult = Result<f64, Undefined>;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_those_of_the_config() {
        for (at, metric) in Metric::ALL.into_iter().enumerate() {
            assert_eq!(metric as usize, at);
            assert_eq!(serde_json::to_value(metric).unwrap(), metric.name());
            assert_eq!(metric.key(), metric.name().replace('-', "_"));
            assert_eq!(Metric::from_key(metric.key()), Some(metric));
        }
    }

    #[test]
    fn values_survive_json_among_other_keys() {
        let mut values = MetricValues::default();
        values.set(Metric::Auc, 0.1 + 0.2);
        values.set(Metric::F1, 1.0);
        let text = serde_json::to_string(&values).unwrap();
        assert_eq!(text, r#"{"f1":1.0,"auc":0.30000000000000004}"#);
        let more = text.replace('{', r#"{"other":[1],"#);
        assert_eq!(serde_json::from_str::<MetricValues>(&more).unwrap(), values);
    }
}

//! Targets and predictions of a split, and every metric of them.

use serde::Serialize;

use super::{
    CalibrationBin, ClassWeights, LabelWeights, Metric, MetricResult, MetricValues, Ranking, Undefined,
    ValueErrors, calibration, log_loss, mean_defined,
};

/// What examples should give, or what a net says that they do; row by row.
#[derive(Clone, Debug, PartialEq)]
pub enum Targets {
    /// A class per row.
    Classes(Vec<u32>),
    /// Numbers `[rows, width]`, in the units of the data.
    Values(Vec<f32>),
    /// Whether each label applies, `[rows, width]`.
    MultiLabels(Vec<bool>),
}

impl Targets {
    /// The metrics of this kind of targets, in the order in which they are listed.
    pub fn metrics(&self) -> &'static [Metric] {
        use Metric::*;
        match self {
            Self::Classes(_) => {
                &[Accuracy, BalancedAccuracy, F1, F1Micro, F1Weighted, Auc, AveragePrecision, LogLoss, Kappa]
            }
            Self::Values(_) => &[Mae, Rmse, R2],
            Self::MultiLabels(_) => &[ExactMatch, F1, F1Micro, F1Weighted, Auc, AveragePrecision],
        }
    }

    /// The few of them that every line of `metrics.csv` has, where rows have so many names of classes or targets.
    pub(crate) fn main_metrics(&self, names: usize) -> &'static [Metric] {
        use Metric::*;
        match self {
            // With two classes one sort is enough.
            Self::Classes(_) if names == 2 => &[BalancedAccuracy, F1, Auc],
            Self::Classes(_) => &[BalancedAccuracy, F1],
            Self::Values(_) => &[Mae, Rmse, R2],
            Self::MultiLabels(_) => &[ExactMatch, F1, F1Micro],
        }
    }

    /// Why a metric is undefined for these targets, whatever is predicted. Rows have so many values or labels.
    pub fn undefined(&self, metric: Metric, width: usize) -> Option<Undefined> {
        let column =
            |at: usize, targets: &[bool]| targets.iter().skip(at).step_by(width.max(1)).copied().collect();
        match (self, metric) {
            (Self::Classes(targets), _) if targets.is_empty() => Some(Undefined::NoExamples),
            (Self::Classes(targets), Metric::Auc) => {
                targets.iter().all(|target| *target == targets[0]).then_some(Undefined::OneClass)
            }
            (Self::Classes(targets), Metric::AveragePrecision) if width == 2 => {
                (!targets.contains(&1)).then_some(Undefined::NoPositives)
            }
            (Self::Values(targets), Metric::R2) => {
                let constant = |at: usize| {
                    let mut column = targets.iter().skip(at).step_by(width.max(1));
                    let first = column.next();
                    column.all(|target| Some(target) == first)
                };
                (0..width).all(constant).then_some(Undefined::ConstantTargets)
            }
            (Self::MultiLabels(targets), Metric::Auc | Metric::AveragePrecision) => {
                let auc = metric == Metric::Auc;
                let undefined = |at: usize| {
                    let column: Vec<bool> = column(at, targets);
                    !column.contains(&true) || (auc && !column.contains(&false))
                };
                let reason = if auc { Undefined::OneClass } else { Undefined::NoPositives };
                (0..width).all(undefined).then_some(reason)
            }
            _ => None,
        }
    }

    /// None of this kind.
    fn none(&self) -> Self {
        match self {
            Self::Classes(_) => Self::Classes(Vec::new()),
            Self::Values(_) => Self::Values(Vec::new()),
            Self::MultiLabels(_) => Self::MultiLabels(Vec::new()),
        }
    }

    fn append(&mut self, more: Self) {
        match (self, more) {
            (Self::Classes(all), Self::Classes(more)) => all.extend(more),
            (Self::Values(all), Self::Values(more)) => all.extend(more),
            (Self::MultiLabels(all), Self::MultiLabels(more)) => all.extend(more),
            _ => unreachable!("a task has one kind of targets"),
        }
    }

    /// The rows, which hold so many values or labels.
    fn rows(&self, width: usize) -> usize {
        match self {
            Self::Classes(classes) => classes.len(),
            Self::Values(values) => values.len() / width.max(1),
            Self::MultiLabels(labels) => labels.len() / width.max(1),
        }
    }
}

/// Targets and predictions of some examples: what metrics and curves are computed from.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcomes {
    names: Vec<String>,
    targets: Targets,
    predicted: Targets,
    probabilities: Vec<f32>,
    weights: Option<Vec<f32>>,
}

/// The metrics of one class, or of one of several labels.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PerClass {
    /// Its name.
    pub name: String,
    /// Examples that have it.
    pub support: u64,
    /// Examples that have it and are predicted to.
    pub correct: u64,
    /// Examples that are predicted to have it.
    pub predicted: u64,
    /// correct / predicted, weighted.
    pub precision: Option<f64>,
    /// correct / support, weighted.
    pub recall: Option<f64>,
    /// The F1 score.
    pub f1: Option<f64>,
    /// The area under the ROC curve, against the rest.
    pub auc: Option<f64>,
    /// The average precision, against the rest.
    pub average_precision: Option<f64>,
}

/// The metrics of one of the targets of a regression.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PerValue {
    /// Its name.
    pub name: String,
    /// The mean absolute error.
    pub mae: Option<f64>,
    /// The root mean squared error.
    pub rmse: Option<f64>,
    /// R².
    pub r2: Option<f64>,
}

impl Outcomes {
    /// No examples yet: `names` are those of the classes, values or labels, `kind` any targets of their kind.
    pub fn new(names: Vec<String>, kind: &Targets) -> Self {
        let (targets, predicted) = (kind.none(), kind.none());
        Self { names, targets, predicted, probabilities: Vec::new(), weights: None }
    }

    /// Adds a batch: targets, what is predicted, the probability of each class or label `[rows, width]` (none for values),
    /// and a weight per row, unless all have the same.
    pub fn add(
        &mut self,
        targets: Targets,
        predicted: Targets,
        probabilities: Vec<f32>,
        weights: Option<Vec<f32>>,
    ) {
        let (before, added) = (self.rows(), targets.rows(self.width()));
        if let Some(weights) = weights {
            self.weights.get_or_insert_with(|| vec![1.0; before]).extend(weights);
        } else if let Some(all) = &mut self.weights {
            all.extend(std::iter::repeat_n(1.0, added));
        }
        self.targets.append(targets);
        self.predicted.append(predicted);
        self.probabilities.extend(probabilities);
    }

    /// The names of the classes, values or labels.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// Classes, values or labels per row.
    pub fn width(&self) -> usize {
        self.names.len()
    }

    /// Examples; steps, where every step has a target.
    pub fn rows(&self) -> usize {
        self.targets.rows(self.width())
    }

    /// The targets.
    pub fn targets(&self) -> &Targets {
        &self.targets
    }

    /// What is predicted.
    pub fn predicted(&self) -> &Targets {
        &self.predicted
    }

    /// The probability of each class or label, `[rows, width]`; empty for values.
    pub fn probabilities(&self) -> &[f32] {
        &self.probabilities
    }

    /// Whether rows have weights of their own.
    pub fn is_weighted(&self) -> bool {
        self.weights.is_some()
    }

    fn weights(&self) -> Option<&[f32]> {
        self.weights.as_deref()
    }

    /// The first row whose outputs are not finite.
    pub fn first_not_finite(&self) -> Option<usize> {
        let outputs = match &self.predicted {
            Targets::Values(values) => values,
            _ => &self.probabilities,
        };
        let at = outputs.iter().position(|value| !value.is_finite())?;
        Some(at / (outputs.len() / self.rows()))
    }

    fn finite(&self) -> bool {
        self.first_not_finite().is_none()
    }

    /// The ranking of the rows by the probability of a class or label; `None` for values.
    pub fn ranking(&self, class: usize) -> Option<Ranking> {
        let width = self.width();
        let scores = self.probabilities.iter().skip(class).step_by(width).copied();
        match &self.targets {
            Targets::Classes(targets) => {
                let positive = targets.iter().map(|&target| target as usize == class);
                Some(Ranking::new(positive, scores, self.weights()))
            }
            Targets::MultiLabels(targets) => {
                let positive = targets.iter().skip(class).step_by(width).copied();
                Some(Ranking::new(positive, scores, self.weights()))
            }
            Targets::Values(_) => None,
        }
    }

    /// Of two classes: how often the second came true; of more: how often the predicted one did. For several labels: all of
    /// them together. `None` for values.
    pub fn calibration(&self, bins: usize) -> Option<Vec<CalibrationBin>> {
        let width = self.width();
        match (&self.targets, &self.predicted) {
            (Targets::Classes(targets), Targets::Classes(predicted)) => {
                let of = |at: usize| if width == 2 { 1 } else { predicted[at] };
                let came_true = (0..targets.len()).map(|at| targets[at] == of(at));
                let probability =
                    (0..targets.len()).map(|at| self.probabilities[at * width + of(at) as usize]);
                Some(calibration(came_true, probability, self.weights(), bins))
            }
            (Targets::MultiLabels(targets), _) => {
                let weights = self.weights().map(|weights| {
                    weights
                        .iter()
                        .flat_map(|&weight| std::iter::repeat_n(weight, width))
                        .collect::<Vec<f32>>()
                });
                let (targets, probabilities) = (targets.iter().copied(), self.probabilities.iter().copied());
                Some(calibration(targets, probabilities, weights.as_deref(), bins))
            }
            _ => None,
        }
    }

    /// The wanted metrics that are defined, and why the others are not.
    pub fn metrics(&self, wanted: &[Metric]) -> (MetricValues, Vec<(Metric, Undefined)>) {
        let (mut values, mut undefined) = (MetricValues::default(), Vec::new());
        let (counts, finite) = (Counts::of(self), self.finite());
        for &metric in wanted.iter().filter(|metric| self.targets.metrics().contains(metric)) {
            let value = if finite { self.metric(metric, &counts) } else { Some(Err(Undefined::NotFinite)) };
            match value {
                Some(Ok(value)) => values.set(metric, value),
                Some(Err(reason)) => undefined.push((metric, reason)),
                None => {}
            }
        }
        (values, undefined)
    }

    /// A metric, if this kind of targets has it.
    fn metric(&self, metric: Metric, counts: &Counts) -> Option<MetricResult> {
        Some(match (counts, metric) {
            (_, Metric::Auc) => self.over_rankings(Ranking::auc),
            (_, Metric::AveragePrecision) => self.over_rankings(Ranking::average_precision),
            (Counts::Classes(classes), _) => match metric {
                Metric::Accuracy => classes.accuracy(),
                Metric::BalancedAccuracy => classes.balanced_accuracy(),
                Metric::F1 => classes.f1_macro(),
                Metric::F1Micro => classes.f1_micro(),
                Metric::F1Weighted => classes.f1_weighted(),
                Metric::LogLoss => match &self.targets {
                    Targets::Classes(targets) => {
                        log_loss(self.width(), targets, &self.probabilities, self.weights())
                    }
                    _ => return None,
                },
                Metric::Kappa => classes.kappa(),
                _ => return None,
            },
            (Counts::Values(values), _) => match metric {
                Metric::Mae => values.mae(),
                Metric::Rmse => values.rmse(),
                Metric::R2 => values.r2(),
                _ => return None,
            },
            (Counts::Labels(labels), _) => match metric {
                Metric::ExactMatch => labels.exact_match(),
                Metric::F1 => labels.f1_macro(),
                Metric::F1Micro => labels.f1_micro(),
                Metric::F1Weighted => labels.f1_weighted(),
                _ => return None,
            },
        })
    }

    /// Of the second of two classes; else the mean over all classes or labels for which it is defined.
    fn over_rankings(&self, of: impl Fn(&Ranking) -> MetricResult) -> MetricResult {
        let one =
            |class: usize| self.ranking(class).map_or(Err(Undefined::NoExamples), |ranking| of(&ranking));
        match (&self.targets, self.width()) {
            (Targets::Classes(_), 2) => one(1),
            (_, width) => mean_defined((0..width).map(one)),
        }
    }

    /// The metrics of every class or label; empty for values.
    pub fn per_class(&self) -> Vec<PerClass> {
        let width = self.width();
        let counts = Counts::of(self);
        let finite = self.finite();
        let one = |class: usize| {
            let (f1, precision, recall) = match &counts {
                Counts::Classes(classes) => {
                    (classes.f1_of(class), classes.precision_of(class), classes.recall_of(class))
                }
                Counts::Labels(labels) => {
                    (labels.f1_of(class), labels.precision_of(class), labels.recall_of(class))
                }
                Counts::Values(_) => return None,
            };
            let (has, says) = (self.targets.has(class, width), self.predicted.has(class, width));
            let count = |flags: &mut dyn Iterator<Item = bool>| flags.filter(|flag| *flag).count() as u64;
            let ranking = self.ranking(class).filter(|_| finite);
            Some(PerClass {
                name: self.names[class].clone(),
                support: count(&mut has.iter().copied()),
                correct: count(&mut has.iter().zip(&says).map(|(has, says)| *has && *says)),
                predicted: count(&mut says.iter().copied()),
                precision: precision.ok(),
                recall: recall.ok(),
                f1: f1.ok(),
                auc: ranking.as_ref().and_then(|ranking| ranking.auc().ok()),
                average_precision: ranking.as_ref().and_then(|ranking| ranking.average_precision().ok()),
            })
        };
        (0..width).filter_map(one).collect()
    }

    /// The metrics of every target of a regression; else empty.
    pub fn per_value(&self) -> Vec<PerValue> {
        let Counts::Values(values) = Counts::of(self) else { return Vec::new() };
        let finite = self.finite();
        let of = |value: MetricResult| value.ok().filter(|_| finite);
        let names = self.names.iter().enumerate();
        names
            .map(|(target, name)| PerValue {
                name: name.clone(),
                mae: of(values.mae_of(target)),
                rmse: of(values.rmse_of(target)),
                r2: of(values.r2_of(target)),
            })
            .collect()
    }
}

impl Targets {
    /// Which rows have a class or label.
    fn has(&self, class: usize, width: usize) -> Vec<bool> {
        match self {
            Self::Classes(classes) => classes.iter().map(|&of| of as usize == class).collect(),
            Self::MultiLabels(labels) => labels.iter().skip(class).step_by(width).copied().collect(),
            Self::Values(_) => Vec::new(),
        }
    }
}

/// What most metrics follow from, counted once.
enum Counts {
    Classes(ClassWeights),
    Values(ValueErrors),
    Labels(LabelWeights),
}

impl Counts {
    fn of(outcomes: &Outcomes) -> Self {
        let (width, weights) = (outcomes.width(), outcomes.weights());
        match (&outcomes.targets, &outcomes.predicted) {
            (Targets::Classes(targets), Targets::Classes(predicted)) => {
                Self::Classes(ClassWeights::new(width, targets, predicted, weights))
            }
            (Targets::Values(targets), Targets::Values(predicted)) => {
                Self::Values(ValueErrors::new(width, targets, predicted, weights))
            }
            (Targets::MultiLabels(targets), Targets::MultiLabels(predicted)) => {
                Self::Labels(LabelWeights::new(width, targets, predicted, weights))
            }
            _ => unreachable!("predictions are of the kind of the targets"),
        }
    }
}

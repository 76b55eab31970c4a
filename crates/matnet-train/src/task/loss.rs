//! Losses, written once for all tasks.
//!
//! A loss is a weighted mean. Each row (an example, or a step of one) has a weight, which is that of its sample times that of
//! its class. The sum of weighted losses is divided by the sum of the weights, as PyTorch's `CrossEntropyLoss(weight=…)` and
//! scikit-learn's `sample_weight` do. Without weights it is the plain mean.

use std::collections::BTreeMap;

use burn::tensor::activation::log_softmax;
use burn::tensor::{Int, Tensor, TensorData};

use crate::config::{ClassWeights, Loss, TrainConfig, shown};
use crate::{Error, Result};

/// A mean, and the sum of the weights that it was divided by.
pub(crate) struct WeightedMean {
    pub mean: Tensor<1>,
    pub weight: f64,
}

/// What a config says about classes or labels in the loss: their weights, and label smoothing.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct ClassLoss {
    /// A weight per class. For several labels: the weight of the examples that have a label, PyTorch's `pos_weight`.
    pub weights: Option<Vec<f32>>,
    /// ε: so much of the probability is spread over all classes.
    pub smoothing: f64,
}

impl ClassLoss {
    /// Of classes with these names. The training examples count with their weights, as in scikit-learn's
    /// `compute_class_weight(…, sample_weight=…)`.
    pub fn of_classes(train: &TrainConfig, names: &[String], counts: &[f64]) -> Result<Self> {
        let total: f64 = counts.iter().sum();
        let present = counts.iter().filter(|&&count| count > 0.0).count() as f64;
        Self::new(train, names, counts.iter().map(|count| total / (present * count)))
    }

    /// Of labels with these names. `counts` are the training examples without and with each label, by their weights.
    pub fn of_labels(train: &TrainConfig, names: &[String], counts: &[[f64; 2]]) -> Result<Self> {
        Self::new(train, names, counts.iter().map(|[without, with]| without / with))
    }

    fn new(train: &TrainConfig, names: &[String], balanced: impl Iterator<Item = f64>) -> Result<Self> {
        let weights = match &train.class_weights {
            None => None,
            // A class without training examples has nothing to balance, nor has a label that all of them have.
            Some(ClassWeights::Balanced) => {
                Some(balanced.map(|weight| if weight.is_normal() { weight as f32 } else { 1.0 }).collect())
            }
            Some(ClassWeights::List(weights)) if weights.len() != names.len() => {
                let (have, want) = (weights.len(), names.len());
                let (value, expected) =
                    (format!("{have} numbers"), format!("one for each of {want} classes"));
                return Err(Error::config("train", "class_weights", value, expected));
            }
            Some(ClassWeights::List(weights)) => Some(weights.iter().map(|&weight| weight as f32).collect()),
            Some(ClassWeights::ByName(weights)) => Some(by_name(weights, names).map_err(|name| {
                let known = names.iter().take(12).map(String::as_str).collect::<Vec<_>>().join(", ");
                let expected = format!("there is no such class; the classes are {known}");
                Error::config("train", format!("class_weights.{name}"), weights[&name].to_string(), expected)
            })?),
        };
        Ok(Self { weights, smoothing: train.label_smoothing })
    }

    /// Fails if the config weighs or smooths classes where there are none.
    pub fn refuse(train: &TrainConfig, why: &str) -> Result<()> {
        if let Some(weights) = &train.class_weights {
            return Err(Error::config("train", "class_weights", shown(weights), why));
        }
        if train.label_smoothing > 0.0 {
            return Err(Error::config("train", "label_smoothing", train.label_smoothing.to_string(), why));
        }
        Ok(())
    }

    fn weight(&self, class: usize) -> f64 {
        self.weights.as_ref().map_or(1.0, |weights| f64::from(weights[class]))
    }

    fn is_plain(&self) -> bool {
        self.weights.is_none() && self.smoothing == 0.0
    }
}

/// Weights by name; those without one are 1. Fails with the name of a class that does not exist.
fn by_name(weights: &BTreeMap<String, f64>, names: &[String]) -> Result<Vec<f32>, String> {
    if let Some(name) = weights.keys().find(|name| !names.contains(name)) {
        return Err(name.clone());
    }
    Ok(names.iter().map(|name| weights.get(name).map_or(1.0, |&weight| weight as f32)).collect())
}

/// −log p of the target class, for scores `[rows, classes]`; a single score is the logit of class 1.
///
/// With smoothing ε and class weights w, a row of class y loses (1 − ε)·w_y·(−log p_y) + ε/C · Σ_c w_c·(−log p_c), and weighs
/// w_y, as in PyTorch. `rows` are the weights of the rows.
pub(crate) fn cross_entropy(
    scores: Tensor<2>,
    classes: &[u32],
    loss: &ClassLoss,
    rows: Option<&[f32]>,
) -> WeightedMean {
    let [count, width] = scores.dims();
    let device = scores.device();
    if loss.is_plain() && rows.is_none() {
        let weight = count as f64;
        if width == 1 {
            let targets: Vec<f32> = classes.iter().map(|&class| class as f32).collect();
            let targets = numbers(targets, [count], &scores);
            return WeightedMean {
                mean: binary_cross_entropy(scores.reshape([count]), targets).mean(),
                weight,
            };
        }
        let classes: Vec<i64> = classes.iter().map(|&class| i64::from(class)).collect();
        let classes = Tensor::<2, Int>::from_data(TensorData::new(classes, [count, 1]), &device);
        return WeightedMean { mean: -log_softmax(scores, 1).gather(1, classes).mean(), weight };
    }
    let log_probabilities = match width {
        // −log p of both classes, from one logit.
        1 => -Tensor::cat(vec![softplus(scores.clone()), softplus(-scores)], 1),
        _ => log_softmax(scores, 1),
    };
    let all = width.max(2);
    let (mut shares, mut total) = (Vec::with_capacity(count * all), 0.0);
    for (row, &class) in classes.iter().enumerate() {
        let weight = rows.map_or(1.0, |rows| f64::from(rows[row]));
        total += weight * loss.weight(class as usize);
        shares.extend((0..all).map(|other| {
            let target = if other == class as usize { 1.0 - loss.smoothing } else { 0.0 };
            (weight * loss.weight(other) * (target + loss.smoothing / all as f64)) as f32
        }));
    }
    let shares = numbers(shares, [count, all], &log_probabilities);
    WeightedMean { mean: -(log_probabilities * shares).sum() / divisor(total), weight: total }
}

/// The binary cross-entropy of logits `[rows, labels]`, for several labels at once: the mean over the labels.
///
/// With smoothing ε a label is 1 − ε/2 or ε/2. A label that applies counts as often as its weight says.
pub(crate) fn label_cross_entropy(
    logits: Tensor<2>,
    flags: &[bool],
    loss: &ClassLoss,
    rows: Option<&[f32]>,
) -> WeightedMean {
    let dims = logits.dims();
    let target = |flag: bool| if flag { 1.0 - loss.smoothing / 2.0 } else { loss.smoothing / 2.0 };
    let losses = match &loss.weights {
        None => {
            let targets = numbers(flags.iter().map(|&flag| target(flag) as f32).collect(), dims, &logits);
            binary_cross_entropy(logits, targets)
        }
        Some(_) => {
            let weight = |at: usize| loss.weight(at % dims[1]);
            let applies =
                flags.iter().enumerate().map(|(at, &flag)| (weight(at) * target(flag)) as f32).collect();
            let not = flags.iter().map(|&flag| (1.0 - target(flag)) as f32).collect();
            let (applies, not) = (numbers(applies, dims, &logits), numbers(not, dims, &logits));
            softplus(-logits.clone()) * applies + softplus(logits) * not
        }
    };
    weighted_mean(losses, rows)
}

/// The loss of every entry of an output.
pub(crate) fn entry_losses<const D: usize>(
    loss: Loss,
    huber_delta: f64,
    output: Tensor<D>,
    targets: Tensor<D>,
) -> Tensor<D> {
    match loss {
        Loss::Mae => (output - targets).abs(),
        Loss::Bce => binary_cross_entropy(output, targets),
        Loss::Huber => {
            let distance = (output - targets).abs();
            let near = distance.clone().clamp_max(huber_delta);
            near.clone().square() * 0.5 + (distance - near) * huber_delta
        }
        Loss::Mse | Loss::CrossEntropy => (output - targets).square(),
    }
}

/// The mean of losses `[rows, …]`, each row with its weight.
pub(crate) fn weighted_mean<const D: usize>(losses: Tensor<D>, rows: Option<&[f32]>) -> WeightedMean {
    let count = losses.dims()[0];
    let Some(weights) = rows else {
        return WeightedMean { mean: losses.mean(), weight: count as f64 };
    };
    let size = losses.shape().num_elements() / count.max(1);
    let per_row = losses.reshape([count, size]).mean_dim(1);
    let total: f64 = weights.iter().map(|&weight| f64::from(weight)).sum();
    let weights = numbers(weights.to_vec(), [count, 1], &per_row);
    WeightedMean { mean: (per_row * weights).sum() / divisor(total), weight: total }
}

/// The mean of losses `[rows, …]`, each entry with its weight. A row weighs as much as its entries do in the mean.
pub(crate) fn entry_weighted_mean<const D: usize>(losses: Tensor<D>, weights: Vec<f32>) -> WeightedMean {
    let dims = losses.dims();
    let total: f64 = weights.iter().map(|&weight| f64::from(weight)).sum();
    let size = weights.len() as f64 / dims[0].max(1) as f64;
    let weights = numbers(weights, dims, &losses);
    WeightedMean { mean: (losses * weights).sum() / divisor(total), weight: total / size.max(1.0) }
}

/// max(x, 0) − x·y + log(1 + e^−|x|): the binary cross-entropy of σ(x), without its overflow.
pub(crate) fn binary_cross_entropy<const D: usize>(logits: Tensor<D>, targets: Tensor<D>) -> Tensor<D> {
    let tail = (-logits.clone().abs()).exp().log1p();
    logits.clone().clamp_min(0.0) - logits * targets + tail
}

/// log(1 + eˣ), without its overflow.
fn softplus<const D: usize>(x: Tensor<D>) -> Tensor<D> {
    let tail = (-x.clone().abs()).exp().log1p();
    x.clamp_min(0.0) + tail
}

/// Weights that are all 0 make a loss of 0.
fn divisor(total: f64) -> f64 {
    if total > 0.0 { total } else { 1.0 }
}

/// A tensor of the same type and on the same device as another.
fn numbers<const D: usize, const E: usize>(
    values: Vec<f32>,
    shape: [usize; D],
    like: &Tensor<E>,
) -> Tensor<D> {
    Tensor::from_data(TensorData::new(values, shape), (&like.device(), like.dtype()))
}

#[cfg(test)]
mod tests {
    use burn::tensor::{DType, Device};

    use super::*;

    fn f64_tensor<const D: usize>(values: &[f64], shape: [usize; D]) -> Tensor<D> {
        Tensor::from_data(TensorData::new(values.to_vec(), shape), (&Device::flex().autodiff(), DType::F64))
    }

    fn scalar(loss: &Tensor<1>) -> f64 {
        loss.clone().cast(DType::F64).into_data().as_slice::<f64>().unwrap()[0]
    }

    /// The value of a loss, after its gradient was held against the numeric one.
    fn checked(at: &[f64], shape: [usize; 2], loss: impl Fn(Tensor<2>) -> WeightedMean) -> (f64, f64) {
        let leaf = f64_tensor(at, shape).require_grad();
        let found = loss(leaf.clone());
        let gradients = found.mean.backward();
        let gradient = leaf.grad(&gradients).unwrap().into_data();
        let gradient = gradient.as_slice::<f64>().unwrap();
        for (place, analytic) in gradient.iter().enumerate() {
            let moved = |by: f64| {
                let mut at = at.to_vec();
                at[place] += by;
                scalar(&loss(f64_tensor(&at, shape)).mean)
            };
            let numeric = (moved(1e-5) - moved(-1e-5)) / 2e-5;
            assert!((numeric - analytic).abs() < 1e-6, "entry {place}: {analytic}, numeric {numeric}");
        }
        (scalar(&found.mean), found.weight)
    }

    fn near(found: (f64, f64), mean: f64, weight: f64) {
        assert!((found.0 - mean).abs() < 1e-6 && (found.1 - weight).abs() < 1e-6, "{found:?}");
    }

    const SCORES: [f64; 12] = [0.3, -1.2, 2.0, 1.5, 0.1, -0.4, -2.2, 0.9, 0.8, 3.0, -0.7, 0.2];
    const WEIGHTS: [f32; 3] = [0.5, 2.0, 1.25];

    /// From PyTorch's formulas, by `peers/make-loss-reference`.
    const REFERENCE: [f64; 12] = [
        0.3213109339,
        0.4224781512,
        0.4704776006,
        0.6141100538,
        0.5974005223,
        1.0892200870,
        1.1121039584,
        1.0646451469,
        2.4412500000,
        1.2750000000,
        0.7243750000,
        0.5756944444,
    ];

    #[test]
    fn cross_entropy_is_that_of_pytorch() {
        let classes = [2, 0, 1, 0];
        let of = |weights: Option<&[f32]>, smoothing: f64, rows: Option<&[f32]>| {
            let loss = ClassLoss { weights: weights.map(<[f32]>::to_vec), smoothing };
            checked(&SCORES, [4, 3], |scores| cross_entropy(scores, &classes, &loss, rows))
        };
        near(of(None, 0.0, None), REFERENCE[0], 4.0);
        near(of(Some(&WEIGHTS), 0.0, None), REFERENCE[1], 4.25);
        near(of(None, 0.1, None), REFERENCE[2], 4.0);
        near(of(Some(&WEIGHTS), 0.1, None), REFERENCE[3], 4.25);
        near(of(Some(&WEIGHTS), 0.1, Some(&[1.0, 3.0, 0.0, 0.5])), REFERENCE[4], 3.0);
        near(of(None, 0.0, Some(&[0.0; 4])), 0.0, 0.0);
    }

    #[test]
    fn a_logit_is_the_difference_of_two_scores() {
        let classes = [1, 0, 1];
        let logits = [0.7, 2.0, -1.5];
        let two = [0.0, 0.7, 0.0, 2.0, 0.0, -1.5];
        for (weights, smoothing, rows) in [
            (None, 0.0, None),
            (None, 0.2, None),
            (Some(vec![3.0, 0.5]), 0.2, None),
            (Some(vec![3.0, 0.5]), 0.0, Some(&[1.0, 2.0, 0.25][..])),
        ] {
            let loss = ClassLoss { weights, smoothing };
            let one = checked(&logits, [3, 1], |scores| cross_entropy(scores, &classes, &loss, rows));
            let (mean, weight) = checked(&two, [3, 2], |scores| cross_entropy(scores, &classes, &loss, rows));
            near(one, mean, weight);
        }
    }

    #[test]
    fn several_labels_are_those_of_pytorch() {
        let flags = [true, false, true, false, false, true, true, true, false, false, true, false];
        let of = |weights: Option<&[f32]>, smoothing: f64, rows: Option<&[f32]>| {
            let loss = ClassLoss { weights: weights.map(<[f32]>::to_vec), smoothing };
            checked(&SCORES, [4, 3], |logits| label_cross_entropy(logits, &flags, &loss, rows))
        };
        near(of(None, 0.0, None), REFERENCE[5], 4.0);
        near(of(Some(&WEIGHTS), 0.0, None), REFERENCE[6], 4.0);
        near(of(Some(&WEIGHTS), 0.1, Some(&[1.0, 3.0, 0.0, 0.5])), REFERENCE[7], 4.5);
    }

    #[test]
    fn losses_of_values_are_those_of_pytorch() {
        let targets: Vec<f64> = (0..12).map(|at| f64::from(at) / 4.0 - 1.0).collect();
        let of = |loss: Loss, rows: Option<&[f32]>| {
            checked(&SCORES, [4, 3], |output| {
                weighted_mean(entry_losses(loss, 0.75, output, f64_tensor(&targets, [4, 3])), rows)
            })
        };
        near(of(Loss::Mse, None), REFERENCE[8], 4.0);
        near(of(Loss::Mae, None), REFERENCE[9], 4.0);
        near(of(Loss::Huber, None), REFERENCE[10], 4.0);
        near(of(Loss::Huber, Some(&[1.0, 3.0, 0.0, 0.5])), REFERENCE[11], 4.5);
        // Entries with the weights of their rows make the same mean.
        let entries: Vec<f32> = [1.0, 3.0, 0.0, 0.5].into_iter().flat_map(|weight| [weight; 3]).collect();
        let by_entry = checked(&SCORES, [4, 3], |output| {
            let losses = entry_losses(Loss::Huber, 0.75, output, f64_tensor(&targets, [4, 3]));
            entry_weighted_mean(losses, entries.clone())
        });
        near(by_entry, REFERENCE[11], 4.5);
    }

    #[test]
    fn balanced_weights_are_those_of_scikit_learn() {
        let names = ["a", "b", "c"].map(str::to_owned);
        let train = |text: &str| toml::from_str::<TrainConfig>(text).unwrap();
        let balanced = train("class_weights = 'balanced'");
        let found = ClassLoss::of_classes(&balanced, &names, &[6.0, 3.0, 1.0]).unwrap();
        // compute_class_weight("balanced", classes=[0, 1, 2], y=[0] * 6 + [1] * 3 + [2])
        assert_eq!(found.weights.unwrap(), [10.0 / 18.0, 10.0 / 9.0, 10.0 / 3.0].map(|w: f64| w as f32));
        let found = ClassLoss::of_classes(&balanced, &names, &[6.0, 0.0, 2.0]).unwrap();
        assert_eq!(found.weights.unwrap(), [8.0 / 12.0, 1.0, 2.0].map(|w: f64| w as f32));
        // … sample_weight=[0.5] * 6 + [2.0] * 3 + [1.5]
        let found = ClassLoss::of_classes(&balanced, &names, &[3.0, 6.0, 1.5]).unwrap();
        assert_eq!(found.weights.unwrap(), [10.5 / 9.0, 10.5 / 18.0, 10.5 / 4.5].map(|w: f64| w as f32));
        let labels = [[5.0, 5.0], [8.0, 2.0], [10.0, 0.0]];
        let found = ClassLoss::of_labels(&balanced, &names, &labels).unwrap();
        assert_eq!(found.weights.unwrap(), [1.0, 4.0, 1.0]);
        // A label that all examples have would not be learnt with a weight of 0.
        let found = ClassLoss::of_labels(&balanced, &names, &[[0.0, 9.0], [1.0, 8.0], [0.0, 0.0]]).unwrap();
        assert_eq!(found.weights.unwrap(), [1.0, 0.125, 1.0]);
        let found = ClassLoss::of_classes(&train("class_weights = { b = 3 }"), &names, &[1.0; 3]).unwrap();
        assert_eq!(found.weights.unwrap(), [1.0, 3.0, 1.0]);
        let wrong =
            |text: &str| ClassLoss::of_classes(&train(text), &names, &[1.0; 3]).unwrap_err().to_string();
        assert_eq!(
            wrong("class_weights = { d = 3 }"),
            "train.class_weights.d: 3; there is no such class; the classes are a, b, c"
        );
        assert_eq!(
            wrong("class_weights = [1, 2]"),
            "train.class_weights: 2 numbers; one for each of 3 classes"
        );
    }
}

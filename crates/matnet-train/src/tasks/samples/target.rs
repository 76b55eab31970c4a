//! What a net on samples is trained to give.

use burn::tensor::{Device, Tensor, TensorData};
use matnet::net::SampleTarget;
use matnet::ops::Activation;
use matnet_data::transform::scale::{ScaleMethod, ScalePer, Scaler};
use matnet_data::{Array, Target};
use serde::{Deserialize, Serialize};

use crate::config::{Loss, TrainConfig};
use crate::task::{renumber, to_vec};
use crate::{Error, Result};

/// What a net was trained to give.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum TargetType {
    /// A class per sample.
    #[default]
    Classes,
    /// A class per step.
    Steps,
    /// Values per sample.
    Values,
    /// Several labels per sample.
    Labels,
    /// A matrix, or a sequence of them.
    Matrices,
}

impl TargetType {
    /// Of a net with this head, on these targets.
    pub(super) fn new(head: SampleTarget, target: &Target) -> Self {
        match (head, target) {
            (SampleTarget::Class, Target::Values { .. }) => Self::Values,
            (SampleTarget::Class, Target::MultiLabels { .. }) => Self::Labels,
            (SampleTarget::Class, _) => Self::Classes,
            (SampleTarget::StepClass, _) => Self::Steps,
            _ => Self::Matrices,
        }
    }

    /// Whether there are classes, one per row.
    pub(super) fn has_classes(self) -> bool {
        matches!(self, Self::Classes | Self::Steps)
    }

    /// The losses that fit, the default first.
    fn losses(self) -> &'static [Loss] {
        match self {
            Self::Classes | Self::Steps => &[Loss::CrossEntropy],
            Self::Labels => &[Loss::Bce],
            Self::Values => &[Loss::Mse, Loss::Mae, Loss::Huber],
            Self::Matrices => &[Loss::Mse, Loss::Mae, Loss::Huber, Loss::Bce],
        }
    }

    pub(super) fn plural(self) -> &'static str {
        match self {
            Self::Classes | Self::Steps => "classes",
            Self::Labels => "several labels",
            Self::Values => "values",
            Self::Matrices => "matrices",
        }
    }

    /// The loss of a config, or the default; fails if it does not fit.
    pub(super) fn loss(self, train: &TrainConfig, activation: Activation) -> Result<Loss> {
        let fitting = self.losses();
        let loss = train.loss.unwrap_or(fitting[0]);
        if !fitting.contains(&loss) {
            let names: Vec<String> = fitting.iter().map(|loss| format!("\"{}\"", loss.name())).collect();
            let names = match names.split_last() {
                Some((last, [])) => last.clone(),
                Some((last, others)) => format!("{} or {last}", others.join(", ")),
                None => String::new(),
            };
            let expected = format!("{} are trained with {names}", self.plural());
            return Err(Error::config("train", "loss", loss.name(), expected));
        }
        if loss == Loss::Bce && activation != Activation::Identity {
            let value = format!("bce, but model.output_activation is {activation:?}").to_lowercase();
            let expected =
                "bce takes logits: leave model.output_activation out, or train with \"mse\" or \"mae\"";
            return Err(Error::config("train", "loss", value, expected));
        }
        Ok(loss)
    }
}

/// The flags of a sample.
pub(super) fn flags_of<'a>(flags: &'a [bool], names: &[String], at: usize) -> &'a [bool] {
    &flags[at * names.len()..(at + 1) * names.len()]
}

/// A name per value or label; empty for other targets.
pub(super) fn output_names(target: &Target) -> &[String] {
    match target {
        Target::Values { names, .. } | Target::MultiLabels { names, .. } => names,
        _ => &[],
    }
}

/// The target values or matrices, in the form that a scaler takes.
fn scalable(target: &Target) -> Result<Option<(Array, ScalePer)>> {
    Ok(match target {
        Target::Values { values, names } => {
            let rows = Array::new([values.len(), 1, names.len()], values.data().to_vec())?;
            Some((rows, ScalePer::Entry))
        }
        Target::Matrices(matrices) => Some((matrices.clone(), ScalePer::Whole)),
        _ => None,
    })
}

/// A scaler for the targets, fitted on the training split: each value on its own, or all entries of matrices together.
pub(super) fn fit_scaler(target: &Target, train: &[usize], weights: &[f32]) -> Result<Option<Scaler>> {
    let Some((array, per)) = scalable(target)? else { return Ok(None) };
    Ok(Some(Scaler::fit_weighted(ScaleMethod::Standardize, per, &array, &[], train, weights)?))
}

/// The targets as the net learns them; `None` if they are not scaled.
pub(super) fn scaled(target: &Target, scaler: Option<&Scaler>) -> Result<Option<Array>> {
    let (Some((mut array, _)), Some(scaler)) = (scalable(target)?, scaler) else { return Ok(None) };
    scaler.apply(&mut array)?;
    Ok(Some(array))
}

/// Outputs `[n, k]` in the units of the data.
pub(super) fn unscaled_values(output: Tensor<2>, scaler: Option<&Scaler>) -> Result<Array> {
    let [rows, width] = output.dims();
    let mut array = Array::new([rows, 1, width], to_vec(output))?;
    if let Some(scaler) = scaler {
        scaler.apply_inverse(&mut array)?;
    }
    Ok(Array::new([rows, width], array.into_data())?)
}

/// Matrices `[n, rows, cols]` in the units of the data.
pub(super) fn unscaled_matrices(output: Tensor<3>, scaler: Option<&Scaler>) -> Result<Array> {
    let mut array = Array::new(output.dims(), to_vec(output))?;
    if let Some(scaler) = scaler {
        scaler.apply_inverse(&mut array)?;
    }
    Ok(array)
}

/// An array `[n, k]` as a tensor.
pub(super) fn to_tensor(array: Array, device: &Device) -> Tensor<2> {
    let shape = [array.len(), array.data().len() / array.len().max(1)];
    Tensor::from_data(TensorData::new(array.into_data(), shape), device)
}

/// A target whose classes, values or labels are those of the net.
pub(super) fn with_names(target: Target, known: &[String]) -> Result<Target> {
    let renumbered = |labels: Vec<u32>, names: Vec<String>| -> Result<Vec<u32>> {
        labels.into_iter().map(|label| renumber(label, &names, known)).collect()
    };
    // Names that only count are no names.
    let plain =
        |(at, name): (usize, &String)| *name == "y" || *name == format!("y{at}") || *name == at.to_string();
    let same = |names: &[String], what: &str| match names == known {
        true => Ok(()),
        false if names.len() == known.len() && names.iter().enumerate().all(plain) => Ok(()),
        false => {
            let (have, want) = (names.join(", "), known.join(", "));
            Err(Error::Mismatch(format!("the data have the {what} {have}; {want} expected")))
        }
    };
    let all = known.to_vec();
    match target {
        Target::Classes { labels, names } => {
            Ok(Target::Classes { labels: renumbered(labels, names)?, names: all })
        }
        Target::StepClasses { labels, names } => {
            Ok(Target::StepClasses { labels: renumbered(labels, names)?, names: all })
        }
        Target::Values { values, names } => {
            same(&names, "values")?;
            Ok(Target::Values { values, names: all })
        }
        Target::MultiLabels { flags, names } => {
            same(&names, "labels")?;
            Ok(Target::MultiLabels { flags, names: all })
        }
        other => Ok(other),
    }
}

/// What a target is, in words.
pub(super) fn describe(target: &Target) -> String {
    let counted = |names: &[String], one: &str, many: &str| match names.len() {
        1 => format!("a {one} per sample"),
        count => format!("{count} {many} per sample"),
    };
    match target {
        Target::None => "no targets".to_owned(),
        Target::Classes { .. } => "a class per sample".to_owned(),
        Target::StepClasses { .. } => "a class per step".to_owned(),
        Target::Values { names, .. } => counted(names, "value", "values"),
        Target::MultiLabels { names, .. } => counted(names, "label", "labels"),
        Target::Matrices(targets) => format!("target matrices {:?}", &targets.shape()[1..]),
        _ => "other targets".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(names: &[&str]) -> Vec<String> {
        names.iter().map(|&name| name.to_owned()).collect()
    }

    #[test]
    fn classes_of_other_data_are_matched_by_name() {
        let target = Target::Classes { labels: vec![0, 1, 1], names: names(&["dog", "cat"]) };
        let Ok(Target::Classes { labels, names: all }) = with_names(target, &names(&["ape", "cat", "dog"]))
        else {
            panic!("classes expected")
        };
        assert_eq!((labels, all), (vec![2, 1, 1], names(&["ape", "cat", "dog"])));
        // A name nobody uses does no harm, one in use does.
        let target = |labels| Target::Classes { labels, names: names(&["ape", "elk"]) };
        assert!(with_names(target(vec![0, 0]), &names(&["ape"])).is_ok());
        let error = with_names(target(vec![0, 1]), &names(&["ape", "cat"])).unwrap_err();
        assert_eq!(error.to_string(), "the data have a class `elk`, the net knows ape, cat");
        let values = Target::Values { values: Array::new([1, 1], vec![1.0]).unwrap(), names: names(&["y"]) };
        let error = with_names(values, &names(&["a", "b"])).unwrap_err();
        assert_eq!(error.to_string(), "the data have the values y; a, b expected");
    }

    #[test]
    fn targets_are_scaled_on_the_training_split_and_back() {
        let values = Array::new([4, 2], vec![1.0, 10.0, 3.0, 10.0, 5.0, 10.0, 99.0, 7.0]).unwrap();
        let target = Target::Values { values: values.clone(), names: names(&["a", "b"]) };
        let scaler = fit_scaler(&target, &[0, 1, 2], &[]).unwrap();
        let found = scaled(&target, scaler.as_ref()).unwrap().unwrap();
        // Mean 3 and deviation √(8/3); a constant is shifted only.
        let unit = (8.0_f32 / 3.0).sqrt();
        let wanted = [-2.0 / unit, 0.0, 0.0, 0.0, 2.0 / unit, 0.0];
        assert!(found.data().iter().zip(wanted).all(|(a, b)| (a - b).abs() < 1e-6), "{found:?}");
        assert_eq!(found.data()[7], -3.0);
        let output = to_tensor(Array::new([4, 2], found.into_data()).unwrap(), &Device::flex());
        let back = unscaled_values(output, scaler.as_ref()).unwrap();
        assert!(back.data().iter().zip(values.data()).all(|(a, b)| (a - b).abs() < 1e-4));
    }
}

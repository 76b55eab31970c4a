//! Targets from an array `y`, as its type and shape say, or as the user says.

use std::path::Path;

use super::TargetKind;
use super::labels::{
    label_indices_where, renumber, require_distinct, require_few_classes, require_finite, require_known,
};
use crate::format::raw::RawArray;
use crate::{Array, Error, Result, Target};

/// What is known about the samples whose targets are read.
pub(super) struct TargetContext<'a> {
    /// The name of the array in errors.
    pub name: &'a Path,
    /// The shape of the inputs.
    pub inputs: &'a [usize],
    /// The number of steps of each sequence, where they differ.
    pub lengths: &'a [usize],
    /// What the user says the targets are.
    pub kind: Option<TargetKind>,
    /// The names of the classes that integers stand for.
    pub class_names: Option<Vec<String>>,
    /// The names of the values or of the labels.
    pub names: Option<Vec<String>>,
}

const EXPECTED: &str = "classes [n] or [n, time], values [n] or [n, k] (floats), labels [n, k] (booleans, or integers 0 and 1), \
                        matrices [n, r, c] or sequences [n, time, r, c] expected";

impl TargetContext<'_> {
    /// The targets in `raw`.
    pub fn read(self, raw: RawArray) -> Result<Target> {
        if raw.shape().first() != Some(&self.inputs[0]) {
            let what =
                format!("shape {:?} beside {} samples in x; as many expected", raw.shape(), self.inputs[0]);
            return Err(self.error(what));
        }
        if raw.shape().contains(&0) {
            return Err(self.error(format!("shape {:?} holds nothing", raw.shape())));
        }
        let kind = match self.kind {
            Some(kind) => kind,
            None => {
                self.guess(&raw).ok_or_else(|| self.error(format!("shape {:?}; {EXPECTED}", raw.shape())))?
            }
        };
        let uses = match kind {
            TargetKind::Class => [true, false],
            TargetKind::Value | TargetKind::Labels => [false, true],
            TargetKind::Matrix => [false, false],
        };
        for (key, given, used) in [
            ("classes", self.class_names.is_some(), uses[0]),
            ("target_names", self.names.is_some(), uses[1]),
        ] {
            if given && !used {
                return Err(self.error(format!("`{key}` names nothing: the targets are {}", plural(kind))));
            }
        }
        match kind {
            TargetKind::Class => self.classes(&raw),
            TargetKind::Value => self.values(raw),
            TargetKind::Labels => self.labels(&raw),
            TargetKind::Matrix => self.matrices(raw),
        }
    }

    /// What the type and the shape say.
    fn guess(&self, raw: &RawArray) -> Option<TargetKind> {
        let text = raw.texts().is_some();
        match raw.shape() {
            [_] | [_, _] if raw.is_float() => Some(TargetKind::Value),
            [_] | [_, 1] => Some(TargetKind::Class),
            [_, _] if self.per_step(raw) && !raw.is_boolean() => Some(TargetKind::Class),
            [_, _] if !text => Some(TargetKind::Labels),
            [_, _, _] | [_, _, _, _] => Some(TargetKind::Matrix),
            _ => None,
        }
    }

    /// Whether there is an entry per step of each sequence.
    fn per_step(&self, raw: &RawArray) -> bool {
        matches!((raw.shape(), self.inputs), (&[_, k], &[_, time, _, _]) if k == time)
    }

    fn classes(&self, raw: &RawArray) -> Result<Target> {
        let single = matches!(raw.shape(), [_] | [_, 1]);
        if !single && !self.per_step(raw) {
            return Err(self.error(format!("shape {:?}; classes [n], or [n, time], expected", raw.shape())));
        }
        let time = if single { 1 } else { raw.shape()[1] };
        let counts =
            |at: usize| single || self.lengths.get(at / time).is_none_or(|&length| at % time < length);
        let (mut labels, mut names) = label_indices_where(raw, self.name, counts)?;
        if let Some(given) = &self.class_names {
            require_distinct(given, self.name)?;
            renumber(&mut labels, &names, raw, given).map_err(|what| self.error(what))?;
            names = given.clone();
        }
        if single && self.kind.is_none() && self.class_names.is_none() && raw.texts().is_none() {
            require_few_classes(names.len(), labels.len(), self.name)?;
        }
        for (at, label) in labels.iter_mut().enumerate() {
            if !counts(at) {
                *label = Some(0);
            }
        }
        let hole = labels.iter().position(Option::is_none);
        if let Some(at) = hole.filter(|_| !single) {
            let what = format!("sample {}, step {} has no class; one is expected", at / time, at % time);
            return Err(self.error(what));
        }
        let labels = require_known(labels, self.name, "class")?;
        Ok(if single { Target::Classes { labels, names } } else { Target::StepClasses { labels, names } })
    }

    fn values(self, raw: RawArray) -> Result<Target> {
        let width = match raw.shape() {
            [_] => 1,
            &[_, k] => k,
            shape => return Err(self.error(format!("shape {shape:?}; values [n] or [n, k] expected"))),
        };
        let values = raw.into_array(self.name)?;
        require_finite(&values, self.name, "the target of ")?;
        let names = self.names(width, |at| if width == 1 { "y".to_owned() } else { format!("y{at}") })?;
        Ok(Target::Values { values: Array::new([self.inputs[0], width], values.into_data())?, names })
    }

    fn labels(&self, raw: &RawArray) -> Result<Target> {
        let &[_, width] = raw.shape() else {
            return Err(self.error(format!("shape {:?}; labels [n, k] expected", raw.shape())));
        };
        let numbers = raw.integers(self.name)?;
        if let Some(at) = numbers.iter().position(|n| !(0..=1).contains(n) && !raw.is_boolean()) {
            let what = format!(
                "sample {} holds {}; 0 or 1 for each of {width} labels expected, or floats for values",
                at / width,
                numbers[at]
            );
            return Err(self.error(what));
        }
        let flags = numbers.iter().map(|&n| n != 0).collect();
        Ok(Target::MultiLabels { flags, names: self.names(width, |at| at.to_string())? })
    }

    fn matrices(&self, raw: RawArray) -> Result<Target> {
        if !matches!(raw.shape().len(), 3 | 4) {
            let what =
                format!("shape {:?}; matrices [n, r, c] or sequences [n, time, r, c] expected", raw.shape());
            return Err(self.error(what));
        }
        let mut matrices = raw.into_array(self.name)?;
        if matrices.shape().len() == 4 && matrices.shape()[1] == self.inputs[1] {
            clear_padding(&mut matrices, self.lengths);
        }
        require_finite(&matrices, self.name, "the target of ")?;
        Ok(Target::Matrices(matrices))
    }

    /// The given names, or those that `name` makes up.
    fn names(&self, count: usize, name: impl Fn(usize) -> String) -> Result<Vec<String>> {
        match &self.names {
            Some(given) if given.len() != count => {
                Err(self.error(format!("{} target_names for {count} targets; as many expected", given.len())))
            }
            Some(given) => {
                require_distinct(given, self.name)?;
                Ok(given.clone())
            }
            None => Ok((0..count).map(name).collect()),
        }
    }

    fn error(&self, what: String) -> Error {
        Error::format(self.name, what)
    }
}

fn plural(kind: TargetKind) -> &'static str {
    match kind {
        TargetKind::Class => "classes",
        TargetKind::Value => "values",
        TargetKind::Labels => "labels",
        TargetKind::Matrix => "matrices",
    }
}

/// Sets everything after the last step of each sequence `[n, time, …]` to zero.
pub(super) fn clear_padding(sequences: &mut Array, lengths: &[usize]) {
    let &[_, time, ..] = sequences.shape() else { return };
    let step: usize = sequences.shape()[2..].iter().product();
    for (sample, &length) in sequences.data_mut().chunks_exact_mut((time * step).max(1)).zip(lengths) {
        sample[length * step..].fill(0.0);
    }
}

//! What the values of samples say that a user may not know: nothing to learn from, or less than there seems to be.

use matnet_data::{Array, Target};

use super::Inputs;
use super::raw::Raw;

/// Steps of a 32-bit float within which all values of a channel must lie to be called indistinct.
const STEPS: f32 = 64.0;
/// From here on a 32-bit float does not hold all integers, and different ones may have become the same.
const WHOLE: f32 = 16_777_216.0;
/// Channels that a remark names.
const NAMED: usize = 5;

/// Remarks on the inputs and the target values of the training samples.
pub(super) fn remarks(raw: &Raw, train: &[usize]) -> Vec<String> {
    let mut remarks = Vec::new();
    if let Target::Values { values, names } = &raw.target {
        let constant = (0..names.len()).filter(|&at| {
            let mut column = train.iter().map(|&sample| values.sample(sample)[at]);
            let first = column.next();
            train.len() > 1 && column.all(|value| Some(value) == first)
        });
        let constant: Vec<String> = constant.map(|at| names[at].clone()).collect();
        remarks.extend(listed(&constant, "the same in all training samples: target "));
        let column = |at: usize| Range::of(train.iter().map(|&sample| values.sample(sample)[at]));
        let indistinct = |at: &usize| !column(*at).is_constant() && column(*at).is_indistinct();
        let close: Vec<String> = (0..names.len()).filter(indistinct).map(|at| names[at].clone()).collect();
        remarks
            .extend(listed(&close, "hardly distinct as 32-bit floats, subtract a constant before: target "));
    }
    if let Inputs::Floats(inputs) = &raw.inputs {
        let ranges = channels(inputs, train);
        let cols = inputs.shape().last().copied().unwrap_or(1).max(1);
        let name = |at: usize| match raw.column_names.get(at) {
            Some(name) => name.clone(),
            None => format!("row {}, column {}", at / cols, at % cols),
        };
        let which = |fits: fn(&Range) -> bool| -> Vec<String> {
            (0..ranges.len()).filter(|&at| fits(&ranges[at])).map(name).collect()
        };
        remarks
            .extend(listed(&which(Range::is_empty), "missing in all training samples, and filled with 0: "));
        let close = "hardly distinct as 32-bit floats, subtract a constant before: ";
        remarks.extend(listed(&which(Range::is_indistinct), close));
        if train.len() > 1 && ranges.iter().all(|range| range.is_constant()) {
            remarks.push("all training samples have the same inputs".to_owned());
        }
    }
    remarks
}

fn listed(names: &[String], what: &str) -> Option<String> {
    let more = if names.len() > NAMED { format!(", … ({} in all)", names.len()) } else { String::new() };
    let some = names[..names.len().min(NAMED)].join("; ");
    (!names.is_empty()).then(|| format!("{what}{some}{more}"))
}

/// The smallest and the largest known value.
#[derive(Clone, Copy)]
struct Range {
    low: f32,
    high: f32,
}

impl Range {
    const EMPTY: Self = Self { low: f32::INFINITY, high: f32::NEG_INFINITY };

    fn of(values: impl Iterator<Item = f32>) -> Self {
        values.fold(Self::EMPTY, |mut range, value| {
            range.add(value);
            range
        })
    }

    /// NaN is not known, and changes nothing.
    fn add(&mut self, value: f32) {
        (self.low, self.high) = (self.low.min(value), self.high.max(value));
    }

    fn is_empty(&self) -> bool {
        self.low > self.high
    }

    fn is_constant(&self) -> bool {
        self.low == self.high
    }

    /// Whether there are several values, but next to each other for a float of their size; or one that several may have become.
    fn is_indistinct(&self) -> bool {
        let most = self.low.abs().max(self.high.abs());
        let several = self.low < self.high || self.is_constant() && most >= WHOLE;
        several && self.high - self.low < STEPS * most * f32::EPSILON
    }
}

/// The range of each entry of the matrices, over all steps.
fn channels(inputs: &Array, train: &[usize]) -> Vec<Range> {
    let shape = inputs.shape();
    let size = shape[shape.len().saturating_sub(2)..].iter().product::<usize>().max(1);
    let mut ranges = vec![Range::EMPTY; size];
    for &sample in train {
        for matrix in inputs.sample(sample).chunks_exact(size) {
            ranges.iter_mut().zip(matrix).for_each(|(range, &value)| range.add(value));
        }
    }
    ranges
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(inputs: Vec<f32>, targets: Vec<f32>) -> Vec<String> {
        let count = targets.len();
        let inputs = Array::new([count, inputs.len() / count, 1], inputs).unwrap();
        let values = Array::new([count, 1], targets).unwrap();
        let target = Target::Values { values, names: vec!["y".to_owned()] };
        let train: Vec<usize> = (0..count - 1).collect();
        remarks(&Raw::new(Inputs::Floats(inputs), target, Vec::new()), &train)
    }

    #[test]
    fn values_that_teach_nothing_are_told() {
        let fine = vec![1.0, 5.0, 2.0, 5.0, 3.0, 5.0];
        assert!(said(fine.clone(), vec![1.0, 2.0, 3.0]).is_empty(), "a constant input is not told");
        assert_eq!(said(fine.clone(), vec![2.0, 2.0, 3.0]), ["the same in all training samples: target y"]);
        assert_eq!(
            said(vec![1.0, f32::NAN, 2.0, f32::NAN, 3.0, 5.0], vec![1.0, 2.0, 3.0]),
            ["missing in all training samples, and filled with 0: row 1, column 0"]
        );
        // Seconds since 1970 are 128 apart.
        let close = "hardly distinct as 32-bit floats, subtract a constant before: ";
        let times = vec![1.7e9, 5.0, 1.7e9 + 128.0, 5.0, 1.7e9 + 256.0, 5.0];
        assert_eq!(said(times, vec![1.0, 2.0, 3.0]), [format!("{close}row 0, column 0")]);
        // Seconds within the same minute are the same float.
        let minute = vec![1.7e9, 5.0, 1.7e9, 6.0, 1.7e9, 5.0];
        assert_eq!(said(minute, vec![1.0, 2.0, 3.0]), [format!("{close}row 0, column 0")]);
        let same = "all training samples have the same inputs";
        assert_eq!(said(vec![1.0, 5.0, 1.0, 5.0, 3.0, 5.0], vec![1.0, 2.0, 3.0]), [same]);
        assert_eq!(said(fine, vec![1.7e9, 1.7e9 + 128.0, 3.0]), [format!("{close}target y")]);
    }
}

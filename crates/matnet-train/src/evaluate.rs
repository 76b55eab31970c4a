//! How well a net does: its score, and where it goes wrong.
//!
//! The score is worked out in the batches of the training loop, so it is the one in `result.json` to the last bit.

use std::collections::BTreeMap;

use burn::tensor::Device;
use matnet::Mode;
use matnet_data::Target;
use serde::Serialize;

use crate::config::TrainConfig;
use crate::data::Prepared;
use crate::model::{ModelConfig, Output, future};
use crate::run::Score;
use crate::state::Sums;
use crate::task::{self, Task};
use crate::{Error, Result};

/// How well a net does on some examples.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Evaluation {
    /// The mean loss, and the share of wrong answers.
    pub score: Score,
    /// Which classes are taken for which; only for nets that answer with classes.
    pub confusion: Option<Confusion>,
    /// The wrong answers, in the order of the examples; empty for nets that answer with matrices.
    pub wrong: Vec<Wrong>,
    /// What else was measured, by name.
    #[serde(flatten)]
    pub also: BTreeMap<String, f64>,
}

/// One wrong answer.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Wrong {
    /// The number of the example in the data.
    pub example: usize,
    /// The step of the sequence, for classes per step.
    pub step: Option<usize>,
    /// The right class.
    pub right: u32,
    /// The class that was given.
    pub given: u32,
    /// The probability that the net gave to its answer.
    pub probability: f32,
    /// The probability that it gave to the right class.
    pub right_probability: f32,
}

/// How often each class was taken for each.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Confusion {
    classes: Vec<String>,
    counts: Vec<Vec<u64>>,
}

/// How well one class is told from the others.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct ClassCount {
    /// Examples (or steps) of this class.
    pub examples: u64,
    /// Those of them that were given this class.
    pub right: u64,
    /// All that were given this class.
    pub given: u64,
}

impl ClassCount {
    /// The share of the class's examples that were found.
    pub fn recall(self) -> Option<f64> {
        (self.examples > 0).then(|| self.right as f64 / self.examples as f64)
    }

    /// The share of the answers with this class that are right.
    pub fn precision(self) -> Option<f64> {
        (self.given > 0).then(|| self.right as f64 / self.given as f64)
    }
}

impl Confusion {
    /// Nothing counted yet.
    pub fn new(classes: Vec<String>) -> Self {
        let counts = vec![vec![0; classes.len()]; classes.len()];
        Self { classes, counts }
    }

    /// The same without the classes that were neither right nor given: of a thousand words few are answers.
    pub fn used(&self) -> Self {
        let used: Vec<usize> = (0..self.classes.len())
            .filter(|&class| {
                let count = self.class(class);
                count.examples + count.given > 0
            })
            .collect();
        let counts = used.iter().map(|&row| used.iter().map(|&col| self.counts[row][col]).collect());
        Self {
            classes: used.iter().map(|&class| self.classes[class].clone()).collect(),
            counts: counts.collect(),
        }
    }

    fn add(&mut self, right: u32, given: u32) {
        self.counts[right as usize][given as usize] += 1;
    }

    /// The names of the classes.
    pub fn classes(&self) -> &[String] {
        &self.classes
    }

    /// How often each class (the row) was taken for each (the column).
    pub fn counts(&self) -> &[Vec<u64>] {
        &self.counts
    }

    /// The counts of one class.
    pub fn class(&self, class: usize) -> ClassCount {
        ClassCount {
            examples: self.counts[class].iter().sum(),
            right: self.counts[class][class],
            given: self.counts.iter().map(|row| row[class]).sum(),
        }
    }

    /// The mistakes that were made most often, `(right, given, how often)`; of equal ones the first classes first.
    pub fn mistakes(&self) -> Vec<(usize, usize, u64)> {
        let mut mistakes = Vec::new();
        for (right, row) in self.counts.iter().enumerate() {
            for (given, &count) in
                row.iter().enumerate().filter(|&(given, &count)| given != right && count > 0)
            {
                mistakes.push((right, given, count));
            }
        }
        mistakes.sort_by_key(|&(_, _, count)| std::cmp::Reverse(count));
        mistakes
    }
}

/// Lets a net answer for some examples, as many at a time as while training, and compares.
pub fn evaluate<T: Task>(
    task: &T,
    net: &T::Net,
    examples: &[usize],
    train: &TrainConfig,
    device: &Device,
) -> Evaluation {
    let mut sums = Sums::default();
    let mut confusion = task.has_errors().then(|| Confusion::new(task.class_names().to_vec()));
    let mut wrong = Vec::new();
    for batch in examples.chunks(task.chunk(train.batch_size)) {
        let output = task.forward(net, batch, &mut Mode::Eval, device);
        if let (Some(confusion), Output::Scores(scores)) = (&mut confusion, &output) {
            let right = task.classes(batch);
            let given = task::answers(&task::numbers(scores.clone()), scores.dims()[1]);
            let shares = task::probabilities(scores.clone());
            let classes = shares.dims()[1];
            let shares = task::numbers(shares);
            let steps = right.len() / batch.len();
            for (at, (&right, &given)) in right.iter().zip(&given).enumerate() {
                confusion.add(right, given);
                if right != given {
                    wrong.push(Wrong {
                        example: batch[at / steps],
                        step: task.by_step().then_some(at % steps),
                        right,
                        given,
                        probability: shares[at * classes + given as usize],
                        right_probability: shares[at * classes + right as usize],
                    });
                }
            }
        }
        sums.add_measured(task.judge(output, batch, device), batch.len());
    }
    let score = sums.score(task.has_errors());
    let also = task.also(net, examples, Some(score), task.chunk(train.batch_size), device);
    Evaluation { score, confusion, wrong, also }
}

/// A target whose classes are numbered as the net's are.
pub(crate) fn with_classes(target: Target, classes: &[String]) -> Result<Target> {
    let renumber = |labels: Vec<u32>, names: Vec<String>| -> Result<Vec<u32>> {
        labels.into_iter().map(|label| renumbered(label, &names, classes)).collect()
    };
    let all = classes.to_vec();
    Ok(match target {
        Target::Classes { labels, names } => Target::Classes { labels: renumber(labels, names)?, names: all },
        Target::Steps { labels, names } => Target::Steps { labels: renumber(labels, names)?, names: all },
        other => other,
    })
}

/// The net's number for a class of other data, found by its name.
pub(crate) fn renumbered(label: u32, names: &[String], classes: &[String]) -> Result<u32> {
    let name = &names[label as usize];
    match classes.iter().position(|class| class == name) {
        Some(at) => Ok(at as u32),
        None => Err(Error::Run(format!("the data have a class `{name}`, the net knows {}", some(classes)))),
    }
}

/// The first names of a list that may be long.
fn some(names: &[String]) -> String {
    let first: Vec<&str> = names.iter().take(12).map(String::as_str).collect();
    let more = if names.len() > 12 { ", …" } else { "" };
    format!("{}{more}", first.join(", "))
}

/// Fails unless there is something to compare the net's answers with.
pub(crate) fn check_target(config: &ModelConfig, data: &Prepared) -> Result<()> {
    let wrong = |wanted: String| {
        let have = match &data.target {
            Target::None => "nothing to learn but themselves".to_owned(),
            Target::Classes { .. } => "a class per sample".to_owned(),
            Target::Steps { .. } => "a class per step".to_owned(),
            Target::Matrices(targets) => format!("matrices {:?}", &targets.shape()[1..]),
        };
        Err(Error::Run(format!("the net gives {wanted}, the data have {have}")))
    };
    let time = data.time().unwrap_or(0);
    match (config, &data.target) {
        (ModelConfig::Classes(_) | ModelConfig::SequenceClasses(_), Target::Classes { .. })
        | (ModelConfig::StepClasses(_), Target::Steps { .. })
        | (ModelConfig::AutoEncoder(_), _) => Ok(()),
        (ModelConfig::Classes(_) | ModelConfig::SequenceClasses(_), _) => {
            wrong("a class per sample".to_owned())
        }
        (ModelConfig::StepClasses(_), _) => wrong("a class per step".to_owned()),
        (ModelConfig::Matrices(config), Target::Matrices(targets))
            if targets.shape()[1..] == config.output =>
        {
            Ok(())
        }
        (ModelConfig::Matrices(config), _) => wrong(format!("matrices {:?}", config.output)),
        (ModelConfig::StepMatrices(config), Target::Matrices(targets))
            if targets.shape()[1..] == [time, config.output[0], config.output[1]] =>
        {
            Ok(())
        }
        (ModelConfig::StepMatrices(config), _) => {
            let [rows, cols] = config.output;
            wrong(format!("matrices {:?}", [time, rows, cols]))
        }
        (ModelConfig::Seq2Seq(config), target) => {
            let sides = config.output.unwrap_or(config.input);
            let fits = match target {
                Target::Matrices(targets) => targets.shape()[1..] == [config.steps, sides[0], sides[1]],
                _ => future(data) == Some(config.steps) && data.config.past.is_some_and(|past| past < time),
            };
            match (fits, target, data.config.past) {
                (true, _, _) => Ok(()),
                (false, Target::Matrices(_), _) | (false, _, None) => {
                    wrong(format!("matrices {:?}", [config.steps, sides[0], sides[1]]))
                }
                (false, _, Some(past)) => Err(Error::Run(format!(
                    "the net reads {past} steps and gives {}, the data have {time}",
                    config.steps
                ))),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(names: &[&str]) -> Vec<String> {
        names.iter().map(|&name| name.to_owned()).collect()
    }

    #[test]
    fn a_confusion_counts() {
        let mut confusion = Confusion::new(names(&["a", "b", "c"]));
        for (right, given) in [(0, 0), (0, 1), (0, 1), (1, 1), (1, 0), (1, 2)] {
            confusion.add(right, given);
        }
        assert_eq!(confusion.counts(), [vec![1, 2, 0], vec![1, 1, 1], vec![0, 0, 0]]);
        let counts = confusion.class(1);
        assert_eq!(counts, ClassCount { examples: 3, right: 1, given: 3 });
        assert_eq!((counts.recall(), counts.precision()), (Some(1.0 / 3.0), Some(1.0 / 3.0)));
        assert_eq!((confusion.class(2).recall(), confusion.class(2).precision()), (None, Some(0.0)));
        assert_eq!(confusion.mistakes(), [(0, 1, 2), (1, 0, 1), (1, 2, 1)]);
        let mut rare = Confusion::new(names(&["a", "b", "c"]));
        rare.add(0, 2);
        assert_eq!(
            (rare.used().classes(), rare.used().counts()),
            (&names(&["a", "c"])[..], &[vec![0, 1], vec![0, 0]][..])
        );
    }

    #[test]
    fn classes_of_other_data_are_found_by_name() {
        let target = Target::Classes { labels: vec![0, 1, 1], names: names(&["dog", "cat"]) };
        let Ok(Target::Classes { labels, names: all }) = with_classes(target, &names(&["ape", "cat", "dog"]))
        else {
            panic!("classes expected")
        };
        assert_eq!((labels, all), (vec![2, 1, 1], names(&["ape", "cat", "dog"])));
        // A name nobody uses does no harm, one in use does.
        let target = |labels| Target::Classes { labels, names: names(&["ape", "elk"]) };
        assert!(with_classes(target(vec![0, 0]), &names(&["ape"])).is_ok());
        let error = with_classes(target(vec![0, 1]), &names(&["ape", "cat"])).unwrap_err();
        assert_eq!(error.to_string(), "the data have a class `elk`, the net knows ape, cat");
    }
}

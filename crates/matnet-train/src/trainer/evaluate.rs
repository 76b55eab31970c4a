//! What an epoch and a whole run are worth: evaluations, the best epoch, the result.

use std::time::Instant;

use burn::module::Module;
use matnet::weights;

use super::checkpoint::{self, BestEpoch};
use super::event::Event;
use super::{Trainer, pretraining};
use crate::metrics::Metric;
use crate::ranks::{pack, unpack};
use crate::run::{RunResult, Score};
use crate::task::{NetOf, Sums, Task, TaskData, no_outcomes};
use crate::{Result, Split};

impl<T: Task> Trainer<'_, T> {
    /// The net that is evaluated and saved: with averaged weights, if they are averaged.
    pub(super) fn averaged(&self) -> NetOf<T> {
        match &self.state.ema {
            // A clone would share its running statistics with the net in training, and give it those of the average.
            Some(ema) => ema.apply(self.state.net.valid().train()),
            None => self.state.net.clone(),
        }
    }

    /// Scores an epoch, and remembers it if it is the best.
    pub(super) fn evaluate_epoch(&mut self) -> Result<()> {
        self.read_scores()?;
        let net = self.averaged().valid();
        let columns = self.columns.clone();
        let begun = Instant::now();
        let valid = self.evaluate(&net, Split::Valid, &columns)?;
        let test = if self.config.log_test { self.evaluate(&net, Split::Test, &columns)? } else { None };
        self.evaluating = begun.elapsed();
        let train = self.state.progress.sums.score(self.task.has_errors());
        let judged = valid.unwrap_or(train);
        let pretraining = pretraining(self.task, &self.state.progress).is_some();
        let first = match self.config.monitor.filter(|_| !pretraining) {
            None => judged.loss,
            Some(metric) => match judged.metric(metric) {
                Some(value) if metric.lower_is_better() => value,
                Some(value) => -value,
                // It may be undefined for these predictions, and any value is better.
                None => f64::INFINITY,
            },
        };
        // What is not a number is worse than any: else an epoch whose loss overflowed would stay the best.
        let [first, second] = [first, judged.loss].map(|x| if x.is_nan() { f64::INFINITY } else { x });
        let number = self.state.progress.epoch + 1;
        // Without a validation split there is nothing to choose by, and the last epoch counts.
        let best = valid.is_none()
            || self.state.progress.best.is_none_or(|best| (first, second) < (best.first, best.second));
        if best {
            if self.options.ranks.is_first() {
                self.unwritten_best = Some(self.encoded(&net, number)?);
            }
            self.best = Some(net);
            self.state.progress.best = Some(BestEpoch { epoch: number, first, second });
        }
        let learning_rate = self.learning_rate(number - 1, self.steps - 1);
        let scores = [Some(train), valid, test];
        for (split, score) in Split::ALL.into_iter().zip(scores) {
            if let Some(score) = score {
                let line = metrics_line(number, split, score, learning_rate, &columns);
                self.state.progress.metrics.push(line);
            }
        }
        let times = [self.epoch_start.elapsed(), self.stepping, self.evaluating];
        let [all, steps, evaluation] = times.map(|time| time.as_secs_f64());
        self.times.push(format!("{number},{all:.6},{steps:.6},{evaluation:.6}"));
        // A save that follows counts in the next epoch.
        self.epoch_start = Instant::now();
        let progress = &mut self.state.progress;
        progress.epoch = number;
        progress.step = 0;
        progress.sums = Sums::default();
        self.observer.event(Event::Epoch { epoch: number, train, valid, test, best });
        Ok(())
    }

    /// How well a net does on a split, with these metrics, unless it is empty.
    fn evaluate(&mut self, net: &NetOf<T>, split: Split, metrics: &[Metric]) -> Result<Option<Score>> {
        let data = self.task.data();
        let examples = data.split(split);
        if examples.is_empty() || (self.hold_out_test && split == Split::Test) {
            return Ok(None);
        }
        let batches: Vec<&[usize]> =
            examples.chunks(self.task.eval_batch_size(self.config.batch_size)).collect();
        let (mut sums, mut outcomes) = (Sums::default(), no_outcomes(self.task));
        for (evaluated, batch) in self.evaluate_batches(net, &batches)?.into_iter().zip(&batches) {
            evaluated.add_to(self.task, batch, &mut sums, outcomes.as_mut());
        }
        let mut score = sums.score(self.task.has_errors());
        if let Some(outcomes) = outcomes {
            (score.metrics, _) = outcomes.metrics(metrics);
        }
        Ok(Some(score))
    }

    /// Evaluates the best weights on every split.
    pub(super) fn finish(&mut self) -> Result<(RunResult, NetOf<T>)> {
        let ranks = self.options.ranks.clone();
        if ranks.is_first() {
            // A process killed right after its last checkpoint has not written these.
            self.write_outputs()?;
        }
        let best = match self.best.take() {
            Some(best) => best,
            None => self.stored_best()?,
        };
        let mut scores = [None; 3];
        for (score, split) in scores.iter_mut().zip(Split::ALL) {
            self.observer.event(Event::Evaluating(split));
            *score = self.evaluate(&best, split, &Metric::ALL)?;
        }
        let result = ranks.made_by_first(
            || self.write_result(&best, scores),
            |result| Ok(pack(result, &[])),
            |message| Ok(unpack(message)?.0),
        )?;
        Ok((result, best))
    }

    /// Writes the scores of the best weights, and removes what a finished run does not need.
    fn write_result(&self, best: &NetOf<T>, scores: [Option<Score>; 3]) -> Result<RunResult> {
        let batch = self.task.eval_batch_size(self.config.batch_size);
        let test = self.task.data().split(Split::Test);
        let metrics = self.task.extra_metrics(best, test, scores[2], batch, &self.options.device);
        self.check_reads()?;
        let progress = &self.state.progress;
        let result = RunResult {
            kind: self.kind.to_owned(),
            form: self.task.form(),
            parameters: weights::count(best),
            seed: self.config.seed,
            epochs: progress.epoch,
            best_epoch: progress.best.map_or(progress.epoch, |best| best.epoch),
            train: scores[0],
            valid: scores[1],
            test: scores[2],
            metrics,
        };
        self.run.write_result(&result)?;
        // Which steps a checkpoint fell on depends on the clock; a finished run is the same bytes always.
        checkpoint::remove_previous(self.run.folder())?;
        Ok(result)
    }
}

/// A line of `metrics.csv`.
fn metrics_line(epoch: usize, split: Split, score: Score, learning_rate: f64, columns: &[Metric]) -> String {
    let cell = |value: Option<f64>| value.map(|value| value.to_string()).unwrap_or_default();
    let mut line = format!("{epoch},{},{},{},{learning_rate}", split.name(), score.loss, cell(score.error));
    for &metric in columns {
        line.push(',');
        line += &cell(score.metric(metric));
    }
    line
}

/// The metrics with a column in `metrics.csv`, beside loss and error rate: those that cost little, and the monitored one.
pub(super) fn columns<T: Task>(task: &T, monitor: Option<Metric>) -> Vec<Metric> {
    let kind = task.metric_targets(&[]);
    let mut all = kind.map_or(&[][..], |kind| kind.main_metrics(task.target_names().len())).to_vec();
    let further = |metric: &Metric| !matches!(metric, Metric::Loss | Metric::Error) && !all.contains(metric);
    all.extend(monitor.filter(further));
    all.sort();
    all
}

//! One epoch on a part of the data, as scikit-learn's `partial_fit`.
//!
//! A run that goes on from another takes over all that a checkpoint holds: weights, moments and steps of the optimizer, the moving
//! average, the number of epochs and the lines of `metrics.csv`. So epochs on the same data, one call each, are the epochs of one
//! training: the same order, the same dropout, the same learning rates, the same bytes. `train.epochs` is the length of the schedule.

use std::sync::Arc;

use matnet_data::SplitIndices;

use super::checkpoint::{self, Checkpoint};
use super::source::freeze;
use super::start::{Opened, open};
use super::{Event, Observer, Options, Outcome, Planned, Trainer, WeightAverage, pretraining, split_json};
use crate::config::{Document, TrainConfig};
use crate::ranks::Ranks;
use crate::run::{BEST, METRICS, Run, files, fill};
use crate::task::{Sums, Task};
use crate::{Error, Result};

/// Trains one epoch in a new run folder: from the start, or on from the run `before`.
pub(crate) fn partial_fit<T: Task>(
    planned: &Planned<T>,
    run: &Run,
    before: Option<&Run>,
    options: &Options,
    observer: &mut dyn Observer,
) -> Result<Outcome> {
    if let Some(patience) = planned.train.patience {
        let expected = "one epoch on a part of the data does not end early; leave it out";
        return Err(Error::config("train", "patience", patience.to_string(), expected));
    }
    if checkpoint::any(run.folder()) {
        return Err(Error::run(run.folder(), "the folder holds a run; a new folder expected"));
    }
    let (planned, source) = match before {
        None => planned.with_source(run)?,
        // What came before has taken these weights.
        Some(_) => (planned.with_train(TrainConfig { from: None, ..(*planned.train).clone() }), None),
    };
    let planned = match before {
        Some(before) => {
            check_same_net(&planned, before)?;
            continued(planned, before)?
        }
        None => planned,
    };
    let planned = &planned;
    let _lock = run.lock()?;
    let Opened { config, mut state, transfer, .. } = open(planned, source.as_ref(), run, options)?;
    if let Some(before) = before {
        state = taken_over(planned, state, before, options)?;
    }
    files::write(&run.path("config.toml"), config.as_bytes())?;
    files::write(&run.path("split.json"), split_json(&*planned.task).as_bytes())?;
    if let Some(transfer) = &transfer {
        transfer.write(run)?;
    }
    let resumed = before.map(|_| (state.progress.epoch, 0));
    let mut trainer = Trainer::new(planned, run, options, state, observer);
    if let Some(before) = before {
        // Lines with other columns would make no table.
        let lines = files::read_text(&before.path(METRICS))?.unwrap_or_default();
        if lines.lines().next() != Some(&trainer.metrics_header()) {
            trainer.state.progress.metrics.clear();
        }
    }
    trainer.begin(resumed, transfer.as_ref());
    let progress = &trainer.state.progress;
    let done = progress.epoch - progress.pretrained.unwrap_or(0);
    trainer.epochs(Some(done + 1))?;
    if !trainer.state.progress.finished {
        trainer.save()?;
    }
    let (result, _) = trainer.finish()?;
    observer.event(Event::End);
    Ok(Outcome { result, was_finished: false })
}

/// The plan on data that are scaled as those of the run before.
fn continued<T: Task>(planned: Planned<T>, before: &Run) -> Result<Planned<T>> {
    let file = if before.path(BEST).exists() { BEST } else { "last.safetensors" };
    let weights = before.weights(file)?;
    let metadata: T::Metadata = serde_json::from_value(weights.metadata)
        .map_err(|error| Error::damaged(&weights.path, format!("damaged: {error}")))?;
    let data = T::continued(Arc::clone(planned.task.data()), &metadata)?;
    let task = T::new(data, planned.task.config().clone(), &planned.train, &Ranks::default())?;
    Ok(Planned { task: Arc::new(task), ..planned })
}

/// Fails if the run before has another net, or another optimizer.
fn check_same_net<T: Task>(planned: &Planned<T>, before: &Run) -> Result<()> {
    let (then, now) = (before.document()?, Document::parse(&planned.config_text())?);
    for (table, keys) in [("model", None), ("train", Some(["optimizer", "ema_decay"]))] {
        let (then, now) = (then.table(table).cloned(), now.table(table).cloned());
        let (then, now) = (then.unwrap_or_default(), now.unwrap_or_default());
        let wanted = |key: &&String| keys.is_none_or(|keys| keys.contains(&key.as_str()));
        for key in then.keys().chain(now.keys()).filter(wanted) {
            if then.get(key) != now.get(key) {
                let text = |value: Option<&toml::Value>| value.map_or("none".to_owned(), ToString::to_string);
                let expected =
                    format!("{} before; a net that is trained further keeps it", text(then.get(key)));
                return Err(Error::config(table, key.clone(), text(now.get(key)), expected));
            }
        }
    }
    Ok(())
}

/// The state of another run, as a start: its best weights, where these are not the last.
fn taken_over<T: Task>(
    planned: &Planned<T>,
    blank: Checkpoint<T>,
    before: &Run,
    options: &Options,
) -> Result<Checkpoint<T>> {
    let newest = checkpoint::newest(before.folder())?
        .ok_or_else(|| Error::run(before.folder(), "has no checkpoint to resume from"))?;
    let former = before.sha256("config.toml")?;
    let mut state = blank.restore(&newest, &options.device, former.as_deref())?;
    let (task, train) = (&*planned.task, &*planned.train);
    if before.path(BEST).exists() {
        let best = before.weights(BEST)?;
        if best.epoch != state.progress.epoch || state.progress.step > 0 {
            state.net = fill(
                task.config(),
                best.tensors,
                &before.path(BEST),
                &planned.training_device(&options.device),
            )?;
            state.ema = train.ema_decay.map(|decay| WeightAverage::new(decay, &state.net));
        }
    }
    let pretraining = pretraining(task, &state.progress).is_some();
    state.net = freeze(task.with_pretraining(state.net, pretraining), &train.freeze);
    let steps = steps_per_epoch(before)?;
    let progress = &mut state.progress;
    let since = progress.epoch.saturating_sub(progress.epochs_before) as u64;
    progress.steps_before += since * steps + progress.step as u64;
    progress.epochs_before = progress.epoch;
    (progress.step, progress.sums) = (0, Sums::default());
    // Scores on other data are not compared: the newest epoch counts.
    (progress.best, progress.finished) = (None, false);
    Ok(state)
}

/// The steps that an epoch of a run had.
fn steps_per_epoch(run: &Run) -> Result<u64> {
    let path = run.path("split.json");
    let text = files::read(&path)?;
    let split: SplitIndices =
        serde_json::from_slice(&text).map_err(|error| Error::damaged(&path, error.to_string()))?;
    let examples = split.train.len().max(1);
    let batch_size = run.document()?.train()?.batch_size.unwrap_or(examples);
    Ok(examples.div_ceil(batch_size.max(1)) as u64)
}

#[cfg(test)]
mod tests {
    use matnet_data::catalog::Cache;
    use matnet_data::format::npz::Npz;
    use matnet_data::format::raw::{RawArray, RawValues};

    use super::*;
    use crate::{Plan, Planner};

    const CONFIG: &str = "[data]\nsource = \"arrays\"\nsplit = { valid = 0, test = 0 }\n[model]\nkind = \"feedforward\"\n\
         hidden = [3, 2]\ndropout = 0.2\n[train]\nepochs = 3\nbatch_size = 4\nschedule = \"cosine\"\n";

    fn plan(config: &str, samples: usize) -> Box<dyn Plan> {
        let values = (0..samples * 6).map(|at| ((at * 37 % 19) as f32 - 9.0) / 9.0).collect();
        let classes = (0..samples as i64).map(|at| at % 2).collect();
        let mut arrays = Npz::new("arrays");
        arrays.insert("x", RawArray::new([samples, 2, 3], RawValues::F32(values), false).unwrap());
        arrays.insert("y", RawArray::new([samples], RawValues::I64(classes), false).unwrap());
        let cache = Cache::new("none").with_arrays(arrays);
        Planner::default().plan(&Document::parse(config).unwrap(), &cache).unwrap()
    }

    #[test]
    fn epochs_one_by_one_are_the_epochs_of_one_training() {
        let folder = tempfile::tempdir().unwrap();
        let run = |name: &str| Run::at(folder.path().join(name));
        let options = Options::default().with_report(false);
        let (plan, other) = (plan(CONFIG, 10), plan(CONFIG, 7));
        plan.train(&run("whole"), &options, &mut ()).unwrap();
        plan.partial_fit(&run("1"), None, &options, &mut ()).unwrap();
        plan.partial_fit(&run("2"), Some(&run("1")), &options, &mut ()).unwrap();
        let outcome = plan.partial_fit(&run("3"), Some(&run("2")), &options, &mut ()).unwrap();
        assert_eq!((outcome.result.epochs, outcome.result.best_epoch), (3, 3));
        for file in ["config.toml", "best.safetensors", METRICS, "result.json"] {
            let read = |name: &str| std::fs::read(run(name).path(file)).unwrap();
            assert!(read("whole") == read("3"), "{file}");
        }
        // Steps are counted on where another part of the data has fewer of them.
        other.partial_fit(&run("4"), Some(&run("3")), &options, &mut ()).unwrap();
        assert_eq!(steps_per_epoch(&run("3")).unwrap(), 3);
        assert_eq!(steps_per_epoch(&run("4")).unwrap(), 2);
        let error = plan.partial_fit(&run("4"), Some(&run("3")), &options, &mut ()).unwrap_err();
        assert!(error.to_string().contains("a new folder expected"), "{error}");
    }

    #[test]
    fn another_net_does_not_go_on() {
        let folder = tempfile::tempdir().unwrap();
        let run = |name: &str| Run::at(folder.path().join(name));
        let options = Options::default().with_report(false);
        plan(CONFIG, 10).partial_fit(&run("1"), None, &options, &mut ()).unwrap();
        for (from, to, message) in [
            (
                "[3, 2]",
                "[3, 3]",
                "model.hidden: [3, 3]; [3, 2] before; a net that is trained further keeps it",
            ),
            (
                "epochs",
                "optimizer = \"sgd\"\nepochs",
                "train.optimizer: \"sgd\"; \"adam\" before; a net that is trained further keeps it",
            ),
        ] {
            let plan = plan(&CONFIG.replace(from, to), 10);
            let error = plan.partial_fit(&run("2"), Some(&run("1")), &options, &mut ()).unwrap_err();
            assert_eq!(error.to_string(), message);
        }
    }
}

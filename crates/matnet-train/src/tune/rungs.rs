//! Rung after rung, by one process or by several together.
//!
//! A rung ends when all its trials are trained, whoever trained them. Every process reads the same records, so all come to the same
//! judgement without a word between them. A process that has nothing to do waits: the trials of a rung that are still in training,
//! it takes over itself if their process ends.

use std::path::{Path, PathBuf};
use std::time::Duration;

use matnet_data::catalog::Cache;

use super::halving::{self, Standing};
use super::record::Record;
use super::{NetSearch, TuneEvent, TuneObserver};
use crate::part::Part;
use crate::plan::Planner;
use crate::run::Run;
use crate::trainer::{Event, Observer, Options, TrialScore};
use crate::{Error, Result};

/// The longest time between two looks at what others have done.
const LONGEST_WAIT: Duration = Duration::from_millis(250);

/// A process at work on a search.
pub(super) struct Worker<'a> {
    pub planner: &'a mut Planner,
    pub cache: &'a Cache,
    pub options: &'a Options,
    pub observer: &'a mut dyn TuneObserver,
    /// Its share; `None` if it works alone.
    pub part: Option<Part>,
}

/// How far the search for a net has come.
pub(super) struct Ladder {
    folder: PathBuf,
    rung: usize,
    /// The places of the trials in this rung.
    trials: Vec<usize>,
    /// Which trainings of the rung are done: all trials from the first seed, then from the second, …
    done: Vec<bool>,
    /// The place of the best trial, once the last rung has ended; there is none if all diverged.
    winner: Option<Option<usize>>,
}

/// What came of a look for work.
#[derive(PartialEq)]
enum Found {
    Work,
    /// Others have what is left.
    Nothing,
}

/// Works on all nets until their searches have ended. Gives the places of the best trials; `None` where all diverged.
pub(super) fn climb(
    nets: &mut [NetSearch],
    folder: &Path,
    worker: &mut Worker,
) -> Result<Vec<Option<usize>>> {
    let mut ladders: Vec<Ladder> = nets.iter().map(|net| Ladder::new(net, folder)).collect();
    let mut wait = Duration::ZERO;
    loop {
        let mut found = Found::Nothing;
        // Its own share of all nets first, then whatever there is.
        for own in [true, false] {
            for (net, ladder) in nets.iter_mut().zip(&mut ladders) {
                if found == Found::Nothing && ladder.winner.is_none() {
                    found = net.work(ladder, own, worker)?;
                }
            }
        }
        let winners: Option<Vec<Option<usize>>> = ladders.iter().map(|ladder| ladder.winner).collect();
        match (winners, found) {
            (Some(winners), _) => return Ok(winners),
            (None, Found::Work) => wait = Duration::ZERO,
            (None, Found::Nothing) => {
                if worker.observer.stop() {
                    return Err(Error::Interrupted);
                }
                wait = (2 * wait).clamp(Duration::from_millis(5), LONGEST_WAIT);
                std::thread::sleep(wait);
            }
        }
    }
}

impl Ladder {
    fn new(net: &NetSearch, folder: &Path) -> Self {
        let folder = net.name.as_ref().map_or(folder.to_owned(), |name| folder.join(name));
        let trials: Vec<usize> = (0..net.trials.len()).collect();
        Self { folder, rung: 0, done: Vec::new(), trials, winner: None }
    }
}

impl NetSearch {
    /// Trains one trial for the rung, or ends the rung.
    fn work(&mut self, ladder: &mut Ladder, own: bool, worker: &mut Worker) -> Result<Found> {
        let count = ladder.trials.len();
        if ladder.done.is_empty() {
            let (rung, rungs, epochs) = (ladder.rung + 1, self.rungs.len(), self.rungs[ladder.rung]);
            let net = self.name.as_deref();
            worker.observer.event(TuneEvent::Rung { net, rung, rungs, epochs, trials: count });
            ladder.done = vec![false; count * self.seeds.len()];
        }
        let part = worker.part.unwrap_or(Part::WHOLE);
        // One seed after another: where each has its own split, the data are loaded once for all trials.
        for place in 0..ladder.done.len() {
            let trial = place % count;
            // A trial that diverged is not trained from other seeds, so each waits for the one before it.
            let waits = place >= count && !ladder.done[place - count];
            if ladder.done[place] || waits || (own && !part.owns(trial, count)) {
                continue;
            }
            match self.train(ladder, place, worker) {
                Ok(trained) => {
                    ladder.done[place] = true;
                    if trained {
                        return Ok(Found::Work);
                    }
                }
                Err(Error::Busy(_)) if worker.part.is_some() => {}
                Err(error) => return Err(error),
            }
        }
        match ladder.done.iter().all(|done| *done) {
            true => self.end_rung(ladder, worker).map(|()| Found::Work),
            false => Ok(Found::Nothing),
        }
    }

    /// Trains a trial from one seed for the rung, unless that has been done; says whether it had to.
    fn train(&mut self, ladder: &Ladder, place: usize, worker: &mut Worker) -> Result<bool> {
        let (rung, count, total) = (ladder.rung, ladder.trials.len(), ladder.done.len());
        let (at, seed) = (ladder.trials[place % count], self.seeds[place / count]);
        if self.trials[at].diverged.is_some() {
            return Ok(false);
        }
        let run = self.trial_run(at, seed, &ladder.folder);
        let is_done = |record: &Record| record.diverged.is_some() || record.rungs.len() > rung;
        let mut record = Record::read(&run)?;
        let mut trained = false;
        if !is_done(&record) {
            // The lock is held from the reading of the record to its writing: a slow process must not write over what
            // another has added in between.
            let lock = run.lock()?;
            record = Record::read(&run)?;
            if !is_done(&record) {
                let document = self.trial_document(&self.trials[at], seed)?;
                let plan = worker.planner.plan(&document, worker.cache)?;
                let (net, trial) = (self.name.as_deref(), self.trials[at].number);
                let observer = &mut Training { net, trial, observer: worker.observer };
                match plan.try_out(&run, &lock, self.rungs[rung], worker.options, observer) {
                    Ok(score) => record.rungs.push(score.into()),
                    Err(Error::NotFinite(what)) => record.diverged = Some(what),
                    Err(error) => return Err(error),
                }
                record.write(&run)?;
                trained = true;
            }
        }
        if trained {
            let (net, trial, metric) = (self.name.as_deref(), self.trials[at].number, self.metric);
            let score = record.rungs.get(rung).copied().map(TrialScore::from);
            let place = (place + 1, total);
            worker.observer.event(TuneEvent::Trial { net, trial, seed, place, score, metric });
        }
        // Another process may be further on: what diverged in a later rung has not diverged yet.
        self.trials[at].diverged = record.diverged.filter(|_| record.rungs.len() <= rung);
        Ok(trained)
    }

    /// Judges the trials of a rung that is done, and chooses those that go on.
    fn end_rung(&mut self, ladder: &mut Ladder, worker: &Worker) -> Result<()> {
        for &at in &ladder.trials {
            self.judge(at, ladder.rung, &ladder.folder)?;
        }
        let standings: Vec<(usize, Standing)> =
            ladder.trials.iter().map(|&at| (at, self.trials[at].standing)).collect();
        let last = ladder.rung + 1 == self.rungs.len();
        let next = if last { Vec::new() } else { halving::promoted(&standings) };
        for &at in ladder.trials.iter().filter(|at| !next.contains(at)) {
            match self.tidy(at, &ladder.folder) {
                // Another process is at it.
                Err(Error::Busy(_)) if worker.part.is_some() => {}
                other => other?,
            }
        }
        if last || next.is_empty() {
            ladder.winner = Some(halving::best(&standings));
        }
        (ladder.rung, ladder.trials, ladder.done) = (ladder.rung + 1, next, Vec::new());
        Ok(())
    }

    /// The standing of a trial after a rung: the means over its seeds.
    fn judge(&mut self, at: usize, rung: usize, folder: &Path) -> Result<()> {
        let (mut value, mut loss, mut epochs) = (0.0, 0.0, 0);
        let count = self.seeds.len() as f64;
        for &seed in &self.seeds {
            if let Some(score) = Record::read(&self.trial_run(at, seed, folder))?.rungs.get(rung) {
                value += score.value / count;
                loss += score.loss / count;
                epochs = epochs.max(score.epochs);
            }
        }
        let trial = &mut self.trials[at];
        trial.rungs = rung + 1;
        trial.epochs = trial.epochs.max(epochs);
        trial.standing = trial.diverged.is_none().then_some((value, loss));
        Ok(())
    }

    /// Removes the weights of a trial that does not go on: many trials would fill the disk.
    fn tidy(&self, at: usize, folder: &Path) -> Result<()> {
        for &seed in &self.seeds {
            let run = self.trial_run(at, seed, folder);
            if run.folder().exists() {
                run.remove_weights()?;
            }
        }
        Ok(())
    }

    /// The run of a trial from a seed.
    fn trial_run(&self, at: usize, seed: u64, folder: &Path) -> Run {
        Run::at(folder.join(self.trials[at].folder()).join(format!("seed-{seed}")))
    }
}

/// Passes on whether to stop, and of what happens in a trial only that it resumes elsewhere.
struct Training<'a> {
    net: Option<&'a str>,
    trial: usize,
    observer: &'a mut dyn TuneObserver,
}

impl Observer for Training<'_> {
    fn event(&mut self, event: Event) {
        if let Event::Moved(moved) = event {
            self.observer.event(TuneEvent::Moved { net: self.net, trial: self.trial, moved });
        }
    }

    fn stop(&mut self) -> bool {
        self.observer.stop()
    }
}

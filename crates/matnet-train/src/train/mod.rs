//! The training loop.
//!
//! Everything random in a step comes from a rng that the seed and the number of the step name: the order of an
//! epoch from its number, dropout and noise from the step's. So a state needs no random numbers, and a run taken up
//! again goes through the same steps as one left alone.

mod event;
mod save;

use std::time::{Duration, Instant};

use burn::module::Module;
use burn::optim::GradientsParams;
use burn::tensor::{Device, Tensor};
use matnet::random::SeededRng;
use matnet::{Mode, penalty_below, weights};
use matnet_data::Split;
use rand::seq::SliceRandom;

pub use self::event::{Event, Observer};
use crate::average::Average;
use crate::config::{Monitor, TrainConfig};
use crate::data::Part;
use crate::optimizer::{self, Optimizer};
use crate::run::{Plan, Run, RunResult, Score, Work};
use crate::state::{self, Best, State, Sums};
use crate::task::{Measured, Task};
use crate::{Error, Result, files};

/// How a run is worked on; none of it changes what comes out.
#[derive(Clone, Debug)]
pub struct Options {
    /// Where the net lives.
    pub device: Device,
    /// The longest time without saving, within an epoch.
    pub save_every: Duration,
    /// Go on from the state before the newest.
    pub from_previous: bool,
}

impl Default for Options {
    fn default() -> Self {
        Self { device: Device::flex(), save_every: Duration::from_secs(30), from_previous: false }
    }
}

/// How [`train`] ended.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome {
    /// The result.
    pub result: RunResult,
    /// Whether it had been there before.
    pub was_finished: bool,
}

/// Trains the net of a plan in a run folder: from the beginning, or on from where it stopped.
pub fn train(plan: &Plan, run: &Run, options: &Options, observer: &mut dyn Observer) -> Result<Outcome> {
    match plan {
        Plan::Samples(work) => work_on(work, run, options, observer),
        Plan::Nodes(work) => work_on(work, run, options, observer),
        Plan::Program(work) => work_on(work, run, options, observer),
        Plan::Stories(work) => work_on(work, run, options, observer),
    }
}

fn work_on<T: Task>(
    work: &Work<T>,
    run: &Run,
    options: &Options,
    observer: &mut dyn Observer,
) -> Result<Outcome> {
    let _lock = run.lock()?;
    same_config(&work.config(), run)?;
    let device = options.device.clone().autodiff();
    let net = work.net(&device)?;
    // A state that is gone on with brings its own.
    let net = work.task.with_softmax(net, work.train.linear_start.is_none());
    let optimizer = Optimizer::new(work.train.rule(), &work.train.learning_rate_multipliers, &net);
    let average = work.train.ema_decay.map(|decay| Average::new(decay, &net));
    let mut state: State<T> = State::new(net, optimizer, average, work.checksum());
    let newest = match options.from_previous {
        true => Some(run.path(state::PREVIOUS)),
        false => state::newest(run.folder())?,
    };
    if let Some(path) = &newest {
        state = state.resume(path, &options.device).map_err(|error| state::advise(run.folder(), error))?;
    }
    if state.place.finished
        && let Some(result) = run.result()?
    {
        return Ok(Outcome { result, was_finished: true });
    }
    files::write(&run.path("config.toml"), work.config().as_bytes())?;
    files::write(&run.path("split.json"), split(&work.task).as_bytes())?;
    let mut training = Training::new(work, run, options, state, observer);
    training.begin(newest.is_some());
    training.epochs()?;
    let result = training.finish()?;
    observer.event(Event::End);
    Ok(Outcome { result, was_finished: false })
}

/// Which examples are in which part, for the record.
fn split<T: Task>(task: &T) -> String {
    let part = |part| task.examples(part).to_vec();
    let split = Split { train: part(Part::Train), valid: part(Part::Valid), test: part(Part::Test) };
    let text = serde_json::to_string(&split).expect("lists of numbers");
    format!("{text}\n")
}

/// A run that was begun with another config is not gone on with.
fn same_config(now: &str, run: &Run) -> Result<()> {
    match run.difference(now) {
        None => Ok(()),
        Some(difference) => Err(Error::Run(format!(
            "{}: a run with another config stands here ({difference}); --out chooses another folder, --fresh overwrites it",
            run.folder().display()
        ))),
    }
}

/// The loop with all it needs.
struct Training<'a, T: Task> {
    task: &'a T,
    config: &'a TrainConfig,
    run: &'a Run,
    options: &'a Options,
    device: Device,
    state: State<T>,
    observer: &'a mut dyn Observer,
    /// Examples per step.
    batch: usize,
    /// Steps per epoch.
    steps: usize,
    /// The best weights, when they have not been written yet.
    unwritten_best: Option<Vec<u8>>,
    saved: Instant,
    /// How long the last save took.
    saving: Duration,
    times: Vec<String>,
    epoch_began: Instant,
}

impl<'a, T: Task> Training<'a, T> {
    fn new(
        work: &'a Work<T>,
        run: &'a Run,
        options: &'a Options,
        state: State<T>,
        observer: &'a mut dyn Observer,
    ) -> Self {
        let examples = work.task.examples(Part::Train).len();
        let batch = work.task.batch(work.train.batch_size).unwrap_or(examples);
        let steps = examples.div_ceil(batch);
        let times = std::fs::read_to_string(run.path("times.csv")).unwrap_or_default();
        let times = times.lines().skip(1).take(state.place.epoch).map(str::to_owned).collect();
        Self {
            task: &work.task,
            config: &work.train,
            run,
            options,
            device: options.device.clone().autodiff(),
            state,
            observer,
            batch,
            steps,
            unwritten_best: None,
            saved: Instant::now(),
            saving: Duration::ZERO,
            times,
            epoch_began: Instant::now(),
        }
    }

    fn begin(&mut self, resumed: bool) {
        let place = &self.state.place;
        self.observer.event(Event::Begin {
            run: self.run,
            parameters: weights::count(&self.state.net),
            epochs: self.config.epochs + self.config.linear_start.unwrap_or(0),
            steps: self.steps,
            resumed: resumed.then_some((place.epoch, place.step)),
            notes: self.task.facts().notes,
        });
    }

    /// All epochs that are left.
    fn epochs(&mut self) -> Result<()> {
        while !self.state.place.finished {
            self.epoch_began = Instant::now();
            self.steps()?;
            self.measure_epoch()?;
            let linear = self.is_linear();
            let place = &mut self.state.place;
            let since_best = place.best.map_or(0, |best| place.epoch - best.epoch);
            let enough = |patience: Option<usize>| patience.is_some_and(|patience| since_best >= patience);
            let begun = place.linear_start.unwrap_or(0);
            match linear {
                true if Some(place.epoch) == self.config.linear_start
                    || enough(self.config.linear_patience) =>
                {
                    self.end_linear_start();
                }
                true => {}
                false => {
                    place.finished =
                        place.epoch - begun >= self.config.epochs || enough(self.config.patience);
                }
            }
            // Short epochs are not worth a write each: a killed run goes through them again.
            if self.state.place.finished
                || self.saved.elapsed() > Duration::from_secs(2).max(20 * self.saving)
            {
                self.save()?;
            }
        }
        Ok(())
    }

    /// Whether the softmax is still off.
    fn is_linear(&self) -> bool {
        self.config.linear_start.is_some() && self.state.place.linear_start.is_none()
    }

    /// The softmax is switched on. What was best without it is not what is looked for.
    fn end_linear_start(&mut self) {
        let place = &mut self.state.place;
        (place.linear_start, place.best) = (Some(place.epoch), None);
        self.state.net = self.task.with_softmax(self.state.net.clone(), true);
    }

    /// The learning rate of a step of an epoch. The schedule begins when a linear start is over.
    fn rate(&self, epoch: usize, step: usize) -> f64 {
        match self.is_linear() {
            true => self.config.rate,
            false => {
                let done = epoch - self.state.place.linear_start.unwrap_or(0);
                self.config.rates(self.steps).at(done as u64 * self.steps as u64 + step as u64)
            }
        }
    }

    /// The steps that are left of an epoch.
    fn steps(&mut self) -> Result<()> {
        let mut order = self.task.examples(Part::Train).to_vec();
        let seed = self.config.seed;
        order.shuffle(&mut SeededRng::new(seed, &format!("order of epoch {}", self.state.place.epoch)));
        for (step, batch) in order.chunks(self.batch).enumerate().skip(self.state.place.step) {
            let number = self.state.place.epoch as u64 * self.steps as u64 + step as u64;
            let rate = self.rate(self.state.place.epoch, step);
            let mode = Mode::train(SeededRng::new(seed, &format!("step {number}")));
            self.step(batch, rate, mode)?;
            if let Some(average) = &mut self.state.average {
                average.follow(&self.state.net, number);
            }
            self.state.place.step = step + 1;
            let sums = self.state.place.sums;
            self.observer.event(Event::Step {
                epoch: self.state.place.epoch,
                step: step + 1,
                loss: sums.score(self.task.has_errors()).loss,
                error: sums.score(self.task.has_errors()).error,
                rate,
            });
            self.stop_if_asked()?;
            if self.saved.elapsed() > self.options.save_every.max(20 * self.saving) {
                self.save()?;
            }
        }
        Ok(())
    }

    /// Forward, loss, backward, optimiser.
    fn step(&mut self, batch: &[usize], rate: f64, mut mode: Mode) -> Result<()> {
        let rng = mode.clone();
        let measured = self.task.measure(&self.state.net, batch, &mut mode, &self.device);
        let loss = f64::from(measured.loss.clone().into_scalar::<f32>());
        if !loss.is_finite() {
            return Err(self.not_finite(batch, rng, &format!("the loss is {loss}")));
        }
        let total = if self.config.sum_loss { measured.loss * batch.len() as f64 } else { measured.loss };
        let total = match self.penalty() {
            Some(penalty) => total + penalty,
            None => total,
        };
        let net = &self.state.net;
        let gradients = GradientsParams::from_grads(total.backward(), net);
        let gradients = optimizer::clipped(net, gradients, self.config.clip, self.config.clip_each);
        self.state.optimize(rate, gradients);
        self.state.place.sums.count(loss, measured.wrong, measured.answers, batch.len());
        Ok(())
    }

    /// What keeps the maps small.
    fn penalty(&self) -> Option<Tensor<1>> {
        let start = self.config.penalised.as_deref().unwrap_or_default();
        penalty_below(&self.state.net, start, self.config.l1, self.config.l2)
    }

    /// What an epoch came to, for the record and for the choice of the best.
    fn measure_epoch(&mut self) -> Result<()> {
        let net = self.state.kept().valid();
        let valid = self.measure(&net, Part::Valid)?;
        let test = if self.config.watch_test { self.measure(&net, Part::Test)? } else { None };
        let train = self.state.place.sums.score(self.task.has_errors());
        let judged = valid.unwrap_or(train);
        let (first, second) = match (self.config.monitor, judged.error) {
            (Some(Monitor::Error), Some(error)) if !self.is_linear() => (error, judged.loss),
            _ => (judged.loss, judged.loss),
        };
        let number = self.state.place.epoch + 1;
        // Without a validation part there is nothing to choose by, and the last epoch counts.
        let best = valid.is_none()
            || self.state.place.best.is_none_or(|best| (first, second) < (best.first, best.second));
        if best {
            let bytes = self.weights(&net, number)?;
            self.unwritten_best = Some(bytes);
            self.state.place.best = Some(Best { epoch: number, first, second });
        }
        let rate = self.rate(number - 1, self.steps - 1);
        for (part, score) in [(Part::Train, Some(train)), (Part::Valid, valid), (Part::Test, test)] {
            if let Some(score) = score {
                self.state.place.metrics.push(line(number, part, score, rate));
            }
        }
        self.times.push(format!("{number},{:.3}", self.epoch_began.elapsed().as_secs_f64()));
        let place = &mut self.state.place;
        place.epoch = number;
        place.step = 0;
        place.sums = Sums::default();
        self.observer.event(Event::Epoch { epoch: number, train, valid, test, best });
        Ok(())
    }

    /// How well a net does on a part, unless that is empty.
    fn measure(&mut self, net: &T::Net, part: Part) -> Result<Option<Score>> {
        let examples = self.task.examples(part);
        if examples.is_empty() {
            return Ok(None);
        }
        let mut sums = Sums::default();
        for batch in examples.chunks(self.task.chunk(self.config.batch)) {
            sums.add(self.task, net, batch, &self.options.device);
            self.stop_if_asked()?;
        }
        Ok(Some(sums.score(self.task.has_errors())))
    }

    fn stop_if_asked(&mut self) -> Result<()> {
        if self.observer.stop() {
            self.save()?;
            return Err(Error::Interrupted);
        }
        Ok(())
    }

    /// Measures the best weights on every part.
    fn finish(&mut self) -> Result<RunResult> {
        // A process killed right after its last state has not written these.
        self.write_what_follows()?;
        let best = self.run.best(self.task, &self.options.device)?;
        let mut scores = [None; 3];
        for (score, part) in scores.iter_mut().zip([Part::Train, Part::Valid, Part::Test]) {
            self.observer.event(Event::Measuring(part));
            *score = self.measure(&best, part)?;
        }
        let chunk = self.task.chunk(self.config.batch);
        let test = self.task.examples(Part::Test);
        let also = self.task.also(&best, test, scores[2], chunk, &self.options.device);
        let facts = self.task.facts();
        let place = &self.state.place;
        let result = RunResult {
            kind: facts.kind.to_owned(),
            form: facts.form,
            parameters: weights::count(&best),
            seed: self.config.seed,
            epochs: place.epoch,
            best_epoch: place.best.map_or(place.epoch, |best| best.epoch),
            train: scores[0],
            valid: scores[1],
            test: scores[2],
            also,
        };
        let text = serde_json::to_string_pretty(&result).expect("numbers and words");
        files::write(&self.run.path("result.json"), format!("{text}\n").as_bytes())?;
        Ok(result)
    }
}

impl<T: Task> State<T> {
    fn optimize(&mut self, rate: f64, gradients: GradientsParams) {
        // The net goes through the optimiser by value.
        let net = self.net.clone();
        self.net = self.optimizer.step(rate, net, gradients);
    }

    /// The net that is measured and kept: with the mean of its weights, if there is one.
    fn kept(&self) -> T::Net {
        match &self.average {
            Some(average) => average.of(self.net.clone()),
            None => self.net.clone(),
        }
    }
}

impl Sums {
    /// Adds what a net does on a batch, in use.
    pub(crate) fn add<T: Task>(&mut self, task: &T, net: &T::Net, batch: &[usize], device: &Device) {
        self.add_measured(task.measure(net, batch, &mut Mode::Eval, device), batch.len());
    }

    /// Adds what was measured on so many examples.
    pub(crate) fn add_measured(&mut self, measured: Measured, examples: usize) {
        let loss = f64::from(measured.loss.into_scalar::<f32>());
        self.count(loss, measured.wrong, measured.answers, examples);
    }

    fn count(&mut self, loss: f64, wrong: Option<u64>, answers: u64, examples: usize) {
        self.loss += loss * examples as f64;
        self.wrong += wrong.unwrap_or(0);
        self.answers += answers;
        self.examples += examples as u64;
    }

    /// The means.
    pub(crate) fn score(self, has_errors: bool) -> Score {
        let error = has_errors.then(|| self.wrong as f64 / self.answers.max(1) as f64);
        let examples = self.examples as usize;
        Score { loss: self.loss / self.examples.max(1) as f64, error, examples }
    }
}

/// A line of `metrics.csv`.
fn line(epoch: usize, part: Part, score: Score, rate: f64) -> String {
    let error = score.error.map(|error| error.to_string()).unwrap_or_default();
    format!("{epoch},{},{},{error},{rate}", part.name(), score.loss)
}

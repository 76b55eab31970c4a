//! The training loop.
//!
//! Everything random in a step comes from a generator that the seed and the number of the step name: the order of an
//! epoch from its number, dropout and noise from the step's. So a checkpoint holds no random state, and a resumed run goes
//! through the same steps as an uninterrupted one.

mod checkpoint;
mod ema;
mod evaluate;
mod event;
mod extend;
mod memory;
mod optimizer;
mod options;
mod ordered_sum;
mod partial;
mod planned;
mod precision;
mod save;
mod scores;
mod shards;
mod source;
mod start;
mod together;

use std::sync::Arc;
use std::time::{Duration, Instant};

use burn::optim::GradientsParams;
use burn::tensor::{Device, Tensor};
use matnet::random::SeededRng;
use matnet::{Mode, Regularizer, weights};
use matnet_data::SplitIndices;

use self::checkpoint::{Checkpoint, Progress};
use self::ema::WeightAverage;
use self::evaluate::columns;
pub use self::event::{Event, Moved, Observer};
pub use self::memory::MemoryNeed;
use self::optimizer::Optimizer;
pub use self::options::{Options, Outcome};
pub(crate) use self::partial::partial_fit;
pub(crate) use self::planned::Planned;
pub(crate) use self::precision::check_device;
use self::scores::Unread;
use self::shards::Due;
use self::source::freeze;
pub use self::start::TrialScore;
pub(crate) use self::start::try_out;
use self::start::{Opened, open};
use self::together::Begun;
use crate::config::{Precision, Reduction, SavedActivations, TrainConfig};
use crate::metrics::Metric;
use crate::run::{Run, Score, Transfer, files};
use crate::task::{BatchScore, Fitted, NetOf, Pretraining, Task, TaskData};
use crate::{Error, Result, Split};

/// Trains a planned run in its folder: from the start, or on from its checkpoint.
pub(crate) fn train<T: Task>(
    planned: &Planned<T>,
    run: &Run,
    options: &Options,
    observer: &mut dyn Observer,
) -> Result<Outcome> {
    options.ranks.settle(train_together(planned, run, options, observer))
}

/// The same on one of the ranks.
fn train_together<T: Task>(
    planned: &Planned<T>,
    run: &Run,
    options: &Options,
    observer: &mut dyn Observer,
) -> Result<Outcome> {
    let Begun { planned, opened, finished, lock: _lock } = together::begin(planned, run, options)?;
    if let Some(result) = finished {
        return Ok(Outcome { result, was_finished: true });
    }
    let Opened { newest, state, transfer, .. } = opened;
    let mut trainer = Trainer::new(&planned, run, options, state, observer);
    trainer.begin(newest, transfer.as_ref());
    trainer.epochs(None)?;
    let (result, best) = trainer.finish()?;
    if options.report && options.ranks.is_first() {
        report(&planned.fitted(run, best, &result, options))?;
    }
    observer.event(Event::End);
    Ok(Outcome { result, was_finished: false })
}

/// Opens a run in its folder: the net from initial values or from a checkpoint, and the files that say what it is.
fn begin<T: Task>(planned: &Planned<T>, run: &Run, options: &Options) -> Result<Begun<T>> {
    let (mut planned, source) = planned.with_source(run)?;
    let mut former = None;
    if options.extend {
        (planned, former) = extend::extended(planned, run)?;
    }
    let lock = Some(run.lock()?);
    if let Some(former) = &former {
        extend::extend(run, former, &planned, &options.device)?;
    }
    let opened = open(&planned, source.as_ref(), run, options)?;
    let finished = match opened.state.progress.finished {
        true => run.result()?,
        false => None,
    };
    if let Some(result) = &finished {
        // A process killed right after the result has left it.
        checkpoint::remove_previous(run.folder())?;
        if options.report && !run.path("report.html").exists() {
            let best = run.best(planned.task.config(), &options.device)?;
            report(&planned.fitted(run, best, result, options))?;
        }
        return Ok(Begun { planned, opened, finished, lock });
    }
    files::write(&run.path("config.toml"), opened.config.as_bytes())?;
    files::write(&run.path("split.json"), split_json(&*planned.task).as_bytes())?;
    if let Some(transfer) = &opened.transfer {
        transfer.write(run)?;
    }
    Ok(Begun { planned, opened, finished, lock })
}

/// The pretraining that is still going on, if any.
fn pretraining<T: Task>(task: &T, progress: &Progress) -> Option<Pretraining> {
    task.pretraining().filter(|_| progress.pretrained.is_none())
}

#[cfg(feature = "report")]
fn report<T: Task>(fitted: &Fitted<T>) -> Result<()> {
    crate::report::write(fitted)
}

#[cfg(not(feature = "report"))]
fn report<T: Task>(_fitted: &Fitted<T>) -> Result<()> {
    Ok(())
}

/// Which examples are in which split, for the record.
fn split_json<T: Task>(task: &T) -> String {
    let [train, valid, test] = Split::ALL.map(|split| task.data().split(split).to_vec());
    let text = serde_json::to_string(&SplitIndices { train, valid, test }).expect("lists of numbers");
    format!("{text}\n")
}

/// Between two saves that the clock asks for lies at least so many times as long as a save takes: 2 % of a training at most.
const MOST_SAVING: u32 = 50;

/// The loop with all it needs.
struct Trainer<'a, T: Task> {
    kind: &'static str,
    /// The checksum of the config.
    config_sha256: String,
    task: &'a T,
    config: &'a TrainConfig,
    run: &'a Run,
    options: &'a Options,
    device: Device,
    state: Checkpoint<T>,
    observer: &'a mut dyn Observer,
    batch_size: usize,
    /// Steps per epoch.
    steps: usize,
    /// The metrics with a column of their own in `metrics.csv`.
    columns: Vec<Metric>,
    /// l1 and l2.
    regularizer: Regularizer,
    /// Losses that the device has not been asked for yet.
    unread: Unread,
    /// The best net of this process, and its weights if they have not been written yet.
    best: Option<NetOf<T>>,
    unwritten_best: Option<Vec<u8>>,
    saved: Instant,
    /// How long the last save took.
    saving: Duration,
    times: Vec<String>,
    epoch_start: Instant,
    /// How long the steps of this epoch took, and its evaluations.
    stepping: Duration,
    evaluating: Duration,
    /// In a search: the test split is never evaluated.
    hold_out_test: bool,
}

impl<'a, T: Task> Trainer<'a, T> {
    fn new(
        planned: &'a Planned<T>,
        run: &'a Run,
        options: &'a Options,
        state: Checkpoint<T>,
        observer: &'a mut dyn Observer,
    ) -> Self {
        let (task, config) = (&planned.task, &planned.train);
        let examples = task.data().split(Split::Train).len();
        let batch_size = task.batch_size(config.batch_size).unwrap_or(examples);
        let times = std::fs::read_to_string(run.path("times.csv")).unwrap_or_default();
        let times = times.lines().skip(1).take(state.progress.epoch).map(str::to_owned).collect();
        Self {
            kind: planned.kind,
            config_sha256: planned.checksum(),
            task,
            config,
            run,
            options,
            device: planned.training_device(&options.device),
            regularizer: planned.regularizer(&state.net),
            state,
            observer,
            batch_size,
            steps: examples.div_ceil(batch_size),
            columns: columns(&**task, config.monitor),
            unread: Unread::new(),
            best: None,
            unwritten_best: None,
            saved: Instant::now(),
            saving: Duration::ZERO,
            times,
            epoch_start: Instant::now(),
            stepping: Duration::ZERO,
            evaluating: Duration::ZERO,
            hold_out_test: false,
        }
    }

    fn begin(&mut self, resumed: Option<(usize, usize)>, transfer: Option<&Transfer>) {
        if let Some(moved) = &self.state.progress.moved {
            self.observer.event(Event::Moved(moved));
        }
        self.observer.event(Event::Begin {
            run: self.run,
            parameters: weights::count(&self.state.net),
            epochs: self.config.epochs + self.task.pretraining().map_or(0, |phase| phase.epochs),
            steps: self.steps,
            monitor: self.config.monitor.unwrap_or(Metric::Loss),
            resumed,
            notes: self.task.data().notes(),
            transfer,
        });
    }

    /// All epochs that are left, up to a number of them.
    fn epochs(&mut self, until: Option<usize>) -> Result<()> {
        let reached = |progress: &Progress| {
            let done = progress.epoch - progress.pretrained.unwrap_or(0);
            let pretraining = pretraining(self.task, progress).is_some();
            until.is_some_and(|until| !pretraining && done >= until)
        };
        self.epoch_start = Instant::now();
        while !self.state.progress.finished && !reached(&self.state.progress) {
            self.stepping = Duration::ZERO;
            self.train_epoch()?;
            self.evaluate_epoch()?;
            let pretraining = pretraining(self.task, &self.state.progress);
            let progress = &mut self.state.progress;
            let since_best = progress.best.map_or(0, |best| progress.epoch - best.epoch);
            match pretraining {
                Some(phase) if progress.epoch == phase.epochs || since_best >= phase.patience => {
                    // What was best in pretraining is not what is looked for.
                    (progress.pretrained, progress.best) = (Some(progress.epoch), None);
                    let net = self.task.with_pretraining(self.state.net.clone(), false);
                    self.state.net = freeze(net, &self.config.freeze);
                }
                Some(_) => {}
                None => {
                    let done = progress.epoch - progress.pretrained.unwrap_or(0);
                    progress.finished = done >= self.config.epochs
                        || self.config.patience.is_some_and(|patience| since_best >= patience);
                }
            }
            // Short epochs are not worth a write each: a killed run goes through them again.
            let due = self.state.progress.finished
                || self.saved.elapsed() > Duration::from_secs(2).max(MOST_SAVING * self.saving);
            if self.options.ranks.first_says(due)? {
                self.save()?;
            }
        }
        Ok(())
    }

    /// The learning rate of a step of an epoch. The schedule starts after pretraining.
    fn learning_rate(&self, epoch: usize, step: usize) -> f64 {
        if pretraining(self.task, &self.state.progress).is_some() {
            return self.config.learning_rate;
        }
        let done = epoch - self.state.progress.pretrained.unwrap_or(0);
        self.config.learning_rates(self.steps, done).at(done as u64 * self.steps as u64 + step as u64)
    }

    /// The number of a step among all steps, from 0; it names the step's random generator.
    fn step_number(&self, epoch: usize, step: usize) -> u64 {
        let progress = &self.state.progress;
        let epochs = epoch.saturating_sub(progress.epochs_before) as u64;
        progress.steps_before + epochs * self.steps as u64 + step as u64
    }

    /// The steps that are left of an epoch.
    fn train_epoch(&mut self) -> Result<()> {
        let mut order = self.task.data().split(Split::Train).to_vec();
        let (seed, epoch) = (self.config.seed, self.state.progress.epoch);
        let mut rng = SeededRng::new(seed, &format!("order of epoch {epoch}"));
        self.task.shuffle(&mut order, &mut rng);
        let batches = Arc::new(self.task.batches(&order, self.batch_size, &mut rng));
        let ahead = self.task.read_ahead(&self.own_share(&batches), self.state.progress.step);
        for (step, batch) in batches.iter().enumerate().skip(self.state.progress.step) {
            if let Some(ahead) = &ahead {
                ahead.reached(step);
            }
            let begun = Instant::now();
            let number = self.step_number(epoch, step);
            let learning_rate = self.learning_rate(epoch, step);
            let agreed = match self.config.shards {
                1 => {
                    let mode = Mode::train(SeededRng::new(seed, &format!("step {number}")));
                    self.train_step(batch, learning_rate, mode)?;
                    None
                }
                _ => self.sharded_step(batch, learning_rate, number)?,
            };
            if let Some(ema) = &mut self.state.ema {
                ema.update(&self.state.net, number);
            }
            self.stepping += begun.elapsed();
            self.state.progress.step = step + 1;
            let Score { loss, error, .. } = self.state.progress.sums.score(self.task.has_errors());
            self.observer.event(Event::Step { epoch, step: step + 1, loss, error, learning_rate });
            let due = agreed.unwrap_or_else(|| self.due());
            self.stop_if(due.stop)?;
            if due.save {
                self.save()?;
            }
        }
        Ok(())
    }

    /// What is due by the clock and the observer of this process.
    fn due(&mut self) -> Due {
        let save = self.saved.elapsed() > self.options.save_every.max(MOST_SAVING * self.saving);
        Due { stop: self.observer.stop(), save }
    }

    /// Forward, loss, backward, optimizer.
    fn train_step(&mut self, batch: &[usize], learning_rate: f64, mut mode: Mode) -> Result<()> {
        let replay = mode.clone();
        let low = precision::lowered(&self.state.net, self.config.precision);
        let net = low.as_ref().unwrap_or(&self.state.net);
        let score = self.forward_loss(net, batch, &mut mode);
        self.check_reads()?;
        let (mean, weight) = (score.loss.clone(), score.weight);
        self.take_score(score, batch, replay)?;
        let total = match self.config.reduction {
            Reduction::Mean => mean,
            Reduction::Sum => mean * weight,
        };
        let total = match self.regularizer.loss(&self.state.net) {
            Some(penalty) => total + penalty,
            None => total,
        };
        if let Some(gradients) = self.gradients(total)? {
            self.update(gradients, learning_rate);
        }
        Ok(())
    }

    /// The forward pass of a training step. Its layers save activations as the config says.
    fn forward_loss(&self, net: &NetOf<T>, examples: &[usize], mode: &mut Mode) -> BatchScore {
        let mut forward = || self.task.forward_loss(net, examples, mode, &self.device);
        match self.config.saved_activations {
            SavedActivations::Full => forward(),
            SavedActivations::Bf16 => matnet::ops::save_as_bf16(forward),
        }
    }

    /// The optimizer step: clipping, and the update rule.
    fn update(&mut self, gradients: GradientsParams, learning_rate: f64) {
        let net = &self.state.net;
        let gradients = optimizer::clipped(
            net,
            gradients,
            self.config.grad_clip_norm,
            self.config.grad_clip_norm_per_param,
        );
        // The net goes through the optimizer by value.
        let net = self.state.net.clone();
        self.state.net = self.state.optimizer.step(learning_rate, net, gradients);
    }

    /// The gradients of a loss; `None` if they overflow 16 bits and the step is to be left out.
    fn gradients(&mut self, loss: Tensor<1>) -> Result<Option<GradientsParams>> {
        let net = &self.state.net;
        if self.config.precision != Precision::Half {
            return Ok(Some(GradientsParams::from_grads(loss.backward(), net)));
        }
        let scale = self.state.progress.loss_scale.get_or_insert_default();
        let gradients = GradientsParams::from_grads((loss * scale.scale).backward(), net);
        let gradients = scale.unscaled(net, gradients);
        if scale.is_exhausted() {
            return Err(self.diverged_with_parameters("gradients overflow 16 bits"));
        }
        Ok(gradients)
    }

    /// Fails if examples that stay in their file could not be read.
    fn check_reads(&self) -> Result<()> {
        self.task.data().take_read_error().map_or(Ok(()), Err)
    }

    /// Saves and ends the training, if the user wants to stop.
    fn stop_if(&mut self, asked: bool) -> Result<()> {
        if asked {
            self.save()?;
            return Err(Error::Interrupted);
        }
        Ok(())
    }
}

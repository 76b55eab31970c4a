//! How a run starts: from initial values, from the weights of another run, or from its checkpoint. And the trials of a search, which
//! start in the same way and stop where they are told to.

use matnet::net::{Net, NetConfig};
use matnet::random::SeededRng;

use super::source::{SourceWeights, freeze};
use super::{
    Checkpoint, Observer, Optimizer, Options, Planned, Trainer, WeightAverage, checkpoint, precision,
    pretraining,
};
use crate::run::{Run, Transfer, files};
use crate::task::{NetOf, Task};
use crate::{Error, Result};

/// How far the training of a trial has come, and its best epoch by the validation split.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TrialScore {
    /// Epochs trained.
    pub epochs: usize,
    /// The best of them, from 1.
    pub best_epoch: usize,
    /// What is compared; lower is better. For a metric where higher is better it is the metric times −1.
    pub value: f64,
    /// The validation loss, which breaks ties.
    pub loss: f64,
}

/// Trains a trial of a search up to some epoch and leaves a checkpoint there, from which a later call goes on. The test split
/// is not evaluated, and no result or report is written. The caller holds the lock.
pub(crate) fn try_out<T: Task>(
    planned: &Planned<T>,
    run: &Run,
    epochs: usize,
    options: &Options,
    observer: &mut dyn Observer,
) -> Result<TrialScore> {
    let (planned, source) = &planned.with_source(run)?;
    let Opened { config, newest, state, transfer } = open(planned, source.as_ref(), run, options)?;
    files::write(&run.path("config.toml"), config.as_bytes())?;
    if let Some(transfer) = &transfer {
        transfer.write(run)?;
    }
    let mut trainer = Trainer::new(planned, run, options, state, observer);
    trainer.hold_out_test = true;
    trainer.begin(newest, transfer.as_ref());
    trainer.epochs(Some(epochs))?;
    trainer.save()?;
    checkpoint::remove_previous(run.folder())?;
    let progress = &trainer.state.progress;
    let best = progress.best.ok_or_else(|| Error::run(run.folder(), "no epoch was evaluated"))?;
    Ok(TrialScore { epochs: progress.epoch, best_epoch: best.epoch, value: best.first, loss: best.second })
}

/// What a run starts with.
pub(super) struct Opened<T: Task> {
    pub config: String,
    /// Epochs and steps of the checkpoint it resumes from.
    pub newest: Option<(usize, usize)>,
    pub state: Checkpoint<T>,
    pub transfer: Option<Transfer>,
}

impl<T: Task> Opened<T> {
    /// The same on another rank, from the bytes of the state that rank 0 starts with.
    pub fn received(
        planned: &Planned<T>,
        checkpoint: &[u8],
        newest: Option<(usize, usize)>,
        options: &Options,
    ) -> Result<Self> {
        let net = planned.blank_on(&planned.training_device(&options.device))?;
        let state = started(planned, net).decode(checkpoint, &options.device)?;
        let (config, state) = (planned.config_text(), ready(planned, state));
        Ok(Self { config, newest, state, transfer: None })
    }
}

/// The start of a run with this net.
fn started<T: Task>(planned: &Planned<T>, net: NetOf<T>) -> Checkpoint<T> {
    let optimizer = Optimizer::new(&planned.train, &net);
    let ema = planned.train.ema_decay.map(|decay| WeightAverage::new(decay, &net));
    Checkpoint::new(net, optimizer, ema, planned.checksum())
}

/// A state whose net is as its next step needs it: in pretraining or not, with its parameters frozen.
fn ready<T: Task>(planned: &Planned<T>, mut state: Checkpoint<T>) -> Checkpoint<T> {
    let pretraining = pretraining(&*planned.task, &state.progress).is_some();
    let net = planned.task.with_pretraining(state.net, pretraining);
    state.net = freeze(net, &planned.train.freeze);
    state
}

/// Compares the config with the one of the run, and initialises the net or restores it from a checkpoint.
pub(super) fn open<T: Task>(
    planned: &Planned<T>,
    source: Option<&SourceWeights>,
    run: &Run,
    options: &Options,
) -> Result<Opened<T>> {
    let config = planned.config_text();
    if let Some(difference) = run.difference(&config) {
        let what = format!(
            "the folder holds a run with another config ({difference}); --out chooses another folder, --fresh overwrites it"
        );
        return Err(Error::run(run.folder(), what));
    }
    let path = match options.from_previous {
        true => Some(run.path(checkpoint::PREVIOUS)),
        false => checkpoint::newest(run.folder())?,
    };
    let (task, train) = (&*planned.task, &*planned.train);
    let device = planned.training_device(&options.device);
    precision::check_device(train, &options.device)?;
    // What Burn allocates cannot fail any more, so it is tried here.
    let need = planned.memory_need(&planned.blank()?.summary(task.example().steps));
    matnet_data::memory::check(need.total(), "the net and a batch")?;
    let mut transfer = None;
    let net = match path {
        Some(_) => planned.blank_on(&device)?,
        None => {
            let net = task.config().init(&mut SeededRng::new(train.seed, "init"), &device);
            let mut net = net.map_err(crate::error::at("model"))?;
            if let Some(source) = source {
                let (filled, taken) = source.transfer(net)?;
                (net, transfer) = (filled, Some(taken));
            }
            net
        }
    };
    let mut state = started(planned, net);
    if let Some(path) = &path {
        state = state
            .restore(path, &options.device, None)
            .map_err(|error| checkpoint::advise(run.folder(), error))?;
    }
    let state = ready(planned, state);
    let newest = path.map(|_| (state.progress.epoch, state.progress.step));
    Ok(Opened { config, newest, state, transfer })
}

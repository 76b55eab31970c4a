//! More epochs on a run than it was started with.
//!
//! The run keeps what it has done: its checkpoint, its optimizer, the lines of `metrics.csv`. Its config gets the new number of
//! epochs and, if the schedule depends on that number, also the old one. So the config of an extended run still decides it: a
//! run with this config from the start gives the same bytes.

use burn::tensor::Device;

use super::checkpoint::{self, Checkpoint};
use super::{Planned, optimizer::Optimizer};
use crate::config::{Document, TrainConfig};
use crate::run::{BEST, Run, checksummed, files};
use crate::task::Task;
use crate::{Error, Result};

/// The plan of a run with the epochs that were asked for, and what the run was before if that differs.
pub fn extended<T: Task>(planned: Planned<T>, run: &Run) -> Result<(Planned<T>, Option<Planned<T>>)> {
    let Some(text) = files::read_text(&run.path("config.toml"))? else { return Ok((planned, None)) };
    let Ok(before) = Document::parse(&text).and_then(|document| document.train()) else {
        return Ok((planned, None));
    };
    let former = planned.with_train(TrainConfig {
        epochs: before.epochs,
        previous_epochs: before.previous_epochs.clone(),
        ..(*planned.train).clone()
    });
    let wanted = planned.train.epochs;
    if former.config_text() != text {
        // Something else differs, too; the caller says what.
        return Ok((planned, None));
    }
    if wanted == before.epochs {
        return Ok((former, None));
    }
    if wanted < before.epochs {
        let what = format!("has {} epochs and cannot be made shorter: --epochs {wanted}", before.epochs);
        return Err(Error::run(run.folder(), what));
    }
    let mut train = TrainConfig { epochs: wanted, ..(*former.train).clone() };
    if train.schedule.depends_on_total() {
        train.previous_epochs.push(before.epochs);
    }
    Ok((former.with_train(train), Some(former)))
}

/// Makes a run that was trained by one plan a run of another with more epochs. The config is written last: if this is
/// interrupted, the same command does it again.
pub fn extend<T: Task>(run: &Run, former: &Planned<T>, now: &Planned<T>, device: &Device) -> Result<()> {
    let (old, new) = (former.checksum(), now.checksum());
    if let Some(newest) = checkpoint::newest(run.folder())? {
        let net = now.blank_on(&now.training_device(device))?;
        let optimizer = Optimizer::new(&now.train, &net);
        let ema = now.train.ema_decay.map(|decay| super::WeightAverage::new(decay, &net));
        let blank = Checkpoint::<T>::new(net, optimizer, ema, new.clone());
        let mut state = blank.restore(&newest, device, Some(&old))?;
        let since_best = state.progress.best.map_or(0, |best| state.progress.epoch - best.epoch);
        if let Some(patience) = now.train.patience.filter(|&patience| since_best >= patience) {
            let what = format!(
                "stopped early after epoch {} (train.patience = {patience}); more epochs would change nothing",
                state.progress.epoch
            );
            return Err(Error::run(run.folder(), what));
        }
        files::remove(&run.path("result.json"))?;
        files::remove(&run.path("report.html"))?;
        state.progress.finished = false;
        state.save(run.folder())?;
        checkpoint::remove_previous(run.folder())?;
    }
    let best = run.path(BEST);
    if best.exists() {
        let decoded = checksummed::read(&best)?;
        let tensors: Vec<_> = decoded.tensors.into_iter().collect();
        files::write(&best, &checksummed::encode(&tensors, &decoded.text.replace(&old, &new), &best)?)?;
    }
    files::write(&run.path("config.toml"), now.config_text().as_bytes())
}

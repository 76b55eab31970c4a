//! What the ranks of a training do together: they begin with the same net, divide evaluations, and compare their weights.

use std::sync::Arc;

use burn::tensor::{Tensor, TensorData};
use matnet::weights;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::start::Opened;
use super::{Options, Planned, Trainer};
use crate::config::TrainConfig;
use crate::ranks::{check_same, pack, unpack};
use crate::run::{BEST, Run, RunLock, RunResult, checksummed, fill};
use crate::task::{EvaluatedBatch, NetOf, Sums, Task, evaluate_batch, to_vec};
use crate::{Error, Result};

/// A run that is open.
pub(super) struct Begun<T: Task> {
    pub planned: Planned<T>,
    pub opened: Opened<T>,
    /// The result, if it had been finished before.
    pub finished: Option<RunResult>,
    /// Rank 0 has it.
    pub lock: Option<RunLock>,
}

/// What rank 0 tells the others about a run that it has opened.
#[derive(Serialize, Deserialize)]
struct Opening {
    /// `[train]`, with what opening the run has found out.
    train: String,
    finished: Option<RunResult>,
    newest: Option<(usize, usize)>,
}

/// What a rank has found out about its batches.
#[derive(Default, Serialize, Deserialize)]
struct Share {
    stop: bool,
    sums: Vec<Sums>,
    /// Rows and columns of the scores, whose numbers follow.
    scores: Vec<Option<[usize; 2]>>,
}

/// Opens a run: rank 0 reads and writes the folder, and the others get from it what they need.
pub(super) fn begin<T: Task>(planned: &Planned<T>, run: &Run, options: &Options) -> Result<Begun<T>> {
    let ranks = &options.ranks;
    check_same(ranks, planned.config_text(), Some(format!("{:?}", options.device)))?;
    let shards = planned.train.shards;
    if ranks.size() > shards {
        let count = ranks.size();
        let expected =
            format!("{count} ranks need at least as many shards; train.shards = {count} gives each rank one");
        return Err(Error::config("train", "shards", shards.to_string(), expected));
    }
    ranks.made_by_first(
        || super::begin(planned, run, options),
        |begun| begun.message(run),
        |message| Begun::received(planned, message, options),
    )
}

impl<T: Task> Begun<T> {
    fn message(&mut self, run: &Run) -> Result<Vec<u8>> {
        let train = toml::to_string(&*self.planned.train).expect("a config that fits into TOML");
        let opening = Opening { train, finished: self.finished.clone(), newest: self.opened.newest };
        Ok(pack(&opening, &self.opened.state.encode(run.folder())?))
    }

    fn received(planned: &Planned<T>, message: &[u8], options: &Options) -> Result<Self> {
        let (Opening { train, finished, newest }, checkpoint) = unpack(message)?;
        let train: TrainConfig = toml::from_str(&train)
            .map_err(|error| Error::Syntax { line: None, message: error.message().to_owned() })?;
        let planned = planned.with_train(train);
        let opened = Opened::received(&planned, checkpoint, newest, options)?;
        Ok(Self { planned, opened, finished, lock: None })
    }
}

impl<T: Task> Trainer<'_, T> {
    /// What this rank needs of the batches of an epoch.
    pub(super) fn own_share(&self, batches: &Arc<Vec<Vec<usize>>>) -> Arc<Vec<Vec<usize>>> {
        let ranks = &self.options.ranks;
        if ranks.is_alone() {
            return Arc::clone(batches);
        }
        let own = |batch: &Vec<usize>| ranks.own_examples(batch, self.config.shards).to_vec();
        Arc::new(batches.iter().map(own).collect())
    }

    /// Evaluates a net on all batches, of which each rank takes its share.
    pub(super) fn evaluate_batches(
        &mut self,
        net: &NetOf<T>,
        batches: &[&[usize]],
    ) -> Result<Vec<EvaluatedBatch>> {
        let ranks = self.options.ranks.clone();
        let (mut share, mut own, mut numbers) = (Share::default(), Vec::new(), Vec::new());
        for batch in batches.iter().skip(ranks.rank()).step_by(ranks.size()) {
            let evaluated = evaluate_batch(self.task, net, batch, &self.options.device);
            self.check_reads()?;
            share.stop = self.observer.stop();
            if ranks.is_alone() {
                self.stop_if(share.stop)?;
                own.push(evaluated);
                continue;
            }
            if share.stop {
                break;
            }
            share.sums.push(evaluated.sums);
            share.scores.push(evaluated.scores.as_ref().map(Tensor::dims));
            let scores = evaluated.scores.map(to_vec).unwrap_or_default();
            numbers.extend(scores.iter().flat_map(|score| score.to_le_bytes()));
        }
        if ranks.is_alone() {
            return Ok(own);
        }
        let messages = ranks.gather(Ok(pack(&share, &numbers)))?;
        let mut shares = Vec::new();
        for message in &messages {
            let (share, numbers): (Share, _) = unpack(message)?;
            shares.push((share.stop, self.evaluated(share, numbers)?.into_iter()));
        }
        self.stop_if(shares.iter().any(|(stop, _)| *stop))?;
        let missing = || Error::Mismatch("a rank has evaluated less than its share".to_owned());
        (0..batches.len()).map(|at| shares[at % ranks.size()].1.next().ok_or_else(missing)).collect()
    }

    /// What a rank has sent.
    fn evaluated(&self, share: Share, mut numbers: &[u8]) -> Result<Vec<EvaluatedBatch>> {
        let cut_off = || Error::Mismatch("the message of a rank is cut off".to_owned());
        let mut all = Vec::new();
        for (sums, shape) in share.sums.into_iter().zip(share.scores) {
            let scores = match shape {
                None => None,
                Some([rows, cols]) => {
                    let (own, rest) = numbers.split_at_checked(4 * rows * cols).ok_or_else(cut_off)?;
                    numbers = rest;
                    let values =
                        own.as_chunks::<4>().0.iter().map(|bytes| f32::from_le_bytes(*bytes)).collect();
                    let data = TensorData::new::<f32, _>(values, [rows, cols]);
                    Some(Tensor::from_data(data, &self.options.device))
                }
            };
            all.push(EvaluatedBatch { sums, scores });
        }
        Ok(all)
    }

    /// Fails if the checkpoints of all ranks are not the same bytes.
    pub(super) fn check_equal(&self, checkpoint: &[u8]) -> Result<()> {
        let ranks = &self.options.ranks;
        if ranks.is_alone() {
            return Ok(());
        }
        let sums = ranks.gather(Ok(Sha256::digest(checkpoint).to_vec()))?;
        match sums.iter().position(|sum| *sum != sums[0]) {
            None => Ok(()),
            Some(rank) => {
                let progress = &self.state.progress;
                let message = format!(
                    "has other weights than rank 0 after epoch {}, step {}; nothing was saved, and the last checkpoint is intact",
                    progress.epoch, progress.step
                );
                Err(Error::Rank { rank, usage: false, message })
            }
        }
    }

    /// The weights of the best epoch, which rank 0 reads.
    pub(super) fn stored_best(&self) -> Result<NetOf<T>> {
        let (config, device, path) = (self.task.config(), &self.options.device, self.run.path(BEST));
        self.options.ranks.made_by_first(
            || self.run.best(config, device),
            |net| checksummed::encode(&weights::named(net), "", &path),
            |bytes| fill(config, checksummed::decode(bytes, &path)?.tensors, &path, device),
        )
    }
}

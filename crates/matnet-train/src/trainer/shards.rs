//! A step in shards: a batch is divided, the gradients of its shards are weighted and added in their order.
//!
//! Each shard draws dropout and noise from a generator of its own. Running statistics of batch norm start from the same values in
//! every shard, and what they become is averaged. So it makes no difference which process computes which shard.

use burn::module::{Module, ModuleMapper, ModuleVisitor, Param};
use burn::optim::GradientsParams;
use burn::tensor::{Tensor, TensorData};
use matnet::random::SeededRng;
use matnet::{Mode, weights};
use serde::{Deserialize, Serialize};

use super::Trainer;
use super::ordered_sum::{OrderedSum, across_ranks};
use crate::Result;
use crate::config::Reduction;
use crate::ranks::{pack, part, unpack};
use crate::task::{Sums, Task, to_vec};

/// What is due after a step.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Due {
    pub stop: bool,
    pub save: bool,
}

/// What a shard tells beside its gradient.
#[derive(Clone, Serialize, Deserialize)]
struct ShardScore {
    sums: Sums,
    examples: usize,
    /// Whether each parameter that is trained has a gradient.
    present: Vec<bool>,
}

/// What a rank tells about its shards.
#[derive(Serialize, Deserialize)]
struct Header {
    due: Due,
    shards: Vec<ShardScore>,
}

/// Gradients and running statistics as one vector, which begins with the gradients.
struct Flat {
    numbers: Vec<f32>,
    present: Vec<bool>,
}

impl<T: Task> Trainer<'_, T> {
    /// One step in shards. Gives what is due if the ranks have agreed on it.
    pub(super) fn sharded_step(&mut self, batch: &[usize], rate: f64, number: u64) -> Result<Option<Due>> {
        let ranks = self.options.ranks.clone();
        let layout = Layout::new(&self.state.net);
        let before = layout.statistics(&self.state.net);
        let (mut scores, mut vectors) = (Vec::new(), Vec::new());
        let range = 0..if ranks.is_alone() { layout.length() } else { 0 };
        let mut sum = OrderedSum::new(range, layout.gradients);
        for shard in ranks.own_shards(self.config.shards) {
            let examples = &batch[part(batch.len(), self.config.shards, shard)];
            if examples.is_empty() {
                continue;
            }
            layout.set_statistics(&self.state.net, &before);
            let name = format!("step {number}, shard {shard}");
            let mode = Mode::train(SeededRng::new(self.config.seed, &name));
            let (score, numbers) = self.shard(&layout, examples, mode)?;
            match ranks.is_alone() {
                true => sum.add(&numbers, weights_of(&score)),
                false => vectors.push(numbers),
            }
            scores.push(score);
        }
        if ranks.is_alone() {
            let total = sum.divided(self.divisors(&scores));
            self.apply_shards(&layout, &scores, total, rate);
            return Ok(None);
        }
        let own = Header { due: self.due(), shards: scores };
        let messages = ranks.gather(Ok(pack(&own, &[])))?;
        let headers: Vec<Header> =
            messages.iter().map(|message| Ok(unpack(message)?.0)).collect::<Result<_>>()?;
        let counts: Vec<usize> = headers.iter().map(|header| header.shards.len()).collect();
        // Rank 0 saves, so its clock counts.
        let due = Due { stop: headers.iter().any(|header| header.due.stop), save: headers[0].due.save };
        let scores: Vec<ShardScore> = headers.into_iter().flat_map(|header| header.shards).collect();
        let weights: Vec<[f64; 2]> = scores.iter().map(weights_of).collect();
        let (length, split) = (layout.length(), layout.gradients);
        let divisors = self.divisors(&scores);
        let total = across_ranks(&ranks, &vectors, &counts, length, split, &weights, divisors);
        self.apply_shards(&layout, &scores, total, rate);
        Ok(Some(due))
    }

    /// The score and the gradient of one shard.
    fn shard(&self, layout: &Layout, examples: &[usize], mut mode: Mode) -> Result<(ShardScore, Vec<f32>)> {
        let replay = mode.clone();
        let score = self.forward_loss(&self.state.net, examples, &mut mode);
        self.check_reads()?;
        let loss = f64::from(score.loss.clone().into_scalar::<f32>());
        if !loss.is_finite() {
            return Err(self.diverged(examples, replay, &format!("the loss is {loss}")));
        }
        let mut sums = Sums::default();
        sums.count(loss, &score, examples.len());
        let gradients = GradientsParams::from_grads(score.loss.backward(), &self.state.net);
        let Flat { numbers, present } = layout.flat(&self.state.net, gradients);
        Ok((ShardScore { sums, examples: examples.len(), present }, numbers))
    }

    /// What the sums over all shards are divided by.
    fn divisors(&self, scores: &[ShardScore]) -> [f64; 2] {
        let weight: f64 = scores.iter().map(|score| score.sums.weight()).sum();
        let examples: usize = scores.iter().map(|score| score.examples).sum();
        let gradient = match self.config.reduction {
            // Weights that are all 0 make a gradient of 0.
            Reduction::Mean if weight > 0.0 => weight,
            Reduction::Mean | Reduction::Sum => 1.0,
        };
        [gradient, examples as f64]
    }

    /// The optimizer step with the gradient of all shards.
    fn apply_shards(&mut self, layout: &Layout, scores: &[ShardScore], total: Vec<f32>, rate: f64) {
        for score in scores {
            self.state.progress.sums.merge(&score.sums);
        }
        let (gradients, statistics) = total.split_at(layout.gradients);
        let present: Vec<bool> = (0..scores.first().map_or(0, |score| score.present.len()))
            .map(|at| scores.iter().any(|score| score.present[at]))
            .collect();
        layout.set_statistics(&self.state.net, statistics);
        let net = &self.state.net;
        let penalty = self.regularizer.loss(net);
        let penalty = penalty.map(|penalty| GradientsParams::from_grads(penalty.backward(), net));
        let gradients = layout.gradients(net, gradients, &present, penalty.unwrap_or_default());
        self.update(gradients, rate);
    }
}

/// How much the gradient of a shard counts, and how much its statistics.
fn weights_of(score: &ShardScore) -> [f64; 2] {
    [score.sums.weight(), score.examples as f64]
}

/// What each parameter of a net is to a step, in the order in which a net is visited.
#[derive(Clone, Copy, PartialEq)]
enum Role {
    Trained,
    /// A running statistic of batch norm.
    Statistic,
    Frozen,
}

/// Where everything stands in the vector of a shard.
struct Layout {
    roles: Vec<Role>,
    /// Numbers in all gradients.
    gradients: usize,
    /// Numbers in all statistics.
    statistics: usize,
}

impl Layout {
    fn new<M: Module>(net: &M) -> Self {
        struct Roles<'a>(Layout, std::slice::Iter<'a, String>);
        impl ModuleVisitor for Roles<'_> {
            fn visit_float<const D: usize>(&mut self, param: &Param<Tensor<D>>) {
                let (tensor, layout) = (param.val(), &mut self.0);
                let size = tensor.shape().num_elements();
                layout.roles.push(match self.1.next() {
                    Some(name) if weights::is_running_statistic(name) => {
                        layout.statistics += size;
                        Role::Statistic
                    }
                    _ if tensor.is_require_grad() => {
                        layout.gradients += size;
                        Role::Trained
                    }
                    _ => Role::Frozen,
                });
            }
        }
        let names = weights::names(net);
        let empty = Layout { roles: Vec::new(), gradients: 0, statistics: 0 };
        let mut roles = Roles(empty, names.iter());
        net.visit(&mut roles);
        roles.0
    }

    fn length(&self) -> usize {
        self.gradients + self.statistics
    }

    /// The gradients and the statistics of a net as one vector.
    fn flat<M: Module>(&self, net: &M, gradients: GradientsParams) -> Flat {
        struct Flatten<'a>(std::slice::Iter<'a, Role>, GradientsParams, Flat);
        impl ModuleVisitor for Flatten<'_> {
            fn visit_float<const D: usize>(&mut self, param: &Param<Tensor<D>>) {
                if self.0.next() != Some(&Role::Trained) {
                    return;
                }
                let gradient = self.1.remove::<D>(param.id);
                self.2.present.push(gradient.is_some());
                match gradient {
                    Some(gradient) => self.2.numbers.extend(to_vec(gradient)),
                    None => {
                        let size = param.val().shape().num_elements();
                        self.2.numbers.extend(std::iter::repeat_n(0.0, size));
                    }
                }
            }
        }
        let flat = Flat { numbers: Vec::with_capacity(self.length()), present: Vec::new() };
        let mut flatten = Flatten(self.roles.iter(), gradients, flat);
        net.visit(&mut flatten);
        let mut flat = flatten.2;
        flat.numbers.extend(self.statistics(net));
        flat
    }

    /// The gradients in a vector, with those of the penalties.
    fn gradients<M: Module>(
        &self,
        net: &M,
        numbers: &[f32],
        present: &[bool],
        penalty: GradientsParams,
    ) -> GradientsParams {
        struct Unflatten<'a> {
            roles: std::slice::Iter<'a, Role>,
            present: std::slice::Iter<'a, bool>,
            numbers: &'a [f32],
            penalty: GradientsParams,
            gradients: GradientsParams,
        }
        impl ModuleVisitor for Unflatten<'_> {
            fn visit_float<const D: usize>(&mut self, param: &Param<Tensor<D>>) {
                if self.roles.next() != Some(&Role::Trained) {
                    return;
                }
                let weights = param.val().inner();
                let (own, rest) = self.numbers.split_at(weights.shape().num_elements());
                self.numbers = rest;
                let present = self.present.next() == Some(&true);
                let data = present.then(|| TensorData::new(own.to_vec(), weights.dims()));
                let data =
                    data.map(|data| Tensor::<D>::from_data(data, (&weights.device(), weights.dtype())));
                let gradient = match (data, self.penalty.remove::<D>(param.id)) {
                    (Some(data), Some(penalty)) => Some(data + penalty),
                    (data, penalty) => data.or(penalty),
                };
                if let Some(gradient) = gradient {
                    self.gradients.register(param.id, gradient);
                }
            }
        }
        let mut unflatten = Unflatten {
            roles: self.roles.iter(),
            present: present.iter(),
            numbers,
            penalty,
            gradients: GradientsParams::new(),
        };
        net.visit(&mut unflatten);
        unflatten.gradients
    }

    /// The running statistics of a net.
    fn statistics<M: Module>(&self, net: &M) -> Vec<f32> {
        struct Collect<'a>(std::slice::Iter<'a, Role>, Vec<f32>);
        impl ModuleVisitor for Collect<'_> {
            fn visit_float<const D: usize>(&mut self, param: &Param<Tensor<D>>) {
                if self.0.next() == Some(&Role::Statistic) {
                    self.1.extend(to_vec(param.val()));
                }
            }
        }
        let mut collect = Collect(self.roles.iter(), Vec::with_capacity(self.statistics));
        if self.statistics > 0 {
            net.visit(&mut collect);
        }
        collect.1
    }

    /// Gives a net these running statistics; all its clones share them.
    fn set_statistics<M: Module>(&self, net: &M, numbers: &[f32]) {
        struct Set<'a>(std::slice::Iter<'a, Role>, &'a [f32]);
        impl ModuleMapper for Set<'_> {
            fn map_float<const D: usize>(&mut self, param: Param<Tensor<D>>) -> Param<Tensor<D>> {
                if self.0.next() != Some(&Role::Statistic) {
                    return param;
                }
                let old = param.val();
                let (own, rest) = self.1.split_at(old.shape().num_elements());
                self.1 = rest;
                let data = TensorData::new(own.to_vec(), old.dims());
                param.map(|old| Tensor::from_data(data, (&old.device(), old.dtype())))
            }
        }
        if self.statistics > 0 {
            let _ = net.clone().map(&mut Set(self.roles.iter(), numbers));
        }
    }
}

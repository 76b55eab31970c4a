//! The forward pass of a chain.

use rayon::prelude::*;

use super::{Chain, Plan};
use crate::pair::Purpose;
use crate::parallel::{at_least, with_scratch};
use crate::pool::Buffer;
use crate::simd::{Element, Level};

impl<E: Element> Chain<'_, E> {
    /// The output of every sample; with `keep`, also what [`backward`](Self::backward) wants to be given.
    pub fn forward(&self, level: Level, keep: bool) -> (Vec<E>, Buffer<E>) {
        let plan = self.plan(level, |batch| Purpose::forward(batch, keep));
        let share = plan.share();
        let mut output = vec![E::ZERO; plan.batch * plan.y_size];
        let mut kept = Buffer::take(if keep { plan.batch.div_ceil(plan.per_block) * share } else { 0 });
        let blocks = output.par_chunks_mut(plan.per_block * plan.y_size).enumerate().with_min_len(at_least());
        if keep {
            let blocks = blocks.zip(kept.par_chunks_mut(share));
            blocks.for_each(|((block, out), share)| self.keep_block(&plan, block, share, out));
        } else {
            blocks.for_each(|(block, out)| self.pass_block(&plan, block, out));
        }
        (output, kept)
    }

    /// Everything stays where it was computed.
    fn keep_block(&self, plan: &Plan<E>, block: usize, share: &mut [E], out: &mut [E]) {
        let (mut x, mut rest) = share.split_at_mut(plan.pairs[0].input.len());
        self.enter(plan, block, x);
        for (at, (link, pair)) in self.links.iter().zip(&plan.pairs).enumerate() {
            let (middle, after) = rest.split_at_mut(pair.middle.len());
            let (y, after) = after.split_at_mut(pair.output.len());
            let next = plan.pairs.get(at + 1).map_or(0, |pair| pair.middle.len());
            pair.forward(x, middle, y, false, Some(link.bias), link.activation, &after[..next]);
            (x, rest) = (y, after);
        }
        leave(plan, x, out);
    }

    /// Two states take turns.
    fn pass_block(&self, plan: &Plan<E>, block: usize, out: &mut [E]) {
        let [state, middle] = plan.longest();
        with_scratch([state, state, middle], |[mut x, mut y, middle]| {
            self.enter(plan, block, x);
            for (link, pair) in self.links.iter().zip(&plan.pairs) {
                pair.forward(x, middle, y, false, Some(link.bias), link.activation, &[]);
                std::mem::swap(&mut x, &mut y);
            }
            leave(plan, x, out);
        });
    }

    /// Lays the inputs of a block side by side.
    fn enter(&self, plan: &Plan<E>, block: usize, x: &mut [E]) {
        let (samples, size) = (plan.samples(block), plan.x_size);
        let inputs = &self.input[samples.start * size..samples.end * size];
        plan.pairs[0].input.gather(plan.level, inputs, size, x);
    }
}

/// Takes the outputs of a block apart.
fn leave<E: Element>(plan: &Plan<E>, y: &[E], out: &mut [E]) {
    plan.pairs[plan.pairs.len() - 1].output.scatter(plan.level, y, out, plan.y_size);
}

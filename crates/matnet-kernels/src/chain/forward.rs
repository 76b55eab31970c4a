//! The forward pass of a chain.

use rayon::prelude::*;

use super::{Chain, Plan};
use crate::parallel::{at_least, in_pool, with_scratch};
use crate::pool::Buffer;
use crate::simd::{Element, Level};

impl<E: Element> Chain<'_, E> {
    /// The output of every sample; with `keep`, also what [`backward`](Self::backward) wants to be given.
    pub fn forward(&self, level: Level, keep: bool) -> (Vec<E>, Buffer<E>) {
        let plans = self.plans(level, true);
        let mut kept = Buffer::take(if keep { plans.iter().map(Plan::kept).sum() } else { 0 });
        let mut rest = &mut kept[..];
        let mut output: Option<Vec<E>> = None;
        for plan in &plans {
            let kept = if keep { rest.split_off_mut(..plan.kept()) } else { None };
            let input = output.as_deref().unwrap_or(self.input);
            output = Some(in_pool(plan.is_shared(), || plan.forward(input, kept)));
        }
        (output.unwrap_or_default(), kept)
    }
}

impl<E: Element> Plan<'_, E> {
    pub(super) fn forward(&self, input: &[E], kept: Option<&mut [E]>) -> Vec<E> {
        let mut output = vec![E::ZERO; self.batch * self.y_size];
        let blocks = output.par_chunks_mut(self.per_block * self.y_size).enumerate().with_min_len(at_least());
        if let Some(kept) = kept {
            let blocks = blocks.zip(kept.par_chunks_mut(self.share()));
            blocks.for_each(|((block, out), share)| self.keep_block(input, block, share, Some(out)));
        } else {
            blocks.for_each(|(block, out)| self.pass_block(input, block, out));
        }
        output
    }

    /// Everything stays where it was computed.
    pub(super) fn keep_block(&self, input: &[E], block: usize, share: &mut [E], out: Option<&mut [E]>) {
        let count = self.samples(block).len();
        let (mut x, mut rest) = share.split_at_mut(self.pairs[0].input.len());
        self.enter(input, block, x);
        for (at, (link, pair)) in self.links.iter().zip(&self.pairs).enumerate() {
            let (middle, after) = rest.split_at_mut(pair.middle.len());
            let (y, after) = after.split_at_mut(pair.output.len());
            let next = self.pairs.get(at + 1).map_or(0, |pair| pair.middle.len());
            let from = &x[..pair.input.filled(count)];
            pair.forward(from, middle, y, false, Some(link.bias), link.activation, &after[..next]);
            (x, rest) = (y, after);
        }
        if let Some(out) = out {
            self.leave(x, out);
        }
    }

    /// Two states take turns.
    fn pass_block(&self, input: &[E], block: usize, out: &mut [E]) {
        let count = self.samples(block).len();
        let [state, middle] = self.longest();
        with_scratch([state, state, middle], |[mut x, mut y, middle]| {
            self.enter(input, block, x);
            for (link, pair) in self.links.iter().zip(&self.pairs) {
                let from = &x[..pair.input.filled(count)];
                pair.forward(from, middle, y, false, Some(link.bias), link.activation, &[]);
                std::mem::swap(&mut x, &mut y);
            }
            self.leave(x, out);
        });
    }

    /// Lays out the inputs of a block.
    fn enter(&self, input: &[E], block: usize, x: &mut [E]) {
        let (samples, size) = (self.samples(block), self.x_size);
        let inputs = &input[samples.start * size..samples.end * size];
        self.pairs[0].input.gather(self.level, inputs, size, x);
    }

    /// Takes the outputs of a block apart.
    fn leave(&self, y: &[E], out: &mut [E]) {
        self.pairs[self.pairs.len() - 1].output.scatter(self.level, y, out, self.y_size);
    }
}

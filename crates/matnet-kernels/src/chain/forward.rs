//! The forward pass of a chain.

use rayon::prelude::*;

use super::{Chain, Plan};
use crate::kept::{Bf16, Keep, Kept, PartMut, round};
use crate::parallel::{at_least, in_pool, with_scratch};
use crate::simd::{Element, Level};

impl<E: Element> Chain<'_, E> {
    /// The output of every sample, and what [`backward`](Self::backward) wants to be given.
    pub fn forward(&self, level: Level, keep: Keep) -> (Vec<E>, Kept<E>) {
        let plans = self.plans(level, true);
        let mut kept = Kept::take(keep, plans.iter().map(Plan::kept).sum());
        let mut rest = kept.part_mut();
        let mut output: Option<Vec<E>> = None;
        for plan in &plans {
            let kept = rest.split_off(plan.kept());
            let input = output.as_deref().unwrap_or(self.input);
            output = Some(in_pool(plan.is_shared(), || plan.forward(input, kept)));
        }
        (output.unwrap_or_default(), kept)
    }
}

impl<E: Element> Plan<'_, E> {
    pub(super) fn forward(&self, input: &[E], kept: PartMut<E>) -> Vec<E> {
        let mut output = vec![E::ZERO; self.batch * self.y_size];
        let blocks = output.par_chunks_mut(self.per_block * self.y_size).enumerate().with_min_len(at_least());
        match kept {
            PartMut::Nothing => blocks.for_each(|(block, out)| self.pass_block(input, block, &mut [], out)),
            PartMut::Full(kept) => {
                let blocks = blocks.zip(kept.par_chunks_mut(self.share()));
                blocks.for_each(|((block, out), share)| self.keep_block(input, block, share, Some(out)));
            }
            PartMut::Bf16(kept) => {
                let blocks = blocks.zip(kept.par_chunks_mut(self.share()));
                blocks.for_each(|((block, out), share)| self.pass_block(input, block, share, out));
            }
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

    /// Two states take turns; if there is a share, each is rounded into it.
    fn pass_block(&self, input: &[E], block: usize, mut share: &mut [Bf16], out: &mut [E]) {
        let count = self.samples(block).len();
        let [state, middle] = self.longest();
        let mut save = |numbers: &[E]| {
            if let Some(to) = share.split_off_mut(..numbers.len()) {
                round(self.level, numbers, to);
            }
        };
        with_scratch([state, state, middle], |[mut x, mut y, middle]| {
            self.enter(input, block, x);
            save(&x[..self.pairs[0].input.len()]);
            for (link, pair) in self.links.iter().zip(&self.pairs) {
                let from = &x[..pair.input.filled(count)];
                pair.forward(from, middle, y, false, Some(link.bias), link.activation, &[]);
                save(&middle[..pair.middle.len()]);
                save(&y[..pair.output.len()]);
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

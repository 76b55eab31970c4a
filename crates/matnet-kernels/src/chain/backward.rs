//! The backward pass of a chain.

use rayon::prelude::*;

use super::{Chain, Plan};
use crate::in_order::InOrder;
use crate::kept::{Kept, Part, PartMut};
use crate::lanes;
use crate::parallel::{in_pool, with_scratch};
use crate::pool::Buffer;
use crate::simd::{Element, Level};

/// The gradients of one map.
#[derive(Clone, Debug)]
pub struct LinkGradients<E> {
    /// Of U.
    pub row_map: Vec<E>,
    /// Of V.
    pub col_map: Vec<E>,
    /// Of B.
    pub bias: Vec<E>,
}

/// What the backward pass gives.
#[derive(Clone, Debug)]
pub struct ChainGradients<E> {
    /// Of X, if it was asked for.
    pub input: Option<Vec<E>>,
    /// Those of each map.
    pub links: Vec<LinkGradients<E>>,
}

impl<E: Element> Chain<'_, E> {
    /// All gradients from that of the output. `kept` is what [`forward`](Self::forward) left. If it kept nothing, every block
    /// goes through its maps once more, to the same bits.
    pub fn backward(
        &self,
        level: Level,
        kept: &Kept<E>,
        gradient: &[E],
        need_input: bool,
    ) -> ChainGradients<E> {
        let plans = self.plans(level, false);
        let again = match kept {
            Kept::Nothing => self.plans(level, true),
            _ => Vec::new(),
        };
        let entered: Vec<Vec<E>> = again.iter().rev().skip(1).rev().fold(Vec::new(), |mut entered, plan| {
            let input = entered.last().map_or(self.input, Vec::as_slice);
            entered.push(plan.forward(input, PartMut::Nothing));
            entered
        });
        let all: usize = plans.iter().map(Plan::kept).sum();
        assert!(!again.is_empty() || kept.len() == all, "kept from another batch");
        let (mut rest, mut links, mut input) = (kept.part(), Vec::new(), None);
        for (at, plan) in plans.iter().enumerate().rev() {
            let (before, kept) = rest.split_at(rest.len().saturating_sub(plan.kept()));
            let kept = match again.get(at) {
                None => Shares::Kept(kept),
                Some(plan) => {
                    let input = at.checked_sub(1).map_or(self.input, |before| &entered[before]);
                    Shares::Again { plan, input }
                }
            };
            let gradient = input.as_deref().unwrap_or(gradient);
            let (d_input, mut some) =
                in_pool(plan.is_shared(), || plan.backward(kept, gradient, at > 0 || need_input));
            some.append(&mut links);
            (rest, links, input) = (before, some, d_input);
        }
        ChainGradients { links, input }
    }
}

/// What the blocks kept, or how to have it again.
#[derive(Clone, Copy)]
enum Shares<'a, E: Element> {
    Kept(Part<'a, E>),
    Again { plan: &'a Plan<'a, E>, input: &'a [E] },
}

impl<E: Element> Plan<'_, E> {
    fn backward(
        &self,
        kept: Shares<E>,
        gradient: &[E],
        need_input: bool,
    ) -> (Option<Vec<E>>, Vec<LinkGradients<E>>) {
        assert_eq!(gradient.len(), self.batch * self.y_size, "the gradient is of another size");
        let mut d_input = vec![E::ZERO; if need_input { self.batch * self.x_size } else { 0 }];
        let sums: Vec<_> = self.links.iter().map(|_| InOrder::default()).collect();
        let mut pieces = d_input.chunks_mut(self.per_block * self.x_size);
        let count = self.batch.div_ceil(self.per_block);
        let blocks = (0..count).map(|block| (block, pieces.next()));
        let length = self.share();
        let one = |(block, d_input)| match kept {
            Shares::Kept(kept) => {
                self.backward_block(&sums, block, kept.piece(block, length), gradient, d_input);
            }
            Shares::Again { plan, input } => {
                let mut share = Buffer::take(length);
                plan.keep_block(input, block, &mut share, None);
                self.backward_block(&sums, block, Part::Full(&share), gradient, d_input);
            }
        };
        if rayon::current_num_threads() == 1 || count == 1 {
            blocks.for_each(one);
        } else {
            // Threads take blocks in their order, so that no sum waits for long.
            blocks.par_bridge().for_each(one);
        }
        let links = self.pairs.iter().zip(sums).map(|(pair, sums)| {
            let (sums, [u, v]) = (sums.sum(), pair.gradients());
            let [row_map, col_map] = pair.without_gaps([&sums[..u], &sums[u..u + v]]);
            LinkGradients { row_map, col_map, bias: sums[u + v..].to_vec() }
        });
        let links = links.collect();
        (need_input.then_some(d_input), links)
    }

    fn backward_block(
        &self,
        sums: &[InOrder<E>],
        block: usize,
        share: Part<E>,
        gradient: &[E],
        d_input: Option<&mut [E]>,
    ) {
        let (level, samples) = (self.level, self.samples(block));
        let gradient = &gradient[samples.start * self.y_size..samples.end * self.y_size];
        let [state, middle] = self.longest();
        let [near_state, near] = [state, middle].map(|length| share.room(length));
        let lengths = [state, state, middle, near_state, near_state, near];
        with_scratch(lengths, |[mut g, mut d_x, s, mut near_x, mut near_y, near_middle]| {
            let output = &self.pairs[self.pairs.len() - 1].output;
            output.gather(level, gradient, self.y_size, g);
            let (mut rest, mut y) = share.split_at(share.len() - output.len());
            y.near(level, near_y);
            for (at, (link, pair)) in self.links.iter().zip(&self.pairs).enumerate().rev() {
                let (before, middle) = rest.split_at(rest.len() - pair.middle.len());
                let (before, x) = before.split_at(before.len() - pair.input.len());
                let filled = pair.output.filled(samples.len());
                lanes::through(level, link.activation, &y.or(near_y)[..filled], &mut g[..filled]);
                let [u, v] = pair.gradients();
                let mut term = Buffer::take(u + v + link.bias.len());
                let (d_u, others) = term.split_at_mut(u);
                let (d_v, d_b) = others.split_at_mut(v);
                d_b.fill(E::ZERO);
                let need = at > 0 || d_input.is_some();
                // The middle product of the map before stands right in front of X.
                let next = at.checked_sub(1).map_or(0, |before| self.pairs[before].middle.len());
                let next = before.split_at(before.len() - next).1.in_place();
                let (to, g_filled) = (need.then_some((&mut *d_x, false)), &g[..filled]);
                let x_filled = &x.near(level, near_x)[..pair.input.filled(samples.len())];
                let middle = middle.near(level, near_middle);
                pair.backward(x_filled, middle, g_filled, s, Some(d_u), d_v, true, to, next);
                lanes::sum_lanes(level, &pair.output, g_filled, d_b);
                sums[at].add(level, block, term);
                std::mem::swap(&mut g, &mut d_x);
                std::mem::swap(&mut near_x, &mut near_y);
                (rest, y) = (before, x);
            }
            if let Some(d_input) = d_input {
                self.pairs[0].input.scatter(level, g, d_input, self.x_size);
            }
        });
    }
}

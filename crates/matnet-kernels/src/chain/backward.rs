//! The backward pass of a chain.

use rayon::prelude::*;

use super::{Chain, Plan};
use crate::in_order::InOrder;
use crate::lanes;
use crate::pair::Purpose;
use crate::parallel::with_scratch;
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
    /// All gradients from that of the output. `kept` is what [`forward`](Self::forward) left.
    pub fn backward(&self, level: Level, kept: &[E], gradient: &[E], need_input: bool) -> ChainGradients<E> {
        let plan = self.plan(level, |_| Purpose::Backward);
        assert_eq!(gradient.len(), plan.batch * plan.y_size, "the gradient is of another size");
        let mut d_input = vec![E::ZERO; if need_input { self.input.len() } else { 0 }];
        let sums: Vec<_> = self.links.iter().map(|_| InOrder::default()).collect();
        let mut pieces = d_input.chunks_mut(plan.per_block * plan.x_size);
        let count = plan.batch.div_ceil(plan.per_block);
        assert_eq!(kept.len(), count * plan.share(), "kept from another batch");
        let blocks = (0..count).map(|block| (block, pieces.next()));
        let one = |(block, d_input)| self.backward_block(&plan, &sums, block, kept, gradient, d_input);
        if rayon::current_num_threads() == 1 {
            blocks.for_each(one);
        } else {
            // Threads take blocks in their order, so that no sum waits for long.
            blocks.par_bridge().for_each(one);
        }
        let links = self.links.iter().zip(sums).map(|(link, sums)| {
            let sums = sums.sum();
            let (row_map, rest) = sums.split_at(link.row_map.len());
            let (col_map, bias) = rest.split_at(link.col_map.len());
            LinkGradients { row_map: row_map.to_vec(), col_map: col_map.to_vec(), bias: bias.to_vec() }
        });
        ChainGradients { links: links.collect(), input: need_input.then_some(d_input) }
    }

    fn backward_block(
        &self,
        plan: &Plan<E>,
        sums: &[InOrder<E>],
        block: usize,
        kept: &[E],
        gradient: &[E],
        d_input: Option<&mut [E]>,
    ) {
        let (level, samples) = (plan.level, plan.samples(block));
        let share = &kept[block * plan.share()..(block + 1) * plan.share()];
        let gradient = &gradient[samples.start * plan.y_size..samples.end * plan.y_size];
        let [state, middle] = plan.longest();
        with_scratch([state, state, middle], |[mut g, mut d_x, s]| {
            let output = &plan.pairs[plan.pairs.len() - 1].output;
            output.gather(level, gradient, plan.y_size, g);
            let (mut rest, mut y) = share.split_at(share.len() - output.len());
            for (at, (link, pair)) in self.links.iter().zip(&plan.pairs).enumerate().rev() {
                let (before, middle) = rest.split_at(rest.len() - pair.middle.len());
                let (before, x) = before.split_at(before.len() - pair.input.len());
                lanes::through(level, link.activation, y, &mut g[..y.len()]);
                let (u, v) = (link.row_map.len(), link.col_map.len());
                let mut term = Buffer::take(u + v + link.bias.len());
                term.fill(E::ZERO);
                let (d_u, others) = term.split_at_mut(u);
                let (d_v, d_b) = others.split_at_mut(v);
                let need = at > 0 || d_input.is_some();
                // The middle product of the map before stands right in front of X.
                let next = at.checked_sub(1).map_or(0, |before| plan.pairs[before].middle.len());
                let next = &before[before.len() - next..];
                pair.backward(x, middle, g, s, Some(d_u), d_v, need.then_some((&mut *d_x, false)), next);
                lanes::sum_lanes(level, &pair.output, &g[..y.len()], d_b);
                sums[at].add(level, block, term);
                std::mem::swap(&mut g, &mut d_x);
                (rest, y) = (before, x);
            }
            if let Some(d_input) = d_input {
                plan.pairs[0].input.scatter(level, g, d_input, plan.x_size);
            }
        });
    }
}

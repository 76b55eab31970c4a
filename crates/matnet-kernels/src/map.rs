//! Y = f(Σᵢ UᵢᵀXᵢVᵢ + B) over a batch: `mat1` with one term, `mat2` with two.

use rayon::prelude::*;

use crate::kept::{Keep, Kept, PartMut, round};
use crate::pair::{Lay, MapSize, Pair};
use crate::parallel::{at_least, in_pool, parts, sum_parts, with_scratch};
use crate::simd::{Element, Level};
use crate::{Activation, lanes};

/// One term UᵀXV of the sum.
#[derive(Clone, Copy, Debug)]
pub struct Term<'a, E> {
    /// Sizes of one sample.
    pub size: MapSize,
    /// X of every sample, `batch × rows × cols`.
    pub input: &'a [E],
    /// U, `rows × rows_out`.
    pub row_map: &'a [E],
    /// V, `cols × cols_out`.
    pub col_map: &'a [E],
}

/// The whole map.
#[derive(Clone, Copy, Debug)]
pub struct Map<'a, E> {
    /// At least one; all give results of the same size for the same batch.
    pub terms: &'a [Term<'a, E>],
    /// B, `rows_out × cols_out`.
    pub bias: Option<&'a [E]>,
    /// f
    pub activation: Activation,
}

/// The gradients of one term.
#[derive(Clone, Debug)]
pub struct TermGradients<E> {
    /// Of X, if it was asked for.
    pub input: Option<Vec<E>>,
    /// Of U.
    pub row_map: Vec<E>,
    /// Of V.
    pub col_map: Vec<E>,
}

/// What the backward pass gives.
#[derive(Clone, Debug)]
pub struct MapGradients<E> {
    /// Those of each term.
    pub terms: Vec<TermGradients<E>>,
    /// Of B.
    pub bias: Vec<E>,
}

/// The sizes that a pass over a batch goes by.
struct Plan<'a, E: Element> {
    level: Level,
    batch: usize,
    /// Samples a block.
    per_block: usize,
    y_size: usize,
    pairs: Vec<Pair<'a, E>>,
    /// Length of all middle products of a block.
    middles: usize,
    /// Length of the longest block of inputs.
    x_block: usize,
    y_block: usize,
}

impl<E: Element> Plan<'_, E> {
    /// Whether threads share products.
    fn is_shared(&self) -> bool {
        self.pairs.iter().any(Pair::is_shared)
    }
}

impl<'a, E: Element> Map<'a, E> {
    fn plan(&self, level: Level, forward: bool) -> Plan<'a, E> {
        let first = &self.terms[0];
        let batch = batch(first.input.len(), first.size.input());
        let sizes: Vec<_> = self.terms.iter().map(|term| term.size).collect();
        let lay = Lay::choose::<E>(level, batch, 1, &sizes);
        for term in self.terms {
            assert_eq!(term.input.len(), batch * term.size.input(), "terms differ in batch");
            assert_eq!(
                (term.size.rows_out, term.size.cols_out),
                (first.size.rows_out, first.size.cols_out),
                "terms differ in the size of their results"
            );
        }
        let pairs: Vec<_> = self
            .terms
            .iter()
            .map(|term| Pair::new(lay, term.size, term.row_map, term.col_map, forward))
            .collect();
        Plan {
            level: lay.level,
            batch,
            per_block: lay.per_block::<E>(),
            y_size: first.size.output(),
            middles: pairs.iter().map(|pair| pair.middle.len()).sum(),
            x_block: pairs.iter().map(|pair| pair.input.len()).max().unwrap_or(0),
            y_block: pairs[0].output.len(),
            pairs,
        }
    }

    /// Y for every sample, and what [`backward`](Self::backward) wants to be given.
    pub fn forward(&self, level: Level, keep: Keep) -> (Vec<E>, Kept<E>) {
        let plan = self.plan(level, true);
        let Plan { level, batch, per_block, y_size, middles, .. } = plan;
        let one = |block: usize, y: &mut [E], mut middles: &mut [E]| {
            let samples = block * per_block..((block + 1) * per_block).min(batch);
            with_scratch([plan.x_block, plan.y_block], |[x_block, y_block]| {
                let last = self.terms.len() - 1;
                for (i, (term, pair)) in self.terms.iter().zip(&plan.pairs).enumerate() {
                    let size = term.size.input();
                    pair.input.gather(
                        level,
                        &term.input[samples.start * size..samples.end * size],
                        size,
                        x_block,
                    );
                    let middle = middles.split_off_mut(..pair.middle.len()).unwrap_or_default();
                    let (bias, activation) =
                        if i == last { (self.bias, self.activation) } else { (None, Activation::Identity) };
                    let x = &x_block[..pair.input.filled(samples.len())];
                    pair.forward(x, middle, y_block, i > 0, bias, activation, &[]);
                }
                plan.pairs[0].output.scatter(level, y_block, y, y_size);
            });
        };
        let mut output = vec![E::ZERO; batch * y_size];
        let mut kept = Kept::take(keep, batch.div_ceil(per_block) * middles);
        let blocks = output.par_chunks_mut(per_block * y_size).enumerate().with_min_len(at_least());
        in_pool(plan.is_shared(), || match kept.part_mut() {
            PartMut::Nothing => {
                blocks.for_each(|(block, y)| with_scratch([middles], |[middles]| one(block, y, middles)));
            }
            PartMut::Full(kept) => {
                let blocks = blocks.zip(kept.par_chunks_mut(middles));
                blocks.for_each(|((block, y), middles)| one(block, y, middles));
            }
            PartMut::Bf16(kept) => blocks.zip(kept.par_chunks_mut(middles)).for_each(|((block, y), kept)| {
                with_scratch([middles], |[middles]| {
                    one(block, y, middles);
                    round(level, middles, kept);
                });
            }),
        });
        (output, kept)
    }

    /// All gradients from that of Y. `output` and `kept` are what [`forward`](Self::forward) gave;
    /// `need_inputs` says of which terms the gradient of X is wanted.
    pub fn backward(
        &self,
        level: Level,
        output: &[E],
        kept: &Kept<E>,
        gradient: &[E],
        need_inputs: &[bool],
    ) -> MapGradients<E> {
        let plan = self.plan(level, false);
        let Plan { level, batch, per_block, y_size, .. } = plan;
        assert_eq!(output.len(), batch * y_size, "outputs of another batch");
        let kept = kept.part();
        let parts = parts(batch.div_ceil(per_block));
        let per_part = parts[0].len() * per_block;
        let mut d_inputs: Vec<Vec<E>> = self
            .terms
            .iter()
            .zip(need_inputs)
            .map(|(term, &need)| vec![E::ZERO; if need { term.input.len() } else { 0 }])
            .collect();
        // For each part, the piece of every input gradient that it writes.
        let mut pieces: Vec<Vec<&mut [E]>> = parts.iter().map(|_| Vec::new()).collect();
        for (d_input, term) in d_inputs.iter_mut().zip(self.terms) {
            let mut chunks = d_input.chunks_mut(per_part * term.size.input());
            for piece in &mut pieces {
                piece.push(chunks.next().unwrap_or_default());
            }
        }
        let weights: usize = plan.pairs.iter().flat_map(Pair::gradients).sum();
        let sums = parts.into_par_iter().zip(pieces).with_min_len(at_least()).map(|(part, mut pieces)| {
            let mut sums = vec![E::ZERO; weights + y_size];
            let middle = plan.pairs.iter().map(|pair| pair.middle.len()).max().unwrap_or(0);
            let near = kept.room(plan.middles);
            let lengths = [plan.x_block, plan.y_block, middle, plan.x_block, plan.y_block, near];
            with_scratch(lengths, |[x, g, s, dx, g_sum, near]| {
                g_sum.fill(E::ZERO);
                for block in part {
                    let samples = block * per_block..((block + 1) * per_block).min(batch);
                    let ys = samples.start * y_size..samples.end * y_size;
                    let (gs, ys) = (&gradient[ys.clone()], &output[ys]);
                    let g = &mut g[..plan.pairs[0].output.filled(samples.len())];
                    plan.pairs[0].output.gather_gradient(level, gs, ys, self.activation, g);
                    lanes::add_to(level, &mut g_sum[..g.len()], g);
                    let mut middles = kept.piece(block, plan.middles).near(level, near);
                    let mut sums = sums.as_mut_slice();
                    for ((term, pair), d_input) in self.terms.iter().zip(&plan.pairs).zip(&mut pieces) {
                        let size = term.size.input();
                        let xs = &term.input[samples.start * size..samples.end * size];
                        let x = &mut x[..pair.input.filled(samples.len())];
                        pair.input.gather(level, xs, size, x);
                        let middle = middles.split_off(..pair.middle.len()).unwrap_or_default();
                        let [d_u, d_v] =
                            pair.gradients().map(|length| sums.split_off_mut(..length).unwrap_or_default());
                        let need = !d_input.is_empty();
                        pair.backward(
                            x,
                            middle,
                            g,
                            s,
                            Some(d_u),
                            d_v,
                            false,
                            need.then_some((&mut *dx, false)),
                            &[],
                        );
                        if need {
                            let to = d_input.split_off_mut(..samples.len() * size).unwrap_or_default();
                            pair.input.scatter(level, dx, to, size);
                        }
                    }
                }
                lanes::sum_lanes(level, &plan.pairs[0].output, g_sum, &mut sums[weights..]);
            });
            sums
        });
        let sums = in_pool(plan.is_shared(), || sum_parts(sums.collect()));
        let mut rest = &sums[..];
        let mut terms = Vec::new();
        for ((pair, d_input), need) in plan.pairs.iter().zip(d_inputs).zip(need_inputs) {
            let sums = pair.gradients().map(|length| rest.split_off(..length).unwrap_or_default());
            let [row_map, col_map] = pair.without_gaps(sums);
            terms.push(TermGradients { input: need.then_some(d_input), row_map, col_map });
        }
        MapGradients { terms, bias: rest.to_vec() }
    }
}

/// How many samples of `size` numbers there are.
pub(crate) fn batch(len: usize, size: usize) -> usize {
    assert!(len > 0 && len.is_multiple_of(size), "{len} numbers are no batch of samples of {size}");
    len / size
}

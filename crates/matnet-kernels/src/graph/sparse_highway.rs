//! A layer of a column net whose aggregates are constant sums: highway over a node's own state and those of its neighbours.
//!
//! One thread takes a block of nodes from the states to the next states, so that nothing in between leaves the cache. Only what the
//! backward pass needs is kept.

use rayon::prelude::*;

use super::Csr;
use super::highway::{mixed, unmixed};
use super::product::RowSums;
use crate::Activation;
use crate::kept::{Keep, Kept, PartMut, round};
use crate::parallel::{at_least, parts, sum_parts, with_scratch};
use crate::pool::Buffer;
use crate::product::{Finish, MatrixView, product_to};
use crate::simd::{Element, Kernel, Level, Simd};

/// Nodes in a block at most, and numbers in all that a block works on: half of a second-level cache.
const NODES: usize = 240;
const NUMBERS: usize = 1 << 17;

/// A sparse matrix and its weights, if they are not all 1.
pub type Weighted<'a> = (&'a Csr, Option<&'a [f32]>);

/// Z = sigm(X V₁ + Σᵣ Aᵣ X Uᵣ₁ + b₁), C = f(X V₂ + Σᵣ Aᵣ X Uᵣ₂ + b₂), H′ = H + Z ⊙ (C − H), for constant sparse Aᵣ.
#[derive(Clone, Copy, Debug)]
pub struct SparseHighway<'a, E> {
    /// Aᵣ and its weights, each followed by the same transposed. A row per target node, a column per source node; the
    /// target nodes are the first source nodes.
    pub relations: &'a [[Weighted<'a>; 2]],
    /// Numbers in a state.
    pub width: usize,
    /// X, `cols × width`.
    pub input: &'a [E],
    /// H, `rows × width`; `None` for the first rows of X.
    pub state: Option<&'a [E]>,
    /// V₁ and V₂, `2 × width × width`.
    pub own_map: &'a [E],
    /// U₁ and U₂, relation after relation, `2 × relations · width × width`.
    pub neighbor_map: &'a [E],
    /// b₁ and b₂, `2 × width`.
    pub bias: &'a [E],
    /// f
    pub activation: Activation,
}

/// What the forward pass keeps.
#[derive(Debug)]
pub struct SparseHighwayKept<E: Element> {
    /// Aᵣ X of all relations, side by side.
    aggregated: Kept<E>,
    /// Z and C side by side.
    gates: Kept<E>,
}

impl<E: Element> SparseHighwayKept<E> {
    /// How many bytes it takes.
    pub fn bytes(&self) -> usize {
        self.aggregated.bytes() + self.gates.bytes()
    }
}

/// What the backward pass gives.
#[derive(Clone, Debug)]
pub struct SparseHighwayGradients<E> {
    /// Of X; and of H, where that is a part of it.
    pub input: Vec<E>,
    /// Of H, where it was given.
    pub state: Option<Vec<E>>,
    /// Of V.
    pub own_map: Vec<E>,
    /// Of U.
    pub neighbor_map: Vec<E>,
    /// Of b.
    pub bias: Vec<E>,
}

impl<'a, E: Element> SparseHighway<'a, E> {
    /// Target nodes and source nodes.
    fn nodes(&self) -> [usize; 2] {
        let [(first, _), _] = self.relations.first().expect("at least one relation");
        let [nodes, others] = [first.rows(), first.cols()];
        for [(graph, _), (transposed, _)] in self.relations {
            assert_eq!([graph.rows(), graph.cols()], [nodes, others], "relations differ in nodes");
            assert_eq!([transposed.rows(), transposed.cols()], [others, nodes], "transposed");
        }
        let width = self.width;
        assert!(width > 0, "states have a size");
        assert!(nodes <= others, "more target nodes than source nodes");
        assert_eq!(self.input.len(), others * width, "one state per source node");
        assert!(self.state.is_none_or(|state| state.len() == nodes * width), "one state per target node");
        assert_eq!(self.own_map.len(), 2 * width * width, "a map of own states");
        assert_eq!(self.neighbor_map.len(), 2 * self.aggregated() * width, "a map of the aggregates");
        assert_eq!(self.bias.len(), 2 * width, "one bias per number");
        [nodes, others]
    }

    /// Numbers in the aggregates of a node.
    fn aggregated(&self) -> usize {
        self.relations.len() * self.width
    }

    /// Numbers that enter the maps, per node.
    fn entering(&self) -> usize {
        self.width + self.aggregated()
    }

    fn state(&self) -> &'a [E] {
        self.state.unwrap_or(self.input)
    }

    /// Both maps below each other, those of the gate and of the candidate side by side.
    fn joined(&self) -> Vec<E> {
        let width = self.width;
        let mut joined = Vec::with_capacity(2 * self.entering() * width);
        for map in [self.own_map, self.neighbor_map] {
            let (gate, candidate) = map.split_at(map.len() / 2);
            for (gate, candidate) in gate.chunks_exact(width).zip(candidate.chunks_exact(width)) {
                joined.extend_from_slice(gate);
                joined.extend_from_slice(candidate);
            }
        }
        joined
    }

    /// The opposite of [`joined`](Self::joined).
    fn taken_apart(&self, joined: &[E]) -> [Vec<E>; 2] {
        let (own, neighbor) = joined.split_at(2 * self.width * self.width);
        [own, neighbor].map(|rows| {
            let half = |which| rows.chunks_exact(self.width).skip(which).step_by(2);
            half(0).chain(half(1)).flatten().copied().collect()
        })
    }

    fn at_once(&self) -> usize {
        (NUMBERS / (self.entering() + 2 * self.width)).clamp(16, NODES)
    }

    fn sums(&self, relation: usize) -> RowSums<'a, E> {
        let [(graph, weights), _] = self.relations[relation];
        RowSums::new(graph, weights, self.input, [self.width; 2])
    }

    /// H′ of every target node, and what [`backward`](Self::backward) wants to be given.
    ///
    /// # Panics
    ///
    /// If lengths do not fit.
    pub fn forward(&self, level: Level, keep: Keep) -> (Vec<E>, SparseHighwayKept<E>) {
        let [nodes, _] = self.nodes();
        let (width, aggregated, entering, at_once) =
            (self.width, self.aggregated(), self.entering(), self.at_once());
        let joined = self.joined();
        let map = MatrixView::new(&joined, entering, 2 * width);
        let sums: Vec<_> = (0..self.relations.len()).map(|relation| self.sums(relation)).collect();
        let level = level.for_columns();
        let rows = level.for_width(width);
        let mut next = vec![E::ZERO; nodes * width];
        let block = |first: usize, next: &mut [E], from: Aggregates<E>, gates: Option<&mut [E]>| {
            let count = next.len() / width;
            let fresh = if gates.is_some() { 0 } else { count * 2 * width };
            with_scratch([count * entering, fresh], |[x, fresh]| {
                let gates = gates.unwrap_or(fresh);
                rows.run(Enter { highway: *self, sums: &sums, first, x, from });
                let finish = Finish::bias(self.bias);
                product_to(level, MatrixView::new(x, count, entering), map, gates, finish, 1);
                rows.run(Mix { highway: *self, first, gates, next });
            });
        };
        let blocks = next.par_chunks_mut(at_once * width).enumerate().with_min_len(at_least());
        let mut kept = SparseHighwayKept {
            aggregated: Kept::take(keep, nodes * aggregated),
            gates: Kept::take(keep, nodes * 2 * width),
        };
        // Rows that come from memory are added up in passes of their own.
        let far = sums.iter().any(RowSums::is_far);
        let mut ready = Buffer::take(if far && keep != Keep::Full { nodes * aggregated } else { 0 });
        if far {
            let to = match kept.aggregated.part_mut() {
                PartMut::Full(kept) => kept,
                _ => &mut *ready,
            };
            for (relation, sums) in sums.iter().enumerate() {
                sums.give::<false>(level, to, [relation * width, aggregated]);
            }
        }
        let ready_from = |first: usize, nodes: usize| &ready[first * aggregated..][..nodes * aggregated];
        match (kept.aggregated.part_mut(), kept.gates.part_mut()) {
            (PartMut::Full(kept), PartMut::Full(gates)) => blocks
                .zip(kept.par_chunks_mut(at_once * aggregated))
                .zip(gates.par_chunks_mut(at_once * 2 * width))
                .for_each(|(((at, next), kept), gates)| {
                    let from = if far { Aggregates::Ready(kept) } else { Aggregates::Sum(Some(kept)) };
                    block(at * at_once, next, from, Some(gates));
                }),
            (PartMut::Bf16(kept), PartMut::Bf16(gates)) => blocks
                .zip(kept.par_chunks_mut(at_once * aggregated))
                .zip(gates.par_chunks_mut(at_once * 2 * width))
                .for_each(|(((at, next), kept), gates)| {
                    let near = if far { 0 } else { kept.len() };
                    with_scratch([near, gates.len()], |[near, near_gates]| {
                        let first = at * at_once;
                        if far {
                            let from = ready_from(first, next.len() / width);
                            block(first, next, Aggregates::Ready(from), Some(&mut *near_gates));
                            round(level, from, kept);
                        } else {
                            let from = Aggregates::Sum(Some(&mut *near));
                            block(first, next, from, Some(&mut *near_gates));
                            round(level, near, kept);
                        }
                        round(level, near_gates, gates);
                    });
                }),
            _ => blocks.for_each(|(at, next)| {
                let first = at * at_once;
                let from = match far {
                    true => Aggregates::Ready(ready_from(first, next.len() / width)),
                    false => Aggregates::Sum(None),
                };
                block(first, next, from, None);
            }),
        }
        (next, kept)
    }

    /// The gradients of all inputs, from that of H′.
    ///
    /// # Panics
    ///
    /// If lengths do not fit.
    pub fn backward(
        &self,
        level: Level,
        kept: &SparseHighwayKept<E>,
        gradient: &[E],
    ) -> SparseHighwayGradients<E> {
        let [nodes, others] = self.nodes();
        let (width, aggregated, entering, at_once) =
            (self.width, self.aggregated(), self.entering(), self.at_once());
        assert_eq!(gradient.len(), nodes * width, "one gradient per number");
        assert_eq!(
            [kept.aggregated.len(), kept.gates.len()],
            [nodes * aggregated, nodes * 2 * width],
            "kept from another pass"
        );
        let joined = self.joined();
        let map = MatrixView::new(&joined, entering, 2 * width).transposed();
        let level = level.for_columns();
        let rows = level.for_width(width);
        let mut input = vec![E::ZERO; others * width];
        let mut state = self.state.map(|state| vec![E::ZERO; state.len()]);
        let mut to_aggregated = Buffer::take(nodes * aggregated);
        // Which nodes share a partial sum of the weights' gradients depends on their number alone.
        let shares = parts(nodes);
        let size = shares.first().map_or(1, ExactSizeIterator::len);
        let mut states = state.as_mut().map(|state| state.chunks_mut(size * width));
        let states: Vec<_> = shares.iter().map(|_| states.as_mut().and_then(Iterator::next)).collect();
        let one = |first: usize, input: &mut [E], mut state: Option<&mut [E]>, to_aggregated: &mut [E]| {
            let mut weights = vec![E::ZERO; (entering + 1) * 2 * width];
            let (d_map, d_bias) = weights.split_at_mut(entering * 2 * width);
            let blocks =
                input.chunks_mut(at_once * width).zip(to_aggregated.chunks_mut(at_once * aggregated));
            for (block, (input, to_aggregated)) in blocks.enumerate() {
                let (first, count) = (first + block * at_once, input.len() / width);
                let state =
                    state.as_mut().map(|state| &mut state[block * at_once * width..][..count * width]);
                let [sums, gates] =
                    [(&kept.aggregated, aggregated), (&kept.gates, 2 * width)].map(|(kept, per_node)| {
                        kept.part().split_at(first * per_node).1.split_at(count * per_node).0
                    });
                let near = [&sums, &gates].map(|part| part.room(part.len()));
                let lengths = [count * entering, count * 2 * width, near[0], near[1]];
                with_scratch(lengths, |[x, g, near, near_gates]| {
                    let carried = state.unwrap_or(&mut *input);
                    let (sums, gates) = (sums.near(level, near), gates.near(level, near_gates));
                    rows.run(Unmix { highway: *self, sums, gates, gradient, first, x, g, carried, d_bias });
                    let g = MatrixView::new(g, count, 2 * width);
                    let seen = MatrixView::new(x, count, entering).transposed();
                    product_to(level, seen, g, d_map, Finish::ADD, 1);
                    product_to(level, g, map, x, Finish::STORE, 1);
                    rows.run(Leave { width, x, input, to_aggregated });
                });
            }
            weights
        };
        let weights = input[..nodes * width]
            .par_chunks_mut(size * width)
            .zip(to_aggregated.par_chunks_mut(size * aggregated))
            .zip(states)
            .zip(shares)
            .with_min_len(at_least())
            .map(|(((input, to_aggregated), state), share)| one(share.start, input, state, to_aggregated))
            .collect();
        let mut weights = sum_parts(weights);
        weights.resize((entering + 1) * 2 * width, E::ZERO);
        let bias = weights.split_off(entering * 2 * width);
        for (relation, [_, (transposed, weights)]) in self.relations.iter().enumerate() {
            let from = to_aggregated.get(relation * width..).unwrap_or_default();
            let sums = RowSums::new(transposed, *weights, from, [width, aggregated]);
            sums.give::<true>(level, &mut input, [0, width]);
        }
        let [own_map, neighbor_map] = self.taken_apart(&weights);
        SparseHighwayGradients { input, state, own_map, neighbor_map, bias }
    }
}

/// Where the aggregates of some nodes come from.
enum Aggregates<'a, E> {
    /// They are added up, and kept if there is a place for them.
    Sum(Option<&'a mut [E]>),
    /// They are there.
    Ready(&'a [E]),
}

/// What enters the maps: the state of a node and the aggregates of its neighbours, side by side.
struct Enter<'a, E> {
    highway: SparseHighway<'a, E>,
    sums: &'a [RowSums<'a, E>],
    first: usize,
    x: &'a mut [E],
    from: Aggregates<'a, E>,
}

impl<E: Element> Kernel<E> for Enter<'_, E> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd<Elem = E>>(self, s: S) {
        let Self { highway: SparseHighway { width, input, .. }, sums, first, x, from } = self;
        let aggregated = sums.len() * width;
        let kept = match from {
            Aggregates::Sum(kept) => kept,
            Aggregates::Ready(from) => {
                let nodes = x.chunks_exact_mut(width + aggregated).zip(from.chunks_exact(aggregated));
                for (node, (x, from)) in (first..).zip(nodes) {
                    copy(s, &input[node * width..][..width], &mut x[..width]);
                    copy(s, from, &mut x[width..]);
                }
                return;
            }
        };
        for (node, x) in (first..).zip(x.chunks_exact_mut(width + aggregated)) {
            copy(s, &input[node * width..][..width], &mut x[..width]);
            for (sums, x) in sums.iter().zip(x[width..].chunks_exact_mut(width)) {
                // SAFETY: the chunk has as many numbers as a state; a row that is not there would panic.
                unsafe { sums.row::<S, false>(s, node, x.as_mut_ptr()) }
            }
        }
        if let Some(kept) = kept {
            for (kept, x) in kept.chunks_exact_mut(aggregated).zip(x.chunks_exact(width + aggregated)) {
                copy(s, &x[width..], kept);
            }
        }
    }
}

/// The gradients of what entered go to the states and to the aggregates.
struct Leave<'a, E> {
    width: usize,
    x: &'a [E],
    /// These are added to.
    input: &'a mut [E],
    to_aggregated: &'a mut [E],
}

impl<E: Element> Kernel<E> for Leave<'_, E> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd<Elem = E>>(self, s: S) {
        let Self { width, x, input, to_aggregated } = self;
        let nodes = input.len() / width;
        let aggregated = to_aggregated.len() / nodes.max(1);
        let rows = input.chunks_exact_mut(width).zip(to_aggregated.chunks_exact_mut(aggregated));
        for (x, (input, to_aggregated)) in x.chunks_exact(width + aggregated).zip(rows) {
            let (own, others) = x.split_at(width);
            copy(s, others, to_aggregated);
            for at in (0..width).step_by(S::LANES) {
                let count = S::LANES.min(width - at);
                // SAFETY: both rows have `width` numbers, of which `count` are left.
                unsafe {
                    let to = input.as_mut_ptr().add(at);
                    let sum = s.add(s.load_first(to, count), s.load_first(own.as_ptr().add(at), count));
                    s.store_first(to, sum, count);
                }
            }
        }
    }
}

/// Rows are short: a call of a function would take longer than the copying.
#[inline(always)]
fn copy<S: Simd>(s: S, from: &[S::Elem], to: &mut [S::Elem]) {
    assert_eq!(from.len(), to.len(), "as many numbers");
    for at in (0..to.len()).step_by(S::LANES) {
        let count = S::LANES.min(to.len() - at);
        // SAFETY: both have `count` numbers from `at` on.
        unsafe { s.store_first(to.as_mut_ptr().add(at), s.load_first(from.as_ptr().add(at), count), count) }
    }
}

/// Z and C of some nodes in the place of what the maps gave, and H′.
struct Mix<'a, E> {
    highway: SparseHighway<'a, E>,
    first: usize,
    gates: &'a mut [E],
    next: &'a mut [E],
}

impl<E: Element> Kernel<E> for Mix<'_, E> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd<Elem = E>>(self, s: S) {
        let Self { highway, first, gates, next } = self;
        let width = highway.width;
        let state = highway.state()[first * width..].chunks_exact(width);
        for ((gates, next), state) in
            gates.chunks_exact_mut(2 * width).zip(next.chunks_exact_mut(width)).zip(state)
        {
            let (gate, candidate) = gates.split_at_mut(width);
            for at in (0..width).step_by(S::LANES) {
                let count = S::LANES.min(width - at);
                // SAFETY: all four rows have `width` numbers, of which `count` are left.
                unsafe {
                    let h = s.load_first(state.as_ptr().add(at), count);
                    let z = s.sigmoid(s.load_first(gate.as_ptr().add(at), count));
                    let c = highway.activation.apply(s, s.load_first(candidate.as_ptr().add(at), count));
                    s.store_first(gate.as_mut_ptr().add(at), z, count);
                    s.store_first(candidate.as_mut_ptr().add(at), c, count);
                    s.store_first(next.as_mut_ptr().add(at), mixed(s, h, z, c), count);
                }
            }
        }
    }
}

/// Some nodes backwards: the gradient of what the maps gave, of H where it is carried, and of b; and once more what entered.
struct Unmix<'a, E: Element> {
    highway: SparseHighway<'a, E>,
    /// What these nodes kept.
    sums: &'a [E],
    gates: &'a [E],
    gradient: &'a [E],
    first: usize,
    x: &'a mut [E],
    g: &'a mut [E],
    carried: &'a mut [E],
    d_bias: &'a mut [E],
}

impl<E: Element> Kernel<E> for Unmix<'_, E> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd<Elem = E>>(self, s: S) {
        let Self { highway, sums, gates, gradient, first, x, g, carried, d_bias } = self;
        let (width, aggregated, activation) = (highway.width, highway.aggregated(), highway.activation);
        assert!(d_bias.len() == 2 * width, "a gradient per bias");
        let of = |numbers: &'_ [E], width: usize, node: usize| numbers[node * width..][..width].as_ptr();
        let nodes = x.chunks_exact_mut(width + aggregated).zip(g.chunks_exact_mut(2 * width));
        for (node, ((x, g), carried)) in (first..).zip(nodes.zip(carried.chunks_exact_mut(width))) {
            copy(s, &highway.input[node * width..][..width], &mut x[..width]);
            copy(s, &sums[(node - first) * aggregated..][..aggregated], &mut x[width..]);
            let gates = of(gates, 2 * width, node - first);
            let (state, gradient) = (of(highway.state(), width, node), of(gradient, width, node));
            for at in (0..width).step_by(S::LANES) {
                let count = S::LANES.min(width - at);
                // SAFETY: all rows have `width` numbers or twice as many, of which `count` are left.
                unsafe {
                    let z = s.load_first(gates.add(at), count);
                    let c = s.load_first(gates.add(width + at), count);
                    let h = s.load_first(state.add(at), count);
                    let d = s.load_first(gradient.add(at), count);
                    let [to_state, to_gate, to_candidate] = unmixed(s, activation, d, [h, z, c]);
                    s.store_first(carried.as_mut_ptr().add(at), to_state, count);
                    for (place, d) in [(at, to_gate), (width + at, to_candidate)] {
                        s.store_first(g.as_mut_ptr().add(place), d, count);
                    }
                }
            }
        }
        // Node after node for a few numbers each: a sum that is stored and loaded again at every node would be waited for.
        for at in (0..2 * width).step_by(S::LANES) {
            let count = S::LANES.min(2 * width - at);
            // SAFETY: `count` numbers are left in the bias and in every row.
            unsafe {
                let mut sum = s.load_first(d_bias.as_ptr().add(at), count);
                for g in g.chunks_exact(2 * width) {
                    sum = s.add(sum, s.load_first(g.as_ptr().add(at), count));
                }
                s.store_first(d_bias.as_mut_ptr().add(at), sum, count);
            }
        }
    }
}

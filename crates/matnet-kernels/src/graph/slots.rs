//! Concatenated neighbours, each slot with its own map. Most slots of most nodes are empty, and only the others are multiplied.

use std::ops::Range;

use rayon::prelude::*;

use super::padded::{Padded, narrow, product};
use super::{Csr, sparse_product};
use crate::gemm::{Finish, Scalars};
use crate::parallel::with_scratch;
use crate::simd::{Element, Level};

/// Nodes whose neighbours are mapped together, slot after slot.
const NODES_AT_ONCE: usize = 512;

/// Entries of a slot whose share in the gradient of its map is added at once.
const ENTRIES_AT_ONCE: usize = 256;

/// Yᵢ = Σₛ Vₛᵀ hⱼ, where j is the s-th entry of row i.
#[derive(Clone, Copy, Debug)]
pub struct SlotMap<'a, E> {
    /// The neighbours of each node, in the order of the slots.
    pub graph: &'a Csr,
    /// The same, transposed.
    pub transposed: &'a Csr,
    /// For each entry of the transposed graph, its place in the other.
    pub places: &'a [u32],
    /// The most neighbours of a node.
    pub slots: usize,
    /// Numbers in a state.
    pub width: usize,
    /// H, `cols × width`.
    pub state: &'a [E],
    /// V, `slots · width × output`.
    pub map: &'a [E],
}

/// What the backward pass gives.
#[derive(Clone, Debug)]
pub struct SlotMapGradients<E> {
    /// Of H.
    pub state: Vec<E>,
    /// Of V.
    pub map: Vec<E>,
}

/// An entry of a slot: its node, its source node, and its place among all entries.
#[derive(Clone, Copy)]
struct Entry {
    node: usize,
    source: usize,
    place: usize,
}

impl<E: Element> SlotMap<'_, E> {
    fn nodes(&self) -> usize {
        self.graph.rows()
    }

    fn output(&self) -> usize {
        self.map.len() / (self.slots * self.width)
    }

    fn check(&self) {
        let Self { graph, transposed, places, slots, width, state, map } = *self;
        assert_eq!(transposed.rows(), graph.cols(), "the graph transposed");
        assert!([transposed.entries(), places.len()] == [graph.entries(); 2], "the same entries");
        assert!(slots > 0 && width > 0, "slots and states have a size");
        assert!((0..graph.rows()).all(|node| graph.range(node).len() <= slots), "a slot for each neighbour");
        assert_eq!(state.len(), graph.cols() * width, "one state per column");
        assert!(!map.is_empty() && map.len() % (slots * width) == 0, "a map for every slot");
    }

    /// The entries of some nodes, in the order of their places, by slots.
    fn by_slots(&self, nodes: Range<usize>) -> Vec<Vec<Entry>> {
        let mut slots = vec![Vec::new(); self.slots];
        for node in nodes {
            let places = self.graph.range(node);
            let source = &self.graph.columns()[places.clone()];
            for ((entries, place), &source) in slots.iter_mut().zip(places).zip(source) {
                entries.push(Entry { node, source: source as usize, place });
            }
        }
        slots
    }

    /// For each entry of some nodes, slot after slot: calls `take` with the row of `from` that `row` names for it, times the map of its
    /// slot.
    fn each_mapped(
        &self,
        level: Level,
        maps: &[Padded<E>],
        nodes: Range<usize>,
        (from, width, row): (&[E], usize, impl Fn(&Entry) -> usize),
        mut take: impl FnMut(&Entry, &[E]),
    ) {
        for (map, entries) in maps.iter().zip(self.by_slots(nodes)).filter(|(_, entries)| !entries.is_empty())
        {
            with_scratch([entries.len() * width, entries.len() * map.plane], |[rows, terms]| {
                gather(from, width, entries.iter().map(&row), (rows, width));
                map.after(level, (rows, width), entries.len(), terms);
                for (entry, term) in entries.iter().zip(terms.chunks_exact(map.plane)) {
                    take(entry, term);
                }
            });
        }
    }

    /// Y of every node.
    ///
    /// # Panics
    ///
    /// If lengths do not fit.
    pub fn forward(&self, level: Level) -> Vec<E> {
        self.check();
        let (width, output, nodes) = (self.width, self.output(), self.nodes());
        let level = level.for_blocks(1, output);
        let maps = self.map.chunks_exact(width * output);
        let maps: Vec<_> = maps.map(|map| Padded::new(level, map, [width, output], (output, 1))).collect();
        let mut y = vec![E::ZERO; nodes * output];
        y.par_chunks_mut(NODES_AT_ONCE * output).enumerate().for_each(|(block, y)| {
            let first = block * NODES_AT_ONCE;
            let nodes = first..first + y.len() / output;
            let source = |entry: &Entry| entry.source;
            self.each_mapped(level, &maps, nodes, (self.state, width, source), |entry, term| {
                let y = &mut y[(entry.node - first) * output..][..output];
                y.iter_mut().zip(term).for_each(|(sum, term)| *sum += *term);
            });
        });
        y
    }

    /// The gradients of all inputs, from that of Y.
    ///
    /// # Panics
    ///
    /// If lengths do not fit.
    pub fn backward(&self, level: Level, gradient: &[E]) -> SlotMapGradients<E> {
        self.check();
        assert_eq!(gradient.len(), self.nodes() * self.output(), "one number per result");
        // A row per state, an entry per target node.
        let offsets = self.transposed.offsets().to_vec();
        let source = Csr::new(self.places.len(), offsets, self.places.to_vec())
            .expect("places are numbers of entries");
        let terms = self.terms(level, gradient);
        SlotMapGradients {
            state: sparse_product(level, &source, None, &terms, self.width),
            map: self.map_gradient(level, gradient),
        }
    }

    /// What every entry adds to the gradient of its source state.
    fn terms(&self, level: Level, gradient: &[E]) -> Vec<E> {
        let (width, output, nodes) = (self.width, self.output(), self.nodes());
        let level = level.for_blocks(1, width);
        let maps = self.map.chunks_exact(width * output);
        let maps: Vec<_> = maps.map(|map| Padded::new(level, map, [output, width], (1, output))).collect();
        let mut terms = vec![E::ZERO; self.graph.entries() * width];
        let mut rest = terms.as_mut_slice();
        let blocks: Vec<_> = (0..nodes)
            .step_by(NODES_AT_ONCE)
            .map(|first| {
                let end = (first + NODES_AT_ONCE).min(nodes);
                let [start, stop] = [first, end].map(|node| self.graph.offsets()[node]);
                (first..end, start, rest.split_off_mut(..(stop - start) * width).unwrap_or_default())
            })
            .collect();
        blocks.into_par_iter().for_each(|(nodes, first_place, terms)| {
            let node = |entry: &Entry| entry.node;
            self.each_mapped(level, &maps, nodes, (gradient, output, node), |entry, term| {
                let to = &mut terms[(entry.place - first_place) * width..][..width];
                to.copy_from_slice(&term[..width]);
            });
        });
        terms
    }

    /// The gradient of V, a slot per thread.
    fn map_gradient(&self, level: Level, gradient: &[E]) -> Vec<E> {
        let (width, output, nodes) = (self.width, self.output(), self.nodes());
        let level = level.for_blocks(1, output);
        let plane = output.next_multiple_of(level.lanes::<E>());
        let mut sums = vec![E::ZERO; self.slots * width * plane];
        let slots = self.by_slots(0..nodes);
        sums.par_chunks_mut(width * plane).zip(slots).for_each(|(sums, entries)| {
            for entries in entries.chunks(ENTRIES_AT_ONCE) {
                with_scratch([entries.len() * width, entries.len() * plane], |[source, d_y]| {
                    gather(self.state, width, entries.iter().map(|entry| entry.source), (source, width));
                    gather(gradient, output, entries.iter().map(|entry| entry.node), (d_y, plane));
                    let source = Scalars::plain(source, (width, 1), (entries.len(), width));
                    product(level, source, (d_y, plane), sums, Finish::ADD);
                });
            }
        });
        narrow(&sums, plane, output)
    }
}

/// These rows of `from`, each of `width` numbers, one after the other.
fn gather<E: Element>(
    from: &[E],
    width: usize,
    rows: impl Iterator<Item = usize>,
    (to, stride): (&mut [E], usize),
) {
    for (row, to) in rows.zip(to.chunks_exact_mut(stride)) {
        to[..width].copy_from_slice(&from[row * width..][..width]);
    }
}

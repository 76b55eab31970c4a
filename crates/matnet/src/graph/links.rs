//! What a graph net is given: matrices, one or several per hop, and features.

use std::sync::Arc;

use super::{Features, Sparse};

/// The matrices that states are multiplied with, hop after hop.
///
/// For a whole graph each hop has the same ones. For a mini-batch each hop has fewer rows than columns: the
/// nodes that are still needed. They come first among the columns, in the same order, so that the first rows of the
/// states are those of the nodes themselves.
#[derive(Clone, Debug, PartialEq)]
pub struct Links {
    hops: Vec<Arc<[Sparse]>>,
    whole: bool,
}

impl Links {
    /// The same matrices for every hop.
    pub(super) fn whole(matrices: Vec<Sparse>) -> Self {
        Self { hops: vec![matrices.into()], whole: true }
    }

    /// Matrices for each hop, the first hop first.
    pub(super) fn blocks(hops: Vec<Vec<Sparse>>) -> Self {
        Self { hops: hops.into_iter().map(Arc::from).collect(), whole: false }
    }

    /// The matrices of a hop, one per relation.
    ///
    /// # Panics
    ///
    /// If there are not so many hops.
    pub fn hop(&self, hop: usize) -> &[Sparse] {
        if self.whole {
            return &self.hops[0];
        }
        assert!(hop < self.hops.len(), "the links reach {} hops, the net needs more", self.hops.len());
        &self.hops[hop]
    }

    /// How many hops there are; `None` if there is no end to them.
    pub fn hops(&self) -> Option<usize> {
        (!self.whole).then_some(self.hops.len())
    }

    /// How many nodes must bring their features.
    pub fn nodes(&self) -> usize {
        self.hops[0][0].cols()
    }
}

/// The input of a graph net: features of nodes, and what links them.
#[derive(Clone, Debug)]
pub struct GraphInput {
    /// A row of features per node that the links begin with.
    pub features: Features,
    /// Made by the net's `links`, or by a [`Sampler`](super::Sampler).
    pub links: Links,
}

impl GraphInput {
    /// Features and links.
    pub fn new(features: impl Into<Features>, links: &Links) -> Self {
        Self { features: features.into(), links: links.clone() }
    }
}

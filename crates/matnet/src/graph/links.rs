//! The input of a net on graphs: features, and the matrices of each hop.

use std::sync::Arc;

use super::{Features, Sparse};

/// The matrices that states are multiplied with, hop by hop.
///
/// For a whole graph they are the same for each hop. For a mini-batch each hop has fewer rows than columns: the nodes that are
/// still needed. They come first among the columns, in the same order, so that the first rows of the states belong to them.
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

    /// The number of hops; `None` for a whole graph, which has any number.
    pub fn hops(&self) -> Option<usize> {
        (!self.whole).then_some(self.hops.len())
    }

    /// The number of nodes whose features are needed.
    pub fn nodes(&self) -> usize {
        self.hops[0][0].cols()
    }
}

/// The input of a net on graphs: node features and links.
#[derive(Clone, Debug)]
pub struct GraphInput {
    /// A row of features per node of the first hop.
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

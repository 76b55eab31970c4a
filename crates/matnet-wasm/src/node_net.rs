//! A net on a graph: the classes of its nodes, and where its attention goes.

use burn::tensor::activation::softmax;
use burn::tensor::{Device, Tensor, TensorData};
use matnet::graph::{Features, Graph, GraphInput, Sparse};
use matnet::net::{ColumnNet, ColumnNetConfig, GraphNet, GraphNetConfig, Net};
use matnet::{LayerState, Mode, weights};
use safetensors::{Dtype, SafeTensors};

use crate::{Error, Result, Run};

/// A trained `column-net` with attention, and the one graph it looks at.
///
/// The graph is a safetensors file of unsigned numbers: `edges` `[m, 2]`, `words`, the features that are not zero, node after node, and
/// `words_per_node`.
#[derive(Debug)]
pub struct NodeNet {
    net: ColumnNet,
    classes: Vec<String>,
    adjacency: Sparse,
    /// Of all nodes `[nodes, classes]`.
    probabilities: Vec<f32>,
    /// What enters each layer, and what leaves the last one.
    states: Vec<LayerState>,
    device: Device,
}

impl NodeNet {
    /// Predicts the classes of all nodes of a graph.
    pub fn new(run: &Run, graph: &[u8]) -> Result<Self> {
        let device = Device::flex();
        let (config, net): (ColumnNetConfig, _) = run.net("column-net", &device)?;
        let classes = run.metadata.classes.clone();
        if classes.len() != config.num_classes() {
            let what = format!("names {} classes where the net has {}", classes.len(), config.num_classes());
            return Err(Error::Weights(what));
        }
        if net.layer.iter().any(|layer| layer.attention.len() != 1) {
            return Err(Error::Config("a net with attention over one relation expected".to_owned()));
        }
        let (graph, features) = read(graph, config.num_features(), run.metadata.normalize == "rows")?;
        let links = net.links(&graph)?;
        let mut mode = Mode::Eval.record();
        let scores = net.forward(GraphInput::new(Features::Sparse(features), &links), &mut mode);
        let probabilities = softmax(scores, 1).into_data().iter::<f32>().collect();
        let states = mode.recorded().to_vec();
        let adjacency = graph.adjacency(0).clone();
        Ok(Self { net, classes, adjacency, probabilities, states, device })
    }

    /// A name per class.
    pub fn classes(&self) -> &[String] {
        &self.classes
    }

    /// The number of parameters.
    pub fn parameters(&self) -> usize {
        weights::count(&self.net)
    }

    /// The probability of every class for every node: `[nodes, classes]`.
    pub fn probabilities(&self) -> &[f32] {
        &self.probabilities
    }

    /// How many layers, which is how many edges away the net sees.
    pub fn depth(&self) -> usize {
        self.states.len() - 1
    }

    /// How many heads a layer has.
    pub fn heads(&self) -> usize {
        self.net.layer[0].attention[0].heads()
    }

    /// The neighbours of a node, ascending.
    pub fn neighbors(&self, node: usize) -> Result<Vec<u32>> {
        self.check(node)?;
        Ok(self.adjacency.row(node).0.to_vec())
    }

    /// The attention weights of a node in a layer, from 0: `[heads, neighbors]`; each head's add up to 1.
    pub fn attention(&self, layer: usize, node: usize) -> Result<Vec<f32>> {
        self.check(node)?;
        if layer >= self.depth() {
            return Err(Error::Input(format!("there is no layer {layer}, the net has {}", self.depth())));
        }
        if self.adjacency.row(node).0.is_empty() {
            return Ok(Vec::new());
        }
        let LayerState { shape, values, .. } = &self.states[layer];
        let data = TensorData::new(values.clone(), [shape[0], shape[1]]);
        let state = Tensor::<2>::from_data(data, &self.device);
        // Tied layers share the parameters of the first.
        let attention = &self.net.layer[layer.min(self.net.layer.len() - 1)].attention[0];
        Ok(attention.weights(&self.adjacency, state, node).into_data().iter::<f32>().collect())
    }

    fn check(&self, node: usize) -> Result<()> {
        let nodes = self.adjacency.rows();
        match node < nodes {
            true => Ok(()),
            false => Err(Error::Input(format!("there is no node {node}, the graph has {nodes}"))),
        }
    }
}

/// Edges and features of a graph.
fn read(bytes: &[u8], num_features: usize, normalize: bool) -> Result<(Graph, Sparse)> {
    let file = SafeTensors::deserialize(bytes).map_err(|error| Error::Graph(error.to_string()))?;
    let edges: Vec<(u32, u32)> =
        numbers(&file, "edges")?.chunks_exact(2).map(|pair| (pair[0], pair[1])).collect();
    let (words, counts) = (numbers(&file, "words")?, numbers(&file, "words_per_node")?);
    let mut offsets = vec![0];
    let mut entries = Vec::with_capacity(words.len());
    for &count in &counts {
        let weight = if normalize { 1.0 / count as f32 } else { 1.0 };
        entries.extend(std::iter::repeat_n(weight, count as usize));
        offsets.push(entries.len());
    }
    let features = Sparse::new(num_features, offsets, words, Some(entries))?;
    Ok((Graph::new(counts.len(), &edges, false)?, features))
}

/// A tensor of unsigned numbers.
fn numbers(file: &SafeTensors, name: &str) -> Result<Vec<u32>> {
    let view = file.tensor(name).map_err(|error| Error::Graph(error.to_string()))?;
    match view.dtype() {
        Dtype::U8 => Ok(view.data().iter().map(|&byte| byte.into()).collect()),
        Dtype::U16 => {
            let pairs = view.data().chunks_exact(2);
            Ok(pairs.map(|pair| u16::from_le_bytes([pair[0], pair[1]]).into()).collect())
        }
        other => Err(Error::Graph(format!("{name} holds {other:?}; U8 or U16 expected"))),
    }
}

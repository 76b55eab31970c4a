//! What the report of a net on a graph shows.

use std::any::Any;

use burn::tensor::{Tensor, TensorData};
use matnet::Mode;
use matnet::net::{ColumnNet, GraphNetConfig, Net};
use matnet::random::SeededRng;
use matnet_report::chart::{HeatMap, Scatter3d};
use matnet_report::text::{count, number};
use matnet_report::tsne;

use super::{GraphTask, NodeGraph};
use crate::task::{
    FigureKind, Fitted, Loaded, NetOf, PredictRequest, Task, TaskData, TaskFigure, TaskReport, to_vec,
};
use crate::{Result, Split};

/// Hidden states that are shown; of more, so many are drawn.
const MAX_POINTS: usize = 1000;
/// Neighbors of a node that are shown, those with the highest attention weights.
const MAX_NEIGHBORS: usize = 25;
/// The perplexity of t-SNE.
const PERPLEXITY: f64 = 30.0;

impl<C: GraphNetConfig + 'static> TaskReport for GraphTask<C> {
    fn report_facts(&self, _net: &NetOf<Self>) -> Vec<(&'static str, String)> {
        let data = &self.data;
        let (min, mean, max) = data.degrees();
        let nodes = format!(
            "{}: {} nodes with {} features, {} classes",
            data.source(),
            count(data.nodes()),
            count(data.width),
            data.class_names.len()
        );
        vec![("data", nodes), ("degree", format!("{min} to {max}, mean {}", number(mean)))]
    }

    /// The last hidden states of the test nodes, placed in space by t-SNE from an initial place that the run's seed draws.
    fn figures(&self, fitted: &Fitted<Self>, kind: FigureKind) -> Result<Vec<TaskFigure>> {
        if kind != FigureKind::Embedding {
            return Ok(Vec::new());
        }
        let data = &self.data;
        let split = if data.split(Split::Test).is_empty() { Split::Valid } else { Split::Test };
        let mut rng = SeededRng::new(fitted.train.seed, "t-SNE");
        let mut nodes = data.split(split).to_vec();
        while nodes.len() > MAX_POINTS {
            nodes.swap_remove(rng.below(nodes.len()));
        }
        let classes = self.classes(&nodes);
        let hidden = self.hidden(&fitted.net, &data.places(&nodes), &fitted.device)?;
        let width = hidden.dims()[1];
        let initial = nodes.iter().map(|_| [0; 3].map(|_: i32| 1e-4 * rng.normal())).collect();
        let placed = tsne(&to_vec(hidden), width, PERPLEXITY, initial);
        let mut points = Scatter3d::new(format!("Hidden states of {}, by t-SNE", data.source()));
        for (class, name) in self.class_names().iter().enumerate() {
            let of_class = placed.iter().zip(&classes).filter(|(_, of)| **of as usize == class);
            points = points.with_class(name.replace('_', " "), of_class.map(|(point, _)| *point));
        }
        Ok(vec![TaskFigure::Embedding(points)])
    }

    /// Where the first nodes of a graph attend to; empty unless the net is a column network with attention that sees the whole graph, which
    /// is in memory.
    fn attention(loaded: &Loaded<Self>, request: &PredictRequest, count: usize) -> Result<Vec<TaskFigure>> {
        let net = (&loaded.net as &dyn Any).downcast_ref::<ColumnNet>();
        let Some(net) = net.filter(|net| !net.layer[0].attention.is_empty()) else { return Ok(Vec::new()) };
        let task = Self::for_file(loaded, request)?;
        let graph = match &task.data.graph {
            NodeGraph::Memory { graph, .. } if !task.data.packed => graph,
            _ => return Ok(Vec::new()),
        };
        if task.data.config.eval_num_neighbors.is_some() {
            return Ok(Vec::new());
        }
        // What enters each layer; the last state leaves the last one.
        let mut mode = Mode::Eval.record();
        loaded.net.forward(task.whole(&loaded.net, &loaded.device), &mut mode);
        let entering = &mode.recorded()[..mode.recorded().len() - 1];
        let entering: Vec<Tensor<2>> = entering
            .iter()
            .map(|state| {
                let data = TensorData::new(state.values.clone(), [state.shape[0], state.shape[1]]);
                Tensor::from_data(data, &loaded.device)
            })
            .collect();
        let heads = net.layer[0].attention[0].heads();
        let columns = (0..entering.len())
            .flat_map(|layer| (0..heads).map(move |head| format!("layer {}, head {}", layer + 1, head + 1)));
        let columns: Vec<String> = columns.collect();
        let names = task.data.names()?;
        let name = |place: u32| match &names {
            Some(names) => names[place as usize].clone(),
            None => place.to_string(),
        };
        let relations = &loaded.metadata.relations;
        let figure = |node: u32| {
            let mut rows: Vec<(String, Vec<f64>)> = Vec::new();
            for relation in 0..net.layer[0].attention.len() {
                let matrix = graph.adjacency(relation);
                let neighbors = matrix.row(node as usize).0;
                if neighbors.is_empty() {
                    continue;
                }
                let weights = entering.iter().enumerate().map(|(at, state)| {
                    // Tied layers share the parameters of the first.
                    let attention = &net.layer[at.min(net.layer.len() - 1)].attention[relation];
                    to_vec(attention.weights(matrix, state.clone(), node as usize))
                });
                let weights: Vec<Vec<f32>> = weights.collect();
                for (at, &neighbor) in neighbors.iter().enumerate() {
                    let of =
                        relations.get(relation).map_or(String::new(), |relation| format!("{relation}: "));
                    let each = |layer: &Vec<f32>| {
                        let heads = layer.iter().skip(at).step_by(neighbors.len());
                        // Two decimals are enough for the eye.
                        heads.map(|weight| f64::from((100.0 * weight).round()) / 100.0).collect::<Vec<_>>()
                    };
                    rows.push((format!("{of}{}", name(neighbor)), weights.iter().flat_map(each).collect()));
                }
            }
            let highest = |row: &(String, Vec<f64>)| row.1.iter().copied().fold(0.0, f64::max);
            rows.sort_by(|a, b| highest(b).total_cmp(&highest(a)));
            rows.truncate(MAX_NEIGHBORS);
            let title = format!("Attention weights of the neighbours of {}", name(node));
            let (rows, values): (Vec<String>, Vec<Vec<f64>>) = rows.into_iter().unzip();
            TaskFigure::Attention(HeatMap::new(title, rows, columns.clone(), values))
        };
        let nodes: Vec<usize> = (0..count.min(task.data.nodes())).collect();
        Ok(nodes.into_iter().map(|node| figure(node as u32)).collect())
    }
}

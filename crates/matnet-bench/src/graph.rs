//! The graphs of the table, and nets on them.

use burn::nn::loss::{CrossEntropyLoss, CrossEntropyLossConfig};
use burn::optim::{GradientsParams, ModuleOptimizer};
use burn::tensor::{Device, Int, Tensor, TensorData};
use matnet::graph::{Features, Graph, GraphInput};
use matnet::net::{GraphNet, GraphNetConfig};
use matnet::prelude::{Mode, SeededRng};
use matnet::weights;
use matnet_data::GraphData;
use matnet_data::catalog::{self, Cache, LoadOptions};
use safetensors::tensor::{Dtype, TensorView};
use serde::{Deserialize, Serialize};

use crate::row::Row;
use crate::task::{LEARNING_RATE, Task};

/// The number of features of a node in a random graph.
const WIDTH: usize = 64;

/// Where a graph comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum GraphSource {
    /// Cora, from matnet's repository.
    Cora,
    /// PubMed, where `MATNET_DATA` or the cache has it.
    PubMed,
    /// A random graph of this many nodes, with ten neighbours on average and 64 features.
    Random(usize),
}

/// How large a graph is.
pub struct GraphSize {
    /// Nodes.
    pub nodes: usize,
    /// Pairs of neighbours, in each direction.
    pub edges: usize,
    /// Features that are not 0.
    pub filled: usize,
}

/// A graph that has been loaded.
struct LoadedGraph {
    graph: Graph,
    edges: Vec<(u32, u32)>,
    features: Vec<f32>,
    width: usize,
    labels: Vec<Option<u32>>,
}

impl GraphSource {
    /// Fails with what is missing if the graph is not there.
    pub fn available(&self) -> Result<(), String> {
        match self {
            Self::Cora | Self::Random(_) => Ok(()),
            Self::PubMed => {
                let dataset = catalog::get("pubmed").map_err(|error| error.to_string())?;
                let cache = Cache::standard().map_err(|error| error.to_string())?;
                cache.require(dataset).map(|_| ()).map_err(|error| error.to_string())
            }
        }
    }

    /// How large it is.
    pub fn size(&self) -> Result<GraphSize, String> {
        let loaded = self.load()?;
        let filled = loaded.features.iter().filter(|&&number| number != 0.0).count();
        Ok(GraphSize { nodes: loaded.graph.nodes(), edges: loaded.graph.entries(), filled })
    }

    fn load(&self) -> Result<LoadedGraph, String> {
        let data = match *self {
            Self::Cora => "citations",
            Self::PubMed => "pubmed",
            Self::Random(nodes) => return random(nodes),
        };
        let cache = Cache::standard().map_err(|error| error.to_string())?;
        let loaded = catalog::load(data, &cache, LoadOptions::default()).and_then(|data| data.into_graph());
        let GraphData { features, labels, edges, .. } = loaded.map_err(|error| error.to_string())?;
        let graph = Graph::new(labels.len(), &edges, false).map_err(|error| error.to_string())?;
        let width = features.shape().last().copied().unwrap_or(0);
        Ok(LoadedGraph { graph, edges, features: features.into_data(), width, labels })
    }
}

/// Edges between random nodes, the same on every machine.
fn random(nodes: usize) -> Result<LoadedGraph, String> {
    let mut rng = SeededRng::new(3, "graph");
    let edges: Vec<(u32, u32)> =
        (0..5 * nodes).map(|_| (rng.below(nodes) as u32, rng.below(nodes) as u32)).collect();
    let features = (0..nodes * WIDTH).map(|_| rng.uniform() as f32 - 0.5).collect();
    let labels = (0..nodes).map(|node| Some(node as u32)).collect();
    let graph = Graph::new(nodes, &edges, false).map_err(|error| error.to_string())?;
    Ok(LoadedGraph { graph, edges, features, width: WIDTH, labels })
}

/// Loads a row of a net on a graph.
pub fn task<N: GraphNet + 'static>(
    row: &Row,
    optimizer: ModuleOptimizer,
    net: N,
    config: &impl GraphNetConfig<Net = N>,
    device: &Device,
) -> Result<Box<dyn Task>, String> {
    let (width, classes) = (config.num_features(), config.num_classes());
    let source = *row.source()?;
    // On a thread of its own, so that the allocator returns all memory that reading took.
    let loading = std::thread::spawn(move || source.load());
    let loaded = loading.join().map_err(|_| format!("{}: the graph could not be loaded", row.id))??;
    if loaded.width != width {
        return Err(format!("{}: the graph has {} features", row.id, loaded.width));
    }
    let links = net.links(&loaded.graph).map_err(|error| error.to_string())?;
    let features = Features::new(loaded.features, width, device).map_err(|error| error.to_string())?;
    let targets: Vec<i64> = targets(&loaded.labels, classes);
    let targets = Tensor::from_data(TensorData::new(targets, [loaded.labels.len()]), device);
    let loss = CrossEntropyLossConfig::new().init(device);
    let input = GraphInput { features, links };
    Ok(Box::new(OnGraph { source, classes, net: Some(net), optimizer, input, targets, loss }))
}

fn targets(labels: &[Option<u32>], classes: usize) -> Vec<i64> {
    labels.iter().map(|label| i64::from(label.unwrap_or(0)) % classes as i64).collect()
}

/// A net on all nodes of a graph.
struct OnGraph<N> {
    source: GraphSource,
    classes: usize,
    /// Taken out while the optimizer updates it.
    net: Option<N>,
    optimizer: ModuleOptimizer,
    input: GraphInput,
    targets: Tensor<1, Int>,
    loss: CrossEntropyLoss,
}

impl<N: GraphNet> OnGraph<N> {
    fn net(&self) -> &N {
        self.net.as_ref().expect("put back after every step")
    }
}

impl<N: GraphNet> Task for OnGraph<N> {
    fn step(&mut self) -> Tensor<1> {
        let scores = self.net().forward(self.input.clone(), &mut Mode::Eval);
        let loss = self.loss.forward(scores, self.targets.clone());
        let gradients = GradientsParams::from_grads(loss.backward(), self.net());
        let net = self.net.take().expect("put back after every step");
        self.net = Some(self.optimizer.step(LEARNING_RATE, net, gradients));
        loss
    }

    fn export(&self) -> Vec<u8> {
        // Loaded again, since a step needs neither edges nor dense features.
        let loaded = self.source.load().expect("it was there before");
        let named = weights::named(self.net()).into_iter();
        let mut tensors: Vec<(String, Dtype, Vec<usize>, Vec<u8>)> = named
            .map(|(name, data)| {
                (format!("weight.{name}"), Dtype::F32, data.shape().to_vec(), data.as_bytes().to_vec())
            })
            .collect();
        let nodes = loaded.labels.len();
        let features = loaded.features.iter().flat_map(|number| number.to_le_bytes()).collect();
        tensors.push(("input".to_owned(), Dtype::F32, vec![nodes, loaded.width], features));
        let ends = loaded.edges.iter().flat_map(|&(from, to)| [i64::from(from), i64::from(to)]);
        let ends = ends.flat_map(i64::to_le_bytes).collect();
        tensors.push(("edges".to_owned(), Dtype::I64, vec![loaded.edges.len(), 2], ends));
        let targets = targets(&loaded.labels, self.classes).into_iter().flat_map(i64::to_le_bytes).collect();
        tensors.push(("target".to_owned(), Dtype::I64, vec![nodes], targets));
        let views = tensors.iter().map(|(name, dtype, shape, bytes)| {
            (name, TensorView::new(*dtype, shape.clone(), bytes).expect("as many bytes as the shape says"))
        });
        safetensors::serialize(views, None).expect("in memory")
    }

    fn parameters(&self) -> usize {
        weights::count(self.net())
    }
}

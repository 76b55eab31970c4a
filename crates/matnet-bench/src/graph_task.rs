//! Nets on the graphs of the table.

use burn::nn::loss::{CrossEntropyLoss, CrossEntropyLossConfig};
use burn::optim::{GradientsParams, ModuleOptimizer};
use burn::tensor::{Device, Int, Tensor, TensorData};
use matnet::graph::{Features, GraphInput};
use matnet::net::{GraphNet, GraphNetConfig};
use matnet::prelude::Mode;
use matnet::weights;
use safetensors::tensor::{Dtype, TensorView};

use crate::graph::GraphSource;
use crate::row::Row;
use crate::task::{LEARNING_RATE, Task};

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

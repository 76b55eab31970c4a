//! The layers of deep nets. Each says here how it looks in ONNX.
//!
//! States are `[batch, rows, cols]`, or `[batch, time, rows, cols]` where every step is treated alike; a vector is a state of one
//! column, as in matnet itself.

use burn::module::Param;
use burn::tensor::Tensor;
use burn::tensor::activation::softmax;
use matnet::layer::{ClassHead, DenseSkip, Gate, GatedSkip, Map, MatBatchNorm, MatLinear, MatrixHead, Unit};
use matnet::net::StackLayer;
use matnet::ops::Activation;
use matnet::vector::VecLinear;

use crate::graph::{Graph, Value, numbers};

/// A part of a net that can be written as ONNX nodes.
pub trait Layer {
    /// Adds its nodes to a graph, from its input to its output.
    fn add(&self, graph: &mut Graph, input: &Value) -> Value;
}

impl Layer for Activation {
    fn add(&self, graph: &mut Graph, input: &Value) -> Value {
        let op = match self {
            Self::Identity => return input.clone(),
            Self::Relu => "Relu",
            Self::Sigmoid => "Sigmoid",
            Self::Tanh => "Tanh",
        };
        graph.op(op, &[input], vec![])
    }
}

/// σ(UᵀXV + B), the cheaper product first.
fn two_sided(
    graph: &mut Graph,
    input: &Value,
    row_map: Option<(Value, [usize; 2])>,
    col_map: Option<(Value, [usize; 2])>,
) -> Value {
    match (row_map, col_map) {
        (None, None) => input.clone(),
        (Some((row_map, _)), None) => graph.matmul(&row_map, input),
        (None, Some((col_map, _))) => graph.matmul(input, &col_map),
        (Some((row_map, [p, r])), Some((col_map, [c, q]))) => {
            if p * r * c + p * c * q < r * c * q + p * r * q {
                let left = graph.matmul(&row_map, input);
                graph.matmul(&left, &col_map)
            } else {
                let right = graph.matmul(input, &col_map);
                graph.matmul(&row_map, &right)
            }
        }
    }
}

impl Layer for MatLinear {
    fn add(&self, graph: &mut Graph, input: &Value) -> Value {
        let ([r, c], [p, q]) = (self.input(), self.output());
        let row_map = self.row_map.as_ref().map(|map| {
            let stored = graph.parameter("row_map", map.val());
            (graph.transposed(&stored), [p, r])
        });
        let col_map = self.col_map.as_ref().map(|map| (graph.parameter("col_map", map.val()), [c, q]));
        let mut output = two_sided(graph, input, row_map, col_map);
        if let Some(bias) = &self.bias {
            let bias = graph.parameter("bias", bias.val());
            output = graph.add(&output, &bias);
        }
        self.activation.add(graph, &output)
    }
}

impl Layer for VecLinear {
    /// From `[…, input]` to `[…, output]`.
    fn add(&self, graph: &mut Graph, input: &Value) -> Value {
        let weight = graph.parameter("weight", self.weight.val());
        let mut output = graph.matmul(input, &weight);
        if let Some(bias) = &self.bias {
            let bias = graph.parameter("bias", bias.val());
            output = graph.add(&output, &bias);
        }
        self.activation.add(graph, &output)
    }
}

impl Layer for Map {
    fn add(&self, graph: &mut Graph, input: &Value) -> Value {
        match self {
            Self::Matrix(map) => map.add(graph, input),
            Self::Vector(map) => {
                let vector = graph.squeeze(input, &[-1]);
                let output = map.add(graph, &vector);
                graph.unsqueeze(&output, &[-1])
            }
        }
    }
}

/// The transposed map with another bias and σ, as in the decoder of an auto-encoder; `scope` is where the map itself is stored.
pub fn add_transposed(
    graph: &mut Graph,
    scope: [&str; 2],
    map: &Map,
    input: &Value,
    bias: &Value,
    activation: Activation,
) -> Value {
    let stored = |graph: &mut Graph, name: &str, tensor: &Param<Tensor<2>>| {
        graph.scoped(scope[0], |graph| graph.scoped(scope[1], |graph| graph.parameter(name, tensor.val())))
    };
    let mapped = match map {
        Map::Matrix(map) => {
            let ([r, c], [p, q]) = (map.input(), map.output());
            let row_map = map.row_map.as_ref().map(|map| (stored(graph, "row_map", map), [r, p]));
            let col_map = map.col_map.as_ref().map(|map| {
                let col_map = stored(graph, "col_map", map);
                (graph.transposed(&col_map), [q, c])
            });
            two_sided(graph, input, row_map, col_map)
        }
        Map::Vector(map) => {
            let weight = stored(graph, "weight", &map.weight);
            let weight = graph.transposed(&weight);
            let vector = graph.squeeze(input, &[-1]);
            let output = graph.matmul(&vector, &weight);
            graph.unsqueeze(&output, &[-1])
        }
    };
    let output = graph.add(&mapped, bias);
    activation.add(graph, &output)
}

impl Layer for MatBatchNorm {
    /// G ⊙ (X − M) / √(S + ε) + A, where G / √(S + ε) is one constant.
    fn add(&self, graph: &mut Graph, input: &Value) -> Value {
        let shape: [usize; 2] = self.scale.val().dims();
        let variance = numbers(self.running_variance.value());
        let factor: Vec<f32> = numbers(self.scale.val())
            .iter()
            .zip(variance)
            .map(|(&scale, variance)| (f64::from(scale) / (f64::from(variance) + self.epsilon).sqrt()) as f32)
            .collect();
        let mean = graph.parameter("running_mean", self.running_mean.value());
        let factor = graph.floats("factor", &shape, &factor);
        let shift = graph.parameter("shift", self.shift.val());
        let centred = graph.sub(input, &mean);
        let scaled = graph.mul(&centred, &factor);
        graph.add(&scaled, &shift)
    }
}

impl Layer for Unit {
    fn add(&self, graph: &mut Graph, input: &Value) -> Value {
        let mapped = self.map.add(graph, input);
        match &self.norm {
            None => mapped,
            Some(norm) => {
                let output = graph.scoped("norm", |graph| norm.add(graph, &mapped));
                self.activation.add(graph, &output)
            }
        }
    }
}

/// Units one after another.
fn candidate(graph: &mut Graph, units: &[Unit], input: &Value) -> Value {
    graph.scoped("candidate", |graph| {
        units.iter().enumerate().fold(input.clone(), |state, (at, unit)| {
            graph.scoped(&at.to_string(), |graph| unit.add(graph, &state))
        })
    })
}

/// `value` times the gate for `state`.
fn gated(graph: &mut Graph, name: &str, gate: &Gate, state: &Value, value: &Value) -> Value {
    match gate {
        Gate::Constant(1.0) => value.clone(),
        Gate::Constant(factor) => {
            let factor = graph.float(*factor as f32);
            graph.mul(value, &factor)
        }
        Gate::Learned(map) => {
            let open = graph.scoped(name, |graph| map.add(graph, state));
            graph.mul(&open, value)
        }
    }
}

impl Layer for GatedSkip {
    fn add(&self, graph: &mut Graph, input: &Value) -> Value {
        let candidate = candidate(graph, &self.candidate, input);
        match &self.carry {
            Some(carry) => {
                let kept = gated(graph, "carry", carry, input, input);
                let new = gated(graph, "transform", &self.transform, input, &candidate);
                graph.add(&kept, &new)
            }
            None => {
                let change = graph.sub(&candidate, input);
                let change = gated(graph, "transform", &self.transform, input, &change);
                graph.add(input, &change)
            }
        }
    }
}

/// A dense skip, from all earlier states.
fn add_dense(graph: &mut Graph, skip: &DenseSkip, earlier: &[Value]) -> Value {
    let scores = skip.scores.val();
    let reached = scores.dims()[0].min(earlier.len());
    // Constant once the net is trained.
    let gates = numbers(softmax(scores.narrow(0, 0, reached), 0));
    let last = earlier.last().expect("a dense skip comes after a first layer");
    let new = candidate(graph, &skip.candidate, last);
    earlier.iter().rev().zip(gates).fold(new, |sum, (state, gate)| {
        let gate = graph.float(gate);
        let part = graph.mul(state, &gate);
        graph.add(&sum, &part)
    })
}

/// The hidden layers of a deep net; the last one stands for all up to `depth`.
pub fn add_stack(graph: &mut Graph, layers: &[StackLayer], depth: usize, input: &Value) -> Value {
    let (mut state, mut earlier) = (input.clone(), Vec::new());
    for index in 0..depth {
        let at = index.min(layers.len() - 1);
        state = graph.scoped("layer", |graph| {
            graph.scoped(&at.to_string(), |graph| match &layers[at] {
                StackLayer::Plain(layer) => layer.add(graph, &state),
                StackLayer::Skip(layer) => layer.add(graph, &state),
                StackLayer::Dense(layer) => add_dense(graph, layer, &earlier),
            })
        });
        earlier.push(state.clone());
    }
    state
}

/// The last part of a net.
pub trait HeadLayer {
    /// From states with `axes` axes before rows and columns: batch, or batch and time.
    fn add_head(&self, graph: &mut Graph, states: &Value, axes: usize) -> Value;
}

fn projected(graph: &mut Graph, projection: &Option<Map>, states: &Value) -> Value {
    match projection {
        Some(map) => graph.scoped("projection", |graph| map.add(graph, states)),
        None => states.clone(),
    }
}

impl HeadLayer for ClassHead {
    fn add_head(&self, graph: &mut Graph, states: &Value, axes: usize) -> Value {
        let states = projected(graph, &self.projection, states);
        let flat = graph.reshape(&states, &[&vec![0; axes][..], &[-1]].concat());
        self.map.add(graph, &flat)
    }
}

impl HeadLayer for MatrixHead {
    fn add_head(&self, graph: &mut Graph, states: &Value, axes: usize) -> Value {
        let states = projected(graph, &self.projection, states);
        let output = self.map.add(graph, &states);
        match &self.map {
            Map::Matrix(_) => output,
            Map::Vector(_) => {
                let [rows, cols] = self.shape.map(|side| side as i64);
                graph.reshape(&output, &[&vec![0; axes][..], &[rows, cols]].concat())
            }
        }
    }
}

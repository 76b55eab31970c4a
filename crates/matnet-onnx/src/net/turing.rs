//! The Neural Turing Machine: a `Scan` whose states are those of the controller and of the memory.

use burn::tensor::Device;
use matnet::net::{Controller, Net, TuringMachine};
use matnet::ops::{MemorySize, MemoryState};

use super::enter;
use crate::graph::{Graph, Value, numbers};
use crate::layer::Layer;
use crate::proto::{Attribute, Type};
use crate::recurrent::{State, add_step, add_zeros};

/// ε and δ of [`matnet::ops::memory_step`].
const BLANK: f32 = 1e-2;
const FLOOR: f32 = 1e-8;

/// A Turing machine: from `[batch, time, rows, cols]` to logits of the same axes.
pub fn add_turing_machine(graph: &mut Graph, net: &TuringMachine, input: &Value) -> Value {
    let steps = match &net.entry {
        None => enter(graph, net.form(), input, 2),
        Some(entry) => graph.scoped("entry", |graph| entry.add(graph, input)),
    };
    let (controller, memory) = (controller_start(graph, net, input), Memory::start(graph, net, input));
    let starts: Vec<Value> =
        controller.iter().flat_map(State::values).chain(memory.values()).cloned().collect();
    let body = graph.body(|body| {
        let controller = controller.as_ref().map(|start| State {
            hidden: body.input("hidden", Type::Float, None, ""),
            cell_state: start.cell_state.as_ref().map(|_| body.input("cell_state", Type::Float, None, "")),
        });
        let memory = Memory {
            size: net.memory_size(),
            read: body.input("read", Type::Float, None, ""),
            weights: body.input("weights", Type::Float, None, ""),
            memory: body.input("memory", Type::Float, None, ""),
        };
        let step = body.input("step", Type::Float, None, "");
        let last = enter(body, net.form(), &memory.read, 1);
        let seen = body.concat(&[&step, &last], 1);
        let (hidden, controller) = body.scoped("controller", |body| match &net.controller {
            Controller::Feedforward(map) => (map.add(body, &seen), None),
            Controller::Lstm(cell) => {
                let before = controller.expect("an LSTM has a state");
                let after = add_step(body, cell, &seen, &before);
                (after.hidden.clone(), Some(after))
            }
        });
        let address = body.scoped("address", |body| net.address.add(body, &hidden));
        let change = body.scoped("change", |body| net.change.add(body, &hidden));
        let memory = memory.step(body, &address, &change);
        let kept = [&hidden, &memory.read].map(|value| body.op("Identity", &[value], vec![]));
        let states = controller.iter().flat_map(State::values).chain(memory.values()).cloned();
        states.chain(kept).map(|value| (value, Type::Float)).collect()
    });
    let mut inputs: Vec<&Value> = starts.iter().collect();
    inputs.push(&steps);
    let attributes = vec![
        Attribute::graph("body", body),
        Attribute::int("num_scan_inputs", 1),
        Attribute::ints("scan_input_axes", vec![1]),
        Attribute::ints("scan_output_axes", vec![1, 1]),
    ];
    let outputs = graph.ops("Scan", &inputs, attributes, starts.len() + 2);
    let (hidden, read) = (&outputs[starts.len()], &outputs[starts.len() + 1]);
    let read = enter(graph, net.form(), read, 2);
    let from_hidden = graph.scoped("hidden_out", |graph| net.hidden_out.add(graph, hidden));
    let from_read = graph.scoped("read_out", |graph| net.read_out.add(graph, &read));
    let output = graph.add(&from_hidden, &from_read);
    let [rows, cols] = net.output.map(|side| side as i64);
    graph.reshape(&output, &[0, 0, rows, cols])
}

/// The state of the controller before the first step, if it has one.
fn controller_start(graph: &mut Graph, net: &TuringMachine, input: &Value) -> Option<State> {
    match &net.controller {
        Controller::Feedforward(_) => None,
        Controller::Lstm(cell) => Some(graph.scoped("controller", |graph| add_zeros(graph, cell, input))),
    }
}

/// A memory with the weights of its heads and their last reads.
struct Memory {
    size: MemorySize,
    /// R: `[batch, reads, width]`
    read: Value,
    /// W: `[batch, heads, slots]`
    weights: Value,
    /// Pᵀ: `[batch, width, slots]`
    memory: Value,
}

impl Memory {
    /// The memory before the first step; `input` has a row for every sample.
    fn start(graph: &mut Graph, net: &TuringMachine, input: &Value) -> Self {
        let size = net.memory_size();
        let start = MemoryState::start(size, 1, &Device::flex());
        let (batch, ones) = (graph.side_list(input, 0), graph.ints(&[1, 1]));
        let shape = graph.concat(&[&batch, &ones], 0);
        let [read, weights, memory] = [
            ("read", start.read()),
            ("weights", start.weights()),
            ("memory", start.memory().swap_dims(1, 2)),
        ]
        .map(|(name, part)| {
            let sides = part.dims();
            let one = graph.scoped("start", |graph| graph.floats(name, &sides, &numbers(part)));
            graph.expand(&one, &shape)
        });
        Self { size, read, weights, memory }
    }

    /// Its tensors.
    fn values(&self) -> impl Iterator<Item = &Value> {
        [&self.read, &self.weights, &self.memory].into_iter()
    }

    /// See [`matnet::ops::memory_step`].
    fn step(&self, graph: &mut Graph, address: &Value, change: &Value) -> Self {
        let MemorySize { width, reads, writes, .. } = self.size;
        let weights = self.addressed(graph, address);
        let change = graph.reshape(change, &[0, 2 * writes as i64, width as i64]);
        let (erased, added) =
            (graph.part(&change, 1, 0..writes), graph.part(&change, 1, writes..writes + writes));
        let (erased, added) = (graph.op("Sigmoid", &[&erased], vec![]), graph.op("Tanh", &[&added], vec![]));
        let turned = [&erased, &added].map(|rows| graph.transpose(rows, &[0, 2, 1]));
        let mut memory = self.memory.clone();
        for head in 0..writes {
            let own = graph.part(&weights, 1, reads + head..reads + head + 1);
            let erased = graph.part(&turned[0], 2, head..head + 1);
            let share = graph.mul(&erased, &own);
            let erase = graph.mul(&memory, &share);
            memory = graph.sub(&memory, &erase);
        }
        let writing = graph.part(&weights, 1, reads..reads + writes);
        let written = graph.matmul(&turned[1], &writing);
        let memory = graph.add(&memory, &written);
        let reading = graph.part(&weights, 1, 0..reads);
        let slots = graph.transpose(&memory, &[0, 2, 1]);
        Self { size: self.size, read: graph.matmul(&reading, &slots), weights, memory }
    }

    /// The new weights of all heads.
    fn addressed(&self, graph: &mut Graph, address: &Value) -> Value {
        let MemorySize { slots, width, shift, .. } = self.size;
        let address = graph.reshape(address, &[0, self.size.heads() as i64, self.size.address() as i64]);
        let param = |graph: &mut Graph, from: usize, count: usize, op: &str| {
            let param = graph.part(&address, 2, from..from + count);
            if op == "Softmax" { graph.softmax(&param) } else { graph.op(op, &[&param], vec![]) }
        };
        let key = param(graph, 0, width, "Tanh");
        let strength = param(graph, width, 1, "Softplus");
        let gate = param(graph, width + 1, 1, "Sigmoid");
        let shifts = param(graph, width + 2, 1 + 2 * shift, "Softmax");
        let (sharpness, one) = (param(graph, width + 3 + 2 * shift, 1, "Softplus"), graph.float(1.0));
        let sharpness = graph.add(&sharpness, &one);

        let length = |graph: &mut Graph, x: &Value, axis: i64| {
            let squares = graph.mul(x, x);
            let (sum, blank) = (graph.sum(&squares, &[axis]), graph.float(BLANK));
            let sum = graph.add(&sum, &blank);
            graph.op("Sqrt", &[&sum], vec![])
        };
        let (of_slots, of_keys) = (length(graph, &self.memory, 1), length(graph, &key, 2));
        let lengths = graph.mul(&of_keys, &of_slots);
        let products = graph.matmul(&key, &self.memory);
        let similar = graph.div(&products, &lengths);
        let strong = graph.mul(&similar, &strength);
        let content = graph.softmax(&strong);
        let change = graph.sub(&content, &self.weights);
        let change = graph.mul(&gate, &change);
        let interpolated = graph.add(&self.weights, &change);

        // Every shift of the circle side by side; entry n of the shift by j is entry n − j.
        let turns = 1 + 2 * shift;
        let places: Vec<usize> = (0..turns)
            .flat_map(|turn| (0..slots).map(move |slot| (slot + slots + shift - turn) % slots))
            .collect();
        let places = graph.indices("turned", &places);
        let turned = graph.gather(&interpolated, 2, &places);
        let turned = graph.reshape(&turned, &[0, 0, turns as i64, slots as i64]);
        let shifts = graph.unsqueeze(&shifts, &[3]);
        let shares = graph.mul(&turned, &shifts);
        let sum = graph.sum(&shares, &[2]);
        let (moved, floor) = (graph.squeeze(&sum, &[2]), graph.float(FLOOR));
        let moved = graph.add(&moved, &floor);
        let logs = graph.op("Log", &[&moved], vec![]);
        let sharp = graph.mul(&logs, &sharpness);
        graph.softmax(&sharp)
    }
}

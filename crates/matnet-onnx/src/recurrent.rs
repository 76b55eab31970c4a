//! Recurrent layers: a `Scan` for every cell.
//!
//! What the input gives each gate is computed for all steps at once, before the scan. A sequence that has ended keeps its state, so
//! that a backward scan over a padded batch starts each sequence at its own end.

use burn::module::Param;
use burn::tensor::Tensor;
use matnet::layer::{MatCell, Recurrent, RecurrentCell};
use matnet::ops::{Activation, Cell};
use matnet::vector::VecCell;

use crate::graph::{Graph, Value, numbers};
use crate::layer::Layer;
use crate::proto::{Attribute, Type};

/// What a recurrent layer reads.
#[derive(Clone)]
pub enum Steps {
    /// A matrix per step: `[batch, time, rows, cols]`.
    Sequence(Value),
    /// The same matrix `[batch, rows, cols]` so many times.
    Constant(Value, usize),
}

/// The state of a cell.
#[derive(Clone)]
pub struct State {
    /// H
    pub hidden: Value,
    /// C, where the cell has one.
    pub cell_state: Option<Value>,
}

impl State {
    /// Its tensors, H first.
    pub fn values(&self) -> impl Iterator<Item = &Value> {
        std::iter::once(&self.hidden).chain(&self.cell_state)
    }
}

/// The states of the highest layer, and the last state of every cell.
pub struct Read {
    /// `[batch, time, rows, cols]`, or `[batch, rows, cols]` if only the last one was asked for.
    pub states: Value,
    /// Forward cells first, lowest layer first.
    pub ends: Vec<State>,
}

/// Recurrent layers over `steps`. `mask` is true for the steps that count, `[batch, time]`; `all` asks for the states of all steps.
pub fn add_recurrent(
    graph: &mut Graph,
    net: &Recurrent,
    mut steps: Steps,
    start: Option<&[State]>,
    mask: Option<&Value>,
    all: bool,
) -> Read {
    let (mut ends, mut backward_ends) = (Vec::new(), Vec::new());
    let mut states = None;
    for (index, cell) in net.layer.iter().enumerate() {
        if let Some(states) = states.take() {
            steps = Steps::Sequence(states);
        }
        let all = all || index + 1 < net.layer.len();
        let start_of = |at: usize| start.map(|start| &start[at]);
        let read = |graph: &mut Graph, part: &str, cell: &RecurrentCell, at: usize, backward: bool| {
            let scan = Scan { start: start_of(at), mask, backward, all };
            graph.scoped(part, |graph| {
                graph.scoped(&index.to_string(), |graph| add_cell(graph, cell, &steps, scan))
            })
        };
        let (mut kept, end) = read(graph, "layer", cell, index, false);
        if let Some(backward) = net.backward.get(index) {
            let (back, end) = read(graph, "backward", backward, net.layer.len() + index, true);
            // The rows of the backward states follow those of the forward states.
            kept = graph.concat(&[&kept, &back], -2);
            backward_ends.push(end);
        }
        ends.push(end);
        states = Some(kept);
    }
    ends.extend(backward_ends);
    Read { states: states.expect("at least one layer"), ends }
}

/// How a cell goes over its steps.
struct Scan<'a> {
    start: Option<&'a State>,
    mask: Option<&'a Value>,
    backward: bool,
    all: bool,
}

/// The constants of a cell, of matrices or of vectors.
enum Maps {
    /// Uᵀ `[gates, rows, rows_in]` and V `[gates, cols_in, cols]` of every gate.
    Matrix { row_maps: Gates, col_maps: Gates },
    /// W, the gates side by side: `[input, gates · hidden]`.
    Vector { weights: Gates },
}

/// A matrix per gate.
struct Gates {
    sides: [usize; 2],
    values: Vec<f32>,
}

impl Gates {
    fn new(maps: &Param<Tensor<3>>) -> Self {
        let [_, from, to] = maps.val().dims();
        Self { sides: [from, to], values: numbers(maps.val()) }
    }

    fn transposed(maps: &Param<Tensor<3>>) -> Self {
        let [_, from, to] = maps.val().dims();
        Self { sides: [to, from], values: numbers(maps.val().swap_dims(1, 2)) }
    }

    /// The matrices of some gates as one constant `[gates, from, to]`.
    fn stacked(&self, graph: &mut Graph, name: &str, gates: std::ops::Range<usize>) -> Value {
        let [from, to] = self.sides;
        let values = &self.values[gates.start * from * to..gates.end * from * to];
        graph.floats(name, &[gates.len(), from, to], values)
    }

    /// The matrices of some gates side by side, `[from, gates · to]`.
    fn side_by_side(&self, graph: &mut Graph, name: &str, gates: std::ops::Range<usize>) -> Value {
        let [from, to] = self.sides;
        let row = |row: usize| {
            gates.clone().flat_map(move |gate| &self.values[(gate * from + row) * to..][..to]).copied()
        };
        let values: Vec<f32> = (0..from).flat_map(row).collect();
        graph.floats(name, &[from, gates.len() * to], &values)
    }
}

impl Maps {
    /// From `[…, rows_in, cols_in]` to `[…, gates, rows, cols]`, for some of the gates.
    fn add(
        &self,
        graph: &mut Graph,
        kind: &str,
        input: &Value,
        gates: std::ops::Range<usize>,
        axes: usize,
    ) -> Value {
        match self {
            Self::Matrix { row_maps, col_maps } => {
                let row_map = row_maps.stacked(graph, &format!("{kind}_row_map"), gates.clone());
                let col_map = col_maps.stacked(graph, &format!("{kind}_col_map"), gates);
                let input = graph.unsqueeze(input, &[axes as i64]);
                let right = graph.matmul(&input, &col_map);
                graph.matmul(&row_map, &right)
            }
            Self::Vector { weights } => {
                let weight = weights.side_by_side(graph, &format!("{kind}_map"), gates.clone());
                let vector = graph.squeeze(input, &[-1]);
                let mapped = graph.matmul(&vector, &weight);
                let sides = [gates.len() as i64, weights.sides[1] as i64, 1];
                graph.reshape(&mapped, &[&vec![0; axes][..], &sides].concat())
            }
        }
    }
}

/// The parameters of a cell.
struct Parts {
    cell: Cell,
    input: Maps,
    state: Maps,
    /// `[gates, rows, cols]`
    bias: Tensor<3>,
}

impl From<&MatCell> for Parts {
    fn from(cell: &MatCell) -> Self {
        let maps = |row_map: &Param<Tensor<3>>, col_map: &Param<Tensor<3>>| Maps::Matrix {
            row_maps: Gates::transposed(row_map),
            col_maps: Gates::new(col_map),
        };
        Self {
            cell: cell.cell,
            input: maps(&cell.input_row_map, &cell.input_col_map),
            state: maps(&cell.state_row_map, &cell.state_col_map),
            bias: cell.bias.val(),
        }
    }
}

impl From<&VecCell> for Parts {
    fn from(cell: &VecCell) -> Self {
        Self {
            cell: cell.cell,
            input: Maps::Vector { weights: Gates::new(&cell.input_map) },
            state: Maps::Vector { weights: Gates::new(&cell.state_map) },
            bias: cell.bias.val().unsqueeze_dim::<3>(2),
        }
    }
}

impl From<&RecurrentCell> for Parts {
    fn from(cell: &RecurrentCell) -> Self {
        match cell {
            RecurrentCell::Matrix(cell) => cell.into(),
            RecurrentCell::Vector(cell) => cell.into(),
        }
    }
}

/// The state of a cell before the first step; `like` has a row for every sample.
pub fn add_zeros(graph: &mut Graph, cell: &RecurrentCell, like: &Value) -> State {
    Parts::from(cell).zeros(graph, like)
}

/// One step of a cell, from an input `[batch, rows, cols]`, where a loop around it has more to do.
pub fn add_step(graph: &mut Graph, cell: &RecurrentCell, input: &Value, before: &State) -> State {
    let parts = Parts::from(cell);
    let mapped = parts.mapped(graph, input, 1);
    parts.step(graph, &mapped, before)
}

/// One cell over all steps: the states that were asked for, and the last one.
fn add_cell(graph: &mut Graph, cell: &RecurrentCell, steps: &Steps, scan: Scan) -> (Value, State) {
    let parts = Parts::from(cell);
    let mapped = parts.mapped_steps(graph, steps);
    let start = scan.start.cloned().unwrap_or_else(|| parts.zeros(graph, &mapped));
    let has_cell_state = parts.cell.has_cell_state();
    let body = graph.body(|body| {
        let hidden = body.input("hidden", Type::Float, None, "");
        let cell_state = has_cell_state.then(|| body.input("cell_state", Type::Float, None, ""));
        let before = State { hidden, cell_state };
        let from_input = body.input("mapped", Type::Float, None, "");
        let counts = scan.mask.map(|_| body.input("counts", Type::Bool, None, ""));
        let mut after = parts.step(body, &from_input, &before);
        if let Some(counts) = counts {
            let counts = body.reshape(&counts, &[-1, 1, 1]);
            let choose = |body: &mut Graph, new: &Value, old: &Value| body.choose(&counts, new, old);
            after = State {
                hidden: choose(body, &after.hidden, &before.hidden),
                cell_state: match (&after.cell_state, &before.cell_state) {
                    (Some(new), Some(old)) => Some(choose(body, new, old)),
                    _ => None,
                },
            };
        }
        let kept = scan.all.then(|| body.op("Identity", &[&after.hidden], vec![]));
        let outputs = [Some(after.hidden), after.cell_state, kept];
        outputs.into_iter().flatten().map(|value| (value, Type::Float)).collect()
    });
    let mut inputs: Vec<&Value> = start.values().collect();
    inputs.push(&mapped);
    inputs.extend(scan.mask);
    let scanned = 1 + usize::from(scan.mask.is_some());
    let direction = i64::from(scan.backward);
    let mut attributes = vec![
        Attribute::graph("body", body),
        Attribute::int("num_scan_inputs", scanned as i64),
        Attribute::ints("scan_input_axes", vec![1; scanned]),
        Attribute::ints("scan_input_directions", vec![direction; scanned]),
    ];
    if scan.all {
        attributes.push(Attribute::ints("scan_output_axes", vec![1]));
        attributes.push(Attribute::ints("scan_output_directions", vec![direction]));
    }
    let states = 1 + usize::from(has_cell_state);
    let mut outputs = graph.ops("Scan", &inputs, attributes, states + usize::from(scan.all)).into_iter();
    let hidden = outputs.next().expect("a hidden state");
    let cell_state = if has_cell_state { outputs.next() } else { None };
    let kept = outputs.next().unwrap_or_else(|| hidden.clone());
    (kept, State { hidden, cell_state })
}

impl Parts {
    /// What the input gives each gate, bias included, for all steps: `[batch, time, gates, rows, cols]`.
    fn mapped_steps(&self, graph: &mut Graph, steps: &Steps) -> Value {
        match steps {
            Steps::Sequence(input) => self.mapped(graph, input, 2),
            Steps::Constant(input, steps) => {
                let mapped = self.mapped(graph, input, 1);
                let mapped = graph.unsqueeze(&mapped, &[1]);
                let shape = graph.ints(&[1, *steps as i64, 1, 1, 1]);
                graph.expand(&mapped, &shape)
            }
        }
    }

    /// The same for inputs `[…, rows, cols]` with so many axes before rows and columns.
    fn mapped(&self, graph: &mut Graph, input: &Value, axes: usize) -> Value {
        let mapped = self.input.add(graph, "input", input, 0..self.cell.gates(), axes);
        let bias = graph.parameter("bias", self.bias.clone());
        graph.add(&mapped, &bias)
    }

    /// The zero state of a batch.
    fn zeros(&self, graph: &mut Graph, mapped: &Value) -> State {
        let [_, rows, cols] = self.bias.dims();
        let zeros = graph.floats("zeros", &[1, rows, cols], &vec![0.0; rows * cols]);
        let (batch, ones) = (graph.side_list(mapped, 0), graph.ints(&[1, 1]));
        let shape = graph.concat(&[&batch, &ones], 0);
        let hidden = graph.expand(&zeros, &shape);
        State { cell_state: self.cell.has_cell_state().then(|| hidden.clone()), hidden }
    }

    /// One step, in the body of the scan; `mapped` is `[batch, gates, rows, cols]`.
    fn step(&self, graph: &mut Graph, mapped: &Value, before: &State) -> State {
        let State { hidden, cell_state } = before;
        let pick = |graph: &mut Graph, gates: &Value, gate: usize, f: Activation| {
            let place = graph.int(gate as i64);
            let one = graph.gather(gates, 1, &place);
            f.add(graph, &one)
        };
        match self.cell {
            Cell::Rnn(f) => {
                let from_state = self.state.add(graph, "state", hidden, 0..1, 1);
                let sum = graph.add(mapped, &from_state);
                State { hidden: pick(graph, &sum, 0, f), cell_state: None }
            }
            Cell::Lstm => {
                let from_state = self.state.add(graph, "state", hidden, 0..4, 1);
                let sum = graph.add(mapped, &from_state);
                let [into, forget, out] = [0, 1, 2].map(|gate| pick(graph, &sum, gate, Activation::Sigmoid));
                let candidate = pick(graph, &sum, 3, Activation::Tanh);
                let cell_state = cell_state.as_ref().expect("an LSTM has a cell state");
                let (kept, written) = (graph.mul(&forget, cell_state), graph.mul(&into, &candidate));
                let cell_state = graph.add(&kept, &written);
                let squashed = Activation::Tanh.add(graph, &cell_state);
                State { hidden: graph.mul(&out, &squashed), cell_state: Some(cell_state) }
            }
            Cell::Gru(f) => {
                let from_state = self.state.add(graph, "state", hidden, 0..2, 1);
                let (zero, two) = (graph.ints(&[0]), graph.ints(&[2]));
                let of_gates = graph.slice(mapped, 1, &zero, &two);
                let sum = graph.add(&of_gates, &from_state);
                let [update, reset] = [0, 1].map(|gate| pick(graph, &sum, gate, Activation::Sigmoid));
                let read = graph.mul(&reset, hidden);
                let from_state = self.state.add(graph, "candidate", &read, 2..3, 1);
                let three = graph.ints(&[3]);
                let of_candidate = graph.slice(mapped, 1, &two, &three);
                let sum = graph.add(&of_candidate, &from_state);
                let candidate = pick(graph, &sum, 0, f);
                let change = graph.sub(&candidate, hidden);
                let change = graph.mul(&update, &change);
                State { hidden: graph.add(hidden, &change), cell_state: None }
            }
        }
    }
}

//! A graph that grows node by node.

use std::collections::HashMap;
use std::ops::Range;

use burn::tensor::Tensor;

use crate::proto::{self, Attribute, Node, Side, Type, ValueInfo};

/// A tensor in a graph, known by its name.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Value(String);

/// An ONNX graph under construction.
#[derive(Debug, Default)]
pub struct Graph {
    nodes: Vec<Node>,
    initializers: Vec<proto::Tensor>,
    /// Where each initializer is, by name.
    places: HashMap<String, usize>,
    /// Transposed constants, by the name of the constant.
    transposed: HashMap<Value, Value>,
    inputs: Vec<ValueInfo>,
    outputs: Vec<ValueInfo>,
    /// The names of the parts that are being built, outermost first.
    scope: Vec<String>,
    /// How many values have been named; the bodies of loops count on.
    count: usize,
    /// Whether this is the body of a loop, whose values must not have the names of those outside.
    is_body: bool,
}

impl Graph {
    /// Builds a part of a net under its name, which the names of its constants then start with.
    pub fn scoped<T>(&mut self, name: &str, build: impl FnOnce(&mut Self) -> T) -> T {
        self.scope.push(name.to_owned());
        let built = build(self);
        self.scope.pop();
        built
    }

    /// Builds the body of a loop; `build` gives its outputs in order.
    pub fn body(&mut self, build: impl FnOnce(&mut Self) -> Vec<(Value, Type)>) -> proto::Graph {
        let scope = self.scope.clone();
        let mut body = Self { scope, count: self.count, is_body: true, ..Self::default() };
        for (value, kind) in build(&mut body) {
            body.outputs.push(ValueInfo::new(&value.0, kind, None, ""));
        }
        self.count = body.count;
        let name = self.scoped_name("step");
        body.finish(&name)
    }

    /// The finished graph.
    pub fn finish(self, name: &str) -> proto::Graph {
        proto::Graph {
            node: self.nodes,
            name: name.to_owned(),
            initializer: self.initializers,
            input: self.inputs,
            output: self.outputs,
        }
    }

    /// An input of the graph; the sides of a body's inputs follow from where it is used.
    pub fn input(&mut self, name: &str, kind: Type, shape: Option<&[Side]>, doc: &str) -> Value {
        let name = if self.is_body { self.fresh(name) } else { name.to_owned() };
        self.inputs.push(ValueInfo::new(&name, kind, shape, doc));
        Value(name)
    }

    /// Makes a value an output with a name of its own.
    pub fn output(&mut self, value: &Value, name: &str, kind: Type, shape: &[Side], doc: &str) {
        self.nodes.push(Node {
            input: vec![value.0.clone()],
            output: vec![name.to_owned()],
            name: format!("output.{name}"),
            op_type: "Identity".to_owned(),
            attribute: Vec::new(),
        });
        self.outputs.push(ValueInfo::new(name, kind, Some(shape), doc));
    }

    // ---- Constants ----

    /// A parameter under its stored name.
    pub fn parameter<const D: usize>(&mut self, name: &str, tensor: Tensor<D>) -> Value {
        let shape = tensor.dims();
        self.floats(name, &shape, &numbers(tensor))
    }

    /// Constant floats under a name. The same ones under the same name are stored once.
    pub fn floats(&mut self, name: &str, shape: &[usize], values: &[f32]) -> Value {
        let bytes = values.iter().flat_map(|value| value.to_le_bytes()).collect();
        self.constant(self.scoped_name(name), Type::Float, shape, bytes)
    }

    /// Constant doubles under a name.
    pub fn doubles(&mut self, name: &str, shape: &[usize], values: &[f64]) -> Value {
        let bytes = values.iter().flat_map(|value| value.to_le_bytes()).collect();
        self.constant(self.scoped_name(name), Type::Double, shape, bytes)
    }

    /// One float.
    pub fn float(&mut self, value: f32) -> Value {
        self.constant(format!("float.{value}"), Type::Float, &[], value.to_le_bytes().to_vec())
    }

    /// One integer.
    pub fn int(&mut self, value: i64) -> Value {
        self.constant(format!("int.{value}"), Type::Int64, &[], value.to_le_bytes().to_vec())
    }

    /// Integers.
    pub fn ints(&mut self, values: &[i64]) -> Value {
        let text: Vec<String> = values.iter().map(i64::to_string).collect();
        let bytes = values.iter().flat_map(|value| value.to_le_bytes()).collect();
        self.constant(format!("ints.{}", text.join(".")), Type::Int64, &[values.len()], bytes)
    }

    /// Integers under a name, where there are too many to be one.
    pub fn indices(&mut self, name: &str, values: &[usize]) -> Value {
        let bytes = values.iter().flat_map(|&value| (value as i64).to_le_bytes()).collect();
        self.constant(self.scoped_name(name), Type::Int64, &[values.len()], bytes)
    }

    fn constant(&mut self, name: String, kind: Type, shape: &[usize], raw_data: Vec<u8>) -> Value {
        let dims: Vec<i64> = shape.iter().map(|&side| side as i64).collect();
        if let Some(&at) = self.places.get(&name) {
            let old = &self.initializers[at];
            if old.dims == dims && old.data_type == kind as i32 && old.raw_data == raw_data {
                return Value(old.name.clone());
            }
        }
        let own =
            if self.is_body || self.places.contains_key(&name) { self.fresh(&name) } else { name.clone() };
        self.places.insert(name, self.initializers.len());
        self.initializers.push(proto::Tensor { dims, data_type: kind as i32, name: own.clone(), raw_data });
        Value(own)
    }

    fn scoped_name(&self, name: &str) -> String {
        let mut parts = self.scope.clone();
        parts.push(name.to_owned());
        parts.join(".")
    }

    fn fresh(&mut self, name: &str) -> String {
        self.count += 1;
        format!("{name}/{}", self.count)
    }

    // ---- Operations ----

    /// A node with one output.
    pub fn op(&mut self, op: &str, inputs: &[&Value], attributes: Vec<Attribute>) -> Value {
        self.ops(op, inputs, attributes, 1).remove(0)
    }

    /// A node with several outputs.
    pub fn ops(
        &mut self,
        op: &str,
        inputs: &[&Value],
        attribute: Vec<Attribute>,
        count: usize,
    ) -> Vec<Value> {
        let name = self.scoped_name(op);
        let output: Vec<String> = (0..count).map(|_| self.fresh(&name)).collect();
        self.nodes.push(Node {
            input: inputs.iter().map(|value| value.0.clone()).collect(),
            output: output.clone(),
            name: output[0].clone(),
            op_type: op.to_owned(),
            attribute,
        });
        output.into_iter().map(Value).collect()
    }

    /// a · b, of the last two axes.
    pub fn matmul(&mut self, a: &Value, b: &Value) -> Value {
        self.op("MatMul", &[a, b], vec![])
    }

    /// a + b
    pub fn add(&mut self, a: &Value, b: &Value) -> Value {
        self.op("Add", &[a, b], vec![])
    }

    /// a − b
    pub fn sub(&mut self, a: &Value, b: &Value) -> Value {
        self.op("Sub", &[a, b], vec![])
    }

    /// a ⊙ b
    pub fn mul(&mut self, a: &Value, b: &Value) -> Value {
        self.op("Mul", &[a, b], vec![])
    }

    /// a / b
    pub fn div(&mut self, a: &Value, b: &Value) -> Value {
        self.op("Div", &[a, b], vec![])
    }

    /// `then` where `condition` holds, `other` where it does not.
    pub fn choose(&mut self, condition: &Value, then: &Value, other: &Value) -> Value {
        self.op("Where", &[condition, then, other], vec![])
    }

    /// Other sides: 0 keeps a side, −1 is what remains.
    pub fn reshape(&mut self, x: &Value, shape: &[i64]) -> Value {
        let shape = self.ints(shape);
        self.op("Reshape", &[x, &shape], vec![])
    }

    /// New axes of one place.
    pub fn unsqueeze(&mut self, x: &Value, axes: &[i64]) -> Value {
        let axes = self.ints(axes);
        self.op("Unsqueeze", &[x, &axes], vec![])
    }

    /// Without axes of one place.
    pub fn squeeze(&mut self, x: &Value, axes: &[i64]) -> Value {
        let axes = self.ints(axes);
        self.op("Squeeze", &[x, &axes], vec![])
    }

    /// The axes in another order.
    pub fn transpose(&mut self, x: &Value, order: &[i64]) -> Value {
        self.op("Transpose", &[x], vec![Attribute::ints("perm", order.to_vec())])
    }

    /// A constant matrix, transposed. Runtimes do this once, when they load the file, and the matrix is stored once.
    pub fn transposed(&mut self, matrix: &Value) -> Value {
        if let Some(known) = self.transposed.get(matrix) {
            return known.clone();
        }
        let value = self.transpose(matrix, &[1, 0]);
        self.transposed.insert(matrix.clone(), value.clone());
        value
    }

    /// Along an axis, from `start` to `end`, which may count from the end.
    pub fn slice(&mut self, x: &Value, axis: i64, start: &Value, end: &Value) -> Value {
        let axis = self.ints(&[axis]);
        self.op("Slice", &[x, start, end, &axis], vec![])
    }

    /// Some of the entries of an axis.
    pub fn part(&mut self, x: &Value, axis: i64, places: Range<usize>) -> Value {
        let [start, end] = [places.start, places.end].map(|at| self.ints(&[at as i64]));
        self.slice(x, axis, &start, &end)
    }

    /// The entries at these places of an axis; a scalar place removes the axis.
    pub fn gather(&mut self, x: &Value, axis: i64, places: &Value) -> Value {
        self.op("Gather", &[x, places], vec![Attribute::int("axis", axis)])
    }

    /// One after another along an axis.
    pub fn concat(&mut self, parts: &[&Value], axis: i64) -> Value {
        match parts {
            [one] => (*one).clone(),
            _ => self.op("Concat", parts, vec![Attribute::int("axis", axis)]),
        }
    }

    /// Repeated to these sides; sides of 1 are kept.
    pub fn expand(&mut self, x: &Value, shape: &Value) -> Value {
        self.op("Expand", &[x, shape], vec![])
    }

    /// As numbers of another type.
    pub fn cast(&mut self, x: &Value, kind: Type) -> Value {
        self.op("Cast", &[x], vec![Attribute::int("to", kind as i64)])
    }

    /// The sum along axes, which stay.
    pub fn sum(&mut self, x: &Value, axes: &[i64]) -> Value {
        let axes = self.ints(axes);
        self.op("ReduceSum", &[x, &axes], vec![Attribute::int("keepdims", 1)])
    }

    /// The length of an axis, as a scalar.
    pub fn side(&mut self, x: &Value, axis: i64) -> Value {
        let (shape, place) = (self.op("Shape", &[x], vec![]), self.int(axis));
        self.gather(&shape, 0, &place)
    }

    /// The length of an axis, as a list of one.
    pub fn side_list(&mut self, x: &Value, axis: i64) -> Value {
        let (shape, place) = (self.op("Shape", &[x], vec![]), self.ints(&[axis]));
        self.gather(&shape, 0, &place)
    }

    /// 0, 1, … up to a scalar, which is left out.
    pub fn range(&mut self, end: &Value) -> Value {
        let (zero, one) = (self.int(0), self.int(1));
        self.op("Range", &[&zero, end, &one], vec![])
    }

    /// Whether each of `time` steps counts: `[batch, time]`.
    pub fn mask(&mut self, lengths: &Value, time: &Value) -> Value {
        let (steps, lengths) = (self.range(time), self.unsqueeze(lengths, &[1]));
        self.op("Less", &[&steps, &lengths], vec![])
    }

    /// The softmax along the last axis.
    pub fn softmax(&mut self, x: &Value) -> Value {
        self.op("Softmax", &[x], vec![Attribute::int("axis", -1)])
    }
}

/// The numbers of a tensor.
pub fn numbers<const D: usize>(tensor: Tensor<D>) -> Vec<f32> {
    tensor.into_data().convert::<f32>().try_into_vec().expect("converted just now")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_constant_is_stored_once() {
        let mut graph = Graph::default();
        let one = graph.ints(&[1, 2]);
        assert_eq!(graph.ints(&[1, 2]), one);
        let weight = |graph: &mut Graph, value| {
            graph.scoped("layer", |graph| graph.scoped("0", |graph| graph.floats("weight", &[1], &[value])))
        };
        let first = weight(&mut graph, 1.0);
        assert_eq!(first.0, "layer.0.weight");
        assert_eq!(weight(&mut graph, 1.0), first);
        // Other numbers under the same name are another constant.
        assert_ne!(weight(&mut graph, 2.0), first);
        assert_eq!(graph.initializers.len(), 3);
    }

    #[test]
    fn a_body_shares_no_name_with_what_is_around_it() {
        let mut graph = Graph::default();
        let x = graph.input("x", Type::Float, None, "");
        let two = graph.float(2.0);
        graph.mul(&x, &two);
        let body = graph.body(|body| {
            let x = body.input("x", Type::Float, None, "");
            let two = body.float(2.0);
            vec![(body.mul(&x, &two), Type::Float)]
        });
        graph.mul(&x, &two);
        let outer = graph.finish("net");
        let names = |graph: &proto::Graph| {
            let mut names: Vec<String> = graph.node.iter().flat_map(|node| node.output.clone()).collect();
            names.extend(graph.input.iter().map(|input| input.name.clone()));
            names.extend(graph.initializer.iter().map(|tensor| tensor.name.clone()));
            names
        };
        let (outer, inner) = (names(&outer), names(&body));
        assert_eq!((outer.len(), inner.len()), (4, 3));
        assert!(inner.iter().all(|name| !outer.contains(name)), "{outer:?} {inner:?}");
    }
}

//! The messages of the ONNX format, as far as they are written here. The tags are those of `onnx.proto`.

use prost::{Message, Oneof};

/// A whole file.
#[derive(Clone, PartialEq, Message)]
pub struct Model {
    #[prost(int64, tag = "1")]
    pub ir_version: i64,
    #[prost(string, tag = "2")]
    pub producer_name: String,
    #[prost(string, tag = "3")]
    pub producer_version: String,
    #[prost(string, tag = "6")]
    pub doc_string: String,
    #[prost(message, optional, tag = "7")]
    pub graph: Option<Graph>,
    #[prost(message, repeated, tag = "8")]
    pub opset_import: Vec<OperatorSet>,
    #[prost(message, repeated, tag = "14")]
    pub metadata_props: Vec<Entry>,
}

/// Which version of the operators a file uses.
#[derive(Clone, PartialEq, Message)]
pub struct OperatorSet {
    #[prost(string, tag = "1")]
    pub domain: String,
    #[prost(int64, tag = "2")]
    pub version: i64,
}

/// A key with a value.
#[derive(Clone, PartialEq, Message)]
pub struct Entry {
    #[prost(string, tag = "1")]
    pub key: String,
    #[prost(string, tag = "2")]
    pub value: String,
}

/// Nodes in the order of their computation.
#[derive(Clone, PartialEq, Message)]
pub struct Graph {
    #[prost(message, repeated, tag = "1")]
    pub node: Vec<Node>,
    #[prost(string, tag = "2")]
    pub name: String,
    #[prost(message, repeated, tag = "5")]
    pub initializer: Vec<Tensor>,
    #[prost(message, repeated, tag = "11")]
    pub input: Vec<ValueInfo>,
    #[prost(message, repeated, tag = "12")]
    pub output: Vec<ValueInfo>,
}

/// One operation.
#[derive(Clone, PartialEq, Message)]
pub struct Node {
    #[prost(string, repeated, tag = "1")]
    pub input: Vec<String>,
    #[prost(string, repeated, tag = "2")]
    pub output: Vec<String>,
    #[prost(string, tag = "3")]
    pub name: String,
    #[prost(string, tag = "4")]
    pub op_type: String,
    #[prost(message, repeated, tag = "5")]
    pub attribute: Vec<Attribute>,
}

/// An option of an operation.
#[derive(Clone, PartialEq, Message)]
pub struct Attribute {
    #[prost(string, tag = "1")]
    pub name: String,
    #[prost(int64, optional, tag = "3")]
    pub i: Option<i64>,
    #[prost(bytes = "vec", optional, tag = "4")]
    pub s: Option<Vec<u8>>,
    #[prost(message, optional, tag = "6")]
    pub g: Option<Graph>,
    #[prost(int64, repeated, packed = "false", tag = "8")]
    pub ints: Vec<i64>,
    #[prost(int32, tag = "20")]
    pub kind: i32,
}

impl Attribute {
    const INT: i32 = 2;
    const STRING: i32 = 3;
    const GRAPH: i32 = 5;
    const INTS: i32 = 7;

    /// A number.
    pub fn int(name: &str, i: i64) -> Self {
        Self { name: name.to_owned(), i: Some(i), kind: Self::INT, ..Self::default() }
    }

    /// A word.
    pub fn string(name: &str, s: &str) -> Self {
        Self { name: name.to_owned(), s: Some(s.into()), kind: Self::STRING, ..Self::default() }
    }

    /// A list of numbers.
    pub fn ints(name: &str, ints: Vec<i64>) -> Self {
        Self { name: name.to_owned(), ints, kind: Self::INTS, ..Self::default() }
    }

    /// The body of a loop.
    pub fn graph(name: &str, g: Graph) -> Self {
        Self { name: name.to_owned(), g: Some(g), kind: Self::GRAPH, ..Self::default() }
    }
}

/// The type of numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(i32)]
pub enum Type {
    /// 32-bit floats.
    Float = 1,
    /// 64-bit integers.
    Int64 = 7,
    /// True or false.
    Bool = 9,
    /// 64-bit floats.
    Double = 11,
}

/// Constant numbers.
#[derive(Clone, PartialEq, Message)]
pub struct Tensor {
    #[prost(int64, repeated, packed = "false", tag = "1")]
    pub dims: Vec<i64>,
    #[prost(int32, tag = "2")]
    pub data_type: i32,
    #[prost(string, tag = "8")]
    pub name: String,
    /// Little-endian.
    #[prost(bytes = "vec", tag = "9")]
    pub raw_data: Vec<u8>,
}

/// The name and type of an input or output.
#[derive(Clone, PartialEq, Message)]
pub struct ValueInfo {
    #[prost(string, tag = "1")]
    pub name: String,
    #[prost(message, optional, tag = "2")]
    pub kind: Option<ValueType>,
    #[prost(string, tag = "3")]
    pub doc_string: String,
}

/// The type of an input or output.
#[derive(Clone, PartialEq, Message)]
pub struct ValueType {
    #[prost(message, optional, tag = "1")]
    pub tensor_type: Option<TensorType>,
}

/// The type of a tensor.
#[derive(Clone, PartialEq, Message)]
pub struct TensorType {
    #[prost(int32, tag = "1")]
    pub elem_type: i32,
    #[prost(message, optional, tag = "2")]
    pub shape: Option<Shape>,
}

/// The sides of a tensor.
#[derive(Clone, PartialEq, Message)]
pub struct Shape {
    #[prost(message, repeated, tag = "1")]
    pub dim: Vec<Dimension>,
}

/// One side.
#[derive(Clone, PartialEq, Message)]
pub struct Dimension {
    #[prost(oneof = "Side", tags = "1, 2")]
    pub value: Option<Side>,
}

/// A number, or the name of a side that the caller chooses.
#[derive(Clone, PartialEq, Eq, Oneof)]
pub enum Side {
    #[prost(int64, tag = "1")]
    Fixed(i64),
    #[prost(string, tag = "2")]
    Named(String),
}

impl ValueInfo {
    /// With the shape unknown where `shape` is `None`.
    pub fn new(name: &str, kind: Type, shape: Option<&[Side]>, doc_string: &str) -> Self {
        let dim = |side: &Side| Dimension { value: Some(side.clone()) };
        let shape = shape.map(|shape| Shape { dim: shape.iter().map(dim).collect() });
        let tensor_type = Some(TensorType { elem_type: kind as i32, shape });
        Self {
            name: name.to_owned(),
            kind: Some(ValueType { tensor_type }),
            doc_string: doc_string.to_owned(),
        }
    }
}

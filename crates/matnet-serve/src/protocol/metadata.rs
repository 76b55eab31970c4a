//! What a model says about its tensors.

use matnet_train::task::{Interface, OutputKind};
use serde_json::{Value, json};

use super::{LABEL, PROBABILITIES, VALUES};

/// The name of the input with matrices or sequences.
pub const MAIN_INPUT: &str = "x";
/// The name of the input with the steps of each sequence.
pub const LENGTHS: &str = "lengths";

/// The name, datatype and shape of a tensor; -1 is any size.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TensorSpec {
    pub name: &'static str,
    pub datatype: &'static str,
    pub shape: Vec<i64>,
}

impl TensorSpec {
    fn new(name: &'static str, datatype: &'static str, sides: &[Option<usize>]) -> Self {
        let sides = sides.iter().map(|side| side.map_or(-1, |side| side as i64));
        Self { name, datatype, shape: std::iter::once(-1).chain(sides).collect() }
    }

    fn json(&self) -> Value {
        json!({ "name": self.name, "datatype": self.datatype, "shape": self.shape })
    }
}

/// The inputs of a net.
pub fn inputs(interface: &Interface) -> Vec<TensorSpec> {
    let mut inputs = vec![TensorSpec::new(MAIN_INPUT, "FP32", &interface.input)];
    if interface.sequences {
        inputs.push(TensorSpec::new(LENGTHS, "INT64", &[]));
    }
    inputs
}

/// The outputs of a net.
pub fn outputs(interface: &Interface) -> Vec<TensorSpec> {
    let main = match interface.output_kind {
        OutputKind::Classes | OutputKind::Labels => PROBABILITIES,
        OutputKind::Values | OutputKind::Matrices => VALUES,
    };
    let mut outputs = vec![TensorSpec::new(main, "FP32", &interface.output)];
    if interface.output_kind == OutputKind::Classes {
        let before_classes = &interface.output[..interface.output.len() - 1];
        outputs.push(TensorSpec::new(LABEL, "BYTES", before_classes));
    }
    outputs
}

/// What `/v2/models/NAME` answers. A net whose inputs are files has no tensors.
pub fn metadata(name: &str, version: &str, kind: &str, epoch: usize, interface: Option<&Interface>) -> Value {
    let all = |tensors: Vec<TensorSpec>| tensors.iter().map(TensorSpec::json).collect::<Vec<_>>();
    let Some(interface) = interface else {
        return json!({
            "name": name,
            "versions": [version],
            "platform": "matnet",
            "inputs": [],
            "outputs": [],
            "parameters": { "kind": kind, "epoch": epoch },
        });
    };
    let (names, optional): (_, &[&str]) = match interface.output_kind {
        OutputKind::Classes => ("classes", &[LENGTHS]),
        OutputKind::Labels => ("labels", &[LENGTHS]),
        OutputKind::Values | OutputKind::Matrices => ("values", &[LENGTHS]),
    };
    let optional = if interface.sequences { optional } else { &[] };
    json!({
        "name": name,
        "versions": [version],
        "platform": "matnet",
        "inputs": all(inputs(interface)),
        "outputs": all(outputs(interface)),
        "parameters": {
            "kind": kind,
            "epoch": epoch,
            names: interface.names,
            "optional_inputs": optional,
            "missing_values": interface.missing,
        },
    })
}

//! What every file must be, whatever runs it. The numbers are compared by `peers/check-onnx`, in ONNX Runtime and in tract.

use std::collections::{HashMap, HashSet};
use std::fs;
use std::path::{Path, PathBuf};

use burn::tensor::Device;
use matnet_data::catalog::Cache;
use matnet_data::format::{npy, npz::NpzWriter};
use matnet_onnx::proto::{self, Attribute, Model, Side, Type};
use matnet_onnx::{Error, OPSET, Options, encode, write};
use matnet_train::run::BEST;
use matnet_train::{Document, Planner, Run};
use prost::Message;
use tempfile::TempDir;

/// Every operation that files use. A new one must be in opset 18, and known to ONNX Runtime and tract.
const OPERATIONS: &str = "Abs Add ArgMax Cast Concat Div Equal Exp Expand Gather GatherND Greater Identity IsNaN Less Log MatMul \
    Max Min Mul Not Range Reciprocal ReduceSum Relu Reshape ScatterND Scan Shape Sigmoid Slice Softmax Softplus Sqrt Squeeze Sub Tanh \
    Transpose Unsqueeze Where";

/// A run that is in the repository.
fn reference(name: &str) -> Run {
    Run::at(Path::new(env!("CARGO_MANIFEST_DIR")).join("../matnet-train/tests/reference").join(name))
}

/// All of them, by name.
fn references() -> Vec<String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../matnet-train/tests/reference");
    let mut names: Vec<String> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap())
        .filter(|entry| entry.path().is_dir())
        .map(|entry| entry.file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

/// A run on a small graph, trained for an epoch.
fn on_graph(model: &str, relations: bool, directed: bool) -> (TempDir, Run) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("graph.npz");
    let numbers = |count: usize, most: usize| (0..count).map(|i| (i * 7 % most) as f32).collect::<Vec<f32>>();
    let mut arrays: Vec<(&str, Vec<usize>, Vec<f32>)> = vec![
        ("features", vec![8, 3], numbers(24, 5)),
        ("edges", vec![8, 2], numbers(16, 8)),
        ("labels", vec![8], numbers(8, 2)),
        ("directed", vec![1], vec![f32::from(u8::from(directed))]),
    ];
    if relations {
        arrays.push(("relations", vec![8], numbers(8, 2)));
    }
    let mut writer = NpzWriter::new(Vec::new());
    for (name, shape, values) in &arrays {
        writer.add(name, |out| npy::write_f32(&mut { out }, shape, values)).unwrap();
    }
    fs::write(&path, writer.finish().unwrap()).unwrap();
    let text = format!("[data]\nsource = '{}'\n[model]\n{model}\n[train]\nepochs = 1", path.display());
    let document = Document::parse(&text).unwrap();
    let plan = Planner::default().plan(&document, &Cache::new(folder.path().join("cache"))).unwrap();
    let run = Run::at(folder.path().join("run"));
    plan.train(&run, &matnet_train::Options::default(), &mut ()).unwrap();
    (folder, run)
}

fn decoded(run: &Run, options: &Options) -> Model {
    let bytes = encode(run, BEST, options).unwrap();
    Model::decode(&bytes[..]).unwrap()
}

fn with_lengths() -> Options {
    let mut options = Options::default();
    options.lengths = Some(true);
    options
}

fn refused(run: &Run, options: &Options) -> String {
    match encode(run, BEST, options) {
        Err(Error::Refused(what)) => what,
        Err(other) => panic!("{other}"),
        Ok(_) => panic!("exported"),
    }
}

/// The name, type and sides of each input or output, as text.
fn described(values: &[proto::ValueInfo]) -> Vec<String> {
    let one = |value: &proto::ValueInfo| {
        let tensor = value.kind.as_ref().unwrap().tensor_type.as_ref().unwrap();
        let sides = tensor.shape.as_ref().unwrap().dim.iter().map(|dim| match dim.value.as_ref().unwrap() {
            Side::Fixed(side) => side.to_string(),
            Side::Named(name) => name.clone(),
        });
        let kind = if tensor.elem_type == Type::Float as i32 { "float" } else { "int64" };
        format!("{} {kind} [{}]", value.name, sides.collect::<Vec<_>>().join(", "))
    };
    values.iter().map(one).collect()
}

/// Checks a graph: every name is given once, before it is used, and everything that is given is used.
struct Checker {
    /// All names of the file, those of bodies included.
    given: HashSet<String>,
    used: HashSet<String>,
}

impl Checker {
    fn give(&mut self, name: &str) {
        assert!(!name.is_empty() && self.given.insert(name.to_owned()), "{name} is given twice");
    }

    fn check(&mut self, graph: &proto::Graph, outside: &HashSet<String>) {
        let mut known = outside.clone();
        for tensor in &graph.initializer {
            let size = [(Type::Float, 4), (Type::Int64, 8), (Type::Double, 8)]
                .into_iter()
                .find_map(|(kind, size)| (tensor.data_type == kind as i32).then_some(size))
                .unwrap_or_else(|| panic!("{}: type {}", tensor.name, tensor.data_type));
            let count: i64 = tensor.dims.iter().product();
            assert_eq!(tensor.raw_data.len(), count as usize * size, "{}", tensor.name);
            self.give(&tensor.name);
            known.insert(tensor.name.clone());
        }
        for input in &graph.input {
            self.give(&input.name);
            known.insert(input.name.clone());
        }
        for node in &graph.node {
            assert!(OPERATIONS.split_whitespace().any(|known| known == node.op_type), "{}", node.op_type);
            for name in &node.input {
                assert!(known.contains(name), "{}: {name} is used before it is computed", node.name);
                self.used.insert(name.clone());
            }
            for attribute in &node.attribute {
                if let Some(body) = &attribute.g {
                    self.check(body, &known);
                }
            }
            if node.op_type == "Scan" {
                check_scan(node);
            }
            for name in &node.output {
                self.give(name);
                known.insert(name.clone());
            }
        }
        for output in &graph.output {
            assert!(known.contains(&output.name), "the output {} is not computed", output.name);
            self.used.insert(output.name.clone());
        }
    }
}

/// A body takes and gives as much as its scan.
fn check_scan(node: &proto::Node) {
    let find = |name: &str| node.attribute.iter().find(|attribute| attribute.name == name);
    let count = |attribute: Option<&Attribute>| attribute.map_or(0, |attribute| attribute.ints.len());
    let body = find("body").and_then(|body| body.g.as_ref()).unwrap();
    assert_eq!(body.input.len(), node.input.len(), "{}", node.name);
    assert_eq!(body.output.len(), node.output.len(), "{}", node.name);
    let scanned = find("num_scan_inputs").and_then(|count| count.i).unwrap() as usize;
    assert_eq!(count(find("scan_input_axes")), scanned, "{}", node.name);
    let states = node.input.len() - scanned;
    assert_eq!(count(find("scan_output_axes")), node.output.len() - states, "{}", node.name);
    let names: HashSet<&str> = body.output.iter().map(|output| output.name.as_str()).collect();
    assert_eq!(names.len(), body.output.len(), "{}: each output of a body has a name of its own", node.name);
}

/// What holds for every file.
fn check(model: &Model, run: &Run, kind: &str) {
    let opsets: Vec<(&str, i64)> =
        model.opset_import.iter().map(|set| (set.domain.as_str(), set.version)).collect();
    assert_eq!((opsets, model.ir_version), (vec![("", OPSET)], 8));
    assert_eq!((model.producer_name.as_str(), OPSET), ("matnet", 18));
    let graph = model.graph.as_ref().unwrap();
    let mut checker = Checker { given: HashSet::new(), used: HashSet::new() };
    checker.check(graph, &HashSet::new());
    let unused: Vec<&String> =
        checker.given.difference(&checker.used).filter(|name| is_constant(graph, name)).collect();
    assert!(unused.is_empty(), "constants without use: {unused:?}");
    let entries = metadata(model);
    assert_eq!(entries["matnet.kind"], kind);
    assert_eq!(entries["matnet.weights_sha256"], run.sha256(BEST).unwrap().unwrap());
    let predictor = run.load(BEST, &Device::flex()).unwrap();
    assert_eq!(entries["matnet.epoch"], predictor.epoch().to_string());
}

fn is_constant(graph: &proto::Graph, name: &str) -> bool {
    let bodies =
        graph.node.iter().flat_map(|node| &node.attribute).filter_map(|attribute| attribute.g.as_ref());
    graph.initializer.iter().any(|tensor| tensor.name == name)
        || bodies.into_iter().any(|body| is_constant(body, name))
}

fn metadata(model: &Model) -> HashMap<&str, &str> {
    let entries: HashMap<&str, &str> =
        model.metadata_props.iter().map(|entry| (entry.key.as_str(), entry.value.as_str())).collect();
    assert_eq!(entries.len(), model.metadata_props.len(), "each key once");
    entries
}

/// The kind of net that a run of the repository is named after.
fn kind_of(name: &str) -> &str {
    let kinds = ["feedforward", "autoencoder", "sequence-classifier", "sequence-labeller", "seq2seq"];
    kinds.into_iter().find(|kind| name.starts_with(kind)).unwrap_or("")
}

#[test]
fn every_net_on_samples_makes_a_sound_graph() {
    let names: Vec<String> = references().into_iter().filter(|name| !kind_of(name).is_empty()).collect();
    assert!(names.len() > 30, "{names:?}");
    for name in names {
        let run = reference(&name);
        let model = decoded(&run, &Options::default());
        check(&model, &run, kind_of(&name));
        let graph = model.graph.as_ref().unwrap();
        assert!(described(&graph.input)[0].starts_with("input float [batch, "), "{name}");
        assert!(graph.output.iter().all(|output| !output.doc_string.is_empty()), "{name}");
        let scans = graph.node.iter().filter(|node| node.op_type == "Scan").count();
        assert_eq!(scans > 0, kind_of(&name).starts_with("seq"), "{name}");
    }
}

#[test]
fn inputs_and_outputs_are_those_of_the_documents() {
    let sides = |name: &str, options: &Options| {
        let graph = decoded(&reference(name), options).graph.unwrap();
        (described(&graph.input), described(&graph.output))
    };
    let texts = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect::<Vec<_>>();
    let plain = Options::default();
    let (inputs, outputs) = sides("feedforward-plain-matrix", &plain);
    assert_eq!(inputs, texts(&["input float [batch, 5, 4]"]));
    let classes = ["logits float [batch, 3]", "probabilities float [batch, 3]", "label int64 [batch]"];
    assert_eq!(outputs, texts(&classes));
    let (inputs, outputs) = sides("sequence-classifier-logit-matrix", &plain);
    assert_eq!(inputs[0].split_once(", ").unwrap().0, "input float [batch");
    // A single logit makes two probabilities.
    assert_eq!(outputs[..2], texts(&["logits float [batch, 1]", "probabilities float [batch, 2]"]));
    let (_, outputs) = sides("sequence-labeller-steps-matrix", &plain);
    assert!(outputs[0].starts_with("logits float [batch, steps, "), "{outputs:?}");
    assert_eq!(outputs[2], "label int64 [batch, steps]");
    let (inputs, outputs) = sides("autoencoder-plain-matrix", &plain);
    assert_eq!(inputs[0].replace("input", "values"), outputs[0]);
    let with = with_lengths();
    let (inputs, _) = sides("sequence-classifier-plain-matrix", &with);
    assert!(inputs[0].starts_with("input float [batch, time, "), "{inputs:?}");
    assert_eq!(inputs[1..], texts(&["lengths int64 [batch]"]));
    check(
        &decoded(&reference("sequence-classifier-plain-matrix"), &with),
        &reference("sequence-classifier-plain-matrix"),
        "sequence-classifier",
    );
}

#[test]
fn constants_are_the_parameters_under_their_names() {
    for name in ["feedforward-plain-matrix", "feedforward-plain-vector", "autoencoder-plain-matrix"] {
        let run = reference(name);
        let graph = decoded(&run, &Options::default()).graph.unwrap();
        let constants: HashMap<&str, &proto::Tensor> =
            graph.initializer.iter().map(|tensor| (tensor.name.as_str(), tensor)).collect();
        let weights = run.load(BEST, &Device::flex()).unwrap().weights();
        assert!(weights.len() > 3);
        for (path, data) in weights {
            let constant =
                constants.get(path.as_str()).unwrap_or_else(|| panic!("{name}: {path} is not in the file"));
            let bytes: Vec<u8> = data.iter::<f32>().flat_map(f32::to_le_bytes).collect();
            assert_eq!(constant.raw_data, bytes, "{name}: {path}");
        }
    }
}

#[test]
fn names_of_classes_are_metadata() {
    let model = decoded(&reference("feedforward-plain-matrix"), &Options::default());
    let entries = metadata(&model);
    let classes: Vec<String> = serde_json::from_str(entries["matnet.classes"]).unwrap();
    assert_eq!((classes.len(), entries["matnet.target"]), (3, "classes"));
}

#[test]
fn nets_on_graphs_take_features_and_edges() {
    let column = "kind = 'column-net'\nhidden = 4\ndepth = 2";
    let attention = format!("{column}\naggregation = 'attention'\nheads = 2");
    let chebyshev = "kind = 'chebyshev'\nhidden = [4]\norder = 2";
    for (kind, text) in [
        ("gcn", "kind = 'gcn'\nhidden = [4]"),
        ("chebyshev", chebyshev),
        ("column-net", column),
        ("column-net", &attention),
    ] {
        let (_folder, run) = on_graph(text, false, false);
        let model = decoded(&run, &Options::default());
        check(&model, &run, kind);
        let graph = model.graph.unwrap();
        assert_eq!(described(&graph.input), ["features float [nodes, 3]", "edges int64 [2, edges]"]);
        let outputs = ["logits float [nodes, 2]", "probabilities float [nodes, 2]", "label int64 [nodes]"];
        assert_eq!(described(&graph.output), outputs);
    }
    let (_folder, run) = on_graph(&attention, true, false);
    let model = decoded(&run, &Options::default());
    check(&model, &run, "column-net");
    let inputs = ["features float [nodes, 3]", "edges.0 int64 [2, edges.0]", "edges.1 int64 [2, edges.1]"];
    assert_eq!(described(&model.graph.as_ref().unwrap().input), inputs);
    assert_eq!(metadata(&model)["matnet.relations"], "[\"0\",\"1\"]");
    // Directed graphs are normalized by rows, others by roots of both degrees.
    let roots = |directed: bool| {
        let (_folder, run) = on_graph(chebyshev, false, directed);
        let graph = decoded(&run, &Options::default()).graph.unwrap();
        graph.node.iter().filter(|node| node.op_type == "Sqrt").count()
    };
    assert_eq!((roots(true), roots(false)), (0, 1));
}

#[test]
fn a_turing_machine_is_a_scan_over_its_memory() {
    for form in ["matrix", "vector"] {
        for (controller, states) in [("lstm", 5), ("feedforward", 3)] {
            let run = reference(&format!("turing-machine-{controller}-{form}"));
            let model = decoded(&run, &Options::default());
            check(&model, &run, "turing-machine");
            let graph = model.graph.as_ref().unwrap();
            assert!(described(&graph.input)[0].starts_with("input float [batch, time, "));
            let names: Vec<&str> = graph.output.iter().map(|output| output.name.as_str()).collect();
            assert_eq!(names, ["logits", "values"]);
            let scan = graph.node.iter().find(|node| node.op_type == "Scan").unwrap();
            // Its states, and the steps; hidden states and reads come out for every step.
            assert_eq!(
                (scan.input.len(), scan.output.len()),
                (states + 1, states + 2),
                "{controller} {form}"
            );
            assert_eq!(metadata(&model)["matnet.target"], "bits");
            let what = refused(&run, &with_lengths());
            assert_eq!(what, "lengths: a turing-machine takes none; leave them out");
        }
    }
}

#[test]
fn nets_on_stories_take_numbered_words() {
    let kinds = ["end-to-end-memory", "memory-network"];
    let names: Vec<String> =
        references().into_iter().filter(|name| kinds.iter().any(|kind| name.starts_with(kind))).collect();
    assert!(names.len() >= 4, "{names:?}");
    for name in names {
        let run = reference(&name);
        let model = decoded(&run, &Options::default());
        check(&model, &run, kinds.into_iter().find(|kind| name.starts_with(kind)).unwrap());
        let graph = model.graph.as_ref().unwrap();
        let inputs = ["stories int64 [batch, sentences, words]", "questions int64 [batch, question_words]"];
        assert_eq!(described(&graph.input), inputs);
        let words: Vec<String> = serde_json::from_str(metadata(&model)["matnet.classes"]).unwrap();
        assert_eq!(described(&graph.output)[0], format!("logits float [batch, {}]", words.len()));
    }
}

#[test]
fn what_cannot_be_exported_is_refused() {
    let plain = Options::default();
    let (_folder, run) = on_graph("kind = 'column-net'\nhidden = 4\naggregation = 'concat'", false, false);
    let what = refused(&run, &plain);
    assert!(
        what.starts_with("this column-net cannot be exported to ONNX: aggregation = \"concat\""),
        "{what}"
    );
    let (_folder, run) = on_graph("kind = 'chebyshev'\nhidden = [4]\nlambda_max = 'estimated'", false, false);
    let what = refused(&run, &plain);
    assert!(
        what.starts_with("this chebyshev cannot be exported to ONNX: lambda_max = \"estimated\""),
        "{what}"
    );
    let lengths = with_lengths();
    let what = refused(&reference("feedforward-plain-matrix"), &lengths);
    assert_eq!(what, "lengths: a feedforward takes single matrices; only nets on sequences have lengths");
    let what = refused(&reference("seq2seq-past-matrix"), &lengths);
    assert_eq!(what, "lengths: this net reads a fixed number of steps; leave them out");
    assert_eq!(refused(&run, &lengths), "lengths: a chebyshev takes none; leave them out");
}

#[test]
fn a_file_is_written_whole_or_not_at_all() {
    let folder = tempfile::tempdir().unwrap();
    let path: PathBuf = folder.path().join("net.onnx");
    fs::write(&path, "mine").unwrap();
    let plain = Options::default();
    let (_folder, drawn) = on_graph("kind = 'column-net'\nhidden = 4\naggregation = 'concat'", false, false);
    assert!(write(&path, &drawn, BEST, &plain).is_err());
    assert!(write(&path, &reference("feedforward-plain-matrix"), "none.safetensors", &plain).is_err());
    assert_eq!(fs::read(&path).unwrap(), b"mine");
    let run = reference("feedforward-plain-matrix");
    write(&path, &run, BEST, &plain).unwrap();
    assert_eq!(fs::read(&path).unwrap(), encode(&run, BEST, &plain).unwrap());
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1, "nothing is left beside it");
    assert!(write(&folder.path().join("none/net.onnx"), &run, BEST, &plain).is_err());
}

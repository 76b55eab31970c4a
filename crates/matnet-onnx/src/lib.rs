//! Trained matnet nets as ONNX files.
//!
//! A file takes the numbers that stand in the user's files and gives what `matnet predict` gives: all preprocessing is part of the graph.
//! The batch is any size, and so is the time of sequences. [`encode`] makes the bytes, [`write()`] a file.
//!
//! | module | what it knows |
//! |---|---|
//! | `proto` | the messages of the format |
//! | `graph` | a graph that grows node by node |
//! | `layer`, `recurrent` | how each layer looks |
//! | `net` | nets, one file per family |
//! | `sample` | nets on samples behind one interface |
//! | `preprocess`, `spectrogram`, `output` | what comes before a net, and after it |

#![forbid(unsafe_code)]

mod graph;
mod layer;
mod net;
mod output;
mod preprocess;
#[doc(hidden)] // For tests, which look into files.
pub mod proto;
mod recurrent;
mod sample;
mod spectrogram;

use std::any::Any;
use std::path::Path;

use burn::tensor::Device;
use matnet::net::{ChebyshevNet, ColumnNet, EndToEnd, Gcn, MemoryNetwork, TuringMachine};
use matnet_train::Run;
use matnet_train::model::NetParts;
use matnet_train::tasks::graph::{GraphMetadata, NormalizeFeatures};
use matnet_train::tasks::samples::{SampleDataConfig, SampleMetadata};
use matnet_train::tasks::stories::StoryMetadata;
use prost::Message;

use crate::graph::{Graph, Value};
use crate::net::NodeNet;
use crate::preprocess::{Source, fixed, named};
use crate::proto::{Entry, Model, OperatorSet, Type};

/// The version of the operators that files use.
pub const OPSET: i64 = 18;
/// The version of the format, the one that came with the operators.
const IR_VERSION: i64 = 8;
/// More bytes than that are no protobuf message.
const MAX_BYTES: usize = i32::MAX as usize;

/// What a file is made of.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Options {
    /// Whether a net on sequences has an input `lengths`. By default those have one that were trained on sequences of different lengths.
    pub lengths: Option<bool>,
}

/// Why no file was made.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// This net cannot be written as ONNX.
    #[error("{0}")]
    Refused(String),
    /// The run cannot be read, or the file not written.
    #[error(transparent)]
    Run(#[from] matnet_train::Error),
}

/// The bytes of an ONNX file for the weights of a run, `best.safetensors` or another file of its folder.
pub fn encode(run: &Run, weights_file: &str, options: &Options) -> Result<Vec<u8>, Error> {
    let predictor = run.load(weights_file, &Device::flex())?;
    let parts = predictor.parts();
    let model = match sample_model(&parts, options)? {
        None if options.lengths.is_some() => {
            let what = format!("lengths: a {} takes none; leave them out", parts.kind);
            return Err(Error::Refused(what));
        }
        None => graph_model(&parts)?.or_else(|| algorithm_model(&parts)).or_else(|| story_model(&parts)),
        model => model,
    };
    let Some(model) = model else {
        return Err(Error::Refused(format!("a {} cannot be exported to ONNX", parts.kind)));
    };
    let entries = [
        ("matnet.kind", Some(parts.kind.to_owned())),
        ("matnet.epoch", Some(predictor.epoch().to_string())),
        ("matnet.weights_sha256", run.sha256(weights_file)?),
        ("matnet.data_sha256", Some(run.data_checksum()?)),
    ];
    let entries =
        entries.into_iter().filter_map(|(key, value)| Some(Entry { key: key.to_owned(), value: value? }));
    let model = Model { metadata_props: entries.chain(model.metadata_props).collect(), ..model };
    let size = model.encoded_len();
    if size > MAX_BYTES {
        let what = format!("the file would have {size} bytes; an ONNX file holds {MAX_BYTES} at most");
        return Err(Error::Refused(what));
    }
    Ok(model.encode_to_vec())
}

/// Writes an ONNX file for the weights of a run. Whatever happens, an existing file is replaced as a whole or left as it was.
pub fn write(path: &Path, run: &Run, weights_file: &str, options: &Options) -> Result<(), Error> {
    let bytes = encode(run, weights_file, options)?;
    matnet_train::write_file(path, &bytes)?;
    Ok(())
}

/// The file of a net on samples, without what only the run knows; `None` for other nets.
fn sample_model(parts: &NetParts, options: &Options) -> Result<Option<Model>, Error> {
    let metadata = parts.metadata.downcast_ref::<SampleMetadata>();
    let data = parts.data_config.downcast_ref::<SampleDataConfig>();
    let (Some(net), Some(metadata), Some(data)) = (sample::find(parts.net), metadata, data) else {
        return Ok(None);
    };
    let lengths = options.lengths.unwrap_or(metadata.lengths_differ);
    if lengths && !net.sequences() && !metadata.preprocess.join {
        let what =
            format!("lengths: a {} takes single matrices; only nets on sequences have lengths", parts.kind);
        return Err(Error::Refused(what));
    }
    if lengths && (metadata.context_length.is_some() || metadata.preprocess.windows.is_some()) {
        let what = "lengths: this net reads a fixed number of steps; leave them out".to_owned();
        return Err(Error::Refused(what));
    }
    let mut graph = Graph::default();
    let context_length = metadata.context_length;
    let source = Source { preprocess: &metadata.preprocess, data, context_length, lengths };
    let prepared = preprocess::add(&mut graph, net, &source)?;
    let output = net.add(&mut graph, &prepared.input, prepared.mask.as_ref());
    output::add(&mut graph, net, metadata, &prepared, &output);
    let target = serde_json::to_value(metadata.target).ok();
    let target = target.as_ref().and_then(|target| target.as_str()).unwrap_or_default().to_owned();
    let target = Entry { key: "matnet.target".to_owned(), value: target };
    let entries = [Some(target), names("classes", &metadata.classes), names("names", &metadata.names)];
    Ok(Some(model(graph, parts.kind, entries.into_iter().flatten().collect())))
}

/// The file of a net on graphs; `None` for other nets.
fn graph_model(parts: &NetParts) -> Result<Option<Model>, Error> {
    let metadata = parts.metadata.downcast_ref::<GraphMetadata>();
    let (Some(net), Some(metadata)) = (node_net(parts.net), metadata) else { return Ok(None) };
    if let Some(why) = net.refusal() {
        return Err(Error::Refused(format!("this {} cannot be exported to ONNX: {why}", parts.kind)));
    }
    let mut graph = Graph::default();
    let shape = [named("nodes"), fixed(net.num_features())];
    let mut features = graph.input("features", Type::Float, Some(&shape), "the features of every node");
    let relations = net.num_relations();
    let edges: Vec<Value> = (0..relations)
        .map(|relation| {
            let doc = "row 0: nodes, row 1: their neighbours, each pair once; both directions where the graph is undirected";
            let name = match relations {
                1 => "edges".to_owned(),
                _ => format!("edges.{}", metadata.relations.get(relation).unwrap_or(&relation.to_string())),
            };
            let side = named(&name);
            graph.input(&name, Type::Int64, Some(&[fixed(2), side]), doc)
        })
        .collect();
    if metadata.normalize == NormalizeFeatures::Rows {
        features = preprocess::add_row_norm(&mut graph, &features);
    }
    let scores = net.add(&mut graph, &features, &edges, metadata.directed);
    output::add_classes(&mut graph, &scores, net.num_classes(), &[named("nodes")], None);
    let entries = [names("classes", &metadata.classes), names("relations", &metadata.relations)];
    Ok(Some(model(graph, parts.kind, entries.into_iter().flatten().collect())))
}

/// The file of a net that learnt an algorithm; `None` for other nets.
fn algorithm_model(parts: &NetParts) -> Option<Model> {
    let net = parts.net.downcast_ref::<TuringMachine>()?;
    let mut graph = Graph::default();
    let shape = |[rows, cols]: [usize; 2]| [named("batch"), named("time"), fixed(rows), fixed(cols)];
    let doc = "the numbers of every step, as they stand in your files";
    let input = graph.input("input", Type::Float, Some(&shape(net.input)), doc);
    let logits = net::add_turing_machine(&mut graph, net, &input);
    let zero = graph.float(0.0);
    let bits = graph.op("Greater", &[&logits, &zero], vec![]);
    let bits = graph.cast(&bits, Type::Float);
    graph.output(&logits, "logits", Type::Float, &shape(net.output), "a logit per bit, at every step");
    graph.output(&bits, "values", Type::Float, &shape(net.output), "the bits, 0 or 1");
    let target = Entry { key: "matnet.target".to_owned(), value: "bits".to_owned() };
    Some(model(graph, parts.kind, vec![target]))
}

/// The file of a net on stories; `None` for other nets.
fn story_model(parts: &NetParts) -> Option<Model> {
    let metadata = parts.metadata.downcast_ref::<StoryMetadata>()?;
    let mut graph = Graph::default();
    let doc = "the words of every sentence, numbers from 1 in the order of matnet.classes; 0 after the end of a sentence and of a story";
    let shape = [named("batch"), named("sentences"), named("words")];
    let stories = graph.input("stories", Type::Int64, Some(&shape), doc);
    let shape = [named("batch"), named("question_words")];
    let questions = graph.input("questions", Type::Int64, Some(&shape), "the words of every question");
    let end_to_end = parts.net.downcast_ref::<EndToEnd>().zip(parts.net_config.downcast_ref());
    let memory_network = parts.net.downcast_ref::<MemoryNetwork>().zip(parts.net_config.downcast_ref());
    let scores = match (end_to_end, memory_network) {
        (Some((net, config)), _) => net::add_end_to_end(&mut graph, net, config, &stories, &questions),
        (_, Some((net, config))) => net::add_memory_network(&mut graph, net, config, &stories, &questions),
        _ => return None,
    };
    output::add_classes(&mut graph, &scores, metadata.words.len(), &[named("batch")], None);
    Some(model(graph, parts.kind, names("classes", &metadata.words).into_iter().collect()))
}

/// The net of a run, if it is one on graphs.
fn node_net(net: &dyn Any) -> Option<&dyn NodeNet> {
    fn is<N: NodeNet + 'static>(net: &dyn Any) -> Option<&dyn NodeNet> {
        net.downcast_ref::<N>().map(|net| net as &dyn NodeNet)
    }
    is::<Gcn>(net).or_else(|| is::<ColumnNet>(net)).or_else(|| is::<ChebyshevNet>(net))
}

/// Names as an entry of the metadata, unless there are none.
fn names(key: &str, names: &[String]) -> Option<Entry> {
    let value = serde_json::to_string(names).unwrap_or_default();
    (!names.is_empty()).then(|| Entry { key: format!("matnet.{key}"), value })
}

/// A file around a graph.
fn model(graph: Graph, kind: &str, metadata_props: Vec<Entry>) -> Model {
    Model {
        ir_version: IR_VERSION,
        producer_name: "matnet".to_owned(),
        producer_version: env!("CARGO_PKG_VERSION").to_owned(),
        doc_string: format!("a {kind} trained by matnet"),
        graph: Some(graph.finish(kind)),
        opset_import: vec![OperatorSet { domain: String::new(), version: OPSET }],
        metadata_props,
    }
}

//! Trained matnet nets as ONNX files.
//!
//! A file takes the numbers that stand in the user's files and gives what `matnet predict` gives: all preprocessing is part of the graph.
//! The batch is any size, and so is the time of sequences. [`encode`] makes the bytes, [`write`] a file.
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
mod proto;
mod recurrent;
mod sample;
mod spectrogram;

use std::path::Path;

use burn::tensor::Device;
use matnet_train::Run;
use matnet_train::model::NetParts;
use matnet_train::tasks::samples::{SampleDataConfig, SampleMetadata};
use prost::Message;

use crate::graph::Graph;
use crate::preprocess::Source;
use crate::proto::{Entry, Model, OperatorSet};

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
    let Some(model) = sample_model(&parts, options)? else {
        return Err(Error::Refused(format!(
            "{}: nets on matrices and sequences can be exported to ONNX; nets on graphs, on stories and on algorithms cannot",
            parts.kind
        )));
    };
    let entries = [
        ("matnet.kind", Some(parts.kind.to_owned())),
        ("matnet.epoch", Some(predictor.epoch().to_string())),
        ("matnet.weights_sha256", run.sha256(weights_file)),
        ("matnet.data_sha256", run.data_checksum().ok()),
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
    if lengths && !net.sequences() {
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
    let names = |key: &str, names: &[String]| {
        let value = serde_json::to_string(names).unwrap_or_default();
        (!names.is_empty()).then(|| Entry { key: format!("matnet.{key}"), value })
    };
    let target = serde_json::to_value(metadata.target).ok();
    let target = target.as_ref().and_then(|target| target.as_str()).unwrap_or_default().to_owned();
    let target = Entry { key: "matnet.target".to_owned(), value: target };
    let named = [names("classes", &metadata.classes), names("names", &metadata.names)];
    Ok(Some(Model {
        ir_version: IR_VERSION,
        producer_name: "matnet".to_owned(),
        producer_version: env!("CARGO_PKG_VERSION").to_owned(),
        doc_string: format!("a {} trained by matnet", parts.kind),
        graph: Some(graph.finish(parts.kind)),
        opset_import: vec![OperatorSet { domain: String::new(), version: OPSET }],
        metadata_props: [Some(target)].into_iter().chain(named).flatten().collect(),
    }))
}

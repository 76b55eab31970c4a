//! The command lines of commands on configs and trained runs.

#[cfg(feature = "serve")]
use std::net::SocketAddr;
use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::ConfigArgs;
#[cfg(feature = "serve")]
use crate::args;
use crate::args::{CacheArgs, MachineArgs};

/// `matnet inspect`
#[derive(Debug, Args)]
pub struct Inspect {
    /// A config, or the folder of a run
    #[arg(value_name = "CONFIG|RUN")]
    pub what: PathBuf,
    /// One of the config's variants
    #[arg(long, value_name = "NAME")]
    pub variant: Option<String>,
    #[command(flatten)]
    pub overrides: ConfigArgs,
    #[command(flatten)]
    pub cache: CacheArgs,
}

/// `matnet report`
#[derive(Debug, Args)]
pub struct Report {
    /// The folders of runs
    #[arg(required = true, value_name = "RUN")]
    pub what: Vec<PathBuf>,
    /// The file to write [default: report.html in the folder]
    #[arg(long, short, value_name = "FILE")]
    pub out: Option<PathBuf>,
    #[command(flatten)]
    pub cache: CacheArgs,
}

/// `matnet serve`
#[cfg(feature = "serve")]
#[derive(Debug, Args)]
pub struct Serve {
    /// The folders of runs, each with its name if that is another
    #[arg(required = true, value_name = "[NAME=]RUN")]
    pub runs: Vec<String>,
    /// Where to listen; other machines reach the server only at an address of this one's network
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:8080")]
    pub listen: SocketAddr,
    /// A file with the token that clients must present [default: the variable MATNET_TOKEN, or none]
    #[arg(long, value_name = "FILE")]
    pub token_file: Option<PathBuf>,
    /// Samples per batch, at most
    #[arg(long, value_name = "N", default_value_t = 128, value_parser = clap::value_parser!(u32).range(1..=65_536))]
    pub max_batch: u32,
    /// Milliseconds that a request may wait for others to share its batch
    #[arg(long, value_name = "MS", default_value_t = 1.0, value_parser = args::amount)]
    pub max_delay_ms: f64,
    /// Requests per model that may wait; further ones are answered with 429
    #[arg(long, value_name = "N", default_value_t = 1024, value_parser = clap::value_parser!(u32).range(1..))]
    pub max_queue: u32,
    /// MiB of a request, at most
    #[arg(long, value_name = "MIB", default_value_t = 16, value_parser = clap::value_parser!(u32).range(1..=4096))]
    pub max_body: u32,
    /// MiB of all requests that are being answered, and of the answers; further ones are answered with 503
    #[arg(long, value_name = "MIB", default_value_t = 256, value_parser = clap::value_parser!(u32).range(1..))]
    pub max_bodies: u32,
    /// MiB that the forward pass of a batch may take; what needs more for one sample is answered with 413
    #[arg(long, value_name = "MIB", default_value_t = 1024, value_parser = clap::value_parser!(u32).range(1..))]
    pub max_pass: u32,
    /// Open connections, at most; further ones are answered with 503
    #[arg(long, value_name = "N", default_value_t = 16_384, value_parser = clap::value_parser!(u32).range(1..))]
    pub max_connections: u32,
    /// Seconds that a body, a prediction and the writing of an answer may take, each
    #[arg(long, value_name = "SECONDS", default_value_t = 30.0, value_parser = args::amount)]
    pub timeout: f64,
    /// Seconds that a connection may be idle, or take to send the head of a request
    #[arg(long, value_name = "SECONDS", default_value_t = 75.0, value_parser = args::amount)]
    pub idle_timeout: f64,
    /// Seconds that requests in flight may take once the server is asked to stop
    #[arg(long, value_name = "SECONDS", default_value_t = 30.0, value_parser = args::amount)]
    pub grace: f64,
    /// Seconds between checks for changed runs; 0 for never
    #[arg(long, value_name = "SECONDS", default_value_t = 1.0, value_parser = args::amount)]
    pub reload_every: f64,
    /// Which weights
    #[arg(long, value_enum, default_value_t = Weights::Best)]
    pub weights: Weights,
    /// Say nothing about reloads and the end
    #[arg(long, short)]
    pub quiet: bool,
    #[command(flatten)]
    pub machine: MachineArgs,
}

/// Which weights of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Weights {
    /// Those of the best epoch on the validation split
    Best,
    /// The newest that were saved
    Last,
}

impl Weights {
    /// The file in the folder of a run.
    pub fn file(self) -> &'static str {
        match self {
            Self::Best => "best.safetensors",
            Self::Last => "last.safetensors",
        }
    }
}

/// `matnet eval`
#[derive(Debug, Args)]
pub struct Eval {
    /// The folder of a run, or of several seeds
    pub run: PathBuf,
    /// The split of the run's data: train, valid or test
    #[arg(long, value_name = "SPLIT", default_value = "test", value_parser = ["train", "valid", "test"])]
    pub split: String,
    /// Another dataset, by name or path, all of it
    #[arg(long, value_name = "NAME|PATH", conflicts_with = "split")]
    pub data: Option<String>,
    /// Graphs: the edge list, where --data is a table of nodes
    #[arg(long, value_name = "PATH", requires = "data")]
    pub edges: Option<String>,
    /// Algorithmic tasks: test sequences of these lengths [like 20,80]
    #[arg(long, value_name = "N", value_delimiter = ',')]
    pub length: Vec<usize>,
    /// Algorithmic tasks: the repeats of the test sequences, for repeat-copy
    #[arg(long, value_name = "N")]
    pub repeats: Option<usize>,
    /// Which weights
    #[arg(long, value_enum, default_value_t = Weights::Best)]
    pub weights: Weights,
    /// Print everything as JSON, including the misclassified examples
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub machine: MachineArgs,
    #[command(flatten)]
    pub cache: CacheArgs,
}

/// `matnet predict`
#[derive(Debug, Args)]
pub struct Predict {
    /// The folder of a run
    pub run: PathBuf,
    /// The inputs: .npy, .npz, a picture, .csv, or a folder; a graph for nets on graphs
    #[arg(long, short, value_name = "PATH")]
    pub input: PathBuf,
    /// Graphs: the edge list, where --input is a table of nodes
    #[arg(long, value_name = "PATH")]
    pub edges: Option<PathBuf>,
    /// Where the predictions go: .npy or .csv, or - for CSV on standard output
    #[arg(long, short, value_name = "PATH")]
    pub output: PathBuf,
    /// Write the states of this hidden layer in place of predictions; `matnet inspect` lists the layers
    #[arg(long, value_name = "LAYER", group = "wanted")]
    pub hidden: Option<String>,
    /// Write the codes of an auto-encoder in place of reconstructions
    #[arg(long, group = "wanted")]
    pub code: bool,
    /// Write the mean reconstruction error of an auto-encoder, high for samples unlike those of training
    #[arg(long, group = "wanted")]
    pub score: bool,
    /// Which weights
    #[arg(long, value_enum, default_value_t = Weights::Best)]
    pub weights: Weights,
    /// Samples per batch; changes memory and speed, not the predictions [default: as many as 16 MiB hold]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub batch_size: Option<u32>,
    /// Print only errors
    #[arg(long, short)]
    pub quiet: bool,
    #[command(flatten)]
    pub machine: MachineArgs,
    #[command(flatten)]
    pub cache: CacheArgs,
}

/// `matnet export`
#[derive(Debug, Args)]
pub struct Export {
    /// The folder of a run
    pub run: PathBuf,
    /// The ONNX file to write
    #[arg(long, value_name = "FILE")]
    pub onnx: PathBuf,
    /// Sequences: an input `lengths` for batches that are padded [default: if lengths differed in training]
    #[arg(long)]
    pub lengths: bool,
    /// Which weights
    #[arg(long, value_enum, default_value_t = Weights::Best)]
    pub weights: Weights,
    /// Print only errors
    #[arg(long, short)]
    pub quiet: bool,
}

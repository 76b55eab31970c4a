//! The command lines of `matnet data`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use crate::args::CacheArgs;

/// The verbs of `matnet data`.
#[derive(Debug, Subcommand)]
pub enum Data {
    /// List the datasets known by name, and whether they are available
    #[command(after_help = "Examples:\n  matnet data list\n  matnet data list --long cora")]
    List(List),
    /// Download datasets into the cache, and check them
    #[command(
        after_help = "An interrupted fetch resumes where it stopped.\n\nExamples:\n  matnet data fetch mnist cora\n  \
                      matnet data fetch --all --cache /big/disk"
    )]
    Fetch(Fetch),
    /// Check the checksums of what is in the cache, or of packed graphs
    #[command(
        after_help = "Examples:\n  matnet data verify\n  matnet data verify mnist\n  matnet data verify papers.packed"
    )]
    Verify(Verify),
    /// Describe a dataset or a file of your own: sizes, classes, ranges, degrees, pictures
    #[command(
        after_help = "A dataset's name goes before a file's; write ./mnist for a file called mnist. Your own data may be \
                      .npy, .npz, a folder of pictures by class, .csv matrices, or an edge list with features.\n\n\
                      Examples:\n  matnet data show digits\n  matnet data show mine.npz --png mine.png"
    )]
    Show(Show),
    /// Pack a graph into a folder that trains by mini-batches without being read into memory
    #[command(
        after_help = "Edges may be larger than memory: they are sorted in pieces on the disk of --out, which needs room for about 24 bytes \
                      per edge beside the result. SOURCE is a folder with edges.* (.npy [m, 2], .csv, .txt, .parquet, …) and features.npy or \
                      nodes.*, and perhaps labels.npy, relations.npy, train.npy, valid.npy, test.npy; or an .npz with such arrays; or a \
                      table of nodes with --edges; or a dataset's name. data.source then names the packed folder. A pack that is killed leaves \
                      nothing under its name; the same command starts again.\n\n\
                      Examples:\n  matnet data pack mygraph/ --out mygraph.packed\n  \
                      matnet data pack nodes.csv --edges edges.csv --out g.packed --memory 256\n  \
                      matnet data pack features.npy --edges edges.npy --out g.packed --order rcm\n  \
                      matnet data pack cora --out cora.packed"
    )]
    Pack(Pack),
}

/// `matnet data pack`
#[derive(Debug, Args)]
pub struct Pack {
    /// A folder with edges and nodes, an .npz, a file of nodes, or a dataset's name
    #[arg(value_name = "SOURCE")]
    pub source: String,
    /// The edges, where SOURCE is a file of nodes
    #[arg(long, value_name = "FILE")]
    pub edges: Option<PathBuf>,
    /// The folder to write
    #[arg(long, short, value_name = "DIR")]
    pub out: PathBuf,
    /// The order of the nodes in the files: natural (that of the source) or rcm (reverse Cuthill–McKee, neighbours close together)
    #[arg(long, value_name = "ORDER", default_value = "natural", value_parser = ["natural", "rcm"])]
    pub order: String,
    /// The first node of an edge aggregates from the second only; with names, in these relations
    #[arg(long, value_name = "RELATION", num_args = 0.., value_delimiter = ',', require_equals = true)]
    pub directed: Option<Vec<String>>,
    /// MiB of edges that are sorted at once
    #[arg(long, value_name = "MIB", default_value_t = 512, value_parser = clap::value_parser!(u32).range(1..=1_048_576))]
    pub memory: u32,
    /// Replace an existing packed graph
    #[arg(long)]
    pub force: bool,
    /// Print only the result
    #[arg(long, short)]
    pub quiet: bool,
    #[command(flatten)]
    pub cache: CacheArgs,
}

/// `matnet data list`
#[derive(Debug, Args)]
pub struct List {
    /// Only these
    pub names: Vec<String>,
    /// Also print home, terms, files and addresses
    #[arg(long, short)]
    pub long: bool,
    #[command(flatten)]
    pub cache: CacheArgs,
}

/// `matnet data fetch`
#[derive(Debug, Args)]
pub struct Fetch {
    /// Which datasets
    #[arg(required_unless_present = "all")]
    pub names: Vec<String>,
    /// Every dataset that needs files (not the 782 MiB of fixed moving-mnist sequences)
    #[arg(long, conflicts_with = "names")]
    pub all: bool,
    /// Seconds without data after which a server counts as stalled
    #[arg(long, value_name = "SECONDS", default_value_t = 30, value_parser = clap::value_parser!(u64).range(1..=3600))]
    pub timeout: u64,
    #[command(flatten)]
    pub cache: CacheArgs,
}

/// `matnet data verify`
#[derive(Debug, Args)]
pub struct Verify {
    /// Only these datasets, or folders of packed graphs; without a name, every dataset that is there
    pub names: Vec<String>,
    #[command(flatten)]
    pub cache: CacheArgs,
}

/// `matnet data show`
#[derive(Debug, Args)]
pub struct Show {
    /// A dataset's name, or the path of your own data
    #[arg(value_name = "NAME|FILE")]
    pub what: String,
    /// Write a picture: the first samples of each class, or a graph's degrees
    #[arg(long, value_name = "OUT.png")]
    pub png: Option<PathBuf>,
    /// How many samples (of each class, if there are classes) the picture shows
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = clap::value_parser!(u16).range(1..=100))]
    pub samples: u16,
    /// Seed of what is generated
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub seed: u64,
    #[command(flatten)]
    pub cache: CacheArgs,
}

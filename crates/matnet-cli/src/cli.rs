//! What can be typed: every command, argument and option, declared once. Help comes from here.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};

/// Deep networks whose states are matrices
#[derive(Debug, Parser)]
#[command(name = "matnet", version, after_help = "Example:\n  matnet data show digits")]
pub struct Cli {
    /// What to do
    #[command(subcommand)]
    pub command: Command,
}

/// The verbs.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Datasets: list, fetch, verify, show
    #[command(
        subcommand,
        after_help = "Example:\n  matnet data fetch mnist && matnet data show mnist --png mnist.png"
    )]
    Data(Data),
    /// Time the nets of the benchmark table on this machine
    #[command(
        after_help = "A row is chosen by the beginning of its name. `peers/bench` times PyTorch at the same work beside it.\n\n\
                      Examples:\n  matnet bench\n  matnet bench a c g"
    )]
    Bench(Bench),
}

/// `matnet bench`
#[derive(Debug, Args)]
pub struct Bench {
    /// Only these rows
    pub rows: Vec<String>,
    /// Answer requests on standard input, for `peers/bench`
    #[arg(long, hide = true, conflicts_with = "rows")]
    pub worker: bool,
}

/// The verbs of `matnet data`.
#[derive(Debug, Subcommand)]
pub enum Data {
    /// List the datasets known by name, and whether they are here
    #[command(after_help = "Examples:\n  matnet data list\n  matnet data list --long cora")]
    List(List),
    /// Download datasets into the cache, and check them
    #[command(
        after_help = "An interrupted fetch goes on where it stopped.\n\nExamples:\n  matnet data fetch mnist cora\n  \
                      matnet data fetch --all --cache /big/disk"
    )]
    Fetch(Fetch),
    /// Check the checksums of what is in the cache
    #[command(after_help = "Examples:\n  matnet data verify\n  matnet data verify mnist")]
    Verify(Verify),
    /// Show what a dataset or a file of your own holds: sizes, classes, ranges, degrees, pictures
    #[command(
        after_help = "A dataset's name goes before a file's; write ./mnist for a file called mnist. Your own data may be \
                      .npy, .npz, a folder of pictures by class, .csv matrices, or an edge list with features.\n\n\
                      Examples:\n  matnet data show digits\n  matnet data show mine.npz --png mine.png"
    )]
    Show(Show),
}

/// Where downloaded files are.
#[derive(Debug, Args)]
pub struct CacheArgs {
    /// Folder of downloaded data [default: $MATNET_DATA, or the platform's cache folder]
    #[arg(long, value_name = "DIR")]
    pub cache: Option<PathBuf>,
}

/// `matnet data list`
#[derive(Debug, Args)]
pub struct List {
    /// Only these
    pub names: Vec<String>,
    /// Also say home, terms, files and addresses
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
    /// Seconds without news after which a server counts as stalled
    #[arg(long, value_name = "SECONDS", default_value_t = 30, value_parser = clap::value_parser!(u64).range(1..=3600))]
    pub timeout: u64,
    #[command(flatten)]
    pub cache: CacheArgs,
}

/// `matnet data verify`
#[derive(Debug, Args)]
pub struct Verify {
    /// Only these; without a name, everything that is there
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

//! What can be typed: every command, argument and option, declared once. Help comes from here.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};

/// Deep networks whose states are matrices
#[derive(Debug, Parser)]
#[command(
    name = "matnet",
    version,
    after_help = "Example:\n  matnet new feedforward --out digits.toml && matnet train digits.toml"
)]
pub struct Cli {
    /// What to do
    #[command(subcommand)]
    pub command: Command,
}

/// The verbs.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Train a net as a config says, or go on with a run that was stopped
    #[command(
        after_help = "A run is a folder. The same command goes on with one that was stopped, from where it was saved, to the same \
                      bytes; on a finished one it says so.\n\nExamples:\n  matnet train digits.toml\n  \
                      matnet train digits.toml --set model.hidden=[50,50] --set train.learning_rate=3e-4 --out runs/wide\n  \
                      matnet train digits.toml --seeds 5"
    )]
    Train(Train),
    /// Train all variants of a config side by side, or compare runs that are there
    #[command(
        after_help = "A config describes a comparison with tables [variant.NAME] that hold other values for some keys.\n\n\
                      Examples:\n  matnet compare experiments/twins.toml\n  matnet compare experiments/twins.toml --seeds 3\n  \
                      matnet compare runs/mat runs/vec"
    )]
    Compare(Compare),
    /// Measure a trained net: loss, error, classes and confusions
    #[command(
        after_help = "On the test part the numbers are those of the run's result.json. With --data the net is measured on all of other \
                      data, prepared as its own were. Nets that learn a program are measured in wrong bits, at any length.\n\nExamples:\n  \
                      matnet eval runs/digits\n  matnet eval runs/copy --length 20,80\n  \
                      matnet eval runs/digits --part valid --json\n  matnet eval runs/digits --data mine.npz"
    )]
    Eval(Eval),
    /// Let a trained net answer for inputs of your own
    #[command(
        after_help = "Inputs are .npy or .npz (array `x`) of [n, rows, cols] or [n, time, rows, cols], a picture, a .csv matrix, or a \
                      folder of these, in order of their paths. They are read, answered and written a part at a time, so an .npy may \
                      be larger than memory. Answers are the probabilities of the classes, or matrices \
                      in the scale that the net was trained in. Nets on graphs take a graph (.npz, a folder with edges and nodes, or a \
                      dataset's name) and answer for each of its nodes. Nets that learnt a program take [n, time, channels] and give the bits \
                      of every step.\n\nExamples:\n  \
                      matnet predict runs/digits --input x.npy --output y.npy\n  \
                      matnet predict runs/papers --input mygraph/ --output classes.csv\n  \
                      matnet predict runs/digits --input scans/ --output answers.csv\n  \
                      matnet predict runs/digits --input three.png --output -"
    )]
    Predict(Predict),
    /// Say what a net is made of: layers, shapes, parameters, flops, and what a vector net would have
    #[command(
        after_help = "Examples:\n  matnet inspect digits.toml\n  matnet inspect digits.toml --set model.hidden=[100,100]\n  \
                      matnet inspect runs/digits"
    )]
    Inspect(Inspect),
    /// Write the report of a run, or one about several: one HTML file to look at
    #[command(
        after_help = "Training leaves a report in its folder by itself.\n\nExamples:\n  matnet report runs/digits\n  \
                      matnet report runs/mat runs/vec --out twins.html"
    )]
    Report(Report),
    /// Write a commented config for a kind of net
    #[command(
        after_help = "Without --out it goes to standard output.\n\nExamples:\n  matnet new feedforward --out digits.toml\n  \
                      matnet new seq2seq | less"
    )]
    New(New),
    /// Run an experiment of the paper and set its numbers beside the paper's
    #[command(
        after_help = "Each run is a folder of its own; the same command goes on with what is not finished.\n\nExamples:\n  \
                      matnet reproduce digits\n  matnet reproduce all\n  \
                      MATNET_DATA=data matnet reproduce citations --size paper --threads 1 --out runs/citations"
    )]
    Reproduce(Reproduce),
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
    /// Print completions for a shell
    #[command(
        after_help = "Example:\n  matnet completions bash > ~/.local/share/bash-completion/completions/matnet"
    )]
    Completions(Completions),
    /// Write manual pages
    #[command(after_help = "Example:\n  matnet man ~/.local/share/man/man1")]
    Man(Man),
}

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
    pub changes: ConfigArgs,
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

/// `matnet new`
#[derive(Debug, Args)]
pub struct New {
    /// Which net
    pub kind: NetKind,
    /// The file to write
    #[arg(long, short, value_name = "FILE")]
    pub out: Option<PathBuf>,
    /// Overwrite a file that is there
    #[arg(long)]
    pub force: bool,
}

/// The kinds of net.
#[derive(Clone, Copy, Debug, clap::ValueEnum)]
pub enum NetKind {
    /// A class for a matrix, or a matrix for a matrix
    Feedforward,
    /// A matrix for itself
    Autoencoder,
    /// A class for a sequence
    SequenceClassifier,
    /// A class or a matrix for every step
    SequenceLabeller,
    /// A sequence for a sequence
    Seq2seq,
    /// A class for a node of a graph: the column network
    ColumnNet,
    /// The same by graph convolutions
    Gcn,
    /// The same by polynomials of the Laplacian
    Chebyshev,
    /// A program, learnt with a memory: copy, repeat-copy, recall
    TuringMachine,
    /// The answer to a question about a story, from sentences it was taught to find
    MemoryNetwork,
    /// The same by attention, told nothing but the answers
    EndToEndMemory,
}

impl NetKind {
    /// The word in configs.
    pub fn word(self) -> &'static str {
        match self {
            Self::Feedforward => "feedforward",
            Self::Autoencoder => "autoencoder",
            Self::SequenceClassifier => "sequence-classifier",
            Self::SequenceLabeller => "sequence-labeller",
            Self::Seq2seq => "seq2seq",
            Self::ColumnNet => "column-net",
            Self::Gcn => "gcn",
            Self::Chebyshev => "chebyshev",
            Self::TuringMachine => "turing-machine",
            Self::MemoryNetwork => "memory-network",
            Self::EndToEndMemory => "end-to-end-memory",
        }
    }
}

/// `matnet completions`
#[derive(Debug, Args)]
pub struct Completions {
    /// Which shell
    pub shell: clap_complete::Shell,
}

/// `matnet man`
#[derive(Debug, Args)]
pub struct Man {
    /// Where the pages go
    #[arg(value_name = "DIR")]
    pub folder: PathBuf,
}

/// What changes a config on the way in.
#[derive(Debug, Args)]
pub struct ConfigArgs {
    /// Changes of keys; rustdoc would take the help's `[50,50]` for a link.
    #[arg(
        long,
        value_name = "KEY=VALUE",
        help = "Change a key: model.hidden=[50,50], train.learning_rate=3e-4 (may be given again and again)"
    )]
    pub set: Vec<String>,
}

/// How training is done; none of it changes the numbers that come out.
#[derive(Debug, Args)]
pub struct TrainArgs {
    /// Train from so many seeds, and give mean, deviation and best
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub seeds: Option<u32>,
    /// Forget the run that stands there and start again
    #[arg(long)]
    pub fresh: bool,
    /// Go on from the state before the newest, when that is damaged
    #[arg(long, value_name = "STATE", value_parser = ["previous"], conflicts_with = "fresh")]
    pub from: Option<String>,
    /// Seconds of work that a killed run may lose, at most
    #[arg(long, value_name = "SECONDS", default_value_t = 30, value_parser = clap::value_parser!(u64).range(0..=86_400))]
    pub save_every: u64,
    /// Say only how it ended
    #[arg(long, short)]
    pub quiet: bool,
    /// Show learning curves in the terminal while it goes on (in builds with `--features dashboard`)
    #[arg(long, conflicts_with = "quiet")]
    pub dashboard: bool,
    #[command(flatten)]
    pub machine: MachineArgs,
    #[command(flatten)]
    pub cache: CacheArgs,
}

/// Where the numbers are worked out.
#[derive(Debug, Args)]
pub struct MachineArgs {
    /// flex (the CPU), or wgpu, cuda or rocm where the build has it
    #[arg(long, value_name = "DEVICE", default_value = "flex")]
    pub device: String,
    /// Threads [default: one per core]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub threads: Option<u16>,
}

/// `matnet train`
#[derive(Debug, Args)]
pub struct Train {
    /// A config (see `matnet new`)
    pub config: PathBuf,
    /// The run's folder [default: runs/NAME-OF-THE-CONFIG]
    #[arg(long, short, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// One of the config's variants
    #[arg(long, value_name = "NAME")]
    pub variant: Option<String>,
    #[command(flatten)]
    pub changes: ConfigArgs,
    #[command(flatten)]
    pub how: TrainArgs,
}

/// `matnet compare`
#[derive(Debug, Args)]
pub struct Compare {
    /// One config, or the folders of runs
    #[arg(required = true, value_name = "CONFIG|RUN")]
    pub what: Vec<PathBuf>,
    /// Where the runs go [default: runs/NAME-OF-THE-CONFIG]
    #[arg(long, short, value_name = "DIR")]
    pub out: Option<PathBuf>,
    #[command(flatten)]
    pub changes: ConfigArgs,
    #[command(flatten)]
    pub how: TrainArgs,
}

/// Which weights of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Weights {
    /// Those of the epoch that did best on the validation part
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
    /// The folder of a run
    pub run: PathBuf,
    /// The part of the run's data: train, valid or test
    #[arg(long, value_name = "PART", default_value = "test", value_parser = ["train", "valid", "test"])]
    pub part: String,
    /// Other data, by name or path, all of them
    #[arg(long, value_name = "NAME|PATH", conflicts_with = "part")]
    pub data: Option<String>,
    /// Graphs: the list of edges, where --data is a table of nodes
    #[arg(long, value_name = "PATH", requires = "data")]
    pub edges: Option<String>,
    /// Programs: test sequences of these lengths, not of the run's [like 20,80]
    #[arg(long, value_name = "N", value_delimiter = ',')]
    pub length: Vec<usize>,
    /// Programs: test sequences repeated so often, for repeat-copy
    #[arg(long, value_name = "N")]
    pub repeats: Option<usize>,
    /// Which weights
    #[arg(long, value_enum, default_value_t = Weights::Best)]
    pub weights: Weights,
    /// Print everything as JSON, the wrong answers too
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
    /// What to answer for: .npy, .npz, a picture, .csv, or a folder; a graph for nets on graphs
    #[arg(long, short, value_name = "PATH")]
    pub input: PathBuf,
    /// Graphs: the list of edges, where --input is a table of nodes
    #[arg(long, value_name = "PATH")]
    pub edges: Option<PathBuf>,
    /// Where the answers go: .npy or .csv, or - for CSV on standard output
    #[arg(long, short, value_name = "PATH")]
    pub output: PathBuf,
    /// Which weights
    #[arg(long, value_enum, default_value_t = Weights::Best)]
    pub weights: Weights,
    /// Samples at once; changes memory and speed, not the answers [default: as many as 16 MiB hold]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub batch: Option<u32>,
    /// Say only what went wrong
    #[arg(long, short)]
    pub quiet: bool,
    #[command(flatten)]
    pub machine: MachineArgs,
    #[command(flatten)]
    pub cache: CacheArgs,
}

/// How much of an experiment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, ValueEnum, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Size {
    /// Minutes, on data that ship with matnet
    Quick,
    /// The paper's data and settings
    Paper,
}

impl Size {
    /// The word for it.
    pub fn word(self) -> &'static str {
        match self {
            Self::Quick => "quick",
            Self::Paper => "paper",
        }
    }
}

/// `matnet reproduce`
#[derive(Debug, Args)]
pub struct Reproduce {
    /// Which experiment: digits, faces, moving-mnist, eeg, citations, memory, or all of them
    pub experiment: String,
    /// How much of it
    #[arg(long, value_enum, default_value_t = Size::Quick)]
    pub size: Size,
    /// Seeds of every net [default: as the experiment says]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub seeds: Option<u32>,
    /// Where runs, tables and figures go [default: runs/EXPERIMENT-SIZE]
    #[arg(long, short, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Change a key of every config: train.epochs=1
    #[arg(long, value_name = "KEY=VALUE")]
    pub set: Vec<String>,
    /// Train only what is in this folder of the experiment: random, or random/cora/gcn (may be given again and again)
    #[arg(long, value_name = "TABLE[/COLUMN[/NET]]")]
    pub only: Vec<PathBuf>,
    /// Train runs again that were made with other settings, or have a damaged file
    #[arg(long)]
    pub fresh: bool,
    #[command(flatten)]
    pub machine: MachineArgs,
    #[command(flatten)]
    pub cache: CacheArgs,
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

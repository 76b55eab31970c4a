//! What can be typed: every command, argument and option, declared once. Help comes from here.

#[cfg(feature = "serve")]
use std::net::SocketAddr;
use std::path::PathBuf;

use clap::builder::{PossibleValue, PossibleValuesParser};
use clap::{Args, Parser, Subcommand, ValueEnum};
use matnet_train::config::FoldCount;
use matnet_train::registry::NETS;

use crate::args::{self, CacheArgs, MachineArgs, PartArgs};
use crate::distributed::Engine;

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
    /// Train a net from a config, or resume a run
    #[command(
        after_help = "A run is a folder. The same command resumes an unfinished run from its checkpoint, to the same bytes; on a \
                      finished one it says so.\n\nExamples:\n  matnet train digits.toml\n  \
                      matnet train digits.toml --set model.hidden=[50,50] --set train.learning_rate=3e-4 --out runs/wide\n  \
                      matnet train digits.toml --seeds 5\n  \
                      matnet train digits.toml --epochs 40                          more epochs on a run\n  \
                      matnet train mine.toml --set train.from=runs/digits --set 'train.freeze=[\"layer.0\"]'"
    )]
    Train(Train),
    /// Train all variants of a config and compare them, or compare finished runs
    #[command(
        after_help = "A config describes a comparison with tables [variant.NAME] that hold other values for some keys.\n\n\
                      Examples:\n  matnet compare experiments/first.toml\n  matnet compare experiments/first.toml --seeds 3\n  \
                      matnet compare digits.toml --folds 5\n  matnet compare eeg.toml --folds groups\n  \
                      matnet compare digits.toml --seeds 20 --part auto             one of many processes on a cluster\n  \
                      matnet compare runs/mat runs/vec"
    )]
    Compare(Compare),
    /// Search for the values of some keys that do best on the validation split
    #[command(
        after_help = "The config lists the keys and their values in a table [search]:\n\n  [search]\n  \
                      \"model.hidden\" = [[20, 20], [50, 50]]\n  \"model.depth\" = { min = 1, max = 10 }\n  \
                      \"train.learning_rate\" = { min = 1e-4, max = 1e-1, log = true }\n\n\
                      Trials are drawn at random and trained by successive halving: the best third of them goes on for three times \
                      as many epochs. Every variant of the config gets as many trials. The test split is not evaluated. An interrupted \
                      search resumes, to the same choice. The best config is best.toml in the folder.\n\nExamples:\n  \
                      matnet tune digits.toml --trials 50\n  matnet tune digits.toml --trials 20 --min-epochs 2 --out runs/search"
    )]
    Tune(Tune),
    /// Evaluate a trained net: loss, error rate, precision and recall, confusion matrix
    #[command(
        after_help = "On the test split the numbers are those of the run's result.json. With --data the net is evaluated on all of another \
                      dataset, transformed as its own was. Algorithmic tasks are evaluated in wrong bits, at any length.\n\nExamples:\n  \
                      matnet eval runs/digits\n  matnet eval runs/copy --length 20,80\n  \
                      matnet eval runs/digits --split valid --json\n  matnet eval runs/digits --data mine.npz"
    )]
    Eval(Eval),
    /// Predict for inputs of your own
    #[command(
        after_help = "Inputs are .npy or .npz (array `x`) of [n, rows, cols] or [n, time, rows, cols], a picture, a .csv matrix, or a \
                      folder of these, in order of their paths. They are read, predicted and written a batch at a time, so an .npy may \
                      be larger than memory. Predictions are the probabilities of the classes, or matrices \
                      in the scale that the net was trained in. Nets on graphs take a graph (.npz, a folder with edges and nodes, or a \
                      dataset's name) and predict a class for each of its nodes. Algorithmic tasks take [n, time, channels] and give the bits \
                      of every step.\n\nExamples:\n  \
                      matnet predict runs/digits --input x.npy --output y.npy\n  \
                      matnet predict runs/papers --input mygraph/ --output classes.csv\n  \
                      matnet predict runs/digits --input scans/ --output predictions.csv\n  \
                      matnet predict runs/digits --input three.png --output -"
    )]
    Predict(Predict),
    /// Write a trained net for other programs, as ONNX
    #[command(
        after_help = "The file takes inputs as they stand in your files and gives what `matnet predict` gives: preprocessing is part of it. \
                      The batch is any size, and so is the time of sequences. Nets on matrices and sequences can be exported.\n\n\
                      Examples:\n  matnet export runs/digits --onnx digits.onnx\n  \
                      matnet export runs/vowels --onnx vowels.onnx --lengths"
    )]
    Export(Export),
    /// Summarize a net: layers, shapes, parameters, flops, and the parameters of a vector net
    #[command(
        after_help = "Examples:\n  matnet inspect digits.toml\n  matnet inspect digits.toml --set model.hidden=[100,100]\n  \
                      matnet inspect runs/digits"
    )]
    Inspect(Inspect),
    /// Write the report of a run, or of several: one HTML file
    #[command(
        after_help = "Training leaves a report in its folder by itself. For a graph the report of a run then also shows the hidden states in \
                      space, and writes them as hidden-1.png and hidden-2.png.\n\nExamples:\n  matnet report runs/digits\n  \
                      matnet report runs/mat runs/vec --out twins.html"
    )]
    Report(Report),
    /// Serve trained nets over HTTP: the Open Inference Protocol (KServe v2), and a page
    #[cfg(feature = "serve")]
    #[command(
        after_help = "A model is called as the folder of its run, or NAME in NAME=PATH. Requests of several clients share batches; a run that \
                      changes is loaded again. Ctrl-C or SIGTERM stops the server after the requests in flight. Clients present the \
                      token, if there is one, as `Authorization: Bearer TOKEN`.\n\nExamples:\n  matnet serve runs/digits\n  \
                      matnet serve small=runs/a large=runs/b --listen 127.0.0.1:9000 --token-file token.txt"
    )]
    Serve(Serve),
    /// Write a commented config for a kind of net
    #[command(
        after_help = "Without --out it goes to standard output.\n\nExamples:\n  matnet new feedforward --out digits.toml\n  \
                      matnet new seq2seq | less"
    )]
    New(New),
    /// Datasets: list, fetch, verify, show, pack
    #[command(
        subcommand,
        after_help = "Example:\n  matnet data fetch mnist && matnet data show mnist --png mnist.png"
    )]
    Data(Data),
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
    /// MiB of all requests that are being answered; further ones are answered with 503
    #[arg(long, value_name = "MIB", default_value_t = 256, value_parser = clap::value_parser!(u32).range(1..))]
    pub max_bodies: u32,
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
    /// Seconds between two looks at the runs for changes; 0 for never
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

/// `matnet new`
#[derive(Debug, Args)]
pub struct New {
    /// The kind of net
    #[arg(value_parser = kinds())]
    pub kind: String,
    /// The file to write
    #[arg(long, short, value_name = "FILE")]
    pub out: Option<PathBuf>,
    /// Overwrite an existing file
    #[arg(long)]
    pub force: bool,
}

/// The kinds of nets, with their help lines.
fn kinds() -> PossibleValuesParser {
    NETS.iter().map(|net| PossibleValue::new(net.name).help(net.help)).collect::<Vec<_>>().into()
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

/// Overrides of a config.
#[derive(Debug, Args)]
pub struct ConfigArgs {
    /// Overrides of keys; rustdoc would take the help's `[50,50]` for a link.
    #[arg(
        long,
        value_name = "KEY=VALUE",
        help = "Override a key: model.hidden=[50,50], train.learning_rate=3e-4 (may be repeated)"
    )]
    pub set: Vec<String>,
}

/// How runs are carried out; none of it changes the results.
#[derive(Debug, Args)]
pub struct TrainArgs {
    /// Train from so many seeds, and give mean, standard deviation and best
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub seeds: Option<u32>,
    /// Cross-validation: one run for each of N folds, or for each group of samples (groups)
    #[arg(long, value_name = "N|groups", value_parser = args::folds)]
    pub folds: Option<FoldCount>,
    /// Delete the run that stands there and start again
    #[arg(long)]
    pub fresh: bool,
    /// Resume from the checkpoint before the newest, when that is damaged
    #[arg(long, value_name = "CHECKPOINT", value_parser = ["previous"], conflicts_with = "fresh")]
    pub from: Option<String>,
    /// Seconds between two checkpoints within an epoch
    #[arg(long, value_name = "SECONDS", default_value_t = 30, value_parser = clap::value_parser!(u64).range(0..=86_400))]
    pub save_every: u64,
    /// Print only the result
    #[arg(long, short)]
    pub quiet: bool,
    /// Show learning curves in the terminal while training (in builds with `--features dashboard`)
    #[arg(long, conflicts_with = "quiet")]
    pub dashboard: bool,
    #[command(flatten)]
    pub machine: MachineArgs,
    #[command(flatten)]
    pub cache: CacheArgs,
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
    /// Train for N epochs in all; a run with fewer goes on from where it ended
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub epochs: Option<u32>,
    /// Be one of several processes that train the run together, as `mpirun` or `srun` has started them (in builds with
    /// `--features mpi`); `train.shards` says how many there can be
    #[arg(long, value_name = "ENGINE")]
    pub distributed: Option<Engine>,
    #[command(flatten)]
    pub overrides: ConfigArgs,
    #[command(flatten)]
    pub how: TrainArgs,
}

/// `matnet tune`
#[derive(Debug, Args)]
pub struct Tune {
    /// A config with a table \[search\]
    #[arg(help = "A config with a table [search]")]
    pub config: PathBuf,
    /// Trials of each net
    #[arg(long, value_name = "N", default_value_t = 30, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub trials: u32,
    /// The seed that draws the trials
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u64).range(0..=i64::MAX as u64))]
    pub seed: u64,
    /// Epochs of the first rung [default: a ninth of train.epochs]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub min_epochs: Option<u32>,
    /// Where the trials go [default: runs/NAME-OF-THE-CONFIG-tune]
    #[arg(long, short, value_name = "DIR")]
    pub out: Option<PathBuf>,
    #[command(flatten)]
    pub overrides: ConfigArgs,
    #[command(flatten)]
    pub parts: PartArgs,
    /// Delete the search that stands there and start again
    #[arg(long)]
    pub fresh: bool,
    /// Seconds between two checkpoints within an epoch
    #[arg(long, value_name = "SECONDS", default_value_t = 30, value_parser = clap::value_parser!(u64).range(0..=86_400))]
    pub save_every: u64,
    /// Print only the result
    #[arg(long, short)]
    pub quiet: bool,
    #[command(flatten)]
    pub machine: MachineArgs,
    #[command(flatten)]
    pub cache: CacheArgs,
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
    pub overrides: ConfigArgs,
    #[command(flatten)]
    pub parts: PartArgs,
    #[command(flatten)]
    pub how: TrainArgs,
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
    /// Write the states of this hidden layer in the place of predictions; `matnet inspect` lists the layers
    #[arg(long, value_name = "LAYER", group = "wanted")]
    pub hidden: Option<String>,
    /// Write the codes of an auto-encoder in the place of reconstructions
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
    /// Replace a packed graph that stands there
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

//! What can be typed: every command, argument and option, declared once. Help comes from here.

mod data;
mod train;
mod trained;

use std::path::PathBuf;

use clap::builder::{PossibleValue, PossibleValuesParser};
use clap::{Args, Parser, Subcommand};
use matnet_train::registry::NETS;

pub use self::data::{Data, Fetch, List, Pack, Show, Verify};
pub use self::train::{Compare, ConfigArgs, Train, TrainArgs, Tune};
#[cfg(feature = "serve")]
pub use self::trained::Serve;
pub use self::trained::{Eval, Export, Inspect, Predict, Report, Weights};

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
    /// List the devices that --device takes on this machine
    #[command(after_help = "Example:\n  matnet devices && matnet train digits.toml --device wgpu:0")]
    Devices,
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

//! The command lines of commands that train.

use std::path::PathBuf;

use clap::Args;
use matnet_train::config::FoldCount;

use crate::args::{self, CacheArgs, MachineArgs, PartArgs};
use crate::distributed::Engine;

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
    /// Delete the run in the folder and start again
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
    /// Train for N epochs in all; a run with fewer resumes where it ended
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
    /// Delete the search in the folder and start again
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

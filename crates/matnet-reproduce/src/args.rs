//! The command line.

use std::path::PathBuf;

use clap::{Parser, ValueEnum};
use matnet_cli::args::{CacheArgs, MachineArgs, PartArgs};
use serde::Deserialize;

/// The size of an experiment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, ValueEnum, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Size {
    /// Minutes, on data that need no download
    Quick,
    /// The paper's data and settings
    Paper,
}

impl Size {
    /// Its name in the names of folders.
    pub fn name(self) -> &'static str {
        match self {
            Self::Quick => "quick",
            Self::Paper => "paper",
        }
    }
}

/// Run an experiment of the paper and compare its numbers with the published ones
#[derive(Debug, Parser)]
#[command(
    name = "matnet-reproduce",
    version,
    after_help = "Each run is a folder of its own; the same command resumes what is not finished.\n\nExamples:\n  \
                  matnet-reproduce digits\n  matnet-reproduce all\n  \
                  MATNET_DATA=data matnet-reproduce citations --size paper --threads 1 --out runs/citations"
)]
pub struct ReproduceArgs {
    /// Which experiment: digits, faces, moving-mnist, eeg, citations, memory, all of them, or a folder with an experiment.toml
    pub experiment: String,
    /// The size of the experiment
    #[arg(long, value_enum, default_value_t = Size::Quick)]
    pub size: Size,
    /// Seeds of every net [default: as the experiment says]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub seeds: Option<u32>,
    /// Folder of runs, tables and figures [default: runs/EXPERIMENT-SIZE]
    #[arg(long, short, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Change a key of every config: train.epochs=1
    #[arg(long, value_name = "KEY=VALUE")]
    pub set: Vec<String>,
    /// Train only the runs in this folder of the experiment: random, or random/cora/gcn (may be repeated)
    #[arg(long, value_name = "TABLE[/COLUMN[/NET]]")]
    pub only: Vec<PathBuf>,
    /// Take the numbers of runs that are not here from the seeds.csv of an earlier report, and do not train them
    #[arg(long, value_name = "CSV")]
    pub earlier: Option<PathBuf>,
    /// Several processes on the same runs.
    #[command(flatten)]
    pub parts: PartArgs,
    /// Train runs again that have other settings or a damaged file
    #[arg(long)]
    pub fresh: bool,
    /// Print results and errors only, no progress
    #[arg(long, short)]
    pub quiet: bool,
    /// Device and threads.
    #[command(flatten)]
    pub machine: MachineArgs,
    /// Where downloaded files are.
    #[command(flatten)]
    pub cache: CacheArgs,
}

impl ReproduceArgs {
    /// Whether all experiments are asked for.
    pub fn all(&self) -> bool {
        self.experiment == "all"
    }

    /// The folder of an experiment.
    pub fn folder(&self, name: &str) -> PathBuf {
        match &self.out {
            Some(folder) if self.all() => folder.join(name),
            Some(folder) => folder.clone(),
            None => PathBuf::from("runs").join(format!("{name}-{}", self.size.name())),
        }
    }

    /// The folder of the page about all experiments.
    pub fn index_folder(&self) -> PathBuf {
        self.out.clone().unwrap_or_else(|| PathBuf::from("runs").join(format!("all-{}", self.size.name())))
    }
}

//! Options that several commands share.

use std::path::{Path, PathBuf};

use burn::tensor::Device;
use clap::Args;
use matnet_data::catalog::Cache;
use matnet_train::Part;
use matnet_train::config::FoldCount;

use crate::failure::{Failure, Outcome};

/// Fails unless the file of an option has one of these endings: a slip must not replace data or a config by something else. `or` says
/// what else the option takes.
pub fn require_ending(option: &str, path: &Path, endings: &[&str], or: &str) -> Outcome {
    let ending = path.extension().and_then(|ending| ending.to_str()).unwrap_or_default();
    match endings.iter().any(|known| ending.eq_ignore_ascii_case(known)) {
        true => Ok(()),
        false => {
            let (path, endings) = (path.display(), endings.join(" or ."));
            Err(Failure::Usage(format!("{option} {path}: a name that ends in .{endings} expected{or}")))
        }
    }
}

/// The environment variable that asks for a lower level of SIMD than the CPU has.
const SIMD: &str = "MATNET_SIMD";

/// Device and threads.
#[derive(Debug, Args)]
pub struct MachineArgs {
    /// flex (the CPU), or wgpu, cuda or rocm where the build has it, wgpu:1 for the second one; `matnet devices` lists them
    #[arg(long, value_name = "DEVICE", default_value = "flex")]
    pub device: String,
    /// Threads [default: one per core]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub threads: Option<u16>,
}

impl MachineArgs {
    /// Sets the number of threads and gives the device.
    pub fn device(&self) -> Result<Device, Failure> {
        if let Ok(level) = std::env::var(SIMD)
            && !["portable", "avx2", "avx512", ""].contains(&level.as_str())
        {
            return Err(Failure::Usage(format!("{SIMD}={level}; portable, avx2 or avx512 expected")));
        }
        if let Some(threads) = self.threads {
            // Fails only when the pool exists already, which nothing before this made.
            let _ = rayon::ThreadPoolBuilder::new().num_threads(threads.into()).build_global();
        }
        matnet::device::find(&self.device)
            .map_err(|error| Failure::Usage(format!("--device {}: {error}", self.device)))
    }
}

/// Where datasets are.
#[derive(Debug, Args)]
pub struct CacheArgs {
    /// Folder of downloaded data [default: $MATNET_DATA, or the platform's cache folder]
    #[arg(long, value_name = "DIR")]
    pub cache: Option<PathBuf>,
}

impl CacheArgs {
    /// The cache that was asked for, or the standard one.
    pub fn cache(&self) -> Result<Cache, Failure> {
        match &self.cache {
            Some(root) => Ok(Cache::new(root)),
            None => Ok(Cache::standard()?),
        }
    }
}

/// Reads `--folds 5` or `--folds groups`.
pub fn folds(text: &str) -> Result<FoldCount, String> {
    match text.parse::<usize>() {
        _ if text == "groups" => Ok(FoldCount::Groups),
        Ok(number) if (2..=1000).contains(&number) => Ok(FoldCount::Number(number)),
        _ => Err("a number from 2 to 1000, or `groups`, expected".to_owned()),
    }
}

/// Reads `--part 3/8` or `--part auto`.
pub fn part(text: &str) -> Result<Part, String> {
    Part::parse(text, |name| std::env::var(name).ok())
}

/// Several processes on the same runs.
#[derive(Clone, Copy, Debug, Args)]
pub struct PartArgs {
    /// Work in the same folder together with other processes: begin with share K of N, go on with whatever is unfinished; `auto`
    /// asks Slurm, MPI or Kubernetes. The same command without it prints the results
    #[arg(long, value_name = "K/N|auto", value_parser = part, conflicts_with = "fresh")]
    pub part: Option<Part>,
}

/// Reads a number of seconds or milliseconds, up to a day or so.
#[cfg(feature = "serve")]
pub fn amount(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(number) if (0.0..=86_400.0).contains(&number) => Ok(number),
        _ => Err("a number from 0 to 86400 expected".to_owned()),
    }
}

//! `[tuned]`

use serde::{Deserialize, Serialize};

use crate::{Error, Result};

/// `[tuned]`: the search that found a config. `matnet tune` writes it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Tuned {
    /// The seeds that the trials were trained from. No result of such a seed may be reported.
    pub seeds: Vec<u64>,
    /// Trials of each net.
    pub trials: usize,
    /// The seed that the trials were drawn with.
    pub search_seed: u64,
}

impl Tuned {
    /// Fails if a seed was tuned on.
    pub fn check(&self, seed: u64) -> Result<()> {
        if !self.seeds.contains(&seed) {
            return Ok(());
        }
        let seeds: Vec<String> = self.seeds.iter().map(u64::to_string).collect();
        let expected = format!(
            "the config was tuned on seeds {} ([tuned]); a result needs other seeds",
            seeds.join(", ")
        );
        Err(Error::config("train", "seed", seed.to_string(), expected))
    }
}

//! Small programs that are learnt from what goes in and what is to come out: copying, copying again and again, recall.
//!
//! Their data are drawn, not loaded. A training step draws its sequences from its own rng, so that no sequence need come twice
//! and a run is exact all the same; validation and test are drawn once, from the data's seed.

mod data;
mod sequence;
mod task;
mod trained;

use matnet::ConfigError;
use matnet::net::TuringMachineConfig;
use serde::{Serialize, Serializer};
use toml::{Table, Value};

use crate::config::{Document, read_table};
use crate::model::WithKind;
use crate::{Error, Result};

pub use data::{ProgramData, ProgramDataConfig};
pub use sequence::{Program, Sequence, Size};
pub use task::{BitScore, ProgramNote, ProgramTask, WRONG_BITS, WRONG_BITS_FAR};
pub use trained::TrainedProgram;

/// The words for `model.kind`.
pub const PROGRAM_KINDS: [&str; 1] = ["turing-machine"];

/// The config of its data.
pub fn data_config(document: &Document) -> Result<ProgramDataConfig> {
    let config: ProgramDataConfig = document.table("data")?;
    config.resolved()
}

/// The config of a net that learns a program.
#[derive(Clone, Debug, PartialEq)]
pub struct ProgramModelConfig(pub TuringMachineConfig);

impl ProgramModelConfig {
    /// Reads `[model]` and fills in the sizes that the data decide.
    pub fn read(document: &Document, data: &ProgramDataConfig) -> Result<Self> {
        let mut table = document.model()?;
        let sizes = [("input", [1, data.channels()]), ("output", [1, data.bits()])];
        for (key, sides) in sizes.iter().filter(|(key, _)| !table.contains_key(*key)).collect::<Vec<_>>() {
            let sides = sides.iter().map(|&side| Value::Integer(side as i64)).collect();
            table.insert((*key).to_owned(), Value::Array(sides));
        }
        let config = Self::from_table(table)?;
        for ((key, want), have) in sizes.iter().zip([config.0.input, config.0.output]) {
            if have != *want {
                let expected = format!("the data are {}×{}; leave it out", want[0], want[1]);
                let error = ConfigError::new(*key, format!("{}×{}", have[0], have[1]), expected);
                return Err(Error::key("model", error));
            }
        }
        Ok(config)
    }

    /// Reads `[model]` of a run, where all sizes are written out.
    pub(crate) fn of_run(document: &Document) -> Result<Self> {
        Self::from_table(document.model()?)
    }

    fn from_table(mut table: Table) -> Result<Self> {
        table.remove("kind");
        Ok(Self(read_table("model", table)?))
    }
}

impl Serialize for ProgramModelConfig {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        WithKind { kind: PROGRAM_KINDS[0], config: &self.0 }.serialize(serializer)
    }
}

//! Every memory net on stories, behind one type.

use burn::module::Module;
use burn::tensor::{Device, Tensor};
use matnet::net::{EndToEnd, EndToEndConfig, MemoryNetwork, MemoryNetworkConfig, Stories};
use matnet::random::SeededRng;
use matnet::{ConfigError, Mode, Net};
use serde::{Serialize, Serializer};
use toml::{Table, Value};

use super::PreparedStories;
use crate::config::{Document, read_table};
use crate::model::WithKind;
use crate::{Error, Result};

/// The words for `model.kind`.
pub const STORY_KINDS: [&str; 2] = ["memory-network", "end-to-end-memory"];
/// Sentences that are kept, unless the config says how many.
const MEMORY: usize = 50;

/// The config of a net whose sizes are all known.
#[derive(Clone, Debug, PartialEq)]
pub enum StoryModelConfig {
    /// The memory network, taught which sentences support an answer.
    MemoryNetwork(MemoryNetworkConfig),
    /// The end-to-end memory network.
    EndToEnd(EndToEndConfig),
}

/// A net of any kind.
#[derive(Module, Debug)]
#[allow(clippy::large_enum_variant)] // There is one per run.
pub enum StoryModel {
    /// The memory network.
    MemoryNetwork(MemoryNetwork),
    /// The end-to-end memory network.
    EndToEnd(EndToEnd),
}

impl StoryModelConfig {
    /// Reads `[model]` and fills in the sizes that the data decide.
    pub fn read(document: &Document, data: &PreparedStories) -> Result<Self> {
        let mut table = document.model()?;
        let kind = table.get("kind").and_then(Value::as_str).unwrap_or_default().to_owned();
        let mut fill = |key: &str, count: usize| {
            if !table.contains_key(key) {
                table.insert(key.to_owned(), Value::Integer(count as i64));
            }
        };
        fill("vocabulary", data.vocabulary.len());
        fill("words", data.words);
        fill("memory", data.longest.min(MEMORY));
        if kind == "memory-network" {
            fill("hops", data.most_facts);
        }
        let config = Self::from_table(table)?;
        let (have, known) = (config.vocabulary(), data.vocabulary.len());
        if have != known {
            let expected = format!("the stories have {known} words; leave it out");
            return Err(Error::key("model", ConfigError::new("vocabulary", have.to_string(), expected)));
        }
        Ok(config)
    }

    /// Reads `[model]` of a run, where all sizes are written out.
    pub(crate) fn of_run(document: &Document) -> Result<Self> {
        Self::from_table(document.model()?)
    }

    fn from_table(mut table: Table) -> Result<Self> {
        let kind = table.remove("kind");
        Ok(match kind.as_ref().and_then(Value::as_str) {
            Some("memory-network") => Self::MemoryNetwork(read_table("model", table)?),
            Some("end-to-end-memory") => Self::EndToEnd(read_table("model", table)?),
            _ => {
                let what = format!("model.kind: for stories one of {}", STORY_KINDS.join(", "));
                return Err(Error::Config(what));
            }
        })
    }

    /// Draws the first values.
    pub fn init(&self, rng: &mut SeededRng, device: &Device) -> Result<StoryModel> {
        let model = match self {
            Self::MemoryNetwork(config) => config.init(rng, device).map(StoryModel::MemoryNetwork),
            Self::EndToEnd(config) => config.init(rng, device).map(StoryModel::EndToEnd),
        };
        model.map_err(|error| Error::key("model", error))
    }

    /// The word for it.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::MemoryNetwork(_) => "memory-network",
            Self::EndToEnd(_) => "end-to-end-memory",
        }
    }

    /// How many words it knows.
    pub fn vocabulary(&self) -> usize {
        match self {
            Self::MemoryNetwork(config) => config.vocabulary,
            Self::EndToEnd(config) => config.vocabulary,
        }
    }

    /// How many sentences it keeps.
    pub fn memory(&self) -> usize {
        match self {
            Self::MemoryNetwork(config) => config.memory,
            Self::EndToEnd(config) => config.memory,
        }
    }

    /// Operations for a full memory: adding up the words of its sentences once for every table, and looking and reading.
    pub fn flops(&self) -> u64 {
        let (memory, words, width, tables, reads) = match self {
            Self::MemoryNetwork(config) => (config.memory, config.words, config.width, 3, config.hops),
            Self::EndToEnd(config) => {
                let tables = if config.tying == matnet::net::Tying::Adjacent { config.hops + 1 } else { 2 };
                (config.memory, config.words, config.width, tables, 2 * config.hops * config.heads)
            }
        };
        2 * (memory * width * (words * tables + reads)) as u64
    }
}

impl Serialize for StoryModelConfig {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let kind = self.kind();
        match self {
            Self::MemoryNetwork(config) => WithKind { kind, config }.serialize(serializer),
            Self::EndToEnd(config) => WithKind { kind, config }.serialize(serializer),
        }
    }
}

impl StoryModel {
    /// Scores `[questions, words]`.
    pub fn forward(&self, stories: Stories, mode: &mut Mode) -> Tensor<2> {
        match self {
            Self::MemoryNetwork(net) => net.forward(stories, mode),
            Self::EndToEnd(net) => net.forward(stories, mode),
        }
    }
}

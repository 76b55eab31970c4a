//! From a name to numbers: built-in data as they are, others from the cache.

use std::ops::Range;
use std::path::Path;

use crate::cache::Cache;
use crate::catalog;
use crate::shipped::{self, simulated_eeg::SimulatedEeg, stories::MadeStories};
use crate::source::babi::{self, Babi};
use crate::source::eeg::{self, Select};
use crate::source::mnist::{self, Half};
use crate::source::moving::Moving;
use crate::source::planetoid::{self, Graph};
use crate::source::{frey, linqs};
use crate::{Array, GraphData, Result, Samples, Target};

/// A dataset that has been loaded by name.
#[derive(Clone, Debug)]
pub struct Named {
    /// What it holds.
    pub contents: Contents,
    /// The samples its publisher keeps for testing, if the data come in halves.
    pub official_test: Option<Range<usize>>,
    /// What a reader should know: trials left out, sequences generated, …
    pub notes: Vec<String>,
}

/// The kinds of data there are.
#[derive(Clone, Debug)]
pub enum Contents {
    /// Matrices or sequences of matrices.
    Samples(Samples),
    /// Nodes joined by edges.
    Graph(GraphData),
    /// Stories with questions.
    Stories(Babi),
}

/// How to load what is not simply read.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// The seed of what is generated.
    pub seed: u64,
    /// How many moving-digit sequences; all 10,000 of them are 3.3 GB.
    pub sequences: usize,
}

impl Default for Options {
    fn default() -> Self {
        Self { seed: 0, sequences: 100 }
    }
}

/// Loads the dataset called `name`, from `cache` unless it is built in.
pub fn load(name: &str, cache: &Cache, options: Options) -> Result<Named> {
    let dataset = catalog::get(name)?;
    match dataset.name {
        "digits" => shipped::digits().map(samples),
        "faces" => shipped::faces().map(samples),
        "motions" => Ok(Named { official_test: Some(40..80), ..samples(shipped::motions()?) }),
        "citations" => shipped::citations().map(graph),
        "simulated-eeg" => {
            let simulated = SimulatedEeg::default().generate(options.seed)?;
            Ok(samples(simulated).note(format!("computed from seed {}, not measured", options.seed)))
        }
        "stories" => {
            let contents = Contents::Stories(MadeStories::default().generate(options.seed)?);
            let named = Named { contents, official_test: None, notes: Vec::new() };
            Ok(named.note(format!("made up from seed {}", options.seed)))
        }
        "moving-mnist" | "moving-digits" => moving(dataset.name, cache, options),
        // What is left needs its files.
        name => from_files(name, &cache.require(dataset)?.folder, cache),
    }
}

fn from_files(name: &str, folder: &Path, cache: &Cache) -> Result<Named> {
    match name {
        "mnist" => {
            let (train, test) = (mnist::load(folder, Half::Train)?, mnist::load(folder, Half::Test)?);
            let halves = train.inputs.len()..train.inputs.len() + test.inputs.len();
            Ok(Named { official_test: Some(halves), ..samples(join(train, test)?) })
        }
        "frey-face" => frey::load(folder).map(samples),
        "uci-eeg" => brain_waves(folder, Select::Official, cache),
        "uci-eeg-full" => brain_waves(folder, Select::All, cache),
        "cora" => planetoid::load(folder, Graph::Cora).map(graph),
        "citeseer" => planetoid::load(folder, Graph::Citeseer).map(graph),
        "pubmed" => planetoid::load(folder, Graph::PubMed).map(graph),
        "linqs-cora" => linqs::load(unpacked(folder, "cora")).map(graph),
        _ => {
            let stories = babi::load(folder, babi::Size::OneThousand)?;
            let missing = stories.missing.iter().map(|what| format!("{what} is missing")).collect();
            Ok(Named { contents: Contents::Stories(stories), official_test: None, notes: missing })
        }
    }
}

/// Sequences of moving digits as numbers; [`Moving::levels`] has them in a quarter of the room.
fn moving(name: &str, cache: &Cache, options: Options) -> Result<Named> {
    let mut moving = Moving::open(name, cache, options)?;
    let inputs = moving.read(0..moving.count)?;
    let all = Samples { inputs, target: Target::None, groups: Vec::new(), group_names: Vec::new() };
    Ok(samples(all).note(moving.note))
}

fn brain_waves(folder: &Path, select: Select, cache: &Cache) -> Result<Named> {
    // The compact arrays load in a moment; raw text is parsed once and kept.
    let compact = select == Select::Official && folder.join("smni_cmi_train.npz").is_file();
    let loaded = match compact {
        true => eeg::load(folder, select)?,
        false => eeg::load_cached(folder, select, cache.root().join("parsed"))?,
    };
    let mut notes = Vec::new();
    if !loaded.report.repeated.is_empty() {
        notes.push(format!(
            "{} trials that stand in both official halves kept once",
            loaded.report.repeated.len()
        ));
    }
    if !loaded.report.skipped.is_empty() {
        notes.push(format!("{} empty or broken files skipped", loaded.report.skipped.len()));
    }
    notes.extend(loaded.report.cache.as_ref().map(|why| format!("parsed trials could not be kept: {why}")));
    Ok(Named { notes, ..samples(loaded.into_samples()) })
}

fn unpacked(folder: &Path, name: &str) -> std::path::PathBuf {
    let inner = folder.join(name);
    if inner.is_dir() { inner } else { folder.to_owned() }
}

/// Both halves of a dataset, one after the other.
fn join(first: Samples, second: Samples) -> Result<Samples> {
    let mut shape = first.inputs.shape().to_vec();
    if let (Some(count), true) = (shape.first_mut(), first.inputs.shape()[1..] == second.inputs.shape()[1..])
    {
        *count += second.inputs.len();
    }
    let mut data = first.inputs.into_data();
    data.extend_from_slice(second.inputs.data());
    let target = match (first.target, second.target) {
        (Target::Classes { mut labels, names }, Target::Classes { labels: more, .. }) => {
            labels.extend(more);
            Target::Classes { labels, names }
        }
        _ => Target::None,
    };
    Ok(Samples { inputs: Array::new(shape, data)?, target, groups: Vec::new(), group_names: Vec::new() })
}

fn samples(samples: Samples) -> Named {
    Named { contents: Contents::Samples(samples), official_test: None, notes: Vec::new() }
}

fn graph(graph: GraphData) -> Named {
    Named { contents: Contents::Graph(graph), official_test: None, notes: Vec::new() }
}

impl Named {
    fn note(mut self, note: String) -> Self {
        self.notes.push(note);
        self
    }
}

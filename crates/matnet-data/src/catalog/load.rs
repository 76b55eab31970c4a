//! From a name to a dataset.

use std::path::Path;

use super::moving::MovingSequences;
use super::readers::babi::{self, BabiSize};
use super::readers::graph_npz::GraphFile;
use super::readers::mnist::{self, MnistSplit};
use super::readers::uea::UeaSet;
use super::readers::{builtin, ett, linqs, repository};
use super::{Cache, DatasetInfo, LoadOptions};
use crate::generate::{EegSimulator, StoryGenerator};
use crate::{Dataset, Result, Samples, Target, catalog};

/// Loads the dataset called `name`; files are taken from `cache`.
pub fn load(name: &str, cache: &Cache, options: LoadOptions) -> Result<Dataset> {
    let dataset = catalog::get(name)?;
    dataset.require_reader()?;
    match dataset.name {
        "optdigits" => Ok(builtin::optdigits()?.into()),
        "fashion" => Ok(builtin::fashion()?.into()),
        "vowels" => Ok(with_length_note(builtin::vowels()?.with_official_test(270..640))),
        "simulated-eeg" => {
            let simulated = EegSimulator::default().generate(options.seed)?;
            Ok(Dataset::from(simulated)
                .with_note(format!("simulated from seed {}, not measured", options.seed)))
        }
        "stories" => {
            let stories = StoryGenerator::default().generate(options.seed)?;
            Ok(Dataset::from(stories).with_note(format!("generated from seed {}", options.seed)))
        }
        name if MovingSequences::NAMES.contains(&name) => {
            let mut sequences = MovingSequences::open(name, cache, options)?;
            let inputs = sequences.read(0..sequences.count)?;
            Ok(Dataset::from(Samples::new(inputs, Target::None)).with_note(sequences.note))
        }
        _ => read_files(dataset, cache),
    }
}

/// Loads a dataset from its files.
fn read_files(dataset: &DatasetInfo, cache: &Cache) -> Result<Dataset> {
    let located = cache.require(dataset)?;
    let folder = &located.folder;
    match dataset.name {
        "digits" => Ok(repository::digits(&located)?.into()),
        "faces" => Ok(repository::faces(&located.files[0])?.into()),
        "motions" => Ok(repository::motions(&located.files[0])?.with_official_test(40..80).into()),
        "citations" => Ok(linqs::load(&located.files[0])?.into()),
        "mnist" => {
            let (train, test) =
                (mnist::load(folder, MnistSplit::Train)?, mnist::load(folder, MnistSplit::Test)?);
            let official_test = train.inputs.len()..train.inputs.len() + test.inputs.len();
            Ok(train.concat(test)?.with_official_test(official_test).into())
        }
        "etth1" | "etth2" => Ok(ett::load(&located.files[0])?.into()),
        "linqs-cora" => Ok(linqs::load(unpacked(folder, "cora"))?.into()),
        "babi" => {
            let stories = babi::load(folder, BabiSize::Small)?;
            let notes = stories.missing.iter().map(|what| format!("{what} is missing")).collect();
            Ok(Dataset { notes, ..stories.into() })
        }
        name => match (UeaSet::get(name), GraphFile::get(name)) {
            (Some(set), _) => Ok(with_length_note(set.load(&located)?)),
            (_, Some(graph)) => Ok(graph.load(&located.files[0])?.into()),
            _ => research(name, folder, cache),
        },
    }
}

/// The datasets whose readers need the feature `research-formats`.
#[cfg(feature = "research-formats")]
fn research(name: &str, folder: &Path, cache: &Cache) -> Result<Dataset> {
    use super::readers::eeg::EegSelection;
    use super::readers::planetoid::{self, PlanetoidGraph};
    use super::readers::{eeg, frey};

    match name {
        "frey-face" => Ok(frey::load(folder)?.into()),
        "uci-eeg" => eeg::load_dataset(folder, EegSelection::Official, cache),
        "uci-eeg-full" => eeg::load_dataset(folder, EegSelection::All, cache),
        "cora" => Ok(planetoid::load(folder, PlanetoidGraph::Cora)?.into()),
        "citeseer" => Ok(planetoid::load(folder, PlanetoidGraph::Citeseer)?.into()),
        "pubmed" => Ok(planetoid::load(folder, PlanetoidGraph::PubMed)?.into()),
        _ => no_reader(name),
    }
}

#[cfg(not(feature = "research-formats"))]
fn research(name: &str, _: &Path, _: &Cache) -> Result<Dataset> {
    no_reader(name)
}

fn no_reader(name: &str) -> Result<Dataset> {
    Err(crate::Error::Invalid(format!("the catalog has no reader for `{name}`")))
}

/// Sequences, with a note where their lengths differ.
fn with_length_note(samples: Samples) -> Dataset {
    let lengths = &samples.lengths;
    let range = lengths.iter().min().zip(lengths.iter().max());
    let note = range.map(|(least, most)| {
        format!("sequences have {least} to {most} steps and are padded with zeros to {most}")
    });
    let dataset = Dataset::from(samples);
    match note {
        Some(note) => dataset.with_note(note),
        None => dataset,
    }
}

fn unpacked(folder: &Path, name: &str) -> std::path::PathBuf {
    let inner = folder.join(name);
    if inner.is_dir() { inner } else { folder.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalog::Origin;
    use crate::{Contents, Error};

    /// What needs no files loads; what needs them either loads or says what is missing.
    #[test]
    fn every_name_has_a_reader() {
        let folder = tempfile::tempdir().unwrap();
        let cache = Cache::new(folder.path());
        for dataset in catalog::all() {
            match load(dataset.name, &cache, LoadOptions { seed: 0, sequences: 1 }) {
                Ok(loaded) => {
                    assert!(!matches!(&loaded.contents, Contents::Samples(s) if s.inputs.is_empty()))
                }
                Err(Error::Missing(_)) => {
                    assert!(!matches!(dataset.origin, Origin::BuiltIn), "{}", dataset.name)
                }
                Err(error) => panic!("{}: {error}", dataset.name),
            }
        }
    }
}

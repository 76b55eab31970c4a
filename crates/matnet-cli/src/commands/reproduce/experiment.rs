//! What an experiment trains and what it is set beside: the files under `experiments/`, understood.

use std::collections::BTreeMap;
use std::path::Path;

use matnet_train::compare::{Job, jobs};
use matnet_train::config::Document;
use serde::Deserialize;

use crate::cli::Size;
use crate::failure::Failure;

/// The files of an experiment: its description, and the configs that this names.
pub struct Files {
    /// The word on the command line.
    pub name: &'static str,
    description: &'static str,
    configs: &'static [(&'static str, &'static str)],
}

/// The experiments there are. One more is a folder under `experiments/` and an entry here.
pub const EXPERIMENTS: &[Files] = &[Files {
    name: "citations",
    description: include_str!("../../../../../experiments/citations/experiment.toml"),
    configs: &[
        ("random.toml", include_str!("../../../../../experiments/citations/random.toml")),
        ("public.toml", include_str!("../../../../../experiments/citations/public.toml")),
    ],
}];

/// An experiment.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Experiment {
    pub title: String,
    pub about: String,
    /// What the quick size leaves out, and what stands in for it.
    pub quick: String,
    seeds: BTreeMap<Size, u32>,
    pub table: Vec<Comparison>,
}

/// Nets (the rows) on data (the columns).
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Comparison {
    /// The folder of its runs.
    pub name: String,
    pub title: String,
    config: String,
    /// Where the published numbers come from.
    pub published: String,
    /// The rows whose hidden states are shown.
    pub clouds: Vec<String>,
    pub column: Vec<Data>,
    pub row: Vec<Net>,
    #[serde(default)]
    pub claim: Vec<Claim>,
}

/// A column: data, and what they change in the config.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Data {
    pub name: String,
    pub label: String,
    size: Size,
    paper: Option<String>,
    set: Vec<String>,
    /// The rows that take so long on these data that all others are trained before them.
    #[serde(default)]
    late: Vec<String>,
}

/// A row: a variant of the config, and its published numbers by column.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Net {
    pub variant: String,
    pub label: String,
    #[serde(default)]
    published: BTreeMap<String, f64>,
}

/// That one row is higher than another, or than what was published for it.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Claim {
    pub says: String,
    pub higher: String,
    pub than: String,
    /// How far below it may be.
    #[serde(default)]
    pub within: f64,
}

impl Net {
    /// What was published for it on these data.
    pub fn published(&self, data: &Data) -> Option<f64> {
        self.published.get(data.paper.as_ref().unwrap_or(&data.name)).copied()
    }
}

/// A run of an experiment.
pub struct Step {
    /// Where it belongs: table, column, row.
    pub cell: (usize, usize, usize),
    pub job: Job,
}

impl Files {
    /// Understands the description.
    pub fn experiment(&self) -> Result<Experiment, Failure> {
        toml::from_str(self.description)
            .map_err(|error| Failure::Failed(format!("experiments/{}: {error}", self.name)))
    }

    /// All runs, seed after seed, so that every cell has a number early; the longest last.
    pub fn steps(
        &self,
        experiment: &Experiment,
        size: Size,
        seeds: Option<u32>,
        folder: &Path,
    ) -> Result<Vec<Step>, Failure> {
        let seeds = seeds.or(experiment.seeds.get(&size).copied()).unwrap_or(1);
        let mut steps = Vec::new();
        for (table, comparison) in experiment.table.iter().enumerate() {
            let text = self.configs.iter().find(|(name, _)| *name == comparison.config);
            let Some((_, text)) = text else {
                let what = format!("experiments/{}: no config {}", self.name, comparison.config);
                return Err(Failure::Failed(what));
            };
            for (column, data) in comparison.columns(size) {
                let mut document = Document::parse(text)?;
                for change in &data.set {
                    document.set(change)?;
                }
                let place = folder.join(&comparison.name).join(&data.name);
                for job in jobs(&document, &place, Some(seeds))? {
                    let row = comparison.row.iter().position(|net| net.variant == job.label);
                    if let Some(row) = row {
                        steps.push(Step { cell: (table, column, row), job });
                    }
                }
            }
        }
        steps.sort_by_cached_key(|step| {
            let (table, column, row) = step.cell;
            let comparison = &experiment.table[table];
            let late = comparison.column[column].late.contains(&comparison.row[row].variant);
            (late, step.job.document.train().map_or(0, |train| train.seed))
        });
        Ok(steps)
    }
}

impl Comparison {
    /// The columns of a size, with their numbers.
    pub fn columns(&self, size: Size) -> impl Iterator<Item = (usize, &Data)> {
        self.column.iter().enumerate().filter(move |(_, data)| data.size == size)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_experiment_is_understood_and_trains_all_its_cells() {
        for files in EXPERIMENTS {
            let experiment = files.experiment().unwrap();
            for size in [Size::Quick, Size::Paper] {
                let steps = files.steps(&experiment, size, Some(2), Path::new("x")).unwrap();
                let cells: usize =
                    experiment.table.iter().map(|table| table.columns(size).count() * table.row.len()).sum();
                assert_eq!(steps.len(), 2 * cells, "{}", files.name);
                assert_eq!(steps[0].job.document.train().unwrap().seed, 1);
            }
            for table in &experiment.table {
                let known = |name: &String| table.row.iter().any(|net| net.variant == *name);
                assert!(table.clouds.iter().all(known));
                for claim in &table.claim {
                    assert!(known(&claim.higher) && (claim.than == "published" || known(&claim.than)));
                }
            }
        }
    }
}

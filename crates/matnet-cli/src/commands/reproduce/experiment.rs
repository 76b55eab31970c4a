//! What an experiment trains and what it is set beside: the files under `experiments/`, understood.

use std::collections::BTreeMap;
use std::path::Path;

use matnet_train::compare::{Job, jobs};
use matnet_train::config::Document;
use serde::Deserialize;

use super::claim::Claim;
use super::figure::Wish;
use super::measure::Measure;
use crate::cli::Size;
use crate::failure::Failure;
use crate::text;

/// The files of an experiment: its description, and the configs that this names.
pub struct Files {
    /// The word on the command line.
    pub name: &'static str,
    description: &'static str,
    configs: &'static [(&'static str, &'static str)],
}

/// Names a file under `experiments/` and holds its text.
macro_rules! file {
    ($folder:literal, $name:literal) => {
        ($name, include_str!(concat!("../../../../../experiments/", $folder, "/", $name)))
    };
}

/// The experiments there are, in the paper's order. One more is a folder under `experiments/` and an entry here.
pub const EXPERIMENTS: &[Files] = &[
    Files {
        name: "digits",
        description: file!("digits", "experiment.toml").1,
        configs: &[file!("digits", "deep.toml"), file!("digits", "best.toml")],
    },
    Files {
        name: "faces",
        description: file!("faces", "experiment.toml").1,
        configs: &[file!("faces", "faces.toml")],
    },
    Files {
        name: "moving-mnist",
        description: file!("moving-mnist", "experiment.toml").1,
        configs: &[file!("moving-mnist", "moving.toml")],
    },
    Files {
        name: "eeg",
        description: file!("eeg", "experiment.toml").1,
        configs: &[file!("eeg", "eeg.toml")],
    },
    Files {
        name: "citations",
        description: file!("citations", "experiment.toml").1,
        configs: &[file!("citations", "random.toml"), file!("citations", "public.toml")],
    },
    Files {
        name: "memory",
        description: file!("memory", "experiment.toml").1,
        configs: &[
            file!("memory", "babi.toml"),
            file!("memory", "copy.toml"),
            file!("memory", "facts.toml"),
            file!("memory", "joint.toml"),
            file!("memory", "recall.toml"),
            file!("memory", "repeat-copy.toml"),
            file!("memory", "stories.toml"),
        ],
    },
];

/// An experiment in one of its sizes.
#[derive(Clone, Debug)]
pub struct Experiment {
    pub title: String,
    pub about: String,
    /// What the quick size leaves out, and what stands in for it; nothing at the paper's size.
    pub stand_in: Option<String>,
    pub seeds: u32,
    pub tables: Vec<Comparison>,
}

/// Nets (the rows) on data (the columns).
#[derive(Clone, Debug)]
pub struct Comparison {
    /// The folder of its runs.
    pub name: String,
    pub title: String,
    pub about: String,
    config: String,
    /// What all its columns change.
    set: Vec<String>,
    pub measures: Vec<Measure>,
    /// Where the published numbers come from.
    pub published: String,
    /// Whether the numbers of parameters are shown.
    pub parameters: bool,
    /// Whether the run with the least training loss is shown too.
    pub chosen: bool,
    /// Whether the rows are different tasks, so that their mean says something.
    pub mean: bool,
    /// The rows that take so long that all others are trained before them.
    late: Vec<String>,
    pub columns: Vec<Data>,
    pub rows: Vec<Net>,
    pub claims: Vec<Claim>,
    pub figures: Vec<Wish>,
}

/// A column: data, and what they change in the config.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Data {
    pub name: String,
    pub label: String,
    /// The size it belongs to; both if nothing is said.
    size: Option<Size>,
    /// Whose published numbers it stands beside, if not those of its own name.
    paper: Option<String>,
    #[serde(default)]
    set: Vec<String>,
    /// Whether it is left out where its data are not there.
    #[serde(default)]
    pub optional: bool,
    /// The rows that take so long on these data that all others are trained before them; beside those of the table.
    #[serde(default)]
    late: Vec<String>,
}

/// A row: a variant of the config, and its published numbers by column.
#[derive(Clone, Debug)]
pub struct Net {
    /// The variant, with the hidden sides if there are several: the folder of its runs.
    pub name: String,
    pub variant: String,
    pub label: String,
    /// What the label says without the hidden sides.
    pub family: String,
    /// How many hidden units, where the description says so.
    pub units: Option<usize>,
    set: Vec<String>,
    published: BTreeMap<String, f64>,
    pub published_parameters: Option<u64>,
}

impl Net {
    /// What was published for it on these data.
    pub fn published(&self, data: &Data) -> Option<f64> {
        self.published.get(data.paper.as_ref().unwrap_or(&data.name)).copied()
    }

    /// Whether a name means this row: its own, or that of its variant.
    pub fn is_called(&self, name: &str) -> bool {
        self.name == name || self.variant == name
    }
}

/// Where a run belongs: table, column, row.
pub type Cell = (usize, usize, usize);

/// A run of an experiment.
pub struct Step {
    pub cell: Cell,
    pub job: Job,
}

/// `experiment.toml` as it stands there, with both sizes.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Description {
    title: String,
    about: String,
    quick: String,
    seeds: BTreeMap<Size, u32>,
    table: Vec<TableDescription>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct TableDescription {
    name: String,
    title: String,
    #[serde(default)]
    about: String,
    config: String,
    #[serde(default)]
    set: BTreeMap<Size, Vec<String>>,
    measures: Vec<Measure>,
    #[serde(default = "paper")]
    published: String,
    #[serde(default)]
    parameters: bool,
    #[serde(default)]
    chosen: bool,
    #[serde(default)]
    mean: bool,
    #[serde(default)]
    late: Vec<String>,
    column: Vec<Data>,
    row: Vec<RowDescription>,
    #[serde(default)]
    claim: Vec<Claim>,
    /// Claims with numbers that mean something on the paper's data only.
    #[serde(default)]
    paper_claim: Vec<Claim>,
    #[serde(default)]
    figures: Vec<Wish>,
}

/// Where published numbers come from if nothing is said.
fn paper() -> String {
    "paper".to_owned()
}

/// One row, or one for each of several hidden sides.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RowDescription {
    variant: String,
    label: String,
    #[serde(default)]
    hidden: BTreeMap<Size, Vec<Vec<usize>>>,
    #[serde(default)]
    published: BTreeMap<String, f64>,
    published_parameters: Option<u64>,
}

impl RowDescription {
    fn rows(self, size: Size) -> Vec<Net> {
        let Self { variant, label, hidden, published, published_parameters } = self;
        let plain = Net {
            name: variant.clone(),
            variant: variant.clone(),
            label: label.clone(),
            family: label.clone(),
            units: None,
            set: Vec::new(),
            published,
            published_parameters,
        };
        if hidden.is_empty() {
            return vec![plain];
        }
        let sides = hidden.get(&size).cloned().unwrap_or_default();
        let row = |sides: Vec<usize>| {
            let words: Vec<String> = sides.iter().map(usize::to_string).collect();
            Net {
                name: format!("{variant}-{}", words.join("x")),
                label: format!("{label} {}", text::sides(&sides)),
                units: Some(sides.iter().product()),
                set: vec![format!("model.hidden={sides:?}")],
                ..plain.clone()
            }
        };
        sides.into_iter().map(row).collect()
    }
}

impl TableDescription {
    pub(super) fn of_size(self, size: Size) -> Comparison {
        let paper_claims = if size == Size::Paper { self.paper_claim } else { Vec::new() };
        Comparison {
            name: self.name,
            title: self.title,
            about: self.about,
            config: self.config,
            set: self.set.get(&size).cloned().unwrap_or_default(),
            measures: self.measures,
            published: self.published,
            parameters: self.parameters,
            chosen: self.chosen,
            mean: self.mean,
            late: self.late,
            columns: self.column.into_iter().filter(|data| data.size.is_none_or(|of| of == size)).collect(),
            rows: self.row.into_iter().flat_map(|row| row.rows(size)).collect(),
            claims: self.claim.into_iter().chain(paper_claims).collect(),
            figures: self.figures,
        }
    }
}

impl Files {
    /// Understands the description.
    pub fn experiment(&self, size: Size) -> Result<Experiment, Failure> {
        let Description { title, about, quick, seeds, table } = toml::from_str(self.description)
            .map_err(|error| Failure::Failed(format!("experiments/{}: {error}", self.name)))?;
        let tables: Vec<Comparison> = table
            .into_iter()
            .map(|table| table.of_size(size))
            .filter(|table| !table.columns.is_empty())
            .collect();
        if let Some(what) = tables.iter().flat_map(|table| &table.claims).find_map(Claim::mistake) {
            return Err(Failure::Failed(format!("experiments/{}: {what}", self.name)));
        }
        Ok(Experiment {
            title,
            about,
            stand_in: (size == Size::Quick).then_some(quick),
            seeds: seeds.get(&size).copied().unwrap_or(1),
            tables,
        })
    }

    /// All runs, seed after seed, so that every cell has a number early; the longest last. `changes` are made to every
    /// config.
    pub fn steps(
        &self,
        experiment: &Experiment,
        seeds: u32,
        changes: &[String],
        folder: &Path,
    ) -> Result<Vec<Step>, Failure> {
        let mut steps = Vec::new();
        for (table, comparison) in experiment.tables.iter().enumerate() {
            let text = self.configs.iter().find(|(name, _)| *name == comparison.config);
            let Some((_, text)) = text else {
                let what = format!("experiments/{}: no config {}", self.name, comparison.config);
                return Err(Failure::Failed(what));
            };
            for (column, data) in comparison.columns.iter().enumerate() {
                let mut document = Document::parse(text)?;
                for change in comparison.set.iter().chain(&data.set) {
                    document.set(change)?;
                }
                for (row, net) in comparison.rows.iter().enumerate() {
                    let mut document = document.variant(&net.variant)?;
                    for change in net.set.iter().chain(changes) {
                        document.set(change)?;
                    }
                    let place = folder.join(&comparison.name).join(&data.name).join(&net.name);
                    let jobs = jobs(&document, &place, Some(seeds))?;
                    steps.extend(jobs.into_iter().map(|job| Step { cell: (table, column, row), job }));
                }
            }
        }
        steps.sort_by_cached_key(|step| {
            let (table, column, row) = step.cell;
            let comparison = &experiment.tables[table];
            let mut late = comparison.late.iter().chain(&comparison.columns[column].late);
            let late = late.any(|name| comparison.rows[row].is_called(name));
            (late, step.job.document.train().map_or(0, |train| train.seed))
        });
        Ok(steps)
    }
}

#[cfg(test)]
mod tests {
    use super::super::claim::ALL;
    use super::*;

    #[test]
    fn every_experiment_is_understood_and_trains_all_its_cells() {
        for files in EXPERIMENTS {
            for size in [Size::Quick, Size::Paper] {
                let experiment = files.experiment(size).unwrap();
                assert_eq!(experiment.stand_in.is_some(), size == Size::Quick);
                let steps = files.steps(&experiment, 2, &[], Path::new("x")).unwrap();
                let cells: usize =
                    experiment.tables.iter().map(|table| table.columns.len() * table.rows.len()).sum();
                assert_eq!(steps.len(), 2 * cells, "{}", files.name);
                assert_eq!(steps[0].job.document.train().unwrap().seed, 1);
                let folders: std::collections::BTreeSet<_> =
                    steps.iter().map(|step| &step.job.folder).collect();
                assert_eq!(folders.len(), steps.len(), "{}: two runs in one folder", files.name);
            }
        }
    }

    #[test]
    fn every_config_that_is_built_in_is_used() {
        for files in EXPERIMENTS {
            let sizes = [Size::Quick, Size::Paper].map(|size| files.experiment(size).unwrap());
            for (name, _) in files.configs {
                let mut tables = sizes.iter().flat_map(|experiment| &experiment.tables);
                assert!(tables.any(|table| table.config == *name), "{}: no table takes {name}", files.name);
            }
        }
    }

    #[test]
    fn columns_and_claims_without_a_size_are_in_both() {
        let table = "
name = 't'
title = 't'
config = 'c.toml'
measures = ['wrong']
late = ['slow']
column = [{ name = 'a', label = 'A' }, { name = 'b', label = 'B', size = 'paper', late = ['net'] }]
row = [{ variant = 'slow', label = 'slow' }, { variant = 'net', label = 'net' }]
claim = [{ says = 'X', of = 'net', below = 1.0 }]
paper_claim = [{ says = 'Y', of = 'net', below = 1.0 }]
";
        let of = |size| toml::from_str::<TableDescription>(table).unwrap().of_size(size);
        let columns = |size| of(size).columns.into_iter().map(|data| data.name).collect::<Vec<_>>();
        assert_eq!(
            (columns(Size::Quick), columns(Size::Paper)),
            (vec!["a".into()], vec!["a".into(), "b".into()])
        );
        let claims = |size| of(size).claims.into_iter().map(|claim| claim.says).collect::<Vec<_>>();
        assert_eq!(
            (claims(Size::Quick), claims(Size::Paper)),
            (vec!["X".into()], vec!["X".into(), "Y".into()])
        );
        assert_eq!(of(Size::Quick).published, "paper");
        let files =
            Files { name: "x", description: "", configs: &[("c.toml", "[variant.slow]\n[variant.net]")] };
        let (title, about) = (String::new(), String::new());
        let experiment = Experiment { title, about, stand_in: None, seeds: 1, tables: vec![of(Size::Paper)] };
        let steps = files.steps(&experiment, 1, &[], Path::new("x")).unwrap();
        let order: Vec<Cell> = steps.iter().map(|step| step.cell).collect();
        assert_eq!(
            order,
            [(0, 0, 1), (0, 0, 0), (0, 1, 0), (0, 1, 1)],
            "late of the table, late of the column"
        );
    }

    /// A claim or figure that names what is not there would never be judged or drawn.
    #[test]
    fn claims_and_figures_name_what_there_is() {
        for files in EXPERIMENTS {
            let sizes = [Size::Quick, Size::Paper].map(|size| files.experiment(size).unwrap());
            let all = || sizes.iter().flat_map(|experiment| &experiment.tables);
            for table in all() {
                let tables: Vec<&Comparison> = all().filter(|other| other.name == table.name).collect();
                let row = |name: &str| tables.iter().any(|t| t.rows.iter().any(|net| net.is_called(name)));
                let column = |name: &str| tables.iter().any(|t| t.columns.iter().any(|c| c.name == name));
                for name in tables[0].late.iter().chain(tables[0].columns.iter().flat_map(|data| &data.late))
                {
                    assert!(row(name), "{}: {name} is late, but no row", files.name);
                }
                for claim in tables.iter().flat_map(|table| &table.claims) {
                    let than = claim.better_than.as_deref();
                    assert!(claim.of == ALL || row(&claim.of), "{}: {}", files.name, claim.of);
                    assert!(than.is_none_or(|name| name == "published" || row(name)), "{than:?}");
                    assert!(claim.better_than_on.as_deref().is_none_or(column), "{}", files.name);
                    assert!(
                        tables.iter().any(|table| claim.is_about(table)),
                        "{}: {}",
                        files.name,
                        claim.says
                    );
                    assert!(claim.on.iter().all(|name| column(name)), "{}: {:?}", files.name, claim.on);
                    assert!(claim.measure.is_none_or(|measure| tables[0].measures.contains(&measure)));
                }
                for wish in &tables[0].figures {
                    assert!(wish.rows.iter().all(|name| row(name)), "{}: {:?}", files.name, wish.rows);
                    assert!(wish.columns.iter().all(|name| column(name)), "{}", files.name);
                }
            }
        }
    }

    #[test]
    fn a_row_of_several_sizes_is_several_rows() {
        let row = "variant = 'matrix'\nlabel = 'matrix'\nhidden = { quick = [[20, 20], [7]], paper = [] }";
        let row = || toml::from_str::<RowDescription>(row).unwrap();
        let rows = row().rows(Size::Quick);
        let said: Vec<_> =
            rows.iter().map(|net| (net.name.as_str(), net.label.as_str(), net.units)).collect();
        assert_eq!(said, [("matrix-20x20", "matrix 20×20", Some(400)), ("matrix-7", "matrix 7", Some(7))]);
        assert!(rows[0].is_called("matrix") && rows[0].is_called("matrix-20x20"));
        assert!(row().rows(Size::Paper).is_empty());
    }
}

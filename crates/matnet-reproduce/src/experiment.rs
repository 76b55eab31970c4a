//! `experiment.toml`: what an experiment trains, and the published numbers and claims it is compared with.

use std::collections::BTreeMap;

use matnet_report::text;
use serde::Deserialize;

use crate::args::Size;
use crate::claim::Claim;
use crate::figure_spec::FigureSpec;
use crate::metric::Metric;

/// An experiment in one of its sizes.
#[derive(Clone, Debug)]
pub struct Experiment {
    pub title: String,
    pub about: String,
    /// How the quick size differs from the paper's; `None` for the paper's size.
    pub quick_note: Option<String>,
    pub seeds: u32,
    pub tables: Vec<TableSpec>,
    /// What is left out, with the reason.
    pub left_out: Vec<String>,
}

/// A table: nets (the rows) on data (the columns).
#[derive(Clone, Debug)]
pub struct TableSpec {
    /// The folder of its runs.
    pub name: String,
    pub title: String,
    pub about: String,
    pub config: String,
    /// Changes to the config for all columns.
    pub set: Vec<String>,
    /// The first is the main one: published numbers are numbers of this metric.
    pub metrics: Vec<Metric>,
    /// The search that every net of the table had, if it had one.
    pub tuning: Option<Tuning>,
    /// Where the published numbers come from.
    pub published: String,
    /// Whether the numbers of parameters are shown.
    pub parameters: bool,
    /// Whether the best seed by the test is shown too, as in the paper.
    pub best_seed: bool,
    /// Whether the seed with the lowest training loss is shown too.
    pub selected: bool,
    /// Whether the rows are different tasks, so that their mean is shown.
    pub mean: bool,
    /// Rows that take so long that all others are trained before them.
    pub train_last: Vec<String>,
    pub columns: Vec<ColumnSpec>,
    pub rows: Vec<RowSpec>,
    pub published_rows: Vec<PublishedRow>,
    pub claims: Vec<Claim>,
    pub figures: Vec<FigureSpec>,
}

/// The search of every net of a table: `[tuned]` of all its configs says the same.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Tuning {
    /// The seeds that were tuned on. They are never reported.
    pub seeds: Vec<u64>,
    /// Trials of each net.
    pub trials: usize,
}

impl Tuning {
    /// In words: `12 trials per net on the validation splits of seeds 101, 102`.
    pub fn describe(&self) -> String {
        let seeds: Vec<String> = self.seeds.iter().map(u64::to_string).collect();
        let word = if seeds.len() == 1 { "split of seed" } else { "splits of seeds" };
        format!(
            "{} per net on the validation {word} {}",
            text::counted(self.trials, "trial"),
            seeds.join(", ")
        )
    }
}

/// A net that others trained: a label, and its numbers by column.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PublishedRow {
    pub label: String,
    numbers: BTreeMap<String, f64>,
}

impl PublishedRow {
    /// The number for these data.
    pub fn number(&self, column: &ColumnSpec) -> Option<f64> {
        self.numbers.get(column.published_name()).copied()
    }
}

/// A column: data, and the changes to the config that select them.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ColumnSpec {
    pub name: String,
    pub label: String,
    /// The size it belongs to; both by default.
    size: Option<Size>,
    /// The name under which rows list its published numbers, if not its own.
    published_as: Option<String>,
    #[serde(default)]
    set: Vec<String>,
    /// So many of the training samples are used (`data.split.train`).
    pub samples: Option<usize>,
    /// Its config, if not that of the table.
    pub config: Option<String>,
    /// The number of seeds, if not that of the experiment.
    pub seeds: Option<u32>,
    /// Whether it is left out if its data are missing.
    #[serde(default)]
    pub optional: bool,
    /// As that of the table, for this column alone.
    #[serde(default)]
    pub train_last: Vec<String>,
}

impl ColumnSpec {
    /// The changes to the config.
    pub fn changes(&self) -> Vec<String> {
        let samples = self.samples.map(|samples| format!("data.split.train={samples}"));
        self.set.iter().cloned().chain(samples).collect()
    }

    /// The name under which its published numbers are listed.
    fn published_name(&self) -> &str {
        self.published_as.as_deref().unwrap_or(&self.name)
    }
}

/// A row: a variant of the config, and its published numbers by column.
#[derive(Clone, Debug)]
pub struct RowSpec {
    /// The variant, with the hidden size if there are several: the folder of its runs.
    pub name: String,
    pub variant: String,
    pub label: String,
    /// The label without the hidden size.
    pub family: String,
    /// The number of hidden units, where the description has it.
    pub units: Option<usize>,
    pub set: Vec<String>,
    published: BTreeMap<String, f64>,
    pub published_parameters: Option<u64>,
}

impl RowSpec {
    /// The number published for it on these data.
    pub fn published(&self, column: &ColumnSpec) -> Option<f64> {
        self.published.get(column.published_name()).copied()
    }

    /// Whether this is its own name or that of its variant.
    pub fn has_name(&self, name: &str) -> bool {
        self.name == name || self.variant == name
    }
}

/// `experiment.toml` with both sizes.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ExperimentFile {
    title: String,
    about: String,
    quick: String,
    seeds: BTreeMap<Size, u32>,
    table: Vec<TableFile>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct TableFile {
    name: String,
    title: String,
    #[serde(default)]
    about: String,
    config: String,
    #[serde(default)]
    set: BTreeMap<Size, Vec<String>>,
    metrics: Vec<Metric>,
    tuning: Option<Tuning>,
    #[serde(default = "paper")]
    published: String,
    #[serde(default)]
    parameters: bool,
    #[serde(default = "yes")]
    best_seed: bool,
    #[serde(default)]
    selected: bool,
    #[serde(default)]
    mean: bool,
    #[serde(default)]
    train_last: Vec<String>,
    column: Vec<ColumnSpec>,
    row: Vec<RowFile>,
    #[serde(default)]
    published_row: Vec<PublishedRow>,
    #[serde(default)]
    claim: Vec<Claim>,
    /// Claims with numbers that apply to the paper's data only.
    #[serde(default)]
    paper_claim: Vec<Claim>,
    #[serde(default)]
    figures: Vec<FigureSpec>,
}

/// Where published numbers come from by default.
fn paper() -> String {
    "paper".to_owned()
}

fn yes() -> bool {
    true
}

/// One row, or one for each of several hidden sizes.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RowFile {
    variant: String,
    label: String,
    #[serde(default)]
    hidden: BTreeMap<Size, Vec<Vec<usize>>>,
    #[serde(default)]
    published: BTreeMap<String, f64>,
    published_parameters: Option<u64>,
}

impl ExperimentFile {
    pub fn of_size(self, size: Size) -> Experiment {
        let tables = self.table.into_iter().map(|table| table.of_size(size));
        Experiment {
            title: self.title,
            about: self.about,
            quick_note: (size == Size::Quick).then_some(self.quick),
            seeds: self.seeds.get(&size).copied().unwrap_or(1),
            tables: tables.filter(|table| !table.columns.is_empty()).collect(),
            left_out: Vec::new(),
        }
    }
}

impl TableFile {
    pub fn of_size(self, size: Size) -> TableSpec {
        let paper_claims = if size == Size::Paper { self.paper_claim } else { Vec::new() };
        TableSpec {
            name: self.name,
            title: self.title,
            about: self.about,
            config: self.config,
            set: self.set.get(&size).cloned().unwrap_or_default(),
            metrics: self.metrics,
            tuning: self.tuning,
            published: self.published,
            parameters: self.parameters,
            best_seed: self.best_seed,
            selected: self.selected,
            mean: self.mean,
            train_last: self.train_last,
            columns: self.column.into_iter().filter(|data| data.size.is_none_or(|of| of == size)).collect(),
            rows: self.row.into_iter().flat_map(|row| row.of_size(size)).collect(),
            published_rows: self.published_row,
            claims: self.claim.into_iter().chain(paper_claims).collect(),
            figures: self.figures,
        }
    }
}

impl RowFile {
    fn of_size(self, size: Size) -> Vec<RowSpec> {
        let Self { variant, label, hidden, published, published_parameters } = self;
        let plain = RowSpec {
            name: variant.clone(),
            family: label.clone(),
            units: None,
            set: Vec::new(),
            variant,
            label,
            published,
            published_parameters,
        };
        if hidden.is_empty() {
            return vec![plain];
        }
        let row = |sides: &Vec<usize>| {
            let words: Vec<String> = sides.iter().map(usize::to_string).collect();
            RowSpec {
                name: format!("{}-{}", plain.variant, words.join("x")),
                label: format!("{} {}", plain.label, text::shape(sides)),
                units: Some(sides.iter().product()),
                set: vec![format!("model.hidden={sides:?}")],
                ..plain.clone()
            }
        };
        hidden.get(&size).into_iter().flatten().map(row).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_and_claims_without_a_size_are_in_both() {
        let table = "
name = 't'
title = 't'
config = 'c.toml'
metrics = ['error']
column = [{ name = 'a', label = 'A' }, { name = 'b', label = 'B', size = 'paper' }]
row = [{ variant = 'net', label = 'net' }]
claim = [{ says = 'X', of = 'net', below = 1.0 }]
paper_claim = [{ says = 'Y', of = 'net', below = 1.0 }]
";
        let of = |size| toml::from_str::<TableFile>(table).unwrap().of_size(size);
        let columns = |size| of(size).columns.into_iter().map(|data| data.name).collect::<Vec<_>>();
        assert_eq!(columns(Size::Quick), ["a"]);
        assert_eq!(columns(Size::Paper), ["a", "b"]);
        let claims = |size| of(size).claims.into_iter().map(|claim| claim.says).collect::<Vec<_>>();
        assert_eq!(claims(Size::Quick), ["X"]);
        assert_eq!(claims(Size::Paper), ["X", "Y"]);
        assert_eq!(of(Size::Quick).published, "paper");
    }

    #[test]
    fn a_row_of_several_sizes_is_several_rows() {
        let row = "variant = 'matrix'\nlabel = 'matrix'\nhidden = { quick = [[20, 20], [7]], paper = [] }";
        let row = || toml::from_str::<RowFile>(row).unwrap();
        let rows = row().of_size(Size::Quick);
        let found: Vec<_> =
            rows.iter().map(|net| (net.name.as_str(), net.label.as_str(), net.units)).collect();
        assert_eq!(found, [("matrix-20x20", "matrix 20×20", Some(400)), ("matrix-7", "matrix 7", Some(7))]);
        assert!(rows[0].has_name("matrix") && rows[0].has_name("matrix-20x20"));
        assert!(row().of_size(Size::Paper).is_empty());
    }
}

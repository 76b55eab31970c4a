//! The folders under `experiments/`, and the runs that they describe.

use std::borrow::Cow;
use std::path::Path;

use matnet_cli::failure::Failure;
use matnet_train::Document;
use matnet_train::config::Tuned;
use matnet_train::plan::{RunSpec, run_specs};

use crate::args::Size;
use crate::claim::Claim;
use crate::experiment::{ColumnSpec, Experiment, ExperimentFile, Tuning};

/// The name of a description.
const DESCRIPTION: &str = "experiment.toml";

/// The files of an experiment: those that are part of the program, or those of a folder.
pub struct ExperimentFiles {
    /// Its name on the command line.
    pub name: Cow<'static, str>,
    /// `experiment.toml`.
    description: Cow<'static, str>,
    /// The configs that the description names.
    configs: Cow<'static, [(Cow<'static, str>, Cow<'static, str>)]>,
}

/// An experiment's folder, its description and its configs.
macro_rules! experiment {
    ($name:literal, $($config:literal),+) => {
        ExperimentFiles {
            name: Cow::Borrowed($name),
            description: Cow::Borrowed(include_str!(concat!("../../../experiments/", $name, "/experiment.toml"))),
            configs: Cow::Borrowed(&[$((
                Cow::Borrowed($config),
                Cow::Borrowed(include_str!(concat!("../../../experiments/", $name, "/", $config))),
            )),+]),
        }
    };
}

/// All experiments, in the paper's order. A new one is a folder under `experiments/` and an entry here.
pub const EXPERIMENTS: &[ExperimentFiles] = &[
    experiment!("digits", "deep.toml", "best.toml"),
    experiment!("faces", "faces.toml"),
    experiment!("moving-mnist", "moving.toml"),
    experiment!("eeg", "eeg.toml"),
    experiment!("citations", "random.toml", "public.toml"),
    experiment!(
        "memory",
        "babi.toml",
        "copy.toml",
        "facts.toml",
        "joint.toml",
        "recall.toml",
        "repeat-copy.toml",
        "stories.toml"
    ),
];

/// The place of a run: table, column, row.
pub type CellIndex = (usize, usize, usize);

/// A run of an experiment.
pub struct CellRun {
    pub cell: CellIndex,
    pub spec: RunSpec,
}

impl ExperimentFiles {
    /// Those of a folder, with all its configs.
    pub fn read(folder: &Path) -> Result<Self, Failure> {
        let failed =
            |path: &Path, error: std::io::Error| Failure::Failed(format!("{}: {error}", path.display()));
        let text = |path: &Path| std::fs::read_to_string(path).map_err(|error| failed(path, error));
        let description = Cow::Owned(text(&folder.join(DESCRIPTION))?);
        let mut configs = Vec::new();
        for entry in std::fs::read_dir(folder).map_err(|error| failed(folder, error))?.flatten() {
            let name = entry.file_name().to_string_lossy().into_owned();
            if name.ends_with(".toml") && name != DESCRIPTION {
                configs.push((Cow::Owned(name), Cow::Owned(text(&entry.path())?)));
            }
        }
        let name = folder
            .canonicalize()
            .ok()
            .and_then(|path| Some(path.file_name()?.to_string_lossy().into_owned()));
        Ok(Self { name: Cow::Owned(name.unwrap_or_default()), description, configs: Cow::Owned(configs) })
    }

    /// Whether a folder holds an experiment.
    pub fn is_in(folder: &Path) -> bool {
        folder.join(DESCRIPTION).is_file()
    }

    /// Parses the description. Columns whose nets are still to be tuned, so that they have no config, are left out.
    pub fn experiment(&self, size: Size) -> Result<Experiment, Failure> {
        let failed = |what: String| Failure::Failed(format!("experiments/{}: {what}", self.name));
        let file: ExperimentFile =
            toml::from_str(&self.description).map_err(|error| failed(error.to_string()))?;
        let mut experiment = file.of_size(size);
        for table in &mut experiment.tables {
            let has_config = |data: &ColumnSpec| {
                let config = data.config.as_ref().unwrap_or(&table.config);
                table.tuning.is_none() || self.configs.iter().any(|(name, _)| name == config)
            };
            let (kept, missing) = std::mem::take(&mut table.columns).into_iter().partition(has_config);
            table.columns = kept;
            let missing: Vec<ColumnSpec> = missing;
            let note = |data: ColumnSpec| format!("Left out: {}; its nets are not tuned yet.", data.label);
            experiment.left_out.extend(missing.into_iter().map(note));
        }
        experiment.tables.retain(|table| !table.columns.is_empty());
        match experiment.tables.iter().flat_map(|table| &table.claims).find_map(Claim::mistake) {
            Some(what) => Err(failed(what)),
            None => Ok(experiment),
        }
    }

    /// All runs, seed after seed, so that every cell has a number early; the longest last. `seeds` is their number, if not that of
    /// the experiment; `changes` are made to every config. Fails if a seed was tuned on, or if a net had another search than its
    /// table says.
    pub fn runs(
        &self,
        experiment: &Experiment,
        seeds: Option<u32>,
        changes: &[String],
        folder: &Path,
    ) -> Result<Vec<CellRun>, Failure> {
        let mut runs = Vec::new();
        for (table, spec) in experiment.tables.iter().enumerate() {
            for (column, data) in spec.columns.iter().enumerate() {
                let config = data.config.as_ref().unwrap_or(&spec.config);
                let seeds = seeds.or(data.seeds).unwrap_or(experiment.seeds);
                let Some((_, text)) = self.configs.iter().find(|(name, _)| name == config) else {
                    let what = format!("experiments/{}: no config {config}", self.name);
                    return Err(Failure::Failed(what));
                };
                let mut document = Document::parse(text)?;
                for change in spec.set.iter().chain(&data.changes()) {
                    document.set(change)?;
                }
                for (row, net) in spec.rows.iter().enumerate() {
                    let mut document = document.variant(&net.variant)?;
                    for change in net.set.iter().chain(changes) {
                        document.set(change)?;
                    }
                    let tuned = document.tuned()?;
                    if let Some(what) = other_search(spec.tuning.as_ref(), tuned.as_ref()) {
                        let what = format!(
                            "experiments/{}: table {}, {}, {}: {what}",
                            self.name, spec.name, data.label, net.label
                        );
                        return Err(Failure::Failed(what));
                    }
                    let folder = folder.join(&spec.name).join(&data.name).join(&net.name);
                    let specs = run_specs(&document, &folder, Some(seeds))?;
                    if let Some(tuned) = tuned {
                        for spec in &specs {
                            tuned.check(spec.document.train()?.seed)?;
                        }
                    }
                    runs.extend(specs.into_iter().map(|spec| CellRun { cell: (table, column, row), spec }));
                }
            }
        }
        runs.sort_by_cached_key(|run| {
            let (table, column, row) = run.cell;
            let table = &experiment.tables[table];
            let mut last = table.train_last.iter().chain(&table.columns[column].train_last);
            let last = last.any(|name| table.rows[row].has_name(name));
            (last, run.spec.document.train().map_or(0, |train| train.seed))
        });
        Ok(runs)
    }
}

/// How the search of a net differs from the one that its table names, if it does: all nets of a table have the same.
fn other_search(named: Option<&Tuning>, tuned: Option<&Tuned>) -> Option<String> {
    match (named, tuned) {
        (None, None) => None,
        (Some(named), Some(tuned)) if named.seeds == tuned.seeds && named.trials == tuned.trials => None,
        (Some(named), None) => {
            Some(format!("its config has no [tuned]; the table says {}", named.describe()))
        }
        (named, Some(tuned)) => {
            let found = Tuning { seeds: tuned.seeds.clone(), trials: tuned.trials };
            let said = named
                .map_or("names no search (tuning)".to_owned(), |named| format!("says {}", named.describe()));
            Some(format!("tuned with {}, but the table {said}", found.describe()))
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::claim::ALL;
    use crate::experiment::{TableFile, TableSpec};

    fn both_sizes(files: &ExperimentFiles) -> [Experiment; 2] {
        [Size::Quick, Size::Paper].map(|size| files.experiment(size).unwrap())
    }

    /// The experiments that are not part of the program.
    fn others() -> Vec<ExperimentFiles> {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../experiments");
        let names = ["time-series", "graphs", "learning-curves", "eeg-subjects", "deep-nets"];
        names.map(|name| ExperimentFiles::read(&folder.join(name)).unwrap()).into()
    }

    /// An experiment of one table with one config, `c.toml`.
    fn small(table: &str, config: &'static str) -> (ExperimentFiles, Experiment) {
        let table = toml::from_str::<TableFile>(table).unwrap().of_size(Size::Paper);
        let configs = vec![("c.toml".into(), config.into())].into();
        let files = ExperimentFiles { name: "x".into(), description: "".into(), configs };
        let (title, about) = (String::new(), String::new());
        let (quick_note, left_out) = (None, Vec::new());
        (files, Experiment { title, about, quick_note, seeds: 1, tables: vec![table], left_out })
    }

    #[test]
    fn every_net_of_a_table_has_the_search_that_it_names() {
        let table = "
name = 't'
title = 't'
config = 'c.toml'
metrics = ['error']
column = [{ name = 'a', label = 'A', seeds = 3, samples = 20 }]
row = [{ variant = 'net', label = 'net' }]
";
        let named = format!("{table}tuning = {{ seeds = [7, 8], trials = 12 }}");
        let config = "[tuned]\nseeds = [7, 8]\ntrials = 12\nsearch_seed = 1\n[variant.net]";
        let error = |table: &str, config: &'static str, seeds: Option<u32>| {
            let (files, experiment) = small(table, config);
            let found = files.runs(&experiment, seeds, &[], Path::new("x"));
            found.map(|runs| runs.len()).map_err(|error| match error {
                Failure::Failed(what) | Failure::Usage(what) => what,
                other => panic!("{other:?}"),
            })
        };
        assert_eq!(error(&named, config, None), Ok(3), "the seeds of the column");
        assert_eq!(error(&named, config, Some(6)), Ok(6));
        // Seed 7 was tuned on. It is refused before anything is trained.
        let said = error(&named, config, Some(7)).unwrap_err();
        assert!(said.contains("train.seed: 7; the config was tuned on seeds 7, 8"), "{said}");
        for (table, config, wanted) in [
            (
                table,
                config,
                "tuned with 12 trials per net on the validation splits of seeds 7, 8, but the table names no search (tuning)",
            ),
            (
                &named,
                "[variant.net]",
                "its config has no [tuned]; the table says 12 trials per net on the validation splits of seeds 7, 8",
            ),
            (
                &named,
                "[tuned]\nseeds = [7]\ntrials = 40\nsearch_seed = 1\n[variant.net]",
                "tuned with 40 trials per net on the validation split of seed 7, but the table says 12 trials",
            ),
        ] {
            let said = error(table, config, None).unwrap_err();
            assert!(said.contains("experiments/x: table t, A, net: ") && said.contains(wanted), "{said}");
        }
    }

    #[test]
    fn every_description_is_valid_and_trains_all_its_cells() {
        for files in EXPERIMENTS.iter().chain(&others()) {
            for (experiment, quick) in both_sizes(files).into_iter().zip([true, false]) {
                assert_eq!(experiment.quick_note.is_some(), quick);
                let runs = files.runs(&experiment, Some(2), &[], Path::new("x")).unwrap();
                let cells: usize =
                    experiment.tables.iter().map(|table| table.columns.len() * table.rows.len()).sum();
                assert_eq!(runs.len(), 2 * cells, "{}", files.name);
                let folders: BTreeSet<_> = runs.iter().map(|run| &run.spec.folder).collect();
                assert_eq!(folders.len(), runs.len(), "{}: two runs in one folder", files.name);
            }
        }
    }

    #[test]
    fn a_folder_is_an_experiment() {
        let folder = tempfile::tempdir().unwrap();
        assert!(!ExperimentFiles::is_in(folder.path()));
        let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
        write(
            DESCRIPTION,
            "title = 'T'
about = 'A'
quick = 'Q'
seeds = { quick = 1, paper = 2 }
[[table]]
name = 't'
title = 't'
config = 'a.toml'
metrics = ['error']
tuning = { seeds = [7], trials = 3 }
column = [{ name = 'a', label = 'A' }, { name = 'b', label = 'B', config = 'b.toml' }]
row = [{ variant = 'net', label = 'net' }]
",
        );
        write("a.toml", "[tuned]\nseeds = [7]\ntrials = 3\nsearch_seed = 1\n[variant.net]");
        assert!(ExperimentFiles::is_in(folder.path()));
        let files = ExperimentFiles::read(folder.path()).unwrap();
        let experiment = files.experiment(Size::Paper).unwrap();
        assert_eq!(experiment.tables[0].columns.len(), 1);
        assert_eq!(experiment.left_out, ["Left out: B; its nets are not tuned yet."]);
        assert_eq!(files.runs(&experiment, None, &[], Path::new("x")).unwrap().len(), 2);
    }

    #[test]
    fn every_config_is_used() {
        for files in EXPERIMENTS {
            let sizes = both_sizes(files);
            for (name, _) in files.configs.iter() {
                let mut tables = sizes.iter().flat_map(|experiment| &experiment.tables);
                let uses = |table: &TableSpec| {
                    table
                        .columns
                        .iter()
                        .any(|data| data.config.as_ref().unwrap_or(&table.config) == name.as_ref())
                };
                assert!(tables.any(uses), "{}: no table uses {name}", files.name);
            }
        }
    }

    #[test]
    fn the_longest_runs_come_last() {
        let table = "
name = 't'
title = 't'
config = 'c.toml'
metrics = ['error']
train_last = ['slow']
column = [{ name = 'a', label = 'A' }, { name = 'b', label = 'B', train_last = ['net'] }]
row = [{ variant = 'slow', label = 'slow' }, { variant = 'net', label = 'net' }]
";
        let (files, experiment) = small(table, "[variant.slow]\n[variant.net]");
        let runs = files.runs(&experiment, Some(1), &[], Path::new("x")).unwrap();
        let order: Vec<CellIndex> = runs.iter().map(|run| run.cell).collect();
        assert_eq!(
            order,
            [(0, 0, 1), (0, 0, 0), (0, 1, 0), (0, 1, 1)],
            "those of the table and of the column"
        );
    }

    /// A claim or figure that names a missing row or column would never be judged or drawn.
    #[test]
    fn claims_and_figures_name_existing_rows_and_columns() {
        for files in EXPERIMENTS.iter().chain(&others()) {
            let sizes = both_sizes(files);
            let all = || sizes.iter().flat_map(|experiment| &experiment.tables);
            for table in all() {
                let tables: Vec<&TableSpec> = all().filter(|other| other.name == table.name).collect();
                let row = |name: &str| tables.iter().any(|t| t.rows.iter().any(|net| net.has_name(name)));
                let column = |name: &str| tables.iter().any(|t| t.columns.iter().any(|c| c.name == name));
                let last = table.columns.iter().flat_map(|column| &column.train_last);
                for name in table.train_last.iter().chain(last) {
                    assert!(row(name), "{}: {name} in train_last is no row", files.name);
                }
                for claim in tables.iter().flat_map(|table| &table.claims) {
                    let what = format!("{}: {}", files.name, claim.says);
                    let than = claim.better_than.as_deref();
                    assert!(claim.of == ALL || row(&claim.of), "{what}");
                    assert!(than.is_none_or(|name| name == "published" || row(name)), "{what}");
                    assert!(claim.better_than_on.as_deref().is_none_or(column), "{what}");
                    assert!(tables.iter().any(|table| claim.is_about(table)), "{what}");
                    assert!(claim.on.iter().all(|name| column(name)), "{what}");
                    assert!(claim.metric.is_none_or(|metric| table.metrics.contains(&metric)), "{what}");
                }
                for figure in &table.figures {
                    assert!(figure.rows.iter().all(|name| row(name)), "{}: {:?}", files.name, figure.rows);
                    assert!(figure.columns.iter().all(|name| column(name)), "{}", files.name);
                }
            }
        }
    }
}

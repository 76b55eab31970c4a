//! What a search leaves: a table of all trials, the best config, and a report.

use toml::{Table, Value};

use super::{NetSearch, Search, Trial};
use crate::config::{Document, Tuned};
use crate::metrics::Metric;
use crate::run::files;
use crate::trainer::TrialScore;
use crate::{Result, csv};

/// The table of all trials.
pub const TRIALS: &str = "trials.csv";

/// The best trial of a net.
#[derive(Clone, Debug)]
pub struct Best {
    /// The net, if there are several.
    pub net: Option<String>,
    /// The number of the trial.
    pub trial: usize,
    /// Its keys and values.
    pub values: String,
    /// Its validation score, in words.
    pub score: String,
    /// The file of its config.
    pub config: std::path::PathBuf,
}

impl Search {
    /// Writes everything; `winners` are the places of the best trials.
    pub(super) fn write(&self, winners: &[usize]) -> Result<Vec<Best>> {
        files::write(&self.folder.join(TRIALS), self.csv(winners).as_bytes())?;
        let mut whole = self.document.without(&["search", "tuned"]);
        let mut found = Vec::new();
        for (net, &winner) in self.nets.iter().zip(winners) {
            let (trial, prefix) = (&net.trials[winner], net.name.as_deref());
            for ((key, _), value) in net.space.keys.iter().zip(&trial.values) {
                let mut path: Vec<&str> = prefix.map_or(Vec::new(), |name| vec!["variant", name]);
                path.extend(key.split('.'));
                whole.put(&path, value.clone())?;
            }
            if let Some(name) = prefix {
                whole.remove_variant_key(name, "search", None);
                whole.remove_variant_key(name, "train", Some("seed"));
            }
            let config =
                self.folder.join(prefix.map_or("best.toml".to_owned(), |name| format!("best-{name}.toml")));
            if prefix.is_some() {
                let single = net.space.apply(&net.document, &trial.values)?;
                let single = self.tuned(single)?;
                files::write(&config, self.commented(&single, &[winner], Some(net)).as_bytes())?;
            }
            found.push(Best {
                net: net.name.clone(),
                trial: trial.number,
                values: trial.describe(&net.space),
                score: net.score_text(trial),
                config,
            });
        }
        let whole = self.tuned(whole)?;
        files::write(&self.folder.join("best.toml"), self.commented(&whole, winners, None).as_bytes())?;
        #[cfg(feature = "report")]
        crate::report::write_page(
            &self.folder.join("report.html"),
            &super::page::tune_page(self, winners, &self.commented(&whole, winners, None)),
        )?;
        Ok(found)
    }

    /// The name of the search: that of its folder.
    pub fn name(&self) -> String {
        crate::Run::at(&self.folder).name()
    }

    /// A config with the record of the search, and a seed that was not tuned on.
    fn tuned(&self, mut document: Document) -> Result<Document> {
        let before = self.document.tuned()?.map_or(Vec::new(), |tuned| tuned.seeds);
        let mut seeds: Vec<u64> =
            self.nets.iter().flat_map(|net| net.seeds.iter().copied()).chain(before).collect();
        seeds.sort_unstable();
        seeds.dedup();
        let integer = |number: u64| Value::Integer(number as i64);
        let fresh = match seeds.contains(&document.seed()) {
            true => seeds.last().map_or(1, |last| last + 1),
            false => document.seed(),
        };
        document.put(&["train", "seed"], integer(fresh))?;
        let (trials, search_seed) = (self.options.trials, self.options.seed);
        let Tuned { seeds, trials, search_seed } = Tuned { seeds, trials, search_seed };
        let table: Table = [
            ("seeds".to_owned(), Value::Array(seeds.into_iter().map(integer).collect())),
            ("trials".to_owned(), integer(trials as u64)),
            ("search_seed".to_owned(), integer(search_seed)),
        ]
        .into_iter()
        .collect();
        document.put(&["tuned"], Value::Table(table))?;
        Ok(document)
    }

    /// The text of a config with how it was found; of one net, or of all.
    fn commented(&self, document: &Document, winners: &[usize], only: Option<&NetSearch>) -> String {
        let mut text = "# Found by `matnet tune`.\n".to_owned();
        let nets: Vec<&NetSearch> = only.map_or(self.nets.iter().collect(), |net| vec![net]);
        for (net, &winner) in nets.into_iter().zip(winners) {
            let trial = &net.trials[winner];
            let of = net.name.as_ref().map(|name| format!("{name}: ")).unwrap_or_default();
            let seeds: Vec<String> = net.seeds.iter().map(u64::to_string).collect();
            let rungs: Vec<String> = net.rungs.iter().map(usize::to_string).collect();
            text += &format!(
                "# {of}trial {} of {}, {} (seed{} {}; rungs of {} epochs)\n",
                trial.number,
                net.trials.len(),
                net.score_text(trial),
                if seeds.len() == 1 { "" } else { "s" },
                seeds.join(", "),
                rungs.join(", ")
            );
        }
        text += "# The seeds of [tuned] were tuned on: results need others.\n\n";
        text + &document.text()
    }

    fn csv(&self, winners: &[usize]) -> String {
        let mut keys: Vec<&str> = Vec::new();
        for (key, _) in self.nets.iter().flat_map(|net| &net.space.keys) {
            if !keys.contains(&key.as_str()) {
                keys.push(key);
            }
        }
        let fixed = ["net", "trial", "rungs", "epochs", "metric", "valid", "valid_loss", "end"];
        let mut text = csv::line(fixed.iter().chain(&keys));
        for (net, &winner) in self.nets.iter().zip(winners) {
            for (at, trial) in net.trials.iter().enumerate() {
                let mut cells = vec![
                    net.name.clone().unwrap_or_default(),
                    trial.number.to_string(),
                    trial.rungs.to_string(),
                    trial.epochs.to_string(),
                    net.metric.name().to_owned(),
                    csv::number(net.score(trial)),
                    csv::number(trial.standing.map(|(_, loss)| loss)),
                    net.end(at, winner).to_owned(),
                ];
                cells.extend(keys.iter().map(|key| {
                    let place = net.space.keys.iter().position(|(other, _)| other == key);
                    place.map(|place| trial.values[place].to_string()).unwrap_or_default()
                }));
                text += &csv::line(cells);
            }
        }
        text
    }
}

impl NetSearch {
    /// How a trial ended: best, finished, stopped or diverged.
    pub fn end(&self, at: usize, winner: usize) -> &'static str {
        let trial = &self.trials[at];
        match trial.diverged {
            _ if at == winner => "best",
            Some(_) => "diverged",
            None if trial.rungs == self.rungs.len() => "finished",
            None => "stopped",
        }
    }

    /// The validation score of a trial, in the unit of the metric.
    pub fn score(&self, trial: &Trial) -> Option<f64> {
        let (value, _) = trial.standing?;
        Some(if self.metric.lower_is_better() { value } else { -value })
    }

    /// The validation score of a trial, in words.
    pub fn score_text(&self, trial: &Trial) -> String {
        match trial.standing {
            Some((value, _)) => format!("validation {}", show(self.metric, value)),
            None => "diverged".to_owned(),
        }
    }
}

impl TrialScore {
    /// The score in words: `error 5.30 %`, `loss 0.1230`.
    pub fn text(&self, metric: Metric) -> String {
        show(metric, self.value)
    }
}

/// What is compared, in words.
fn show(metric: Metric, value: f64) -> String {
    let value = if metric.lower_is_better() { value } else { -value };
    match metric {
        Metric::Error | Metric::Accuracy => format!("{} {:.2} %", metric.title(), 100.0 * value),
        other => format!("{} {value:.4}", other.title()),
    }
}

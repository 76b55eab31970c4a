//! What the paper says of its tables, held against ours.

use serde::Deserialize;

use super::experiment::{Comparison, Net};
use super::measure::Measure;
use super::results::Results;
use crate::text;

/// That a net, or every size of a net, does as well as the paper says. One of the last four keys says what is meant.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Claim {
    pub says: String,
    /// A row, or a variant with several rows.
    pub of: String,
    /// The columns it is about; all if there are none.
    #[serde(default)]
    pub on: Vec<String>,
    /// What is compared, if not the first measure of the table.
    pub measure: Option<Measure>,
    /// Its best row is better than the best of these rows, or than what was `published` for it.
    pub better_than: Option<String>,
    /// How far behind it may be.
    #[serde(default)]
    within: f64,
    /// All its rows stay at or below this.
    below: Option<f64>,
    /// All its rows stay above this.
    above: Option<f64>,
    /// From its smallest row to its largest, each is better than the one before.
    #[serde(default)]
    improves: bool,
}

impl Claim {
    /// Whether it held on each of its columns, in plain words.
    pub fn sentences(&self, table: usize, comparison: &Comparison, results: &Results) -> Vec<String> {
        let columns = comparison.columns.iter().enumerate();
        columns
            .filter(|(_, data)| self.on.is_empty() || self.on.contains(&data.name))
            .map(|(column, data)| {
                let verdict = self.verdict(comparison, (table, column), results);
                format!("{}, {}: {verdict}.", self.says, data.label)
            })
            .collect()
    }

    fn verdict(&self, comparison: &Comparison, place: (usize, usize), results: &Results) -> String {
        let measure = self.measure.unwrap_or(comparison.measures[0]);
        let found = self.means(&self.of, measure, comparison, place, results);
        let seeds = results.seeds(place);
        let wanted = comparison.rows.iter().filter(|net| net.is_called(&self.of)).count();
        if found.len() < wanted.max(1) {
            return "not trained yet".to_owned();
        }
        let said = |number: f64| measure.said(number);
        let best =
            |means: &[(&Net, f64)]| means.iter().map(|(_, mean)| *mean).reduce(|a, b| measure.better(a, b));
        let (held, numbers) = if let Some(than) = &self.better_than {
            let other = match than.as_str() {
                "published" => {
                    let data = &comparison.columns[place.1];
                    let Some(number) = found.iter().find_map(|(net, _)| net.published(data)) else {
                        return "nothing is published to compare with".to_owned();
                    };
                    Some(number)
                }
                name => best(&self.means(name, measure, comparison, place, results)),
            };
            let (Some(first), Some(second)) = (best(&found), other) else {
                return "not trained yet".to_owned();
            };
            (measure.reaches(first, second, self.within), format!("{} against {}", said(first), said(second)))
        } else if let Some(most) = self.below {
            (found.iter().all(|(_, mean)| *mean <= most), listed(&found, measure))
        } else if let Some(least) = self.above {
            (found.iter().all(|(_, mean)| *mean > least), listed(&found, measure))
        } else {
            let better = |pair: &[(&Net, f64)]| measure.reaches(pair[1].1, pair[0].1, 0.0);
            (self.improves && found.windows(2).all(better), listed(&found, measure))
        };
        let held = if held { "held" } else { "did not hold" };
        format!("{held} ({numbers}; {})", text::counted(seeds, "seed"))
    }

    /// The means of the rows that a name means and that are trained.
    fn means<'a>(
        &self,
        name: &str,
        measure: Measure,
        comparison: &'a Comparison,
        (table, column): (usize, usize),
        results: &Results,
    ) -> Vec<(&'a Net, f64)> {
        let rows = comparison.rows.iter().enumerate().filter(|(_, net)| net.is_called(name));
        rows.filter_map(|(row, net)| Some((net, results.summary((table, column, row), measure)?.spread.mean)))
            .collect()
    }
}

/// Every row with its number.
fn listed(found: &[(&Net, f64)], measure: Measure) -> String {
    let one = |(net, mean): &(&Net, f64)| format!("{} {}", net.label, measure.said(*mean));
    found.iter().map(one).collect::<Vec<_>>().join(", ")
}

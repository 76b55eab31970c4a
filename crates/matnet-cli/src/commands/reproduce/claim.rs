//! What the paper says of its tables, held against ours.

use serde::Deserialize;

use super::experiment::{Comparison, Net};
use super::measure::{Measure, mean};
use super::results::Results;
use crate::text;

/// The name that means the mean over all rows.
pub const ALL: &str = "all";

/// That a net, or every size of a net, does as well as the paper says. One of the last five keys says what is meant.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Claim {
    pub says: String,
    /// A row, a variant with several rows, or `all` for the mean over all rows.
    pub of: String,
    /// The columns it is about; all if there are none.
    #[serde(default)]
    pub on: Vec<String>,
    /// What is compared, if not the first measure of the table.
    pub measure: Option<Measure>,
    /// Its best row is better than the best of these rows, or than what was `published` for it.
    pub better_than: Option<String>,
    /// Its best row is better than its best row on this other column.
    pub better_than_on: Option<String>,
    /// How far behind it may be.
    #[serde(default)]
    within: f64,
    /// All its rows stay at or below this.
    below: Option<f64>,
    /// With `below`: not by the mean, but by this share of the seeds at least.
    share: Option<f64>,
    /// Judged by the seed with the least training loss, not by the mean over the seeds.
    #[serde(default)]
    chosen: bool,
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
        // A column that is not in this size is nothing to compare with.
        let other = self.better_than_on.as_ref();
        if other.is_some_and(|name| comparison.columns.iter().all(|data| data.name != *name)) {
            return Vec::new();
        }
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
        let found = self.subjects(&self.of, measure, comparison, place, results);
        let wanted = comparison.rows.iter().filter(|net| net.is_called(&self.of)).count();
        if found.len() < wanted.max(1) {
            return "not trained yet".to_owned();
        }
        let best = |subjects: &[Subject]| {
            subjects.iter().map(|subject| subject.number).reduce(|a, b| measure.better(a, b))
        };
        let (held, numbers) = if self.better_than.is_some() || self.better_than_on.is_some() {
            let other = match (self.better_than.as_deref(), self.better_than_on.as_deref()) {
                (Some("published"), _) => {
                    let Some(number) = found.iter().find_map(|subject| subject.published) else {
                        return "nothing is published to compare with".to_owned();
                    };
                    Some(number)
                }
                (Some(name), _) => best(&self.subjects(name, measure, comparison, place, results)),
                (None, name) => {
                    let other = comparison.columns.iter().position(|data| Some(data.name.as_str()) == name);
                    let place = (place.0, other.unwrap_or(place.1));
                    best(&self.subjects(&self.of, measure, comparison, place, results))
                }
            };
            let (Some(first), Some(second)) = (best(&found), other) else {
                return "not trained yet".to_owned();
            };
            // A published number is to be reached, another net to be beaten.
            let reached = self.within > 0.0 || self.better_than.as_deref() == Some("published");
            let held = match reached {
                true => measure.reaches(first, second, self.within),
                false => measure.beats(first, second),
            };
            (held, format!("{} against {}", measure.said(first), measure.said(second)))
        } else if let (Some(most), Some(share)) = (self.below, self.share) {
            let below = |subject: &Subject| subject.seeds.iter().filter(|&&seed| seed <= most).count();
            let enough = |subject: &Subject| below(subject) as f64 >= share * subject.seeds.len() as f64;
            let said = |subject: &Subject| {
                format!("{} {} of {}", subject.label, below(subject), subject.seeds.len())
            };
            (found.iter().all(enough), found.iter().map(said).collect::<Vec<_>>().join(", "))
        } else if let Some(most) = self.below {
            (found.iter().all(|subject| subject.number <= most), listed(&found, measure))
        } else if let Some(least) = self.above {
            (found.iter().all(|subject| subject.number > least), listed(&found, measure))
        } else {
            let better = |pair: &[Subject]| measure.beats(pair[1].number, pair[0].number);
            (self.improves && found.windows(2).all(better), listed(&found, measure))
        };
        let held = if held { "held" } else { "did not hold" };
        let seeds = found.iter().map(|subject| subject.seeds.len()).min().unwrap_or(0);
        format!("{held} ({numbers}; {})", text::counted(seeds, "seed"))
    }

    /// What a name means, as far as it is trained.
    fn subjects(
        &self,
        name: &str,
        measure: Measure,
        comparison: &Comparison,
        (table, column): (usize, usize),
        results: &Results,
    ) -> Vec<Subject> {
        let data = &comparison.columns[column];
        let subject = |(row, net): (usize, &Net)| {
            let cell = (table, column, row);
            let summary = results.summary(cell, measure)?;
            Some(Subject {
                label: net.label.clone(),
                number: if self.chosen { summary.chosen } else { summary.spread.mean },
                seeds: results.runs(cell).filter_map(|(_, result)| measure.of(result)).collect(),
                published: net.published(data),
            })
        };
        let rows = comparison.rows.iter().enumerate();
        if name != ALL {
            return rows.filter(|(_, net)| net.is_called(name)).filter_map(subject).collect();
        }
        let all: Option<Vec<Subject>> = rows.map(subject).collect();
        let over = |number: fn(&Subject) -> Option<f64>| mean(all.iter().flatten().map(number));
        let seeds = all.iter().flatten().map(|subject| subject.seeds.clone()).min_by_key(Vec::len);
        match (over(|subject| Some(subject.number)), seeds) {
            (Some(number), Some(seeds)) => {
                let published = over(|subject| subject.published);
                vec![Subject { label: "all".to_owned(), number, seeds, published }]
            }
            _ => Vec::new(),
        }
    }
}

/// What a claim is about.
struct Subject {
    label: String,
    /// What it is judged by.
    number: f64,
    /// The number of each seed; of all rows together, those of the row with the fewest.
    seeds: Vec<f64>,
    published: Option<f64>,
}

/// Every row with its number.
fn listed(found: &[Subject], measure: Measure) -> String {
    let one = |subject: &Subject| format!("{} {}", subject.label, measure.said(subject.number));
    found.iter().map(one).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use matnet_train::Run;
    use matnet_train::run::{RunResult, Score};

    use super::super::experiment::TableDescription;
    use super::*;
    use crate::cli::Size;

    const TABLE: &str = "
name = 't'
title = 't'
config = 'c.toml'
measures = ['wrong']
published = 'paper'
column = [{ name = 'a', label = 'A', size = 'quick' }, { name = 'b', label = 'B', size = 'quick' }]
row = [
    { variant = 'small', label = 'small', published = { a = 4.0 } },
    { variant = 'net', label = 'net', hidden = { quick = [[2], [3]] } },
]
";

    fn sentences(claim: &str) -> Vec<String> {
        let description: TableDescription = toml::from_str(TABLE).unwrap();
        let comparison = description.of_size(Size::Quick);
        let mut results = Results::default();
        // Percent wrong in column a of small, net 2 and net 3; column b is one worse, but for net 3, which is missing.
        for (cell, wrong) in
            [((0, 0, 0), 5.0), ((0, 0, 1), 6.0), ((0, 0, 2), 3.0), ((0, 1, 0), 6.0), ((0, 1, 1), 7.0)]
        {
            let test = Some(Score { loss: 0.0, error: Some(wrong / 100.0), examples: 9 });
            let (kind, form) = (String::new(), String::new());
            let result = RunResult {
                kind,
                form,
                parameters: 1,
                seed: 1,
                epochs: 1,
                best_epoch: 1,
                train: None,
                valid: None,
                test,
                also: [].into(),
            };
            results.add(cell, Run::at("x"), result);
        }
        let claim: Claim = toml::from_str(&format!("says = 'X'\n{claim}")).unwrap();
        claim.sentences(0, &comparison, &results)
    }

    #[test]
    fn claims_are_judged_by_the_better_direction() {
        let better = sentences("of = 'net'\nbetter_than = 'small'");
        assert_eq!(better, ["X, A: held (3.00 against 5.00; 1 seed).", "X, B: not trained yet."]);
        assert_eq!(
            sentences("of = 'small'\nbetter_than = 'net'\non = ['a']"),
            ["X, A: did not hold (5.00 against 3.00; 1 seed)."]
        );
        assert_eq!(
            sentences("of = 'small'\nbetter_than = 'published'\nwithin = 1.0"),
            ["X, A: held (5.00 against 4.00; 1 seed).", "X, B: nothing is published to compare with."]
        );
        assert_eq!(
            sentences("of = 'net-2'\nbetter_than_on = 'b'\non = ['a']"),
            ["X, A: held (6.00 against 7.00; 1 seed)."]
        );
        assert!(sentences("of = 'net-2'\nbetter_than_on = 'gone'").is_empty());
        assert_eq!(
            sentences("of = 'small'\nbetter_than = 'small'\non = ['a']"),
            ["X, A: did not hold (5.00 against 5.00; 1 seed)."],
            "as good is not better"
        );
        assert_eq!(
            sentences("of = 'net'\nbelow = 5.0\non = ['a']"),
            ["X, A: did not hold (net 2 6.00, net 3 3.00; 1 seed)."]
        );
        assert_eq!(
            sentences("of = 'net'\nabove = 2.0\non = ['a']"),
            ["X, A: held (net 2 6.00, net 3 3.00; 1 seed)."]
        );
        assert_eq!(
            sentences("of = 'net'\nimproves = true\non = ['a']"),
            ["X, A: held (net 2 6.00, net 3 3.00; 1 seed)."]
        );
        assert_eq!(
            sentences("of = 'net'\nbelow = 5.0\nshare = 0.5\non = ['a']"),
            ["X, A: did not hold (net 2 0 of 1, net 3 1 of 1; 1 seed)."]
        );
        assert_eq!(
            sentences("of = 'all'\nbelow = 5.0\nchosen = true"),
            ["X, A: held (all 4.67; 1 seed).", "X, B: not trained yet."]
        );
        assert_eq!(
            sentences("of = 'all'\nbetter_than = 'published'"),
            ["X, A: nothing is published to compare with.", "X, B: not trained yet."]
        );
    }
}

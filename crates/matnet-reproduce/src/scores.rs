//! The numbers that a claim is about, and its verdict for each column.

use std::collections::BTreeMap;

use crate::claim::{ALL, Claim, PUBLISHED};
use crate::experiment::{RowSpec, TableSpec};
use crate::files::CellIndex;
use crate::metric::Metric;
use crate::results::Results;
use crate::scored_net::ScoredNet;

impl Claim {
    /// Whether all that it names is in a table.
    pub fn is_about(&self, table: &TableSpec) -> bool {
        let row = |name: &str| name == ALL || table.rows.iter().any(|net| net.has_name(name));
        let column = |name: &str| table.columns.iter().any(|data| data.name == name);
        let units = || table.rows.iter().filter(|net| net.has_name(&self.of)).filter_map(|net| net.units);
        row(&self.of)
            && self.better_than.as_deref().is_none_or(|name| name == PUBLISHED || row(name))
            && self.better_than_on.as_deref().is_none_or(column)
            && self
                .worsens_after
                .is_none_or(|size| units().any(|units| units == size) && units().any(|units| units > size))
    }

    /// The claim with its verdict, for each of its columns; empty if its rows are not in this size.
    pub fn verdicts(&self, number: usize, table: &TableSpec, results: &Results) -> Vec<String> {
        if !self.is_about(table) {
            return Vec::new();
        }
        let scores = Scores { claim: self, number, table, results };
        let columns = table.columns.iter().enumerate();
        columns
            .filter(|(_, data)| self.on.is_empty() || self.on.contains(&data.name))
            .map(|(column, data)| {
                format!("{}, {}: {}.", self.says, data.label, self.verdict(&scores, column))
            })
            .collect()
    }

    fn verdict(&self, scores: &Scores, column: usize) -> String {
        let own = scores.rows(&self.of, column);
        let other = match (self.better_than.as_deref(), self.better_than_on.as_deref()) {
            (Some(PUBLISHED), _) | (None, None) => Vec::new(),
            (Some(name), _) => scores.rows(name, column),
            (None, Some(name)) => {
                let place = scores.table.columns.iter().position(|data| data.name == name);
                scores.rows(&self.of, place.unwrap_or(column))
            }
        };
        let (nets, trained) = (own.len() + other.len(), own.iter().chain(&other).flatten().count());
        let metric = scores.metric();
        let side = |rows: Vec<Option<ScoredNet>>, name: &str| match name {
            // The mean of some rows is not the mean of all.
            ALL if rows.iter().any(Option::is_none) => Vec::new(),
            ALL => vec![ScoredNet::mean(&rows.into_iter().flatten().collect::<Vec<_>>(), metric)],
            _ => rows.into_iter().flatten().collect(),
        };
        let own = side(own, &self.of);
        let other = side(other, self.better_than.as_deref().unwrap_or(&self.of));
        match self.judge(&own, &other, metric) {
            None => "not trained yet".to_owned(),
            Some(verdict) if trained == nets => verdict,
            Some(verdict) => format!("so far {verdict}, with {trained} of {nets} nets trained"),
        }
    }
}

/// Where a claim finds its numbers.
struct Scores<'a> {
    claim: &'a Claim,
    number: usize,
    table: &'a TableSpec,
    results: &'a Results,
}

impl Scores<'_> {
    fn metric(&self) -> Metric {
        self.claim.metric.unwrap_or(self.table.metrics[0])
    }

    /// The rows of a name on a column; `None` for one that is not trained.
    fn rows(&self, name: &str, column: usize) -> Vec<Option<ScoredNet>> {
        let rows = self.table.rows.iter().enumerate();
        rows.filter(|(_, net)| name == ALL || net.has_name(name))
            .map(|(row, net)| self.row(net, (self.number, column, row)))
            .collect()
    }

    fn row(&self, net: &RowSpec, cell: CellIndex) -> Option<ScoredNet> {
        let (metric, diverged) = (self.metric(), self.results.diverged(cell));
        let runs = self.results.runs(cell);
        let seeds: BTreeMap<u64, f64> =
            runs.filter_map(|(_, result)| Some((result.seed, metric.of(result)?))).collect();
        let number = match self.results.summary(cell, metric) {
            // A net that mostly diverges is not judged by its lucky seeds.
            _ if diverged > 0 && diverged >= seeds.len() => metric.worst(),
            found if self.claim.selected => found?.selected,
            found => found?.spread.mean,
        };
        let published = net.published(&self.table.columns[cell.1]);
        let parameters = self.results.runs(cell).next().map(|(_, result)| result.parameters as u64);
        let (label, units) = (net.label.clone(), net.units);
        Some(ScoredNet { label, units, parameters, number, seeds, diverged, published })
    }
}

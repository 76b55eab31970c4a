//! `metrics.csv` and `times.csv`, read in one place.

use super::{METRICS, Run, TIMES, files};
use crate::metrics::{Metric, MetricValues};
use crate::{Error, Result, Split};

/// A line of `metrics.csv`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MetricsRow {
    /// From 1.
    pub epoch: usize,
    /// The split.
    pub split: Split,
    /// The mean loss.
    pub loss: f64,
    /// The error rate, where there is one.
    pub error: Option<f64>,
    /// The metrics that the file has a column for.
    pub metrics: MetricValues,
}

impl Run {
    /// The scores of every epoch so far; empty if there are none.
    pub fn metrics(&self) -> Result<Vec<MetricsRow>> {
        let row = |header: &str, line: &str| {
            let mut cells = line.split(',');
            let epoch = cells.next()?.parse().ok()?;
            let name = cells.next()?;
            let split = Split::ALL.into_iter().find(|split| split.name() == name)?;
            let loss = cells.next()?.parse().ok()?;
            let error = match cells.next()? {
                "" => None,
                error => Some(error.parse().ok()?),
            };
            let names = header.split(',').skip(5);
            let mut metrics = MetricValues::default();
            for (name, cell) in names.zip(cells.skip(1)).filter(|(_, cell)| !cell.is_empty()) {
                metrics.set(Metric::from_key(name)?, cell.parse().ok()?);
            }
            Some(MetricsRow { epoch, split, loss, error, metrics })
        };
        self.rows(METRICS, row)
    }

    /// Seconds per epoch so far.
    pub fn times(&self) -> Result<Vec<f64>> {
        self.rows(TIMES, |_, line| line.split(',').nth(1)?.parse().ok())
    }

    fn rows<R>(&self, name: &str, parse: impl Fn(&str, &str) -> Option<R>) -> Result<Vec<R>> {
        let path = self.path(name);
        let Some(text) = files::read_text(&path)? else { return Ok(Vec::new()) };
        let header = text.lines().next().unwrap_or_default();
        let lines = text.lines().enumerate().skip(1);
        lines
            .map(|(at, line)| {
                parse(header, line).ok_or_else(|| Error::damaged(&path, format!("damaged: line {}", at + 1)))
            })
            .collect()
    }
}

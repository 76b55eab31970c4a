//! `metrics.csv` and `times.csv`, read in one place.

use super::{METRICS, Run, TIMES};
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
}

impl Run {
    /// The scores of every epoch so far; empty if there are none.
    pub fn metrics(&self) -> Result<Vec<MetricsRow>> {
        let row = |line: &str| {
            let mut cells = line.split(',');
            let epoch = cells.next()?.parse().ok()?;
            let name = cells.next()?;
            let split = Split::ALL.into_iter().find(|split| split.name() == name)?;
            let loss = cells.next()?.parse().ok()?;
            let error = match cells.next()? {
                "" => None,
                error => Some(error.parse().ok()?),
            };
            Some(MetricsRow { epoch, split, loss, error })
        };
        self.rows(METRICS, row)
    }

    /// Seconds per epoch so far.
    pub fn times(&self) -> Result<Vec<f64>> {
        self.rows(TIMES, |line| line.split_once(',')?.1.parse().ok())
    }

    fn rows<R>(&self, name: &str, parse: impl Fn(&str) -> Option<R>) -> Result<Vec<R>> {
        let path = self.path(name);
        let text = match std::fs::read_to_string(&path) {
            Ok(text) => text,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(Error::io(path, error)),
        };
        let lines = text.lines().enumerate().skip(1);
        lines
            .map(|(at, line)| {
                parse(line).ok_or_else(|| Error::damaged(&path, format!("damaged: line {}", at + 1)))
            })
            .collect()
    }
}

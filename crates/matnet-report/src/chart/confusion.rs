//! Confusion matrices.

use super::frame::no_data;
use super::heat::{HeatCell, HeatGrid, draw};
use crate::Svg;
use crate::text::{count, fixed};

/// With more classes than this, zeros are not written.
const MANY: usize = 12;

/// A confusion matrix: counts of true classes (rows) against predicted classes (columns).
///
/// The colour is the share of the row, so that rare classes are as readable as frequent ones.
#[derive(Clone, Debug)]
pub struct ConfusionChart {
    title: String,
    classes: Vec<String>,
    counts: Vec<Vec<u64>>,
    normalized: bool,
}

impl ConfusionChart {
    /// A row of counts for each true class.
    pub fn new(
        title: impl Into<String>,
        classes: impl IntoIterator<Item = impl Into<String>>,
        counts: impl IntoIterator<Item = Vec<u64>>,
    ) -> Self {
        Self {
            title: title.into(),
            classes: classes.into_iter().map(Into::into).collect(),
            counts: counts.into_iter().collect(),
            normalized: false,
        }
    }

    /// Writes the share of the row in percent, not the count.
    pub fn normalized(mut self) -> Self {
        self.normalized = true;
        self
    }

    /// The drawing.
    pub fn svg(&self) -> Svg {
        if self.counts.iter().flatten().all(|&count| count == 0) {
            return no_data(&self.title);
        }
        let name = |place: usize| self.classes.get(place).map_or("?", String::as_str);
        let cell = |row: usize, col: usize, samples: u64, total: u64| {
            let share = if total > 0 { samples as f64 / total as f64 } else { 0.0 };
            let tooltip = format!(
                "true {}, predicted {}: {} of {} ({} %)",
                name(row),
                name(col),
                count(samples as usize),
                count(total as usize),
                fixed(share * 100.0, 1)
            );
            let hidden = samples == 0 && self.classes.len() > MANY;
            let text = match (hidden, self.normalized) {
                (true, _) => String::new(),
                (false, true) => fixed(share * 100.0, 0),
                (false, false) => count(samples as usize),
            };
            HeatCell { shade: share, text, tooltip }
        };
        let cells = self.counts.iter().enumerate().map(|(row, counts)| {
            let total = counts.iter().fold(0u64, |sum, &count| sum.saturating_add(count));
            counts.iter().enumerate().map(|(col, &count)| cell(row, col, count, total)).collect()
        });
        draw(&HeatGrid {
            title: &self.title,
            rows: &self.classes,
            cols: &self.classes,
            axes: ("predicted class", "true class"),
            ends: ("0 %".into(), "100 %".into(), "share of the true class"),
            signed: false,
            cells: cells.collect(),
        })
    }
}

//! Which class was taken for which.

use super::heat::{Cell, Cells, draw};
use crate::Svg;
use crate::number::fixed;

/// From so many classes on, cells without a sample are left empty.
const MANY: usize = 12;

/// Counts of true classes (rows) against predicted ones (columns).
///
/// The colour is the share of the row, so that rare classes can be read as well as frequent ones.
#[derive(Clone, Debug)]
pub struct ConfusionMatrix {
    title: String,
    classes: Vec<String>,
    counts: Vec<Vec<u64>>,
}

impl ConfusionMatrix {
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
        }
    }

    /// The drawing.
    pub fn svg(&self) -> Svg {
        let name = |place: usize| self.classes.get(place).map_or("?", String::as_str);
        let cell = |row: usize, col: usize, count: u64, total: u64| {
            let share = if total > 0 { count as f64 / total as f64 } else { 0.0 };
            let hint = format!(
                "true {}, predicted {}: {count} of {total} ({} %)",
                name(row),
                name(col),
                fixed(share * 100.0, 1)
            );
            let text =
                if count == 0 && self.classes.len() > MANY { String::new() } else { count.to_string() };
            Cell { shade: share, text, hint }
        };
        let cells = self.counts.iter().enumerate().map(|(row, counts)| {
            let total = counts.iter().fold(0u64, |sum, &count| sum.saturating_add(count));
            counts.iter().enumerate().map(|(col, &count)| cell(row, col, count, total)).collect()
        });
        draw(&Cells {
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

//! Legends of charts.

use super::scale::Scale;
use crate::color::{ColorRole, dashes, marker};
use crate::layout::{LABEL_SIZE, ellipsize, text_width};
use crate::svg::{Drawing, Label};
use crate::text::coordinate as c;

/// Height of a row.
pub(crate) const ROW: f64 = 19.0;
/// Width of a key.
const KEY: f64 = 26.0;
const GAP: f64 = 16.0;
/// How lines to compare with are drawn.
const GUIDE_WIDTH: f64 = 1.5;
const GUIDE_DASHES: &str = "4 4";

/// The key of an entry: how its data are drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LegendKey {
    /// A line with its dashes and marker.
    Line(usize),
    /// A line with its dashes.
    Curve(usize),
    /// A marker.
    Marker(usize),
    /// A filled square.
    Square(usize),
    /// The short line of a reference value.
    Reference,
    /// A dashed line to compare with.
    Guide,
}

/// A line to compare with, such as y = x: its name and its ends.
#[derive(Clone, Debug)]
pub(crate) struct Guide {
    pub name: String,
    pub ends: [(f64, f64); 2],
}

impl Guide {
    /// The key and the name for the legend.
    pub fn entry(&self) -> (LegendKey, String) {
        (LegendKey::Guide, self.name.clone())
    }

    /// Draws the line between two scales that show its ends.
    pub fn draw(&self, drawing: &mut Drawing, x: &Scale, y: &Scale) {
        let [from, to] = self.ends.map(|end| (x.clamped(end.0), y.clamped(end.1)));
        let path = format!("M{} {}L{} {}", c(from.0), c(from.1), c(to.0), c(to.1));
        drawing.stroke(&path, ColorRole::Muted, GUIDE_WIDTH, GUIDE_DASHES);
    }
}

/// The entries, in as many rows as the width requires.
pub(crate) struct Legend {
    rows: Vec<Vec<(LegendKey, String, f64)>>,
}

impl Legend {
    /// Lays out the entries in rows of at most `room` pixels. Entries without a name are left out.
    pub fn new(entries: impl IntoIterator<Item = (LegendKey, String)>, room: f64) -> Self {
        let mut rows: Vec<Vec<(LegendKey, String, f64)>> = Vec::new();
        let mut x = f64::INFINITY;
        for (key, name) in entries.into_iter().filter(|(_, name)| !name.is_empty()) {
            let name = ellipsize(&name, LABEL_SIZE, room - KEY - 6.0);
            let width = KEY + 6.0 + text_width(&name, LABEL_SIZE);
            if x + width > room {
                rows.push(Vec::new());
                x = 0.0;
            }
            if let Some(row) = rows.last_mut() {
                row.push((key, name, x));
            }
            x += width + GAP;
        }
        Self { rows }
    }

    pub fn height(&self) -> f64 {
        self.rows.len() as f64 * ROW
    }

    /// Draws the rows with their top-left corner at (`left`, `top`).
    pub fn draw(&self, drawing: &mut Drawing, left: f64, top: f64) {
        for (place, row) in self.rows.iter().enumerate() {
            let middle = top + (place as f64 + 0.5) * ROW;
            for (key, name, x) in row {
                let x = left + x;
                draw_key(drawing, *key, x, middle);
                drawing.write(&Label::new(x + KEY + 6.0, middle + 4.0, name));
            }
        }
    }
}

fn draw_key(drawing: &mut Drawing, key: LegendKey, x: f64, y: f64) {
    let middle = x + KEY / 2.0;
    match key {
        LegendKey::Curve(place) => {
            let path = format!("M{} {}h{}", c(x), c(y), c(KEY));
            drawing.stroke(&path, ColorRole::Series(place), 2.0, dashes(place));
        }
        LegendKey::Line(place) => {
            let path = format!("M{} {}h{}", c(x), c(y), c(KEY));
            drawing.stroke(&path, ColorRole::Series(place), 2.0, dashes(place));
            drawing.fill(&marker(place, middle, y, 3.5), ColorRole::Series(place), 1.0);
        }
        LegendKey::Marker(place) => {
            drawing.fill(&marker(place, middle, y, 4.5), ColorRole::Series(place), 1.0)
        }
        LegendKey::Square(place) => {
            drawing.rect([x + 7.0, y - 6.0, 12.0, 12.0], ColorRole::Series(place), 1.0, "");
        }
        LegendKey::Guide => {
            let path = format!("M{} {}h{}", c(x), c(y), c(KEY));
            drawing.stroke(&path, ColorRole::Muted, GUIDE_WIDTH, GUIDE_DASHES);
        }
        LegendKey::Reference => {
            drawing.line((x + 3.0, y), (x + KEY - 3.0, y), ColorRole::Background, 5.0);
            drawing.line((x + 3.0, y), (x + KEY - 3.0, y), ColorRole::Text, 2.5);
        }
    }
}

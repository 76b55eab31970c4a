//! Which line, bar or marker belongs to which name.

use crate::colour::{Role, dashes, marker};
use crate::number::coordinate as c;
use crate::svg::{Drawing, Letters};
use crate::text;

/// Height of a row.
pub(crate) const ROW: f64 = 19.0;
const SIZE: f64 = 12.0;
const SAMPLE: f64 = 26.0;
const GAP: f64 = 16.0;

/// How an entry is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sample {
    /// A line with its dashes and marker.
    Line(usize),
    /// A marker.
    Marker(usize),
    /// A filled square.
    Square(usize),
    /// The short line of a reference.
    Reference,
}

/// The entries in rows no wider than there is room.
pub(crate) struct Legend {
    rows: Vec<Vec<(Sample, String, f64)>>,
}

impl Legend {
    /// Lays the entries out. Those without a name are left out.
    pub fn new(entries: impl IntoIterator<Item = (Sample, String)>, room: f64) -> Self {
        let mut rows: Vec<Vec<(Sample, String, f64)>> = Vec::new();
        let mut x = f64::INFINITY;
        for (sample, name) in entries.into_iter().filter(|(_, name)| !name.is_empty()) {
            let name = text::fitted(&name, SIZE, room - SAMPLE - 6.0);
            let width = SAMPLE + 6.0 + text::width(&name, SIZE);
            if x + width > room {
                rows.push(Vec::new());
                x = 0.0;
            }
            if let Some(row) = rows.last_mut() {
                row.push((sample, name, x));
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
            for (sample, name, x) in row {
                let x = left + x;
                draw_sample(drawing, *sample, x, middle);
                drawing.write(&Letters::new(x + SAMPLE + 6.0, middle + 4.0, name).size(SIZE));
            }
        }
    }
}

fn draw_sample(drawing: &mut Drawing, sample: Sample, x: f64, y: f64) {
    let middle = x + SAMPLE / 2.0;
    match sample {
        Sample::Line(place) => {
            let path = format!("M{} {}h{}", c(x), c(y), c(SAMPLE));
            drawing.stroke(&path, Role::Series(place), 2.0, dashes(place));
            drawing.fill(&marker(place, middle, y, 3.5), Role::Series(place), 1.0);
        }
        Sample::Marker(place) => drawing.fill(&marker(place, middle, y, 4.5), Role::Series(place), 1.0),
        Sample::Square(place) => {
            drawing.rect([x + 7.0, y - 6.0, 12.0, 12.0], Role::Series(place), 1.0, "");
        }
        Sample::Reference => {
            drawing.line((x + 3.0, y), (x + SAMPLE - 3.0, y), Role::Paper, 5.0);
            drawing.line((x + 3.0, y), (x + SAMPLE - 3.0, y), Role::Ink, 2.5);
        }
    }
}

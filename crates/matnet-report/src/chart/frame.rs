//! What charts with two axes share: title, legend, axes, ticks and labels.

use super::legend::Legend;
use super::scale::Scale;
use crate::colour::Role;
use crate::number::coordinate as c;
use crate::svg::{Drawing, Letters};
use crate::text;

/// Size of the letters at ticks.
pub(crate) const TICK: f64 = 11.5;
const TITLE: f64 = 15.0;
const MARGIN: f64 = 14.0;

/// Words and size of a chart.
#[derive(Clone, Debug)]
pub(crate) struct Words {
    pub title: String,
    pub x: String,
    pub y: String,
    pub width: f64,
    pub height: f64,
}

impl Words {
    pub fn new(title: String) -> Self {
        Self { title, x: String::new(), y: String::new(), width: 720.0, height: 400.0 }
    }

    /// Sizes in which a chart can be drawn at all.
    pub fn set_size(&mut self, width: u32, height: u32) {
        self.width = f64::from(width.clamp(160, 10_000));
        self.height = f64::from(height.clamp(140, 10_000));
    }
}

/// The place for the data.
pub(crate) struct Frame {
    pub drawing: Drawing,
    pub left: f64,
    pub right: f64,
    pub top: f64,
    pub bottom: f64,
}

impl Frame {
    /// Paper with title and legend. `beside` is the room for the labels of the y axis, `below` of the x axis. A legend
    /// of several rows makes the chart taller, not the plot smaller.
    pub fn new(words: &Words, legend: &Legend, beside: f64, below: f64) -> Self {
        let title = if words.title.is_empty() { 0.0 } else { TITLE + 10.0 };
        let top = MARGIN + title + if legend.height() > 0.0 { legend.height() + 6.0 } else { 0.0 };
        let extra = (legend.height() - super::legend::ROW).max(0.0);
        let height = words.height + extra;
        let mut drawing = Drawing::new(words.width, height, &words.title);
        let room = words.width - 2.0 * MARGIN;
        let fitted = text::fitted(&words.title, TITLE * 1.06, room);
        if !fitted.is_empty() {
            drawing.write(&Letters::new(MARGIN, MARGIN + TITLE * 0.85, fitted).size(TITLE).bold());
        }
        legend.draw(&mut drawing, MARGIN, MARGIN + title);
        let left = MARGIN + beside + if words.y.is_empty() { 0.0 } else { 20.0 };
        let bottom = height - MARGIN - below - if words.x.is_empty() { 0.0 } else { 20.0 };
        let (right, top) = (words.width - MARGIN - 4.0, top + 6.0);
        let mut frame = Self { drawing, left, right, top, bottom };
        frame.labels(words, height);
        frame
    }

    /// How wide a legend may be.
    pub fn legend_room(words: &Words) -> f64 {
        words.width - 2.0 * MARGIN
    }

    fn labels(&mut self, words: &Words, height: f64) {
        let (across, down) = ((self.left + self.right) / 2.0, (self.top + self.bottom) / 2.0);
        if !words.x.is_empty() {
            let label = text::fitted(&words.x, 12.0, self.right - MARGIN);
            self.drawing.write(&Letters::new(across, height - MARGIN + 2.0, label).middle().role(Role::Soft));
        }
        if !words.y.is_empty() {
            let label = text::fitted(&words.y, 12.0, height - 2.0 * MARGIN);
            let label = Letters::new(MARGIN + 8.0, down, label).middle().turned(-90.0);
            self.drawing.write(&label.role(Role::Soft));
        }
    }

    /// Rules and labels of the y axis.
    pub fn y_axis(&mut self, scale: &Scale) {
        for (y, label) in scale.ticks() {
            self.drawing.line((self.left, y), (self.right, y), Role::Rule, 1.0);
            let letters = Letters::new(self.left - 7.0, y + 4.0, label).size(TICK).end();
            self.drawing.write(&letters.role(Role::Soft));
        }
    }

    /// Line, ticks and labels of the x axis; labels that would touch are left out.
    pub fn x_axis(&mut self, scale: &Scale) {
        self.base(self.bottom);
        let mut free = f64::NEG_INFINITY;
        for (x, label) in scale.ticks() {
            self.drawing.line((x, self.bottom), (x, self.bottom + 4.0), Role::Soft, 1.0);
            let half = text::width(&label, TICK) / 2.0;
            if x - half > free {
                free = x + half + 6.0;
                let letters = Letters::new(x, self.bottom + 17.0, label).size(TICK).middle();
                self.drawing.write(&letters.role(Role::Soft));
            }
        }
    }

    /// The line on which the data stand.
    pub fn base(&mut self, y: f64) {
        let path = format!("M{} {}H{}", c(self.left), c(y), c(self.right));
        self.drawing.stroke(&path, Role::Soft, 1.0, "");
    }

    /// Says that there is nothing to see.
    pub fn empty(&mut self) {
        let (x, y) = ((self.left + self.right) / 2.0, (self.top + self.bottom) / 2.0);
        self.drawing.rect([x - 60.0, y - 14.0, 120.0, 20.0], Role::Paper, 1.0, "");
        self.drawing.write(&Letters::new(x, y, "nothing to draw").middle().role(Role::Soft));
    }
}

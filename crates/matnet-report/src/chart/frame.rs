//! What charts with two axes share: title, legend, axes, ticks and labels.

use super::legend::{self, Legend};
use super::scale::Scale;
use crate::Svg;
use crate::color::ColorRole;
use crate::layout::{LABEL_SIZE, MARGIN, TICK_SIZE, TITLE_SIZE, ellipsize, text_width};
use crate::svg::{Drawing, Label};
use crate::text::coordinate as c;

/// Title, axis labels and size of a chart.
#[derive(Clone, Debug)]
pub(crate) struct ChartOptions {
    pub title: String,
    pub x: String,
    pub y: String,
    pub width: f64,
    pub height: f64,
}

impl ChartOptions {
    pub fn new(title: impl Into<String>) -> Self {
        Self { title: title.into(), x: String::new(), y: String::new(), width: 560.0, height: 360.0 }
    }

    /// Sets the size, within limits that leave room for a plot.
    pub fn set_size(&mut self, width: u32, height: u32) {
        self.width = f64::from(width.clamp(160, 10_000));
        self.height = f64::from(height.clamp(140, 10_000));
    }
}

/// The setters of a chart with [`ChartOptions`]; the text says what its size is.
macro_rules! axes_and_size {
    ($size:literal) => {
        /// Labels of the axes, with units.
        pub fn with_axes(mut self, x: impl Into<String>, y: impl Into<String>) -> Self {
            (self.options.x, self.options.y) = (x.into(), y.into());
            self
        }

        #[doc = $size]
        pub fn with_size(mut self, width: u32, height: u32) -> Self {
            self.options.set_size(width, height);
            self
        }
    };
}
pub(crate) use axes_and_size;

/// A drawing with title and legend, and the plot area in it.
pub(crate) struct Frame {
    pub drawing: Drawing,
    pub left: f64,
    pub right: f64,
    pub top: f64,
    pub bottom: f64,
}

impl Frame {
    /// Draws title, legend and axis labels. `beside` is the room for the ticks of the y axis, `below` of the x axis. A
    /// legend of several rows makes the chart taller, not the plot smaller.
    pub fn new(options: &ChartOptions, legend: &Legend, beside: f64, below: f64) -> Self {
        let title = if options.title.is_empty() { 0.0 } else { TITLE_SIZE + 10.0 };
        let top = MARGIN + title + if legend.height() > 0.0 { legend.height() + 6.0 } else { 0.0 };
        let height = options.height + (legend.height() - legend::ROW).max(0.0);
        let mut drawing = Drawing::new(options.width, height, &options.title);
        draw_title(&mut drawing, &options.title, options.width);
        legend.draw(&mut drawing, MARGIN, MARGIN + title);
        let left = MARGIN + beside + if options.y.is_empty() { 0.0 } else { 20.0 };
        let bottom = height - MARGIN - below - if options.x.is_empty() { 0.0 } else { 20.0 };
        let (right, top) = (options.width - MARGIN - 4.0, top + 6.0);
        let mut frame = Self { drawing, left, right, top, bottom };
        frame.axis_labels(options, height);
        frame
    }

    /// How wide a legend may be.
    pub fn legend_room(options: &ChartOptions) -> f64 {
        options.width - 2.0 * MARGIN
    }

    fn axis_labels(&mut self, options: &ChartOptions, height: f64) {
        let (x, y) = ((self.left + self.right) / 2.0, (self.top + self.bottom) / 2.0);
        if !options.x.is_empty() {
            let text = ellipsize(&options.x, LABEL_SIZE, self.right - MARGIN);
            self.drawing.write(&Label::new(x, height - MARGIN + 2.0, text).middle().role(ColorRole::Muted));
        }
        if !options.y.is_empty() {
            let text = ellipsize(&options.y, LABEL_SIZE, height - 2.0 * MARGIN);
            let label = Label::new(MARGIN + 8.0, y, text).middle().rotated(-90.0);
            self.drawing.write(&label.role(ColorRole::Muted));
        }
    }

    /// Gridlines and tick labels of the y axis.
    pub fn y_axis(&mut self, scale: &Scale) {
        for (y, label) in scale.ticks() {
            self.drawing.line((self.left, y), (self.right, y), ColorRole::Gridline, 1.0);
            let label = Label::new(self.left - 7.0, y + 4.0, label).size(TICK_SIZE).end();
            self.drawing.write(&label.role(ColorRole::Muted));
        }
    }

    /// Line, ticks and tick labels of the x axis; labels that would touch are left out.
    pub fn x_axis(&mut self, scale: &Scale) {
        self.base(self.bottom);
        let mut free = f64::NEG_INFINITY;
        for (x, label) in scale.ticks() {
            self.drawing.line((x, self.bottom), (x, self.bottom + 4.0), ColorRole::Muted, 1.0);
            let half = text_width(&label, TICK_SIZE) / 2.0;
            if x - half > free {
                free = x + half + 6.0;
                let label = Label::new(x, self.bottom + 17.0, label).size(TICK_SIZE).middle();
                self.drawing.write(&label.role(ColorRole::Muted));
            }
        }
    }

    /// The horizontal line of the x axis.
    pub fn base(&mut self, y: f64) {
        let path = format!("M{} {}H{}", c(self.left), c(y), c(self.right));
        self.drawing.stroke(&path, ColorRole::Muted, 1.0, "");
    }

    /// The finished drawing of a chart without values.
    pub fn no_data(mut self) -> Svg {
        let (x, y) = ((self.left + self.right) / 2.0, (self.top + self.bottom) / 2.0);
        self.base(self.bottom);
        self.drawing.write(&Label::new(x, y, "no data").middle().role(ColorRole::Muted));
        self.drawing.finish()
    }
}

/// The title of a drawing of this width, if it has one.
pub(super) fn draw_title(drawing: &mut Drawing, title: &str, width: f64) {
    let title = ellipsize(title, TITLE_SIZE * 1.06, width - 2.0 * MARGIN);
    if !title.is_empty() {
        drawing.write(&Label::new(MARGIN, MARGIN + TITLE_SIZE * 0.85, title).size(TITLE_SIZE).bold());
    }
}

/// A chart that has a title and no data.
pub(super) fn no_data(title: &str) -> Svg {
    let mut options = ChartOptions::new(title);
    options.height = 140.0;
    Frame::new(&options, &Legend::new([], 0.0), 0.0, 0.0).no_data()
}

//! SVG output.

use std::fmt::{self, Write};

use crate::color::ColorRole;
use crate::escape::markup;
use crate::layout::LABEL_SIZE;
use crate::text::coordinate as c;

/// A finished drawing.
///
/// Only this crate creates drawings, so a page can embed them unescaped.
#[derive(Clone, Debug, PartialEq)]
pub struct Svg {
    text: String,
    width: u32,
    height: u32,
    /// The same content for rendering.
    pub(crate) shapes: Vec<Shape>,
}

/// An element of a drawing. Paths use the SVG commands `M`, `L`, `H`, `l`, `h`, `v`, `z`, and `a` for half circles.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Shape {
    Fill { path: String, color: [u8; 3], opacity: f64, is_crisp: bool },
    Stroke { path: String, color: [u8; 3], width: f64, dashes: &'static str },
    Text(Label),
}

impl Svg {
    /// The text of the SVG file.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Natural width in pixels.
    pub fn width(&self) -> u32 {
        self.width
    }

    /// Natural height in pixels.
    pub fn height(&self) -> u32 {
        self.height
    }
}

impl fmt::Display for Svg {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

/// A drawing under construction.
pub(crate) struct Drawing {
    text: String,
    width: u32,
    height: u32,
    shapes: Vec<Shape>,
}

impl Drawing {
    /// An empty drawing with a background; a screen reader reads `label`.
    pub fn new(width: f64, height: f64, label: &str) -> Self {
        let mut drawing = Self::transparent(width.ceil() as u32, height.ceil() as u32, label);
        let area = [0.0, 0.0, f64::from(drawing.width), f64::from(drawing.height)];
        drawing.rect(area, ColorRole::Background, 1.0, "");
        drawing
    }

    /// An empty drawing without a background, to be drawn on top of a picture.
    pub fn transparent(width: u32, height: u32, label: &str) -> Self {
        let text = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" \
             viewBox=\"0 0 {width} {height}\" role=\"img\" aria-label=\"{}\" \
             font-family=\"system-ui, 'Segoe UI', Roboto, 'Noto Sans', sans-serif\">\n",
            markup(label)
        );
        Self { text, width, height, shapes: Vec::new() }
    }

    /// Strokes a path.
    pub fn stroke(&mut self, path: &str, role: ColorRole, thickness: f64, dashes: &'static str) {
        if path.is_empty() {
            return;
        }
        let _ = write!(
            self.text,
            "<path d=\"{path}\" fill=\"none\" stroke=\"{}\" stroke-width=\"{}\" class=\"s-{}\"",
            role.light(),
            c(thickness),
            role.name()
        );
        if !dashes.is_empty() {
            let _ = write!(self.text, " stroke-dasharray=\"{dashes}\"");
        }
        self.text.push_str(" stroke-linejoin=\"round\"/>\n");
        self.shapes.push(Shape::Stroke { path: path.into(), color: role.rgb(), width: thickness, dashes });
    }

    /// Strokes a path in a colour that is the same in both themes, with a tooltip, if `tooltip` is not empty.
    pub fn stroke_color(&mut self, path: &str, [r, g, b]: [u8; 3], thickness: f64, tooltip: &str) {
        if path.is_empty() {
            return;
        }
        let _ = write!(
            self.text,
            "<path d=\"{path}\" fill=\"none\" stroke=\"#{r:02x}{g:02x}{b:02x}\" stroke-width=\"{}\" \
             stroke-linejoin=\"round\"",
            c(thickness)
        );
        match tooltip {
            "" => self.text.push_str("/>\n"),
            tooltip => {
                let _ = writeln!(self.text, "><title>{}</title></path>", markup(tooltip));
            }
        }
        let (path, color) = (path.into(), [r, g, b]);
        self.shapes.push(Shape::Stroke { path, color, width: thickness, dashes: "" });
    }

    /// Fills a path.
    pub fn fill(&mut self, path: &str, role: ColorRole, opacity: f64) {
        if path.is_empty() {
            return;
        }
        let _ = write!(self.text, "<path d=\"{path}\"");
        self.filled(role, opacity);
        self.text.push_str("/>\n");
        self.push_fill(path.into(), role.rgb(), opacity, false);
    }

    /// Fills a path with a colour that is the same in both themes, its edges on whole pixels.
    pub fn paint(&mut self, path: &str, [r, g, b]: [u8; 3]) {
        if !path.is_empty() {
            self.push_fill(path.into(), [r, g, b], 1.0, true);
            let _ = writeln!(
                self.text,
                "<path d=\"{path}\" fill=\"#{r:02x}{g:02x}{b:02x}\" shape-rendering=\"crispEdges\"/>"
            );
        }
    }

    /// A filled rectangle with a tooltip, if `tooltip` is not empty.
    pub fn rect(&mut self, [x, y, width, height]: [f64; 4], role: ColorRole, opacity: f64, tooltip: &str) {
        self.open_rect([x, y, width, height]);
        self.filled(role, opacity);
        self.close_rect(tooltip);
        let path = format!("M{} {}h{}v{}H{}z", c(x), c(y), c(width.max(0.0)), c(height.max(0.0)), c(x));
        self.push_fill(path, role.rgb(), opacity, false);
    }

    /// An invisible rectangle with a tooltip about the data at `x`.
    pub fn tooltip(&mut self, area: [f64; 4], x: f64, tooltip: &str) {
        self.open_rect(area);
        let _ =
            write!(self.text, " fill=\"none\" pointer-events=\"all\" class=\"hover\" data-x=\"{}\"", c(x));
        self.close_rect(tooltip);
    }

    fn open_rect(&mut self, [x, y, width, height]: [f64; 4]) {
        let _ = write!(
            self.text,
            "<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\"",
            c(x),
            c(y),
            c(width.max(0.0)),
            c(height.max(0.0))
        );
    }

    fn close_rect(&mut self, tooltip: &str) {
        if tooltip.is_empty() {
            self.text.push_str("/>\n");
        } else {
            let _ = writeln!(self.text, "><title>{}</title></rect>", markup(tooltip));
        }
    }

    fn push_fill(&mut self, path: String, color: [u8; 3], opacity: f64, is_crisp: bool) {
        self.shapes.push(Shape::Fill { path, color, opacity, is_crisp });
    }

    fn filled(&mut self, role: ColorRole, opacity: f64) {
        let _ = write!(self.text, " fill=\"{}\" class=\"f-{}\"", role.light(), role.name());
        if opacity < 1.0 {
            let _ = write!(self.text, " fill-opacity=\"{}\"", c(opacity));
        }
    }

    /// A straight line.
    pub fn line(&mut self, from: (f64, f64), to: (f64, f64), role: ColorRole, thickness: f64) {
        let path = format!("M{} {}L{} {}", c(from.0), c(from.1), c(to.0), c(to.1));
        self.stroke(&path, role, thickness, "");
    }

    /// Text.
    pub fn write(&mut self, label: &Label) {
        let anchor = match label.anchor {
            Anchor::Start => "",
            Anchor::Middle => " text-anchor=\"middle\"",
            Anchor::End => " text-anchor=\"end\"",
        };
        let (x, y) = (c(label.x), c(label.y));
        let _ = write!(self.text, "<text x=\"{x}\" y=\"{y}\" font-size=\"{}\"{anchor}", c(label.size));
        if label.bold {
            self.text.push_str(" font-weight=\"700\"");
        }
        if label.rotation != 0.0 {
            let _ = write!(self.text, " transform=\"rotate({} {x} {y})\"", c(label.rotation));
        }
        self.filled(label.role, 1.0);
        let _ = writeln!(self.text, ">{}</text>", markup(&label.text));
        self.shapes.push(Shape::Text(label.clone()));
    }

    /// The finished drawing.
    pub fn finish(mut self) -> Svg {
        self.text.push_str("</svg>\n");
        Svg { text: self.text, width: self.width, height: self.height, shapes: self.shapes }
    }
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Anchor {
    Start,
    Middle,
    End,
}

/// A line of text with its position and style.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Label {
    pub x: f64,
    pub y: f64,
    pub text: String,
    pub size: f64,
    pub anchor: Anchor,
    pub bold: bool,
    pub rotation: f64,
    pub role: ColorRole,
}

impl Label {
    /// Text that starts at `x` on the baseline `y`.
    pub fn new(x: f64, y: f64, text: impl Into<String>) -> Self {
        let text = text.into().replace('\n', " ");
        Self {
            x,
            y,
            text,
            size: LABEL_SIZE,
            anchor: Anchor::Start,
            bold: false,
            rotation: 0.0,
            role: ColorRole::Text,
        }
    }

    pub fn size(mut self, size: f64) -> Self {
        self.size = size;
        self
    }

    /// Centres the text at its position.
    pub fn middle(mut self) -> Self {
        self.anchor = Anchor::Middle;
        self
    }

    /// Ends the text at its position.
    pub fn end(mut self) -> Self {
        self.anchor = Anchor::End;
        self
    }

    pub fn bold(mut self) -> Self {
        self.bold = true;
        self
    }

    /// Rotates clockwise by `degrees`.
    pub fn rotated(mut self, degrees: f64) -> Self {
        self.rotation = degrees;
        self
    }

    pub fn role(mut self, role: ColorRole) -> Self {
        self.role = role;
        self
    }
}

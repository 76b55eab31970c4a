//! Writing SVG.

use std::fmt::{self, Write};

use crate::colour::Role;
use crate::escape::markup;
use crate::number::coordinate as c;

/// A finished drawing.
///
/// Only this crate makes them, so that a page can take one in as it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Svg {
    text: String,
    width: u32,
    height: u32,
}

impl Svg {
    /// The file's text.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Width in pixels, unscaled.
    pub fn width(&self) -> u32 {
        self.width
    }

    /// Height in pixels, unscaled.
    pub fn height(&self) -> u32 {
        self.height
    }
}

impl fmt::Display for Svg {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

/// A drawing that is being made.
pub(crate) struct Drawing {
    text: String,
    width: u32,
    height: u32,
}

impl Drawing {
    /// Empty paper; `label` is what a screen reader says.
    pub fn new(width: f64, height: f64, label: &str) -> Self {
        let (width, height) = (width.ceil() as u32, height.ceil() as u32);
        let mut text = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" \
             viewBox=\"0 0 {width} {height}\" role=\"img\" aria-label=\"{}\" \
             font-family=\"system-ui, 'Segoe UI', Roboto, 'Noto Sans', sans-serif\">\n",
            markup(label)
        );
        let _ = writeln!(
            text,
            "<rect width=\"{width}\" height=\"{height}\" fill=\"{}\" class=\"f-paper\"/>",
            Role::Paper.light()
        );
        Self { text, width, height }
    }

    /// A path along its outline.
    pub fn stroke(&mut self, path: &str, role: Role, thickness: f64, dashes: &str) {
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
    }

    /// A path filled.
    pub fn fill(&mut self, path: &str, role: Role, opacity: f64) {
        if path.is_empty() {
            return;
        }
        let _ = write!(self.text, "<path d=\"{path}\"");
        self.filled(role, opacity);
        self.text.push_str("/>\n");
    }

    /// A path filled with a colour that is the same in every theme, its edges on whole pixels.
    pub fn paint(&mut self, path: &str, [r, g, b]: [u8; 3]) {
        if !path.is_empty() {
            let _ = writeln!(
                self.text,
                "<path d=\"{path}\" fill=\"#{r:02x}{g:02x}{b:02x}\" shape-rendering=\"crispEdges\"/>"
            );
        }
    }

    /// A rectangle; `hint` is shown when the pointer rests on it.
    pub fn rect(&mut self, [x, y, width, height]: [f64; 4], role: Role, opacity: f64, hint: &str) {
        self.open_rect([x, y, width, height]);
        self.filled(role, opacity);
        self.close_rect(hint);
    }

    /// A rectangle that is not seen and only shows `hint`, which is about what is at `x`.
    pub fn hint(&mut self, area: [f64; 4], x: f64, hint: &str) {
        self.open_rect(area);
        let _ = write!(self.text, " fill=\"none\" pointer-events=\"all\" class=\"hint\" data-x=\"{}\"", c(x));
        self.close_rect(hint);
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

    fn close_rect(&mut self, hint: &str) {
        if hint.is_empty() {
            self.text.push_str("/>\n");
        } else {
            let _ = writeln!(self.text, "><title>{}</title></rect>", markup(hint));
        }
    }

    fn filled(&mut self, role: Role, opacity: f64) {
        let _ = write!(self.text, " fill=\"{}\" class=\"f-{}\"", role.light(), role.name());
        if opacity < 1.0 {
            let _ = write!(self.text, " fill-opacity=\"{}\"", c(opacity));
        }
    }

    /// A straight line.
    pub fn line(&mut self, from: (f64, f64), to: (f64, f64), role: Role, thickness: f64) {
        let path = format!("M{} {}L{} {}", c(from.0), c(from.1), c(to.0), c(to.1));
        self.stroke(&path, role, thickness, "");
    }

    /// Letters.
    pub fn write(&mut self, text: &Letters) {
        let anchor = match text.anchor {
            Anchor::Start => "",
            Anchor::Middle => " text-anchor=\"middle\"",
            Anchor::End => " text-anchor=\"end\"",
        };
        let (x, y) = (c(text.x), c(text.y));
        let _ = write!(self.text, "<text x=\"{x}\" y=\"{y}\" font-size=\"{}\"{anchor}", c(text.size));
        if text.bold {
            self.text.push_str(" font-weight=\"700\"");
        }
        if text.turn != 0.0 {
            let _ = write!(self.text, " transform=\"rotate({} {x} {y})\"", c(text.turn));
        }
        self.filled(text.role, 1.0);
        let _ = writeln!(self.text, ">{}</text>", markup(&text.text.replace('\n', " ")));
    }

    /// The finished drawing.
    pub fn finish(mut self) -> Svg {
        self.text.push_str("</svg>\n");
        Svg { text: self.text, width: self.width, height: self.height }
    }
}

#[derive(Clone, Copy)]
enum Anchor {
    Start,
    Middle,
    End,
}

/// A line of letters and where it stands.
#[derive(Clone)]
pub(crate) struct Letters {
    x: f64,
    y: f64,
    text: String,
    size: f64,
    anchor: Anchor,
    bold: bool,
    turn: f64,
    role: Role,
}

impl Letters {
    /// Letters that begin at `x`, with `y` under them.
    pub fn new(x: f64, y: f64, text: impl Into<String>) -> Self {
        let text = text.into();
        Self { x, y, text, size: 12.0, anchor: Anchor::Start, bold: false, turn: 0.0, role: Role::Ink }
    }

    pub fn size(mut self, size: f64) -> Self {
        self.size = size;
        self
    }

    pub fn middle(mut self) -> Self {
        self.anchor = Anchor::Middle;
        self
    }

    pub fn end(mut self) -> Self {
        self.anchor = Anchor::End;
        self
    }

    pub fn bold(mut self) -> Self {
        self.bold = true;
        self
    }

    /// Turned clockwise by so many degrees.
    pub fn turned(mut self, degrees: f64) -> Self {
        self.turn = degrees;
        self
    }

    pub fn role(mut self, role: Role) -> Self {
        self.role = role;
        self
    }
}

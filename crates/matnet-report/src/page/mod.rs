//! HTML pages that are one file: no other files, no network access, a light and a dark theme, desktop and phone.

mod anchor;
mod figure;
mod scatter3d;

use std::fmt::Write;

pub use figure::Figure;

use crate::chart::Scatter3d;
use crate::color;
use crate::escape::markup;
use crate::table::Table;
use anchor::Anchors;

const STYLE: &str = include_str!("style.css");
const SCRIPT: &str = include_str!("script.js");
const SCATTER3D: &str = include_str!("scatter3d.js");

/// Number of headings from which a page starts with a table of contents.
const MIN_CONTENTS: usize = 3;

/// An HTML page, written from top to bottom.
///
/// All text is plain text: markup in it is escaped.
#[derive(Clone, Debug)]
pub struct Page {
    title: String,
    summary: String,
    body: String,
    headings: Vec<(String, String)>,
    anchors: Anchors,
    has_scatter3d: bool,
}

impl Page {
    /// An empty page.
    pub fn new(title: impl Into<String>) -> Self {
        Self {
            title: title.into(),
            summary: String::new(),
            body: String::new(),
            headings: Vec::new(),
            anchors: Anchors::default(),
            has_scatter3d: false,
        }
    }

    /// A sentence or two under the title.
    pub fn with_summary(mut self, summary: impl Into<String>) -> Self {
        self.summary = summary.into();
        self
    }

    /// A heading; returns its anchor, without the `#`.
    pub fn heading(&mut self, text: &str) -> String {
        let anchor = self.anchors.take(text);
        self.headings.push((anchor.clone(), text.into()));
        self.write_heading("h2", &anchor, text);
        anchor
    }

    /// A smaller heading, not in the table of contents; returns its anchor.
    pub fn subheading(&mut self, text: &str) -> String {
        let anchor = self.anchors.take(text);
        self.write_heading("h3", &anchor, text);
        anchor
    }

    fn write_heading(&mut self, tag: &str, anchor: &str, text: &str) {
        let text = markup(text);
        let link =
            format!("<a class=\"anchor\" href=\"#{anchor}\" aria-label=\"Link to this section\">#</a>");
        let _ = writeln!(self.body, "<{tag} id=\"{anchor}\">{text}{link}</{tag}>");
    }

    /// A paragraph.
    pub fn paragraph(&mut self, text: &str) {
        let _ = writeln!(self.body, "<p>{}</p>", markup(text));
    }

    /// A list.
    pub fn list(&mut self, items: impl IntoIterator<Item = impl AsRef<str>>) {
        self.body.push_str("<ul>\n");
        for item in items {
            let _ = writeln!(self.body, "<li>{}</li>", markup(item.as_ref()));
        }
        self.body.push_str("</ul>\n");
    }

    /// A paragraph with a link to another file.
    pub fn link(&mut self, file: &str, text: &str) {
        let _ = writeln!(self.body, "<p><a href=\"{}\">{}</a></p>", markup(file), markup(text));
    }

    /// Preformatted text, such as a config.
    pub fn code(&mut self, text: &str) {
        let _ = writeln!(self.body, "<pre><code>{}</code></pre>", markup(text));
    }

    /// Names with short values.
    pub fn facts(&mut self, facts: impl IntoIterator<Item = (impl AsRef<str>, impl AsRef<str>)>) {
        self.body.push_str("<dl>\n");
        for (name, value) in facts {
            let (name, value) = (markup(name.as_ref()), markup(value.as_ref()));
            let _ = writeln!(self.body, "<div><dt>{name}</dt><dd>{value}</dd></div>");
        }
        self.body.push_str("</dl>\n");
    }

    /// A table.
    pub fn table(&mut self, table: &Table) {
        self.body.push_str(&table.html());
    }

    /// A figure.
    pub fn figure(&mut self, figure: Figure) {
        self.body.push_str(&figure.html(""));
    }

    /// Figures side by side, as many as fit on the screen.
    pub fn figures(&mut self, figures: impl IntoIterator<Item = Figure>) {
        self.body.push_str("<div class=\"row\">\n");
        for figure in figures {
            self.body.push_str(&figure.in_row());
        }
        self.body.push_str("</div>\n");
    }

    /// A scatter plot that can be rotated with mouse, touch or keys; without scripts and in print it is static.
    pub fn scatter3d(&mut self, plot: &Scatter3d, caption: &str) {
        self.has_scatter3d = true;
        self.body.push_str(&scatter3d::html(plot, caption));
    }

    /// A collapsed section; `content` writes what is in it.
    pub fn details(&mut self, summary: &str, content: impl FnOnce(&mut Self)) {
        let _ = writeln!(self.body, "<details><summary>{}</summary>", markup(summary));
        content(self);
        self.body.push_str("</details>\n");
    }

    /// The HTML file.
    pub fn html(&self) -> String {
        let title = markup(&self.title);
        let mut html = format!(
            "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
             <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
             <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; img-src data:; \
             style-src 'unsafe-inline'; script-src 'unsafe-inline'\">\n\
             <title>{title}</title>\n<style>\n{}{STYLE}</style>\n</head>\n<body>\n<main>\n<h1>{title}</h1>\n",
            color::style()
        );
        if !self.summary.is_empty() {
            let _ = writeln!(html, "<p class=\"summary\">{}</p>", markup(&self.summary));
        }
        if self.headings.len() >= MIN_CONTENTS {
            html.push_str("<nav aria-label=\"Contents\"><ul>\n");
            for (anchor, text) in &self.headings {
                let _ = writeln!(html, "<li><a href=\"#{anchor}\">{}</a></li>", markup(text));
            }
            html.push_str("</ul></nav>\n");
        }
        html.push_str(&self.body);
        let scatter3d = if self.has_scatter3d { SCATTER3D } else { "" };
        let _ = write!(html, "</main>\n<script>\n{SCRIPT}{scatter3d}</script>\n</body>\n</html>\n");
        html
    }
}

//! A page that is one file: no other file, no network, light or dark as the reader's screen is.

mod anchor;
mod cloud;
mod figure;

use std::fmt::Write;

pub use figure::Figure;

use crate::chart::Scatter3;
use crate::colour;
use crate::escape::markup;
use crate::table::Table;
use anchor::Anchors;

const STYLE: &str = include_str!("style.css");
const SCRIPT: &str = include_str!("script.js");
const CLOUD: &str = include_str!("cloud.js");

/// From so many headings on, the page begins with a list of them.
const CONTENTS: usize = 3;

/// A page that is being written, from top to bottom.
///
/// All text is plain text: whatever it contains, it is shown and not obeyed.
#[derive(Clone, Debug)]
pub struct Page {
    title: String,
    lede: String,
    body: String,
    headings: Vec<(String, String)>,
    anchors: Anchors,
    has_cloud: bool,
}

impl Page {
    /// An empty page.
    pub fn new(title: impl Into<String>) -> Self {
        Self {
            title: title.into(),
            lede: String::new(),
            body: String::new(),
            headings: Vec::new(),
            anchors: Anchors::default(),
            has_cloud: false,
        }
    }

    /// A sentence or two under the title.
    pub fn with_lede(mut self, lede: impl Into<String>) -> Self {
        self.lede = lede.into();
        self
    }

    /// A heading that can be linked to; gives its anchor, without the `#`.
    pub fn heading(&mut self, text: &str) -> String {
        let anchor = self.anchors.take(text);
        self.headings.push((anchor.clone(), text.into()));
        self.write_heading("h2", &anchor, text);
        anchor
    }

    /// A smaller heading, not in the list at the top.
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

    /// A list of sentences.
    pub fn list(&mut self, items: impl IntoIterator<Item = impl AsRef<str>>) {
        self.body.push_str("<ul>\n");
        for item in items {
            let _ = writeln!(self.body, "<li>{}</li>", markup(item.as_ref()));
        }
        self.body.push_str("</ul>\n");
    }

    /// A paragraph that leads to another file.
    pub fn link(&mut self, file: &str, text: &str) {
        let _ = writeln!(self.body, "<p><a href=\"{}\">{}</a></p>", markup(file), markup(text));
    }

    /// Text as it is, line by line, such as a config.
    pub fn code(&mut self, text: &str) {
        let _ = writeln!(self.body, "<pre><code>{}</code></pre>", markup(text));
    }

    /// Short facts, each with its name.
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

    /// Figures side by side, as far as the screen is wide enough.
    pub fn figures(&mut self, figures: impl IntoIterator<Item = Figure>) {
        self.body.push_str("<div class=\"row\">\n");
        for figure in figures {
            self.body.push_str(&figure.in_row());
        }
        self.body.push_str("</div>\n");
    }

    /// Points in space that can be turned with mouse, finger or keys; without scripts and on paper they stand still.
    pub fn cloud(&mut self, cloud: &Scatter3, caption: &str) {
        self.has_cloud = true;
        self.body.push_str(&cloud::html(cloud, caption));
    }

    /// What `content` writes is hidden until the reader opens it.
    pub fn details(&mut self, summary: &str, content: impl FnOnce(&mut Self)) {
        let _ = writeln!(self.body, "<details><summary>{}</summary>", markup(summary));
        content(self);
        self.body.push_str("</details>\n");
    }

    /// The file.
    pub fn html(&self) -> String {
        let title = markup(&self.title);
        let mut html = format!(
            "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
             <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
             <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; img-src data:; \
             style-src 'unsafe-inline'; script-src 'unsafe-inline'\">\n\
             <title>{title}</title>\n<style>\n{}{STYLE}</style>\n</head>\n<body>\n<main>\n<h1>{title}</h1>\n",
            colour::style()
        );
        if !self.lede.is_empty() {
            let _ = writeln!(html, "<p class=\"lede\">{}</p>", markup(&self.lede));
        }
        if self.headings.len() >= CONTENTS {
            html.push_str("<nav aria-label=\"Contents\"><ul>\n");
            for (anchor, text) in &self.headings {
                let _ = writeln!(html, "<li><a href=\"#{anchor}\">{}</a></li>", markup(text));
            }
            html.push_str("</ul></nav>\n");
        }
        html.push_str(&self.body);
        let cloud = if self.has_cloud { CLOUD } else { "" };
        let _ = write!(html, "</main>\n<script>\n{SCRIPT}{cloud}</script>\n</body>\n</html>\n");
        html
    }
}

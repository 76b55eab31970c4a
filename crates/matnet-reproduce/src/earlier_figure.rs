//! Figures of an earlier report, which stay until all runs are finished again.

use std::path::Path;

use matnet_report::page::Figure;

use crate::figure::Drawn;
use crate::folder::FIGURES;

/// A figure of an earlier report.
#[derive(Clone)]
pub struct EarlierFigure {
    /// The title of its table.
    title: String,
    caption: String,
    /// Its file, relative to the report.
    file: String,
}

impl EarlierFigure {
    /// Those of the report in a folder.
    pub fn all(folder: &Path) -> Vec<Self> {
        let text = std::fs::read_to_string(folder.join("results.md")).unwrap_or_default();
        let (mut found, mut title) = (Vec::new(), "");
        for line in text.lines() {
            title = line.strip_prefix("## ").unwrap_or(title);
            let figure = line.strip_prefix("![").and_then(|line| line.strip_suffix(')'));
            let Some((caption, file)) = figure.and_then(|line| line.rsplit_once("](")) else { continue };
            if folder.join(file).is_file() {
                let [title, caption, file] = [title, caption, file].map(str::to_owned);
                found.push(Self { title, caption, file });
            }
        }
        found
    }

    /// Whether it belongs to a table and is not among the figures drawn now.
    pub fn is_kept(&self, title: &str, figures: &[Vec<Drawn>]) -> bool {
        let again = |drawn: &Drawn| drawn.markdown(FIGURES).contains(&format!("]({})", self.file));
        self.title == title && !figures.iter().flatten().any(again)
    }

    /// The figure in Markdown.
    pub fn markdown(&self) -> String {
        format!("![{0}]({1})\n\n{0}\n\n", self.caption, self.file)
    }

    /// The figure for a page (points in space as a picture from one angle); `None` if its file is gone.
    pub fn figure(&self, folder: &Path) -> Option<Figure> {
        let bytes = std::fs::read(folder.join(&self.file)).ok()?;
        Some(match self.file.ends_with(".gif") {
            true => Figure::gif(bytes, &self.caption),
            false => Figure::png(bytes, &self.caption),
        })
    }
}

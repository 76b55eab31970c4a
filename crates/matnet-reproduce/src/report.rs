//! results.md, report.html and the figures of an experiment.

use std::path::Path;

use matnet_cli::failure::Outcome;
use matnet_report::page::{Figure, Page};
use matnet_train::report::write_page;
use matnet_train::write_file;

use crate::experiment::Experiment;
use crate::figure::Drawn;
use crate::folder;
use crate::section::Section;

/// The folder of the figures, relative to the report.
const FIGURES: &str = "figures/";

/// The note above figures of an earlier report.
const EARLIER: &str = "Not drawn from the newest runs: these figures are of an earlier report. The command draws them again when all its runs are finished.";

/// Writes results.md, figures and report.html.
pub fn write(folder: &Path, experiment: &Experiment, notes: &[String], sections: &[Section]) -> Outcome {
    let mut page = Page::new(&experiment.title).with_summary(&experiment.about);
    let mut markdown = format!("{}\n\n{}\n\n", folder::heading(&experiment.title), experiment.about);
    for note in notes {
        page.paragraph(note);
        markdown += &format!("{note}\n\n");
    }
    let figures = folder.join(FIGURES);
    folder::create(&figures)?;
    for (table, section) in experiment.tables.iter().zip(sections) {
        page.heading(&table.title);
        markdown += &format!("## {}\n\n", table.title);
        if !table.about.is_empty() {
            page.paragraph(&table.about);
            markdown += &format!("{}\n\n", table.about);
        }
        section.write(&mut page, &mut markdown);
        for group in &section.figures {
            for drawn in group {
                drawn.write(&figures)?;
                markdown += &drawn.markdown(FIGURES);
            }
            Drawn::show(group, &mut page);
        }
        if !section.earlier.is_empty() {
            page.paragraph(EARLIER);
            markdown += &format!("{EARLIER}\n\n");
        }
        for earlier in &section.earlier {
            markdown += &earlier.markdown();
            earlier.figure(folder).into_iter().for_each(|figure| page.figure(figure));
        }
    }
    write_file(&folder.join("results.md"), markdown.as_bytes())?;
    Ok(write_page(&folder.join("report.html"), &page)?)
}

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

    fn markdown(&self) -> String {
        format!("![{0}]({1})\n\n{0}\n\n", self.caption, self.file)
    }

    /// The figure for a page (points in space as a picture from one angle); `None` if its file is gone.
    fn figure(&self, folder: &Path) -> Option<Figure> {
        let bytes = std::fs::read(folder.join(&self.file)).ok()?;
        Some(match self.file.ends_with(".gif") {
            true => Figure::gif(bytes, &self.caption),
            false => Figure::png(bytes, &self.caption),
        })
    }
}

//! One page about all experiments.

use std::path::{Path, PathBuf};

use matnet_cli::failure::Failure;
use matnet_report::page::Page;
use matnet_train::report::write_page;
use matnet_train::write_file;

use crate::figure::Drawn;
use crate::folder::{self, ALL_TITLE, FIGURES};
use crate::reproduction::Reproduction;
use crate::section::Section;

/// Writes report.html and results.md with the tables and verdicts of all experiments and the first figure of each; returns
/// the path of the page.
pub fn write(folder: &Path, all: &[Reproduction], sections: &[Vec<Section>]) -> Result<PathBuf, Failure> {
    let summary =
        "All tables and claims, and one figure of each experiment; its report has the other figures.";
    let mut page = Page::new(ALL_TITLE).with_summary(summary);
    let mut markdown = format!("{}\n\n{summary}\n\n", folder::heading(ALL_TITLE));
    for (reproduction, sections) in all.iter().zip(sections) {
        let experiment = &reproduction.experiment;
        let target = relative(folder, &reproduction.folder.join("report.html"));
        page.heading(&experiment.title);
        page.paragraph(&experiment.about);
        markdown += &format!("## [{}]({target})\n\n{}\n\n", experiment.title, experiment.about);
        for note in reproduction.notes() {
            page.paragraph(&note);
            markdown += &format!("{note}\n\n");
        }
        page.link(&target, "Report with all figures");
        if let Some(figures) = sections.iter().find_map(|section| section.figures.first()) {
            Drawn::show(figures, &mut page);
            let place = relative(folder, &reproduction.folder.join(FIGURES));
            figures.iter().for_each(|figure| markdown += &figure.markdown(&place));
        }
        for (table, section) in experiment.tables.iter().zip(sections) {
            page.subheading(&table.title);
            markdown += &format!("### {}\n\n", table.title);
            section.write(&mut page, &mut markdown);
        }
    }
    folder::create(folder)?;
    write_file(&folder.join("results.md"), markdown.as_bytes())?;
    let path = folder.join("report.html");
    write_page(&path, &page)?;
    Ok(path)
}

/// A path relative to a folder; both begin at the same place.
fn relative(folder: &Path, file: &Path) -> String {
    let (from, to): (Vec<_>, Vec<_>) = (folder.components().collect(), file.components().collect());
    let shared = from.iter().zip(&to).take_while(|(a, b)| a == b).count();
    let up = from[shared..].iter().map(|_| "..".to_owned());
    let down = to[shared..].iter().map(|part| part.as_os_str().to_string_lossy().into_owned());
    up.chain(down).collect::<Vec<_>>().join("/")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_lead_from_the_page_to_the_reports() {
        let link = |from: &str, to: &str| relative(Path::new(from), Path::new(to));
        assert_eq!(link("runs/all-quick", "runs/eeg-quick/report.html"), "../eeg-quick/report.html");
        assert_eq!(link("/x/y", "/x/y/eeg/report.html"), "eeg/report.html");
    }
}

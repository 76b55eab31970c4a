//! One page about all experiments.

use std::path::{Path, PathBuf};

use matnet_report::page::Page;

use super::figure::Drawn;
use super::folder;
use super::results::Section;
use super::work::Work;
use crate::commands::report;
use crate::failure::Failure;

/// What the page is called.
pub const TITLE: &str = "The paper's experiments";

/// Writes report.html and results.md with the tables and verdicts of all experiments and the first figure of each, and
/// gives the page's path.
pub fn write(folder: &Path, all: &[Work], drawn: &[Vec<Section>]) -> Result<PathBuf, Failure> {
    let lede =
        "Every table and every claim, and a figure of each experiment; the others stand in its report.";
    let mut page = Page::new(TITLE).with_lede(lede);
    let mut markdown = format!("{}\n\n{lede}\n\n", folder::heading(TITLE));
    for (work, sections) in all.iter().zip(drawn) {
        let experiment = &work.experiment;
        let target = relative(folder, &work.folder.join("report.html"));
        page.heading(&experiment.title);
        page.paragraph(&experiment.about);
        markdown += &format!("## [{}]({target})\n\n{}\n\n", experiment.title, experiment.about);
        for note in work.notes() {
            page.paragraph(&note);
            markdown += &format!("{note}\n\n");
        }
        page.link(&target, "Figures and report");
        if let Some(figures) = sections.iter().find_map(|section| section.figures.first()) {
            Drawn::show(figures, &mut page);
            let place = format!("{}/", relative(folder, &work.folder.join("figures")));
            figures.iter().for_each(|figure| markdown += &figure.markdown(&place));
        }
        for (comparison, section) in experiment.tables.iter().zip(sections) {
            page.subheading(&comparison.title);
            markdown += &format!("### {}\n\n", comparison.title);
            section.tell(&mut page, &mut markdown);
        }
    }
    folder::make(folder)?;
    matnet_train::write_file(&folder.join("results.md"), markdown.as_bytes())?;
    let path = folder.join("report.html");
    report::write_page(&path, &page)?;
    Ok(path)
}

/// A path as seen from a folder; both begin at the same place.
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

//! One page about all experiments.

use std::path::{Path, PathBuf};

use matnet_report::page::Page;

use super::work::Work;
use crate::commands::report;
use crate::failure::Failure;

/// Writes report.html and results.md with the tables and verdicts of all experiments, and gives the page's path.
pub fn write(folder: &Path, all: &[Work]) -> Result<PathBuf, Failure> {
    let title = "The paper's experiments";
    let lede = "Every table and every claim; the figures stand in the report of each experiment.";
    let mut page = Page::new(title).with_lede(lede);
    let mut markdown = format!("# {title}\n\n{lede}\n\n");
    for work in all {
        let experiment = &work.experiment;
        let target = relative(folder, &work.folder.join("report.html"));
        page.heading(&experiment.title);
        page.paragraph(&experiment.about);
        markdown += &format!("## [{}]({target})\n\n{}\n\n", experiment.title, experiment.about);
        for note in experiment.stand_in.iter().chain(&work.results.left_out) {
            page.paragraph(note);
            markdown += &format!("{note}\n\n");
        }
        page.link(&target, "Figures and report");
        for (comparison, section) in experiment.tables.iter().zip(work.sections()) {
            page.subheading(&comparison.title);
            markdown += &format!("### {}\n\n", comparison.title);
            section.tell(&mut page, &mut markdown);
        }
    }
    std::fs::create_dir_all(folder)?;
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

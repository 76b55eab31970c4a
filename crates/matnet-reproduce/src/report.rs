//! results.md, report.html and the figures of an experiment.

use std::path::Path;

use matnet_cli::failure::Outcome;
use matnet_report::page::Page;
use matnet_train::report::write_page;
use matnet_train::write_file;

use crate::experiment::Experiment;
use crate::figure::Drawn;
use crate::folder::{self, FIGURES};
use crate::section::Section;

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

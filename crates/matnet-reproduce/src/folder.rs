//! The output folder of an experiment, which must not hold something else.

use std::io::ErrorKind;
use std::path::Path;

use matnet_cli::failure::{Failure, Outcome};

use crate::args::Size;
use crate::files::EXPERIMENTS;

/// The title of the page about all experiments.
pub const ALL_TITLE: &str = "The paper's experiments";

/// The folder of the figures, relative to the report.
pub const FIGURES: &str = "figures";

/// The first line of results.md, which identifies the folder of an experiment.
pub fn heading(title: &str) -> String {
    format!("# {title}")
}

/// Creates a folder, if need be.
pub fn create(folder: &Path) -> Outcome {
    std::fs::create_dir_all(folder).map_err(|error| failed(folder, &error.to_string()))
}

/// Fails if a folder holds other files than the results with this title, which would be overwritten. `has_runs`: runs of the
/// experiment are in it, perhaps with results under an older title.
pub fn check(folder: &Path, title: &str, has_runs: bool) -> Outcome {
    match std::fs::metadata(folder) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(failed(folder, &error.to_string())),
        Ok(found) if !found.is_dir() => return Err(failed(folder, "is a file; a folder expected")),
        Ok(_) => {}
    }
    let figures = folder.join(FIGURES);
    if figures.exists() && !figures.is_dir() {
        return Err(failed(&figures, "is a file; figures go into a folder of this name"));
    }
    let [results, report] = ["results.md", "report.html"].map(|name| folder.join(name));
    let text = std::fs::read(&results).unwrap_or_default();
    let text = String::from_utf8_lossy(&text);
    let first = text.lines().next().unwrap_or_default();
    if first == heading(title) {
        return Ok(());
    }
    if first == heading(ALL_TITLE) || titles().any(|other| first == heading(&other)) {
        let other = first.trim_start_matches("# ");
        return Err(failed(folder, &format!("holds the results of `{other}`; --out names another folder")));
    }
    match [results, report].into_iter().find(|file| file.exists()) {
        Some(file) if !has_runs => {
            Err(failed(&file, "was not written by this experiment; --out names another folder"))
        }
        _ => Ok(()),
    }
}

/// The titles of all experiments.
fn titles() -> impl Iterator<Item = String> {
    EXPERIMENTS.iter().filter_map(|files| Some(files.experiment(Size::Quick).ok()?.title))
}

fn failed(path: &Path, what: &str) -> Failure {
    Failure::Failed(format!("{}: {what}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_folder_of_the_same_experiment_is_written_to() {
        let temporary = tempfile::tempdir().unwrap();
        let folder = temporary.path().join("x");
        let error = |has_runs: bool| match check(&folder, "Mine", has_runs) {
            Ok(()) => String::new(),
            Err(Failure::Failed(what)) => what.replace(&temporary.path().display().to_string(), ""),
            Err(other) => panic!("{other:?}"),
        };
        let write = |name: &str, text: &str| std::fs::write(folder.join(name), text).unwrap();
        assert_eq!(error(false), "");
        create(&folder).unwrap();
        write("notes.txt", "about the runs");
        assert_eq!(error(false), "");
        write("results.md", "# Mine\n\nMore.");
        assert_eq!(error(false), "");
        write("results.md", "# My thesis");
        let own = "/x/results.md: was not written by this experiment; --out names another folder";
        assert_eq!(error(false), own);
        assert_eq!(error(true), "", "the results have an older title");
        write("results.md", "# Digits: very deep nets\n");
        let other = "/x: holds the results of `Digits: very deep nets`; --out names another folder";
        assert_eq!([error(false), error(true)], [other, other]);
        std::fs::remove_file(folder.join("results.md")).unwrap();
        write("report.html", "<p>");
        assert_eq!(error(false), own.replace("results.md", "report.html"));
        write("figures", "");
        assert_eq!(error(true), "/x/figures: is a file; figures go into a folder of this name");
        std::fs::remove_dir_all(&folder).unwrap();
        std::fs::write(&folder, "").unwrap();
        assert_eq!(error(false), "/x: is a file; a folder expected");
    }
}

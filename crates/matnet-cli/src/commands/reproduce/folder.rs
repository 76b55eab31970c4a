//! Whether a folder is one to write an experiment into.

use std::io::ErrorKind;
use std::path::Path;

use super::experiment::EXPERIMENTS;
use super::index;
use crate::cli::Size;
use crate::failure::{Failure, Outcome};

/// The first line of the results of an experiment, by which its folder is known again.
pub fn heading(title: &str) -> String {
    format!("# {title}")
}

/// Makes a folder, if need be.
pub fn make(folder: &Path) -> Outcome {
    std::fs::create_dir_all(folder).map_err(|error| about(folder, &error.to_string()))
}

/// Fails if a folder holds something else than the results with this title, which writing would destroy. `has_runs` says
/// that runs of the experiment stand in it, as they may with a title that was another once.
pub fn check(folder: &Path, title: &str, has_runs: bool) -> Outcome {
    match std::fs::metadata(folder) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(about(folder, &error.to_string())),
        Ok(found) if !found.is_dir() => return Err(about(folder, "is a file; a folder expected")),
        Ok(_) => {}
    }
    let figures = folder.join("figures");
    if figures.exists() && !figures.is_dir() {
        return Err(about(&figures, "is a file; figures go into a folder of this name"));
    }
    let [results, report] = ["results.md", "report.html"].map(|name| folder.join(name));
    let text = std::fs::read(&results).unwrap_or_default();
    let text = String::from_utf8_lossy(&text);
    let first = text.lines().next().unwrap_or_default();
    if first == heading(title) {
        return Ok(());
    }
    if first == heading(index::TITLE) || titles().any(|other| first == heading(&other)) {
        let other = first.trim_start_matches("# ");
        return Err(about(folder, &format!("holds the results of `{other}`; --out chooses another folder")));
    }
    match [results, report].into_iter().find(|file| file.exists()) {
        Some(file) if !has_runs => {
            Err(about(&file, "was not written by this experiment; --out chooses another folder"))
        }
        _ => Ok(()),
    }
}

/// The titles of all experiments.
fn titles() -> impl Iterator<Item = String> {
    EXPERIMENTS.iter().filter_map(|files| Some(files.experiment(Size::Quick).ok()?.title))
}

fn about(path: &Path, what: &str) -> Failure {
    Failure::Failed(format!("{}: {what}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_folder_of_the_same_experiment_is_written_into() {
        let temporary = tempfile::tempdir().unwrap();
        let folder = temporary.path().join("x");
        let said = |has_runs: bool| match check(&folder, "Mine", has_runs) {
            Ok(()) => String::new(),
            Err(Failure::Failed(what)) => what.replace(&temporary.path().display().to_string(), ""),
            Err(other) => panic!("{other:?}"),
        };
        let write = |name: &str, text: &str| std::fs::write(folder.join(name), text).unwrap();
        assert_eq!(said(false), "");
        make(&folder).unwrap();
        write("notes.txt", "about the runs");
        assert_eq!(said(false), "");
        write("results.md", "# Mine\n\nMore.");
        assert_eq!(said(false), "");
        write("results.md", "# My thesis");
        let own = "/x/results.md: was not written by this experiment; --out chooses another folder";
        assert_eq!(said(false), own);
        assert_eq!(said(true), "", "the title was another once");
        write("results.md", "# Digits: very deep nets\n");
        let other = "/x: holds the results of `Digits: very deep nets`; --out chooses another folder";
        assert_eq!([said(false), said(true)], [other, other]);
        std::fs::remove_file(folder.join("results.md")).unwrap();
        write("report.html", "<p>");
        assert_eq!(said(false), own.replace("results.md", "report.html"));
        write("figures", "");
        assert_eq!(said(true), "/x/figures: is a file; figures go into a folder of this name");
        std::fs::remove_dir_all(&folder).unwrap();
        std::fs::write(&folder, "").unwrap();
        assert_eq!(said(false), "/x: is a file; a folder expected");
    }
}

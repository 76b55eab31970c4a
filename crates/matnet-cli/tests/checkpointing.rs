//! `train.checkpointing`: the same training in less memory.

mod common;

use std::path::Path;

use common::{
    COPY, FRAMES, PAPERS, SMALL, VOWELS, folder_with, ok, run, same_when_extended, same_when_killed,
};

const ON: [&str; 2] = ["--set", "train.checkpointing=true"];

fn metrics(run: &Path) -> String {
    std::fs::read_to_string(run.join("metrics.csv")).unwrap()
}

#[test]
fn checkpointing_changes_no_bit() {
    let deep = SMALL.replace("hidden = [3, 3]", "hidden = [3, 3]\ndepth = 40");
    let norm =
        SMALL.replace("hidden = [3, 3]", "hidden = [3, 3]\ndepth = 4\nbatch_norm = true\ndropout = 0.1");
    let highway = SMALL.replace("hidden = [3, 3]", "hidden = [3, 3]\ndepth = 4\nskip = 'highway'");
    let layers = VOWELS.replace("hidden = [4, 3]", "hidden = [4, 3]\nlayers = 2\nbidirectional = true");
    let vector = VOWELS.replace("hidden = [4, 3]", "form = 'vector'\nhidden = [6]\ncell = 'gru'");
    let averaged = SMALL.replace("[train]", "[train]\nema_decay = 0.9\nl2 = 0.001\nshards = 2");
    for config in [SMALL, &deep, &norm, &highway, VOWELS, &layers, &vector, FRAMES, PAPERS, COPY, &averaged] {
        let (_guard, folder) = folder_with(config);
        ok(&folder, &["train", "digits.toml", "-q", "--out", "without"]);
        ok(&folder, &[&["train", "digits.toml", "-q", "--out", "with"], &ON[..]].concat());
        assert_eq!(metrics(&folder.join("without")), metrics(&folder.join("with")), "{config}");
    }
}

#[test]
fn a_run_with_checkpointing_goes_on_exactly() {
    let (_guard, folder) = folder_with(SMALL);
    same_when_extended(&folder, &[&["digits.toml"], &ON[..]].concat());
    same_when_killed(&folder, &[&["digits.toml"], &ON[..]].concat(), 30);
}

#[test]
fn where_nothing_is_computed_again_it_is_refused() {
    let vector = SMALL.replace("hidden = [3, 3]", "form = 'vector'\nhidden = [9]");
    let attention = PAPERS.replace("hidden = 5", "hidden = 5\naggregation = 'attention'");
    let gcn = "[data]\nsource = 'citations'\n[model]\nkind = 'gcn'\nhidden = [4]\n[train]\nepochs = 2\n";
    for config in [&vector, &attention, gcn] {
        let (_guard, folder) = folder_with(config);
        let (code, out, err) = run(&folder, &[&["train", "digits.toml"], &ON[..]].concat());
        assert_eq!((code, out.as_str()), (2, ""), "{err}");
        let said =
            "train.checkpointing: true; the layers of this net keep nothing that could be computed again";
        assert!(err.contains(said), "{err}");
        assert_eq!(err.lines().count(), 1, "{err}");
        assert!(!folder.join("runs").exists());
    }
}

//! `train.saved_activations`: nearly the same training in less memory.

mod common;

use common::{
    COPY, FRAMES, PAPERS, SMALL, VOWELS, folder_with, losses, ok, run, same, same_on_any_number_of_threads,
    same_when_extended, same_when_killed,
};

const ON: [&str; 2] = ["--set", "train.saved_activations=\"bf16\""];

#[test]
fn rounded_activations_give_nearly_the_same_losses() {
    let deep = SMALL.replace("hidden = [3, 3]", "hidden = [6, 6]\ndepth = 10\nactivation = 'tanh'");
    let norm = SMALL.replace("hidden = [3, 3]", "hidden = [3, 3]\ndepth = 4\nbatch_norm = true");
    let highway = SMALL.replace("hidden = [3, 3]", "hidden = [3, 3]\ndepth = 4\nskip = 'highway'");
    let vector = VOWELS.replace("hidden = [4, 3]", "form = 'vector'\nhidden = [6]\ncell = 'gru'");
    let sharded = SMALL.replace("[train]", "[train]\nshards = 2");
    for config in [SMALL, &deep, &norm, &highway, VOWELS, &vector, FRAMES, PAPERS, COPY, &sharded] {
        let (_guard, folder) = folder_with(config);
        ok(&folder, &["train", "digits.toml", "-q", "--out", "without"]);
        ok(&folder, &[&["train", "digits.toml", "-q", "--out", "with"], &ON[..]].concat());
        // It is the default, and not written down.
        let off = ["--set", "train.saved_activations=\"32\""];
        ok(&folder, &[&["train", "digits.toml", "-q", "--out", "off"], &off[..]].concat());
        same(&folder.join("without"), &folder.join("off"));
        let (with, without) = (losses(&folder.join("with")), losses(&folder.join("without")));
        assert_ne!(with, without, "{config}");
        assert_eq!(with.len(), without.len());
        for (with, without) in with.iter().zip(&without) {
            assert!((with - without).abs() < 0.02 * without, "{with}, in 32 bits {without}: {config}");
        }
    }
}

#[test]
fn a_run_with_rounded_activations_goes_on_exactly_with_any_number_of_threads() {
    for config in [SMALL, VOWELS] {
        let (_guard, folder) = folder_with(config);
        same_on_any_number_of_threads(&folder, &[&["digits.toml"], &ON[..]].concat());
    }
    let (_guard, folder) = folder_with(SMALL);
    same_when_extended(&folder, &[&["digits.toml"], &ON[..]].concat());
    same_when_killed(&folder, &[&["digits.toml"], &ON[..]].concat(), 30);
}

#[test]
fn where_nothing_is_rounded_it_is_refused() {
    let vector = SMALL.replace("hidden = [3, 3]", "form = 'vector'\nhidden = [9]");
    let attention = PAPERS.replace("hidden = 5", "hidden = 5\naggregation = 'attention'");
    let nothing = "32, since the layers of this net save nothing that could be rounded";
    let checkpointing = SMALL.replace("[train]", "[train]\ncheckpointing = true");
    let half = SMALL.replace("[train]", "[train]\nprecision = '16-mixed'");
    for (config, said) in [
        (&vector, nothing),
        (&attention, nothing),
        (&checkpointing, "32, since train.checkpointing saves no activations"),
        (&half, "32, since train.precision makes all activations those of 16 bits"),
    ] {
        let (_guard, folder) = folder_with(config);
        let (code, out, err) = run(&folder, &[&["train", "digits.toml"], &ON[..]].concat());
        assert_eq!((code, out.as_str()), (2, ""), "{err}");
        assert!(err.contains(&format!("train.saved_activations: bf16; {said}")), "{err}");
        assert_eq!(err.lines().count(), 1, "{err}");
        assert!(!folder.join("runs").exists());
    }
}

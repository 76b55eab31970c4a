//! `train.precision`: training in 16 bits.

mod common;

use common::{FRAMES, SMALL, VOWELS, folder_with, losses, ok, run, same, same_when_extended};

#[test]
fn sixteen_bits_give_nearly_the_losses_of_thirty_two() {
    for config in [SMALL, VOWELS, FRAMES] {
        let (_guard, folder) = folder_with(config);
        let train = |precision: &str| {
            let key = format!("train.precision=\"{precision}\"");
            ok(&folder, &["train", "digits.toml", "-q", "--out", precision, "--set", &key]);
            losses(&folder.join(precision))
        };
        ok(&folder, &["train", "digits.toml", "-q", "--out", "plain"]);
        let full = train("32");
        // It is the default, and not written down.
        same(&folder.join("plain"), &folder.join("32"));
        for (precision, close) in [("16-mixed", 0.01), ("bf16-mixed", 0.05)] {
            let low = train(precision);
            assert_eq!(low.len(), full.len());
            for (low, full) in low.iter().zip(&full) {
                assert!((low - full).abs() < close * full, "{precision}: {low}, in 32 bits {full}");
            }
            assert_ne!(low, full, "{precision} computes in 32 bits");
            // Weights and evaluation are in 32 bits.
            ok(&folder, &["eval", precision]);
        }
    }
}

#[test]
fn a_run_in_sixteen_bits_goes_on_exactly() {
    let (_guard, folder) = folder_with(SMALL);
    same_when_extended(&folder, &["digits.toml", "--set", "train.precision=\"16-mixed\""]);
}

#[test]
fn what_cannot_be_trained_in_sixteen_bits_says_so() {
    let machine = "
[data]
source = 'copy'
length = [1, 5]
[model]
kind = 'turing-machine'
form = 'vector'
hidden = [8]
[train]
precision = '16-mixed'
";
    let norm = SMALL.replace("hidden = [3, 3]", "hidden = [3, 3]\nbatch_norm = true");
    let norm = norm.replace("[train]", "[train]\nprecision = 'bf16-mixed'");
    let word = SMALL.replace("[train]", "[train]\nprecision = 'half'");
    for (config, said) in [
        (machine, "only nets on samples can be trained in 16 bits"),
        (&norm, "train.precision: bf16-mixed; batch norm computes in 32 bits; leave it out, or train in 32"),
        (&word, "train.precision: "),
    ] {
        let (_guard, folder) = folder_with(config);
        let (code, out, err) = run(&folder, &["train", "digits.toml"]);
        assert_eq!((code, out.as_str()), (2, ""), "{err}");
        assert!(err.contains(said), "{err}");
        assert_eq!(err.lines().count(), 1, "{err}");
        assert!(!folder.join("runs").exists());
    }
}

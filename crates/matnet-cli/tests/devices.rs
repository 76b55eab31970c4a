//! `matnet devices`, and runs that resume elsewhere.

mod common;

use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};

use common::{SMALL, folder_with, matnet, ok, process};

#[test]
fn devices_are_listed() {
    let (_guard, folder) = folder_with(SMALL);
    let (out, err) = ok(&folder, &["devices"]);
    assert!(err.is_empty(), "{err}");
    let lines: Vec<&str> = out.lines().collect();
    assert!(lines[0].starts_with("flex      the CPU, "), "{out}");
    assert!(lines[0].ends_with("; f32, f16, bf16"), "{out}");
    for backend in ["wgpu", "cuda", "rocm"] {
        let line = lines.iter().find(|line| line.starts_with(backend)).expect(backend);
        if matnet::device::gpus(backend).is_none() {
            let hint = format!("not in this build; `cargo build --release --features {backend}` adds it");
            assert_eq!(*line, format!("{backend:8}  {hint}"));
        }
    }
}

/// The level that MATNET_SIMD can lower to, and its name.
fn level() -> (String, String) {
    let level = matnet::simd_level();
    let name = level.split(' ').next().expect("a name").to_owned();
    (level, name)
}

/// What a command says with another instruction set.
fn said(simd: &str, mut command: Command) -> String {
    let (code, _, err) = process::output({
        command.env("MATNET_SIMD", simd);
        command
    });
    assert_eq!(code, 0, "{err}");
    err
}

fn warning() -> String {
    format!("the run was on flex ({}) and resumes on flex (portable); ", level().0)
}

#[test]
fn a_run_that_goes_on_with_another_instruction_set_says_so_however_quiet() {
    let (_guard, folder) = folder_with(SMALL);
    let train = |simd: &str, epochs: &str, more: &[&str]| {
        let args = [&["train", "digits.toml", "--out", "x", "--epochs", epochs], more].concat();
        said(simd, matnet(&folder, &args))
    };
    // Whatever the CPU has, it can do with less.
    let (level, name) = level();
    let portable = name == "portable";
    assert!(!train(&name, "2", &[]).contains("warning"));
    assert!(!train(&name, "3", &[]).contains("warning"));
    let back = format!("warning: the run was on flex (portable) and resumes on flex ({level}); ");
    let there = format!("warning: {}", warning());
    assert_eq!(train("portable", "4", &[]).contains(&there), !portable);
    assert_eq!(train(&name, "5", &["-q"]).contains(&back), !portable);
    assert_eq!(train("portable", "6", &["-q"]).lines().count(), usize::from(!portable));
}

/// Kills a command once it has said these words.
fn kill_when(mut command: Command, words: &str) {
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    let lines = BufReader::new(child.stderr.take().unwrap()).lines();
    assert!(lines.map_while(Result::ok).any(|line| line.contains(words)), "{words} was not said");
    child.kill().unwrap();
    child.wait().unwrap();
}

#[test]
fn comparisons_and_searches_that_go_on_elsewhere_say_so_however_quiet() {
    let search = format!("{SMALL}\n[search]\n'train.learning_rate' = [1e-4, 2e-4, 3e-4, 4e-4]\n");
    let (_guard, folder) = folder_with(&search);
    let set = ["--set", "train.epochs=45", "--save-every", "0"];
    for (args, words) in [
        (&["compare", "digits.toml", "--seeds", "1", "--out", "c"][..], "epoch 1/45"),
        (&["tune", "digits.toml", "--trials", "4", "--out", "t"][..], "rung 2 of "),
    ] {
        let args = [args, &set].concat();
        kill_when(matnet(&folder, &args), words);
        let err = said("portable", matnet(&folder, &[&args[..], &["-q"]].concat()));
        let expected = usize::from(level().1 != "portable");
        assert_eq!(err.matches(&warning()).count(), expected, "{args:?}: {err}");
    }
}

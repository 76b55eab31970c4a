//! `matnet devices`, and runs that resume elsewhere.

mod common;

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

#[test]
fn a_run_that_goes_on_with_another_instruction_set_says_so() {
    let (_guard, folder) = folder_with(SMALL);
    let train = |simd: &str, epochs: &str| {
        let mut command = matnet(&folder, &["train", "digits.toml", "--out", "x", "--epochs", epochs]);
        command.env("MATNET_SIMD", simd);
        let (code, _, err) = process::output(command);
        assert_eq!(code, 0, "{err}");
        err
    };
    // Whatever the CPU has, it can do with less.
    let level = matnet::simd_level();
    let name = level.split(' ').next().expect("a name");
    assert!(!train(name, "2").contains("warning"));
    assert!(!train(name, "3").contains("warning"));
    let said = train("portable", "4");
    let warning = format!("warning: the run was on flex ({level}) and resumes on flex (portable); ");
    assert_eq!(said.contains(&warning), name != "portable", "{said}");
}

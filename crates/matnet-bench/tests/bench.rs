//! `matnet-bench` from outside: what it prints, and its exit codes.

use assert_cmd::Command;
use assert_cmd::cargo::cargo_bin;
use predicates::prelude::*;
use predicates::str::{contains, is_match};

fn bench() -> Command {
    Command::new(cargo_bin!("matnet-bench"))
}

#[test]
fn a_row_is_timed() {
    let line =
        is_match(r"(?m)^g-ff +[0-9.]+ ms +[0-9.]+ % of sgemm +[0-9]+ MiB  inference of \(a\), one sample$")
            .unwrap();
    bench().arg("g-ff").assert().success().stdout(line.and(contains("GFLOP/s")));
}

#[test]
fn activations_can_be_saved_in_fewer_bits() {
    let line = is_match(r"(?m)^b20 +[0-9.]+ ms +[0-9.]+ % of sgemm +[0-9]+ MiB  feed-forward").unwrap();
    bench().args(["b20", "--saved-activations", "bf16"]).assert().success().stdout(line.clone());
    bench().args(["b20", "--saved-activations", "none"]).assert().success().stdout(line);
    bench()
        .args(["b20", "--saved-activations", "16"])
        .assert()
        .code(2)
        .stderr(contains("[possible values: 32, bf16, none]"));
}

#[test]
fn an_unknown_row_lists_those_there_are() {
    let message = "error: no row begins with zebra; there are a, b20, b150, c, d-gru";
    bench().arg("zebra").assert().code(2).stdout("").stderr(contains(message));
}

#[test]
fn a_worker_responds_line_by_line_and_survives_nonsense() {
    let requests = "{\"do\": \"info\"}\nnonsense\n{\"do\": \"run\", \"repeats\": 1}\n";
    let responses = contains("\"threads\"").and(contains("\"error\"")).and(contains("no row is loaded"));
    bench().arg("--worker").write_stdin(requests).assert().success().stdout(responses);
}

#[test]
fn help_has_an_example() {
    bench().arg("--help").assert().success().stdout(contains("matnet-bench a c g"));
}

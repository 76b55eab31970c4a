//! Every file operation of a fetch fails in turn. Whatever happens, no wrong file stands under a real name, what was there before is
//! still there, and the same fetch then succeeds.
//!
//! A process has one fault, from its environment; so each fetch is a process of its own: this test binary with one test selected.

#[allow(dead_code)] // Its faulty answers are for other tests.
mod server;

use std::ops::ControlFlow;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use matnet_data::catalog::{Check, DatasetFile, FetchOptions, fetch_file};
use server::{Server, honest};
use sha2::{Digest, Sha256};

/// What stands under the real name before one of the fetches.
const DAMAGED: &[u8] = b"damaged";

fn content() -> Vec<u8> {
    (0..300_000u32).map(|i| (i.wrapping_mul(2_654_435_761) >> 24) as u8).collect()
}

/// The fetch of a child process; without its variables it is nothing.
#[test]
fn child() {
    let (Ok(url), Ok(folder)) = (std::env::var("TEST_URL"), std::env::var("TEST_FOLDER")) else { return };
    let size = content().len() as u64;
    let sha256 = Sha256::digest(content()).iter().map(|byte| format!("{byte:02x}")).collect();
    let checks = match std::env::var("TEST_CHECK").as_deref() {
        Ok("first-seen") => vec![Check::FirstSeen],
        _ => vec![Check::File { sha256, size }],
    };
    let file = DatasetFile { name: "file.bin".into(), urls: vec![url], checks, max_bytes: size };
    let options = FetchOptions {
        timeout: Duration::from_secs(10),
        min_bytes: 1,
        attempts: 1,
        retry_delay: Duration::from_millis(1),
    };
    if let Err(error) = fetch_file(&file, Path::new(&folder), &options, &mut |_| ControlFlow::Continue(())) {
        println!("<error>{error}</error>");
    }
}

/// Fetches in a process of its own, with a fault; the error, if there was one, and whether the fault was reached.
fn fetch(url: &str, folder: &Path, check: &str, fault: Option<String>) -> (Option<String>, bool) {
    let logs = tempfile::tempdir().unwrap();
    let log = logs.path().join("fault");
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", "child", "--nocapture"]);
    command.env("TEST_URL", url).env("TEST_FOLDER", folder).env("TEST_CHECK", check);
    if let Some(fault) = fault {
        command.env("MATNET_FAIL_AT", fault).env("MATNET_FAULT_LOG", &log);
    }
    let output = command.output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{text}{}", String::from_utf8_lossy(&output.stderr));
    let error = text.split_once("<error>").and_then(|(_, error)| error.split_once("</error>"));
    (error.map(|(error, _)| error.to_owned()), log.exists())
}

fn names(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).unwrap();
    let mut names: Vec<_> = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

/// Fails each operation of a fetch in turn, in a folder that `prepare` has filled; how many operations there are.
fn fail_each(check: &str, prepare: impl Fn(&Path, &str), left: &[&str]) -> usize {
    let server = Server::start((0..200).map(|_| honest(&content(), "a")).collect());
    for operation in 1.. {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("other.bin"), "whole").unwrap();
        prepare(folder.path(), &server.url);
        let kind = if operation % 2 == 0 { "permission" } else { "space" };
        let (error, reached) = fetch(&server.url, folder.path(), check, Some(format!("{operation}:{kind}")));
        assert_eq!(error.is_some(), reached, "operation {operation}: {error:?}");
        let file = folder.path().join("file.bin");
        if let Some(error) = &error {
            assert!(error.contains("(injected)"), "{operation}: {error}");
            assert!(error.starts_with(&folder.path().display().to_string()), "{operation}: {error}");
            assert_eq!(error.lines().count(), 1, "{operation}: {error}");
        }
        if let Ok(bytes) = std::fs::read(&file) {
            assert!(bytes == content() || bytes == DAMAGED, "operation {operation}: a wrong file");
        }
        let again = fetch(&server.url, folder.path(), check, None).0;
        assert_eq!(again, None, "after operation {operation}");
        assert!(std::fs::read(&file).unwrap() == content(), "after operation {operation}");
        assert_eq!(names(folder.path()), left, "after operation {operation}");
        assert_eq!(std::fs::read(folder.path().join("other.bin")).unwrap(), b"whole");
        if !reached {
            println!("{check}: each of {} file operations failed in turn", operation - 1);
            return operation - 1;
        }
    }
    unreachable!()
}

#[test]
fn a_new_file() {
    let operations = fail_each("sha256", |_, _| {}, &["file.bin", "other.bin"]);
    assert!(operations >= 10, "{operations} operations");
}

#[test]
fn a_file_whose_checksum_is_recorded() {
    let left = ["file.bin", "file.bin.sha256", "other.bin"];
    let operations = fail_each("first-seen", |_, _| {}, &left);
    assert!(operations >= 14, "{operations} operations");
}

#[test]
fn a_download_that_is_resumed() {
    let prepare = |folder: &Path, url: &str| {
        std::fs::write(folder.join("file.bin.part"), &content()[..100_000]).unwrap();
        std::fs::write(folder.join("file.bin.part.from"), format!("{url}\n\"a\"\n")).unwrap();
    };
    let operations = fail_each("sha256", prepare, &["file.bin", "other.bin"]);
    assert!(operations >= 7, "{operations} operations");
}

#[test]
fn a_damaged_file_that_is_replaced() {
    let prepare = |folder: &Path, _: &str| std::fs::write(folder.join("file.bin"), DAMAGED).unwrap();
    fail_each("sha256", prepare, &["file.bin", "other.bin"]);
}

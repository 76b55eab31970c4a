//! `matnet data`: its output and its exit codes.

use std::path::Path;
use std::process::Stdio;

use assert_cmd::Command;
use predicates::prelude::*;
use predicates::str::{contains, is_match, starts_with};

/// The command with a cache folder of its own, and without network.
fn matnet(cache: &Path) -> Command {
    let mut command = Command::cargo_bin("matnet").unwrap();
    command.env("MATNET_DATA", cache);
    // A proxy that nobody runs: no test may reach the real servers.
    for proxy in ["http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "all_proxy"] {
        command.env(proxy, "http://127.0.0.1:9");
    }
    command.env_remove("NO_PROXY").env_remove("no_proxy");
    command
}

fn folder() -> tempfile::TempDir {
    tempfile::tempdir().unwrap()
}

/// Three 2×2 matrices as a `.npy` file.
fn npy() -> Vec<u8> {
    let head =
        format!("{{'descr': '<f4', 'fortran_order': False, 'shape': (3, 2, 2), }}{}\n", " ".repeat(53));
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    bytes.extend((head.len() as u16).to_le_bytes());
    bytes.extend(head.as_bytes());
    (0..12).for_each(|i| bytes.extend((i as f32).to_le_bytes()));
    bytes
}

#[test]
fn every_help_has_an_example() {
    let here = folder();
    for words in
        [&[][..], &["data"], &["data", "list"], &["data", "fetch"], &["data", "verify"], &["data", "show"]]
    {
        let run = matnet(here.path()).args(words).arg("--help").assert().success();
        run.stdout(is_match("(?m)^Examples?:\n  matnet ").unwrap());
    }
}

#[test]
fn wrong_usage_exits_with_2() {
    let here = folder();
    let wrong = |words: &[&str]| matnet(here.path()).args(words).assert().code(2);
    wrong(&[]).stderr(contains("Usage: matnet"));
    wrong(&["dance"]).stderr(contains("unrecognized subcommand 'dance'"));
    wrong(&["data", "fetch"]).stderr(contains("required arguments were not provided"));
    wrong(&["data", "fetch", "mnist", "--timeout", "0"]).stderr(contains("0 is not in 1..=3600"));
    wrong(&["data", "fetch", "--all", "mnist"]).stderr(contains("cannot be used with"));
    wrong(&["data", "show", "digits", "--samples", "0"]).stderr(contains("0 is not in 1..=100"));
}

#[test]
fn unknown_names_exit_with_2_and_the_nearest_is_suggested() {
    let here = folder();
    for verb in ["list", "fetch", "verify"] {
        let run = matnet(here.path()).args(["data", verb, "minst"]).assert().code(2);
        run.stderr("error: no dataset is called `minst`, did you mean `mnist`?\n");
    }
    let run = matnet(here.path()).args(["data", "show", "minst"]).assert().code(2);
    run.stderr(
        "error: no dataset is called `minst`, did you mean `mnist`?; and there is no file of that name\n",
    );
}

#[test]
fn list_says_what_is_available() {
    let here = folder();
    std::fs::create_dir(here.path().join("frey-face")).unwrap();
    std::fs::write(here.path().join("frey-face/frey_rawface.mat"), "x").unwrap();
    let run = matnet(here.path()).args(["data", "list"]).assert().success();
    run.stdout(
        is_match("(?m)^optdigits +built in")
            .unwrap()
            .and(is_match("(?m)^digits +available").unwrap())
            .and(is_match("(?m)^frey-face +available").unwrap())
            .and(is_match("(?m)^moving-mnist +generated").unwrap())
            .and(is_match("(?m)^mnist +to fetch").unwrap()),
    );
    let run = matnet(here.path()).args(["data", "list", "--long", "mnist"]).assert().success();
    run.stdout(
        contains("terms  commonly given as CC BY-SA 3.0")
            .and(contains("44.9 MiB unpacked, SHA-256 of that ba89")),
    );
}

#[test]
fn the_option_takes_precedence_over_the_variable() {
    let (here, there) = (folder(), folder());
    let run = matnet(here.path()).args(["data", "list", "--cache"]).arg(there.path()).assert().success();
    run.stdout(predicates::str::ends_with(format!("cache: {}\n", there.path().display())));
}

#[test]
fn show_describes_datasets() {
    let here = folder();
    let run = matnet(here.path()).args(["data", "show", "vowels"]).assert().success();
    run.stdout(
        starts_with("vowels: 640 recordings")
            .and(contains("samples  640 sequences of 29 matrices 12×1\n"))
            .and(contains("test     370 samples are the official test split\n"))
            .and(contains("note     sequences have 7 to 29 steps and are padded with zeros to 29\n")),
    );
    let run = matnet(here.path()).args(["data", "show", "digits"]).assert().success();
    run.stdout(
        starts_with("digits: 5,000 handwritten digits")
            .and(contains(
                "samples  5,000 matrices 28×28\nrange    0 to 1, mean 0.1313, s.d. 0.3086\nclasses  10\n",
            ))
            .and(contains("▀").not()),
    );
    let run = matnet(here.path()).args(["data", "show", "citations"]).assert().success();
    run.stdout(contains("5,429 as stored, undirected").and(contains("5,278 distinct pairs")));
    let run = matnet(here.path()).args(["data", "show", "simulated-eeg", "--seed", "3"]).assert().success();
    run.stdout(contains("note     simulated from seed 3, not measured"));
}

#[test]
fn show_writes_pictures() {
    let here = folder();
    for name in ["digits", "motions", "citations"] {
        let png = here.path().join(name).with_extension("png");
        let run =
            matnet(here.path()).args(["data", "show", name, "--samples", "3", "--png"]).arg(&png).assert();
        run.success().stdout(contains(format!("picture  {} (", png.display())));
        let image = image::open(&png).unwrap();
        assert!(image.width() > 100 && image.height() > 100, "{name}");
    }
    let run = matnet(here.path()).args(["data", "show", "faces", "--png", "no/such/folder/x.png"]).assert();
    run.code(1).stderr(starts_with("error: no/such/folder/x.png: "));
    assert_eq!(std::fs::read_dir(here.path()).unwrap().count(), 3, "nothing else is left behind");
}

#[test]
fn show_reads_your_own_file() {
    let here = folder();
    let mine = here.path().join("mine.npy");
    std::fs::write(&mine, npy()).unwrap();
    let run = matnet(here.path()).args(["data", "show"]).arg(&mine).assert().success();
    run.stdout(contains("samples  3 matrices 2×2\nrange    0 to 11, mean 5.5, s.d. 3.452\n"));

    std::fs::write(&mine, &npy()[..150]).unwrap();
    let run = matnet(here.path()).args(["data", "show"]).arg(&mine).assert().code(1);
    run.stderr(starts_with(format!("error: {}: ", mine.display())));
}

#[test]
fn show_says_how_to_get_what_is_missing() {
    let here = folder();
    let run = matnet(here.path()).args(["data", "show", "linqs-cora"]).assert().code(1);
    let root = here.path().display();
    run.stderr(format!(
        "error: linqs-cora is not in {root}: run `matnet data fetch linqs-cora`, or by hand:\n  \
         download https://linqs-data.soe.ucsc.edu/public/lbc/cora.tgz\n  \
         and put it at {}\n",
        here.path().join("linqs-cora").join("cora.tgz").display()
    ));
}

#[test]
fn fetch_without_a_network_says_what_to_do_by_hand() {
    let here = folder();
    let run = matnet(here.path()).args(["data", "fetch", "linqs-cora"]).assert().code(1);
    let place = here.path().join("linqs-cora").join("cora.tgz");
    let by_hand = format!(
        "by hand:\n  download https://linqs-data.soe.ucsc.edu/public/lbc/cora.tgz\n  and put it at {}\n",
        place.display()
    );
    run.stderr(
        contains("error: could not fetch cora.tgz:\n  https://linqs-data.soe.ucsc.edu/public/lbc/cora.tgz: ")
            .and(predicates::str::ends_with(by_hand)),
    );
    assert!(!place.exists());
}

#[test]
fn one_server_that_is_down_does_not_stop_the_others() {
    let here = folder();
    let run = matnet(here.path()).args(["data", "fetch", "linqs-cora", "optdigits"]).assert().code(1);
    run.stdout("optdigits: nothing to fetch\n")
        .stderr(predicates::str::ends_with("error: 1 of 2 datasets could not be fetched\n"));
}

#[test]
fn fetch_downloads_nothing_that_is_there() {
    let here = folder();
    let run = matnet(here.path()).args(["data", "fetch", "optdigits"]).assert().success();
    run.stdout("optdigits: nothing to fetch\n");
    // A file of the repository is used where it is, which is not the cache.
    let run = matnet(here.path()).args(["data", "fetch", "digits"]).assert().success();
    run.stdout(
        is_match("^digits: 1 file in .*data, verified\n$")
            .unwrap()
            .and(contains(here.path().display().to_string()).not()),
    )
    .stderr("digits: digits.npz is already there\n");
}

#[test]
fn verify_finds_mismatches() {
    let here = folder();
    let run = matnet(here.path()).args(["data", "verify"]).assert().success();
    run.stdout("0 files verified\n");
    let run = matnet(here.path()).args(["data", "verify", "optdigits"]).assert().success();
    run.stdout("built in    optdigits\n0 files verified\n");
    let run = matnet(here.path()).args(["data", "verify", "cora"]).assert().code(1);
    run.stderr(format!("error: not in {}: cora\n", here.path().display()));

    std::fs::create_dir(here.path().join("planetoid")).unwrap();
    let file = here.path().join("planetoid").join("ind.cora.y");
    std::fs::write(&file, "half").unwrap();
    let run = matnet(here.path()).args(["data", "verify"]).assert().code(1);
    run.stdout(format!("mismatch    {}: is 4 bytes, not 4054\n", file.display()))
        .stderr("error: 1 file with a mismatch: remove and fetch again\n");
}

#[test]
fn a_closed_pipe_is_success() {
    let here = folder();
    let mut child = std::process::Command::new(env!("CARGO_BIN_EXE_matnet"))
        .args(["data", "list", "--long"])
        .env("MATNET_DATA", here.path())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert_eq!((output.status.code(), output.stderr.as_slice()), (Some(0), &b""[..]));
}

/// A server that accepts and sends nothing: the fetch waits, and is interrupted.
#[cfg(unix)]
#[test]
fn an_interrupt_exits_with_130() {
    let here = folder();
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let proxy = format!("http://{}", listener.local_addr().unwrap());
    let child = std::process::Command::new(env!("CARGO_BIN_EXE_matnet"))
        .args(["data", "fetch", "linqs-cora", "--timeout", "1"])
        .env("MATNET_DATA", here.path())
        .envs(
            ["http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"]
                .map(|name| (name, &proxy)),
        )
        .env_remove("NO_PROXY")
        .env_remove("no_proxy")
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let (_stream, _) = listener.accept().unwrap();
    let kill = std::process::Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    assert!(kill.success());
    let output = child.wait_with_output().unwrap();
    let errors = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(130), "{errors}");
    assert!(errors.ends_with("interrupted; the same command resumes from here\n"), "{errors}");
}

/// Where the real files are: all of them are verified, and a fetch needs no network.
#[test]
fn real_files_are_used_as_they_are() {
    let Some(root) = std::env::var_os("MATNET_DATA") else {
        println!("SKIPPED: real_files_are_used_as_they_are: MATNET_DATA is not set");
        return;
    };
    let root = Path::new(&root);
    matnet(root).args(["data", "verify"]).assert().success().stdout(contains("mismatch").not());
    for (name, file) in [("mnist", "mnist/train-images-idx3-ubyte.gz"), ("babi", "babi/babi-en.tar.gz")] {
        if !root.join(file).is_file() {
            println!("SKIPPED: {file} is not in MATNET_DATA");
            continue;
        }
        let run = matnet(root).args(["data", "fetch", name]).assert().success();
        run.stdout(contains("verified")).stderr(contains("is already there"));
    }
    if root.join("babi/babi-en.tar.gz").is_file() {
        let run = matnet(root).args(["data", "show", "babi", "--png", "x.png"]).assert().code(2);
        run.stderr("error: stories have no picture: leave --png out\n");
    }
}

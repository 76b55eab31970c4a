//! `matnet serve` from outside: the address it prints, an answer, the token, the end by a signal, wrong usage.

#![cfg(all(unix, feature = "serve"))]

mod common;

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use common::{matnet, run};

fn reference(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../matnet-train/tests/reference").join(name)
}

/// A server with the address it printed, which ends with the test.
struct Server {
    child: Child,
    address: String,
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
    }
}

fn serve(folder: &Path, args: &[&str], token: Option<&str>) -> Server {
    let args = [&["serve"], args, &["--listen", "127.0.0.1:0"]].concat();
    let mut command = matnet(folder, &args);
    token.map(|token| command.env("MATNET_TOKEN", token));
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
    let address = line.strip_prefix("http://").and_then(|rest| rest.split('/').next()).unwrap_or_default();
    assert!(line.ends_with("/ serves a, feedforward-plain-matrix\n"), "{line}");
    Server { address: address.to_owned(), child }
}

/// The whole answer to a request without a body.
fn get(server: &Server, path: &str, headers: &str) -> String {
    let mut stream = TcpStream::connect(&server.address).unwrap();
    write!(stream, "GET {path} HTTP/1.1\r\nhost: x\r\nconnection: close\r\n{headers}\r\n").unwrap();
    let mut text = String::new();
    stream.read_to_string(&mut text).unwrap();
    text
}

#[test]
fn a_signal_ends_it_well() {
    let folder = tempfile::tempdir().unwrap();
    let (one, two) =
        (format!("a={}", reference("seq2seq-past-matrix").display()), reference("feedforward-plain-matrix"));
    for signal in ["TERM", "INT"] {
        let mut server = serve(folder.path(), &[&one, two.to_str().unwrap()], None);
        assert!(get(&server, "/v2/models/a", "").starts_with("HTTP/1.1 200 OK\r\n"));
        assert!(get(&server, "/v2/models", "").ends_with(r#"{"models":["a","feedforward-plain-matrix"]}"#));
        let pid = server.child.id().to_string();
        assert!(Command::new("kill").args(["-s", signal, &pid]).status().unwrap().success());
        assert_eq!(server.child.wait().unwrap().code(), Some(0), "{signal}");
        let mut said = String::new();
        server.child.stderr.as_mut().unwrap().read_to_string(&mut said).unwrap();
        assert!(said.starts_with("stopping; "), "{said}");
    }
}

#[test]
fn a_token_comes_from_a_file_or_the_environment() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("token.txt"), "from-file\n").unwrap();
    let (one, two) =
        (format!("a={}", reference("seq2seq-past-matrix").display()), reference("feedforward-plain-matrix"));
    let runs = [one.as_str(), two.to_str().unwrap()];
    for (args, token) in
        [(&[&runs[..], &["--token-file", "token.txt"]].concat()[..], "from-file"), (&runs, "from-env")]
    {
        let server = serve(folder.path(), args, Some("from-env"));
        assert!(get(&server, "/v2", "").starts_with("HTTP/1.1 401 "));
        assert!(
            get(&server, "/v2", &format!("authorization: Bearer {token}\r\n")).starts_with("HTTP/1.1 200 ")
        );
    }
}

#[test]
fn wrong_usage_is_told() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("empty.txt"), "\n").unwrap();
    let a = reference("feedforward-plain-matrix");
    let a = a.to_str().unwrap();
    let cases: [(&[&str], i32, &str); 8] = [
        (&[], 2, "error: the following required arguments were not provided"),
        (&["none"], 1, "error: model none: none: there is no run here (no config.toml)\n"),
        (
            &["a b=none"],
            2,
            "error: a b=none: `a b` cannot be the name of a model; NAME=PATH with a name of letters,",
        ),
        (&[a, a], 2, "error: "),
        (&[a, "--listen", "here"], 2, "error: invalid value 'here' for '--listen <ADDRESS>'"),
        (
            &[a, "--max-bodies", "8"],
            2,
            "error: --max-bodies 8: one request may have 16 MiB (--max-body); at least as many for all expected\n",
        ),
        (&[a, "--token-file", "none.txt"], 1, "error: none.txt: "),
        (
            &[a, "--token-file", "empty.txt"],
            2,
            "error: empty.txt: a token of letters, digits and signs without spaces expected\n",
        ),
    ];
    for (args, code, message) in cases {
        let (found, _, said) = run(folder.path(), &[&["serve"], args].concat());
        assert_eq!(found, code, "{args:?}: {said}");
        assert!(said.starts_with(message), "{args:?}: {said}");
    }
}

//! Reloading while requests come, and stopping without losing any.

mod common;

use std::path::Path;
use std::time::Duration;

use common::{bits, inputs, json_request, net, options, reference, serve};
use matnet_serve::{Options, ServeError};

const NAME: &str = "feedforward-plain-matrix";
const OTHER: &str = "feedforward-highway-matrix";
const INFER: &str = "/v2/models/m/infer";

/// Puts the files of a run into a folder, as training does: the weights are replaced at once.
fn put(name: &str, folder: &Path) {
    for file in ["config.toml", "best.safetensors"] {
        std::fs::copy(reference(name).join(file), folder.join("new")).unwrap();
        std::fs::rename(folder.join("new"), folder.join(file)).unwrap();
    }
}

#[test]
fn a_run_that_changes_is_loaded_again() {
    let folder = tempfile::tempdir().unwrap();
    put(NAME, folder.path());
    let often = Some(Duration::from_millis(10));
    let server = serve(&[("m", folder.path())], Options { reload_every: often, ..options() });
    let all = inputs(NAME);
    assert_eq!(all.shape()[1..], inputs(OTHER).shape()[1..], "the runs must take the same inputs");
    let expected = |name: &str| bits(&net(&reference(name)).predict(all.clone()).unwrap().values);
    let (first, second) = (expected(NAME), expected(OTHER));
    assert_ne!(first, second);
    let ask = || {
        let reply = server.infer("m", &all, &[]);
        (reply.json()["model_version"].as_str().unwrap().to_owned(), reply.output("probabilities"))
    };
    let (version, found) = ask();
    assert_eq!(found, first);
    put(OTHER, folder.path());
    // No request fails meanwhile, and each is answered by the net of its version.
    let new = loop {
        let (now, found) = ask();
        match now == version {
            true => assert_eq!(found, first),
            false => {
                assert_eq!(found, second);
                break now;
            }
        }
    };
    assert_eq!(server.get("/v2/models/m").json()["versions"][0], new.as_str());
    // A damaged run changes nothing, but is mentioned.
    std::fs::write(folder.path().join("best.safetensors"), "no weights").unwrap();
    while server.metric("matnet_reloads_failed_total") == 0.0 {
        assert_eq!(ask(), (new.clone(), second.clone()));
    }
    let said = server.said.lock().unwrap().join("\n");
    assert!(said.contains("has changed and cannot be loaded"), "{said}");
    // Nor does one that is gone.
    std::fs::remove_file(folder.path().join("config.toml")).unwrap();
    while server.metric("matnet_reloads_failed_total") < 2.0 {}
    assert_eq!(ask(), (new, second));
    put(NAME, folder.path());
    while ask() != (version.clone(), first.clone()) {}
    server.end().unwrap();
}

#[test]
fn requests_in_flight_are_finished() {
    let mut server = serve(&[("m", &reference(NAME))], options());
    let (all, mut idle) = (inputs(NAME), server.connect());
    assert_eq!(idle.ask("GET", "/v2", "", b"").status, 200);
    let body = json_request(&all, &[]);
    let mut client = server.connect();
    let length = body.len();
    client.send(
        format!(
            "POST {INFER} HTTP/1.1\r\nhost: x\r\nexpect: 100-continue\r\ncontent-length: {length}\r\n\r\n"
        )
        .as_bytes(),
    );
    // From here on the request is in flight.
    assert_eq!(client.reply().unwrap().status, 100);
    client.send(&body[..length / 2]);
    server.ask_to_stop();
    assert!(idle.reply().is_none(), "an idle connection is closed");
    // Nobody listens any more.
    while std::net::TcpStream::connect(server.address).is_ok() {}
    client.send(&body[length / 2..]);
    let reply = client.reply().unwrap();
    assert_eq!(reply.output("probabilities"), bits(&net(&reference(NAME)).predict(all).unwrap().values));
    assert!(reply.head.contains("connection: close"), "{}", reply.head);
    assert!(client.reply().is_none());
    server.end().unwrap();
}

#[test]
fn the_end_does_not_wait_for_ever() {
    let grace = Duration::from_millis(50);
    let mut server = serve(&[("m", &reference(NAME))], Options { grace, ..options() });
    let mut client = server.connect();
    client.send(
        format!("POST {INFER} HTTP/1.1\r\nhost: x\r\nexpect: 100-continue\r\ncontent-length: 9\r\n\r\n")
            .as_bytes(),
    );
    assert_eq!(client.reply().unwrap().status, 100);
    server.ask_to_stop();
    assert!(matches!(server.end(), Err(ServeError::Unfinished(1))));
    assert!(client.reply().is_none());
}

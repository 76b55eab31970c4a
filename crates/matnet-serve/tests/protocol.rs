//! The Open Inference Protocol: every net on samples answers as `Predictor` does, to the last bit, alone and in batches.

mod common;

use common::{binary_request, bits, inputs, json_request, net, options, reference, sample, serve, serve_one};
use matnet_serve::{ModelSpec, ServeError, Server};
use matnet_train::task::OutputKind;
use serde_json::{Value, json};

/// The reference runs of nets on samples.
fn names() -> Vec<String> {
    let folders = std::fs::read_dir(reference("")).unwrap().map(|entry| entry.unwrap());
    let names =
        folders.filter(|entry| entry.path().is_dir()).map(|entry| entry.file_name().into_string().unwrap());
    let mut names: Vec<String> = names.filter(|name| net(&reference(name)).interface().is_some()).collect();
    names.sort();
    names
}

#[test]
fn every_net_answers_as_it_predicts() {
    let names = names();
    assert!(names.len() > 20, "{names:?}");
    let folders: Vec<_> = names.iter().map(|name| reference(name)).collect();
    let models: Vec<_> =
        names.iter().zip(&folders).map(|(name, folder)| (name.as_str(), folder.as_path())).collect();
    let server = serve(&models, options());
    for name in &names {
        let (net, all) = (net(&reference(name)), inputs(name));
        let (expected, interface) = (net.predict(all.clone()).unwrap(), net.interface().unwrap());
        let classes = interface.output_kind == OutputKind::Classes;
        let output =
            if classes || interface.output_kind == OutputKind::Labels { "probabilities" } else { "values" };
        // All samples in one request.
        let reply = server.infer(name, &all, &[]);
        assert_eq!(reply.output(output), bits(&expected.values), "{name}");
        let labels: Vec<&String> =
            expected.classes.iter().map(|&class| &interface.names[class as usize]).collect();
        if classes {
            assert_eq!(reply.labels().iter().collect::<Vec<_>>(), labels, "{name}");
        }
        // One sample per request, many at the same time.
        let each = bits(&expected.values).1.len() / all.len();
        std::thread::scope(|scope| {
            for at in 0..all.len() {
                let (server, all, expected) = (&server, &all, &expected);
                scope.spawn(move || {
                    let reply = server.infer(name, &sample(all, at), &[]);
                    let wanted = &bits(&expected.values).1[at * each..(at + 1) * each];
                    assert_eq!(reply.output(output).1, wanted, "{name}, sample {at}");
                });
            }
        });
        // As bytes.
        let (header, body) = binary_request(&all);
        let reply = server.post(&format!("/v2/models/{name}/infer"), &header, &body);
        let head =
            reply.head.split("inference-header-content-length: ").nth(1).unwrap().lines().next().unwrap();
        let (text, bytes) = reply.body.split_at(head.parse().unwrap());
        let text: Value = serde_json::from_slice(text).unwrap();
        assert_eq!((&text["model_name"], &text["id"]), (&json!(name), &json!("a \"b\"")));
        let wanted: Vec<u8> = expected.values.data().iter().flat_map(|value| value.to_le_bytes()).collect();
        assert_eq!(text["outputs"][0]["parameters"]["binary_data_size"], json!(wanted.len()));
        let (numbers, rest) = bytes.split_at(wanted.len());
        assert_eq!(numbers, wanted, "{name}");
        let strings =
            labels.iter().flat_map(|label| [&(label.len() as u32).to_le_bytes(), label.as_bytes()].concat());
        assert_eq!(rest, strings.collect::<Vec<u8>>(), "{name}");
        // The shapes are those that the model announces.
        let metadata = server.get(&format!("/v2/models/{name}")).json();
        let fits = |shape: &[usize], spec: &Value| {
            let spec = spec["shape"].as_array().unwrap();
            let same = |(side, spec): (&usize, &Value)| *spec == json!(-1) || *spec == json!(side);
            shape.len() == spec.len() && shape.iter().zip(spec).all(same)
        };
        assert!(fits(all.shape(), &metadata["inputs"][0]), "{metadata}");
        assert!(fits(expected.values.shape(), &metadata["outputs"][0]), "{metadata}");
    }
    server.end().unwrap();
}

#[test]
fn lengths_end_sequences() {
    for name in ["sequence-classifier-plain-matrix", "sequence-labeller-steps-matrix"] {
        let (net, all, server) = (net(&reference(name)), inputs(name), serve_one(name));
        let time = all.shape()[1];
        let lengths: Vec<usize> = (0..all.len()).map(|at| 1 + at % time).collect();
        let expected = net.predict_sequences(all.clone(), &lengths).unwrap();
        let reply = server.infer(name, &all, &lengths);
        assert_eq!(reply.output("probabilities"), bits(&expected.values), "{name}");
        let labels = reply.labels();
        let shape = expected.values.shape();
        assert_eq!(labels.len(), shape[..shape.len() - 1].iter().product::<usize>());
        if name.contains("steps") {
            for (steps, &length) in labels.chunks(time).zip(&lengths) {
                assert!(steps[..length].iter().all(|label| !label.is_empty()));
                assert!(steps[length..].iter().all(String::is_empty));
            }
        }
        let error = server.infer(name, &all, &vec![time + 1; all.len()]).error();
        assert_eq!(error, (400, format!("the length of sample 0 is {}; 1 to {time} expected", time + 1)));
    }
}

#[test]
fn a_request_larger_than_a_batch_is_computed_in_parts() {
    let name = "sequence-labeller-steps-matrix";
    let (net, all) = (net(&reference(name)), inputs(name));
    let server = serve(&[("m", &reference(name))], matnet_serve::Options { max_batch: 2, ..options() });
    let lengths: Vec<usize> = (0..all.len()).map(|at| 1 + at % all.shape()[1]).collect();
    for lengths in [&[][..], &lengths] {
        let expected = net.predict_sequences(all.clone(), lengths).unwrap();
        let reply = server.infer("m", &all, lengths);
        assert_eq!(reply.output("probabilities"), bits(&expected.values));
    }
}

#[test]
fn one_wrong_request_does_not_harm_the_others_of_its_batch() {
    let name = "sequence-classifier-plain-matrix";
    let (net, all, server) = (net(&reference(name)), inputs(name), serve_one(name));
    let expected = bits(&net.predict_sequences(all.clone(), &vec![1; all.len()]).unwrap().values);
    std::thread::scope(|scope| {
        for at in 0..24 {
            let (server, all, expected) = (&server, &all, &expected);
            scope.spawn(move || match at % 3 {
                // Only the net knows that this is too long.
                0 => assert_eq!(server.infer(name, all, &vec![9999; all.len()]).status, 400),
                _ => {
                    let reply = server.infer(name, all, &vec![1; all.len()]);
                    assert_eq!(reply.output("probabilities"), *expected);
                }
            });
        }
    });
    assert_eq!(server.metric("matnet_requests_failed_total"), 8.0);
    assert_eq!(server.metric("matnet_requests_total"), 24.0);
}

#[test]
fn the_server_and_its_models_say_what_they_are() {
    let name = "feedforward-plain-matrix";
    let server = serve(&[("one", &reference(name)), ("two", &reference("seq2seq-past-matrix"))], options());
    assert_eq!(server.get("/v2").json()["name"], "matnet");
    for path in ["/v2/health/live", "/v2/health/ready", "/v2/models/one/ready", "/v2/health/ready/"] {
        server.get(path).json();
    }
    assert_eq!(server.get("/v2/models").json(), json!({ "models": ["one", "two"] }));
    let metadata = server.get("/v2/models/one").json();
    assert_eq!((&metadata["name"], &metadata["platform"]), (&json!("one"), &json!("matnet")));
    assert_eq!(metadata["inputs"][0]["name"], "x");
    let version = metadata["versions"][0].as_str().unwrap();
    assert_eq!(server.get(&format!("/v2/models/one/versions/{version}")).json(), metadata);
    server.get(&format!("/v2/models/one/versions/{version}/ready")).json();
    let body = json_request(&inputs(name), &[]);
    let path = format!("/v2/models/one/versions/{version}/infer");
    assert_eq!(server.post(&path, "", &body).json()["model_version"], version);
    let index = server.post("/v2/repository/index", "", b"{}").json();
    assert_eq!(index[1]["name"], "two");
    let sequences = server.get("/v2/models/two").json();
    assert_eq!(sequences["inputs"][1], json!({ "name": "lengths", "datatype": "INT64", "shape": [-1] }));

    let wrong = |method, path: &str| server.connect().ask(method, path, "", b"").error();
    assert_eq!(
        wrong("GET", "/v2/models/three"),
        (404, "model three: no such model; there are one, two".to_owned())
    );
    let other = format!("model one: no version 7; the version is {version}");
    assert_eq!(wrong("GET", "/v2/models/one/versions/7"), (404, other.clone()));
    assert_eq!(wrong("POST", "/v2/models/one/versions/7/infer"), (404, other));
    assert_eq!(wrong("GET", "/v3"), (404, "/v3: nothing is here; /v2 and / are".to_owned()));
    assert_eq!(
        wrong("GET", "/v2/models/one/infer"),
        (405, "GET is not possible here; POST expected".to_owned())
    );
    assert_eq!(wrong("DELETE", "/v2"), (405, "DELETE is not possible here; GET, HEAD expected".to_owned()));
    // A connection goes on after errors.
    let mut client = server.connect();
    assert_eq!(client.ask("GET", "/v3", "", b"").status, 404);
    assert_eq!(client.ask("POST", "/v2/models/one/infer", "", b"[").error().0, 400);
    assert_eq!(client.ask("POST", "/v2/models/one/infer", "", &body).status, 200);
    let error = client.ask("POST", "/v2/models/one/infer", "content-encoding: gzip\r\n", &body).error();
    assert_eq!(
        error,
        (415, "content-encoding \"gzip\": bodies are not unpacked; identity expected".to_owned())
    );
}

#[test]
fn a_net_on_stories_takes_no_tensors() {
    let server = serve_one("memory-network-plain");
    let about = server.get("/v2/models/memory-network-plain").json();
    assert_eq!((&about["inputs"], &about["parameters"]["kind"]), (&json!([]), &json!("memory-network")));
    let all = inputs("feedforward-plain-matrix");
    let (status, message) = server.infer("memory-network-plain", &all, &[]).error();
    let wanted = "a memory-network takes no tensors; drop a file on the page at /, or use `matnet predict`";
    assert_eq!((status, message.as_str()), (400, wanted));
}

#[test]
fn what_cannot_be_served_is_refused_at_the_start() {
    let start = |specs: &[ModelSpec]| match Server::start(specs, options()) {
        Ok(_) => panic!("an error expected"),
        Err(error) => error,
    };
    let spec = |name: &str, run: &str| ModelSpec { name: name.to_owned(), run: reference(run) };
    let error = start(&[spec("a", "none")]).to_string();
    assert!(error.ends_with("there is no run here (no config.toml)"), "{error}");
    let twice = [spec("a", "feedforward-plain-matrix"), spec("a", "feedforward-plain-vector")];
    assert!(matches!(start(&twice), ServeError::Usage(what) if what.contains("would both be called a")));
    assert!(matches!(start(&[]), ServeError::Usage(_)));
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let options = matnet_serve::Options { listen: taken.local_addr().unwrap(), ..options() };
    let error = Server::start(&[spec("a", "feedforward-plain-matrix")], options).err().unwrap().to_string();
    assert!(error.starts_with("cannot listen on 127.0.0.1:"), "{error}");
}

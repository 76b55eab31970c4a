//! Broken, huge, slow and many requests: each gets a clear answer, and the server goes on.

mod common;

use std::io::{ErrorKind, Write};
use std::net::Shutdown;
use std::time::Duration;

use common::{Client, inputs, json_request, options, reference, serve, serve_one};
use matnet_serve::{ModelSpec, Options, Server, Token};

const NAME: &str = "feedforward-plain-matrix";
const INFER: &str = "/v2/models/feedforward-plain-matrix/infer";

/// The server still predicts.
fn goes_on(server: &common::Running) {
    assert_eq!(server.infer(NAME, &inputs(NAME), &[]).status, 200);
}

#[test]
fn broken_requests() {
    let server = serve_one(NAME);
    let good = json_request(&inputs(NAME), &[]);
    for body in [&b""[..], b"{", b"\xff\xfe", b"null", &good[..good.len() - 1], &[b'['; 100_000]] {
        let (status, message) = server.post(INFER, "", body).error();
        assert_eq!(status, 400);
        assert!(message.starts_with("the request is not valid: "), "{message}");
    }
    let length =
        |length: &str| server.post(INFER, &format!("inference-header-content-length: {length}\r\n"), &good);
    assert_eq!(length("x").error().1, "Inference-Header-Content-Length is \"x\"; a number of bytes expected");
    assert_eq!(length("99999999").error().0, 400);
    assert_eq!(length("18446744073709551616").error().0, 400);
    // What is no HTTP at all is refused by hyper.
    for text in ["\x16\x03\x01\x02\x00\x01\x00\x01\n\n\r\n\r\n", "GET\r\n\r\n", "GET / HTTP/9.9\r\n\r\n"] {
        let mut client = server.connect();
        client.send(text.as_bytes());
        assert!(client.reply().is_none_or(|reply| reply.status == 400));
    }
    // A body that breaks off.
    let mut client = server.connect();
    client.send(format!("POST {INFER} HTTP/1.1\r\nhost: x\r\ncontent-length: 1000\r\n\r\n{{").as_bytes());
    client.0.shutdown(Shutdown::Write).unwrap();
    client.reply();
    // A client that does not wait for its answer.
    for _ in 0..20 {
        let mut client = server.connect();
        let head = format!("POST {INFER} HTTP/1.1\r\nhost: x\r\ncontent-length: {}\r\n\r\n", good.len());
        client.send(&[head.as_bytes(), &good].concat());
    }
    goes_on(&server);
    server.end().unwrap();
}

#[test]
fn bodies_that_are_too_long_are_refused_while_they_arrive() {
    let limit = 100_000;
    let server = serve(&[(NAME, &reference(NAME))], Options { max_body: limit, ..options() });
    let body = vec![b' '; 3 * limit];
    let expected =
        format!("the body has {} bytes or more; at most {limit} expected (--max-body)", body.len());
    assert_eq!(server.post(INFER, "", &body).error(), (413, expected));
    // Without a length that would say so.
    let mut client = server.connect();
    client.send(format!("POST {INFER} HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\n").as_bytes());
    for _ in 0..30 {
        client.send(format!("{:x}\r\n", limit / 10).as_bytes());
        client.send(&body[..limit / 10]);
        client.send(b"\r\n");
    }
    client.send(b"0\r\n\r\n");
    assert_eq!(client.reply().unwrap().error().0, 413);
    // A length beyond all memory: the answer comes once the client has sent what the server is willing to read.
    let mut client = server.connect();
    client.send(
        format!("POST {INFER} HTTP/1.1\r\nhost: x\r\ncontent-length: 18446744073709551615\r\n\r\n")
            .as_bytes(),
    );
    while client.send(&body) {}
    client.reply();
    goes_on(&server);
}

#[test]
fn a_refusal_is_seen_by_clients_that_are_still_sending() {
    let server = serve_one(NAME);
    // More than the buffers of the system take.
    let body = vec![b' '; 8 << 20];
    assert_eq!(server.post("/v2/models/none/infer", "", &body).error().0, 404);
    assert_eq!(server.post("/v2", "", &body).error().0, 405);
    assert_eq!(server.post(INFER, "content-encoding: gzip\r\n", &body).error().0, 415);
    // A client that asks first is told at once, and need not send anything.
    for (path, length, status) in [(INFER, 1_u64 << 40, 413), ("/v2/models/none/infer", 10, 404)] {
        let mut client = server.connect();
        let head = format!(
            "POST {path} HTTP/1.1\r\nhost: x\r\nexpect: 100-continue\r\ncontent-length: {length}\r\n\r\n"
        );
        client.send(head.as_bytes());
        assert_eq!(client.reply().unwrap().error().0, status);
    }
    goes_on(&server);
}

#[test]
fn methods_that_are_possible_are_told() {
    let server = serve_one(NAME);
    for (method, path, allowed) in
        [("OPTIONS", "/", "get, head"), ("PUT", "/v2", "get, head"), ("GET", INFER, "post")]
    {
        let reply = server.connect().ask(method, path, "", b"");
        assert_eq!(reply.status, 405);
        assert!(reply.head.contains(&format!("allow: {allowed}\r\n")), "{}", reply.head);
    }
}

#[test]
fn a_forward_pass_has_a_limit() {
    for name in [
        "feedforward-plain-matrix",
        "sequence-labeller-steps-vector",
        "sequence-classifier-spectrogram-matrix",
    ] {
        let (all, net) = (inputs(name), common::net(&reference(name)));
        let (expected, each) = (net.predict(all.clone()).unwrap(), net.pass_bytes(&all.shape()[1..]));
        let with = |max_pass| serve(&[(name, &reference(name))], Options { max_pass, ..options() });
        // Two samples at once, of one request or of several.
        let server = with(2 * each);
        assert_eq!(
            server.infer(name, &all, &[]).output("probabilities"),
            common::bits(&expected.values),
            "{name}"
        );
        let path = format!("/v2/models/{name}/infer");
        let size = common::bits(&expected.values).1.len() / all.len();
        std::thread::scope(|scope| {
            for at in 0..all.len() {
                let (server, path, all, expected) = (&server, &path, &all, &expected);
                scope.spawn(move || {
                    let reply = server.post(path, "", &json_request(&common::sample(all, at), &[]));
                    let wanted = &common::bits(&expected.values).1[at * size..(at + 1) * size];
                    assert_eq!(reply.output("probabilities").1, wanted, "{name}, sample {at}");
                });
            }
        });
        let (status, message) = with(each - 1).infer(name, &all, &[]).error();
        assert_eq!(status, 413, "{message}");
        assert!(
            message.starts_with("a prediction for one sample [") && message.ends_with("(--max-pass)"),
            "{message}"
        );
    }
    // A sequence takes memory for each of its steps.
    let net = common::net(&reference("sequence-labeller-steps-matrix"));
    let shape = inputs("sequence-labeller-steps-matrix").shape()[1..].to_vec();
    let longer = [&[1000 * shape[0]], &shape[1..]].concat();
    assert!(net.pass_bytes(&longer) >= 900 * net.pass_bytes(&shape));
}

#[test]
fn answers_have_a_limit() {
    let name = "autoencoder-plain-matrix";
    let sides = inputs(name).shape()[1..].to_vec();
    let (count, each) = (100, sides.iter().product::<usize>());
    let zeros = vec!["0"; count * each].join(",");
    let body = format!(
        r#"{{"inputs":[{{"name":"x","shape":[{count},{},{}],"datatype":"FP32","data":[{zeros}]}}]}}"#,
        sides[0], sides[1]
    );
    // Each number of the answer takes four bytes, and thirteen as text.
    let answer = 17 * count * each;
    let ask = |max_bodies: usize| {
        let options = Options { max_body: body.len(), max_bodies, ..options() };
        let server = serve(&[(name, &reference(name))], options);
        let reply = server.post(&format!("/v2/models/{name}/infer"), "", body.as_bytes());
        while server.metric("matnet_body_bytes ") != 0.0 {}
        reply
    };
    assert_eq!(ask(body.len() + answer).status, 200);
    let expected = format!(
        "the bodies of all requests and answers would have more than {} bytes together, which is the limit (--max-bodies); try again later",
        body.len() + answer - 1
    );
    assert_eq!(ask(body.len() + answer - 1).error(), (503, expected));
    let (status, message) = ask(answer - 1).error();
    assert_eq!(status, 413);
    assert!(
        message
            .starts_with(&format!("the answer would take {answer} bytes; at most {} expected", answer - 1)),
        "{message}"
    );
}

#[test]
fn bodies_together_have_a_limit() {
    let (one, together) = (100_000, 250_000);
    let limits = Options { max_body: one, max_bodies: together, ..options() };
    let server = serve(&[(NAME, &reference(NAME))], limits);
    let head =
        |length: usize| format!("POST {INFER} HTTP/1.1\r\nhost: x\r\ncontent-length: {length}\r\n\r\n");
    // An announcement alone takes nothing from others.
    let announced: Vec<Client> = (0..50)
        .map(|_| {
            let mut client = server.connect();
            client.send(head(one).as_bytes());
            client
        })
        .collect();
    goes_on(&server);
    // Two that send all but the last bytes of their bodies leave room for small ones only.
    let mut waiting: Vec<Client> = (0..2)
        .map(|_| {
            let mut client = server.connect();
            client.send(head(one).as_bytes());
            client.send(&vec![b' '; one - 10]);
            client
        })
        .collect();
    let held = |bytes: usize| while server.metric("matnet_body_bytes ") != bytes as f64 {};
    held(2 * (one - 10));
    let body = vec![b' '; 60_000];
    let full = format!(
        "the bodies of all requests and answers would have more than {together} bytes together, which is the limit (--max-bodies); try again later"
    );
    let refused = server.post(INFER, "", &body);
    assert!(refused.head.contains("retry-after: 1"), "{}", refused.head);
    assert_eq!(refused.error(), (503, full.clone()));
    // Nor is there room for one that does not say how long it is.
    let mut client = server.connect();
    client.send(format!("POST {INFER} HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\n").as_bytes());
    client.send(format!("{:x}\r\n", body.len()).as_bytes());
    client.send(&body);
    client.send(b"\r\n0\r\n\r\n");
    assert_eq!(client.reply().unwrap().error(), (503, full));
    goes_on(&server);
    // What is held comes back: by an answer, and by the end of a connection.
    let mut finished = waiting.pop().unwrap();
    finished.send(&[b' '; 10]);
    assert_eq!(finished.reply().unwrap().error().0, 400);
    held(one - 10);
    drop(waiting);
    held(0);
    assert_eq!(server.post(INFER, "", &body).error().0, 400);
    drop(announced);
    server.end().unwrap();
}

#[test]
fn limits_that_exclude_each_other_are_refused() {
    let spec = ModelSpec { name: NAME.to_owned(), run: reference(NAME) };
    let error = Server::start(&[spec], Options { max_body: 2, max_bodies: 1, ..options() }).err().unwrap();
    let expected = "all bodies together may have fewer bytes (1) than one (2); at least as many expected";
    assert_eq!(error.to_string(), expected);
}

#[test]
fn slow_clients_do_not_wait_for_ever() {
    let soon = Duration::from_millis(200);
    let server =
        serve(&[(NAME, &reference(NAME))], Options { timeout: soon, idle_timeout: soon, ..options() });
    // A body that does not end.
    let mut client = server.connect();
    client.send(format!("POST {INFER} HTTP/1.1\r\nhost: x\r\ncontent-length: 1000\r\n\r\n{{").as_bytes());
    let error = client.reply().unwrap().error();
    assert_eq!(error, (408, "the body did not arrive within 0.2 s".to_owned()));
    assert!(client.reply().is_none(), "the connection is closed");
    // A head that does not end, and a connection without any.
    let mut client = server.connect();
    client.send(b"GET /v2 HTTP/1.1\r\nhost:");
    assert!(client.reply().is_none_or(|reply| reply.status == 408));
    assert!(server.connect().reply().is_none());
    drop(server);
    // A client that does not read: its answers fill the buffers of the system, then the connection ends.
    let server = serve(&[(NAME, &reference(NAME))], Options { timeout: soon, ..options() });
    let mut client = server.connect();
    let request = "GET / HTTP/1.1\r\nhost: x\r\n\r\n".repeat(100);
    // Without the end of the connection this would be refused only when the server has no more memory.
    let refused = (0..100_000).find_map(|_| client.0.write_all(request.as_bytes()).err());
    let error = refused.expect("the server reads requests without end from a client that does not read");
    assert!(matches!(error.kind(), ErrorKind::BrokenPipe | ErrorKind::ConnectionReset), "{error}");
    assert_eq!(server.get("/v2").status, 200);
}

#[test]
fn ten_thousand_idle_connections() {
    // The client's end of each is a file of this process, too.
    let server = serve_one(NAME);
    let limits = std::fs::read_to_string("/proc/self/limits").unwrap_or_default();
    let files = limits.lines().find(|line| line.starts_with("Max open files"));
    let files: usize = files.and_then(|line| line.split_whitespace().nth(3)?.parse().ok()).unwrap_or(1024);
    let count = 10_000.min((files - 200) / 2);
    if count < 10_000 {
        eprintln!("NOTE: only {count} connections, because a process may open {files} files here");
    }
    let mut idle: Vec<Client> = (0..count).map(|_| server.connect()).collect();
    goes_on(&server);
    for client in &mut idle {
        assert_eq!(client.ask("GET", "/v2/health/live", "", b"").status, 200);
    }
    assert!(server.metric("matnet_connections ") >= count as f64);
    goes_on(&server);
    server.end().unwrap();
    assert!(idle.iter_mut().all(|client| client.reply().is_none()), "idle connections are closed at the end");
}

#[test]
fn connections_beyond_the_limit_are_told_so() {
    let server = serve(&[(NAME, &reference(NAME))], Options { max_connections: 2, ..options() });
    let mut open: Vec<Client> = (0..2).map(|_| server.connect()).collect();
    for client in &mut open {
        assert_eq!(client.ask("GET", "/v2", "", b"").status, 200);
    }
    let refused = server.connect().reply().unwrap().error();
    assert_eq!(refused, (503, "2 connections are open, which is the limit (--max-connections)".to_owned()));
    drop(open.pop());
    // The server learns of the end a little later.
    while server.connect().ask("GET", "/v2", "", b"").status != 200 {}
}

#[test]
fn a_token_is_asked_for() {
    let token = Token::new("open sesame".split(' ').next().unwrap());
    let server = serve(&[(NAME, &reference(NAME))], Options { token, ..options() });
    let body = json_request(&inputs(NAME), &[]);
    for path in ["/v2/health/live", "/v2/health/ready", "/"] {
        assert_eq!(server.get(path).status, 200, "{path}");
    }
    for path in ["/v2", "/metrics", "/v2/models", "/v2/models/none", "/page/x/pictures", "/none"] {
        let reply = server.get(path);
        assert!(reply.head.contains("www-authenticate: bearer"), "{}", reply.head);
        let expected = "this server asks for a token; the header `Authorization: Bearer TOKEN` expected";
        assert_eq!(reply.error(), (401, expected.to_owned()), "{path}");
    }
    let with = |token: &str| server.post(INFER, &format!("authorization: {token}\r\n"), &body).status;
    let tried = ["Bearer open", "bearer open", "Bearer opens", "Bearer ope", "open", "Basic open"];
    assert_eq!(tried.map(with), [200, 200, 401, 401, 401, 401]);
}

//! What the page at `/` asks for.

mod common;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use common::{bits, inputs, net, options, reference, sample, serve};
use matnet_data::format::npy;
use matnet_serve::Options;
use serde_json::Value;

const NAME: &str = "feedforward-plain-matrix";

#[test]
fn the_page_needs_nothing_from_elsewhere() {
    let server = serve(&[(NAME, &reference(NAME))], options());
    let reply = server.get("/");
    assert!(reply.head.contains("content-security-policy: default-src 'none'"), "{}", reply.head);
    let page = reply.text();
    for outside in ["http://", "https://", "src=\"/", "@import", "<link"] {
        assert!(!page.contains(outside), "{outside}");
    }
}

#[test]
fn a_dropped_file_is_predicted_for() {
    let server = serve(&[("m", &reference(NAME))], options());
    let all = inputs(NAME);
    let mut file = Vec::new();
    npy::write_f32(&mut file, all.shape(), all.data()).unwrap();
    let reply = server.post("/page/m/predict?name=x.npy", "", &file).json();
    let expected = net(&reference(NAME)).predict(all.clone()).unwrap();
    let samples = reply["samples"].as_array().unwrap();
    assert_eq!(samples.len(), all.len().min(12));
    let (_, wanted) = bits(&expected.values);
    let classes = expected.values.shape()[1];
    for (at, shown) in samples.iter().enumerate() {
        let bars = shown["bars"].as_array().unwrap();
        let found: Vec<u32> = bars.iter().map(|bar| (bar[1].as_f64().unwrap() as f32).to_bits()).collect();
        assert_eq!(found, wanted[at * classes..(at + 1) * classes]);
        assert_eq!(shown["labels"][0], bars[expected.classes[at] as usize][0]);
        assert!(shown["input"].as_str().unwrap().starts_with("data:image/png;base64,"));
    }
    // One matrix as text.
    let one = sample(&all, 0);
    let line = |row: &[f32]| row.iter().map(f32::to_string).collect::<Vec<_>>().join(",");
    let csv: Vec<String> = one.data().chunks(one.shape()[2]).map(line).collect();
    let reply = server.post("/page/m/predict?name=X.CSV", "", csv.join("\n").as_bytes()).json();
    assert_eq!(reply["samples"][0]["bars"], samples[0]["bars"]);
    // Wrong files.
    let wrong =
        |name: &str, file: &[u8]| server.post(&format!("/page/m/predict?name={name}"), "", file).error();
    assert!(wrong("x.exe", b"").1.starts_with("x.exe: a file that ends in .npy, .npz, .csv,"));
    assert_eq!(wrong("../../x", b"").0, 400);
    let (status, message) = wrong("x.npy", b"no array");
    assert!(status == 400 && message.starts_with("the file: "), "{message}");
    let (status, message) = wrong("x.csv", b"1,2\n3,4");
    assert!(status == 400 && message.contains("the net takes"), "{message}");
    assert_eq!(wrong("x.png", &[0x89, b'P', b'N', b'G']).0, 400);
    // The memory of a forward pass has a limit here, too.
    let each = net(&reference(NAME)).pass_bytes(&all.shape()[1..]);
    let with = |max_pass| serve(&[("m", &reference(NAME))], Options { max_pass, ..options() });
    let server = with(2 * each);
    let few = server.post("/page/m/predict?name=x.npy", "", &file).json();
    assert_eq!(few["samples"].as_array().unwrap()[..], samples[..2]);
    assert_eq!(with(each - 1).post("/page/m/predict?name=x.npy", "", &file).error().0, 413);
}

/// What the page shows for a file.
fn shown(server: &common::Running, model: &str, name: &str, file: &[u8]) -> Vec<Value> {
    let reply = server.post(&format!("/page/{model}/predict?name={name}"), "", file).json();
    reply["samples"].as_array().unwrap_or_else(|| panic!("{reply}")).clone()
}

/// The text of a drawing.
fn svg(sample: &Value) -> String {
    let source = sample["attention"]["src"].as_str().unwrap();
    let bytes = STANDARD.decode(source.strip_prefix("data:image/svg+xml;base64,").unwrap()).unwrap();
    String::from_utf8(bytes).unwrap()
}

#[test]
fn attention_is_drawn() {
    const TURING: &str = "turing-machine-lstm-matrix";
    const STORIES: &str = "end-to-end-memory-heads";
    let folder = tempfile::tempdir().unwrap();
    let graph = common::train_on_graph(folder.path());
    let (turing, stories) = (reference(TURING), reference(STORIES));
    let models =
        [("turing", &*turing), ("stories", &*stories), ("graph", &*graph), (NAME, &*reference(NAME))];
    let server = serve(&models, options());
    // The heads of a Turing machine over the slots of its memory.
    let sequences = std::fs::read(turing.join("input.npy")).unwrap();
    let samples = shown(&server, "turing", "x.npy", &sequences);
    assert_eq!(samples.len(), inputs(TURING).len().min(12));
    for sample in &samples {
        assert!(sample["attention"]["src"].as_str().unwrap().starts_with("data:image/png;base64,"));
        assert!(
            sample["attention"]["caption"].as_str().unwrap().starts_with("Attention weights of the heads")
        );
        assert!(sample["output"].is_string());
    }
    // The sentences that each head of each hop reads.
    let text = std::fs::read(stories.join("input.txt")).unwrap();
    let samples = shown(&server, "stories", "story.txt", &text);
    let drawing = svg(&samples[0]);
    assert!(drawing.contains("hop 1, head 2"), "{drawing}");
    assert!(samples[0]["name"].as_str().unwrap().ends_with('?'), "{}", samples[0]["name"]);
    assert_eq!(samples[0]["labels"].as_array().unwrap().len(), 1);
    // The neighbors of a node; the last one has none.
    let samples =
        shown(&server, "graph", "graph.npz", &std::fs::read(folder.path().join("graph.npz")).unwrap());
    assert_eq!(samples.len(), 8);
    assert!(svg(&samples[0]).contains("layer 2, head 2"));
    assert!(!svg(&samples[7]).contains("layer 2, head 2"));
    // Other nets have no attention.
    let all = inputs(NAME);
    let mut file = Vec::new();
    npy::write_f32(&mut file, all.shape(), all.data()).unwrap();
    assert!(shown(&server, NAME, "x.npy", &file).iter().all(|sample| sample["attention"].is_null()));
    // A graph is no story.
    assert_eq!(server.post("/page/graph/predict?name=x.txt", "", &text).error().0, 400);
}

#[test]
fn maps_are_drawn() {
    let models = [("matrix", reference(NAME)), ("vector", reference("feedforward-plain-vector"))];
    let models: Vec<_> = models.iter().map(|(name, run)| (*name, run.as_path())).collect();
    let server = serve(&models, options());
    let pictures = server.get("/page/matrix/pictures").json();
    let pictures = pictures["pictures"].as_array().unwrap();
    assert!(
        pictures.iter().any(|picture| picture["caption"].as_str().unwrap().starts_with("U (rows to rows)"))
    );
    assert!(
        pictures.iter().all(|picture| picture["png"].as_str().unwrap().starts_with("data:image/png;base64,"))
    );
    assert_eq!(server.get("/page/vector/pictures").json()["pictures"].as_array().unwrap().len(), 0);
}

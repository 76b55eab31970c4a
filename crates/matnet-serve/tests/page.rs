//! What the page at `/` asks for.

mod common;

use common::{bits, inputs, net, options, reference, sample, serve};
use matnet_data::format::npy;

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

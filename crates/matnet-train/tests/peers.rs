//! Runs of every kind and form predict here what they predict in PyTorch, which loaded the same two files
//! (`peers/make-run-reference`).

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use burn::tensor::{Device, Tensor, TensorData};
use matnet::Mode;
use matnet::net::{Net, NetConfig, TuringMachineConfig};
use matnet_data::Array;
use matnet_data::catalog::Cache;
use matnet_data::format::npy;
use matnet_train::task::PredictRequest;
use matnet_train::{Predictor, Run};

/// How far apart two predictions may be.
const TOLERANCE: f32 = 1e-5;

/// The folders of reference runs, with their kind and form.
fn folders() -> Vec<(PathBuf, String, String)> {
    let reference = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/reference");
    let entries = std::fs::read_dir(reference).unwrap().map(|entry| entry.unwrap().path());
    let mut folders: Vec<_> = entries
        .filter(|path| path.is_dir())
        .map(|path| {
            let text = std::fs::read_to_string(path.join("config.toml")).unwrap();
            let model = text.parse::<toml::Table>().unwrap()["model"].clone();
            let word = |key: &str| model.get(key).and_then(|value| value.as_str()).unwrap_or("").to_owned();
            (path, word("kind"), word("form"))
        })
        .collect();
    folders.sort();
    folders
}

fn load(folder: &Path) -> Box<dyn Predictor> {
    Run::at(folder).load("best.safetensors", &Device::flex()).unwrap()
}

fn array(path: &Path) -> Array {
    npy::read(path).unwrap().into_array(path).unwrap()
}

fn compare(folder: &Path, ours: &Array, theirs: &Array) {
    let name = folder.display();
    assert_eq!(ours.shape(), theirs.shape(), "{name}");
    for (at, (ours, theirs)) in ours.data().iter().zip(theirs.data()).enumerate() {
        assert!((ours - theirs).abs() <= TOLERANCE, "{name}: value {at} is {ours}, PyTorch gives {theirs}");
    }
}

#[test]
fn pytorch_predicts_the_same() {
    let mut seen = BTreeSet::new();
    for (folder, kind, form) in folders() {
        let theirs = array(&folder.join("predicted.npy"));
        let input = if folder.join("input.npy").exists() { "input.npy" } else { "input.txt" };
        let input = folder.join(input);
        let cache = Cache::new("none is needed");
        let request = PredictRequest {
            input: &input,
            edges: None,
            batch_size: Some(1000),
            wanted: Default::default(),
            cache: &cache,
        };
        let predictor = load(&folder);
        let batches: Vec<_> = predictor.predict_file(&request).unwrap().batches.map(Result::unwrap).collect();
        let [batch] = &batches[..] else { panic!("{}: one batch expected", folder.display()) };
        let ours = &batch.predictions;
        compare(&folder, &ours.values, &theirs);
        // The class with the highest probability is the predicted one.
        let classes = theirs.shape()[theirs.shape().len() - 1];
        for (probabilities, &class) in theirs.data().chunks(classes).zip(&ours.classes) {
            let best = probabilities[class as usize] + TOLERANCE;
            assert!(probabilities.iter().all(|&p| p <= best), "{}", folder.display());
        }
        seen.insert((kind, form));
    }
    let forms = |kind: &'static str| [(kind, "matrix"), (kind, "vector")];
    let kinds = [
        "feedforward",
        "autoencoder",
        "sequence-classifier",
        "sequence-labeller",
        "seq2seq",
        "turing-machine",
    ];
    let mut wanted: BTreeSet<_> = kinds.into_iter().flat_map(forms).collect();
    wanted.extend([("memory-network", ""), ("end-to-end-memory", "")]);
    let seen: BTreeSet<(&str, &str)> =
        seen.iter().map(|(kind, form)| (kind.as_str(), form.as_str())).collect();
    assert_eq!(seen, wanted);
}

#[test]
fn a_sample_is_predicted_alike_alone_and_in_a_batch() {
    for (folder, kind, _) in folders() {
        if !folder.join("input.npy").exists() || kind == "turing-machine" {
            continue;
        }
        let (predictor, inputs) = (load(&folder), array(&folder.join("input.npy")));
        let all = predictor.predict(inputs.clone()).unwrap();
        for at in 0..inputs.len() {
            let mut shape = inputs.shape().to_vec();
            shape[0] = 1;
            let one = predictor.predict(Array::new(shape, inputs.sample(at).to_vec()).unwrap()).unwrap();
            assert_eq!(one.values.data(), all.values.sample(at), "{}: sample {at}", folder.display());
        }
    }
}

#[test]
fn inputs_that_do_not_fit_are_refused() {
    let reference = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/reference");
    let predictor = load(&reference.join("feedforward-plain-matrix"));
    let error = |shape: &[usize]| {
        let values = vec![0.0; shape.iter().product()];
        predictor.predict(Array::new(shape.to_vec(), values).unwrap()).unwrap_err().to_string()
    };
    assert_eq!(error(&[2, 4, 5]), "the net takes [n, 5, 4], these inputs are [2, 4, 5]");
    assert_eq!(error(&[2, 3, 5, 4]), "the net takes [n, 5, 4], these inputs are [2, 3, 5, 4]");
    assert_eq!(error(&[5]), "the net takes [n, 5, 4], these inputs are [5]");
    let predictor = load(&reference.join("seq2seq-past-vector"));
    let error = predictor.predict(Array::new([1, 0, 5, 4], Vec::new()).unwrap()).unwrap_err();
    assert_eq!(error.to_string(), "the net takes [n, time, 5, 4], these inputs are [1, 0, 5, 4]");
}

#[test]
fn pytorch_gives_the_same_logits_for_algorithms() {
    let mut seen = 0;
    for (folder, kind, _) in folders() {
        if kind != "turing-machine" {
            continue;
        }
        let text = std::fs::read_to_string(folder.join("config.toml")).unwrap();
        let mut model = text.parse::<toml::Table>().unwrap().remove("model").unwrap();
        model.as_table_mut().unwrap().remove("kind");
        let config: TuringMachineConfig = model.try_into().unwrap();
        let bytes = std::fs::read(folder.join("best.safetensors")).unwrap();
        let net = config.blank(&Device::flex()).unwrap();
        let net = matnet::weights::load_safetensors(net, &bytes).unwrap();
        let inputs = array(&folder.join("input.npy"));
        let [n, time, cols] = inputs.shape().try_into().unwrap();
        let data = TensorData::new(inputs.data().to_vec(), [n, time, 1, cols]);
        let logits = net.forward(Tensor::from_data(data, &Device::flex()), &mut Mode::Eval);
        let shape = logits.dims().to_vec();
        let logits = Array::new(shape, logits.into_data().try_to_vec().unwrap()).unwrap();
        compare(&folder, &logits, &array(&folder.join("scores.npy")));
        seen += 1;
    }
    assert_eq!(seen, 4);
}

//! Runs of every kind and form answer here as they do in PyTorch, which loaded the same two files
//! (`peers/make-run-reference`).

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use burn::tensor::{Device, Tensor, TensorData};
use matnet::Mode;
use matnet::net::Net;
use matnet_data::Array;
use matnet_data::cache::Cache;
use matnet_data::format::npy;
use matnet_train::Run;
use matnet_train::model::KINDS;
use matnet_train::stories::{self, PreparedStories, STORY_KINDS};
use matnet_train::task::Kind;

/// How far apart two answers may be.
const MOST: f32 = 1e-5;

fn folders(kind: Kind) -> Vec<PathBuf> {
    let reference = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/reference");
    let entries = std::fs::read_dir(reference).unwrap().map(|entry| entry.unwrap().path());
    let is_run = |path: &PathBuf| path.is_dir() && Run::at(path).kind().unwrap() == kind;
    let mut folders: Vec<PathBuf> = entries.filter(is_run).collect();
    folders.sort();
    folders
}

fn array(path: &Path) -> Array {
    npy::read(path).unwrap().into_array(path).unwrap()
}

fn compare(folder: &Path, ours: &Array, theirs: &Array) {
    let name = folder.display();
    assert_eq!(ours.shape(), theirs.shape(), "{name}");
    for (at, (ours, theirs)) in ours.data().iter().zip(theirs.data()).enumerate() {
        assert!((ours - theirs).abs() <= MOST, "{name}: number {at} is {ours}, PyTorch gives {theirs}");
    }
}

#[test]
fn pytorch_gives_the_same_answers() {
    let mut seen = BTreeSet::new();
    for folder in folders(Kind::Samples) {
        let name = folder.display();
        let trained = Run::at(&folder).trained("best.safetensors", &Device::flex()).unwrap();
        seen.insert((trained.config.kind(), format!("{:?}", trained.config.form())));
        let ours = trained.answer(array(&folder.join("input.npy"))).unwrap();
        let theirs = array(&folder.join("predicted.npy"));
        compare(&folder, &ours.numbers, &theirs);
        // What is said to be the most probable is.
        let classes = trained.note.classes.len().max(1);
        for (shares, &class) in theirs.data().chunks(classes).zip(&ours.classes) {
            assert!(shares.iter().all(|&share| share <= shares[class as usize] + MOST), "{name}");
        }
    }
    let wanted = KINDS.iter().flat_map(|&kind| ["Matrix", "Vector"].map(|form| (kind, form.to_owned())));
    assert_eq!(seen, wanted.collect::<BTreeSet<_>>());
}

#[test]
fn pytorch_answers_alike_to_stories() {
    let mut seen = BTreeSet::new();
    for folder in folders(Kind::Stories) {
        let run = Run::at(&folder);
        let trained = run.trained_on_stories("best.safetensors", &Device::flex()).unwrap();
        seen.insert(trained.config.kind());
        let config = stories::data_config(&run.document().unwrap()).unwrap();
        let told = folder.join("input.txt");
        let told = PreparedStories::load_whole(
            &told.to_string_lossy(),
            &config,
            &trained.note.words,
            &Cache::new("none is needed"),
        )
        .unwrap();
        let ours = trained.answer(&told, &told.split.test).unwrap();
        compare(&folder, &ours.numbers, &array(&folder.join("predicted.npy")));
    }
    assert_eq!(seen, BTreeSet::from(STORY_KINDS));
}

#[test]
fn pytorch_runs_the_same_programs() {
    let mut seen = BTreeSet::new();
    for folder in folders(Kind::Program) {
        let trained = Run::at(&folder).trained_program("best.safetensors", &Device::flex()).unwrap();
        seen.insert(format!("{:?} {:?}", trained.config.0.form, trained.config.0.controller));
        let inputs = array(&folder.join("input.npy"));
        let [n, time, cols] = inputs.shape().try_into().unwrap();
        let data = TensorData::new(inputs.data().to_vec(), [n, time, 1, cols]);
        let scores = trained.net.forward(Tensor::from_data(data, &Device::flex()), &mut Mode::Eval);
        let shape = scores.dims().to_vec();
        let scores = Array::new(shape, scores.into_data().try_to_vec().unwrap()).unwrap();
        compare(&folder, &scores, &array(&folder.join("scores.npy")));
        compare(&folder, &trained.answer(inputs).unwrap().numbers, &array(&folder.join("predicted.npy")));
    }
    let wanted = ["Matrix Feedforward", "Matrix Lstm", "Vector Feedforward", "Vector Lstm"];
    assert_eq!(seen.into_iter().collect::<Vec<_>>(), wanted);
}

#[test]
fn a_sample_is_answered_alike_alone_and_among_others() {
    for folder in folders(Kind::Samples) {
        let trained = Run::at(&folder).trained("best.safetensors", &Device::flex()).unwrap();
        let inputs = array(&folder.join("input.npy"));
        let all = trained.answer(inputs.clone()).unwrap();
        for at in 0..inputs.len() {
            let mut shape = inputs.shape().to_vec();
            shape[0] = 1;
            let one = trained.answer(Array::new(shape, inputs.sample(at).to_vec()).unwrap()).unwrap();
            assert_eq!(one.numbers.data(), all.numbers.sample(at), "{}: sample {at}", folder.display());
        }
    }
}

#[test]
fn inputs_that_do_not_fit_are_refused() {
    let folder = folders(Kind::Samples)
        .into_iter()
        .find(|folder| folder.ends_with("feedforward-plain-matrix"))
        .unwrap();
    let trained = Run::at(&folder).trained("best.safetensors", &Device::flex()).unwrap();
    let error = |shape: &[usize]| {
        let numbers = vec![0.0; shape.iter().product()];
        trained.answer(Array::new(shape.to_vec(), numbers).unwrap()).unwrap_err().to_string()
    };
    assert_eq!(error(&[2, 4, 5]), "the net takes [n, 5, 4], these inputs are [2, 4, 5]");
    assert_eq!(error(&[2, 3, 5, 4]), "the net takes [n, 5, 4], these inputs are [2, 3, 5, 4]");
    assert_eq!(error(&[5]), "the net takes [n, 5, 4], these inputs are [5]");
    let folder =
        folders(Kind::Samples).into_iter().find(|folder| folder.ends_with("seq2seq-past-vector")).unwrap();
    let trained = Run::at(&folder).trained("best.safetensors", &Device::flex()).unwrap();
    let error = trained.answer(Array::new([1, 0, 5, 4], Vec::new()).unwrap()).unwrap_err();
    assert_eq!(error.to_string(), "the net takes [n, time, 5, 4], these inputs are [1, 0, 5, 4]");
}

//! The C example, built with the system's compiler, predicts as the library does; wrong calls give codes and messages.

use std::ffi::{CStr, CString};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::ptr;

use burn::tensor::Device;
use matnet_c::{
    Status, matnet_free, matnet_last_error, matnet_load, matnet_name, matnet_name_count, matnet_predict,
    matnet_prediction_free,
};
use matnet_data::Array;
use matnet_data::catalog::Cache;
use matnet_train::task::Predictions;
use matnet_train::{Document, Options, Planner, Run};
use tempfile::TempDir;

const FEEDFORWARD: &str = "
[data]
source = 'optdigits'
limit = 80
scale = 'standardize'
[model]
kind = 'feedforward'
hidden = [3, 3]
[train]
epochs = 1
";

const SEQUENCES: &str = "
[data]
source = 'vowels'
limit = 60
[model]
kind = 'sequence-classifier'
hidden = [3, 3]
[train]
epochs = 1
";

fn train(folder: &Path, config: &str) -> Run {
    let document = Document::parse(config).unwrap();
    let plan = Planner::default().plan(&document, &Cache::new(folder)).unwrap();
    let run = Run::at(folder.join("run"));
    plan.train(&run, &Options::default(), &mut ()).unwrap();
    run
}

/// Numbers between 0 and 16 that look random.
fn numbers(count: usize) -> Vec<f32> {
    (0..count).map(|at| ((at * 7919 + 13) % 1601) as f32 / 100.0).collect()
}

/// The library beside the test, and the example linked to it.
fn example(folder: &Path) -> PathBuf {
    let crate_folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    let deps = std::env::current_exe().unwrap().parent().unwrap().to_owned();
    let program = folder.join("predict");
    let library = std::fs::read_dir(&deps)
        .unwrap()
        .flatten()
        .map(|entry| entry.path())
        .filter(|path| {
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            name.starts_with("libmatnet_c") && [".so", ".dylib"].iter().any(|end| name.ends_with(end))
        })
        .max_by_key(|path| path.metadata().and_then(|meta| meta.modified()).ok())
        .expect("cargo builds the shared library beside the tests");
    let done = Command::new("cc")
        .args(["-std=c11", "-Wall", "-Wextra", "-Werror", "-O1", "-I"])
        .arg(crate_folder.join("include"))
        .arg(crate_folder.join("examples/predict.c"))
        .arg(&library)
        .arg(format!("-Wl,-rpath,{}", deps.display()))
        .arg("-o")
        .arg(&program)
        .status()
        .expect("a C compiler called cc");
    assert!(done.success());
    program
}

/// Predicts with the example, and compares every number with the library's.
fn compare(run: &Run, program: &Path, folder: &Path, inputs: &Array, lengths: &[usize], names: &[String]) {
    let net = run.load("best.safetensors", &Device::flex()).unwrap();
    let Predictions { values, classes, .. } = net.predict_sequences(inputs.clone(), lengths).unwrap();
    let bytes: Vec<u8> = inputs.data().iter().flat_map(|value| value.to_le_bytes()).collect();
    std::fs::write(folder.join("inputs.f32"), bytes).unwrap();
    let output = Command::new(program)
        .arg(folder.join("run"))
        .arg(folder.join("inputs.f32"))
        .arg(inputs.len().to_string())
        .args(lengths.iter().map(usize::to_string))
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).unwrap();
    assert_eq!(text.lines().count(), inputs.len());
    for (at, line) in text.lines().enumerate() {
        let mut words = line.split('\t');
        assert_eq!(words.next(), Some(names[classes[at] as usize].as_str()));
        let found: Vec<f32> = words.map(|word| word.parse().unwrap()).collect();
        assert_eq!(found, values.sample(at), "nine digits give every bit back");
    }
}

#[test]
fn the_example_predicts_as_the_library_does() {
    for (config, shape, lengths) in
        [(FEEDFORWARD, vec![4, 8, 8], vec![]), (SEQUENCES, vec![3, 9, 12, 1], vec![9, 2, 5])]
    {
        let folder = TempDir::new().unwrap();
        let run = train(folder.path(), config);
        let program = example(folder.path());
        let inputs = Array::new(shape.clone(), numbers(shape.iter().product())).unwrap();
        let names = run.load("best.safetensors", &Device::flex()).unwrap().interface().unwrap().names;
        compare(&run, &program, folder.path(), &inputs, &lengths, &names);
    }
}

fn last_error() -> String {
    // SAFETY: the library's own string.
    unsafe { CStr::from_ptr(matnet_last_error()) }.to_str().unwrap().to_owned()
}

#[test]
fn wrong_calls_give_codes_and_messages() {
    let folder = TempDir::new().unwrap();
    train(folder.path(), FEEDFORWARD);
    let path = |name: &str| CString::new(folder.path().join(name).to_str().unwrap()).unwrap();
    let mut model = ptr::null_mut();
    // SAFETY: pointers to variables of this function, strings that end with zero, and handles that are not freed.
    unsafe {
        assert_eq!(matnet_load(ptr::null(), &mut model), Status::Argument);
        assert_eq!(last_error(), "run is NULL");
        assert_eq!(matnet_load(path("nothing").as_ptr(), &mut model), Status::Run);
        assert!(model.is_null() && last_error().contains("there is no run here"), "{}", last_error());
        assert_eq!(matnet_load(path("run").as_ptr(), &mut model), Status::Ok);
        assert_eq!(matnet_name_count(model), 10);
        assert!(matnet_name(model, 10).is_null());
        let mut prediction = ptr::null_mut();
        let input = numbers(4 * 64);
        let mut predict = |shape: &[usize], lengths: *const usize| {
            let status =
                matnet_predict(model, input.as_ptr(), shape.as_ptr(), shape.len(), lengths, &mut prediction);
            assert_eq!(prediction.is_null(), status != Status::Ok);
            (status, prediction)
        };
        assert_eq!(predict(&[4, 4, 16], ptr::null()).0, Status::Input);
        assert!(last_error().contains("[n, 8, 8]"), "{}", last_error());
        assert_eq!(predict(&[256], ptr::null()).0, Status::Input);
        assert_eq!(predict(&[usize::MAX, 8, 8], ptr::null()).0, Status::Input);
        assert_eq!(predict(&[4, 8, 8], [1, 2, 3, 4].as_ptr()).0, Status::Input);
        assert_eq!(last_error(), "lengths were given for single matrices");
        let (status, prediction) = predict(&[4, 8, 8], ptr::null());
        assert_eq!(status, Status::Ok);
        matnet_prediction_free(prediction);
        matnet_prediction_free(ptr::null_mut());
        matnet_free(model);
        matnet_free(ptr::null_mut());
        assert_eq!(matnet_name_count(ptr::null()), 0);
    }
}

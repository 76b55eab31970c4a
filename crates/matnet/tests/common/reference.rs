//! Files that another library made: weights, inputs, and what came out of them there.
#![allow(dead_code)] // Each test file uses its own part of this.

use std::cell::Cell as Mutable;
use std::path::PathBuf;

use burn::module::{ModuleVisitor, Param};
use burn::tensor::{Device, Gradients, Tensor, TensorData};
use safetensors::tensor::{Dtype, SafeTensors, TensorView};
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::device;

/// How far a number may lie from PyTorch's, relative to the largest of its tensor or to 1.
fn tolerance() -> f64 {
    if device() == Device::flex() { 1e-5 } else { 1e-4 }
}

/// One file: what to build, and the numbers.
pub struct Reference {
    pub name: String,
    bytes: Vec<u8>,
    pub about: Value,
    worst: Mutable<f64>,
}

impl Reference {
    pub fn read(path: PathBuf) -> Self {
        let name = path.file_stem().expect("a file name").to_string_lossy().into_owned();
        let bytes = std::fs::read(&path).expect("the reference can be read");
        let (_, header) = SafeTensors::read_metadata(&bytes).expect("the reference is a safetensors file");
        let about = header.metadata().as_ref().and_then(|entries| entries.get("about"));
        let about = serde_json::from_str(about.expect("the reference says what it is")).expect("in JSON");
        Self { name, bytes, about, worst: Mutable::new(0.0) }
    }

    pub fn file(&self) -> SafeTensors<'_> {
        SafeTensors::deserialize(&self.bytes).expect("checked when read")
    }

    pub fn config<C: DeserializeOwned>(&self) -> C {
        let config = serde_json::from_value(self.about["config"].clone());
        config.unwrap_or_else(|error| panic!("{}: {error}", self.name))
    }

    /// A part of the config.
    pub fn option<C: DeserializeOwned>(&self, key: &str) -> Option<C> {
        let option = self.about["config"].get(key)?;
        Some(serde_json::from_value(option.clone()).expect("the option has the right type"))
    }

    pub fn numbers(&self, key: &str) -> Option<(Vec<usize>, Vec<f32>)> {
        let file = self.file();
        let view = file.tensor(key).ok()?;
        assert_eq!(view.dtype(), Dtype::F32);
        let numbers = view.data().chunks_exact(4).map(|bytes| f32::from_le_bytes(bytes.try_into().unwrap()));
        Some((view.shape().to_vec(), numbers.collect()))
    }

    /// A tensor of the file, ready to be asked for its gradient.
    pub fn leaf<const D: usize>(&self, key: &str) -> Option<Tensor<D>> {
        let (shape, numbers) = self.numbers(key)?;
        assert_eq!(shape.len(), D, "{}: {key}", self.name);
        Some(Tensor::from_data(TensorData::new(numbers, shape), &device()).require_grad())
    }

    pub fn input<const D: usize>(&self, key: &str) -> Tensor<D> {
        self.leaf(&format!("input.{key}")).unwrap_or_else(|| panic!("{}: no {key}", self.name))
    }

    /// Compares an output; gives its share of the loss.
    pub fn weigh<const D: usize>(&self, key: &str, output: Tensor<D>) -> Tensor<1> {
        self.compare(&format!("output.{key}"), output.clone().into_data());
        let weights = self.leaf::<D>(&format!("weigh.{key}")).expect("a weight per output");
        (output * weights.detach()).sum()
    }

    pub fn compare_gradient<const D: usize>(&self, key: &str, leaf: &Tensor<D>, gradients: &Gradients) {
        let gradient = leaf.grad(gradients).map(Tensor::into_data);
        let gradient = gradient.unwrap_or_else(|| panic!("{}: no gradient of {key}", self.name));
        self.compare(&format!("grad.{key}"), gradient);
    }

    pub fn compare(&self, key: &str, got: TensorData) {
        let (shape, want) = self.numbers(key).unwrap_or_else(|| panic!("{}: no {key}", self.name));
        assert_eq!(got.shape().as_slice(), shape, "{}: {key}", self.name);
        let got = got.as_slice::<f32>().expect("f32 in, f32 out");
        let scale = want.iter().fold(1.0, |scale, x| f64::from(x.abs()).max(scale));
        let tolerance = tolerance();
        for (index, (&got, &want)) in got.iter().zip(&want).enumerate() {
            let error = (f64::from(got) - f64::from(want)).abs() / scale;
            assert!(
                error <= tolerance,
                "{}: {key} number {index} is {got}, PyTorch has {want}: off by {error:e}",
                self.name
            );
            self.worst.set(self.worst.get().max(error));
        }
    }
}

/// Runs `check` on every reference of this kind, and makes sure that there are as many as there should be.
pub fn each(folder: &str, kind: &str, count: usize, check: impl Fn(&Reference)) {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests").join(folder);
    let mut paths: Vec<PathBuf> =
        std::fs::read_dir(folder).expect("the folder is there").map(|entry| entry.unwrap().path()).collect();
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "safetensors"));
    paths.sort();
    let references: Vec<Reference> =
        paths.into_iter().map(Reference::read).filter(|reference| reference.about["kind"] == kind).collect();
    assert_eq!(references.len(), count, "references of {kind}");
    for reference in references {
        check(&reference);
        println!("{}: largest error {:.1e}", reference.name, reference.worst.get());
    }
}

/// The weights of a reference as a file of their own.
pub fn weights_of(reference: &Reference) -> Vec<u8> {
    let file = reference.file();
    let weights: Vec<(String, TensorView)> = file
        .tensors()
        .into_iter()
        .filter_map(|(name, view)| Some((name.strip_prefix("weight.")?.to_owned(), view)))
        .collect();
    safetensors::serialize(weights, None).expect("tensors of a file make a file")
}

/// The gradients of a net's parameters, in the order of [`weights::named`].
pub struct Collect<'a> {
    pub gradients: &'a Gradients,
    pub found: Vec<Option<TensorData>>,
}

impl ModuleVisitor for Collect<'_> {
    fn visit_float<const D: usize>(&mut self, param: &Param<Tensor<D>>) {
        self.found.push(param.val().grad(self.gradients).map(Tensor::into_data));
    }
}

//! Operations and nets against PyTorch: the output and every gradient, on the weights and inputs of the
//! files in `reference/`, which `peers/make-reference` made.

use std::cell::Cell as Mutable;
use std::path::PathBuf;

use burn::module::{ModuleVisitor, Param};
use burn::tensor::{Device, Gradients, Tensor, TensorData};
use matnet::ops::{self, Cell, Keep, Mat2Maps, MatState, RecurrentMaps, Steps};
use matnet::prelude::*;
use matnet::weights;
use safetensors::tensor::{Dtype, SafeTensors, TensorView};
use serde::de::DeserializeOwned;
use serde_json::Value;

/// How far a number may lie from PyTorch's, relative to the largest of its tensor or to 1.
const TOLERANCE: f64 = 1e-5;

/// One file: what to build, and the numbers.
struct Reference {
    name: String,
    bytes: Vec<u8>,
    about: Value,
    worst: Mutable<f64>,
}

impl Reference {
    fn read(path: PathBuf) -> Self {
        let name = path.file_stem().expect("a file name").to_string_lossy().into_owned();
        let bytes = std::fs::read(&path).expect("the reference can be read");
        let (_, header) = SafeTensors::read_metadata(&bytes).expect("the reference is a safetensors file");
        let about = header.metadata().as_ref().and_then(|entries| entries.get("about"));
        let about = serde_json::from_str(about.expect("the reference says what it is")).expect("in JSON");
        Self { name, bytes, about, worst: Mutable::new(0.0) }
    }

    fn file(&self) -> SafeTensors<'_> {
        SafeTensors::deserialize(&self.bytes).expect("checked when read")
    }

    fn config<C: DeserializeOwned>(&self) -> C {
        let config = serde_json::from_value(self.about["config"].clone());
        config.unwrap_or_else(|error| panic!("{}: {error}", self.name))
    }

    /// A part of the config.
    fn option<C: DeserializeOwned>(&self, key: &str) -> Option<C> {
        let option = self.about["config"].get(key)?;
        Some(serde_json::from_value(option.clone()).expect("the option has the right type"))
    }

    fn numbers(&self, key: &str) -> Option<(Vec<usize>, Vec<f32>)> {
        let file = self.file();
        let view = file.tensor(key).ok()?;
        assert_eq!(view.dtype(), Dtype::F32);
        let numbers = view.data().chunks_exact(4).map(|bytes| f32::from_le_bytes(bytes.try_into().unwrap()));
        Some((view.shape().to_vec(), numbers.collect()))
    }

    /// A tensor of the file, ready to be asked for its gradient.
    fn leaf<const D: usize>(&self, key: &str) -> Option<Tensor<D>> {
        let (shape, numbers) = self.numbers(key)?;
        assert_eq!(shape.len(), D, "{}: {key}", self.name);
        Some(Tensor::from_data(TensorData::new(numbers, shape), &device()).require_grad())
    }

    fn input<const D: usize>(&self, key: &str) -> Tensor<D> {
        self.leaf(&format!("input.{key}")).unwrap_or_else(|| panic!("{}: no {key}", self.name))
    }

    /// Compares an output; gives its share of the loss.
    fn weigh<const D: usize>(&self, key: &str, output: Tensor<D>) -> Tensor<1> {
        self.compare(&format!("output.{key}"), output.clone().into_data());
        let weights = self.leaf::<D>(&format!("weigh.{key}")).expect("a weight per output");
        (output * weights.detach()).sum()
    }

    fn compare_gradient<const D: usize>(&self, key: &str, leaf: &Tensor<D>, gradients: &Gradients) {
        let gradient = leaf.grad(gradients).map(Tensor::into_data);
        let gradient = gradient.unwrap_or_else(|| panic!("{}: no gradient of {key}", self.name));
        self.compare(&format!("grad.{key}"), gradient);
    }

    fn compare(&self, key: &str, got: TensorData) {
        let (shape, want) = self.numbers(key).unwrap_or_else(|| panic!("{}: no {key}", self.name));
        assert_eq!(got.shape().as_slice(), shape, "{}: {key}", self.name);
        let got = got.as_slice::<f32>().expect("f32 in, f32 out");
        let scale = want.iter().fold(1.0, |scale, x| f64::from(x.abs()).max(scale));
        for (index, (&got, &want)) in got.iter().zip(&want).enumerate() {
            let error = (f64::from(got) - f64::from(want)).abs() / scale;
            assert!(
                error <= TOLERANCE,
                "{}: {key} number {index} is {got}, PyTorch has {want}: off by {error:e}",
                self.name
            );
            self.worst.set(self.worst.get().max(error));
        }
    }
}

fn device() -> Device {
    Device::flex().autodiff()
}

/// Runs `check` on every reference of this kind, and makes sure that there are as many as there should be.
fn each(kind: &str, count: usize, check: impl Fn(&Reference)) {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/reference");
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

#[test]
fn mat1() {
    each("mat1", 5, |reference| {
        let input: Tensor<3> = reference.input("input");
        let [row_map, col_map] = ["row_map", "col_map"].map(|key| reference.input::<2>(key));
        let bias: Option<Tensor<2>> = reference.leaf("input.bias");
        let activation = reference.option("activation").unwrap();
        let output = ops::mat1(input.clone(), row_map.clone(), col_map.clone(), bias.clone(), activation);
        let gradients = reference.weigh("output", output).backward();
        reference.compare_gradient("input", &input, &gradients);
        reference.compare_gradient("row_map", &row_map, &gradients);
        reference.compare_gradient("col_map", &col_map, &gradients);
        if let Some(bias) = bias {
            reference.compare_gradient("bias", &bias, &gradients);
        }
    });
}

#[test]
fn mat2() {
    each("mat2", 5, |reference| {
        let (p, q): (Tensor<3>, Tensor<3>) = (reference.input("p"), reference.input("q"));
        let maps = Mat2Maps {
            p_row_map: reference.input("p_row_map"),
            p_col_map: reference.input("p_col_map"),
            q_row_map: reference.input("q_row_map"),
            q_col_map: reference.input("q_col_map"),
            bias: reference.leaf("input.bias"),
        };
        let activation = reference.option("activation").unwrap();
        let output = ops::mat2(p.clone(), q.clone(), maps.clone(), activation);
        let gradients = reference.weigh("output", output).backward();
        for (key, leaf) in [("p", &p), ("q", &q)] {
            reference.compare_gradient(key, leaf, &gradients);
        }
        for (key, leaf) in [
            ("p_row_map", Some(&maps.p_row_map)),
            ("p_col_map", Some(&maps.p_col_map)),
            ("q_row_map", Some(&maps.q_row_map)),
            ("q_col_map", Some(&maps.q_col_map)),
            ("bias", maps.bias.as_ref()),
        ] {
            if let Some(leaf) = leaf {
                reference.compare_gradient(key, leaf, &gradients);
            }
        }
    });
}

#[test]
fn recurrences() {
    each("recurrent", 21, |reference| {
        let cell: Cell = reference.option("cell").unwrap();
        let keep: String = reference.option("keep").unwrap();
        let keep = if keep == "all" { Keep::All } else { Keep::Last };
        let maps = RecurrentMaps {
            input_row_map: reference.input("input_row_map"),
            input_col_map: reference.input("input_col_map"),
            state_row_map: reference.input("state_row_map"),
            state_col_map: reference.input("state_col_map"),
            bias: reference.input("bias"),
        };
        let start = reference
            .leaf("input.hidden")
            .map(|hidden| MatState { hidden, memory: reference.leaf("input.memory") });
        let steps = match reference.option("constant") {
            Some(time) => Steps::Constant(reference.input("input"), time),
            None => Steps::Sequence(reference.input("input")),
        };
        let (states, end) = ops::recurrent(cell, steps.clone(), start.clone(), maps.clone(), keep);
        let mut loss = reference.weigh("states", states) + reference.weigh("hidden", end.hidden);
        if let Some(memory) = end.memory {
            loss = loss + reference.weigh("memory", memory);
        }
        let gradients = loss.backward();
        match &steps {
            Steps::Sequence(input) => reference.compare_gradient("input", input, &gradients),
            Steps::Constant(input, _) => reference.compare_gradient("input", input, &gradients),
        }
        for (key, leaf) in [
            ("input_row_map", &maps.input_row_map),
            ("input_col_map", &maps.input_col_map),
            ("state_row_map", &maps.state_row_map),
            ("state_col_map", &maps.state_col_map),
            ("bias", &maps.bias),
        ] {
            reference.compare_gradient(key, leaf, &gradients);
        }
        if let Some(start) = start {
            reference.compare_gradient("hidden", &start.hidden, &gradients);
            if let Some(memory) = start.memory {
                reference.compare_gradient("memory", &memory, &gradients);
            }
        }
    });
}

#[test]
fn feed_forward() {
    each("feedforward", 22, |reference| {
        if gives_matrices(reference) {
            let config: FeedForwardConfig<[usize; 2]> = reference.config();
            check_net(reference, config.init(&mut stream(), &device()));
        } else {
            let config: FeedForwardConfig<usize> = reference.config();
            check_net(reference, config.init(&mut stream(), &device()));
        }
    });
}

#[test]
fn auto_encoder() {
    each("autoencoder", 4, |reference| {
        let config: AutoEncoderConfig = reference.config();
        check_net(reference, config.init(&mut stream(), &device()));
    });
}

#[test]
fn sequence_classifier() {
    each("sequence_classifier", 6, |reference| {
        let config: SequenceClassifierConfig = reference.config();
        check_net(reference, config.init(&mut stream(), &device()));
    });
}

#[test]
fn sequence_labeller() {
    each("sequence_labeller", 6, |reference| {
        if gives_matrices(reference) {
            let config: SequenceLabellerConfig<[usize; 2]> = reference.config();
            check_net(reference, config.init(&mut stream(), &device()));
        } else {
            let config: SequenceLabellerConfig<usize> = reference.config();
            check_net(reference, config.init(&mut stream(), &device()));
        }
    });
}

#[test]
fn seq2seq() {
    each("seq2seq", 6, |reference| {
        let config: Seq2SeqConfig = reference.config();
        check_net(reference, config.init(&mut stream(), &device()));
    });
}

fn gives_matrices(reference: &Reference) -> bool {
    reference.about["config"]["output"].is_array()
}

/// What is drawn from it is replaced or, with no noise and no dropout, not drawn.
fn stream() -> Stream {
    Stream::new(0, "parity")
}

/// A net with the reference's weights: output, gradient of the input and of every parameter, and what a
/// pass in train mode leaves behind.
fn check_net<N, const I: usize, const O: usize>(reference: &Reference, net: Result<N, ConfigError>)
where
    N: Net<Input = Tensor<I>, Output = Tensor<O>>,
{
    let net = net.unwrap_or_else(|error| panic!("{}: {error}", reference.name));
    let net = weights::load_safetensors(net, &weights_of(reference))
        .unwrap_or_else(|error| panic!("{}: {error}", reference.name));
    let mut mode = if reference.about["mode"] == "train" { Mode::train(stream()) } else { Mode::Eval };
    let input = reference.input::<I>("input");
    let output = net.forward(input.clone(), &mut mode);
    let gradients = reference.weigh("output", output).backward();
    reference.compare_gradient("input", &input, &gradients);

    let mut visitor = Collect { gradients: &gradients, found: Vec::new() };
    net.visit(&mut visitor);
    let named = weights::named(&net);
    assert_eq!(named.len(), visitor.found.len());
    for ((name, value), gradient) in named.into_iter().zip(visitor.found) {
        match gradient {
            Some(gradient) => reference.compare(&format!("grad.weight.{name}"), gradient),
            None => assert!(name.contains("running_"), "{}: no gradient of {name}", reference.name),
        }
        if name.contains("running_") && mode.is_train() {
            reference.compare(&format!("after.{name}"), value);
        }
    }
}

/// The weights of a reference as a file of their own.
fn weights_of(reference: &Reference) -> Vec<u8> {
    let file = reference.file();
    let weights: Vec<(String, TensorView)> = file
        .tensors()
        .into_iter()
        .filter_map(|(name, view)| Some((name.strip_prefix("weight.")?.to_owned(), view)))
        .collect();
    safetensors::serialize(weights, None).expect("tensors of a file make a file")
}

/// The gradients of a net's parameters, in the order of [`weights::named`].
struct Collect<'a> {
    gradients: &'a Gradients,
    found: Vec<Option<TensorData>>,
}

impl ModuleVisitor for Collect<'_> {
    fn visit_float<const D: usize>(&mut self, param: &Param<Tensor<D>>) {
        self.found.push(param.val().grad(self.gradients).map(Tensor::into_data));
    }
}

//! The Neural Turing Machine: a controller with a memory beside it.

use burn::module::Module;
use burn::tensor::{Device, Tensor};
use serde::{Deserialize, Serialize};

use super::controller::ControllerConfig;
use super::{Controller, ControllerKind};
use crate::config::{one, setters};
use crate::error::{ConfigError, check_count, check_finite, check_sides};
use crate::form::Form;
use crate::init::{Init, parameter};
use crate::layer::{Map, MapConfig};
use crate::mode::Mode;
use crate::net::{Net, check_input};
use crate::ops::{MemorySize, MemoryState, memory_step};
use crate::random::SeededRng;
use crate::vector::{VecLinear, VecLinearConfig};

/// The farthest that a head may move in a step.
const MOST_SHIFT: usize = 100;
/// Most heads of a kind.
const MOST_HEADS: usize = 1000;

/// The config of a [`TuringMachine`].
///
/// ```
/// use burn::tensor::{Device, Tensor};
/// use matnet::prelude::*;
///
/// let device = Device::flex();
/// let net = TuringMachineConfig::new([1, 10], [100], [1, 8])
///     .with_form(Form::Vector)
///     .with_slots(32)
///     .init(&mut SeededRng::new(42, "init"), &device)?;
/// let output = net.forward(Tensor::ones([2, 5, 1, 10], &device), &mut Mode::Eval);
/// assert_eq!(output.dims(), [2, 5, 1, 8]);
/// # Ok::<(), matnet::ConfigError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TuringMachineConfig {
    /// Matrix or vector: the form of the controller. Default: matrix.
    #[serde(default)]
    pub form: Form,
    /// Rows and columns of Xₜ.
    pub input: [usize; 2],
    /// The sides of the controller's H: `[rows, cols]`, or `[n]` for vectors.
    pub hidden: Vec<usize>,
    /// Rows and columns of Yₜ.
    pub output: [usize; 2],
    /// The controller. Default: LSTM.
    #[serde(default)]
    pub controller: ControllerKind,
    /// How many slots the memory has. Default: 128.
    #[serde(default = "slots")]
    pub slots: usize,
    /// Numbers in a slot. Default: 20.
    #[serde(default = "width")]
    pub width: usize,
    /// How many heads read. Default: 1.
    #[serde(default = "one")]
    pub read_heads: usize,
    /// How many heads write. Default: 1.
    #[serde(default = "one")]
    pub write_heads: usize,
    /// How far a head can move in a step, either way. Default: 1.
    #[serde(default = "one")]
    pub shift: usize,
    /// The first bias of γ′: higher ones keep what moving blurs sharp from the start, and learning less steady. Default: 0.
    #[serde(default)]
    pub sharpness: f64,
    /// The first bias of an LSTM's forget gate. Default: 0.
    #[serde(default)]
    pub forget_bias: f64,
    /// How the maps start. Default: orthogonal.
    #[serde(default)]
    pub init: Init,
}

fn slots() -> usize {
    128
}

fn width() -> usize {
    20
}

impl TuringMachineConfig {
    /// A matrix LSTM with a memory of 128 slots of 20 numbers, a head that reads and one that writes.
    pub fn new(input: [usize; 2], hidden: impl Into<Vec<usize>>, output: [usize; 2]) -> Self {
        Self {
            form: Form::Matrix,
            input,
            hidden: hidden.into(),
            output,
            controller: ControllerKind::Lstm,
            slots: slots(),
            width: width(),
            read_heads: 1,
            write_heads: 1,
            shift: 1,
            sharpness: 0.0,
            forget_bias: 0.0,
            init: Init::default(),
        }
    }

    setters! {
        with_form(form: Form);
        with_controller(controller: ControllerKind);
        with_slots(slots: usize);
        with_width(width: usize);
        with_read_heads(read_heads: usize);
        with_write_heads(write_heads: usize);
        with_shift(shift: usize);
        with_sharpness(sharpness: f64);
        with_forget_bias(forget_bias: f64);
        with_init(init: Init);
    }

    /// The sizes of the memory; an error that names the key if they cannot be.
    fn memory(&self) -> Result<MemorySize, ConfigError> {
        check_sides("slots", &[self.slots])?;
        check_sides("width", &[self.width])?;
        check_sides("slots", &[self.slots, self.width])?;
        check_count("read_heads", self.read_heads, MOST_HEADS)?;
        check_count("write_heads", self.write_heads, MOST_HEADS)?;
        let (reads, writes, shift) = (self.read_heads, self.write_heads, self.shift);
        if shift > MOST_SHIFT || 2 * shift >= self.slots {
            let most = MOST_SHIFT.min((self.slots - 1) / 2);
            let expected = format!("in a circle of {} slots a head moves by at most {most}", self.slots);
            return Err(ConfigError::new("shift", shift.to_string(), expected));
        }
        let size = MemorySize { slots: self.slots, width: self.width, reads, writes, shift };
        check_sides("slots", &[size.state()])?;
        Ok(size)
    }

    /// Checks the config and draws the first values from `rng`.
    pub fn init(&self, rng: &mut SeededRng, device: &Device) -> Result<TuringMachine, ConfigError> {
        let size = self.memory()?;
        check_finite("sharpness", self.sharpness)?;
        let hidden = self.form.state("hidden", &self.hidden)?;
        let [rows, cols] = self.input;
        let seen = self.form.holding("input", self.input)?;
        let read = self.form.holding("read_heads", [size.reads, size.width])?;
        // A controller of matrices sees its input as rows as wide as a slot, above those that were read.
        let (entry, seen) = match self.form {
            Form::Vector => (None, [seen[0] + read[0], 1]),
            Form::Matrix => {
                check_sides("input", &[cols, size.width])?;
                let entry = VecLinearConfig::new(cols, size.width).with_bias(false).with_init(self.init);
                (Some(entry.init(rng, device)?), [rows + read[0], size.width])
            }
        };
        let controller = ControllerConfig {
            kind: self.controller,
            form: self.form,
            input: seen,
            hidden,
            forget_bias: self.forget_bias,
            init: self.init,
        };
        let controller = controller.init(rng, device)?;
        let output = self.form.holding("output", self.output)?;
        let mut map = |key: &str, from: [usize; 2], to: [usize; 2], bias: bool| -> Result<Map, ConfigError> {
            let config = MapConfig { bias, init: self.init, ..MapConfig::new(self.form, from, to) };
            config.numbers(key)?;
            config.init(rng, device)
        };
        let heads = self.form.holding("read_heads", [size.heads(), size.address()])?;
        let mut address = map("hidden", hidden, heads, true)?;
        set_bias(&mut address, first_address(&size, self.sharpness), device);
        Ok(TuringMachine {
            change: map("hidden", hidden, self.form.holding("width", [2 * size.writes, size.width])?, true)?,
            hidden_out: map("output", hidden, output, true)?,
            read_out: map("output", read, output, false)?,
            entry,
            controller,
            address,
            form: self.form,
            input: self.input,
            output: self.output,
            size,
        })
    }
}

/// The biases of an address at the beginning, head after head.
fn first_address(size: &MemorySize, sharpness: f64) -> Vec<f32> {
    let mut one = vec![0.0; size.address()];
    one[size.address() - 1] = sharpness as f32;
    one.repeat(size.heads())
}

fn set_bias(map: &mut Map, numbers: Vec<f32>, device: &Device) {
    match map {
        Map::Matrix(map) => {
            let [rows, cols] = map.output();
            map.bias = Some(parameter(numbers, [rows, cols], device));
        }
        Map::Vector(map) => {
            let count = numbers.len();
            map.bias = Some(parameter(numbers, [count], device));
        }
    }
}

/// A Neural Turing Machine, made with [`TuringMachineConfig`].
///
/// A controller sees Xₜ and what the heads read a step ago, Rₜ₋₁, and tells them where to look, what to erase and what to add;
/// [`memory_step`] does it. Both the controller's state and what was read then give the output:
///
/// ```text
/// Hₜ = controller(Xₜ, Rₜ₋₁)
/// Pₜ, Wₜ, Rₜ = memory_step(Pₜ₋₁, Wₜ₋₁, mat1(Hₜ), mat1(Hₜ))
/// Yₜ = mat2(Hₜ, Rₜ)
/// ```
///
/// In the vector form Xₜ and Rₜ₋₁ are one vector, and every map is dense. In the matrix form the controller sees the rows XₜV, as
/// wide as a slot, above the rows of Rₜ₋₁, and what the heads are told is a matrix with a row per head.
#[derive(Module, Debug)]
pub struct TuringMachine {
    /// V: from the columns of an input to the width of a slot; in the matrix form.
    pub entry: Option<VecLinear>,
    /// From what is seen to H.
    pub controller: Controller,
    /// From H to where the heads look: `[heads, width + 4 + 2 · shift]`.
    pub address: Map,
    /// From H to what is erased and added: `[2 · writes, width]`.
    pub change: Map,
    /// From H to Y.
    pub hidden_out: Map,
    /// From R to Y.
    pub read_out: Map,
    #[module(skip)]
    form: Form,
    #[module(skip)]
    input: [usize; 2],
    #[module(skip)]
    output: [usize; 2],
    #[module(skip)]
    size: MemorySize,
}

/// What a machine did, step by step.
#[derive(Clone, Debug)]
pub struct Trace {
    /// Y: `[batch, time, rows, cols]`
    pub output: Tensor<4>,
    /// Where the heads looked, those that read first: `[batch, time, heads, slots]`.
    pub weights: Tensor<4>,
    /// The memory at the end.
    pub memory: MemoryState,
}

impl TuringMachine {
    /// The sizes of the memory.
    pub fn memory_size(&self) -> MemorySize {
        self.size
    }

    /// As [`forward`](Net::forward), with all that can be watched; `each` is shown every state of the memory.
    fn run(
        &self,
        input: Tensor<4>,
        mode: &mut Mode,
        mut each: impl FnMut(&MemoryState),
    ) -> (Tensor<4>, MemoryState) {
        check_input("turing machine", &input, self.input);
        let [batch, time, rows, cols] = input.dims();
        let device = input.device();
        let steps = match &self.entry {
            None => self.form.enter_sequence(input),
            Some(entry) => {
                let wide = entry.forward(input.reshape([batch * time * rows, cols]));
                wide.reshape([batch, time, rows, self.size.width])
            }
        };
        let mut memory = MemoryState::start(self.size, batch, &device).cast(steps.dtype());
        let mut state = None;
        let (mut hidden, mut read) = (Vec::with_capacity(time), Vec::with_capacity(time));
        let mut last = self.form.enter(memory.read());
        for at in 0..time {
            let seen = Tensor::cat(vec![steps.clone().narrow(1, at, 1).squeeze_dim::<3>(1), last], 1);
            let (now, after) = self.controller.step(seen, state);
            let flat = |map: &Map| map.forward(now.clone()).flatten::<2>(1, 2);
            memory = memory_step(memory, flat(&self.address), flat(&self.change));
            last = self.form.enter(memory.read());
            mode.see(|| format!("controller at step {}", at + 1), &now);
            mode.see(|| format!("memory at step {}", at + 1), &last);
            each(&memory);
            hidden.push(now);
            read.push(last.clone());
            state = after;
        }
        let all = |parts: Vec<Tensor<3>>| Tensor::stack::<4>(parts, 1).flatten::<3>(0, 1);
        let output = self.hidden_out.forward(all(hidden)) + self.read_out.forward(all(read));
        let [rows, cols] = self.output;
        (output.reshape([batch, time, rows, cols]), memory)
    }

    /// What the machine does with some sequences, for looking at.
    pub fn trace(&self, input: Tensor<4>) -> Trace {
        let mut weights = Vec::new();
        let (output, memory) = self.run(input, &mut Mode::Eval, |memory| weights.push(memory.weights()));
        Trace { output, weights: Tensor::stack(weights, 1), memory }
    }
}

impl Net for TuringMachine {
    type Input = Tensor<4>;
    type Output = Tensor<4>;

    fn forward(&self, input: Tensor<4>, mode: &mut Mode) -> Tensor<4> {
        self.run(input, mode, |_| {}).0
    }

    fn form(&self) -> Form {
        self.form
    }
}

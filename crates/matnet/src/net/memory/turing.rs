//! The Neural Turing Machine: a controller with an external memory.

use burn::module::Module;
use burn::tensor::{Device, Tensor};

use super::controller::ControllerConfig;
use super::{Controller, ControllerKind};
use crate::config::config;
use crate::error::{ConfigError, check_count, check_finite, check_sides};
use crate::form::Form;
use crate::init::{Init, parameter};
use crate::layer::{Map, MapConfig};
use crate::mode::Mode;
use crate::net::{Net, NetConfig, NetOutput, SampleNetConfig, SampleTarget, check_input};
use crate::ops::{MemorySize, MemoryState, memory_step};
use crate::random::SeededRng;
use crate::summary::{LayerSummary, Summarize};
use crate::vector::{VecLinear, VecLinearConfig};

/// The largest shift range.
const MOST_SHIFT: usize = 100;
/// The most read heads, and the most write heads.
const MOST_HEADS: usize = 1000;

config! {
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
    pub struct TuringMachineConfig {
        /// Matrix or vector: the form of the controller. Default: matrix.
        pub form: Form = Form::Matrix,
        /// Rows and columns of Xₜ.
        pub input: [usize; 2],
        /// The sides of the controller's H: `[rows, cols]`, or `[n]` for vectors.
        pub hidden: Vec<usize>,
        /// Rows and columns of Yₜ.
        pub output: [usize; 2],
        /// The controller. Default: LSTM.
        pub controller: ControllerKind = ControllerKind::Lstm,
        /// The number of memory slots. Default: 128.
        pub slots: usize = 128,
        /// Numbers in a slot. Default: 20.
        pub slot_width: usize = 20,
        /// The number of read heads. Default: 1.
        pub read_heads: usize = 1,
        /// The number of write heads. Default: 1.
        pub write_heads: usize = 1,
        /// How far a head can shift in a step, in either direction. Default: 1.
        pub shift_range: usize = 1,
        /// The initial bias of γ′. Higher values keep the attention of shifting heads sharp from the start, but make training less
        /// stable. Default: 0.
        pub sharpness_init: f64 = 0.0,
        /// The initial bias of the LSTM forget gate. Default: 0.
        pub forget_bias: f64 = 0.0,
        /// How the maps are initialised. Default: orthogonal.
        pub init: Init = Init::default(),
    }

    /// A matrix LSTM with a memory of 128 slots of 20 numbers, one read head and one write head.
    pub fn new(input: [usize; 2], hidden: impl Into<Vec<usize>>, output: [usize; 2]);
}

impl TuringMachineConfig {
    /// The sizes of the memory; an error that names the key if they are not valid.
    fn memory(&self) -> Result<MemorySize, ConfigError> {
        check_sides("slots", &[self.slots])?;
        check_sides("slot_width", &[self.slot_width])?;
        check_sides("slots", &[self.slots, self.slot_width])?;
        check_count("read_heads", self.read_heads, MOST_HEADS)?;
        check_count("write_heads", self.write_heads, MOST_HEADS)?;
        let (reads, writes, shift) = (self.read_heads, self.write_heads, self.shift_range);
        if shift > MOST_SHIFT || 2 * shift >= self.slots {
            let most = MOST_SHIFT.min((self.slots - 1) / 2);
            let expected = format!("in a circle of {} slots a head moves by at most {most}", self.slots);
            return Err(ConfigError::new("shift_range", shift.to_string(), expected));
        }
        let size = MemorySize { slots: self.slots, width: self.slot_width, reads, writes, shift };
        check_sides("slots", &[size.state()])?;
        Ok(size)
    }
}

impl NetConfig for TuringMachineConfig {
    type Net = TuringMachine;

    fn init(&self, rng: &mut SeededRng, device: &Device) -> Result<TuringMachine, ConfigError> {
        let size = self.memory()?;
        check_finite("sharpness_init", self.sharpness_init)?;
        let hidden = self.form.state("hidden", &self.hidden)?;
        let [rows, cols] = self.input;
        let seen = self.form.holding("input", self.input)?;
        let read = self.form.holding("read_heads", [size.reads, size.width])?;
        // The input of a matrix controller: the mapped rows of Xₜ, as wide as a slot, above the rows that were read.
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
        set_bias(&mut address, first_address(&size, self.sharpness_init), device);
        Ok(TuringMachine {
            change: map(
                "hidden",
                hidden,
                self.form.holding("slot_width", [2 * size.writes, size.width])?,
                true,
            )?,
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

    fn keeps_intermediates(&self) -> bool {
        true
    }

    fn form(&self) -> Form {
        self.form
    }
}

impl SampleNetConfig for TuringMachineConfig {
    const TARGET: SampleTarget = SampleTarget::StepMatrix;

    fn input(&self) -> [usize; 2] {
        self.input
    }

    fn output(&self) -> NetOutput {
        NetOutput::Sequence { steps: None, sides: self.output }
    }
}

/// The initial biases of an address, head by head.
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

/// The Neural Turing Machine of [Graves et al.](https://arxiv.org/abs/1410.5401), made with [`TuringMachineConfig`].
///
/// The controller takes Xₜ and the last read Rₜ₋₁, and emits an address for each head and what the write heads erase and
/// add; [`memory_step`] applies them. The output is a map of the controller's state and of the new read:
///
/// ```text
/// Hₜ = controller(Xₜ, Rₜ₋₁)
/// Pₜ, Wₜ, Rₜ = memory_step(Pₜ₋₁, Wₜ₋₁, mat1(Hₜ), mat1(Hₜ))
/// Yₜ = mat2(Hₜ, Rₜ)
/// ```
///
/// In the vector form Xₜ and Rₜ₋₁ are concatenated to one vector, and every map is dense. In the matrix form the controller takes
/// the rows XₜV, as wide as a slot, above the rows of Rₜ₋₁, and emits a matrix with a row per head.
#[derive(Module, Debug)]
pub struct TuringMachine {
    /// V: from the columns of an input to the width of a slot; in the matrix form.
    pub entry: Option<VecLinear>,
    /// From Xₜ and Rₜ₋₁ to Hₜ.
    pub controller: Controller,
    /// From H to the addresses of the heads: `[heads, slot_width + 4 + 2 · shift_range]`.
    pub address: Map,
    /// From H to what is erased and added: `[2 · writes, slot_width]`.
    pub change: Map,
    /// From H to Y.
    pub hidden_out: Map,
    /// From R to Y.
    pub read_out: Map,
    #[module(skip)]
    form: Form,
    /// Rows and columns of Xₜ.
    #[module(skip)]
    pub input: [usize; 2],
    /// Rows and columns of Yₜ.
    #[module(skip)]
    pub output: [usize; 2],
    #[module(skip)]
    size: MemorySize,
}

/// The outputs, attention weights and memory of a [`TuringMachine`], for plots.
#[derive(Clone, Debug)]
pub struct Trace {
    /// Y: `[batch, time, rows, cols]`
    pub output: Tensor<4>,
    /// The attention weights of the heads, read heads first: `[batch, time, heads, slots]`.
    pub weights: Tensor<4>,
    /// The memory after the last step.
    pub memory: MemoryState,
}

impl TuringMachine {
    /// The sizes of the memory.
    pub fn memory_size(&self) -> MemorySize {
        self.size
    }

    /// The outputs and the last memory; `each` receives the memory after every step.
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
            mode.observe(|| format!("controller at step {}", at + 1), &now);
            mode.observe(|| format!("memory at step {}", at + 1), &last);
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

    /// The forward pass on some sequences, with the attention weights of every step.
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
    fn summary(&self, steps: usize) -> Vec<LayerSummary> {
        let mut rows = self.entry.summarize("entry", steps);
        rows.extend(self.controller.summarize("controller", steps));
        rows.extend(self.address.summarize("address", steps));
        rows.extend(self.change.summarize("change", steps));
        rows.extend(self.hidden_out.summarize("hidden_out", steps));
        rows.extend(self.read_out.summarize("read_out", steps));
        rows
    }
}

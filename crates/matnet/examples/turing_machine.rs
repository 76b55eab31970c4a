//! Teaches a small Neural Turing Machine to copy sequences of bits, and shows what it reads and writes.
//!
//! ```text
//! cargo run --release --example turing_machine
//! ```

use burn::optim::GradientsParams;
use burn::tensor::{Device, Tensor, TensorData, activation::sigmoid};
use matnet::prelude::*;

const BITS: usize = 3;
const BATCH: usize = 16;
const STEPS: usize = 1500;

fn main() -> Result<(), ConfigError> {
    let device = Device::flex().autodiff();
    // One more channel for the delimiter that asks for the copy.
    // The controller has no state, so that all it knows about the past is in the memory.
    let config = TuringMachineConfig::new([1, BITS + 1], [50], [1, BITS])
        .with_form(Form::Vector)
        .with_controller(ControllerKind::Feedforward)
        .with_slots(16)
        .with_slot_width(8)
        .with_sharpness_init(1.0);
    let mut net = config.init(&mut SeededRng::new(1, "init"), &device)?;
    let mut adam = AdamConfig::default().init()?;
    let mut mode = Mode::train(SeededRng::new(1, "dropout"));
    let mut rng = SeededRng::new(1, "sequences");
    for step in 1..=STEPS {
        let length = 1 + rng.below(6);
        let (input, target) = copy_task(BATCH, length, &mut rng, &device);
        // The answer is the output after the delimiter.
        let scores = net.forward(input, &mut mode).narrow(1, length + 1, length);
        // The binary cross entropy of the logits.
        let loss = (scores.clone().clamp_min(0.0) - scores.clone() * target
            + ((-scores.abs()).exp() + 1.0).log())
        .mean();
        if step % 250 == 0 {
            println!("step {step}: loss {:.4}", loss.clone().into_scalar::<f32>());
        }
        let mut gradients = GradientsParams::from_grads(loss.backward(), &net);
        gradients = clip(&net, gradients, 1.0);
        net = adam.step(5e-3, net, gradients);
    }

    let net = net.valid();
    let length = 6;
    let (input, target) = copy_task(1, length, &mut SeededRng::new(2, "sequences"), &Device::flex());
    let trace = net.trace(input);
    let predicted = sigmoid(trace.output.narrow(1, length + 1, length));
    println!("\nsequence  {}", show(target));
    println!("copy      {}", show(predicted));
    println!("\nthe slot with the largest weight at each step; the delimiter comes at step {}:", length + 1);
    for (head, name) in ["read head ", "write head"].iter().enumerate() {
        let slots = trace.weights.clone().narrow(2, head, 1).argmax(3).into_data();
        let slots: Vec<String> = slots.iter::<i64>().map(|slot| format!("{slot:2}")).collect();
        println!("{name} {}", slots.join(" "));
    }
    Ok(())
}

/// Random bits, a delimiter and empty steps `[count, 2 · length + 1, 1, bits + 1]`; and the bits again.
fn copy_task(count: usize, length: usize, rng: &mut SeededRng, device: &Device) -> (Tensor<4>, Tensor<4>) {
    let (mut input, mut target) = (Vec::new(), Vec::new());
    for _ in 0..count {
        for _ in 0..length {
            let bits: Vec<f32> = (0..BITS).map(|_| f32::from(u8::from(rng.chance(0.5)))).collect();
            target.extend_from_slice(&bits);
            input.extend(bits);
            input.push(0.0);
        }
        input.extend([0.0; BITS]);
        input.push(1.0);
        input.extend(vec![0.0; length * (BITS + 1)]);
    }
    let input = TensorData::new(input, [count, 2 * length + 1, 1, BITS + 1]);
    let target = TensorData::new(target, [count, length, 1, BITS]);
    (Tensor::from_data(input, device), Tensor::from_data(target, device))
}

/// Scales all gradients down so that their norm is at most `most`.
fn clip(net: &TuringMachine, gradients: GradientsParams, most: f32) -> GradientsParams {
    use burn::module::{ModuleVisitor, Param};
    struct Clip(GradientsParams, f32, Option<f32>);
    impl ModuleVisitor for Clip {
        fn visit_float<const D: usize>(&mut self, param: &Param<Tensor<D>>) {
            let Some(gradient) = self.0.get::<D>(param.id) else { return };
            match self.2 {
                None => self.1 += gradient.square().sum().into_scalar::<f32>(),
                Some(factor) => {
                    self.0.remove::<D>(param.id);
                    self.0.register::<D>(param.id, gradient * factor);
                }
            }
        }
    }
    let mut clip = Clip(gradients, 0.0, None);
    net.visit(&mut clip);
    let norm = clip.1.sqrt();
    if norm > most {
        clip.2 = Some(most / norm);
        net.visit(&mut clip);
    }
    clip.0
}

fn show(bits: Tensor<4>) -> String {
    let bits: Vec<f32> = bits.into_data().iter::<f32>().collect();
    let word = |step: &[f32]| step.iter().map(|&bit| if bit > 0.5 { '1' } else { '0' }).collect::<String>();
    bits.chunks(BITS).map(word).collect::<Vec<_>>().join(" ")
}

//! Nets with a memory, and its operation: gradients over 100 random shapes each, fused against composed, what reading is.

mod common;

use burn::tensor::{DType, Tensor, TensorData};
use common::{
    between, check_function, check_module, device, distance, numbers, random, shaken, tensor, values, weigh,
};
use matnet::ops::{Activation, MemorySize, MemoryState, composed, mat1, memory_step};
use matnet::prelude::*;
use matnet::weights;

const SHAPES: usize = 100;

/// Runs a check once per random shape, with its own rng.
fn each_shape(name: &str, mut check: impl FnMut(&str, usize, &mut SeededRng)) {
    for index in 0..SHAPES {
        let mut rng = SeededRng::new(index as u64, name);
        check(&format!("{name}, shape {index}"), index, &mut rng);
    }
}

/// A small memory of any sizes.
fn any_size(rng: &mut SeededRng) -> MemorySize {
    let [width, reads, writes] = [6, 3, 3].map(|most| between(rng, 1, most));
    let shift = between(rng, 0, 2);
    MemorySize { slots: between(rng, 2 * shift + 1, 20), width, reads, writes, shift }
}

/// Numbers for weights (before a softmax), memory, addresses and changes.
fn inputs(rng: &mut SeededRng, size: &MemorySize, batch: usize) -> [Vec<f64>; 4] {
    [size.heads() * size.slots, size.slots * size.width, size.addresses(), size.changes()]
        .map(|count| values(rng, batch * count))
}

/// Two steps from a state of these numbers, so that gradients flow through every part of a state.
fn two_steps(
    step: fn(MemoryState, Tensor<2>, Tensor<2>) -> MemoryState,
    size: MemorySize,
    batch: usize,
    t: &[Tensor<1>],
) -> MemoryState {
    let weights = t[0].clone().reshape([batch, size.heads(), size.slots]);
    let weights = burn::tensor::activation::softmax(weights, 2);
    let memory = t[1].clone().reshape([batch, size.slots, size.width]);
    let read = Tensor::zeros([batch, size.reads, size.width], (&memory.device(), memory.dtype()));
    let addresses = t[2].clone().reshape([batch, size.addresses()]);
    let changes = t[3].clone().reshape([batch, size.changes()]);
    let state = step(MemoryState::new(size, read, weights, memory), addresses.clone(), changes.clone());
    step(state, -addresses, changes)
}

/// Everything of a state in one row.
fn whole(state: &MemoryState) -> Tensor<2> {
    let parts = vec![state.read(), state.weights(), state.memory()];
    Tensor::cat(parts.into_iter().map(|part| part.flatten::<2>(1, 2)).collect(), 1)
}

#[test]
fn gradients_of_a_step() {
    each_shape("memory step", |label, _, rng| {
        let (size, batch) = (any_size(rng), between(rng, 1, 3));
        check_function(label, &inputs(rng, &size, batch), |t| {
            weigh(whole(&two_steps(memory_step, size, batch, t)))
        });
    });
}

#[test]
fn gradients_of_a_composed_step() {
    each_shape("composed memory step", |label, index, rng| {
        if index % 10 == 0 {
            let (size, batch) = (any_size(rng), between(rng, 1, 3));
            check_function(label, &inputs(rng, &size, batch), |t| {
                weigh(whole(&two_steps(composed::memory_step, size, batch, t)))
            });
        }
    });
}

#[test]
fn fused_steps_equal_composed_ones() {
    each_shape("fused memory step", |label, index, rng| {
        let mut size = any_size(rng);
        if index % 10 == 0 {
            size = MemorySize { slots: 128, width: 20, ..size };
        }
        let batch = between(rng, 1, 20);
        let inputs = inputs(rng, &size, batch);
        let run = |step, dtype: DType| {
            let leaf = |values: &Vec<f64>| {
                let data = TensorData::new(values.clone(), [values.len()]);
                Tensor::<1>::from_data(data, (&device(), dtype)).require_grad()
            };
            let leaves: Vec<_> = inputs.iter().map(leaf).collect();
            let output = whole(&two_steps(step, size, batch, &leaves));
            let grads = weigh(output.clone().cast(DType::F64)).backward();
            let mut all = vec![numbers(output)];
            all.extend(leaves.iter().map(|leaf| numbers(leaf.grad(&grads).unwrap())));
            all
        };
        for (dtype, close) in [(DType::F32, 2e-5), (DType::F64, 1e-10)] {
            let pairs = run(memory_step, dtype).into_iter().zip(run(composed::memory_step, dtype));
            for (which, (fused, composed)) in pairs.enumerate() {
                let scale = composed.iter().fold(1.0_f64, |scale, x| scale.max(x.abs()));
                let apart = fused.iter().zip(&composed).fold(0.0_f64, |most, (a, b)| most.max((a - b).abs()));
                assert!(apart <= close * scale, "{label}, {dtype:?}: {apart:e} of {scale} at {which}");
            }
        }
    });
}

#[test]
fn reading_is_mat1_with_the_heads_as_columns() {
    let mut rng = SeededRng::new(5, "read");
    let size = MemorySize { slots: 9, width: 4, reads: 3, writes: 1, shift: 1 };
    let leaves: Vec<_> =
        inputs(&mut rng, &size, 1).into_iter().map(|x| tensor(x.clone(), [x.len()])).collect();
    let state = two_steps(memory_step, size, 1, &leaves);
    let heads = state.weights().narrow(1, 0, 3).squeeze_dim::<2>(0).transpose();
    let eye = Tensor::<2>::eye(4, &device()).cast(DType::F64);
    assert!(distance(state.read(), mat1(state.memory(), heads, eye, None, Activation::Identity)) < 1e-12);
    let sums = state.weights().sum_dim(2);
    assert!(distance(sums.clone(), sums.ones_like()) < 1e-12);
}

#[test]
fn a_head_finds_moves_and_writes() {
    // One head of each kind; the writer writes where the key is found, the reader moves on from there.
    let size = MemorySize { slots: 5, width: 2, reads: 1, writes: 1, shift: 1 };
    let memory = tensor(vec![1.0, 0.0, 0.0, 1.0, -1.0, 0.0, 0.0, -1.0, 0.0, 0.0], [1, 5, 2]);
    let mut weights = vec![0.0; 10];
    (weights[1], weights[5]) = (1.0, 1.0);
    let read = tensor(vec![0.0, 0.0], [1, 1, 2]);
    let state = MemoryState::new(size, read, tensor(weights, [1, 2, 5]), memory);
    // Key, strength, gate, shifts (back, none, on), sharpness.
    let reader = [0.0, 0.0, 0.0, -50.0, -50.0, -50.0, 50.0, 50.0];
    let writer = [-50.0, 0.0, 50.0, 50.0, -50.0, 50.0, -50.0, 50.0];
    let addresses = tensor([reader, writer].concat(), [1, 16]);
    let changes = tensor(vec![50.0, 50.0, 50.0, -50.0], [1, 4]);
    let state = memory_step(state, addresses, changes);
    let looks = numbers(state.weights());
    assert!(looks[2] > 0.999 && looks[5 + 2] > 0.999, "{looks:?}");
    // The slot that held (−1, 0) was erased and holds what was added; the reader has moved on to it from the slot before.
    assert!(distance(state.read(), tensor(vec![1.0, -1.0], [1, 1, 2])) < 1e-2);
}

#[test]
fn no_order_makes_a_number_that_is_none() {
    let size = MemorySize { slots: 16, width: 3, reads: 2, writes: 2, shift: 1 };
    let mut rng = SeededRng::new(9, "extremes");
    for scale in [0.0_f32, 1.0, 1e3, 1e18, f32::MAX] {
        let extreme = |rng: &mut SeededRng, count: usize| {
            let numbers = (0..4 * count).map(|_| scale * (rng.below(3) as f32 - 1.0)).collect::<Vec<_>>();
            Tensor::<2>::from_data(TensorData::new(numbers, [4, count]), &device()).require_grad()
        };
        let mut state = MemoryState::start(size, 4, &device());
        let mut told = Vec::new();
        for _ in 0..30 {
            let (addresses, changes) =
                (extreme(&mut rng, size.addresses()), extreme(&mut rng, size.changes()));
            state = memory_step(state, addresses.clone(), changes.clone());
            told.extend([addresses, changes]);
        }
        let output = whole(&state);
        let grads = output.clone().sum().backward();
        let finite = |tensor: Tensor<2>| numbers(tensor).iter().all(|x| x.is_finite());
        assert!(finite(output), "scale {scale}");
        // Where a strength is 1e18, a slope may well be too much for f32.
        let slopes = told.iter().all(|told| finite(told.grad(&grads).unwrap()));
        assert!(slopes || scale > 1e3, "gradients at scale {scale}");
    }
}

fn any_machine(index: usize, rng: &mut SeededRng) -> TuringMachineConfig {
    let [rows, cols, out_rows, out_cols] = std::array::from_fn(|_| between(rng, 1, 3));
    let (form, hidden) = match index % 2 {
        0 => (Form::Matrix, vec![between(rng, 1, 4), between(rng, 1, 4)]),
        _ => (Form::Vector, vec![between(rng, 1, 8)]),
    };
    let controller =
        if (index / 2).is_multiple_of(2) { ControllerKind::Lstm } else { ControllerKind::Feedforward };
    let size = any_size(rng);
    TuringMachineConfig::new([rows, cols], hidden, [out_rows, out_cols])
        .with_form(form)
        .with_controller(controller)
        .with_slots(size.slots)
        .with_slot_width(size.width)
        .with_read_heads(size.reads)
        .with_write_heads(size.writes)
        .with_shift_range(size.shift)
}

#[test]
fn gradients_of_a_machine() {
    each_shape("turing machine", |label, index, rng| {
        let config = any_machine(index, rng);
        let net = shaken(config.init(rng, &device()).unwrap(), rng, 0.3);
        let shape = [between(rng, 1, 3), between(rng, 1, 4), config.input[0], config.input[1]];
        let input = values(rng, shape.iter().product());
        check_module(label, &net, &[input], |net, leaves| {
            weigh(net.forward(leaves[0].clone().reshape(shape), &mut Mode::Eval))
        });
    });
}

#[test]
fn a_batch_gives_what_its_sequences_give() {
    let mut rng = SeededRng::new(3, "batch");
    for index in 0..4 {
        let config = any_machine(index, &mut rng);
        let net = config.init(&mut rng, &device()).unwrap();
        let input = random(&mut rng, [9, 6, config.input[0], config.input[1]]).cast(DType::F32);
        let all = net.forward(input.clone(), &mut Mode::Eval);
        for at in 0..9 {
            let one = net.forward(input.clone().narrow(0, at, 1), &mut Mode::Eval);
            assert!(distance(one, all.clone().narrow(0, at, 1)) < 1e-5, "{index}");
        }
        let trace = net.trace(input);
        assert_eq!(distance(trace.output, all), 0.0);
        assert_eq!(trace.weights.dims(), [9, 6, config.read_heads + config.write_heads, config.slots]);
    }
}

#[test]
fn weights_go_into_a_file_and_back() {
    let config = TuringMachineConfig::new([1, 4], [3, 3], [1, 3]).with_slots(8).with_slot_width(5);
    let net = config.init(&mut SeededRng::new(1, "init"), &device()).unwrap();
    let names = weights::names(&net);
    assert_eq!(names[0], "entry.weight");
    assert!(names.contains(&"controller.state_row_map".to_owned()), "{names:?}");
    assert!(names.contains(&"address.row_map".to_owned()), "{names:?}");
    let other = config.init(&mut SeededRng::new(2, "init"), &device()).unwrap();
    let loaded = weights::load_safetensors(other, &weights::to_safetensors(&net).unwrap()).unwrap();
    let input = random(&mut SeededRng::new(3, "input"), [2, 4, 1, 4]).cast(DType::F32);
    let run = |net: &TuringMachine| net.forward(input.clone(), &mut Mode::Eval);
    assert_eq!(distance(run(&net), run(&loaded)), 0.0);
}

#[test]
fn parameters_are_those_of_the_equations() {
    // A vector LSTM of 100 units that sees 10 + 20 numbers; two heads with addresses of 20 + 4 + 2; 8 bits out of h and r.
    let vector = TuringMachineConfig::new([1, 10], [100], [1, 8]).with_form(Form::Vector);
    let count = |config: &TuringMachineConfig| {
        weights::count(&config.init(&mut SeededRng::new(1, "init"), &device()).unwrap())
    };
    let (heads, changes) = (2 * 26, 2 * 20);
    let lstm = 4 * (30 * 100 + 100 * 100 + 100);
    assert_eq!(count(&vector), lstm + 101 * (heads + changes) + 101 * 8 + 20 * 8);
    // The matrix twin of 10×10: rows of the input become rows of 20, above one that was read.
    let matrix = TuringMachineConfig::new([1, 10], [10, 10], [1, 8]);
    let lstm = 4 * (2 * 10 + 20 * 10 + 2 * 100 + 100);
    let maps = (10 * 2 + 10 * 26 + heads) + (10 * 2 + 10 * 20 + changes);
    assert_eq!(count(&matrix), 10 * 20 + lstm + maps + (10 + 10 * 8 + 8) + (1 + 20 * 8));
}

#[test]
fn wrong_configs_name_their_keys() {
    let config = || TuringMachineConfig::new([1, 4], [3, 3], [1, 3]);
    let key =
        |config: TuringMachineConfig| config.init(&mut SeededRng::new(1, "init"), &device()).unwrap_err().key;
    assert_eq!(key(TuringMachineConfig::new([0, 4], [3, 3], [1, 3])), "input");
    assert_eq!(key(TuringMachineConfig::new([1, 4], [3], [1, 3])), "hidden");
    assert_eq!(key(TuringMachineConfig::new([1, 4], [3, 3], [0, 3])), "output");
    assert_eq!(key(config().with_slots(0)), "slots");
    assert_eq!(key(config().with_slots(usize::MAX)), "slots");
    assert_eq!(key(config().with_slot_width(0)), "slot_width");
    assert_eq!(key(config().with_read_heads(0)), "read_heads");
    assert_eq!(key(config().with_write_heads(0)), "write_heads");
    assert_eq!(key(config().with_slots(4).with_shift_range(2)), "shift_range");
    assert_eq!(key(config().with_shift_range(1_000)), "shift_range");
    assert_eq!(key(config().with_sharpness_init(f64::NAN)), "sharpness_init");
    let forgetful = config().with_controller(ControllerKind::Feedforward).with_forget_bias(1.0);
    assert_eq!(key(forgetful), "forget_bias");
    let text = serde_json::to_string(&config()).unwrap();
    assert_eq!(serde_json::from_str::<TuringMachineConfig>(&text).unwrap(), config());
}

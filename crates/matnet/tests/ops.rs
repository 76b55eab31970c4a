//! The operations: hand-written gradients against numeric ones, fused against composed, odd inputs.

mod common;

use burn::tensor::{DType, Device, Tensor, TensorData};
use common::{between, check_function, random, values, weigh};
use matnet::ops::{
    self, Activation, Cell, Keep, Lengths, MappedSteps, Mat2Maps, MatState, NormMaps, NormStatistics,
    RecurrentMaps, Sequences, StateMaps, Steps, batch_norm, batch_norm_train, composed, mat1, mat2,
    recurrent, recurrent_mapped, stepwise,
};
use matnet::random::SeededRng;

const ACTIVATIONS: [Activation; 4] =
    [Activation::Identity, Activation::Relu, Activation::Sigmoid, Activation::Tanh];
const CELLS: [Cell; 5] = [
    Cell::Lstm,
    Cell::Rnn(Activation::Tanh),
    Cell::Gru(Activation::Tanh),
    Cell::Rnn(Activation::Relu),
    Cell::Gru(Activation::Relu),
];
/// The implementations of a recurrence: on the CPU, on GPUs, and the plain one.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Way {
    Fused,
    Stepwise,
    Composed,
}

/// How far fused may lie from composed in f32, relative to the largest number compared.
const CLOSE: f64 = 1e-5;
/// The same for recurrences as GPUs compute them: they sum over all steps at once, and such sums round more.
const CLOSE_ON_GPUS: f64 = 1e-4;

fn sides<const N: usize>(rng: &mut SeededRng, most: usize) -> [usize; N] {
    std::array::from_fn(|_| between(rng, 1, most))
}

/// Flat values for tensors of these shapes.
fn flat(rng: &mut SeededRng, shapes: &[Vec<usize>]) -> Vec<Vec<f64>> {
    shapes.iter().map(|shape| values(rng, shape.iter().product())).collect()
}

fn shape<const D: usize>(shapes: &[Vec<usize>], at: usize) -> [usize; D] {
    shapes[at].clone().try_into().expect("a shape of that many sides")
}

/// Shapes of X, U, V, B.
fn mat1_shapes(rng: &mut SeededRng, batch: usize, most: usize) -> Vec<Vec<usize>> {
    let [r, c, ro, co] = sides(rng, most);
    vec![vec![batch, r, c], vec![r, ro], vec![c, co], vec![ro, co]]
}

/// Shapes of P, Up, Vp, Q, Uq, Vq, B.
fn mat2_shapes(rng: &mut SeededRng, batch: usize, most: usize) -> Vec<Vec<usize>> {
    let [r, c, s, d, ro, co] = sides(rng, most);
    let p = [vec![batch, r, c], vec![r, ro], vec![c, co]];
    let q = [vec![batch, s, d], vec![s, ro], vec![d, co]];
    [p, q].concat().into_iter().chain([vec![ro, co]]).collect()
}

/// Shapes of X, H, C, Ux, Vx, Uh, Vh, B.
fn recurrent_shapes(
    rng: &mut SeededRng,
    cell: Cell,
    batch: usize,
    time: Option<usize>,
    most: usize,
) -> Vec<Vec<usize>> {
    let [r, c, n, m] = sides(rng, most);
    let g = cell.gates();
    let input = match time {
        Some(time) => vec![batch, time, r, c],
        None => vec![batch, r, c],
    };
    let state = vec![batch, n, m];
    vec![
        input,
        state.clone(),
        state,
        vec![g, r, n],
        vec![g, c, m],
        vec![g, n, n],
        vec![g, m, m],
        vec![g, n, m],
    ]
}

fn run_mat1(composed: bool, t: &[Tensor<1>], shapes: &[Vec<usize>], f: Activation) -> Tensor<3> {
    let (x, u, v) = (
        t[0].clone().reshape(shape::<3>(shapes, 0)),
        t[1].clone().reshape(shape::<2>(shapes, 1)),
        t[2].clone().reshape(shape::<2>(shapes, 2)),
    );
    let b = Some(t[3].clone().reshape(shape::<2>(shapes, 3)));
    if composed { composed::mat1(x, u, v, b, f) } else { mat1(x, u, v, b, f) }
}

fn run_mat2(composed: bool, t: &[Tensor<1>], shapes: &[Vec<usize>], f: Activation) -> Tensor<3> {
    let map = |at: usize| t[at].clone().reshape(shape::<2>(shapes, at));
    let (p, q) = (t[0].clone().reshape(shape::<3>(shapes, 0)), t[3].clone().reshape(shape::<3>(shapes, 3)));
    let maps = Mat2Maps {
        p_row_map: map(1),
        p_col_map: map(2),
        q_row_map: map(4),
        q_col_map: map(5),
        bias: Some(map(6)),
    };
    if composed { composed::mat2(p, q, maps, f) } else { mat2(p, q, maps, f) }
}

/// Everything a recurrence gives: hidden states, final H and C, along the time axis.
fn run_recurrent(
    way: Way,
    t: &[Tensor<1>],
    shapes: &[Vec<usize>],
    cell: Cell,
    (time, lengths): (usize, Option<&[usize]>),
    keep: Keep,
) -> Tensor<4> {
    let cube = |at: usize| t[at].clone().reshape(shape::<3>(shapes, at));
    let steps = if shapes[0].len() == 4 {
        let input = t[0].clone().reshape(shape::<4>(shapes, 0));
        match lengths {
            Some(lengths) => Sequences::padded(input, lengths).into(),
            None => input.into(),
        }
    } else {
        Steps::Constant(cube(0), time)
    };
    let state = MatState { hidden: cube(1), cell_state: cell.has_cell_state().then(|| cube(2)) };
    let maps = RecurrentMaps {
        input_row_map: cube(3),
        input_col_map: cube(4),
        state_row_map: cube(5),
        state_col_map: cube(6),
        bias: cube(7),
    };
    let (hidden, last) = match way {
        Way::Fused => recurrent(cell, steps, Some(state), maps, keep),
        Way::Stepwise => stepwise::recurrent(cell, steps, state, maps, keep),
        Way::Composed => composed::recurrent(cell, steps, state, maps, keep),
    };
    let mut all = vec![hidden, last.hidden.unsqueeze_dim(1)];
    all.extend(last.cell_state.map(|cell_state| cell_state.unsqueeze_dim(1)));
    Tensor::cat(all, 1)
}

/// As [`run_recurrent`], the input mapped already; tensors and shapes 3 and 4 are not looked at.
fn run_mapped(
    way: Way,
    t: &[Tensor<1>],
    shapes: &[Vec<usize>],
    cell: Cell,
    (time, lengths): (usize, Option<&[usize]>),
    keep: Keep,
) -> Tensor<4> {
    let cube = |at: usize| t[at].clone().reshape(shape::<3>(shapes, at));
    let mapped = match lengths {
        Some(lengths) => {
            let packed = t[0].clone().reshape(shape::<4>(shapes, 0));
            MappedSteps::Packed(packed, Lengths::new(lengths, time))
        }
        None => MappedSteps::All(t[0].clone().reshape(shape::<5>(shapes, 0))),
    };
    let state = MatState { hidden: cube(1), cell_state: cell.has_cell_state().then(|| cube(2)) };
    let maps = StateMaps { row_map: cube(5), col_map: cube(6), bias: cube(7) };
    let (hidden, last) = match way {
        Way::Fused => recurrent_mapped(cell, mapped, Some(state), maps, keep),
        Way::Stepwise => stepwise::recurrent_mapped(cell, mapped, state, maps, keep),
        Way::Composed => composed::recurrent_mapped(cell, mapped, state, maps, keep),
    };
    let mut all = vec![hidden, last.hidden.unsqueeze_dim(1)];
    all.extend(last.cell_state.map(|cell_state| cell_state.unsqueeze_dim(1)));
    Tensor::cat(all, 1)
}

/// Shapes as of [`recurrent_shapes`], the first that of a mapped input.
fn mapped_shapes(
    rng: &mut SeededRng,
    cell: Cell,
    batch: usize,
    (time, lengths): (usize, Option<&[usize]>),
    most: usize,
) -> Vec<Vec<usize>> {
    let mut shapes = recurrent_shapes(rng, cell, batch, None, most);
    let [gates, rows, cols] = [cell.gates(), shapes[1][1], shapes[1][2]];
    shapes[0] = match lengths {
        Some(lengths) => vec![gates, lengths.iter().sum(), rows, cols],
        None => vec![gates, batch, time, rows, cols],
    };
    shapes
}

/// Lengths between 1 and `time`, half of the time.
fn lengths(rng: &mut SeededRng, batch: usize, time: usize) -> Option<Vec<usize>> {
    (rng.below(2) == 0).then(|| (0..batch).map(|_| between(rng, 1, time)).collect())
}

#[test]
fn gradients_of_mat1() {
    let mut rng = SeededRng::new(1, "mat1");
    for case in 0..120 {
        let batch = between(&mut rng, 1, 6);
        let shapes = mat1_shapes(&mut rng, batch, 7);
        let inputs = flat(&mut rng, &shapes);
        let f = ACTIVATIONS[case % 4];
        check_function(&format!("mat1 {f:?} {shapes:?}"), &inputs, |t| weigh(run_mat1(false, t, &shapes, f)));
    }
}

#[test]
fn gradients_of_mat2() {
    let mut rng = SeededRng::new(2, "mat2");
    for case in 0..120 {
        let batch = between(&mut rng, 1, 6);
        let shapes = mat2_shapes(&mut rng, batch, 6);
        let inputs = flat(&mut rng, &shapes);
        let f = ACTIVATIONS[case % 4];
        check_function(&format!("mat2 {f:?} {shapes:?}"), &inputs, |t| weigh(run_mat2(false, t, &shapes, f)));
    }
}

#[test]
fn gradients_of_recurrences() {
    let mut rng = SeededRng::new(3, "recurrent");
    for case in 0..320 {
        let cell = CELLS[case % 5];
        let (batch, time) = (between(&mut rng, 1, 5), between(&mut rng, 1, 4));
        let keep = if rng.below(2) == 0 { Keep::All } else { Keep::Last };
        let sequence = rng.below(3) > 0;
        let lengths = lengths(&mut rng, batch, time);
        let times = (time, lengths.as_deref());
        let shapes = recurrent_shapes(&mut rng, cell, batch, sequence.then_some(time), 5);
        let mut inputs = flat(&mut rng, &shapes);
        for weights in &mut inputs[3..] {
            weights.iter_mut().for_each(|weight| *weight *= 0.5);
        }
        let label = format!("{cell:?} {keep:?} {times:?} {shapes:?}");
        for way in [Way::Fused, Way::Stepwise] {
            let label = format!("{way:?} {label}");
            check_function(&label, &inputs, |t| weigh(run_recurrent(way, t, &shapes, cell, times, keep)));
        }
    }
}

#[test]
fn gradients_of_recurrences_over_mapped_inputs() {
    let mut rng = SeededRng::new(12, "mapped");
    for case in 0..120 {
        let cell = CELLS[case % 5];
        let (batch, time) = (between(&mut rng, 1, 5), between(&mut rng, 1, 4));
        let keep = if rng.below(2) == 0 { Keep::All } else { Keep::Last };
        let lengths = lengths(&mut rng, batch, time);
        let times = (time, lengths.as_deref());
        let shapes = mapped_shapes(&mut rng, cell, batch, times, 5);
        let mut inputs = flat(&mut rng, &shapes);
        for weights in &mut inputs[5..] {
            weights.iter_mut().for_each(|weight| *weight *= 0.5);
        }
        let label = format!("mapped {cell:?} {keep:?} {times:?} {shapes:?}");
        for way in [Way::Fused, Way::Stepwise] {
            let label = format!("{way:?} {label}");
            check_function(&label, &inputs, |t| weigh(run_mapped(way, t, &shapes, cell, times, keep)));
        }
    }
}

#[test]
fn fused_recurrences_over_mapped_inputs_equal_composed() {
    let mut rng = SeededRng::new(13, "fused mapped");
    for case in 0..90 {
        let cell = CELLS[case % 3];
        let (batch, most) = batch_and_most(&mut rng, case / 3);
        let time = between(&mut rng, 1, 5);
        let keep = if rng.below(2) == 0 { Keep::All } else { Keep::Last };
        let lengths = lengths(&mut rng, batch, time);
        let times = (time, lengths.as_deref());
        let shapes = mapped_shapes(&mut rng, cell, batch, times, most);
        let mut inputs = flat(&mut rng, &shapes);
        tame(&mut inputs, &shapes, 5..7);
        let [fused, stepwise, composed] = [Way::Fused, Way::Stepwise, Way::Composed].map(|way| {
            let mut all = everything(&inputs, |t| run_mapped(way, t, &shapes, cell, times, keep));
            if !cell.has_cell_state() {
                all[3].clear();
            }
            all
        });
        let label = format!("mapped {cell:?} {keep:?} {times:?} {shapes:?}");
        assert_close(&label, fused, composed.clone());
        assert_within(CLOSE_ON_GPUS, &format!("stepwise {label}"), stepwise, composed);
    }
}

/// Output and all gradients of a function of flat f32 tensors.
fn everything<const D: usize>(inputs: &[Vec<f64>], run: impl Fn(&[Tensor<1>]) -> Tensor<D>) -> Vec<Vec<f64>> {
    let device = Device::flex().autodiff();
    let leaves: Vec<Tensor<1>> = inputs
        .iter()
        .map(|values| {
            let data: Vec<f32> = values.iter().map(|&v| v as f32).collect();
            let count = data.len();
            Tensor::from_data(TensorData::new(data, [count]), &device).require_grad()
        })
        .collect();
    let output = run(&leaves);
    let weights = values(&mut SeededRng::new(4, "weights"), output.shape().num_elements());
    let weights: Vec<f32> = weights.into_iter().map(|v| v as f32).collect();
    let weights = Tensor::<D>::from_data(TensorData::new(weights, output.dims()), &device);
    let grads = (output.clone() * weights).sum().backward();
    let mut all = vec![common::numbers(output)];
    all.extend(leaves.iter().map(|leaf| leaf.grad(&grads).map_or_else(Vec::new, common::numbers)));
    all
}

fn assert_close(label: &str, fused: Vec<Vec<f64>>, composed: Vec<Vec<f64>>) {
    assert_within(CLOSE, label, fused, composed);
}

fn assert_within(close: f64, label: &str, fused: Vec<Vec<f64>>, composed: Vec<Vec<f64>>) {
    assert_eq!(fused.len(), composed.len());
    for (at, (fused, composed)) in fused.iter().zip(&composed).enumerate() {
        assert_eq!(fused.len(), composed.len(), "{label}: tensor {at}");
        let scale = composed.iter().fold(1.0f64, |most, v| most.max(v.abs()));
        for (a, b) in fused.iter().zip(composed) {
            assert!((a - b).abs() <= close * scale, "{label}: tensor {at}: fused {a}, composed {b}");
        }
    }
}

/// Batches and sides that are and are not multiples of a vector's width.
fn batch_and_most(rng: &mut SeededRng, case: usize) -> (usize, usize) {
    match case % 4 {
        0 => (between(rng, 1, 9), 5),
        1 => (between(rng, 1, 40), 20),
        2 => (between(rng, 60, 90), 17),
        _ => (8, 33),
    }
}

/// Numbers of the size that a net in training has: inputs of 1, weights of 1/√side.
fn tame(inputs: &mut [Vec<f64>], shapes: &[Vec<usize>], weights: std::ops::Range<usize>) {
    for at in weights {
        let scale = (shapes[at][shapes[at].len() - 2] as f64).sqrt();
        inputs[at].iter_mut().for_each(|v| *v /= scale);
    }
}

#[test]
fn fused_mat1_equals_composed() {
    let mut rng = SeededRng::new(5, "fused mat1");
    for case in 0..160 {
        let (batch, most) = batch_and_most(&mut rng, case);
        let shapes = mat1_shapes(&mut rng, batch, most);
        let mut inputs = flat(&mut rng, &shapes);
        tame(&mut inputs, &shapes, 1..3);
        let f = ACTIVATIONS[case / 4 % 4];
        let [fused, composed] =
            [false, true].map(|composed| everything(&inputs, |t| run_mat1(composed, t, &shapes, f)));
        assert_close(&format!("mat1 {f:?} {shapes:?}"), fused, composed);
    }
}

#[test]
fn fused_mat2_equals_composed() {
    let mut rng = SeededRng::new(6, "fused mat2");
    for case in 0..160 {
        let (batch, most) = batch_and_most(&mut rng, case);
        let shapes = mat2_shapes(&mut rng, batch, most);
        let mut inputs = flat(&mut rng, &shapes);
        tame(&mut inputs, &shapes, 1..3);
        tame(&mut inputs, &shapes, 4..6);
        let f = ACTIVATIONS[case / 4 % 4];
        let [fused, composed] =
            [false, true].map(|composed| everything(&inputs, |t| run_mat2(composed, t, &shapes, f)));
        assert_close(&format!("mat2 {f:?} {shapes:?}"), fused, composed);
    }
}

#[test]
fn fused_recurrences_equal_composed() {
    let mut rng = SeededRng::new(7, "fused recurrent");
    for case in 0..240 {
        let cell = CELLS[case % 5];
        let (batch, most) = batch_and_most(&mut rng, case / 5);
        let time = between(&mut rng, 1, 5);
        let keep = if rng.below(2) == 0 { Keep::All } else { Keep::Last };
        let sequence = rng.below(3) > 0;
        let lengths = lengths(&mut rng, batch, time);
        let times = (time, lengths.as_deref());
        let shapes = recurrent_shapes(&mut rng, cell, batch, sequence.then_some(time), most);
        let mut inputs = flat(&mut rng, &shapes);
        tame(&mut inputs, &shapes, 3..7);
        if let (true, Some(lengths)) = (sequence, &lengths) {
            // Whatever stands in the padding, nobody reads it.
            let step: usize = shapes[0][2..].iter().product();
            for (sequence, length) in inputs[0].chunks_mut(time * step).zip(lengths) {
                sequence[length * step..].fill(f64::NAN);
            }
        }
        let [fused, stepwise, composed] = [Way::Fused, Way::Stepwise, Way::Composed].map(|way| {
            let mut all = everything(&inputs, |t| run_recurrent(way, t, &shapes, cell, times, keep));
            // Without a cell state its gradient is of no interest: absent on one side, absent on the other.
            if !cell.has_cell_state() {
                all[3].clear();
            }
            // A sum that rounding puts on the other side of a ReLU's kink changes gradients by more than
            // rounding; those are compared with numeric ones in f64 above.
            if matches!(cell, Cell::Rnn(Activation::Relu) | Cell::Gru(Activation::Relu)) {
                all.truncate(1);
            }
            all
        });
        let label = format!("{cell:?} {keep:?} {times:?} {shapes:?}");
        assert_close(&label, fused, composed.clone());
        assert_within(CLOSE_ON_GPUS, &format!("stepwise {label}"), stepwise, composed);
    }
}

/// Shapes of X, G, A.
fn norm_shapes(rng: &mut SeededRng, batch: usize, most: usize) -> Vec<Vec<usize>> {
    let [r, c] = sides(rng, most);
    vec![vec![batch, r, c], vec![r, c], vec![r, c]]
}

/// Batch norm, and the statistics behind the output: those of the batch, or others.
fn run_norm(
    composed: bool,
    t: &[Tensor<1>],
    shapes: &[Vec<usize>],
    (activation, of_batch): (Activation, bool),
) -> Tensor<3> {
    let input = t[0].clone().reshape(shape::<3>(shapes, 0));
    let [scale, shift] = [1, 2].map(|at| t[at].clone().reshape(shape::<2>(shapes, at)));
    let given = NormStatistics { mean: scale.zeros_like() + 0.3, variance: scale.zeros_like() + 0.7 };
    let maps = NormMaps { scale, shift, epsilon: 0.1 };
    let (output, NormStatistics { mean, variance }) = match (of_batch, composed) {
        (true, true) => composed::batch_norm_train(input, maps, activation),
        (true, false) => batch_norm_train(input, maps, activation),
        (false, true) => (composed::batch_norm(input, maps, given.clone(), activation), given),
        (false, false) => (batch_norm(input, maps, given.clone(), activation), given),
    };
    Tensor::cat(vec![output, mean.unsqueeze(), variance.unsqueeze()], 0)
}

#[test]
fn gradients_of_batch_norm() {
    let mut rng = SeededRng::new(14, "batch norm");
    for case in 0..200 {
        let options = (ACTIVATIONS[case % 4], case / 4 % 2 == 0);
        let batch = between(&mut rng, 1, 5);
        let shapes = norm_shapes(&mut rng, batch, 6);
        let inputs = flat(&mut rng, &shapes);
        check_function(&format!("batch norm {options:?} {shapes:?}"), &inputs, |t| {
            weigh(run_norm(false, t, &shapes, options).narrow(0, 0, batch))
        });
    }
}

#[test]
fn batch_norm_of_a_leaf_has_the_gradients_of_a_copy() {
    let mut rng = SeededRng::new(16, "leaf");
    let input = random::<3>(&mut rng, [5, 3, 4]).require_grad();
    let [scale, shift, mean] = [(); 3].map(|()| random::<2>(&mut rng, [3, 4]).require_grad());
    let statistics = NormStatistics { variance: mean.clone().powi_scalar(2) + 1.0, mean: mean.clone() };
    let gradient = |output| input.grad(&weigh(output).backward()).expect("of the input").into_data();
    for of_batch in [true, false] {
        let run = |input: Tensor<3>| {
            let maps = NormMaps { scale: scale.clone(), shift: shift.clone(), epsilon: 0.1 };
            if of_batch {
                batch_norm_train(input, maps, Activation::Tanh).0
            } else {
                batch_norm(input, maps, statistics.clone(), Activation::Tanh)
            }
        };
        assert_eq!(gradient(run(input.clone())), gradient(run(input.clone() * 1.0)), "{of_batch}");
        assert!(mean.grad(&weigh(run(input.clone())).backward()).is_none(), "statistics are constants");
    }
}

#[test]
fn fused_batch_norm_equals_composed() {
    let mut rng = SeededRng::new(15, "fused batch norm");
    for case in 0..120 {
        let options = (ACTIVATIONS[case % 4], case / 4 % 2 == 0);
        let (batch, most) = batch_and_most(&mut rng, case / 8);
        let shapes = norm_shapes(&mut rng, batch, most);
        let inputs = flat(&mut rng, &shapes);
        let [fused, composed] =
            [false, true].map(|composed| everything(&inputs, |t| run_norm(composed, t, &shapes, options)));
        assert_close(&format!("batch norm {options:?} {shapes:?}"), fused, composed);
    }
}

#[test]
fn slices_and_transposes_of_other_tensors_are_taken() {
    let mut rng = SeededRng::new(8, "views");
    let single = |tensor: Tensor<3>| tensor.cast(DType::F32);
    let wide = single(random(&mut rng, [9, 14, 11]));
    // The middle of a larger tensor, rows and columns exchanged.
    let x = wide.slice([2..7, 3..12, 1..8]).swap_dims(1, 2);
    let u = random(&mut rng, [5, 7]).cast(DType::F32).transpose();
    let v = random(&mut rng, [12, 4]).cast(DType::F32).slice([1..10, 0..4]);
    let copy = |data: TensorData| Tensor::from_data(data, &common::device());
    let (x2, u2, v2) = (copy(x.to_data()), Tensor::from_data(u.to_data(), &common::device()), v.to_data());
    let v2 = Tensor::from_data(v2, &common::device());
    let of_views = mat1(x, u, v, None, Activation::Tanh);
    let of_copies = mat1(x2, u2, v2, None, Activation::Tanh);
    assert_eq!(of_views.into_data(), of_copies.into_data());
}

#[test]
fn a_gradient_that_is_a_view_is_taken() {
    let mut rng = SeededRng::new(9, "view gradient");
    let inputs = flat(&mut rng, &[vec![6, 5, 4], vec![5, 3], vec![4, 7], vec![3, 7]]);
    let shapes = [vec![6, 5, 4], vec![5, 3], vec![4, 7], vec![3, 7]];
    let through_view = |composed: bool| {
        everything(&inputs, |t| {
            run_mat1(composed, t, &shapes, Activation::Tanh).swap_dims(1, 2).slice([1..5, 0..6, 1..3])
        })
    };
    assert_close("view", through_view(false), through_view(true));
}

#[test]
fn a_sample_gives_the_same_bits_alone_and_in_any_batch() {
    let mut rng = SeededRng::new(10, "batch");
    for cell in CELLS {
        let shapes = recurrent_shapes(&mut rng, cell, 70, Some(3), 9);
        let mut inputs = flat(&mut rng, &shapes);
        tame(&mut inputs, &shapes, 3..7);
        let single = |values: &Vec<f64>| {
            let data: Vec<f32> = values.iter().map(|&v| v as f32).collect();
            let count = data.len();
            Tensor::<1>::from_data(TensorData::new(data, [count]), &Device::flex())
        };
        let leaves: Vec<_> = inputs.iter().map(single).collect();
        let whole = run_recurrent(Way::Fused, &leaves, &shapes, cell, (3, None), Keep::All);
        for (from, count) in [(0, 1), (69, 1), (13, 9), (3, 17)] {
            let mut shapes = shapes.clone();
            let mut part = leaves.clone();
            for at in 0..3 {
                let size: usize = shapes[at][1..].iter().product();
                shapes[at][0] = count;
                part[at] = part[at].clone().narrow(0, from * size, count * size);
            }
            let part = run_recurrent(Way::Fused, &part, &shapes, cell, (3, None), Keep::All);
            let same = whole.clone().narrow(0, from, count);
            assert_eq!(part.into_data(), same.into_data(), "{cell:?}, {count} samples from {from}");
        }
    }
}

/// Everything that a padded batch gives for a sample, gradients included, has the bits that it has alone; the weights' gradients are
/// the sums of its samples'.
#[test]
fn a_padded_sample_gives_the_same_bits_alone_and_in_any_batch() {
    const TIME: usize = 6;
    let mut rng = SeededRng::new(14, "padded");
    for case in 0..30 {
        let (cell, keep) = (CELLS[case % 5], if case % 2 == 0 { Keep::All } else { Keep::Last });
        let (batch, most) = batch_and_most(&mut rng, case);
        let lengths: Vec<usize> = (0..batch).map(|_| between(&mut rng, 1, TIME)).collect();
        let shapes = recurrent_shapes(&mut rng, cell, batch, Some(TIME), most);
        let mut inputs = flat(&mut rng, &shapes);
        tame(&mut inputs, &shapes, 3..7);
        let step: usize = shapes[0][2..].iter().product();
        for (sequence, length) in inputs[0].chunks_mut(TIME * step).zip(&lengths) {
            sequence[length * step..].fill(f64::NAN);
        }
        let whole =
            squares(&inputs, |t| run_recurrent(Way::Fused, t, &shapes, cell, (TIME, Some(&lengths)), keep));
        let mut sums: Vec<Vec<f64>> = whole[4..].iter().map(|sum| vec![0.0; sum.len()]).collect();
        for (sample, &length) in lengths.iter().enumerate() {
            let (mut alone, mut shapes) = (inputs.clone(), shapes.clone());
            for at in 0..3 {
                let size: usize = shapes[at][1..].iter().product();
                alone[at] = inputs[at][sample * size..(sample + 1) * size].to_vec();
                shapes[at][0] = 1;
            }
            alone[0].truncate(length * step);
            shapes[0][1] = length;
            let alone =
                squares(&alone, |t| run_recurrent(Way::Fused, t, &shapes, cell, (length, None), keep));
            let label = format!("{cell:?} {keep:?} sample {sample} of {lengths:?}");
            let h_size: usize = shapes[1][1..].iter().product();
            for (at, (whole, alone)) in whole.iter().zip(&alone).enumerate().take(4) {
                if at == 3 && !cell.has_cell_state() {
                    continue;
                }
                let whole = &whole[sample * (whole.len() / batch)..(sample + 1) * (whole.len() / batch)];
                let padded = match (at, keep) {
                    (0, Keep::All) => length * h_size..TIME * h_size,
                    (1, _) => length * step..TIME * step,
                    _ => whole.len()..whole.len(),
                };
                let bits = |numbers: &[f64]| -> Vec<u64> { numbers.iter().map(|x| x.to_bits()).collect() };
                let real = [&whole[..padded.start], &whole[padded.end..]].concat();
                assert!(bits(&real) == bits(alone), "{label}: tensor {at}");
                assert!(whole[padded].iter().all(|&x| x == 0.0), "{label}: the padding of tensor {at}");
            }
            for (sum, gradient) in sums.iter_mut().zip(&alone[4..]) {
                sum.iter_mut().zip(gradient).for_each(|(sum, term)| *sum += term);
            }
        }
        assert_close(&format!("{cell:?} {keep:?} {lengths:?}"), whole[4..].to_vec(), sums);
    }
}

/// As [`everything`], for the sum of the squares, whose gradient at a sample is the same in any batch.
fn squares<const D: usize>(inputs: &[Vec<f64>], run: impl Fn(&[Tensor<1>]) -> Tensor<D>) -> Vec<Vec<f64>> {
    let single = |values: &Vec<f64>| {
        let data: Vec<f32> = values.iter().map(|&v| v as f32).collect();
        let count = data.len();
        Tensor::<1>::from_data(TensorData::new(data, [count]), &Device::flex().autodiff()).require_grad()
    };
    let leaves: Vec<Tensor<1>> = inputs.iter().map(single).collect();
    let output = run(&leaves);
    let grads = output.clone().square().sum().backward();
    let gradients = leaves.iter().map(|leaf| leaf.grad(&grads).map_or_else(Vec::new, common::numbers));
    std::iter::once(common::numbers(output.clone())).chain(gradients).collect()
}

#[test]
fn the_paper_s_identity_holds() {
    // vec(UᵀXV) = (V⊗U)ᵀ vec(X), columns stacked
    let mut rng = SeededRng::new(11, "kronecker");
    for _ in 0..100 {
        let [r, c, ro, co] = sides(&mut rng, 6);
        let (x, u, v) = (random(&mut rng, [1, r, c]), random(&mut rng, [r, ro]), random(&mut rng, [c, co]));
        let y = mat1(x.clone(), u.clone(), v.clone(), None, Activation::Identity);
        let stack = |m: Tensor<3>, count: usize| m.swap_dims(1, 2).reshape([count, 1]);
        // (V⊗U)[(c, r), (c', r')] = V[c, c'] · U[r, r']
        let kron = v.reshape([c, 1, co, 1]) * u.reshape([1, r, 1, ro]);
        let kron = kron.reshape([c * r, co * ro]);
        let expected = kron.transpose().matmul(stack(x, r * c));
        assert!(common::distance(stack(y, ro * co), expected) < 1e-12);
    }
}

#[test]
fn nothing_to_do_is_refused() {
    let message = |run: Box<dyn Fn() + std::panic::UnwindSafe>| -> String {
        let panic = std::panic::catch_unwind(run).expect_err("must be refused");
        panic
            .downcast_ref::<String>()
            .cloned()
            .or_else(|| panic.downcast_ref::<&str>().map(|s| s.to_string()))
            .expect("a text")
    };
    let z2 = |a, b| Tensor::<2>::zeros([a, b], &Device::flex());
    let empty = message(Box::new(move || {
        mat1(Tensor::zeros([0, 3, 4], &Device::flex()), z2(3, 2), z2(4, 2), None, Activation::Relu);
    }));
    assert_eq!(empty, "mat1: input has an empty batch");
    let wrong = message(Box::new(move || {
        mat1(Tensor::zeros([2, 3, 4], &Device::flex()), z2(5, 2), z2(4, 2), None, Activation::Relu);
    }));
    assert!(wrong.starts_with("mat1: row map takes 5 rows, input has 3"), "{wrong}");
    let mixed = message(Box::new(move || {
        let x = Tensor::<3>::zeros([2, 3, 4], &Device::flex()).cast(DType::F64);
        mat1(x, z2(3, 2), z2(4, 2), None, Activation::Relu);
    }));
    assert!(mixed.starts_with("mat1: input holds F64, row map F32"), "{mixed}");
    let norm = |batch, rows| {
        let maps = NormMaps { scale: z2(3, 4), shift: z2(rows, 4), epsilon: 0.1 };
        batch_norm_train(Tensor::zeros([batch, 3, 4], &Device::flex()), maps, Activation::Relu);
    };
    assert_eq!(message(Box::new(move || norm(0, 3))), "batch norm: the input is empty");
    let other = message(Box::new(move || norm(2, 5)));
    assert_eq!(other, "batch norm: shift is [5, 4], samples are 3×4");
    let maps = || {
        let z = |a, b, c| Tensor::<3>::zeros([a, b, c], &Device::flex());
        RecurrentMaps {
            input_row_map: z(4, 3, 2),
            input_col_map: z(4, 4, 2),
            state_row_map: z(4, 2, 2),
            state_col_map: z(4, 2, 2),
            bias: z(4, 2, 2),
        }
    };
    let run = move |shape: [usize; 4]| {
        let input = Tensor::<4>::zeros(shape, &Device::flex());
        ops::recurrent(Cell::Lstm, input.into(), None, maps(), Keep::All);
    };
    let no_time = message(Box::new(move || run([2, 0, 3, 4])));
    assert_eq!(no_time, "recurrent: the input has no time step");
    let no_batch = message(Box::new(move || run([0, 2, 3, 4])));
    assert_eq!(no_batch, "recurrent: the input has an empty batch");
    for (lengths, said) in [
        (vec![1, 2], "sequences: 2 lengths for a batch of 3"),
        (vec![1, 5, 4], "sequences: the length of sequence 1 is 5, expected 1 to 4"),
        (vec![1, 2, 0], "sequences: the length of sequence 2 is 0, expected 1 to 4"),
    ] {
        let padded = message(Box::new(move || {
            Sequences::padded(Tensor::zeros([3, 4, 1, 1], &Device::flex()), lengths.clone());
        }));
        assert_eq!(padded, said);
    }
}

/// Shapes of A and B, and whether B is stored transposed.
fn product_shapes(rng: &mut SeededRng, most: usize, transposed: bool) -> Vec<Vec<usize>> {
    let [m, k, n] = sides(rng, most);
    vec![vec![m, k], if transposed { vec![n, k] } else { vec![k, n] }, vec![n]]
}

fn run_linear(
    composed: bool,
    t: &[Tensor<1>],
    shapes: &[Vec<usize>],
    transposed: bool,
    f: Option<Activation>,
) -> Tensor<2> {
    let (a, b) = (t[0].clone().reshape(shape::<2>(shapes, 0)), t[1].clone().reshape(shape::<2>(shapes, 1)));
    let bias = Some(t[2].clone());
    match (f, composed, transposed) {
        (None, false, false) => ops::product(a, b),
        (None, false, true) => ops::product_transposed(a, b),
        (None, true, false) => composed::product(a, b),
        (None, true, true) => composed::product(a, b.transpose()),
        (Some(f), false, false) => ops::linear(a, b, bias, f),
        (Some(f), false, true) => ops::linear_transposed(a, b, bias, f),
        (Some(f), true, false) => composed::linear(a, b, bias, f),
        (Some(f), true, true) => composed::linear(a, b.transpose(), bias, f),
    }
}

/// No activation at all, which is the bare product, and every activation.
fn kinds() -> impl Iterator<Item = Option<Activation>> {
    [None].into_iter().chain(ACTIVATIONS.map(Some))
}

#[test]
fn gradients_of_products() {
    let mut rng = SeededRng::new(0, "products");
    for index in 0..100 {
        for f in kinds() {
            let transposed = index % 2 == 1;
            let shapes = product_shapes(&mut rng, 12, transposed);
            let inputs = flat(&mut rng, &shapes);
            check_function(&format!("{f:?} {shapes:?}"), &inputs, |t| {
                weigh(run_linear(false, t, &shapes, transposed, f)) + t[2].clone().sum()
            });
        }
    }
}

#[test]
fn fused_products_equal_composed() {
    let mut rng = SeededRng::new(1, "products");
    for index in 0..40 {
        for f in kinds() {
            let transposed = index % 2 == 1;
            let shapes = product_shapes(&mut rng, [5, 40, 150][index % 3], transposed);
            let inputs = flat(&mut rng, &shapes);
            let run = |composed: bool, dtype: DType| {
                let leaf = |values: &Vec<f64>| {
                    let data = TensorData::new(values.clone(), [values.len()]);
                    Tensor::<1>::from_data(data, (&common::device(), dtype)).require_grad()
                };
                let leaves: Vec<_> = inputs.iter().map(leaf).collect();
                let output = run_linear(composed, &leaves, &shapes, transposed, f);
                let loss = weigh(output.clone().cast(DType::F64)) + leaves[2].clone().sum().cast(DType::F64);
                let grads = loss.backward();
                let mut all = vec![common::numbers(output)];
                all.extend(leaves.iter().map(|leaf| common::numbers(leaf.grad(&grads).unwrap())));
                all
            };
            for (dtype, close) in [(DType::F32, 2e-5), (DType::F64, 1e-12)] {
                for (fused, composed) in run(false, dtype).into_iter().zip(run(true, dtype)) {
                    let scale = composed.iter().fold(1.0_f64, |scale, x| scale.max(x.abs()));
                    let apart =
                        fused.iter().zip(&composed).fold(0.0_f64, |most, (a, b)| most.max((a - b).abs()));
                    assert!(apart <= close * scale, "{f:?} {shapes:?} {dtype:?}: {apart:e} of {scale}");
                }
            }
        }
    }
}

#[test]
fn gradients_of_batched_products() {
    let mut rng = SeededRng::new(2, "batches");
    for index in 0..100 {
        let [batch, m, k, n] = sides(&mut rng, 6);
        let (transposed, shared) = (index % 2 == 1, index / 2 % 3);
        let a = [if shared == 1 { 1 } else { batch }, m, k];
        let b = [
            if shared == 2 { 1 } else { batch },
            if transposed { n } else { k },
            if transposed { k } else { n },
        ];
        let inputs = flat(&mut rng, &[a.to_vec(), b.to_vec()]);
        let run = |composed: bool, t: &[Tensor<1>]| {
            let (a, b) = (t[0].clone().reshape(a), t[1].clone().reshape(b));
            match (composed, transposed) {
                (false, false) => ops::batched_product(a, b),
                (false, true) => ops::batched_product_transposed(a, b),
                (true, false) => composed::batched_product(a, b),
                (true, true) => composed::batched_product(a, b.swap_dims(1, 2)),
            }
        };
        let label = format!("{a:?} {b:?}");
        check_function(&label, &inputs, |t| weigh(run(false, t)));
        let leaves: Vec<_> = inputs.iter().map(|x| common::tensor(x.clone(), [x.len()])).collect();
        assert!(common::distance(run(false, &leaves), run(true, &leaves)) < 1e-12, "{label}");
    }
}

#[test]
fn factors_that_do_not_fit_are_refused() {
    let message = |run: &dyn Fn()| {
        let panic = std::panic::catch_unwind(std::panic::AssertUnwindSafe(run)).unwrap_err();
        panic.downcast_ref::<String>().expect("a message").clone()
    };
    let ones = |shape: [usize; 2]| Tensor::<2>::ones(shape, &Device::flex());
    let batch = |shape: [usize; 3]| Tensor::<3>::ones(shape, &Device::flex());
    let sides = message(&|| drop(ops::product(ones([2, 3]), ones([4, 5]))));
    assert!(sides.contains("product: 2×3 times 4×5"), "{sides}");
    let sides = message(&|| drop(ops::product_transposed(ones([2, 3]), ones([4, 5]))));
    assert!(sides.contains("2×3 times 5×4"), "{sides}");
    let counts = message(&|| drop(ops::batched_product(batch([2, 3, 4]), batch([3, 4, 5]))));
    assert!(counts.contains("a batch of 2 and one of 3"), "{counts}");
    let kinds = message(&|| drop(ops::product(ones([2, 3]), ones([3, 5]).cast(DType::F64))));
    assert!(kinds.contains("F32") && kinds.contains("F64"), "{kinds}");
}

//! Dense products: exactly one fused chain per entry, whatever the sizes, the CPU and the threads.

mod common;

use common::{Numbers, with_threads};
use matnet_kernels::{Activation, BatchedProduct, Element, Level, Linear, MatrixView, product};

const ACTIVATIONS: [Activation; 4] =
    [Activation::Identity, Activation::Relu, Activation::Sigmoid, Activation::Tanh];

/// The levels that multiply and add in one rounding.
fn fused() -> Vec<Level> {
    let all = Level::available();
    if cfg!(target_arch = "aarch64") {
        all
    } else {
        all.into_iter().filter(|&l| l != Level::PORTABLE).collect()
    }
}

fn bits(numbers: &[f32]) -> Vec<u32> {
    numbers.iter().map(|x| x.to_bits()).collect()
}

/// Entry (i, j) of A·B as the promise has it; `at` gives the strides of A and B.
fn chain(a: impl Fn(usize) -> f32, b: impl Fn(usize) -> f32, k: usize) -> f32 {
    (0..k).fold(0.0, |sum, k| a(k).mul_add(b(k), sum))
}

/// A·B one entry after the other.
fn naive(a: &[f32], b: &[f32], [m, k, n]: [usize; 3]) -> Vec<f32> {
    (0..m * n).map(|at| chain(|x| a[at / n * k + x], |x| b[x * n + at % n], k)).collect()
}

fn transposed(x: &[f32], rows: usize, cols: usize) -> Vec<f32> {
    (0..rows * cols).map(|at| x[at % rows * cols + at / rows]).collect()
}

#[test]
fn every_entry_is_one_fused_chain() {
    let mut numbers = Numbers(1);
    let mut sizes: Vec<[usize; 3]> = (0..150)
        .map(|case| {
            let most = [9, 40, 130][case % 3];
            std::array::from_fn(|_| 1 + numbers.below(most))
        })
        .collect();
    // Several panels, blocks of k and of rows; one row, one column, one term; no term.
    sizes.extend([
        [1, 700, 300],
        [2, 530, 49],
        [9, 1100, 10],
        [500, 600, 70],
        [300, 1, 33],
        [7, 64, 1],
        [600, 70, 10],
    ]);
    sizes.extend([[3, 0, 5], [0, 4, 5], [5, 4, 0]]);
    for [m, k, n] in sizes {
        let (a, b) = (numbers.singles(m * k), numbers.singles(k * n));
        let want = bits(&naive(&a, &b, [m, k, n]));
        let (a_t, b_t) = (transposed(&a, m, k), transposed(&b, k, n));
        for level in fused() {
            let views = [MatrixView::new(&a, m, k), MatrixView::new(&a_t, k, m).transposed()];
            for (at, a) in views.into_iter().enumerate() {
                let b = [MatrixView::new(&b, k, n), MatrixView::new(&b_t, n, k).transposed()];
                for (bt, b) in b.into_iter().enumerate() {
                    let got = bits(&product(level, a, b));
                    assert!(got == want, "{level:?}: {m}×{k}×{n}, transposed {at} {bt}");
                }
            }
        }
    }
}

#[test]
fn a_row_does_not_depend_on_the_others() {
    let mut numbers = Numbers(2);
    for [k, n] in [[30, 50], [600, 10], [576, 130], [20, 3], [300, 200]] {
        let (a, b) = (numbers.singles(500 * k), numbers.singles(k * n));
        let b = MatrixView::new(&b, k, n);
        for level in Level::available() {
            let whole = product(level, MatrixView::new(&a, 500, k), b);
            for m in [1, 2, 3, 7, 8, 9, 16, 64, 499] {
                for first in [0, 1, 500 - m] {
                    let rows = MatrixView::new(&a[first * k..(first + m) * k], m, k);
                    let some = product(level, rows, b);
                    assert!(some[..] == whole[first * n..(first + m) * n], "{level:?}: {m} rows of {k}×{n}");
                }
            }
        }
    }
}

#[test]
fn threads_and_levels_change_nothing() {
    let mut numbers = Numbers(3);
    for [m, k, n] in [[64, 500, 500], [1, 3000, 2000], [3000, 90, 33], [1000, 2000, 10], [8, 900, 700]] {
        let (x, w, b) = (numbers.singles(m * k), numbers.singles(k * n), numbers.singles(n));
        let gradient = numbers.singles(m * n);
        let run = |level: Level, threads: usize| {
            with_threads(threads, || {
                let linear = Linear {
                    input: MatrixView::new(&x, m, k),
                    weight: MatrixView::new(&w, k, n),
                    bias: Some(&b),
                    activation: Activation::Tanh,
                };
                let output = linear.forward(level);
                let gradients = linear.backward(level, &output, &gradient, true, true);
                let parts = [Some(output), gradients.input, gradients.weight, gradients.bias];
                parts.map(|part| bits(&part.expect("all were asked for")))
            })
        };
        for level in Level::available() {
            let one = run(level, 1);
            for threads in [2, 3, 8] {
                assert!(run(level, threads) == one, "{level:?} with {threads} threads: {m}×{k}×{n}");
            }
        }
        let mut levels = fused().into_iter().map(|level| run(level, 2));
        if let Some(first) = levels.next() {
            assert!(levels.all(|other| other == first), "levels differ: {m}×{k}×{n}");
        }
    }
}

#[test]
fn rows_may_lie_apart() {
    let mut numbers = Numbers(4);
    let ([m, k, n], [wide, long]) = ([11, 20, 30], [27, 41]);
    let (a, b) = (numbers.singles(m * wide), numbers.singles(k * long));
    let cut = |x: &[f32], stride: usize, cols: usize| -> Vec<f32> {
        x.chunks(stride).flat_map(|row| row[..cols].to_vec()).collect()
    };
    let want = naive(&cut(&a, wide, k), &cut(&b, long, n), [m, k, n]);
    for level in fused() {
        let got = product(level, MatrixView::strided(&a, m, k, wide), MatrixView::strided(&b, k, n, long));
        assert_eq!(got, want, "{level:?}");
    }
}

/// Every part of a linear layer's passes against loops in f64.
#[test]
fn linear_layers_agree_with_plain_loops() {
    let mut numbers = Numbers(5);
    for case in 0..60 {
        let most = [5, 20, 70][case % 3];
        let [m, k, n] = std::array::from_fn(|_| 1 + numbers.below(most));
        let activation = ACTIVATIONS[case % 4];
        let (x, w, b) = (numbers.singles(m * k), numbers.singles(k * n), numbers.singles(n));
        let g = numbers.singles(m * n);
        let w_t = transposed(&w, k, n);
        let mut y = vec![0.0f64; m * n];
        let mut through = vec![0.0f64; m * n];
        for (at, y) in y.iter_mut().enumerate() {
            let (i, j) = (at / n, at % n);
            let sum: f64 = (0..k).map(|t| f64::from(x[i * k + t]) * f64::from(w[t * n + j])).sum();
            let sum = sum + f64::from(b[j]);
            let (value, slope) = match activation {
                Activation::Identity => (sum, 1.0),
                Activation::Relu => (sum.max(0.0), f64::from(u8::from(sum > 0.0))),
                Activation::Sigmoid => {
                    let value = 1.0 / (1.0 + (-sum).exp());
                    (value, value * (1.0 - value))
                }
                Activation::Tanh => (sum.tanh(), 1.0 - sum.tanh().powi(2)),
            };
            (*y, through[at]) = (value, slope * f64::from(g[at]));
        }
        let of_x = (0..m * k)
            .map(|at| (0..n).map(|j| through[at / k * n + j] * f64::from(w[at % k * n + j])).sum::<f64>());
        let of_w = (0..k * n)
            .map(|at| (0..m).map(|i| through[i * n + at % n] * f64::from(x[i * k + at / n])).sum::<f64>());
        let of_b = (0..n).map(|j| (0..m).map(|i| through[i * n + j]).sum::<f64>());
        let want: [Vec<f64>; 4] = [y.clone(), of_x.collect(), of_w.collect(), of_b.collect()];
        for level in Level::available() {
            for turned in [false, true] {
                let plain = MatrixView::new(&w, k, n);
                let weight = if turned { MatrixView::new(&w_t, n, k).transposed() } else { plain };
                let linear = Linear { input: MatrixView::new(&x, m, k), weight, bias: Some(&b), activation };
                let output = linear.forward(level);
                let got = linear.backward(level, &output, &g, true, true);
                let weight = got.weight.expect("asked for");
                let weight = if turned { transposed(&weight, n, k) } else { weight };
                let got = [output, got.input.expect("asked for"), weight, got.bias.expect("there is one")];
                for (part, (got, want)) in got.iter().zip(&want).enumerate() {
                    let scale = want.iter().fold(1.0f64, |most, x| most.max(x.abs()));
                    for (got, want) in got.iter().zip(want) {
                        let error = (f64::from(*got) - want).abs();
                        assert!(error <= 1e-5 * scale, "{level:?} {activation:?} part {part}: {got} {want}");
                    }
                }
            }
        }
    }
}

/// Batches are their products one by one, and gradients of a shared matrix go on from one to the next.
#[test]
fn batches_are_their_products() {
    let mut numbers = Numbers(6);
    for case in 0..40 {
        let [batch, m, k, n] = std::array::from_fn(|_| 1 + numbers.below([3, 9, 40][case % 3]));
        let (shared_a, shared_b) = (case % 4 == 1, case % 4 == 2);
        let (a_count, b_count) = (if shared_a { 1 } else { batch }, if shared_b { 1 } else { batch });
        let (a, b) = (numbers.singles(a_count * m * k), numbers.singles(b_count * k * n));
        let g = numbers.singles(batch * m * n);
        let stored: Vec<f32> = b.chunks(k * n).flat_map(|b| transposed(b, k, n)).collect();
        let a_at = |at: usize| &a[at % a_count * m * k..][..m * k];
        let b_at = |at: usize| &b[at % b_count * k * n..][..k * n];
        let want: Vec<f32> = (0..batch).flat_map(|at| naive(a_at(at), b_at(at), [m, k, n])).collect();
        // A shared matrix gets one chain over all of the batch: stacked factors give the same.
        let g_at = |at: usize| &g[at * m * n..][..m * n];
        let of_a: Vec<f32> = if shared_a {
            let rows: Vec<f32> = (0..m)
                .flat_map(|i| (0..batch).flat_map(move |at| g_at(at)[i * n..(i + 1) * n].to_vec()))
                .collect();
            let cols: Vec<f32> = (0..batch).flat_map(|at| transposed(b_at(at), k, n)).collect();
            naive(&rows, &cols, [m, batch * n, k])
        } else {
            (0..batch).flat_map(|at| naive(g_at(at), &transposed(b_at(at), k, n), [m, n, k])).collect()
        };
        let of_b: Vec<f32> = if shared_b {
            let rows = transposed(&a, batch * m, k);
            naive(&rows, &g, [k, batch * m, n])
        } else {
            (0..batch).flat_map(|at| naive(&transposed(a_at(at), m, k), g_at(at), [k, m, n])).collect()
        };
        for level in fused() {
            for turned in [false, true] {
                let b = if turned { &stored } else { &b };
                let batched = BatchedProduct { a: &a, b, sizes: [m, k, n], transposed: turned };
                assert_eq!(batched.forward(level), want, "{level:?} case {case}");
                let [got_a, got_b] = batched.backward(level, &g, [true, true]);
                let mut got_b = got_b.expect("asked for");
                if turned {
                    got_b = got_b.chunks(k * n).flat_map(|b| transposed(b, n, k)).collect();
                }
                assert_eq!(got_a.expect("asked for"), of_a, "{level:?} case {case}");
                assert_eq!(got_b, of_b, "{level:?} case {case}");
            }
        }
    }
}

#[test]
fn double_precision_is_right_too() {
    fn run<E: Element>(level: Level, a: &[E], b: &[E], [m, k, n]: [usize; 3]) -> Vec<E> {
        product(level, MatrixView::new(a, m, k), MatrixView::new(b, k, n))
    }
    let mut numbers = Numbers(7);
    for [m, k, n] in [[3, 40, 17], [70, 600, 9], [1, 5, 100]] {
        let a = numbers.list(m * k);
        let b = numbers.list(k * n);
        for level in Level::available() {
            for (at, got) in run(level, &a, &b, [m, k, n]).into_iter().enumerate() {
                let want: f64 = (0..k).map(|x| a[at / n * k + x] * b[x * n + at % n]).sum();
                assert!((got - want).abs() < 1e-12 * k as f64, "{level:?}: {got} instead of {want}");
            }
        }
    }
}

/// NaN goes through every activation on every level, wherever it stands; zeros and signs stay as they are.
#[test]
fn nan_goes_through_every_activation() {
    let n = 37;
    for level in Level::available() {
        for activation in ACTIVATIONS {
            for place in 0..n {
                let run = |x: f32, y_nan: bool, g: f32| {
                    let mut input = vec![0.25; n];
                    input[place] = x;
                    // An identity for the weights, so that each number goes its own way: with zeros elsewhere NaN would spread.
                    let one = [1.0];
                    let linear = Linear {
                        input: MatrixView::new(&one, 1, 1),
                        weight: MatrixView::new(&input, 1, n),
                        bias: None,
                        activation,
                    };
                    let output = linear.forward(level);
                    let mut gradient = vec![1.0; n];
                    gradient[place] = g;
                    let back = linear.backward(level, &output, &gradient, false, true).weight;
                    assert!(output.iter().enumerate().all(|(at, y)| y.is_nan() == (y_nan && at == place)));
                    (output[place], back.expect("asked for")[place])
                };
                let (_, of_nan) = run(f32::NAN, true, 0.5);
                // ReLU, as in PyTorch, hands the gradient on where its input is NaN.
                let handed_on = matches!(activation, Activation::Identity | Activation::Relu);
                assert!(if handed_on { of_nan == 0.5 } else { of_nan.is_nan() }, "{level:?} {activation:?}");
                let (_, of_nan) = run(1.5, false, f32::NAN);
                assert!(of_nan.is_nan(), "{level:?} {activation:?}: a gradient that is NaN");
                if activation == Activation::Relu {
                    let (below, gradient) = run(-1.5, false, 1.0);
                    assert_eq!((below.to_bits(), gradient.to_bits()), (0, 0), "{level:?}");
                    assert_eq!(run(f32::INFINITY, false, 1.0), (f32::INFINITY, 1.0), "{level:?}");
                }
            }
        }
    }
}

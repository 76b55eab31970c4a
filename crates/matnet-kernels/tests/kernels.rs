//! Every level against the same kernels in `f64`, and any number of threads against one.

mod common;

use common::{Numbers, agree, single, with_threads};
use matnet_kernels::{
    Activation, Cell, Chain, InLanes, Keep, Kept, Level, Link, Map, MapSize, Reads, Recurrent, Term,
};

/// All levels, each as it chooses and with samples or columns in the lanes.
fn levels() -> Vec<Level> {
    let ways = |level: Level| [level, level.with(InLanes::Samples), level.with(InLanes::Columns)];
    Level::available().into_iter().flat_map(ways).collect()
}

/// bfloat16 takes half the bytes.
fn check_bytes<E: matnet_kernels::Element>(keep: Keep, kept: &Kept<E>, full: &Kept<E>) {
    let bytes = if keep == Keep::Bf16 { full.bytes() / size_of::<E>() * 2 } else { full.bytes() };
    assert_eq!(kept.bytes(), bytes, "{keep:?}");
    assert!(bytes > 0);
}

/// That the output has the same bits, and gradients from rounded numbers are near exact ones. Returns whether they differ.
fn nearly(what: &str, rounded: &[Vec<f32>], exact: &[Vec<f32>]) -> bool {
    assert!(rounded[0] == exact[0], "{what}: the output");
    let norm = |numbers: &mut dyn Iterator<Item = f64>| numbers.map(|x| x * x).sum::<f64>().sqrt();
    for (at, (rounded, exact)) in rounded.iter().zip(exact).enumerate() {
        assert_eq!(rounded.len(), exact.len(), "{what}, tensor {at}");
        let of = norm(&mut exact.iter().map(|&x| f64::from(x)));
        let apart = norm(&mut rounded.iter().zip(exact).map(|(&a, &b)| f64::from(a) - f64::from(b)));
        assert!(apart <= 0.02 * of + 1e-6, "{what}, tensor {at}: {apart} apart, where the norm is {of}");
    }
    rounded != exact
}

/// The gradients of a map in one list each.
fn map_all<E: matnet_kernels::Element>(
    map: &Map<E>,
    level: Level,
    gradient: &[E],
    keep: Keep,
) -> Vec<Vec<E>> {
    let (output, kept) = map.forward(level, keep);
    check_bytes(keep, &kept, &map.forward(level, Keep::Full).1);
    assert_eq!(output, map.forward(level, Keep::Nothing).0, "keeping changes nothing");
    let need = vec![true; map.terms.len()];
    let gradients = map.backward(level, &output, &kept, gradient, &need);
    let mut all = vec![output, gradients.bias];
    for term in gradients.terms {
        all.extend([term.input.expect("asked for"), term.row_map, term.col_map]);
    }
    all
}

#[test]
fn levels_say_what_gradients_depend_on() {
    for level in Level::available() {
        let said = level.describe();
        if format!("{level:?}") == "Avx512" {
            assert!(said.starts_with("avx512 in ") && said.contains("KiB of cache, "), "{said}");
        } else {
            assert_eq!(said, format!("{level:?}").to_lowercase());
        }
    }
}

#[test]
fn maps_agree_on_every_level() {
    // So large that the sums over columns are cut into pieces.
    const LARGE: usize = 160;
    let mut numbers = Numbers(1);
    for case in 0..=60 {
        let most = [4, 12, 35][case % 3];
        let batch = 1 + numbers.below([3, 40, 140][case % 3]);
        let side = |numbers: &mut Numbers| if case == 60 { LARGE } else { 1 + numbers.below(most) };
        let (rows_out, cols_out) = (side(&mut numbers), side(&mut numbers));
        let sizes: Vec<_> = (0..1 + case % 2)
            .map(|_| MapSize { rows: side(&mut numbers), cols: side(&mut numbers), rows_out, cols_out })
            .collect();
        let tensors: Vec<_> = sizes
            .iter()
            .map(|size| {
                let spread = 1.0 / ((size.rows * size.cols) as f64).sqrt().sqrt();
                (
                    numbers.list(batch * size.input()),
                    numbers.sized(size.rows * rows_out, spread),
                    numbers.sized(size.cols * cols_out, spread),
                )
            })
            .collect();
        let bias = numbers.list(rows_out * cols_out);
        let gradient = numbers.list(batch * rows_out * cols_out);
        let activation = [Activation::Identity, Activation::Sigmoid, Activation::Tanh][case % 3];

        let terms: Vec<_> = sizes
            .iter()
            .zip(&tensors)
            .map(|(&size, (x, u, v))| Term { size, input: &x[..], row_map: u, col_map: v })
            .collect();
        let map = Map { terms: &terms, bias: Some(&bias), activation };
        let want = map_all(&map, Level::PORTABLE, &gradient, Keep::Full);
        let columns = map_all(&map, Level::PORTABLE.with(InLanes::Columns), &gradient, Keep::Full);
        for (at, (got, want)) in columns.iter().zip(&want).enumerate() {
            let off = got.iter().zip(want).fold(0.0f64, |most, (got, want)| most.max((got - want).abs()));
            assert!(
                off < 1e-11 * batch as f64,
                "in f64, batch {batch} {sizes:?} tensor {at} is off by {off}"
            );
        }

        let tensors: Vec<_> = tensors.iter().map(|(x, u, v)| (single(x), single(u), single(v))).collect();
        let (bias, gradient) = (single(&bias), single(&gradient));
        let terms: Vec<_> = sizes
            .iter()
            .zip(&tensors)
            .map(|(&size, (x, u, v))| Term { size, input: &x[..], row_map: u, col_map: v })
            .collect();
        let map = Map { terms: &terms, bias: Some(&bias), activation };
        agree(&format!("batch {batch} {sizes:?}"), &levels(), &want, |level| {
            map_all(&map, level, &gradient, Keep::Full)
        });
    }
}

/// Output, gradient of the input, then those of U, V and B of each map.
fn chain_all(chain: &Chain<f32>, level: Level, gradient: &[f32], keep: Keep) -> Vec<Vec<f32>> {
    let (output, kept) = chain.forward(level, keep);
    check_bytes(keep, &kept, &chain.forward(level, Keep::Full).1);
    assert_eq!(output, chain.forward(level, Keep::Nothing).0, "keeping changes nothing");
    let backward = |kept: &Kept<f32>| {
        let gradients = chain.backward(level, kept, gradient, true);
        let weights = gradients.links.into_iter().flat_map(|link| [link.row_map, link.col_map, link.bias]);
        [gradients.input.expect("asked for")].into_iter().chain(weights).collect::<Vec<_>>()
    };
    let gradients = backward(&kept);
    let again = keep != Keep::Full || gradients == backward(&Kept::Nothing);
    assert!(again, "what was not kept is computed again");
    [vec![output], gradients].concat()
}

/// The same, map by map.
fn maps_all(chain: &Chain<f32>, level: Level, gradient: &[f32]) -> Vec<Vec<f32>> {
    let mut states = vec![chain.input.to_vec()];
    for link in chain.links {
        let (output, _) = with_map(link, &states[states.len() - 1], |map| map.forward(level, Keep::Full));
        states.push(output);
    }
    let (mut gradient, mut weights) = (gradient.to_vec(), Vec::new());
    for (link, state) in chain.links.iter().zip(&states).rev() {
        let mut gradients = with_map(link, state, |map| {
            let (output, kept) = map.forward(level, Keep::Full);
            map.backward(level, &output, &kept, &gradient, &[true])
        });
        let term = gradients.terms.remove(0);
        gradient = term.input.expect("asked for");
        weights.push([term.row_map, term.col_map, gradients.bias]);
    }
    let weights = weights.into_iter().rev().flatten();
    [states.remove(states.len() - 1), gradient].into_iter().chain(weights).collect()
}

fn with_map<R>(link: &Link<f32>, input: &[f32], work: impl FnOnce(&Map<f32>) -> R) -> R {
    let terms = [Term { size: link.size, input, row_map: link.row_map, col_map: link.col_map }];
    work(&Map { terms: &terms, bias: Some(link.bias), activation: link.activation })
}

/// Calls `work` with a chain between random sides up to `most`, and a gradient of its output.
fn with_chain<R>(
    numbers: &mut Numbers,
    maps: usize,
    batch: usize,
    most: usize,
    work: impl FnOnce(&Chain<f32>, &[f32]) -> R,
) -> R {
    const ALL: [Activation; 4] =
        [Activation::Relu, Activation::Tanh, Activation::Identity, Activation::Sigmoid];
    let sides: Vec<[usize; 2]> =
        (0..=maps).map(|_| [1 + numbers.below(most), 1 + numbers.below(most)]).collect();
    let weights: Vec<[Vec<f32>; 3]> = sides
        .windows(2)
        .map(|pair| {
            let ([r, c], [p, q]) = (pair[0], pair[1]);
            [(r * p, r), (c * q, c), (p * q, 1)]
                .map(|(count, side)| single(&numbers.sized(count, 1.0 / (side as f64).sqrt())))
        })
        .collect();
    let links: Vec<_> = weights
        .iter()
        .zip(sides.windows(2))
        .enumerate()
        .map(|(at, ([row_map, col_map, bias], pair))| {
            let ([rows, cols], [rows_out, cols_out]) = (pair[0], pair[1]);
            let size = MapSize { rows, cols, rows_out, cols_out };
            Link { size, row_map, col_map, bias, activation: ALL[at % 4] }
        })
        .collect();
    let [input, gradient] = [sides[0], sides[maps]].map(|[r, c]| numbers.singles(batch * r * c));
    work(&Chain { input: &input, links: &links }, &gradient)
}

#[test]
fn chains_give_the_bits_of_their_maps() {
    let mut numbers = Numbers(4);
    for case in 0..60 {
        let (maps, batch) = (1 + numbers.below(7), 1 + numbers.below([4, 40, 250][case % 3]));
        with_chain(&mut numbers, maps, batch, [5, 20, 12][case / 3 % 3], |chain, gradient| {
            for level in levels() {
                let (got, want) =
                    (chain_all(chain, level, gradient, Keep::Full), maps_all(chain, level, gradient));
                for (at, (got, want)) in got.iter().zip(&want).enumerate() {
                    assert!(got == want, "{level:?} batch {batch}, {maps} maps, tensor {at}");
                }
                let alone = Chain { input: &chain.input[..chain.input.len() / batch], ..*chain };
                let alone = alone.forward(level, Keep::Nothing).0;
                assert!(alone == got[0][..alone.len()], "{level:?} batch {batch}, {maps} maps, one sample");
            }
        });
    }
}

/// The tensors of a recurrence.
struct Tensors<E> {
    list: Vec<Vec<E>>,
    cell: Cell,
    input_size: [usize; 2],
    state_size: [usize; 2],
    steps: usize,
    reads: Reads,
    all: bool,
    lengths: Option<Vec<usize>>,
}

impl<E: matnet_kernels::Element> Tensors<E> {
    fn view(&self) -> Recurrent<'_, E> {
        let t = &self.list;
        Recurrent {
            cell: self.cell,
            input_size: self.input_size,
            state_size: self.state_size,
            steps: self.steps,
            lengths: self.lengths.as_deref(),
            input: &t[0],
            reads: self.reads,
            hidden: &t[1],
            cell_state: (self.cell == Cell::Lstm).then_some(&t[2]),
            input_row_map: &t[3],
            input_col_map: &t[4],
            state_row_map: &t[5],
            state_col_map: &t[6],
            bias: &t[7],
            all: self.all,
        }
    }

    fn everything(&self, level: Level, keep: Keep) -> Vec<Vec<E>> {
        let view = self.view();
        let (output, kept) = view.forward(level, keep);
        check_bytes(keep, &kept, &view.forward(level, Keep::Full).1);
        assert_eq!(output, view.forward(level, Keep::Nothing).0, "keeping changes nothing");
        let backward = |kept: &Kept<E>| {
            let g = view.backward(level, kept, &self.list[8], true);
            let weights = [g.input_row_map, g.input_col_map, g.state_row_map, g.state_col_map, g.bias];
            [vec![g.input.expect("asked for"), g.hidden, g.cell_state], weights.to_vec()].concat()
        };
        let gradients = backward(&kept);
        let again = keep != Keep::Full || gradients == backward(&view.forward(level, Keep::Nothing).1);
        assert!(again, "what was not kept is computed again");
        [vec![output], gradients].concat()
    }
}

impl Tensors<f64> {
    fn single(&self) -> Tensors<f32> {
        let list = self.list.iter().map(|values| single(values)).collect();
        let Self { cell, input_size, state_size, steps, reads, all, .. } = *self;
        Tensors { list, cell, input_size, state_size, steps, reads, all, lengths: self.lengths.clone() }
    }
}

fn random_recurrence(numbers: &mut Numbers, case: usize, batch: usize, most: usize) -> Tensors<f64> {
    let cell = [Cell::Lstm, Cell::Gru(Activation::Tanh), Cell::Rnn(Activation::Tanh)][case % 3];
    let mut side = || 1 + numbers.below(most);
    let ([r, c], [n, m]) = ([side(), side()], [side(), side()]);
    let (steps, all) = (1 + numbers.below(5), numbers.below(2) == 0);
    let reads = [Reads::Steps, Reads::Constant, Reads::Mapped][numbers.below(3)];
    let g = cell.gates();
    let lengths = (numbers.below(2) == 0).then(|| (0..batch).map(|_| 1 + numbers.below(steps)).collect());
    let lengths: Option<Vec<usize>> = lengths;
    let inputs = match reads {
        Reads::Steps => batch * steps * r * c,
        Reads::Constant => batch * r * c,
        Reads::Mapped => g * lengths.as_ref().map_or(batch * steps, |all| all.iter().sum()) * n * m,
    };
    // Mapped inputs need no maps.
    let input_gates = if reads == Reads::Mapped { 0 } else { g };
    let outputs = (if all { steps } else { 1 }) + usize::from(cell == Cell::Lstm);
    let spread = |side: usize| 1.0 / (side as f64).sqrt();
    let list = vec![
        numbers.list(inputs),
        numbers.list(batch * n * m),
        numbers.list(batch * n * m),
        numbers.sized(input_gates * r * n, spread(r)),
        numbers.sized(input_gates * c * m, spread(c)),
        numbers.sized(g * n * n, spread(n)),
        numbers.sized(g * m * m, spread(m)),
        numbers.list(g * n * m),
        numbers.list(batch * outputs * n * m),
    ];
    Tensors { list, cell, input_size: [r, c], state_size: [n, m], steps, reads, all, lengths }
}

#[test]
fn recurrences_agree_on_every_level() {
    let mut numbers = Numbers(2);
    for case in 0..45 {
        let (batch, most) = (1 + numbers.below([4, 30, 100][case / 3 % 3]), [4, 20, 9][case / 3 % 3]);
        let double = random_recurrence(&mut numbers, case, batch, most);
        let want = double.everything(Level::PORTABLE, Keep::Full);
        let tensors = double.single();
        let what = format!("{:?} batch {batch} case {case}", double.cell);
        agree(&what, &levels(), &want, |level| tensors.everything(level, Keep::Full));
    }
}

#[test]
fn gradients_from_states_in_bf16_are_near_those_in_f32() {
    let mut numbers = Numbers(7);
    let mut differ = 0;
    for case in 0..45 {
        let (batch, most) = (1 + numbers.below([4, 30, 100][case / 3 % 3]), [4, 20, 9][case / 3 % 3]);
        let tensors = random_recurrence(&mut numbers, case, batch, most).single();
        let maps = 1 + numbers.below(6);
        with_chain(&mut numbers, maps, batch, most, |chain, gradient| {
            for level in levels() {
                let both = [Keep::Bf16, Keep::Full].map(|keep| tensors.everything(level, keep));
                let what =
                    format!("{level:?} {:?} {:?} batch {batch} case {case}", tensors.cell, tensors.reads);
                differ += usize::from(nearly(&what, &both[0], &both[1]));
                let both = [Keep::Bf16, Keep::Full].map(|keep| chain_all(chain, level, gradient, keep));
                differ += usize::from(nearly(&format!("{level:?} {maps} maps"), &both[0], &both[1]));
                let link = &chain.links[0];
                let gradient = single(&Numbers(8).list(batch * link.size.output()));
                let both = [Keep::Bf16, Keep::Full]
                    .map(|keep| with_map(link, chain.input, |map| map_all(map, level, &gradient, keep)));
                differ += usize::from(nearly(&format!("{level:?} a map"), &both[0], &both[1]));
            }
        });
    }
    assert!(differ > 100 * levels().len(), "states are kept as they are: {differ} differ");
}

#[test]
fn results_do_not_depend_on_the_number_of_threads() {
    let mut numbers = Numbers(3);
    let tensors = random_recurrence(&mut numbers, 0, 150, 11).single();
    let size = MapSize { rows: 13, cols: 17, rows_out: 19, cols_out: 11 };
    let batch = 700;
    let (x, u, v) = (numbers.list(batch * 13 * 17), numbers.sized(13 * 19, 0.3), numbers.sized(17 * 11, 0.3));
    let (x, u, v) = (single(&x), single(&u), single(&v));
    let gradient = numbers.singles(batch * 19 * 11);
    let terms = [Term { size, input: &x[..], row_map: &u, col_map: &v }];
    let map = Map { terms: &terms, bias: None, activation: Activation::Relu };
    let with = |chain: &Chain<f32>, given: &[f32], threads: usize| {
        let level = Level::best();
        with_threads(threads, || {
            [Keep::Full, Keep::Bf16].map(|keep| {
                let map = map_all(&map, level, &gradient, keep);
                (map, chain_all(chain, level, given, keep), tensors.everything(level, keep))
            })
        })
    };
    with_chain(&mut numbers, 6, batch, 15, |chain, given| {
        let one = with(chain, given, 1);
        for threads in [2, 3, 8] {
            assert!(with(chain, given, threads) == one, "{threads} threads give other bits than one");
        }
    });
}

#[test]
fn gates_shared_among_threads_give_the_same_bits() {
    let mut numbers = Numbers(5);
    let mut shared = [0; 2];
    for case in 0..24 {
        // One sample with whatever in the lanes; or a block of samples in the lanes, where an LSTM shares its way back, too.
        let block = case >= 12;
        let (case, batch, most) = if block { (3 * case, 6, 70) } else { (case, 1, 150) };
        let level = if block { Level::best().with(InLanes::Samples) } else { Level::best() };
        let tensors = random_recurrence(&mut numbers, case, batch, most).single();
        let Tensors { cell, state_size, .. } = tensors;
        let with = |threads: usize| {
            with_threads(threads, || [Keep::Full, Keep::Bf16].map(|keep| tensors.everything(level, keep)))
        };
        assert!(with(3) == with(1), "{cell:?} {state_size:?}");
        // So large that a gate is worth a thread.
        let [rows, cols] = state_size;
        let worth = cell.gates() > 1 && rows * cols * (rows + cols) * if block { 8 } else { 1 } >= 1 << 18;
        shared[usize::from(block)] += usize::from(worth);
    }
    assert!(shared.iter().all(|&count| count > 2), "the states are too small to be shared: {shared:?}");
}

#[test]
fn products_shared_among_threads_give_the_same_bits() {
    let mut numbers = Numbers(6);
    let mut shared = 0;
    for batch in [1, 2, 3] {
        with_chain(&mut numbers, 4, batch, 250, |chain, gradient| {
            let with = |threads: usize| {
                let level = Level::best();
                with_threads(threads, || {
                    (chain_all(chain, level, gradient, Keep::Full), maps_all(chain, level, gradient))
                })
            };
            let one = with(1);
            assert!(one.0 == one.1, "the bits of the maps");
            for threads in [2, 5] {
                assert!(with(threads) == one, "{threads} threads give other bits than one");
            }
            shared += chain.links.iter().filter(|link| link.size.products() >= 1 << 22).count();
        });
    }
    assert!(shared > 2, "the products are too small to be shared");
}

//! Graph kernels: against sums written out, every level against `f64`, any number of threads against one.

mod common;

use common::{Numbers, agree, close, single, with_threads};
use matnet_kernels::{
    Activation, Attention, AttentionMap, Csr, CsrError, Element, Highway, Keep, Level, MatrixView, SlotMap,
    SparseHighway, Weighted, product, sparse_product,
};

/// Rows of up to `most` entries, now and then many more, repeats and empty rows among them.
fn matrix(numbers: &mut Numbers, rows: usize, cols: usize, most: usize) -> Csr {
    let (mut offsets, mut columns) = (vec![0], Vec::new());
    for _ in 0..rows {
        let count = if numbers.below(20) == 0 { 40 + numbers.below(60) } else { numbers.below(most + 1) };
        columns.extend((0..count).map(|_| numbers.below(cols) as u32));
        offsets.push(columns.len());
    }
    Csr::new(cols, offsets, columns).expect("a matrix")
}

#[test]
fn what_is_no_matrix_is_refused() {
    assert_eq!(Csr::new(3, vec![], vec![]), Err(CsrError::Offsets));
    assert_eq!(Csr::new(3, vec![1, 2], vec![0, 1]), Err(CsrError::Offsets));
    assert_eq!(Csr::new(3, vec![0, 2, 1], vec![0]), Err(CsrError::Offsets));
    assert_eq!(Csr::new(3, vec![0, 2], vec![0]), Err(CsrError::Offsets));
    assert_eq!(Csr::new(3, vec![0, 2], vec![0, 3]), Err(CsrError::Column(1)));
    assert_eq!(Csr::new(1 << 33, vec![0], vec![]), Err(CsrError::TooLarge));
    let empty = Csr::new(0, vec![0], vec![]).expect("no rows, no columns");
    assert!(sparse_product::<f32>(Level::best(), &empty, None, &[], 4).is_empty());
}

#[test]
fn transposing_twice_changes_nothing_but_order() {
    let mut numbers = Numbers(1);
    let matrix = matrix(&mut numbers, 30, 20, 5);
    let (transposed, places) = matrix.transpose();
    assert_eq!((transposed.rows(), transposed.cols()), (20, 30));
    for row in 0..20 {
        for entry in transposed.range(row) {
            let place = places[entry] as usize;
            assert_eq!(matrix.columns()[place] as usize, row);
            assert!(matrix.range(transposed.columns()[entry] as usize).contains(&place));
        }
    }
}

#[test]
fn sparse_products_are_sums_on_every_level() {
    let mut numbers = Numbers(2);
    for width in [1, 3, 7, 8, 15, 16, 20, 33, 64, 100, 133] {
        let (rows, cols) = (1 + numbers.below(60), 1 + numbers.below(60));
        let matrix = matrix(&mut numbers, rows, cols, 5);
        let x = numbers.list(cols * width);
        let weights = numbers.singles(matrix.entries());
        for weights in [None, Some(&weights[..])] {
            let mut want = vec![0.0; rows * width];
            for row in 0..rows {
                for place in matrix.range(row) {
                    let column = matrix.columns()[place] as usize;
                    let weight = weights.map_or(1.0, |weights| f64::from(weights[place]));
                    for c in 0..width {
                        want[row * width + c] += weight * x[column * width + c];
                    }
                }
            }
            let what = format!("width {width}");
            let product = |level| vec![sparse_product(level, &matrix, weights, &single(&x), width)];
            agree(&what, &Level::available(), std::slice::from_ref(&want), product);
            for level in Level::available() {
                let double = sparse_product(level, &matrix, weights, &x, width);
                close(&format!("{level:?} {what}"), &single(&double), &want);
            }
        }
    }
}

/// Output and all gradients.
fn attend<E: Element>(attention: &Attention<E>, level: Level, gradient: &[E]) -> Vec<Vec<E>> {
    let (output, kept) = attention.forward(level);
    let gradients = attention.backward(level, &output, &kept, gradient);
    vec![output, gradients.query, gradients.bias, gradients.keys]
}

/// Attention, written out in `f64`.
fn attention_written_out(attention: &Attention<f64>) -> Vec<f64> {
    let Attention { graph, width, heads, query, bias, keys, .. } = *attention;
    let mut output = vec![0.0; graph.rows() * width * heads];
    for row in 0..graph.rows() {
        for head in 0..heads {
            let score = |column: u32| {
                let dot = |c: usize| {
                    let q = query[(row * width + c) * heads + head] + bias[c * heads + head];
                    q * keys[column as usize * width + c]
                };
                (0..width).map(dot).sum::<f64>().exp()
            };
            let total: f64 = graph.row(row).iter().map(|&column| score(column)).sum();
            for &column in graph.row(row) {
                for c in 0..width {
                    output[(row * width + c) * heads + head] +=
                        score(column) / total * keys[column as usize * width + c];
                }
            }
        }
    }
    output
}

#[test]
fn attention_agrees_on_every_level() {
    let mut numbers = Numbers(3);
    for case in 0..60 {
        let (rows, cols) = (1 + numbers.below(50), 1 + numbers.below(50));
        let (width, heads) = (1 + numbers.below(24), 1 + numbers.below([4, 10, 36][case % 3]));
        let graph = matrix(&mut numbers, rows, cols, 6);
        let (transposed, _) = graph.transpose();
        let query = numbers.list(rows * width * heads);
        let (bias, keys) = (numbers.list(width * heads), numbers.list(cols * width));
        let gradient = numbers.list(rows * width * heads);
        let double = Attention {
            graph: &graph,
            transposed: &transposed,
            width,
            heads,
            query: &query,
            bias: &bias,
            keys: &keys,
        };
        let want = attend(&double, Level::PORTABLE, &gradient);
        let written_out = attention_written_out(&double);
        let worst = want[0].iter().zip(&written_out).fold(0.0f64, |worst, (a, b)| worst.max((a - b).abs()));
        assert!(worst < 1e-12, "case {case}: {worst}");
        let (query, bias, keys) = (single(&query), single(&bias), single(&keys));
        let gradient = single(&gradient);
        let single = Attention {
            graph: &graph,
            transposed: &transposed,
            width,
            heads,
            query: &query,
            bias: &bias,
            keys: &keys,
        };
        agree(&format!("width {width} heads {heads}"), &Level::available(), &want, |level| {
            attend(&single, level, &gradient)
        });
    }
}

/// Output and all gradients of attention with its maps.
fn attend_mapped<E: Element>(map: &AttentionMap<E>, level: Level, gradient: &[E]) -> Vec<Vec<E>> {
    let gradients = map.backward(level, gradient);
    vec![map.forward(level), gradients.state, gradients.score_map, gradients.bias, gradients.out_map]
}

#[test]
fn mapped_attention_agrees_on_every_level() {
    let mut numbers = Numbers(9);
    for case in 0..40 {
        let (rows, others) = (1 + numbers.below([20, 700][case % 2]), numbers.below(30));
        let (width, heads) = (1 + numbers.below(12), 1 + numbers.below([4, 10][case % 2]));
        let (output, cols) = (1 + numbers.below(20), rows + others);
        // With many neighbours, queries are kept for the gradients of the source nodes in place of an entry for each edge.
        let graph = matrix(&mut numbers, rows, cols, [5, 60][case / 2 % 2]);
        let (transposed, places) = graph.transpose();
        let size = width * heads;
        let lengths = [cols * width, width * size, size, size * output, rows * output];
        let lists = lengths.map(|length| numbers.list(length));
        let [state, score_map, bias, out_map, gradient] = &lists;
        let (graph, transposed, places) = (&graph, &transposed, &places[..]);
        let double =
            AttentionMap { graph, transposed, places, width, heads, state, score_map, bias, out_map };
        let want = attend_mapped(&double, Level::PORTABLE, gradient);

        // What it is made of.
        let mut query = vec![0.0; rows * size];
        for (own, query) in state.chunks(width).zip(query.chunks_mut(size)) {
            for (x, weights) in own.iter().zip(score_map.chunks(size)) {
                query.iter_mut().zip(weights).for_each(|(sum, weight)| *sum += x * weight);
            }
        }
        let plain = Attention { graph, transposed, width, heads, query: &query, bias, keys: state };
        let aggregated = plain.forward(Level::PORTABLE).0;
        for (got, aggregated) in want[0].chunks(output).zip(aggregated.chunks(size)) {
            for (at, got) in got.iter().enumerate() {
                let sum: f64 =
                    aggregated.iter().zip(out_map.chunks(output)).map(|(x, weights)| x * weights[at]).sum();
                assert!((got - sum).abs() < 1e-12 * (1.0 + sum.abs()), "case {case}: {got} is not {sum}");
            }
        }

        let lists = lists.each_ref().map(|list| single(list));
        let [state, score_map, bias, out_map, gradient] = &lists;
        let single =
            AttentionMap { graph, transposed, places, width, heads, state, score_map, bias, out_map };
        agree(&format!("rows {rows} width {width} heads {heads}"), &Level::available(), &want, |level| {
            attend_mapped(&single, level, gradient)
        });
    }
}

/// Output and all gradients of slots with their maps.
fn map_slots<E: Element>(map: &SlotMap<E>, level: Level, gradient: &[E]) -> Vec<Vec<E>> {
    let gradients = map.backward(level, gradient);
    vec![map.forward(level), gradients.state, gradients.map]
}

#[test]
fn slots_agree_on_every_level() {
    let mut numbers = Numbers(10);
    for case in 0..30 {
        let nodes = numbers.below([20, 1200][case % 2]);
        let (width, output, cols) = (1 + numbers.below(20), 1 + numbers.below(20), 1 + numbers.below(300));
        let graph = &matrix(&mut numbers, nodes, cols, 5);
        let longest = (0..nodes).map(|node| graph.row(node).len()).max().unwrap_or(0);
        let slots = longest.max(1) + numbers.below(3);
        let (transposed, places) = &graph.transpose();
        let lengths = [cols * width, slots * width * output, nodes * output];
        let lists = lengths.map(|length| numbers.list(length));
        let [state, map, gradient] = &lists;
        let want = map_slots(
            &SlotMap { graph, transposed, places, slots, width, state, map },
            Level::PORTABLE,
            gradient,
        );

        // The sum written out.
        let mut sums = vec![0.0; nodes * output];
        for node in 0..nodes {
            let sums = &mut sums[node * output..][..output];
            for (slot, &column) in graph.row(node).iter().enumerate() {
                let weights = &map[slot * width * output..];
                for (x, weights) in
                    state[column as usize * width..][..width].iter().zip(weights.chunks(output))
                {
                    sums.iter_mut().zip(weights).for_each(|(sum, weight)| *sum += x * weight);
                }
            }
        }
        for (got, sum) in want[0].iter().zip(&sums) {
            assert!((got - sum).abs() < 1e-12 * (1.0 + sum.abs()), "case {case}: {got} is not {sum}");
        }

        let lists = lists.each_ref().map(|list| single(list));
        let [state, map, gradient] = &lists;
        let single = SlotMap { graph, transposed, places, slots, width, state, map };
        agree(&format!("nodes {nodes} slots {slots} width {width}"), &Level::available(), &want, |level| {
            map_slots(&single, level, gradient)
        });
    }
}

#[test]
fn large_scores_stay_finite() {
    let mut numbers = Numbers(4);
    let graph = matrix(&mut numbers, 20, 20, 70);
    let (transposed, _) = graph.transpose();
    let (width, heads) = (5, 3);
    let query: Vec<f32> = numbers.singles(20 * width * heads).iter().map(|x| x * 1e4).collect();
    let (bias, keys) = (vec![0.0; width * heads], numbers.singles(20 * width));
    let attention = Attention {
        graph: &graph,
        transposed: &transposed,
        width,
        heads,
        query: &query,
        bias: &bias,
        keys: &keys,
    };
    for level in Level::available() {
        for tensor in attend(&attention, level, &vec![1.0; query.len()]) {
            assert!(tensor.iter().all(|x| x.is_finite()), "{level:?}");
        }
    }
}

fn highway<E: Element>(highway: &Highway<E>, level: Level, gradient: &[E]) -> Vec<Vec<E>> {
    let gradients = highway.backward(level, gradient);
    vec![highway.forward(level), gradients.sum, gradients.bias, gradients.state]
}

#[test]
fn highways_agree_on_every_level() {
    let mut numbers = Numbers(5);
    for case in 0..60 {
        let (nodes, width) = (1 + numbers.below(90), 1 + numbers.below(40));
        let lists = [2 * nodes * width, 2 * nodes * width, 2 * width, nodes * width, nodes * width]
            .map(|count| numbers.list(count));
        let activation = [Activation::Identity, Activation::Tanh, Activation::Sigmoid][case % 3];
        let [own, aggregated, bias, state, gradient] = &lists;
        let double = Highway { width, own, aggregated, bias, state, activation };
        let want = highway(&double, Level::PORTABLE, gradient);
        let lists = lists.each_ref().map(|list| single(list));
        let [own, aggregated, bias, state, gradient] = &lists;
        let single = Highway { width, own, aggregated, bias, state, activation };
        agree(&format!("width {width}"), &Level::available(), &want, |level| {
            highway(&single, level, gradient)
        });
    }
}

/// Output and all gradients of a highway with its maps.
fn sparse_highway<E: Element>(highway: &SparseHighway<E>, level: Level, gradient: &[E]) -> Vec<Vec<E>> {
    let (output, kept) = highway.forward(level, Keep::Full);
    assert!(output == highway.forward(level, Keep::Nothing).0, "keeping changes nothing");
    let of = |kept| {
        let gradients = highway.backward(level, &kept, gradient);
        let mut all = vec![gradients.input, gradients.own_map, gradients.neighbor_map, gradients.bias];
        all.extend(gradients.state);
        all
    };
    let bytes = kept.bytes();
    let gradients = of(kept);
    let (same, kept) = highway.forward(level, Keep::Bf16);
    assert!(output == same, "keeping in bf16 changes nothing");
    assert_eq!(kept.bytes() * size_of::<E>(), 2 * bytes);
    for (at, (rounded, exact)) in of(kept).iter().zip(&gradients).enumerate() {
        let sum = |numbers: &mut dyn Iterator<Item = E>| numbers.fold(E::ZERO, |sum, x| sum + x * x).sqrt();
        let size = sum(&mut exact.iter().copied());
        let apart = sum(&mut rounded.iter().zip(exact).map(|(&a, &b)| a - b));
        let most = size * E::from_single(0.02) + E::from_single(1e-6);
        assert!(apart <= most, "{level:?} tensor {at}: {apart:?} apart, where the norm is {size:?}");
    }
    [vec![output], gradients].concat()
}

/// The same from a sparse product, two dense ones and a highway, in `f64`.
fn highway_of_products(of: &SparseHighway<f64>, gradient: &[f64]) -> Vec<Vec<f64>> {
    let (level, width, count) = (Level::PORTABLE, of.width, of.relations.len());
    let [(first, _), _] = of.relations[0];
    let (nodes, others) = (first.rows(), first.cols());
    let side_by_side = |map: &[f64]| -> Vec<f64> {
        let (gate, candidate) = map.split_at(map.len() / 2);
        gate.chunks(width).zip(candidate.chunks(width)).flat_map(|(a, b)| [a, b].concat()).collect()
    };
    let add = |to: &mut [f64], from: &[f64]| to.iter_mut().zip(from).for_each(|(to, from)| *to += from);
    let maps = [side_by_side(of.own_map), side_by_side(of.neighbor_map)];
    let map = |rows: &[f64], map: &[f64]| {
        let map = MatrixView::new(map, width, 2 * width);
        product(level, MatrixView::new(rows, rows.len() / width, width), map)
    };
    let first_rows = &of.input[..nodes * width];
    let own = map(first_rows, &maps[0]);
    let mut aggregated = vec![0.0; own.len()];
    let aggregates: Vec<Vec<f64>> = of
        .relations
        .iter()
        .map(|[(graph, weights), _]| sparse_product(level, graph, *weights, of.input, width))
        .collect();
    for (rows, weights) in aggregates.iter().zip(maps[1].chunks(2 * width * width)) {
        add(&mut aggregated, &map(rows, weights));
    }
    let state = of.state.unwrap_or(first_rows);
    let (bias, activation) = (of.bias, of.activation);
    let mixed = Highway { width, own: &own, aggregated: &aggregated, bias, state, activation };
    let gradients = mixed.backward(level, gradient);
    let through = MatrixView::new(&gradients.sum, nodes, 2 * width);
    let back =
        |weights: &[f64]| product(level, through, MatrixView::new(weights, width, 2 * width).transposed());
    let of_weights = |rows: &[f64]| product(level, MatrixView::new(rows, nodes, width).transposed(), through);
    let mut input = vec![0.0; others * width];
    add(&mut input, &back(&maps[0]));
    for ([_, (transposed, weights)], map) in of.relations.iter().zip(maps[1].chunks(2 * width * width)) {
        add(&mut input, &sparse_product(level, transposed, *weights, &back(map), width));
    }
    let apart = |joined: &[Vec<f64>]| -> Vec<f64> {
        let half = |which: usize| joined.iter().flat_map(move |map| map.chunks(width).skip(which).step_by(2));
        half(0).chain(half(1)).flatten().copied().collect()
    };
    let neighbor: Vec<_> = aggregates.iter().map(|rows| of_weights(rows)).collect();
    assert_eq!(neighbor.len(), count);
    let maps = [apart(&[of_weights(first_rows)]), apart(&neighbor)];
    let [own_map, neighbor_map] = maps;
    let output = mixed.forward(level);
    if of.state.is_none() {
        add(&mut input, &gradients.state);
        return vec![output, input, own_map, neighbor_map, gradients.bias];
    }
    vec![output, input, own_map, neighbor_map, gradients.bias, gradients.state]
}

#[test]
fn highways_with_their_maps_are_made_of_products_on_every_level() {
    let mut numbers = Numbers(11);
    for case in 0..40 {
        let nodes = numbers.below([30, 900][case % 2]);
        let (width, others) = (1 + numbers.below(40), nodes + numbers.below(20));
        let graphs: Vec<_> = (0..1 + case % 3)
            .map(|_| {
                let graph = matrix(&mut numbers, nodes, others.max(1), 4);
                let weights = numbers.singles(graph.entries());
                let (transposed, places) = graph.transpose();
                let turned: Vec<f32> = places.iter().map(|&place| weights[place as usize]).collect();
                (graph, weights, transposed, turned)
            })
            .collect();
        let others = others.max(1);
        let relations: Vec<_> = graphs
            .iter()
            .map(|(graph, weights, transposed, turned)| match case % 4 {
                0 => [(graph, None), (transposed, None)],
                _ => [(graph, Some(&weights[..])), (transposed, Some(&turned[..]))],
            })
            .collect();
        let square = 2 * width * width;
        let lengths =
            [others * width, nodes * width, square, square * graphs.len(), 2 * width, nodes * width];
        let lists = lengths.map(|length| numbers.list(length));
        let activation = [Activation::Identity, Activation::Tanh, Activation::Sigmoid][case % 3];
        fn view<'a, E>(
            relations: &'a [[Weighted<'a>; 2]],
            width: usize,
            [input, state, own_map, neighbor_map, bias, _]: &'a [Vec<E>; 6],
            with_state: bool,
            activation: Activation,
        ) -> SparseHighway<'a, E> {
            let state = with_state.then_some(&state[..]);
            SparseHighway { relations, width, input, state, own_map, neighbor_map, bias, activation }
        }
        let double = view(&relations, width, &lists, case % 5 < 2, activation);
        let want = highway_of_products(&double, &lists[5]);
        for (got, want) in sparse_highway(&double, Level::PORTABLE, &lists[5]).iter().zip(&want) {
            let apart = got.iter().zip(want).fold(0.0f64, |most, (a, b)| most.max((a - b).abs()));
            assert!(got.len() == want.len() && apart < 1e-9, "case {case}: {apart} apart");
        }
        let lists = lists.each_ref().map(|list| single(list));
        let single = view(&relations, width, &lists, case % 5 < 2, activation);
        agree(&format!("nodes {nodes} width {width}"), &Level::available(), &want, |level| {
            sparse_highway(&single, level, &lists[5])
        });
    }
}

#[test]
fn results_do_not_depend_on_the_number_of_threads() {
    let mut numbers = Numbers(6);
    let (nodes, width, heads) = (3000, 20, 10);
    let graph = matrix(&mut numbers, nodes, nodes, 9);
    let (transposed, places) = graph.transpose();
    let (query, keys) = (numbers.singles(nodes * width * heads), numbers.singles(nodes * width));
    let bias = numbers.singles(width * heads);
    let gradient = numbers.singles(nodes * width * heads);
    let weights = numbers.singles(graph.entries());
    let [own, aggregated] = [0, 1].map(|_| numbers.singles(2 * nodes * width));
    let attention = Attention {
        graph: &graph,
        transposed: &transposed,
        width,
        heads,
        query: &query,
        bias: &bias,
        keys: &keys,
    };
    let gates = Highway {
        width,
        own: &own,
        aggregated: &aggregated,
        bias: &bias[..2 * width],
        state: &keys,
        activation: Activation::Relu,
    };
    let mapped = AttentionMap {
        graph: &graph,
        transposed: &transposed,
        places: &places,
        width,
        heads,
        state: &keys,
        score_map: &gradient[..width * width * heads],
        bias: &bias,
        out_map: &query[..width * heads * width],
    };
    let slots = SlotMap {
        graph: &graph,
        transposed: &transposed,
        places: &places,
        slots: 100,
        width,
        state: &keys,
        map: &query[..100 * width * width],
    };
    let relations = [[(&graph, None), (&transposed, None)]];
    let with_maps = SparseHighway {
        relations: &relations,
        width,
        input: &keys,
        state: None,
        own_map: &query[..2 * width * width],
        neighbor_map: &own[..2 * width * width],
        bias: &bias[..2 * width],
        activation: Activation::Relu,
    };
    let with = |threads: usize| {
        with_threads(threads, || {
            let mut all = attend(&attention, Level::best(), &gradient);
            all.push(sparse_product(Level::best(), &graph, Some(&weights), &keys, width));
            all.extend(highway(&gates, Level::best(), &gradient[..nodes * width]));
            all.extend(attend_mapped(&mapped, Level::best(), &gradient[..nodes * width]));
            all.extend(map_slots(&slots, Level::best(), &gradient[..nodes * width]));
            all.extend(sparse_highway(&with_maps, Level::best(), &gradient[..nodes * width]));
            all
        })
    };
    let one = with(1);
    for threads in [2, 3, 8] {
        assert!(with(threads) == one, "{threads} threads give other bits than one");
    }
}

/// A graph whose states do not fit a cache, with `degree` neighbours a node, in rising order.
fn large_graph(numbers: &mut Numbers, nodes: usize, degree: usize) -> Csr {
    let offsets = (0..=nodes).map(|node| node * degree).collect();
    let mut columns: Vec<u32> = (0..nodes * degree).map(|_| numbers.below(nodes) as u32).collect();
    columns.chunks_mut(degree).for_each(<[u32]>::sort_unstable);
    Csr::new(nodes, offsets, columns).expect("a graph")
}

/// Columns that are laid together give the bits that they give alone.
#[test]
fn states_that_come_from_memory_give_the_same_bits() {
    let (mut numbers, nodes, width) = (Numbers(9), 330_000, 20);
    let graph = large_graph(&mut numbers, nodes, 4);
    let [x, weights] = [nodes * width, graph.entries()].map(|count| numbers.singles(count));
    for level in Level::available() {
        for weights in [None, Some(&weights[..])] {
            let all = sparse_product(level, &graph, weights, &x, width);
            for columns in [0..10, 10..20] {
                let part: Vec<f32> = x.chunks(width).flat_map(|row| &row[columns.clone()]).copied().collect();
                let alone = sparse_product(level, &graph, weights, &part, 10);
                let same = all
                    .chunks(width)
                    .zip(alone.chunks(10))
                    .all(|(all, alone)| all[columns.clone()] == *alone);
                assert!(same, "{level:?}, columns {columns:?}");
            }
        }
    }
}

#[test]
fn highways_over_states_that_come_from_memory_agree() {
    let (mut numbers, nodes, width) = (Numbers(10), 165_000, 20);
    let graph = large_graph(&mut numbers, nodes, 4);
    let (transposed, places) = graph.transpose();
    let weights = numbers.singles(graph.entries());
    let turned: Vec<f32> = places.iter().map(|&place| weights[place as usize]).collect();
    let relations = [[(&graph, Some(&weights[..])), (&transposed, Some(&turned[..]))]];
    let square = 2 * width * width;
    let lists = [nodes * width, square, square, 2 * width, nodes * width].map(|count| numbers.list(count));
    let [input, own_map, neighbor_map, bias, gradient] = &lists;
    let highway = SparseHighway {
        relations: &relations,
        width,
        input,
        state: None,
        own_map,
        neighbor_map,
        bias,
        activation: Activation::Tanh,
    };
    let got = sparse_highway(&highway, Level::PORTABLE, gradient);
    for (at, (got, want)) in got.iter().zip(&highway_of_products(&highway, gradient)).enumerate() {
        let scale = want.iter().fold(1.0f64, |most, v| most.max(v.abs()));
        let apart = got.iter().zip(want).fold(0.0f64, |most, (a, b)| most.max((a - b).abs()));
        assert!(got.len() == want.len() && apart <= 1e-9 * scale, "tensor {at}: {apart} apart");
    }
}

//! Pictures of what a net looks at, and of what it gets wrong.

use std::time::Duration;

use burn::tensor::TensorData;
use matnet::Mode;
use matnet_report::ReportError;
use matnet_report::page::Figure;
use matnet_report::picture::{Colours, Grid, Paper, Range, Tile, gif, outer_products};
use matnet_train::evaluate::Wrong;
use matnet_train::model::{Input, Model, Output};
use matnet_train::task::SampleTask;

use burn::tensor::{Device, Tensor};

/// Wrong answers that are shown.
const MOST_WRONG: usize = 24;
/// Examples whose matrices are shown beside what the net made of them.
const MOST_EXAMPLES: usize = 8;
/// Columns of U and V whose products are shown.
const MOST_PRODUCTS: usize = 6;
/// Matrices with sides up to this are drawn whole.
const MOST_SIDE: usize = 128;

/// The maps of a layer, as they are stored.
pub fn maps(name: &str, named: &[(String, TensorData)]) -> Result<Vec<Figure>, ReportError> {
    let grids = map_grids(name, named, MOST_PRODUCTS)?;
    let figure = |(grid, caption): (Grid, String)| Figure::image(&grid.draw()?, format!("{name}: {caption}"));
    grids.into_iter().map(figure).collect()
}

/// U and V, and the products of their first columns, each with a caption.
pub fn map_grids(
    name: &str,
    named: &[(String, TensorData)],
    most_products: usize,
) -> Result<Vec<(Grid, String)>, ReportError> {
    let find =
        |leaf: &str| named.iter().find(|(path, _)| *path == format!("{name}.{leaf}")).map(|(_, data)| data);
    let mut grids = Vec::new();
    for (row, col, what) in [
        ("row_map", "col_map", ""),
        ("input_row_map", "input_col_map", " of the input, gate by gate"),
        ("state_row_map", "state_col_map", " of the state, gate by gate"),
    ] {
        let (Some(row), Some(col)) = (find(row), find(col)) else { continue };
        let (rows, cols) = (tiles(row)?, tiles(col)?);
        let grid = Grid::new(Colours::Signed)
            .with_row("U", rows.iter().map(|tile| tile.thinned(MOST_SIDE)))
            .with_row("V", cols.iter().map(|tile| tile.thinned(MOST_SIDE)))
            .with_paper(Paper::Light);
        let caption =
            format!("U (from rows to rows) and V (from columns to columns){what}; blue below 0, red above.");
        grids.push((grid, caption));
        if let ([row], [col]) = (&rows[..], &cols[..]) {
            let caption =
                "what its first units look at, the products of a column of U and one of V.".to_owned();
            grids.push((outer_products(row, col, most_products).with_paper(Paper::Light), caption));
        }
    }
    Ok(grids)
}

/// A matrix, or one per gate.
fn tiles(data: &TensorData) -> Result<Vec<Tile>, ReportError> {
    let numbers: Vec<f32> = data.iter::<f32>().collect();
    match data.shape()[..] {
        [rows, cols] => Ok(vec![Tile::new(rows, cols, numbers)?]),
        [_, rows, cols] => {
            numbers.chunks(rows * cols).map(|gate| Tile::new(rows, cols, gate.to_vec())).collect()
        }
        _ => Ok(Vec::new()),
    }
}

/// The answers that were most wrong, each with its picture.
pub fn wrong_answers(task: &SampleTask, wrong: &[Wrong]) -> Result<Vec<Figure>, ReportError> {
    let names = task.data.class_names();
    let mut order: Vec<&Wrong> = wrong.iter().collect();
    order.sort_by(|a, b| a.right_probability.total_cmp(&b.right_probability).then(a.example.cmp(&b.example)));
    let mut figures = Vec::new();
    for wrong in order.into_iter().take(MOST_WRONG) {
        let tiles = frames(task, wrong.example)?;
        let image = Grid::new(Colours::Grey).with_row("", tiles).with_range(Range::Shared).draw()?;
        let step = wrong.step.map_or(String::new(), |step| format!(", step {}", step + 1));
        let (right, given) = (&names[wrong.right as usize], &names[wrong.given as usize]);
        let sure = 100.0 * wrong.probability;
        let caption = format!("{right}, taken for {given} ({sure:.0} %); example {}{step}", wrong.example);
        figures.push(Figure::image(&image, caption)?);
    }
    Ok(figures)
}

/// An example as pictures: a matrix, some frames of a sequence, or a sequence of small matrices as entry × time.
fn frames(task: &SampleTask, example: usize) -> Result<Vec<Tile>, ReportError> {
    let numbers = task.data.inputs.sample(example);
    let numbers = numbers.as_ref();
    let [rows, cols] = task.data.sides();
    match task.data.time() {
        None => Ok(vec![Tile::new(rows, cols, numbers.to_vec())?.thinned(MOST_SIDE)]),
        Some(time) if rows * cols <= 16 => {
            let turned =
                (0..rows * cols).flat_map(|entry| (0..time).map(move |at| numbers[at * rows * cols + entry]));
            Ok(vec![Tile::new(rows * cols, time, turned.collect::<Vec<f32>>())?])
        }
        Some(time) => (0..time)
            .step_by(time.div_ceil(8).max(1))
            .map(|at| {
                let frame = &numbers[at * rows * cols..(at + 1) * rows * cols];
                Ok(Tile::new(rows, cols, frame.to_vec())?.thinned(MOST_SIDE))
            })
            .collect(),
    }
}

/// What the net makes of the first examples, beside what was wanted.
pub fn given_and_wanted(
    task: &SampleTask,
    net: &Model,
    examples: &[usize],
    device: &Device,
) -> Result<Vec<Figure>, ReportError> {
    let shown = &examples[..examples.len().min(MOST_EXAMPLES)];
    let mut figures = Vec::new();
    if shown.is_empty() {
        return Ok(figures);
    }
    let input = task.input(shown, device);
    let Output::Matrices(given) = net.forward(input.clone(), &mut Mode::Eval) else { return Ok(figures) };
    let given = task.finished(given);
    let (given, wanted) = (split(given)?, split(task.wanted(shown, device))?);
    let each = given.len() / shown.len();
    if each == 1 {
        let Input::Matrices(input) = input else { return Ok(figures) };
        let grid = Grid::new(Colours::Grey)
            .with_row("in", split(input)?)
            .with_row("wanted", wanted)
            .with_row("given", given)
            .with_range(Range::Shared);
        figures.push(Figure::image(
            &grid.draw()?,
            "The first test examples: what went in, what was wanted, what came out.",
        )?);
        return Ok(figures);
    }
    for (at, example) in shown.iter().enumerate().take(4) {
        let part = at * each..(at + 1) * each;
        let strip = Grid::new(Colours::Grey)
            .with_row("wanted", wanted[part.clone()].iter().cloned())
            .with_row("given", given[part.clone()].iter().cloned())
            .with_range(Range::Shared);
        figures.push(Figure::image(
            &strip.draw()?,
            format!("Example {example}: the matrices that follow, and those predicted."),
        )?);
        let images = part
            .map(|step| {
                Grid::new(Colours::Grey)
                    .with_row("", [wanted[step].clone(), given[step].clone()])
                    .with_range(Range::Shared)
                    .draw()
            })
            .collect::<Result<Vec<_>, _>>()?;
        if at == 0 {
            let film = gif(&images, Duration::from_millis(200))?;
            figures.push(Figure::gif(
                film,
                format!("Example {example} in motion: wanted left, predicted right."),
            ));
        }
    }
    Ok(figures)
}

/// Matrices one by one.
pub fn split(matrices: Tensor<3>) -> Result<Vec<Tile>, ReportError> {
    let [_, rows, cols] = matrices.dims();
    let data = matrices.into_data();
    let numbers: Vec<f32> = data.iter::<f32>().collect();
    numbers.chunks(rows * cols).map(|matrix| Tile::new(rows, cols, matrix.to_vec())).collect()
}

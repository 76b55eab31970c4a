//! What the report of a net on samples shows.

use std::time::Duration;

use matnet_data::Array;
use matnet_report::ReportError;
use matnet_report::page::{Figure, Page};
use matnet_report::picture::{ColorRange, Colormap, Grid, Tile, gif};
use matnet_report::text::{count, shape};

use super::{SampleConfig, SampleData, SampleInput, SampleOutput, SampleTask, TargetType};
use crate::config::Loss;
use crate::draw::{MAX_SIDE, tiles};
use crate::task::{Evaluation, ExampleMatrices, Fitted, Misclassified, NetOf, TaskReport};
use crate::{Result, Split};
use burn::tensor::activation::sigmoid;
use burn::tensor::{Device, Tensor};
use matnet::Mode;
use matnet::net::Net;

/// Misclassified examples that are shown.
const MAX_MISCLASSIFIED: usize = 24;
/// Examples whose matrices are shown beside the outputs of the net.
const MAX_EXAMPLES: usize = 8;

/// Sequences whose targets are shown beside the outputs of the net.
const MAX_SEQUENCES: usize = 4;

impl<C: SampleConfig> TaskReport for SampleTask<C> {
    fn report_facts(&self, _net: &NetOf<Self>) -> Vec<(&'static str, String)> {
        let data = &self.data;
        let (number, sides) = (count(data.inputs.len()), shape(&data.sides()));
        let what = match data.time() {
            Some(time) => match data.lengths.iter().min() {
                Some(least) => format!("{number} sequences of {least} to {time} × {sides}"),
                None => format!("{number} sequences of {time} × {sides}"),
            },
            None => format!("{number} matrices of {sides}"),
        };
        vec![("data", format!("{}: {what}", data.config.source))]
    }

    fn report_sections(
        &self,
        fitted: &Fitted<Self>,
        evaluation: Option<(&Evaluation, Split)>,
        page: &mut Page,
    ) -> Result<()> {
        let Some((evaluation, split)) = evaluation else { return Ok(()) };
        let figures = misclassified(&self.data, &evaluation.misclassified)?;
        if !figures.is_empty() {
            page.subheading("Misclassified");
            let all = count(evaluation.misclassified.len());
            page.paragraph(&format!("{} of {all}, the most confident first.", figures.len()));
            page.figures(figures);
        }
        let examples = split.of(&self.data.indices);
        let examples = &examples[..examples.len().min(MAX_EXAMPLES)];
        // Sequences of different lengths are shown one by one.
        let together = if self.data.lengths.is_empty() { MAX_EXAMPLES } else { 1 };
        for examples in examples.chunks(together).take(MAX_SEQUENCES) {
            if let Some(shown) = self.matrices(&fitted.net, examples, &fitted.device)? {
                for figure in outputs(examples, &shown)? {
                    page.figure(figure);
                }
            }
        }
        Ok(())
    }

    /// Inputs, targets and outputs of some examples, if the net gives matrices.
    fn matrices(
        &self,
        net: &NetOf<Self>,
        examples: &[usize],
        device: &Device,
    ) -> Result<Option<ExampleMatrices>> {
        if examples.is_empty() || self.kind != TargetType::Matrices {
            return Ok(None);
        }
        let array = |matrices: Tensor<3>| self.data.in_units(examples, matrices);
        let lengths = self.data.lengths_of(examples);
        let input = self.input(examples, None, device);
        let shown = match <NetOf<Self> as Net>::Input::SEQUENCES {
            true => None,
            false => {
                let [rows, cols] = self.data.sides();
                let values = input.values();
                Some(Array::new([examples.len(), rows, cols], values)?)
            }
        };
        let output = net.forward(input, &mut Mode::Eval);
        let SampleOutput::Matrices(output) = SampleOutput::new::<C>(output, lengths.as_deref()) else {
            return Ok(None);
        };
        let output = if self.loss == Loss::Bce { sigmoid(output) } else { output };
        let target = array(self.targets(examples, device))?;
        Ok(Some(ExampleMatrices { input: shown, target, output: array(output)? }))
    }
}

/// The most confident wrong predictions, each with its picture.
fn misclassified(data: &SampleData, wrong: &[Misclassified]) -> Result<Vec<Figure>, ReportError> {
    let names = data.class_names();
    let mut order: Vec<&Misclassified> = wrong.iter().collect();
    order.sort_by(|a, b| {
        a.target_probability.total_cmp(&b.target_probability).then(a.example.cmp(&b.example))
    });
    let mut figures = Vec::new();
    for wrong in order.into_iter().take(MAX_MISCLASSIFIED) {
        let grid = Grid::new(Colormap::Gray).with_row("", frames(data, wrong.example)?);
        let image = grid.with_range(ColorRange::Shared).draw()?;
        let step = wrong.step.map_or(String::new(), |step| format!(", step {}", step + 1));
        let (target, predicted) = (&names[wrong.target as usize], &names[wrong.predicted as usize]);
        let percent = 100.0 * wrong.probability;
        let caption =
            format!("{target}, predicted {predicted} ({percent:.0} %); example {}{step}", wrong.example);
        figures.push(Figure::image(&image, caption)?);
    }
    Ok(figures)
}

/// An example as pictures: a matrix, some frames of a sequence, or a sequence of small matrices as entry × time.
fn frames(data: &SampleData, example: usize) -> Result<Vec<Tile>, ReportError> {
    let values = data.inputs.sample(example);
    let values = values.as_ref();
    let [rows, cols] = data.sides();
    match data.time().map(|_| data.length(example)) {
        None => Ok(vec![Tile::new(rows, cols, values.to_vec())?.subsampled(MAX_SIDE)]),
        Some(time) if rows * cols <= 16 => {
            let transposed =
                (0..rows * cols).flat_map(|entry| (0..time).map(move |at| values[at * rows * cols + entry]));
            Ok(vec![Tile::new(rows * cols, time, transposed.collect::<Vec<f32>>())?])
        }
        Some(time) => (0..time)
            .step_by(time.div_ceil(8).max(1))
            .map(|at| {
                let frame = &values[at * rows * cols..(at + 1) * rows * cols];
                Ok(Tile::new(rows, cols, frame.to_vec())?.subsampled(MAX_SIDE))
            })
            .collect(),
    }
}

/// What the net gives for some examples, beside the targets.
fn outputs(examples: &[usize], shown: &ExampleMatrices) -> Result<Vec<Figure>, ReportError> {
    let (target, output) = (tiles(&shown.target)?, tiles(&shown.output)?);
    if let Some(input) = &shown.input {
        let grid = Grid::new(Colormap::Gray)
            .with_row("input", tiles(input)?)
            .with_row("target", target)
            .with_row("output", output)
            .with_range(ColorRange::Shared);
        return Ok(vec![Figure::image(&grid.draw()?, "The first test examples: input, target and output.")?]);
    }
    let steps = output.len() / examples.len();
    let mut figures = Vec::new();
    for (at, example) in examples.iter().enumerate().take(MAX_SEQUENCES) {
        let range = at * steps..(at + 1) * steps;
        let strip = Grid::new(Colormap::Gray)
            .with_row("target", target[range.clone()].iter().cloned())
            .with_row("output", output[range.clone()].iter().cloned())
            .with_range(ColorRange::Shared);
        let caption = format!("Example {example}: the target sequence, and the predicted one.");
        figures.push(Figure::image(&strip.draw()?, caption)?);
        if at == 0 {
            let frame = |step: usize| {
                let pair = [target[step].clone(), output[step].clone()];
                Grid::new(Colormap::Gray).with_row("", pair).with_range(ColorRange::Shared).draw()
            };
            let images = range.map(frame).collect::<Result<Vec<_>, _>>()?;
            let film = gif(&images, Duration::from_millis(200))?;
            let caption = format!("Example {example} in motion: target left, prediction right.");
            figures.push(Figure::gif(film, caption));
        }
    }
    Ok(figures)
}

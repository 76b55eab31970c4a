//! What the report of a net that learns an algorithm shows.

use burn::tensor::Tensor;
use burn::tensor::activation::sigmoid;
use image::RgbImage;
use matnet::net::TuringMachine;
use matnet_data::generate::algorithm::AlgorithmSequence;
use matnet_data::local::SampleReader;
use matnet_report::ReportError;
use matnet_report::page::{Figure, Page};
use matnet_report::picture::{ColorRange, Colormap, Grid, Tile};
use matnet_report::text::{count, shape};

use super::{AlgorithmTask, entered};
use crate::task::{
    Evaluation, FigureKind, Fitted, Loaded, PredictRequest, TaskData, TaskFigure, TaskReport, to_vec,
};
use crate::{Result, Split};

/// Sequences that are shown.
const SHOWN: usize = 2;
/// Pixels across for a step, and down for a bit and for a slot.
const ZOOM: (u32, u32, u32) = (9, 9, 4);
/// A slot is shown where it, or a neighbor of it, ever had as much of a head's attention as this.
const VISIBLE: f32 = 0.1;

impl TaskReport for AlgorithmTask {
    fn report_facts(&self, net: &TuringMachine) -> Vec<(&'static str, String)> {
        let (data, memory) = (&self.data.config, net.memory_size());
        let controller = format!("{:?}, {}", self.net.controller, shape(&self.net.hidden)).to_lowercase();
        vec![
            ("algorithm", format!("{}, vectors of {} bits", data.source.name(), data.width())),
            ("memory", format!("{} slots of {}", count(memory.slots), memory.width)),
            ("heads", format!("{} read, {} write", memory.reads, memory.writes)),
            ("controller", controller),
        ]
    }

    fn report_sections(
        &self,
        fitted: &Fitted<Self>,
        _evaluation: Option<(&Evaluation, Split)>,
        page: &mut Page,
    ) -> Result<()> {
        for &number in self.data.split(Split::Test).iter().take(SHOWN) {
            page.subheading(&format!("Sequence {number}"));
            for (_, image, caption) in trace(self, fitted, number)? {
                page.figure(Figure::image(&image, caption)?);
            }
        }
        Ok(())
    }

    fn figures(&self, fitted: &Fitted<Self>, kind: FigureKind) -> Result<Vec<TaskFigure>> {
        let first = self.data.split(Split::Test).first().filter(|_| kind == FigureKind::Trace);
        let Some(&number) = first else { return Ok(Vec::new()) };
        let figure = |(name, image, caption)| TaskFigure::Trace { name, image, caption };
        Ok(trace(self, fitted, number)?.into_iter().map(figure).collect())
    }

    /// The attention of the heads for the first sequences of a file.
    fn attention(loaded: &Loaded<Self>, request: &PredictRequest, count: usize) -> Result<Vec<TaskFigure>> {
        let Some(chunk) = SampleReader::open(request.input)?.next_chunk(count)? else {
            return Ok(Vec::new());
        };
        let inputs = entered(loaded, chunk.inputs)?;
        let [count, time, ..] = inputs.dims();
        let figure = |at: usize| {
            let length = chunk.lengths.get(at).copied().unwrap_or(time);
            let sequence = inputs.clone().narrow(0, at, 1).narrow(1, 0, length);
            let (image, caption) = heads(&loaded.net, loaded.net.trace(sequence).weights)?;
            Ok(TaskFigure::Trace { name: "heads", image, caption })
        };
        (0..count).map(figure).collect()
    }
}

/// Input, target and output over time, and the attention of the heads.
fn trace(
    task: &AlgorithmTask,
    fitted: &Fitted<AlgorithmTask>,
    number: usize,
) -> Result<[(&'static str, RgbImage, String); 2], ReportError> {
    let sequence = task.data.sequence(number);
    let trace = fitted.net.trace(task.input(&[&sequence], &fitted.device));
    let AlgorithmSequence { input, target_steps, target } = sequence;
    let time = trace.output.dims()[1];
    let bits = task.data.config.bits();
    let mut targets = vec![0.0; time * bits];
    targets[target_steps.start * bits..target_steps.end * bits].copy_from_slice(&target);
    let mut output = to_vec(sigmoid(trace.output));
    // What the net gives before the target steps does not count.
    output[..target_steps.start * bits].fill(0.0);
    let (across, bit, _) = ZOOM;
    let picture = Grid::new(Colormap::Gray)
        .with_row("input", [over_time(&input, time)?])
        .with_row("target", [over_time(&targets, time)?])
        .with_row("output", [over_time(&output, time)?])
        .with_range(ColorRange::Fixed(0.0, 1.0))
        .with_zoom(across, bit)
        .draw()?;
    let caption = "Input, target and output; time goes from left to right.".to_owned();
    let (heads, attention) = heads(&fitted.net, trace.weights)?;
    Ok([("bits", picture, caption), ("heads", heads, attention)])
}

/// The attention weights `[1, time, heads, slots]` of a sequence, and what the picture shows.
fn heads(net: &TuringMachine, weights: Tensor<4>) -> Result<(RgbImage, String), ReportError> {
    let ([_, time, heads, slots], (across, _, slot)) = (weights.dims(), ZOOM);
    let weights = to_vec(weights);
    let visible = |slot: usize| weights[slot..].iter().step_by(slots).any(|&weight| weight > VISIBLE);
    let first = (0..slots).find(|&slot| visible(slot)).unwrap_or(0).saturating_sub(1);
    let last = (0..slots).rfind(|&slot| visible(slot)).map_or(slots, |slot| (slot + 2).min(slots));
    let reads = net.memory_size().reads;
    let mut grid = Grid::new(Colormap::Gray).with_range(ColorRange::Fixed(0.0, 1.0)).with_zoom(across, slot);
    // Writing comes before reading.
    for head in (reads..heads).chain(0..reads) {
        let name = if head < reads { "read" } else { "write" };
        let of_head: Vec<f32> = (0..time)
            .flat_map(|at| {
                let start = (at * heads + head) * slots;
                weights[start + first..start + last].to_vec()
            })
            .collect();
        grid = grid.with_row(name, [over_time(&of_head, time)?]);
    }
    let attention = format!(
        "Attention weights of the heads at every step: slots {} to {last} of {slots} from top to bottom, white is 1.",
        first + 1
    );
    Ok((grid.draw()?, attention))
}

/// Rows of values, one per step, transposed so that time goes across.
fn over_time(values: &[f32], time: usize) -> Result<Tile, ReportError> {
    let down = values.len() / time;
    let transposed: Vec<f32> =
        (0..down).flat_map(|row| (0..time).map(move |at| values[at * down + row])).collect();
    Tile::new(down, time, transposed)
}

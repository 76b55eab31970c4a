//! The report of a run that learnt a program.

use burn::tensor::Device;
use burn::tensor::activation::sigmoid;
use image::RgbImage;
use matnet_report::page::{Figure, Page};
use matnet_report::picture::{Colours, Grid, Range, Tile};
use matnet_report::{ReportError, table::Cell, table::Column, table::Table};
use matnet_train::Run;
use matnet_train::data::Part;
use matnet_train::inspect::program_layers;
use matnet_train::program::{BitScore, ProgramTask, Sequence, TrainedProgram};
use matnet_train::run::Work;
use matnet_train::task::Task;

use super::single;
use crate::failure::Failure;
use crate::text::{count, sides};

/// Sequences that are shown.
const SHOWN: usize = 2;
/// Pixels across for a step, and down for a bit and for a slot.
const ZOOM: (u32, u32, u32) = (9, 9, 4);
/// A slot is shown where it, or one on either side of it, ever had as much of a head's attention as this.
const NOTICED: f32 = 0.1;

/// Everything about a run on one page.
pub fn page(run: &Run, work: &Work<ProgramTask>, device: &Device) -> Result<Page, Failure> {
    let trained = run.trained_program("best.safetensors", device)?;
    let (task, result) = (&work.task, run.result()?);
    let (facts, config) = (task.facts(), &task.data.config);
    let name = run.folder().file_name().unwrap_or(run.folder().as_os_str()).to_string_lossy();
    let lede = single::lede(&facts.form, facts.kind, result.as_ref());
    let mut page = Page::new(name.as_ref()).with_lede(lede);
    let parts = program_layers(&trained.net, config.test_steps());
    let memory = trained.net.memory_size();
    page.facts([
        ("program", format!("{}, vectors of {} bits", facts.source, config.width())),
        ("sequences in an epoch / validation / test", {
            [Part::Train, Part::Valid, Part::Test].map(|part| count(task.data.part(part).len())).join(" / ")
        }),
        ("memory", format!("{} slots of {}", count(memory.slots), memory.width)),
        ("heads", format!("{} to read, {} to write", memory.reads, memory.writes)),
        (
            "controller",
            format!("{:?}, {}", work.task.model.0.controller, sides(&task.model.0.hidden)).to_lowercase(),
        ),
        ("parameters", count(parts.iter().map(|part| part.parameters).sum())),
        ("seed", work.train.seed.to_string()),
        ("matnet", env!("CARGO_PKG_VERSION").to_owned()),
    ]);
    single::learning(&mut page, run, result.as_ref());
    if let Some(score) = task.score(&trained.net, Part::Test, device) {
        page.heading("Answers");
        page.table(&bits(task, score));
        for &number in task.data.part(Part::Test).iter().take(SHOWN) {
            page.subheading(&format!("Sequence {number}"));
            for (picture, caption) in pictures(task, &trained, number, device)? {
                page.figure(Figure::image(&picture, caption)?);
            }
        }
    }
    page.heading("Parameters");
    page.table(&single::parameters(&parts));
    page.heading("Config");
    page.details("config.toml", |page| page.code(&work.config()));
    Ok(page)
}

/// Wrong bits in the test.
fn bits(task: &ProgramTask, score: BitScore) -> Table {
    let columns =
        ["length", "sequences", "wrong bits", "of", "wrong bits per sequence", "sequences without one"];
    let mut table = Table::new(columns.map(Column::number)).with_caption("Bits of the test sequences.");
    table.push([
        Cell::count(task.data.config.test_size().length as u64),
        Cell::count(score.sequences as u64),
        Cell::count(score.wrong),
        Cell::count(score.bits),
        Cell::number(score.wrong_per_sequence(), 3),
        Cell::count(score.faultless as u64),
    ]);
    table
}

/// What goes in and comes out over time, and where the heads look: pictures with captions.
pub fn pictures(
    task: &ProgramTask,
    trained: &TrainedProgram,
    number: usize,
    device: &Device,
) -> Result<[(RgbImage, String); 2], ReportError> {
    let (sequence, trace) = task.trace(&trained.net, number, device);
    let Sequence { input, answers, wanted } = sequence;
    let [_, time, heads, slots] = trace.weights.dims();
    let bits = task.data.config.bits();
    let mut asked = vec![0.0; time * bits];
    asked[answers.start * bits..answers.end * bits].copy_from_slice(&wanted);
    let mut given: Vec<f32> = sigmoid(trace.output).into_data().iter::<f32>().collect();
    // What stands elsewhere was not asked for.
    given[..answers.start * bits].fill(0.0);
    let (across, bit, slot) = ZOOM;
    let picture = Grid::new(Colours::Grey)
        .with_row("in", [over_time(&input, time)?])
        .with_row("wanted", [over_time(&asked, time)?])
        .with_row("given", [over_time(&given, time)?])
        .with_range(Range::Fixed(0.0, 1.0))
        .with_zoom(across, bit)
        .draw()?;
    let said = "What went in, what was wanted and what came out, from left to right in time.";

    let weights: Vec<f32> = trace.weights.into_data().iter::<f32>().collect();
    let noticed = |slot: usize| weights[slot..].iter().step_by(slots).any(|&weight| weight > NOTICED);
    let first = (0..slots).find(|&slot| noticed(slot)).unwrap_or(0).saturating_sub(1);
    let last = (0..slots).rfind(|&slot| noticed(slot)).map_or(slots, |slot| (slot + 2).min(slots));
    let reads = trained.net.memory_size().reads;
    let mut grid = Grid::new(Colours::Grey).with_range(Range::Fixed(0.0, 1.0)).with_zoom(across, slot);
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
    let caption = format!(
        "Where the heads looked, step by step: slots {} to {last} of {slots} from top to bottom, white for all of a head's attention.",
        first + 1
    );
    Ok([(picture, said.to_owned()), (grid.draw()?, caption)])
}

/// Rows of numbers, one a step, turned so that time goes across.
fn over_time(numbers: &[f32], time: usize) -> Result<Tile, ReportError> {
    let down = numbers.len() / time;
    let turned: Vec<f32> =
        (0..down).flat_map(|row| (0..time).map(move |at| numbers[at * down + row])).collect();
    Tile::new(down, time, turned)
}

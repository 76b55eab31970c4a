//! The report of one run.

use burn::tensor::Device;
use matnet::weights;
use matnet_report::chart::ConfusionMatrix;
use matnet_report::page::{Figure, Page};
use matnet_report::table::{Cell, Column, Table};
use matnet_train::Run;
use matnet_train::data::Part;
use matnet_train::evaluate::{Confusion, evaluate};
use matnet_train::inspect::{self, Layer, layers};
use matnet_train::run::{RunResult, Score, Work};
use matnet_train::task::SampleTask;

use super::{curves, pictures};
use crate::failure::Failure;
use crate::text::{count, number, sides};

/// Layers whose maps are shown without being asked for.
const SHOWN_LAYERS: usize = 1;
/// Layers whose maps are in the page at all.
const MOST_LAYERS: usize = 12;
/// Classes that a confusion matrix can show.
const MOST_CLASSES: usize = 60;

/// Everything about a run on one page.
pub fn page(run: &Run, plan: &Work<SampleTask>, device: &Device) -> Result<Page, Failure> {
    let trained = run.trained("best.safetensors", device)?;
    let result = run.result()?;
    let task = &plan.task;
    let name = run.folder().file_name().unwrap_or(run.folder().as_os_str()).to_string_lossy();
    let form = format!("{:?}", task.model.form()).to_lowercase();
    let mut page = Page::new(name.as_ref()).with_lede(lede(&form, task.model.kind(), result.as_ref()));
    let parts = layers(&trained.net, &task.model, task.steps());
    facts(&mut page, plan, &parts);

    learning(&mut page, run, result.as_ref());

    let part = if task.data.part(Part::Test).is_empty() { Part::Valid } else { Part::Test };
    let examples = task.data.part(part);
    if !examples.is_empty() {
        let evaluation = evaluate(task, &trained.net, examples, &plan.train, device);
        if let Some(confusion) = &evaluation.confusion {
            page.heading("Answers");
            confusions(&mut page, confusion, part);
            let wrong = pictures::wrong_answers(task, &evaluation.wrong)?;
            if !wrong.is_empty() {
                page.subheading("Wrong answers");
                let all = count(evaluation.wrong.len());
                page.paragraph(&format!("{} of {all}, those first that the net was surest of.", wrong.len()));
                page.figures(wrong);
            }
        }
        let given = pictures::given_and_wanted(task, &trained.net, examples, device)?;
        if !given.is_empty() {
            page.heading("Answers");
            for figure in given {
                page.figure(figure);
            }
        }
    }

    page.heading("Parameters");
    page.table(&parameters(&parts));
    maps(&mut page, &parts, &weights::named(&trained.net))?;
    page.heading("Config");
    page.details("config.toml", |page| page.code(&plan.config()));
    Ok(page)
}

/// Which classes are taken for which, unless they are too many to show.
pub(super) fn confusions(page: &mut Page, confusion: &Confusion, part: Part) {
    if confusion.classes().len() <= MOST_CLASSES {
        let title = format!("Confusions on the {} part", part.name());
        let chart = ConfusionMatrix::new(title, confusion.classes(), confusion.counts().to_vec());
        page.figure(Figure::svg(chart.svg(), "Rows are the right classes, columns what the net said."));
    }
}

pub(super) fn lede(form: &str, kind: &str, result: Option<&RunResult>) -> String {
    let Some(result) = result else { return format!("A {kind} net ({form} form), still being trained.") };
    let score = match result.test.or(result.valid) {
        Some(Score { error: Some(error), .. }) => format!("{:.2} % wrong answers", 100.0 * error),
        Some(Score { loss, .. }) => format!("a loss of {}", number(loss)),
        None => "nothing measured".to_owned(),
    };
    let on = if result.test.is_some() { "test" } else { "validation" };
    let parameters = count(result.parameters);
    format!("A {kind} net ({form} form) with {parameters} parameters: {score} in the {on}.")
}

fn facts(page: &mut Page, plan: &Work<SampleTask>, parts: &[Layer]) {
    let data = &plan.task.data;
    let shape = match data.time() {
        Some(time) => format!("{} sequences of {time} × {}", count(data.inputs.len()), sides(&data.sides())),
        None => format!("{} matrices of {}", count(data.inputs.len()), sides(&data.sides())),
    };
    let split = [Part::Train, Part::Valid, Part::Test].map(|part| count(data.part(part).len())).join(" / ");
    let vector: u64 = parts.iter().map(|part| part.vector_parameters).sum();
    let flops: u64 = parts.iter().map(|part| part.flops).sum();
    page.facts([
        ("data", format!("{}: {shape}", data.config.source)),
        ("training / validation / test", split),
        ("parameters", count(parts.iter().map(|part| part.parameters).sum())),
        ("a vector net with as many hidden units", count(vector as usize)),
        ("operations per sample", format!("{} Mflop", number(flops as f64 / 1e6))),
        ("seed", plan.train.seed.to_string()),
        ("matnet", env!("CARGO_PKG_VERSION").to_owned()),
    ]);
    for note in &data.notes {
        page.paragraph(&format!("Data: {note}."));
    }
}

/// Learning curves, and how it ended.
pub(super) fn learning(page: &mut Page, run: &Run, result: Option<&RunResult>) {
    page.heading("Learning");
    page.figures(curves::figures(run));
    if let Some(result) = result {
        page.table(&scores(result));
    }
}

fn scores(result: &RunResult) -> Table {
    let caption = format!("The weights of epoch {}, the best of {}.", result.best_epoch, result.epochs);
    let parts = [("training", result.train), ("validation", result.valid), ("test", result.test)];
    let errors = parts.iter().any(|(_, score)| score.is_some_and(|score| score.error.is_some()));
    let columns = [Column::text("part"), Column::number("examples"), Column::number("loss")];
    let error = errors.then(|| Column::number("error (%)"));
    let mut table = Table::new(columns.into_iter().chain(error)).with_caption(caption);
    for (name, score) in parts {
        let Some(Score { loss, error, examples }) = score else { continue };
        let cells = [name.into(), Cell::count(examples as u64), Cell::number(loss, 4)];
        table.push(cells.into_iter().chain(error.map(|error| Cell::number(100.0 * error, 2))));
    }
    table
}

pub(super) fn parameters(parts: &[Layer]) -> Table {
    let mut table = Table::new([
        Column::text("layer"),
        Column::text("what"),
        Column::text("in"),
        Column::text("out"),
        Column::number("uses"),
        Column::number("parameters"),
        Column::number("in a vector net"),
        Column::number("Mflop"),
    ]);
    for run in inspect::alike(parts) {
        let (part, times) = (run[0], run.len() as u64);
        let (from, to) = match part.shapes {
            Some((from, to)) => (sides(&from).into(), sides(&to).into()),
            None => (Cell::Empty, Cell::Empty),
        };
        table.push([
            inspect::name(&run).into(),
            part.kind.into(),
            from,
            to,
            Cell::count(part.uses as u64 * times),
            Cell::count(part.parameters as u64 * times),
            Cell::count(part.vector_parameters * times),
            Cell::number(times as f64 * part.flops as f64 / 1e6, 3),
        ]);
    }
    table
}

/// U and V: those of the first layers at once, of some more when asked for.
fn maps(
    page: &mut Page,
    parts: &[Layer],
    named: &[(String, burn::tensor::TensorData)],
) -> Result<(), Failure> {
    let mut all = Vec::new();
    for part in parts.iter().filter(|part| part.kind.starts_with("matrix")).take(MOST_LAYERS) {
        all.push(pictures::maps(&part.name, named)?);
    }
    if all.is_empty() {
        return Ok(());
    }
    page.subheading("Maps");
    let later = all.split_off(all.len().min(SHOWN_LAYERS));
    for figures in all {
        page.figures(figures);
    }
    if !later.is_empty() {
        page.details("the maps of the layers after it", |page| {
            for figures in later {
                page.figures(figures);
            }
        });
    }
    Ok(())
}

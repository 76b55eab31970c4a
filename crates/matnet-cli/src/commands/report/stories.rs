//! The report of a run on stories.

use std::path::Path;

use burn::tensor::Device;
use matnet_report::chart::HeatMap;
use matnet_report::page::{Figure, Page};
use matnet_report::table::{Cell, Column, Table};
use matnet_train::Run;
use matnet_train::data::Part;
use matnet_train::evaluate::evaluate;
use matnet_train::inspect::story_layers;
use matnet_train::run::Work;
use matnet_train::stories::{Looked, StoryTask};
use matnet_train::task::Task;

use super::single;
use crate::failure::{Failure, Outcome};
use crate::text::{count, counted};

/// Questions whose attention is shown.
const SHOWN: usize = 6;
/// Of more sentences, those before a question are shown that were looked at most.
const MOST_SENTENCES: usize = 25;

/// Everything about a run on one page.
pub fn page(run: &Run, work: &Work<StoryTask>, looked: &[HeatMap], device: &Device) -> Result<Page, Failure> {
    let trained = run.trained_on_stories("best.safetensors", device)?;
    let (task, result) = (&work.task, run.result()?);
    let (facts, data) = (task.facts(), &task.data);
    let name = run.folder().file_name().unwrap_or(run.folder().as_os_str()).to_string_lossy();
    let mut page = Page::new(name.as_ref()).with_lede(single::lede(&facts.form, facts.kind, result.as_ref()));
    let parts = story_layers(&trained.net, &task.model);
    let split = [Part::Train, Part::Valid, Part::Test].map(|part| count(data.part(part).len())).join(" / ");
    let tasks: Vec<String> = data.tasks.iter().map(|(number, name)| format!("{number} {name}")).collect();
    page.facts([
        (
            "data",
            format!(
                "{}: {}, {} words",
                facts.source,
                counted(data.stories.len(), "story"),
                count(data.vocabulary.len())
            ),
        ),
        ("tasks", tasks.join(", ")),
        ("training / validation / test questions", split),
        ("sentences kept", count(task.model.memory())),
        ("parameters", count(parts.iter().map(|part| part.parameters).sum())),
        ("seed", work.train.seed.to_string()),
        ("matnet", env!("CARGO_PKG_VERSION").to_owned()),
    ]);
    for note in facts.notes {
        page.paragraph(&format!("Data: {note}."));
    }
    single::learning(&mut page, run, result.as_ref());
    let part = shown(task);
    let examples = task.examples(part);
    if !examples.is_empty() {
        let found = evaluate(task, &trained.net, examples, &work.train, device);
        page.heading("Answers");
        let wrong: Vec<usize> = found.wrong.iter().map(|wrong| wrong.example).collect();
        let each = task.by_task(examples, &wrong);
        if each.len() > 1 {
            page.table(&tasks_table(&each, part));
        }
        if let Some(confusion) = &found.confusion {
            single::confusions(&mut page, &confusion.used(), part);
        }
    }
    if !looked.is_empty() {
        page.heading("Where it looked");
        page.paragraph(
            "A line for every sentence of a story, a column for every hop and head; • marks what the data name as support of the answer.",
        );
        for map in looked {
            page.figure(Figure::svg(map.svg(), ""));
        }
    }
    page.heading("Parameters");
    page.table(&single::parameters(&parts));
    page.heading("Config");
    page.details("config.toml", |page| page.code(&work.config()));
    Ok(page)
}

fn shown(task: &StoryTask) -> Part {
    if task.examples(Part::Test).is_empty() { Part::Valid } else { Part::Test }
}

fn tasks_table(each: &[(usize, String, usize, usize)], part: Part) -> Table {
    let columns = [Column::text("task"), Column::number("questions"), Column::number("error (%)")];
    let mut table =
        Table::new(columns).with_caption(format!("Wrong answers on the {} part, task by task.", part.name()));
    let percent = |wrong: usize, all: usize| 100.0 * wrong as f64 / all.max(1) as f64;
    for (number, name, wrong, all) in each {
        let task = format!("{number} {name}");
        table.push([task.into(), Cell::count(*all as u64), Cell::number(percent(*wrong, *all), 1)]);
    }
    let mean = each.iter().map(|(_, _, wrong, all)| percent(*wrong, *all)).sum::<f64>() / each.len() as f64;
    table.push(["mean".into(), Cell::Empty, Cell::number(mean, 1)]);
    table
}

/// Where the net looked for the answers to some questions, one of each task before a second of any.
pub fn looked(run: &Run, work: &Work<StoryTask>, device: &Device) -> Result<Vec<HeatMap>, Failure> {
    let trained = run.trained_on_stories("best.safetensors", device)?;
    let data = &work.task.data;
    // The last question of a story has most to look at.
    let last = |&at: &usize| {
        let example = &data.examples[at];
        example.question + 1 == data.stories[example.story].questions.len()
    };
    let mut chosen: Vec<usize> = work.task.examples(shown(&work.task)).iter().copied().filter(last).collect();
    let mut seen = vec![0; data.tasks.len()];
    chosen.sort_by_cached_key(|&at| {
        let count = &mut seen[data.examples[at].task];
        *count += 1;
        *count
    });
    chosen.truncate(SHOWN);
    if chosen.is_empty() {
        return Ok(Vec::new());
    }
    let answers = trained.answer(data, &chosen)?;
    let looked = trained.looked(data, &chosen);
    let maps = chosen.iter().zip(&answers.classes).zip(&looked);
    Ok(maps.map(|((&at, &given), looked)| map(work, at, given, looked)).collect())
}

/// Sentences down, hops and heads across.
fn map(work: &Work<StoryTask>, example: usize, given: u32, looked: &Looked) -> HeatMap {
    let data = &work.task.data;
    let example = &data.examples[example];
    let told = &data.told(example)[looked.first..];
    let most = |at: usize| looked.shares.iter().flatten().map(|head| head[at]).fold(0.0, f32::max);
    let mut lines: Vec<usize> = (0..told.len()).collect();
    lines.sort_by(|&a, &b| most(b).total_cmp(&most(a)));
    lines.truncate(MOST_SENTENCES);
    lines.sort_unstable();
    let several = looked.shares.first().is_some_and(|heads| heads.len() > 1);
    let mut columns = Vec::new();
    for (hop, heads) in looked.shares.iter().enumerate() {
        for head in 0..heads.len() {
            columns.push(match several {
                true => format!("hop {}, head {}", hop + 1, head + 1),
                false => format!("hop {}", hop + 1),
            });
        }
    }
    // A hundredth more or less would not be seen.
    let share = |share: f32| f64::from((100.0 * share).round()) / 100.0;
    let row = |&at: &usize| looked.shares.iter().flatten().map(|head| share(head[at])).collect::<Vec<_>>();
    let (question, given) = (data.question(example), &data.vocabulary[given as usize]);
    let right = match example.answer {
        Some(answer) if data.vocabulary[answer as usize] != *given => {
            format!(", where {} is right", data.vocabulary[answer as usize])
        }
        _ => String::new(),
    };
    let title = format!("{} {given}{right}", question.text);
    let named = |&at: &usize| {
        let mark = if question.facts.contains(&(looked.first + at)) { "• " } else { "" };
        format!("{mark}{} {}", looked.first + at + 1, told[at])
    };
    let rows: Vec<String> = lines.iter().map(named).collect();
    HeatMap::new(title, rows, columns, lines.iter().map(row))
}

/// The same as pictures beside a report: looked-1.png and so on.
pub fn write_pictures(looked: &[HeatMap], report: &Path) -> Outcome {
    for (number, map) in looked.iter().enumerate() {
        let file = report.with_file_name(format!("looked-{}.png", number + 1));
        matnet_train::write_file(&file, &map.svg().to_png(2.0)?)?;
    }
    Ok(())
}

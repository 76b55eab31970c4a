//! What the report of a memory net shows.

use matnet::Mode;
use matnet::net::{StoryNet, StoryNetConfig};
use matnet_report::chart::HeatMap;
use matnet_report::page::{Figure, Page};
use matnet_report::text::{count, counted};

use super::{QaData, StoryTask};
use crate::task::{
    Evaluation, FigureKind, Fitted, Loaded, NetOf, PredictRequest, TaskData, TaskFigure, TaskReport,
    predicted_classes, to_vec,
};
use crate::{Result, Split};

/// Questions whose attention is shown.
const SHOWN: usize = 6;
/// Of more sentences before a question, those with the highest weights are shown.
const MAX_SENTENCES: usize = 25;

impl<C: StoryNetConfig + 'static> TaskReport for StoryTask<C> {
    fn report_facts(&self, _net: &NetOf<Self>) -> Vec<(&'static str, String)> {
        let data = &self.data;
        let tasks: Vec<String> = data.tasks.iter().map(|(number, name)| format!("{number} {name}")).collect();
        let (stories, words) = (counted(data.stories.len(), "story"), count(data.vocabulary.len()));
        vec![
            ("data", format!("{}: {stories}, {words} words", data.source())),
            ("tasks", tasks.join(", ")),
            ("memory", counted(self.net.memory_size(), "sentence")),
        ]
    }

    fn report_sections(
        &self,
        fitted: &Fitted<Self>,
        _evaluation: Option<(&Evaluation, Split)>,
        page: &mut Page,
    ) -> Result<()> {
        let maps = attention(self, fitted);
        if !maps.is_empty() {
            page.heading("Attention");
            page.paragraph(
                "A row for every sentence of a story, a column for every hop and head; • marks the sentences that support the answer, according to the data.",
            );
            for map in maps {
                page.figure(Figure::svg(map.svg(), ""));
            }
        }
        Ok(())
    }

    fn figures(&self, fitted: &Fitted<Self>, kind: FigureKind) -> Result<Vec<TaskFigure>> {
        Ok(match kind {
            FigureKind::Attention => attention(self, fitted).into_iter().map(TaskFigure::Attention).collect(),
            _ => Vec::new(),
        })
    }

    /// The attention weights of the first questions of a file.
    fn attention(loaded: &Loaded<Self>, request: &PredictRequest, count: usize) -> Result<Vec<TaskFigure>> {
        let data = Self::other_data(loaded, request)?;
        let first = &data.indices.test[..count.min(data.indices.test.len())];
        Ok(heat_maps(&data, &loaded.net, first).into_iter().map(TaskFigure::Attention).collect())
    }
}

/// The attention weights of some questions, one of each task before a second of any.
fn attention<C: StoryNetConfig + 'static>(
    task: &StoryTask<C>,
    fitted: &Fitted<StoryTask<C>>,
) -> Vec<HeatMap> {
    let data = &task.data;
    let split = if data.split(Split::Test).is_empty() { Split::Valid } else { Split::Test };
    // The last question of a story has the longest context.
    let last = |&at: &usize| {
        let example = &data.examples[at];
        example.question + 1 == data.stories[example.story].questions.len()
    };
    let mut chosen: Vec<usize> = data.split(split).iter().copied().filter(last).collect();
    let mut seen = vec![0; data.tasks.len()];
    chosen.sort_by_cached_key(|&at| {
        let count = &mut seen[data.examples[at].task];
        *count += 1;
        *count
    });
    chosen.truncate(SHOWN);
    heat_maps(data, &fitted.net, &chosen)
}

/// The attention weights of these questions.
fn heat_maps<N: StoryNet>(data: &QaData, net: &N, chosen: &[usize]) -> Vec<HeatMap> {
    if chosen.is_empty() {
        return Vec::new();
    }
    let batch = data.batch(chosen);
    let weights = net.attention(&batch);
    let scores = net.forward(batch, &mut Mode::Eval);
    let width = scores.dims()[1];
    let predicted = predicted_classes(&to_vec(scores), width);
    let all = chosen.iter().zip(&predicted).zip(&weights);
    all.map(|((&at, &predicted), weights)| heat_map(data, at, predicted, weights)).collect()
}

/// Sentences down, hops and heads across.
fn heat_map(data: &QaData, example: usize, predicted: u32, weights: &[Vec<Vec<f32>>]) -> HeatMap {
    let example = &data.examples[example];
    let context = data.context(example);
    // Sentences before the memory's first were forgotten.
    let kept = weights.iter().flatten().map(Vec::len).next().unwrap_or(0);
    let first = context.len().saturating_sub(kept);
    let context = &context[first..];
    let highest = |at: usize| weights.iter().flatten().map(|head| head[at]).fold(0.0, f32::max);
    let mut lines: Vec<usize> = (0..context.len()).collect();
    lines.sort_by(|&a, &b| highest(b).total_cmp(&highest(a)));
    lines.truncate(MAX_SENTENCES);
    lines.sort_unstable();
    let several = weights.first().is_some_and(|heads| heads.len() > 1);
    let mut columns = Vec::new();
    for (hop, heads) in weights.iter().enumerate() {
        for head in 0..heads.len() {
            columns.push(match several {
                true => format!("hop {}, head {}", hop + 1, head + 1),
                false => format!("hop {}", hop + 1),
            });
        }
    }
    // Two decimals are enough for the eye.
    let rounded = |weight: f32| f64::from((100.0 * weight).round()) / 100.0;
    let row = |&at: &usize| weights.iter().flatten().map(|head| rounded(head[at])).collect::<Vec<_>>();
    let (question, predicted) = (data.question(example), &data.vocabulary[predicted as usize]);
    let target = match example.answer {
        Some(answer) if data.vocabulary[answer as usize] != *predicted => {
            format!(" (target: {})", data.vocabulary[answer as usize])
        }
        _ => String::new(),
    };
    let title = format!("{} {predicted}{target}", question.text);
    let named = |&at: &usize| {
        let mark = if question.facts.contains(&(first + at)) { "• " } else { "" };
        format!("{mark}{} {}", first + at + 1, context[at])
    };
    let rows: Vec<String> = lines.iter().map(named).collect();
    HeatMap::new(title, rows, columns, lines.iter().map(row))
}

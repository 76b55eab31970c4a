//! What an experiment came to: tables, sentences, figures, and one page with all of them.

use std::path::Path;

use matnet_report::chart::{BarChart, Bars, Scatter3};
use matnet_report::page::{Figure, Page};
use matnet_report::table::{Best, Cell, Column, Table};
use matnet_train::compare::Spread;

use super::experiment::{Claim, Comparison, Data, Experiment, Net};
use crate::cli::Size;
use crate::failure::Outcome;

/// Right answers in the test, in percent, of every run that is done.
#[derive(Clone, Debug, Default)]
pub struct Scores(Vec<((usize, usize, usize), f64)>);

impl Scores {
    /// One more.
    pub fn add(&mut self, cell: (usize, usize, usize), right: f64) {
        self.0.push((cell, right));
    }

    /// Mean, deviation and best of a cell. A spread's best is the smallest, and here more is better.
    fn of(&self, cell: (usize, usize, usize)) -> Option<(Spread, f64)> {
        let all = || self.0.iter().filter(|(of, _)| *of == cell).map(|(_, right)| *right);
        Some((Spread::of(all())?, all().fold(f64::NEG_INFINITY, f64::max)))
    }
}

/// Hidden states of a run, with what they are of and where their pictures are.
pub struct Cloud {
    pub table: usize,
    pub caption: String,
    pub points: Scatter3,
}

/// Writes results.md, figures and report.html.
pub fn write(
    folder: &Path,
    experiment: &Experiment,
    size: Size,
    scores: &Scores,
    clouds: &[Cloud],
    done: (usize, usize),
) -> Outcome {
    let mut page = Page::new(&experiment.title).with_lede(&experiment.about);
    let mut markdown = format!("# {}\n\n{}\n\n", experiment.title, experiment.about);
    let mut say = |page: &mut Page, text: &str| {
        page.paragraph(text);
        markdown += &format!("{text}\n\n");
    };
    if size == Size::Quick {
        say(&mut page, &experiment.quick);
    }
    if done.0 < done.1 {
        say(&mut page, &format!("{} of {} runs are done; the same command goes on.", done.0, done.1));
    }
    std::fs::create_dir_all(folder.join("figures"))?;
    for (number, comparison) in experiment.table.iter().enumerate() {
        page.heading(&comparison.title);
        let table = table(comparison, size, number, scores);
        page.table(&table);
        markdown += &format!("## {}\n\n{}\n", comparison.title, table.markdown());
        let figure = bars(comparison, size, number, scores);
        let svg = figure.svg();
        let name = format!("{}.png", comparison.name);
        matnet_train::write_file(&folder.join("figures").join(&name), &svg.to_png(2.0)?)?;
        page.figure(Figure::svg(svg, "Means over the seeds; whiskers are one standard deviation."));
        markdown += &format!("![{}](figures/{name})\n\n", comparison.title);
        for claim in &comparison.claim {
            for (column, data) in comparison.columns(size) {
                let sentence = sentence(claim, comparison, data, (number, column), scores);
                page.paragraph(&sentence);
                markdown += &format!("- {sentence}\n");
            }
        }
        markdown.push('\n');
        for cloud in clouds.iter().filter(|cloud| cloud.table == number) {
            page.cloud(&cloud.points, &cloud.caption);
        }
    }
    matnet_train::write_file(&folder.join("results.md"), markdown.as_bytes())?;
    super::super::report::write_page(&folder.join("report.html"), &page)
}

fn table(comparison: &Comparison, size: Size, number: usize, scores: &Scores) -> Table {
    let mut columns = vec![Column::text("net")];
    for (_, data) in comparison.columns(size) {
        columns.push(Column::number(format!("{} (%)", data.label)).with_best(Best::Highest));
        columns.push(Column::number("best"));
        columns.push(Column::number(&comparison.published));
    }
    let caption = "Right answers in the test: mean ± standard deviation over the seeds, the best seed, and what was published.";
    let mut table = Table::new(columns).with_caption(caption);
    for (row, net) in comparison.row.iter().enumerate() {
        let mut cells = vec![Cell::from(net.label.as_str())];
        for (column, data) in comparison.columns(size) {
            let found = scores.of((number, column, row));
            cells.push(match &found {
                None => Cell::Empty,
                Some((Spread { mean, deviation: Some(deviation), .. }, _)) => {
                    Cell::mean_sd(*mean, *deviation, 1)
                }
                Some((Spread { mean, .. }, _)) => Cell::number(*mean, 1),
            });
            cells.push(found.map_or(Cell::Empty, |(_, best)| Cell::number(best, 1)));
            cells.push(net.published(data).map_or(Cell::Empty, |number| Cell::number(number, 1)));
        }
        table.push(cells);
    }
    table
}

fn bars(comparison: &Comparison, size: Size, number: usize, scores: &Scores) -> BarChart {
    let labels: Vec<&str> = comparison.columns(size).map(|(_, data)| data.label.as_str()).collect();
    let mut chart =
        BarChart::new(&comparison.title, labels).with_axes("", "right answers (%)").with_decimals(1);
    for (row, net) in comparison.row.iter().enumerate() {
        let found = |column: usize| scores.of((number, column, row)).map(|(spread, _)| spread);
        let means = comparison.columns(size).map(|(column, _)| found(column).map_or(f64::NAN, |s| s.mean));
        let deviations = comparison
            .columns(size)
            .map(|(column, _)| found(column).and_then(|spread| spread.deviation).unwrap_or(0.0));
        chart = chart.with_bars(Bars::new(&net.label, means).with_deviations(deviations));
    }
    chart
}

/// Whether a claim held on some data, in plain words.
fn sentence(
    claim: &Claim,
    comparison: &Comparison,
    data: &Data,
    (table, column): (usize, usize),
    scores: &Scores,
) -> String {
    let row = |name: &str| comparison.row.iter().position(|net| net.variant == name);
    let mean = |name: &str| Some(scores.of((table, column, row(name)?))?.0);
    let start = format!("{}, on {}:", claim.says, data.label);
    let first = mean(&claim.higher);
    let second = match claim.than.as_str() {
        "published" => row(&claim.higher).and_then(|row| Net::published(&comparison.row[row], data)),
        name => mean(name).map(|spread| spread.mean),
    };
    match (first, second) {
        (Some(first), Some(second)) => {
            let held = if first.mean >= second - claim.within { "held" } else { "did not hold" };
            let seeds = crate::text::counted(first.count, "seed");
            format!("{start} {held} ({:.1} against {second:.1}, {seeds}).", first.mean)
        }
        (_, None) if claim.than == "published" => format!("{start} nothing is published to compare with."),
        _ => format!("{start} not trained yet."),
    }
}

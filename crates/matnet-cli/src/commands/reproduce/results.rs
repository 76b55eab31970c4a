//! What an experiment came to: tables, sentences, figures, and one page with all of them.

use std::path::Path;

use matnet_report::page::{Figure, Page};
use matnet_report::table::{Cell as TableCell, Column, Table};
use matnet_train::Run;
use matnet_train::compare::Spread;
use matnet_train::run::RunResult;

use super::experiment::{Cell, Comparison, Experiment};
use super::figure::Drawn;
use super::folder;
use super::measure::{Measure, Summary, mean};
use crate::commands::report;
use crate::failure::Outcome;

/// Every run that is done, in the order of the seeds, and those that came to nothing.
#[derive(Clone, Debug, Default)]
pub struct Results {
    done: Vec<(Cell, Run, RunResult)>,
    /// Runs whose numbers stopped being numbers, with where.
    nothing: Vec<(Cell, Run, String)>,
    /// Columns that were left out, with why.
    pub left_out: Vec<String>,
    /// What is missing because a file of a run is damaged.
    pub damaged: Vec<String>,
}

impl Results {
    /// One more.
    pub fn add(&mut self, cell: Cell, run: Run, result: RunResult) {
        let before = |(of, _, other): &(Cell, Run, RunResult)| (*of, other.seed) <= (cell, result.seed);
        let place = self.done.partition_point(before);
        self.done.insert(place, (cell, run, result));
    }

    /// One more that came to nothing.
    pub fn add_nothing(&mut self, cell: Cell, run: Run, what: String) {
        let place = self.nothing.partition_point(|(of, ..)| *of <= cell);
        self.nothing.insert(place, (cell, run, what));
    }

    /// How many there are.
    pub fn count(&self) -> usize {
        self.done.len() + self.nothing.len()
    }

    /// What to know before the tables: what is left out, is still to come, came to nothing or is damaged. `to_come` says
    /// how the runs that are missing of `steps` are had.
    pub fn notes(&self, steps: usize, to_come: &str) -> Vec<String> {
        let mut notes = self.left_out.clone();
        if self.count() < steps {
            notes.push(format!("{} of {steps} runs are done; {to_come}.", self.count()));
        }
        let nothing = self.nothing.iter();
        notes.extend(
            nothing.map(|(_, run, what)| format!("Came to nothing: {}: {what}.", run.folder().display())),
        );
        notes.extend(self.damaged.iter().map(|what| format!("Damaged: {what}.")));
        notes
    }

    /// The runs of a cell.
    pub fn runs(&self, cell: Cell) -> impl Iterator<Item = (&Run, &RunResult)> {
        self.done.iter().filter(move |(of, ..)| *of == cell).map(|(_, run, result)| (run, result))
    }

    /// How many runs of a cell came to nothing.
    pub fn nothing(&self, cell: Cell) -> usize {
        self.nothing.iter().filter(|(of, ..)| *of == cell).count()
    }

    /// Whether anything of a table is trained.
    pub fn any(&self, table: usize) -> bool {
        self.done.iter().any(|((of, ..), ..)| *of == table)
    }

    /// Mean, deviation and best of a cell.
    pub fn summary(&self, cell: Cell, measure: Measure) -> Option<Summary> {
        Summary::of(measure, self.runs(cell).map(|(_, result)| result))
    }

    /// Whether there is a run of a cell.
    pub fn trained(&self, cell: Cell) -> bool {
        self.runs(cell).next().is_some()
    }

    /// Whether a table has more than one seed anywhere.
    pub fn several(&self, comparison: &Comparison, table: usize) -> bool {
        (0..comparison.columns.len()).any(|column| self.seeds((table, column)) > 1)
    }

    /// How many seeds the cells of a column have at most.
    pub fn seeds(&self, (table, column): (usize, usize)) -> usize {
        let rows = self.done.iter().filter(|((t, c, _), ..)| (*t, *c) == (table, column));
        let mut counts = std::collections::BTreeMap::<usize, usize>::new();
        rows.for_each(|((_, _, row), ..)| *counts.entry(*row).or_default() += 1);
        counts.into_values().max().unwrap_or(0)
    }
}

/// What is written about a table.
pub struct Section {
    pub tables: Vec<Table>,
    pub sentences: Vec<String>,
    /// Figures, those in one group side by side.
    pub figures: Vec<Vec<Drawn>>,
    /// Figures of an earlier report that were not drawn again.
    pub earlier: Vec<Earlier>,
}

impl Section {
    /// Tables and sentences; figures are drawn elsewhere.
    pub fn new(number: usize, comparison: &Comparison, results: &Results) -> Self {
        let tables =
            comparison.measures.iter().map(|measure| table(comparison, number, *measure, results)).collect();
        let claims = comparison.claims.iter();
        let sentences = claims.flat_map(|claim| claim.sentences(number, comparison, results)).collect();
        Self { tables, sentences, figures: Vec::new(), earlier: Vec::new() }
    }

    /// Tables and sentences, on a page and as text.
    pub fn tell(&self, page: &mut Page, markdown: &mut String) {
        for table in &self.tables {
            page.table(table);
            *markdown += &format!("{}\n\n{}\n", table.caption(), table.markdown());
        }
        page.list(&self.sentences);
        for sentence in &self.sentences {
            *markdown += &format!("- {sentence}\n");
        }
        markdown.push('\n');
    }
}

/// A figure of an earlier report.
#[derive(Clone)]
pub struct Earlier {
    /// The title of its table.
    title: String,
    caption: String,
    /// Its file, as seen from the report.
    file: String,
}

impl Earlier {
    /// Those of the report in a folder.
    pub fn all(folder: &Path) -> Vec<Self> {
        let text = std::fs::read_to_string(folder.join("results.md")).unwrap_or_default();
        let (mut found, mut title) = (Vec::new(), "");
        for line in text.lines() {
            title = line.strip_prefix("## ").unwrap_or(title);
            let figure = line.strip_prefix("![").and_then(|line| line.strip_suffix(')'));
            let Some((caption, file)) = figure.and_then(|line| line.rsplit_once("](")) else { continue };
            if folder.join(file).is_file() {
                let [title, caption, file] = [title, caption, file].map(str::to_owned);
                found.push(Self { title, caption, file });
            }
        }
        found
    }

    /// Whether it belongs to a table and is not drawn again.
    pub fn is_kept(&self, title: &str, figures: &[Vec<Drawn>]) -> bool {
        let again = |drawn: &Drawn| drawn.markdown(FIGURES).contains(&format!("]({})", self.file));
        self.title == title && !figures.iter().flatten().any(again)
    }

    fn markdown(&self) -> String {
        format!("![{0}]({1})\n\n{0}\n\n", self.caption, self.file)
    }

    /// The figure for a page, of points in space the picture from one side; `None` if its file is gone.
    fn figure(&self, folder: &Path) -> Option<Figure> {
        let bytes = std::fs::read(folder.join(&self.file)).ok()?;
        Some(match self.file.ends_with(".gif") {
            true => Figure::gif(bytes, &self.caption),
            false => Figure::png(bytes, &self.caption),
        })
    }
}

/// The folder of the figures, as seen from the report.
const FIGURES: &str = "figures/";

/// What stands over figures of an earlier report.
const EARLIER: &str = "Drawn before the newest runs, and not from them; the command draws these figures again when all its runs are done.";

/// Writes results.md, figures and report.html.
pub fn write(folder: &Path, experiment: &Experiment, notes: &[String], sections: &[Section]) -> Outcome {
    let mut page = Page::new(&experiment.title).with_lede(&experiment.about);
    let mut markdown = format!("{}\n\n{}\n\n", folder::heading(&experiment.title), experiment.about);
    for note in notes {
        page.paragraph(note);
        markdown += &format!("{note}\n\n");
    }
    let figures = folder.join(FIGURES);
    folder::make(&figures)?;
    for (comparison, section) in experiment.tables.iter().zip(sections) {
        page.heading(&comparison.title);
        markdown += &format!("## {}\n\n", comparison.title);
        if !comparison.about.is_empty() {
            page.paragraph(&comparison.about);
            markdown += &format!("{}\n\n", comparison.about);
        }
        section.tell(&mut page, &mut markdown);
        for group in &section.figures {
            for drawn in group {
                drawn.write(&figures)?;
                markdown += &drawn.markdown(FIGURES);
            }
            Drawn::show(group, &mut page);
        }
        if !section.earlier.is_empty() {
            page.paragraph(EARLIER);
            markdown += &format!("{EARLIER}\n\n");
        }
        for earlier in &section.earlier {
            markdown += &earlier.markdown();
            earlier.figure(folder).into_iter().for_each(|figure| page.figure(figure));
        }
    }
    matnet_train::write_file(&folder.join("results.md"), markdown.as_bytes())?;
    report::write_page(&folder.join("report.html"), &page)
}

fn table(comparison: &Comparison, number: usize, measure: Measure, results: &Results) -> Table {
    let cells = |column: usize, row: usize| (number, column, row);
    let several = results.several(comparison, number);
    let chosen = several && comparison.chosen;
    let published: Vec<bool> = comparison
        .columns
        .iter()
        .map(|data| {
            measure == comparison.measures[0]
                && comparison.rows.iter().any(|net| net.published(data).is_some())
        })
        .collect();
    let sizes_published = comparison.rows.iter().any(|net| net.published_parameters.is_some());
    let mut columns = vec![Column::text("net")];
    if comparison.parameters {
        columns.push(Column::number("parameters"));
        columns.extend(sizes_published.then(|| Column::number(&comparison.published)));
    }
    for (data, published) in comparison.columns.iter().zip(&published) {
        let column = Column::number(&data.label);
        // The best of different tasks is only the easiest.
        columns.push(if comparison.mean { column } else { column.with_best(measure.best()) });
        columns.extend(several.then(|| Column::number("best")));
        columns.extend(chosen.then(|| Column::number("chosen")));
        columns.extend(published.then(|| Column::number(&comparison.published)));
    }
    let caption = match several {
        true if chosen => format!(
            "{}: mean ± standard deviation over the seeds, the best seed, and the one chosen by its training loss.",
            measure.name()
        ),
        true => format!("{}: mean ± standard deviation over the seeds, and the best seed.", measure.name()),
        false => format!("{}, from one seed.", measure.name()),
    };
    let mut table = Table::new(columns).with_caption(caption);
    for (row, net) in comparison.rows.iter().enumerate() {
        let mut line = vec![TableCell::from(net.label.as_str())];
        if comparison.parameters {
            let counts = (0..comparison.columns.len()).flat_map(|column| results.runs(cells(column, row)));
            let count = counts.map(|(_, result)| result.parameters as u64).next();
            line.push(count.map_or(TableCell::Empty, TableCell::count));
            let size = || net.published_parameters.map_or(TableCell::Empty, TableCell::count);
            line.extend(sizes_published.then(size));
        }
        for ((column, data), published) in comparison.columns.iter().enumerate().zip(&published) {
            let found = results.summary(cells(column, row), measure);
            let decimals = measure.decimals();
            line.push(match found.map(|summary| summary.spread) {
                None => TableCell::Empty,
                Some(Spread { mean, deviation: Some(deviation), .. }) => {
                    TableCell::mean_sd(mean, deviation, decimals)
                }
                Some(Spread { mean, .. }) => TableCell::number(mean, decimals),
            });
            let best = || found.map_or(TableCell::Empty, |summary| TableCell::number(summary.best, decimals));
            line.extend(several.then(best));
            let least =
                || found.map_or(TableCell::Empty, |summary| TableCell::number(summary.chosen, decimals));
            line.extend(chosen.then(least));
            let theirs = || net.published(data).map_or(TableCell::Empty, |x| TableCell::number(x, decimals));
            line.extend(published.then(theirs));
        }
        table.push(line);
    }
    if comparison.mean {
        table.push(mean_line(comparison, number, measure, results, (several, chosen, &published)));
    }
    table
}

/// The mean over all rows, of every column where all are trained.
fn mean_line(
    comparison: &Comparison,
    number: usize,
    measure: Measure,
    results: &Results,
    (several, chosen, published): (bool, bool, &[bool]),
) -> Vec<TableCell> {
    let mut line = vec![TableCell::from("mean")];
    for ((column, data), published) in comparison.columns.iter().enumerate().zip(published) {
        let rows = 0..comparison.rows.len();
        let found: Vec<Option<Summary>> =
            rows.map(|row| results.summary((number, column, row), measure)).collect();
        let cell = |mean: Option<f64>| {
            mean.map_or(TableCell::Empty, |mean| TableCell::number(mean, measure.decimals()))
        };
        let of = |number: fn(&Summary) -> f64| {
            cell(mean(found.iter().map(|summary| summary.as_ref().map(number))))
        };
        line.push(of(|summary| summary.spread.mean));
        line.extend(several.then(|| of(|summary| summary.best)));
        line.extend(chosen.then(|| of(|summary| summary.chosen)));
        let theirs = || cell(mean(comparison.rows.iter().map(|net| net.published(data))));
        line.extend(published.then(theirs));
    }
    line
}

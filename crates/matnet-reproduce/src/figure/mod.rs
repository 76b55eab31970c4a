//! The figures of an experiment: one file for each kind.

mod bars;
mod curves;
mod frames;
mod maps;
mod reconstructions;
mod samples;
mod size;
mod spectrogram;
mod task;
mod units;

use std::path::Path;

use matnet_cli::failure::{Failure, Outcome};
use matnet_report::Svg;
use matnet_report::chart::Scatter3d;
use matnet_report::page::{Figure, Page};
use matnet_train::report::write_angles;
use matnet_train::run::BEST;
use matnet_train::task::FigureKind;
use matnet_train::{Error, Model, Predictor, write_file};

use crate::context::Context;
use crate::experiment::{ColumnSpec, RowSpec, TableSpec};
use crate::figure_spec::{FigureSpec, PlotKind};
use crate::results::Results;

/// A figure, ready to be written.
pub struct Drawn {
    /// The name of its file, without the extension.
    name: String,
    caption: String,
    content: Content,
}

enum Content {
    Chart(Svg),
    Png(Vec<u8>),
    Gif(Vec<u8>),
    Scatter(Scatter3d),
}

impl Drawn {
    /// Writes the file; of points in space two, from different angles.
    pub fn write(&self, folder: &Path) -> Outcome {
        let file = |extension: &str| folder.join(format!("{}.{extension}", self.name));
        match &self.content {
            Content::Chart(svg) => write_file(&file("png"), &svg.to_png(2.0)?)?,
            Content::Png(bytes) => write_file(&file("png"), bytes)?,
            Content::Gif(bytes) => write_file(&file("gif"), bytes)?,
            Content::Scatter(points) => write_angles(points, &folder.join(&self.name))?,
        }
        Ok(())
    }

    /// The figure in Markdown.
    pub fn markdown(&self, folder: &str) -> String {
        let ends: &[&str] = match self.content {
            Content::Chart(_) | Content::Png(_) => &[".png"],
            Content::Gif(_) => &[".gif"],
            Content::Scatter(_) => &["-1.png", "-2.png"],
        };
        let (name, caption) = (&self.name, &self.caption);
        let pictures: String =
            ends.iter().map(|end| format!("![{caption}]({folder}/{name}{end})\n")).collect();
        format!("{pictures}\n{caption}\n\n")
    }

    /// Adds a group to a page, side by side.
    pub fn show(group: &[Self], page: &mut Page) {
        let mut figures = Vec::new();
        for drawn in group {
            figures.push(match &drawn.content {
                Content::Chart(svg) => Figure::svg(svg.clone(), &drawn.caption),
                Content::Png(bytes) => Figure::png(bytes.clone(), &drawn.caption),
                Content::Gif(bytes) => Figure::gif(bytes.clone(), &drawn.caption),
                Content::Scatter(points) => {
                    page.scatter3d(points, &drawn.caption);
                    continue;
                }
            });
        }
        match figures.len() {
            0 => {}
            1 => figures.into_iter().for_each(|figure| page.figure(figure)),
            _ => page.figures(figures),
        }
    }
}

/// Which figures are drawn.
#[derive(Clone, Copy, PartialEq)]
pub enum Cost {
    Any,
    /// Those that need no trained net.
    Low,
}

/// Groups of figures; those of a group are shown side by side.
type Groups = Vec<Vec<Drawn>>;

/// Draws the figures of the table with this number; also returns which files were damaged.
pub fn draw(
    number: usize,
    table: &TableSpec,
    results: &Results,
    context: &Context,
    cost: Cost,
) -> Result<(Groups, Vec<String>), Failure> {
    let mut canvas = Canvas { number, table, results, context, damaged: Vec::new() };
    let mut groups: Groups = Vec::new();
    if results.seeds(number, None).is_empty() {
        return Ok((groups, canvas.damaged));
    }
    for figure in &table.figures {
        groups.extend(match figure.kind {
            PlotKind::Bars => bars::draw(&canvas),
            PlotKind::Curves => curves::draw(&canvas, figure)?,
            PlotKind::Units => units::draw(&canvas, figure),
            PlotKind::Parameters => size::draw(&canvas, figure),
            PlotKind::Samples => samples::draw(&canvas, figure),
            _ if cost == Cost::Low => Vec::new(),
            PlotKind::Maps => maps::draw(&mut canvas, figure)?,
            PlotKind::Reconstructions => reconstructions::draw(&mut canvas, figure)?,
            PlotKind::Frames => frames::draw(&mut canvas, figure)?,
            PlotKind::Spectrogram => spectrogram::draw(&mut canvas, figure)?,
            PlotKind::Embedding => task::draw(&mut canvas, figure, FigureKind::Embedding)?,
            PlotKind::Trace => task::draw(&mut canvas, figure, FigureKind::Trace)?,
            PlotKind::Attention => task::draw(&mut canvas, figure, FigureKind::Attention)?,
        });
    }
    groups.retain(|group| !group.is_empty());
    Ok((groups, canvas.damaged))
}

/// A table with all that drawing needs.
struct Canvas<'a> {
    number: usize,
    table: &'a TableSpec,
    results: &'a Results,
    context: &'a Context<'a>,
    /// Files of runs that could not be read.
    damaged: Vec<String>,
}

impl<'a> Canvas<'a> {
    /// The columns that a figure shows, with their numbers.
    fn columns(&self, figure: &FigureSpec) -> Vec<(usize, &'a ColumnSpec)> {
        let shown = |data: &ColumnSpec| figure.columns.is_empty() || figure.columns.contains(&data.name);
        self.table.columns.iter().enumerate().filter(|(_, data)| shown(data)).collect()
    }

    /// The rows that a figure shows, with their numbers.
    fn rows(&self, figure: &FigureSpec) -> Vec<(usize, &'a RowSpec)> {
        let shown =
            |net: &RowSpec| figure.rows.is_empty() || figure.rows.iter().any(|name| net.has_name(name));
        self.table.rows.iter().enumerate().filter(|(_, net)| shown(net)).collect()
    }

    /// A name for a file of this table.
    fn name(&self, parts: &[&str]) -> String {
        [&[self.table.name.as_str()], parts].concat().join("-")
    }

    /// The trained net of the first finished run of a cell; `None` if there is none or its file is damaged.
    fn predictor(&mut self, column: usize, row: usize) -> Result<Option<Box<dyn Predictor>>, Failure> {
        let cell = (self.number, column, row);
        let Some((run, _)) = self.results.runs_here(cell).next() else { return Ok(None) };
        match run.load(BEST, self.context.device) {
            Ok(predictor) => Ok(Some(predictor)),
            Err(error @ Error::Damaged { .. }) => {
                let what = error.to_string();
                self.damaged.extend((!self.damaged.contains(&what)).then_some(what));
                Ok(None)
            }
            Err(error) => Err(error.into()),
        }
    }

    /// The same with its dataset.
    fn model(&mut self, column: usize, row: usize) -> Result<Option<Box<dyn Model>>, Failure> {
        let predictor = self.predictor(column, row)?;
        Ok(predictor.map(|predictor| predictor.with_run_data(self.context.cache)).transpose()?)
    }
}

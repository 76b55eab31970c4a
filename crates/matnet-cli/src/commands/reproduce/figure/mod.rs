//! The figures of an experiment: one file for each kind.

mod bars;
mod cloud;
mod curves;
mod frames;
mod looked;
mod maps;
mod program;
mod reconstructions;
mod spectrogram;
mod units;

use std::path::Path;

use burn::tensor::Device;
use matnet_data::cache::Cache;
use matnet_report::Svg;
use matnet_report::chart::Scatter3;
use matnet_report::page::{Figure, Page};
use matnet_train::Run;
use matnet_train::compare::Planner;
use matnet_train::model::Model;
use matnet_train::run::Plan;
use matnet_train::task::SampleTask;
use serde::Deserialize;

use super::experiment::{Comparison, Data, Net, Step};
use super::results::Results;
use super::work::{Tools, Work};
use crate::commands::report;
use crate::failure::{Failure, Outcome};

/// A figure that a description asks for.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Wish {
    kind: Kind,
    /// The rows it shows; all if there are none.
    #[serde(default)]
    pub rows: Vec<String>,
    /// The columns it shows; all if there are none.
    #[serde(default)]
    pub columns: Vec<String>,
}

#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Kind {
    /// The table as bars.
    Bars,
    /// Training and test after every epoch.
    Curves,
    /// A measure against the number of hidden units.
    Units,
    /// U, V and their products in the first layer.
    Maps,
    /// What went in, what was wanted, and what each net made of it.
    Reconstructions,
    /// Predicted frames as strips and as a film.
    Frames,
    /// A trial as it goes into the nets.
    Spectrogram,
    /// Hidden states in space.
    Clouds,
    /// What a program's net writes and reads.
    Program,
    /// The sentences that a memory net looks at.
    Looked,
}

/// A figure, ready to be written.
pub struct Drawn {
    /// The name of its file, without the end.
    pub name: String,
    pub caption: String,
    pub content: Content,
}

pub enum Content {
    Chart(Svg),
    Png(Vec<u8>),
    Gif(Vec<u8>),
    Cloud(Scatter3),
}

impl Drawn {
    /// Writes the file, of a cloud one for each of two angles.
    pub fn write(&self, folder: &Path) -> Outcome {
        let file = |end: &str| folder.join(format!("{}.{end}", self.name));
        match &self.content {
            Content::Chart(svg) => matnet_train::write_file(&file("png"), &svg.to_png(2.0)?)?,
            Content::Png(bytes) => matnet_train::write_file(&file("png"), bytes)?,
            Content::Gif(bytes) => matnet_train::write_file(&file("gif"), bytes)?,
            Content::Cloud(points) => report::write_angles(points, &folder.join(&self.name))?,
        }
        Ok(())
    }

    /// The figure in a Markdown file.
    pub fn markdown(&self, folder: &str) -> String {
        let ends: &[&str] = match self.content {
            Content::Chart(_) | Content::Png(_) => &[".png"],
            Content::Gif(_) => &[".gif"],
            Content::Cloud(_) => &["-1.png", "-2.png"],
        };
        let (name, caption) = (&self.name, &self.caption);
        let pictures: String =
            ends.iter().map(|end| format!("![{caption}]({folder}{name}{end})\n")).collect();
        format!("{pictures}\n{caption}\n\n")
    }

    /// Puts a group on a page, side by side.
    pub fn show(group: &[Self], page: &mut Page) {
        let mut figures = Vec::new();
        for drawn in group {
            figures.push(match &drawn.content {
                Content::Chart(svg) => Figure::svg(svg.clone(), &drawn.caption),
                Content::Png(bytes) => Figure::png(bytes.clone(), &drawn.caption),
                Content::Gif(bytes) => Figure::gif(bytes.clone(), &drawn.caption),
                Content::Cloud(points) => {
                    page.cloud(points, &drawn.caption);
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

/// A table with all that drawing needs.
struct Stage<'a> {
    number: usize,
    comparison: &'a Comparison,
    results: &'a Results,
    steps: &'a [Step],
    device: &'a Device,
    cache: &'a Cache,
    planner: &'a mut Planner,
    /// What could not be drawn.
    damaged: Vec<String>,
}

/// Which figures are drawn.
#[derive(Clone, Copy, PartialEq)]
pub enum Which {
    All,
    /// Those that need no trained net.
    Quick,
}

/// Draws the figures of a table, in groups that stand side by side, and tells what could not be drawn.
pub fn draw(
    work: &Work,
    number: usize,
    tools: &mut Tools,
    which: Which,
) -> Result<(Vec<Vec<Drawn>>, Vec<String>), Failure> {
    let comparison = &work.experiment.tables[number];
    if !work.results.any(number) {
        return Ok((Vec::new(), Vec::new()));
    }
    let (results, steps) = (&work.results, &work.steps[..]);
    let Tools { device, cache, planner } = tools;
    let mut stage = Stage { number, comparison, results, steps, device, cache, planner, damaged: Vec::new() };
    let mut groups = Vec::new();
    for wish in &comparison.figures {
        groups.extend(match wish.kind {
            Kind::Bars => bars::draw(&stage),
            Kind::Curves => curves::draw(&stage, wish),
            Kind::Units => units::draw(&stage, wish),
            _ if which == Which::Quick => Vec::new(),
            Kind::Maps => maps::draw(&mut stage, wish)?,
            Kind::Reconstructions => reconstructions::draw(&mut stage, wish)?,
            Kind::Frames => frames::draw(&mut stage, wish)?,
            Kind::Spectrogram => spectrogram::draw(&mut stage, wish)?,
            Kind::Clouds => cloud::draw(&mut stage, wish)?,
            Kind::Program => program::draw(&mut stage, wish)?,
            Kind::Looked => looked::draw(&mut stage, wish)?,
        });
    }
    Ok((groups, stage.damaged))
}

impl<'a> Stage<'a> {
    /// The columns that a figure shows, with their numbers.
    fn columns(&self, wish: &Wish) -> Vec<(usize, &'a Data)> {
        let wanted = |data: &Data| wish.columns.is_empty() || wish.columns.contains(&data.name);
        self.comparison.columns.iter().enumerate().filter(|(_, data)| wanted(data)).collect()
    }

    /// The rows that a figure shows, with their numbers.
    fn rows(&self, wish: &Wish) -> Vec<(usize, &'a Net)> {
        let wanted = |net: &Net| wish.rows.is_empty() || wish.rows.iter().any(|name| net.is_called(name));
        self.comparison.rows.iter().enumerate().filter(|(_, net)| wanted(net)).collect()
    }

    /// A name for a file of this table.
    fn name(&self, parts: &[&str]) -> String {
        let all: Vec<&str> =
            [self.comparison.name.as_str()].into_iter().chain(parts.iter().copied()).collect();
        all.join("-")
    }

    /// The first finished run of a cell, and its plan.
    fn first(&mut self, column: usize, row: usize) -> Result<Option<(Run, Plan)>, Failure> {
        let cell = (self.number, column, row);
        let Some((run, _)) = self.results.runs(cell).next() else { return Ok(None) };
        let step = self.steps.iter().find(|step| step.job.folder == run.folder());
        let Some(step) = step else { return Ok(None) };
        if let Err(error) = run.check_weights() {
            let what = error.to_string();
            self.damaged.extend((!self.damaged.contains(&what)).then_some(what));
            return Ok(None);
        }
        Ok(Some((run.clone(), self.planner.plan(&step.job.document, self.cache)?)))
    }

    /// The task and the trained net of the first finished run of a cell, if it is one on matrices or sequences.
    fn trained(&mut self, column: usize, row: usize) -> Result<Option<(SampleTask, Model)>, Failure> {
        let device = self.device;
        match self.first(column, row)? {
            Some((run, Plan::Samples(work))) => {
                Ok(Some((work.task, run.trained("best.safetensors", device)?.net)))
            }
            _ => Ok(None),
        }
    }
}

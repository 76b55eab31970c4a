//! `matnet data show`

use std::io::{self, IsTerminal, Write};
use std::path::Path;

use matnet_data::catalog::{self, LoadOptions};
use matnet_data::pack::PackedGraph;
use matnet_data::{Contents, Dataset, Error, Samples, Target, local};
use matnet_report::picture::half_blocks;
use matnet_report::text;

use super::{pack, summary};
use crate::args::require_ending;
use crate::cli::Show;
use crate::degrees::Degrees;
use crate::failure::{Failure, Outcome};
use crate::picture::{self, contact};
use crate::screen::Screen;

/// Shows a dataset or a file.
pub fn run(args: Show) -> Outcome {
    if let Some(png) = &args.png {
        require_ending("--png", png, &["png"], "")?;
    }
    if PackedGraph::is_packed(&args.what) {
        return packed(&args);
    }
    let (title, dataset) = load(&args)?;
    let mut out = Screen::lock();
    writeln!(out, "{title}")?;
    match &dataset.contents {
        Contents::Samples(samples) => summary::samples(&mut out, samples)?,
        Contents::Table(table) => summary::table(&mut out, table)?,
        Contents::Graph(graph) => summary::graph(&mut out, graph)?,
        Contents::Stories(stories) => summary::stories(&mut out, stories)?,
    }
    if let Contents::Samples(Samples { split: Some(split), .. }) = &dataset.contents {
        writeln!(out, "test     {} samples are the official test split", text::count(split.test.len()))?;
    }
    for note in &dataset.notes {
        writeln!(out, "note     {note}")?;
    }
    if let Contents::Samples(samples) = &dataset.contents
        && io::stdout().is_terminal()
        && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty())
    {
        let width = terminal_size::terminal_size().map_or(80, |(width, _)| width.0);
        // Its colours are meant.
        write!(io::stdout(), "{}", half_blocks(&contact::teaser(samples)?, width.into()))?;
    }
    match &args.png {
        Some(path) => write_picture(path, &args, &title, &dataset.contents, &mut out),
        None => Ok(()),
    }
}

/// Shows a packed graph, which is not read into memory.
fn packed(args: &Show) -> Outcome {
    if args.png.is_some() {
        return Err(Failure::Usage("a packed graph has no picture: leave --png out".into()));
    }
    let graph = PackedGraph::open(&args.what)?;
    let mut out = Screen::lock();
    writeln!(out, "{}: a packed graph", args.what)?;
    Ok(pack::describe(&mut out, graph.header())?)
}

/// The dataset that was asked for, with a title.
fn load(args: &Show) -> Result<(String, Dataset), Failure> {
    let path = Path::new(&args.what);
    let dataset = match catalog::get(&args.what) {
        Ok(dataset) => dataset,
        Err(_) if local::exists(path) => return Ok((args.what.clone(), local::load(path)?)),
        Err(Error::Invalid(what)) => {
            return Err(Failure::Usage(format!("{what}; and there is no file of that name")));
        }
        Err(error) => return Err(error.into()),
    };
    let cache = args.cache.cache()?;
    let options = LoadOptions { seed: args.seed, ..LoadOptions::default() };
    let loaded = catalog::load(dataset.name, &cache, options)?;
    Ok((format!("{}: {}", dataset.name, dataset.about), loaded))
}

fn write_picture(
    path: &Path,
    args: &Show,
    title: &str,
    contents: &Contents,
    out: &mut impl Write,
) -> Outcome {
    let image = match contents {
        Contents::Samples(samples) => contact::sheet(samples, args.samples.into())?,
        Contents::Graph(graph) => picture::histogram::degrees(title, &Degrees::of(graph))?,
        Contents::Table(_) => {
            return Err(Failure::Usage("a long table has no picture: leave --png out".into()));
        }
        Contents::Stories(_) => {
            return Err(Failure::Usage("stories have no picture: leave --png out".into()));
        }
    };
    picture::save(&image, path)?;
    write!(out, "picture  {} ({}×{})", path.display(), image.width(), image.height())?;
    let classes = match contents {
        Contents::Samples(Samples { target: Target::Classes { names, .. }, .. }) => names.len(),
        _ => 0,
    };
    match classes > contact::MAX_ROWS {
        true => writeln!(out, ", the first {} of {classes} classes", contact::MAX_ROWS)?,
        false => writeln!(out)?,
    }
    Ok(())
}

//! `matnet data show`

use std::io::{self, IsTerminal, Write};
use std::path::Path;

use matnet_data::named::{self, Contents, Named, Options};
use matnet_data::{Error, catalog, own};
use matnet_report::picture::half_blocks;

use super::summary::{self, Degrees};
use crate::cli::Show;
use crate::failure::{Failure, Outcome};
use crate::picture::{self, contact};
use crate::text;

/// Shows a dataset or a file.
pub fn run(args: Show) -> Outcome {
    let (title, named) = load(&args)?;
    let mut out = io::stdout().lock();
    writeln!(out, "{title}")?;
    match &named.contents {
        Contents::Samples(samples) => summary::samples(&mut out, samples)?,
        Contents::Graph(graph) => summary::graph(&mut out, graph)?,
        Contents::Stories(stories) => summary::stories(&mut out, stories)?,
    }
    if let Some(test) = &named.official_test {
        writeln!(out, "test     the last {} are the official test half", text::count(test.len()))?;
    }
    for note in &named.notes {
        writeln!(out, "note     {note}")?;
    }
    if let Contents::Samples(samples) = &named.contents
        && io::stdout().is_terminal()
        && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty())
    {
        let width = terminal_size::terminal_size().map_or(80, |(width, _)| width.0);
        write!(out, "{}", half_blocks(&contact::teaser(samples)?, width.into()))?;
    }
    match &args.png {
        Some(path) => write_picture(path, &args, &title, &named.contents, &mut out),
        None => Ok(()),
    }
}

/// What was asked for, with a line to put over it.
fn load(args: &Show) -> Result<(String, Named), Failure> {
    let path = Path::new(&args.what);
    let dataset = match catalog::get(&args.what) {
        Ok(dataset) => dataset,
        Err(_) if path.exists() => {
            let contents = match own::load(path)? {
                own::Loaded::Samples(samples) => Contents::Samples(samples),
                own::Loaded::Graph(graph) => Contents::Graph(graph),
            };
            return Ok((args.what.clone(), Named { contents, official_test: None, notes: Vec::new() }));
        }
        Err(Error::Invalid(what)) => {
            return Err(Failure::Usage(format!("{what}; and there is no file of that name")));
        }
        Err(error) => return Err(error.into()),
    };
    let cache = super::cache(&args.cache)?;
    let options = Options { seed: args.seed, ..Options::default() };
    let named = named::load(dataset.name, &cache, options)?;
    Ok((format!("{}: {}", dataset.name, dataset.about), named))
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
        Contents::Stories(_) => return Err(Failure::Usage("texts have no picture: leave --png out".into())),
    };
    picture::save(&image, path)?;
    writeln!(out, "picture  {} ({}×{})", path.display(), image.width(), image.height())?;
    Ok(())
}

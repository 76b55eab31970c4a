//! `matnet train`

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use matnet_data::catalog::{self, Source};
use matnet_train::compare::{self, Job, Planner, Series};
use matnet_train::config::Document;
use matnet_train::run::RunResult;
use matnet_train::{Observer, Options, Run, train};

use super::progress::Teller;
use super::{data, machine, table};
use crate::cli::{ConfigArgs, Train, TrainArgs};
use crate::failure::{Failure, Outcome};
use crate::{interrupt, text};

/// Trains a net, from one seed or several.
pub fn run(args: Train) -> Outcome {
    let mut document = read(&args.config, &args.changes)?;
    let mut folder = args.out.unwrap_or_else(|| standard_folder(&args.config));
    if let Some(variant) = &args.variant {
        document = chosen(&document, variant, &args.changes)?;
        folder = folder.join(variant);
    }
    let jobs = match args.how.seeds {
        None => vec![Job { label: String::new(), document, folder: folder.clone() }],
        Some(_) => compare::jobs(&document, &folder, args.how.seeds)?,
    };
    let series = work(&jobs, &args.how)?;
    let mut out = io::stdout().lock();
    for (run, result) in series.iter().flat_map(|series| &series.runs) {
        writeln!(out, "{}: {}", run.folder().display(), sentence(result))?;
    }
    if let [series] = &series[..]
        && series.runs.len() > 1
    {
        let (error, loss) = (series.test_error(), series.test_loss());
        if let Some(spread) = error.or(loss) {
            writeln!(out, "{} seeds: test {}", spread.count, table::spread(spread, error.is_some()))?;
        }
    }
    Ok(())
}

/// A config with the changes asked for.
pub fn read(path: &Path, changes: &ConfigArgs) -> Result<Document, Failure> {
    if path.is_dir() {
        let what = "is a folder; a config is a TOML file (`matnet new` writes one)";
        return Err(Failure::Usage(format!("{}: {what}", path.display())));
    }
    if !path.exists() {
        let what = "there is no such config; `matnet new` writes one";
        return Err(Failure::Usage(format!("{}: {what}", path.display())));
    }
    let mut document = Document::read(path)?;
    for change in &changes.set {
        document.set(change).map_err(|error| Failure::Usage(format!("--set {error}")))?;
    }
    Ok(document)
}

/// One variant of a config; what was asked for on the command line goes before what the variant says.
pub fn chosen(document: &Document, variant: &str, changes: &ConfigArgs) -> Result<Document, Failure> {
    let mut document = document.variant(variant)?;
    for change in changes.set.iter().filter(|change| !change.trim_start().starts_with("variant.")) {
        document.set(change)?;
    }
    Ok(document)
}

/// runs/NAME for NAME.toml.
pub fn standard_folder(config: &Path) -> PathBuf {
    Path::new("runs").join(config.file_stem().unwrap_or(config.as_os_str()))
}

/// Trains all jobs, or goes on with them.
pub fn work(jobs: &[Job], how: &TrainArgs) -> Result<Vec<Series>, Failure> {
    let cache = data::cache(&how.cache)?;
    let options = Options {
        device: machine::set_up(&how.machine)?,
        save_every: Duration::from_secs(how.save_every),
        from_previous: how.from.is_some(),
    };
    let mut planner = Planner::default();
    // Whatever is wrong with the last config should be known before a folder is made for the first.
    let mut loading = None;
    for job in jobs {
        let source = job.document.source();
        if let Some(source) =
            source.filter(|source| !how.quiet && loading != Some(*source) && takes_time(source))
        {
            eprintln!("loading {source}");
        }
        loading = source;
        planner.check(&job.document, &cache).map_err(|error| {
            match jobs.iter().any(|other| other.label != job.label) {
                true => error.about(&format!("variant {}", job.label)),
                false => error,
            }
        })?;
    }
    let mut observer = observer(how)?;
    let mut series: Vec<Series> = Vec::new();
    for job in jobs {
        let plan = planner.plan(&job.document, &cache)?;
        let run = Run::at(&job.folder);
        if how.fresh {
            run.clear()?;
        }
        interrupt::watch();
        let outcome = train(&plan, &run, &options, observer.as_mut())?;
        if outcome.was_finished && !how.quiet {
            eprintln!("{}: finished before; --fresh starts it again", run.folder().display());
        }
        super::report::write(&run, &plan, &options.device)?;
        match series.iter_mut().find(|series| series.label == job.label) {
            Some(series) => series.runs.push((run, outcome.result)),
            None => series.push(Series { label: job.label.clone(), runs: vec![(run, outcome.result)] }),
        }
    }
    Ok(series)
}

/// What is built in is there at once.
fn takes_time(source: &str) -> bool {
    match catalog::get(source) {
        Ok(dataset) => !matches!(dataset.source, Source::BuiltIn),
        Err(_) => Path::new(source).exists(),
    }
}

/// Who tells how it goes.
fn observer(how: &TrainArgs) -> Result<Box<dyn Observer>, Failure> {
    if !how.dashboard {
        return Ok(Box::new(Teller::new(how.quiet)));
    }
    #[cfg(feature = "dashboard")]
    return Ok(Box::new(super::dashboard::Dashboard::new()?));
    #[cfg(not(feature = "dashboard"))]
    Err(Failure::Usage(
        "--dashboard: this build has none; build it with `cargo build --release --features dashboard`"
            .to_owned(),
    ))
}

/// How a run ended, in words.
fn sentence(result: &RunResult) -> String {
    let RunResult { epochs, best_epoch, .. } = result;
    let score = match (result.test, result.valid.or(result.train)) {
        (Some(test), _) => format!("test {}", table::score(test)),
        (None, Some(score)) => table::score(score),
        (None, None) => "nothing measured".to_owned(),
    };
    format!("{score} after epoch {best_epoch}, the best of {}", text::counted(*epochs, "epoch"))
}

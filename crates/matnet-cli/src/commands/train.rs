//! `matnet train`

use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::Duration;

use matnet_data::catalog::{self, Cache, Origin};
use matnet_report::text;
use matnet_train::compare::{RunSeries, Spread};
use matnet_train::metrics::Metric;
use matnet_train::plan::{RunSpec, run_specs};
use matnet_train::run::RunResult;
use matnet_train::{Document, Observer, Options, Plan, Planner, Ranks, Run, Split};

use super::score::score_text;
use crate::cli::{ConfigArgs, Train, TrainArgs};
use crate::failure::{Failure, Outcome};
use crate::progress::ProgressReporter;
use crate::screen::Screen;
use crate::{distributed, interrupt, say};

/// Trains a net, from one seed or several.
pub fn run(args: Train) -> Outcome {
    let ranks = distributed::ranks(args.distributed)?;
    let done = train(args, &ranks);
    distributed::end(&ranks, done)
}

fn train(args: Train, ranks: &Ranks) -> Outcome {
    let mut document = read(&args.config, &args.overrides)?;
    let mut folder = args.out.unwrap_or_else(|| standard_folder(&args.config));
    if let Some(variant) = &args.variant {
        document = variant_of(&document, variant, &args.overrides)?;
        folder = folder.join(variant);
    }
    if let Some(epochs) = args.epochs {
        document.set(&format!("train.epochs={epochs}"))?;
    }
    let specs = match args.how.seeds {
        None => vec![RunSpec { label: String::new(), document, folder }],
        seeds => run_specs(&document, &folder, seeds)?,
    };
    let series = train_all(specs, &args.how, args.epochs.is_some(), ranks)?;
    if !ranks.is_first() {
        return Ok(());
    }
    let mut out = Screen::lock();
    for (run, result) in series.iter().flat_map(|series| &series.runs) {
        writeln!(out, "{}: {}", run.folder().display(), sentence(result))?;
    }
    if let [series] = &series[..]
        && series.runs.len() > 1
    {
        let spread = |metric| series.spread(Split::Test, metric);
        let (error, loss) = (spread(Metric::Error), spread(Metric::Loss));
        if let Some(spread) = error.or(loss) {
            let name = if error.is_some() { "error" } else { "loss" };
            let over = if series.folds().is_empty() { "seeds" } else { "folds" };
            writeln!(out, "{} {over}: test {name} {}", spread.count, spread_text(spread, error.is_some()))?;
        }
    }
    Ok(())
}

/// A config with the overrides asked for.
pub fn read(path: &Path, overrides: &ConfigArgs) -> Result<Document, Failure> {
    if path.is_dir() {
        let what = "is a folder; a config is a TOML file (`matnet new` writes one)";
        return Err(Failure::Usage(format!("{}: {what}", path.display())));
    }
    if !path.exists() {
        let what = "there is no such config; `matnet new` writes one";
        return Err(Failure::Usage(format!("{}: {what}", path.display())));
    }
    let mut document = Document::read(path)?;
    for assignment in &overrides.set {
        document.set(assignment).map_err(|error| error.within("--set"))?;
    }
    Ok(document)
}

/// One variant of a config; the command line takes precedence over the variant.
pub fn variant_of(document: &Document, variant: &str, overrides: &ConfigArgs) -> Result<Document, Failure> {
    let mut document = document.variant(variant)?;
    for assignment in overrides.set.iter().filter(|set| !set.trim_start().starts_with("variant.")) {
        document.set(assignment)?;
    }
    Ok(document)
}

/// runs/NAME for NAME.toml, and for the config.toml of a run NAME.
pub fn standard_folder(config: &Path) -> PathBuf {
    let run = config.parent().and_then(Path::file_name).filter(|_| config.ends_with("config.toml"));
    Path::new("runs").join(run.or(config.file_stem()).unwrap_or(config.as_os_str()))
}

/// Trains all runs, or resumes them; `extend` gives those with fewer epochs more.
pub fn train_all(
    specs: Vec<RunSpec>,
    how: &TrainArgs,
    extend: bool,
    ranks: &Ranks,
) -> Result<Vec<RunSeries>, Failure> {
    let cache = how.cache.cache()?;
    let options = options(how)?.with_extend(extend).with_ranks(ranks.clone());
    let quiet = how.quiet || !ranks.is_first();
    let mut planner = Planner::default().with_ranks(ranks.clone());
    let specs = match how.folds {
        Some(count) => planner.fold_specs(&specs, count, &cache)?,
        None => specs,
    };
    // Whatever is wrong with the last config should be known before a folder is made for the first. Plans whose dataset is
    // shared are kept; the others would fill the memory, and are made again when their turn comes.
    let mut plans: Vec<Option<Box<dyn Plan>>> = Vec::new();
    let mut loading = None;
    for spec in &specs {
        let source = spec.document.source();
        if let Some(source) = source.filter(|source| !quiet && loading != Some(*source) && takes_time(source))
        {
            say!("loading {source}");
        }
        loading = source;
        let plan = checked_plan(&mut planner, spec, &specs, &cache, &options)?;
        let first = plans.first().and_then(Option::as_deref);
        let keep = first.is_none_or(|first| plan.shares_data_with(first));
        plans.push(keep.then_some(plan));
    }
    let mut observer = match ranks.is_first() {
        true => observer(how)?,
        false => Box::new(ProgressReporter::new(true)),
    };
    let mut series = Vec::new();
    for (spec, plan) in specs.iter().zip(plans) {
        let plan = match plan {
            Some(plan) => plan,
            None => planner.plan(&spec.document, &cache)?,
        };
        let run = Run::at(&spec.folder);
        if how.fresh && ranks.is_first() {
            run.clear()?;
        }
        interrupt::watch();
        let outcome = plan.train(&run, &options, observer.as_mut())?;
        if outcome.was_finished && !quiet {
            say!("{}: finished before; --fresh starts it again", run.folder().display());
        }
        RunSeries::add(&mut series, &spec.label, run, outcome.result);
    }
    Ok(series)
}

/// How runs are carried out.
pub fn options(how: &TrainArgs) -> Result<Options, Failure> {
    let options = Options::default()
        .with_device(how.machine.device()?)
        .with_save_every(Duration::from_secs(how.save_every))
        .with_from_previous(how.from.is_some());
    Ok(options)
}

/// The plan of a run whose net can be built; errors name the variant if there are several.
pub fn checked_plan(
    planner: &mut Planner,
    spec: &RunSpec,
    all: &[RunSpec],
    cache: &Cache,
    options: &Options,
) -> Result<Box<dyn Plan>, Failure> {
    let plan = planner.plan(&spec.document, cache).and_then(|plan| plan.check(options).map(|_| plan));
    let plan = plan.map_err(|error| match all.iter().any(|other| other.label != spec.label) {
        true => error.within(format!("variant {}", spec.label)),
        false => error,
    });
    Ok(plan?)
}

/// Whether a source takes a while to load.
fn takes_time(source: &str) -> bool {
    match catalog::get(source) {
        Ok(dataset) => dataset.origin == Origin::Download,
        Err(_) => matnet_data::local::exists(source),
    }
}

/// Who receives the events.
pub fn observer(how: &TrainArgs) -> Result<Box<dyn Observer>, Failure> {
    if !how.dashboard {
        return Ok(Box::new(ProgressReporter::new(how.quiet)));
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
    let scores = [(Split::Test, result.test), (Split::Valid, result.valid), (Split::Train, result.train)];
    let score = scores.into_iter().find_map(|(split, score)| Some((split, score?)));
    let score = match score {
        Some((split, score)) => format!("{} {}", split.name(), score_text(score)),
        None => "nothing evaluated".to_owned(),
    };
    format!("{score} after epoch {}, the best of {}", result.best_epoch, result.epochs)
}

/// Mean ± standard deviation, and the best; as percentages for error rates.
fn spread_text(spread: Spread, percent: bool) -> String {
    let show = |x: f64| if percent { format!("{:.2}", 100.0 * x) } else { text::number(x) };
    let unit = if percent { " %" } else { "" };
    match spread.deviation {
        Some(deviation) => {
            format!("{} ± {}{unit}, best {}{unit}", show(spread.mean), show(deviation), show(spread.best))
        }
        None => format!("{}{unit}", show(spread.mean)),
    }
}

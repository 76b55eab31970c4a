//! `matnet data fetch`

use std::io::{self, IsTerminal, Write};
use std::ops::ControlFlow;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};
use matnet_data::cache::Cache;
use matnet_data::catalog::{self, Dataset, Source};
use matnet_data::fetch::{Patience, Progress, fetch};

use crate::cli::Fetch;
use crate::failure::{Failure, Outcome};
use crate::{interrupt, text};

/// Fetches the datasets asked for.
pub fn run(args: Fetch) -> Outcome {
    let cache = super::cache(&args.cache)?;
    let datasets: Vec<&Dataset> = match args.all {
        true => catalog::all().iter().filter(|dataset| needs_files(dataset)).collect(),
        false => super::chosen(&args.names)?,
    };
    let patience = Patience { idle: Duration::from_secs(args.timeout), ..Patience::default() };
    interrupt::watch();
    let mut failed = 0;
    for dataset in &datasets {
        match fetch_one(dataset, &cache, &patience) {
            // One home that is down is no reason to leave the others.
            Err(Failure::Failed(what)) if datasets.len() > 1 => {
                eprintln!("error: {what}");
                failed += 1;
            }
            outcome => outcome?,
        }
    }
    match failed {
        0 => Ok(()),
        failed => {
            let all = text::counted(datasets.len(), "dataset");
            Err(Failure::Failed(format!("{failed} of {all} could not be fetched")))
        }
    }
}

fn fetch_one(dataset: &Dataset, cache: &Cache, patience: &Patience) -> Outcome {
    let mut out = io::stdout().lock();
    if matches!(dataset.source, Source::BuiltIn) {
        writeln!(out, "{}: built in, nothing to fetch", dataset.name)?;
        return Ok(());
    }
    let mut teller = Teller::new(dataset.name);
    let paths = fetch(dataset, cache, patience, &mut |progress| {
        teller.tell(progress);
        if interrupt::asked() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    });
    teller.clear();
    let files = text::counted(paths?.len(), "file");
    writeln!(out, "{}: {files} in {}, checked", dataset.name, cache.folder(dataset).display())?;
    Ok(())
}

fn needs_files(dataset: &Dataset) -> bool {
    matches!(dataset.source, Source::Files { optional: false, .. })
}

/// Tells how a fetch goes: a bar on a terminal, plain lines elsewhere. All of it goes to standard error.
struct Teller {
    dataset: &'static str,
    bar: Option<ProgressBar>,
    /// Tenths of the file already told in plain lines.
    tenths: u64,
}

impl Teller {
    fn new(dataset: &'static str) -> Self {
        let bar = io::stderr().is_terminal().then(|| {
            let bar = ProgressBar::no_length();
            // If the template did not parse, the default style would do.
            if let Ok(style) = ProgressStyle::with_template(
                "{prefix} {msg} [{bar:20}] {binary_bytes}/{binary_total_bytes} {eta}",
            ) {
                bar.set_style(style.progress_chars("=> "));
            }
            bar.set_prefix(dataset);
            bar
        });
        Self { dataset, bar, tenths: 0 }
    }

    fn tell(&mut self, progress: Progress) {
        match (&self.bar, progress) {
            (Some(bar), Progress::Bytes(_, done, total)) => {
                if let Some(total) = total {
                    bar.set_length(total);
                }
                bar.set_position(done);
            }
            (Some(bar), Progress::Asking(file, _)) => {
                bar.reset();
                bar.set_message(file.to_owned());
            }
            (Some(bar), Progress::Checking(file)) => bar.set_message(format!("checking {file}")),
            (_, Progress::Trouble(_, what)) => self.line(what),
            (Some(_), _) => {}
            (None, Progress::Bytes(file, done, total)) => self.bytes(file, done, total),
            (None, Progress::Asking(file, url)) => {
                self.tenths = 0;
                self.line(&format!("{file} from {url}"));
            }
            (None, Progress::Checking(file)) => self.line(&format!("checking {file}")),
            (None, Progress::Present(file)) => self.line(&format!("{file} is already there")),
            (None, Progress::Done(file)) => self.line(&format!("{file} done")),
        }
    }

    /// A line at every tenth of a file of some size.
    fn bytes(&mut self, file: &str, done: u64, total: Option<u64>) {
        let Some(total) = total.filter(|&total| total > 8 << 20) else { return };
        let tenths = done * 10 / total;
        if tenths > self.tenths {
            self.tenths = tenths;
            self.line(&format!("{file} {}0 % of {}", tenths, text::bytes(total)));
        }
    }

    /// Whoever reads this may be gone; the download goes on all the same.
    fn line(&self, what: &str) {
        let line = format!("{}: {what}", self.dataset);
        match &self.bar {
            Some(bar) => bar.println(line),
            None => drop(writeln!(io::stderr(), "{line}")),
        }
    }

    fn clear(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

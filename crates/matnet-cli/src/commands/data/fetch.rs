//! `matnet data fetch`

use std::io::{self, IsTerminal, Write};
use std::ops::ControlFlow;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};
use matnet_data::catalog::{self, Cache, DatasetInfo, FetchOptions, FetchProgress, Origin, fetch};

use crate::cli::Fetch;
use crate::failure::{Failure, Outcome};
use crate::screen::{Screen, printable};
use matnet_report::text;

use crate::{interrupt, say};

/// Fetches the datasets asked for.
pub fn run(args: Fetch) -> Outcome {
    let cache = args.cache.cache()?;
    let datasets: Vec<&DatasetInfo> = match args.all {
        true => catalog::all().iter().filter(|dataset| needs_files(dataset)).collect(),
        false => super::chosen(&args.names)?,
    };
    let options = FetchOptions { timeout: Duration::from_secs(args.timeout), ..FetchOptions::default() };
    interrupt::watch();
    let mut failed = 0;
    for dataset in &datasets {
        match fetch_one(dataset, &cache, &options) {
            // One server that is down is no reason to skip the others.
            Err(Failure::Failed(what)) if datasets.len() > 1 => {
                say!("error: {what}");
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

fn fetch_one(dataset: &DatasetInfo, cache: &Cache, options: &FetchOptions) -> Outcome {
    let mut out = Screen::lock();
    let mut reporter = Reporter::new(dataset.name);
    let paths = fetch(dataset, cache, options, &mut |progress| {
        reporter.update(progress);
        if interrupt::asked() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    });
    reporter.clear();
    let paths = paths?;
    // The files of matnet's repository may be outside the cache.
    let Some(folder) = paths.first().and_then(|path| path.parent()) else {
        writeln!(out, "{}: nothing to fetch", dataset.name)?;
        return Ok(());
    };
    let files = text::counted(paths.len(), "file");
    writeln!(out, "{}: {files} in {}, verified", dataset.name, folder.display())?;
    Ok(())
}

fn needs_files(dataset: &DatasetInfo) -> bool {
    dataset.origin == Origin::Download
}

/// Progress of a fetch on standard error: a bar on a terminal, plain lines elsewhere.
struct Reporter {
    dataset: &'static str,
    bar: Option<ProgressBar>,
    /// Tenths of the file already reported in plain lines.
    tenths: u64,
}

impl Reporter {
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

    fn update(&mut self, progress: FetchProgress) {
        match (&self.bar, progress) {
            (Some(bar), FetchProgress::Bytes(_, done, total)) => {
                if let Some(total) = total {
                    bar.set_length(total);
                }
                bar.set_position(done);
            }
            (Some(bar), FetchProgress::Connecting(file, _)) => {
                bar.reset();
                bar.set_message(file.to_owned());
            }
            (Some(bar), FetchProgress::Verifying(file)) => bar.set_message(format!("verifying {file}")),
            (_, FetchProgress::AttemptFailed(_, what)) => self.line(what),
            (Some(_), _) => {}
            (None, FetchProgress::Bytes(file, done, total)) => self.bytes(file, done, total),
            (None, FetchProgress::Connecting(file, url)) => {
                self.tenths = 0;
                self.line(&format!("{file} from {url}"));
            }
            (None, FetchProgress::Verifying(file)) => self.line(&format!("verifying {file}")),
            (None, FetchProgress::Present(file)) => self.line(&format!("{file} is already there")),
            (None, FetchProgress::Done(file)) => self.line(&format!("{file} done")),
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
        match &self.bar {
            Some(bar) => bar.println(printable(&format!("{}: {what}", self.dataset))),
            None => say!("{}: {what}", self.dataset),
        }
    }

    fn clear(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

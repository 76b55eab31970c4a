//! Progress of predictions that take longer than a moment: a bar on a terminal, a line now and then elsewhere.

use std::io::{self, IsTerminal};
use std::path::Path;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};

use matnet_report::text;

use crate::say;

/// What is done before this needs no bar.
const MOMENT: Duration = Duration::from_secs(2);
/// Between plain lines.
const BETWEEN_LINES: Duration = Duration::from_secs(10);

/// Reports progress on standard error.
pub struct Meter {
    total: usize,
    quiet: bool,
    began: Instant,
    /// When the last line was written.
    reported: Option<Instant>,
    bar: Option<ProgressBar>,
}

impl Meter {
    /// For so many samples.
    pub fn new(total: usize, quiet: bool) -> Self {
        Self { total, quiet, began: Instant::now(), reported: None, bar: None }
    }

    /// Reports that so many are done.
    pub fn update(&mut self, done: usize) {
        if self.quiet || done == self.total || self.began.elapsed() < MOMENT {
            return;
        }
        let speed = done as f64 / self.began.elapsed().as_secs_f64();
        let left = text::duration((self.total - done) as f64 / speed);
        let message = format!("{}/s, {left} left", text::number(speed));
        if io::stderr().is_terminal() {
            let bar = self.bar.get_or_insert_with(|| bar(self.total));
            bar.set_message(message);
            bar.set_position(done as u64);
        } else if self.reported.is_none_or(|reported| reported.elapsed() > BETWEEN_LINES) {
            say!("{} of {}, {message}", text::count(done), text::counted(self.total, "sample"));
            self.reported = Some(Instant::now());
        }
    }

    /// Takes the bar away.
    pub fn clear(&mut self) {
        if let Some(bar) = self.bar.take() {
            bar.finish_and_clear();
        }
    }

    /// Everything is written.
    pub fn end(&self, output: &Path) {
        if self.quiet || output == Path::new("-") {
            return;
        }
        let total = text::counted(self.total, "prediction");
        match self.began.elapsed() {
            took if took < MOMENT => say!("{}: {total}", output.display()),
            took => say!("{}: {total} in {}", output.display(), text::duration(took.as_secs_f64())),
        }
    }
}

impl Drop for Meter {
    fn drop(&mut self) {
        self.clear();
    }
}

fn bar(total: usize) -> ProgressBar {
    let bar = ProgressBar::new(total as u64);
    // If the template did not parse, the default style would do.
    if let Ok(style) = ProgressStyle::with_template("[{bar:24}] {human_pos} of {human_len}, {msg}") {
        bar.set_style(style.progress_chars("=> "));
    }
    bar
}

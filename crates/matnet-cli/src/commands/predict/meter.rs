//! How predicting goes, once it takes longer than a moment: a bar on a terminal, a line now and then elsewhere.

use std::io::{self, IsTerminal};
use std::path::Path;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};

use crate::text;

/// What is done before this needs no bar.
const MOMENT: Duration = Duration::from_secs(2);
/// Between plain lines.
const BETWEEN_LINES: Duration = Duration::from_secs(10);

/// Tells on standard error how far it is.
pub struct Meter {
    total: usize,
    quiet: bool,
    began: Instant,
    /// When the last line was written.
    told: Option<Instant>,
    bar: Option<ProgressBar>,
}

impl Meter {
    /// For so many samples.
    pub fn new(total: usize, quiet: bool) -> Self {
        Self { total, quiet, began: Instant::now(), told: None, bar: None }
    }

    /// So many are done.
    pub fn tell(&mut self, done: usize) {
        if self.quiet || done == self.total || self.began.elapsed() < MOMENT {
            return;
        }
        let pace = done as f64 / self.began.elapsed().as_secs_f64();
        let left = text::duration((self.total - done) as f64 / pace);
        let message = format!("{}/s, {left} left", text::number(pace));
        if io::stderr().is_terminal() {
            let bar = self.bar.get_or_insert_with(|| bar(self.total));
            bar.set_message(message);
            bar.set_position(done as u64);
        } else if self.told.is_none_or(|told| told.elapsed() > BETWEEN_LINES) {
            eprintln!("{} of {}, {message}", text::count(done), text::counted(self.total, "sample"));
            self.told = Some(Instant::now());
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
        let total = text::counted(self.total, "answer");
        match self.began.elapsed() {
            took if took < MOMENT => eprintln!("{}: {total}", output.display()),
            took => eprintln!("{}: {total} in {}", output.display(), text::duration(took.as_secs_f64())),
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

//! The progress of one run among many: a bar on a terminal, a line now and then elsewhere.

use std::io::{self, IsTerminal};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};
use matnet_cli::{interrupt, say};
use matnet_report::text;
use matnet_train::{Event, Observer};

/// The time between lines.
const INTERVAL: Duration = Duration::from_secs(30);

/// Shows the progress of a run, and stops it on Ctrl-C.
pub struct RunProgress {
    name: String,
    quiet: bool,
    /// Seconds that the runs after this one will take.
    later: f64,
    bar: Option<ProgressBar>,
    epochs: usize,
    steps: usize,
    /// Steps of the checkpoint that was resumed.
    resumed: usize,
    began: Instant,
    printed: Instant,
}

impl RunProgress {
    pub fn new(name: String, later: f64, quiet: bool) -> Self {
        let now = Instant::now();
        Self { name, quiet, later, bar: None, epochs: 0, steps: 0, resumed: 0, began: now, printed: now }
    }

    fn begin(&mut self) {
        self.began = Instant::now();
        if io::stderr().is_terminal() && !self.quiet {
            let bar = ProgressBar::new((self.epochs * self.steps) as u64);
            // If the template did not parse, the default style would do.
            if let Ok(style) = ProgressStyle::with_template("{prefix} [{bar:16}] {wide_msg}") {
                bar.set_style(style.progress_chars("=> "));
            }
            bar.set_prefix(self.name.clone());
            self.bar = Some(bar);
        }
    }

    fn step(&mut self, epoch: usize, step: usize, loss: f64) {
        let done = epoch * self.steps + step;
        let per_step = self.began.elapsed().as_secs_f64() / (done - self.resumed).max(1) as f64;
        let own = per_step * (self.epochs * self.steps - done) as f64;
        let [own, all] = [own, own + self.later].map(text::duration);
        let (epoch, epochs, loss) = (epoch + 1, self.epochs, text::number(loss));
        let message = format!("epoch {epoch}/{epochs}, loss {loss}, {own} left of this run, {all} of all");
        match &self.bar {
            Some(bar) => {
                bar.set_position(done as u64);
                bar.set_message(message);
            }
            None if self.printed.elapsed() > INTERVAL && !self.quiet => {
                say!("{}: {message}", self.name);
                self.printed = Instant::now();
            }
            None => {}
        }
    }
}

impl Observer for RunProgress {
    fn event(&mut self, event: Event) {
        match event {
            Event::Moved(moved) => say!("warning: {}: {moved}", self.name),
            Event::Begin { epochs, steps, resumed, .. } => {
                (self.epochs, self.steps) = (epochs, steps);
                self.resumed = resumed.map_or(0, |(epoch, step)| epoch * steps + step);
                self.begin();
            }
            Event::Step { epoch, step, loss, .. } => self.step(epoch, step, loss),
            Event::End => {
                if let Some(bar) = self.bar.take() {
                    bar.finish_and_clear();
                }
            }
            Event::Epoch { .. } | Event::Evaluating(_) => {}
        }
    }

    fn stop(&mut self) -> bool {
        interrupt::asked()
    }
}

impl Drop for RunProgress {
    fn drop(&mut self) {
        if let Some(bar) = &self.bar {
            bar.abandon();
        }
    }
}

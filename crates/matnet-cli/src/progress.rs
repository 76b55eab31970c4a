//! Training progress on standard error: a bar on a terminal, a line per epoch elsewhere.

use std::io::{self, IsTerminal};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};
use matnet_report::text;
use matnet_train::metrics::Metric;
use matnet_train::run::Score;
use matnet_train::{Event, Observer};

use crate::{interrupt, say};

/// Seconds between plain lines within a long epoch.
const BETWEEN_LINES: Duration = Duration::from_secs(10);

/// Reports the progress of a run.
pub struct ProgressReporter {
    quiet: bool,
    bar: Option<ProgressBar>,
    epochs: usize,
    steps: usize,
    /// What selects the best epoch.
    monitor: Metric,
    /// Steps done before this process took over.
    before: u64,
    began: Instant,
    reported: Instant,
    /// The scores of the last epoch.
    last: String,
}

impl ProgressReporter {
    /// A reporter, which may be quiet.
    pub fn new(quiet: bool) -> Self {
        let now = Instant::now();
        Self {
            quiet,
            bar: None,
            epochs: 0,
            steps: 0,
            monitor: Metric::Loss,
            before: 0,
            began: now,
            reported: now,
            last: String::new(),
        }
    }

    fn begin(&mut self, folder: &str, parameters: usize, resumed: Option<(usize, usize)>) {
        let from = match resumed {
            Some((epoch, step)) => format!(", resumed after epoch {epoch}, step {step}"),
            None => String::new(),
        };
        let (parameters, epochs) = (text::count(parameters), text::counted(self.epochs, "epoch"));
        say!("{folder}: {parameters} parameters, {epochs} of {}{from}", text::counted(self.steps, "step"));
        let (epoch, step) = resumed.unwrap_or((0, 0));
        self.before = (epoch * self.steps + step) as u64;
        self.began = Instant::now();
        self.reported = Instant::now();
        self.last.clear();
        if io::stderr().is_terminal() {
            let bar = ProgressBar::new((self.epochs * self.steps) as u64);
            // If the template did not parse, the default style would do.
            if let Ok(style) = ProgressStyle::with_template("{prefix} [{bar:16}] {wide_msg}") {
                bar.set_style(style.progress_chars("=> "));
            }
            bar.set_position(self.before);
            self.bar = Some(bar);
        }
    }

    fn step(&mut self, epoch: usize, step: usize, score: &str, learning_rate: f64) {
        let done = (epoch * self.steps + step) as u64;
        match &self.bar {
            Some(bar) => {
                bar.set_position(done);
                bar.set_prefix(format!("epoch {}/{}", epoch + 1, self.epochs));
                bar.set_message(format!(
                    "{}, train {score}, learning rate {learning_rate:.1e}{}",
                    self.left(done),
                    self.last
                ));
            }
            None if self.reported.elapsed() > BETWEEN_LINES => {
                let (epoch, epochs, steps) = (epoch + 1, self.epochs, self.steps);
                say!(
                    "epoch {epoch}/{epochs}, step {step}/{steps}: train {score}, learning rate {learning_rate:.1e}, {}",
                    self.left(done)
                );
                self.reported = Instant::now();
            }
            None => {}
        }
    }

    fn epoch(&mut self, epoch: usize, train: Score, valid: Option<Score>, test: Option<Score>, best: bool) {
        let part = |name: &str, part: Option<Score>| match part {
            Some(part) => format!(", {name} {}{}", score(part.loss, part.error), self.monitored(part)),
            None => String::new(),
        };
        let others = part("valid", valid) + &part("test", test);
        match &self.bar {
            Some(_) => self.last = others,
            None => {
                let star = if best { " *" } else { "" };
                let train = score(train.loss, train.error);
                let left = self.left((epoch * self.steps) as u64);
                say!("epoch {epoch}/{}: train {train}{others}, {left}{star}", self.epochs);
                self.reported = Instant::now();
            }
        }
    }

    /// The monitored metric, unless it is shown anyway.
    fn monitored(&self, score: Score) -> String {
        let metric = Some(self.monitor).filter(|metric| !matches!(metric, Metric::Loss | Metric::Error));
        match metric.and_then(|metric| Some((metric, score.metric(metric)?))) {
            Some((metric, value)) => format!(", {} {}", metric.name(), text::number(value)),
            None => String::new(),
        }
    }

    /// Steps per second of this process, and the time left.
    fn left(&self, done: u64) -> String {
        let (fresh, seconds) = (done.saturating_sub(self.before), self.began.elapsed().as_secs_f64());
        if fresh == 0 || seconds <= 0.0 {
            return String::new();
        }
        let speed = fresh as f64 / seconds;
        let left = (self.epochs * self.steps) as f64 - done as f64;
        format!("{} steps/s, {} left", text::number(speed), text::duration(left.max(0.0) / speed))
    }
}

fn score(loss: f64, error: Option<f64>) -> String {
    let loss = text::number(loss);
    match error {
        Some(error) => format!("loss {loss}, error {:.2} %", 100.0 * error),
        None => format!("loss {loss}"),
    }
}

impl Observer for ProgressReporter {
    fn event(&mut self, event: Event) {
        match event {
            Event::Moved(moved) => say!("warning: {moved}"),
            _ if self.quiet => {}
            Event::Begin { run, parameters, epochs, steps, monitor, resumed, notes, transfer } => {
                self.monitor = monitor;
                for note in notes {
                    say!("data: {note}");
                }
                if let Some(transfer) = transfer {
                    say!("{transfer}");
                }
                (self.epochs, self.steps) = (epochs, steps);
                self.begin(&run.folder().display().to_string(), parameters, resumed);
            }
            Event::Step { epoch, step, loss, error, learning_rate } => {
                self.step(epoch, step, &score(loss, error), learning_rate);
            }
            Event::Epoch { epoch, train, valid, test, best } => self.epoch(epoch, train, valid, test, best),
            Event::Evaluating(split) => {
                if let Some(bar) = &self.bar {
                    bar.set_message(format!("evaluating the best weights on the {} split", split.title()));
                }
            }
            Event::End => {
                if let Some(bar) = self.bar.take() {
                    bar.finish_and_clear();
                }
            }
        }
    }

    fn stop(&mut self) -> bool {
        interrupt::asked()
    }
}

impl Drop for ProgressReporter {
    fn drop(&mut self) {
        if let Some(bar) = &self.bar {
            bar.abandon();
        }
    }
}

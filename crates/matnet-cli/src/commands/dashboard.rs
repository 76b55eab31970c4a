//! `matnet train --dashboard`: learning curves in the terminal while a net learns.

use std::collections::VecDeque;
use std::io::{self, IsTerminal};
use std::time::{Duration, Instant};

use matnet_report::text;
use matnet_train::run::Score;
use matnet_train::{Event, Observer};
use ratatui::crossterm::event::{self, Event as Input, KeyCode, KeyModifiers};
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::style::{Color, Style};
use ratatui::symbols::Marker;
use ratatui::widgets::{Axis, Block, Chart, Dataset, Gauge, GraphType, Paragraph};
use ratatui::{DefaultTerminal, Frame};

use super::score::score_text;
use crate::failure::Failure;
use crate::{interrupt, say};

/// Between two pictures.
const PERIOD: Duration = Duration::from_millis(100);
/// Losses of single steps that are shown.
const RECENT: usize = 400;

/// The dashboard; the terminal is the user's again when it is dropped.
pub struct Dashboard {
    terminal: DefaultTerminal,
    drawn: Instant,
    stop: bool,
    view: View,
    /// What is printed when the terminal is the user's again.
    warning: Option<String>,
}

/// All that is shown.
#[derive(Default)]
struct View {
    title: String,
    epochs: usize,
    steps: usize,
    before: u64,
    done: u64,
    began: Option<Instant>,
    learning_rate: f64,
    line: String,
    /// Loss so far in the epoch, by step.
    recent: VecDeque<(f64, f64)>,
    /// Train, valid and test, by epoch.
    losses: [Vec<(f64, f64)>; 3],
    errors: [Vec<(f64, f64)>; 3],
}

impl Dashboard {
    /// Takes over the terminal.
    pub fn new() -> Result<Self, Failure> {
        if !io::stdout().is_terminal() {
            return Err(Failure::Usage("--dashboard: standard output is no terminal".to_owned()));
        }
        let terminal =
            ratatui::try_init().map_err(|error| Failure::Failed(format!("--dashboard: {error}")))?;
        Ok(Self { terminal, drawn: Instant::now(), stop: false, view: View::default(), warning: None })
    }

    fn draw(&mut self, now: bool) {
        if !now && self.drawn.elapsed() < PERIOD {
            return;
        }
        // A picture that cannot be drawn is no reason to stop learning.
        let _ = self.terminal.draw(|frame| self.view.draw(frame));
        self.drawn = Instant::now();
        while event::poll(Duration::ZERO).unwrap_or(false) {
            let Ok(Input::Key(key)) = event::read() else { continue };
            let control_c = key.code == KeyCode::Char('c') && key.modifiers.contains(KeyModifiers::CONTROL);
            self.stop |= control_c || key.code == KeyCode::Char('q');
        }
    }
}

impl Drop for Dashboard {
    fn drop(&mut self) {
        ratatui::restore();
        if let Some(warning) = &self.warning {
            say!("warning: {warning}");
        }
    }
}

impl Observer for Dashboard {
    fn event(&mut self, event: Event) {
        if let Event::Moved(moved) = &event {
            self.warning = Some(moved.to_string());
        }
        let now = !matches!(event, Event::Step { .. });
        self.view.take(event);
        self.draw(now);
    }

    fn stop(&mut self) -> bool {
        self.stop || interrupt::asked()
    }
}

impl View {
    fn take(&mut self, event: Event) {
        match event {
            Event::Begin { run, parameters, epochs, steps, resumed, .. } => {
                let (epoch, step) = resumed.unwrap_or((0, 0));
                let before = (epoch * steps + step) as u64;
                let title = format!("{}, {} parameters", run.folder().display(), text::count(parameters));
                *self = Self { title, epochs, steps, before, done: before, ..Self::default() };
                self.began = Some(Instant::now());
            }
            Event::Step { epoch, step, loss, learning_rate, .. } => {
                self.done = (epoch * self.steps + step) as u64;
                self.learning_rate = learning_rate;
                self.recent.push_back((self.done as f64, loss));
                if self.recent.len() > RECENT {
                    self.recent.pop_front();
                }
            }
            Event::Epoch { epoch, train, valid, test, best } => {
                for (split, score) in [Some(train), valid, test].into_iter().enumerate() {
                    let Some(Score { loss, error, .. }) = score else { continue };
                    self.losses[split].push((epoch as f64, loss));
                    if let Some(error) = error {
                        self.errors[split].push((epoch as f64, 100.0 * error));
                    }
                }
                let star = if best { ", the best so far" } else { "" };
                let valid = valid.map_or(String::new(), |valid| format!(", valid {}", score_text(valid)));
                self.line = format!("epoch {epoch}: {}{valid}{star}", score_text(train));
            }
            Event::Evaluating(split) => {
                self.line = format!("evaluating the best weights on the {} split", split.name())
            }
            Event::Moved(_) | Event::End => {}
        }
    }

    fn draw(&self, frame: &mut Frame) {
        let rows = Layout::vertical([Constraint::Length(3), Constraint::Min(8), Constraint::Length(2)]);
        let [top, middle, foot] = rows.areas(frame.area());
        let total = (self.epochs * self.steps).max(1) as f64;
        let gauge = Gauge::default()
            .block(Block::bordered().title(self.title.as_str()))
            .gauge_style(Style::new().fg(Color::Cyan))
            .ratio((self.done as f64 / total).min(1.0))
            .label(format!("{} of {} steps, {}", self.done, total, self.left()));
        frame.render_widget(gauge, top);
        let errors = self.errors.iter().any(|curve| !curve.is_empty());
        let columns = if errors { vec![Constraint::Fill(1); 3] } else { vec![Constraint::Fill(1); 2] };
        let areas = Layout::horizontal(columns).split(middle);
        let recent: Vec<(f64, f64)> = self.recent.iter().copied().collect();
        chart(frame, areas[0], "loss, this epoch so far", "step", &[("train", &recent)]);
        chart(frame, areas[1], "loss", "epoch", &named(&self.losses));
        if errors {
            chart(frame, areas[2], "error %", "epoch", &named(&self.errors));
        }
        let text =
            format!("{}\nlearning rate {}   q or Ctrl-C saves and stops", self.line, self.learning_rate);
        frame.render_widget(Paragraph::new(text), foot);
    }

    fn left(&self) -> String {
        let (Some(began), fresh) = (self.began, self.done - self.before) else { return String::new() };
        let pace = fresh as f64 / began.elapsed().as_secs_f64().max(1e-9);
        if fresh == 0 {
            return "beginning".to_owned();
        }
        let left = (self.epochs * self.steps) as f64 - self.done as f64;
        format!("{} steps/s, {} left", text::number(pace), text::duration(left.max(0.0) / pace))
    }
}

type Curve<'a> = (&'static str, &'a [(f64, f64)]);

fn named(curves: &[Vec<(f64, f64)>; 3]) -> Vec<Curve<'_>> {
    ["train", "valid", "test"].into_iter().zip(curves.iter().map(Vec::as_slice)).collect()
}

fn chart(frame: &mut Frame, area: Rect, title: &str, x: &str, curves: &[Curve]) {
    let points = || curves.iter().flat_map(|(_, curve)| curve.iter().copied());
    let range = |of: fn((f64, f64)) -> f64| {
        let (low, high) = points()
            .map(of)
            .filter(|number| number.is_finite())
            .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), number| {
                (low.min(number), high.max(number))
            });
        if low < high {
            [low, high]
        } else if low == high {
            [low - 0.5, low + 0.5]
        } else {
            [0.0, 1.0]
        }
    };
    let (across, up) = (range(|(x, _)| x), range(|(_, y)| y));
    let label = |number: f64| text::number(number);
    let colours = [Color::Cyan, Color::Yellow, Color::Magenta];
    let sets = curves.iter().zip(colours).filter(|((_, curve), _)| !curve.is_empty()).map(
        |((name, curve), colour)| {
            let style = Style::new().fg(colour);
            Dataset::default()
                .name(*name)
                .marker(Marker::Braille)
                .graph_type(GraphType::Line)
                .style(style)
                .data(curve)
        },
    );
    let chart = Chart::new(sets.collect())
        .block(Block::bordered().title(title))
        .x_axis(Axis::default().title(x).bounds(across).labels([label(across[0]), label(across[1])]))
        .y_axis(Axis::default().bounds(up).labels([label(up[0]), label(up[1])]));
    frame.render_widget(chart, area);
}

#[cfg(test)]
mod tests {
    use matnet_train::Run;
    use ratatui::Terminal;
    use ratatui::backend::TestBackend;

    use super::*;

    #[test]
    fn what_happens_is_drawn() {
        let run = Run::at("runs/x");
        let mut view = View::default();
        view.take(Event::Begin {
            run: &run,
            parameters: 1234,
            epochs: 3,
            monitor: matnet_train::metrics::Metric::Loss,
            steps: 10,
            resumed: None,
            notes: &[],
            transfer: None,
        });
        let metrics = matnet_train::metrics::MetricValues::default();
        let score = |loss, error| Score { loss, error: Some(error), examples: 5, metrics };
        for epoch in 1..=2 {
            for step in 1..=10 {
                let loss = 1.0 / (epoch * step) as f64;
                view.take(Event::Step {
                    epoch: epoch - 1,
                    step,
                    loss,
                    error: Some(0.5),
                    learning_rate: 1e-3,
                });
            }
            let (train, valid) = (score(0.5, 0.25), Some(score(0.6, 0.3)));
            view.take(Event::Epoch { epoch, train, valid, test: None, best: true });
        }
        let mut terminal = Terminal::new(TestBackend::new(120, 30)).unwrap();
        terminal.draw(|frame| view.draw(frame)).unwrap();
        let shown: String = terminal.backend().buffer().content().iter().map(|cell| cell.symbol()).collect();
        for words in
            ["runs/x, 1,234 parameters", "20 of 30 steps", "error %", "valid", "epoch 2: error 25.00 %"]
        {
            assert!(shown.contains(words), "{words} is missing");
        }
        assert!(shown.chars().any(|symbol| ('\u{2801}'..='\u{28ff}').contains(&symbol)), "no curve");
        // Small terminals and empty views are survived.
        for (width, height) in [(1, 1), (20, 5), (300, 100)] {
            let mut terminal = Terminal::new(TestBackend::new(width, height)).unwrap();
            terminal.draw(|frame| view.draw(frame)).unwrap();
            terminal.draw(|frame| View::default().draw(frame)).unwrap();
        }
    }
}

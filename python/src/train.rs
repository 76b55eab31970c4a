//! Training. The net is trained on a thread of its own, without the interpreter's lock; the thread that called waits for events, so
//! that it can answer Ctrl-C and call Python's observers.

use std::ffi::CString;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError, Sender, SyncSender};
use std::time::{Duration, Instant};

use matnet_data::files::Scratch;
use matnet_train::run::Score;
use matnet_train::{Document, Event, Observer, Options, Planner, Run};
use pyo3::exceptions::{PyUserWarning, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::{arrays, error, threads};

/// How often Ctrl-C is looked for, and steps are reported.
const LOOK_EVERY: Duration = Duration::from_millis(50);

/// What the training thread tells, as JSON where there is more than a few numbers.
enum Message {
    Moved(String),
    Begin {
        epochs: usize,
        steps: usize,
        parameters: usize,
        resumed: usize,
    },
    Step {
        epoch: usize,
        step: usize,
        loss: f64,
    },
    /// The training waits for the answer: whether to go on.
    Epoch {
        scores: serde_json::Value,
        answer: SyncSender<bool>,
    },
}

/// Sends events to the thread that called.
struct Reporter<'a> {
    stop: &'a AtomicBool,
    sender: Sender<Message>,
    /// Whether anybody wants to know.
    observed: bool,
    reported: Instant,
}

impl Observer for Reporter<'_> {
    fn event(&mut self, event: Event) {
        // The other side is there as long as the training is.
        let send = |message| drop(self.sender.send(message));
        match event {
            Event::Moved(moved) => send(Message::Moved(moved.to_string())),
            _ if !self.observed => {}
            Event::Begin { epochs, steps, parameters, resumed, .. } => {
                let resumed = resumed.map_or(0, |(epoch, _)| epoch);
                send(Message::Begin { epochs, steps, parameters, resumed });
            }
            Event::Step { epoch, step, loss, .. } if self.reported.elapsed() > LOOK_EVERY => {
                self.reported = Instant::now();
                send(Message::Step { epoch, step, loss });
            }
            Event::Epoch { epoch, train, valid, test, best } => {
                let score = |score: Option<Score>| serde_json::to_value(score).unwrap_or_default();
                let scores = serde_json::json!({
                    "epoch": epoch, "train": score(Some(train)), "valid": score(valid), "test": score(test), "best": best,
                });
                let (answer, answered) = mpsc::sync_channel(1);
                send(Message::Epoch { scores, answer });
                if !answered.recv().unwrap_or(true) {
                    self.stop.store(true, Ordering::SeqCst);
                }
            }
            _ => {}
        }
    }

    fn stop(&mut self) -> bool {
        self.stop.load(Ordering::SeqCst)
    }
}

/// The config in JSON, as a document.
fn document(config: &str) -> PyResult<Document> {
    let wrong = |what: String| PyValueError::new_err(format!("config: {what}"));
    let value: serde_json::Value = serde_json::from_str(config).map_err(|error| wrong(error.to_string()))?;
    let table = toml::Table::try_from(value).map_err(|error| wrong(error.to_string()))?;
    let text = toml::to_string(&table).map_err(|error| wrong(error.to_string()))?;
    Document::parse(&text).map_err(error::to_python)
}

/// What the config of a run would be, defaults written out; fails as training would.
#[pyfunction]
#[pyo3(signature = (config, arrays, cache = None))]
pub fn check(
    py: Python<'_>,
    config: &str,
    arrays: &Bound<'_, PyDict>,
    cache: Option<&str>,
) -> PyResult<String> {
    let (document, cache) = (document(config)?, arrays::cache(arrays, cache)?);
    let pool = threads::pool(None)?;
    py.detach(|| {
        threads::run(&pool, || {
            let plan = Planner::default().plan(&document, &cache)?;
            plan.check(&Options::default())?;
            Ok(plan.config())
        })
    })
}

/// Trains in a folder, or resumes there. Returns the result as JSON, `None` if the observer stopped it, and whether the run had been
/// finished before.
///
/// A `scratch` folder is about to go, so that nothing in it waits for the disk.
///
/// With `partial` it trains one epoch in a new folder, on from the run in the folder `before`, if there is one.
///
/// `observer` has the methods `begin`, `step` and `epoch`; an epoch that answers `False` stops the training, as do exceptions.
#[pyfunction]
#[pyo3(signature = (config, arrays, folder, *, observer = None, report = true, fresh = false, extend = false, save_every = 30,
                    threads = None, cache = None, partial = false, before = None, scratch = false))]
#[allow(clippy::too_many_arguments)] // Keywords of one Python function.
pub fn train(
    py: Python<'_>,
    config: &str,
    arrays: &Bound<'_, PyDict>,
    folder: &str,
    observer: Option<Bound<'_, PyAny>>,
    report: bool,
    fresh: bool,
    extend: bool,
    save_every: u64,
    threads: Option<usize>,
    cache: Option<&str>,
    partial: bool,
    before: Option<&str>,
    scratch: bool,
) -> PyResult<(Option<String>, bool)> {
    let (document, cache) = (document(config)?, arrays::cache(arrays, cache)?);
    let pool = threads::pool(threads)?;
    let _scratch = scratch.then(|| Scratch::new(folder.as_ref()));
    let options = Options::default()
        .with_report(report)
        .with_extend(extend)
        .with_save_every(Duration::from_secs(save_every));
    let (stop, (sender, receiver)) = (AtomicBool::new(false), mpsc::channel());
    let reporter = Reporter { stop: &stop, sender, observed: observer.is_some(), reported: Instant::now() };
    let (run, before) = (Run::at(folder), before.map(Run::at));
    let observer = observer.map(Bound::unbind);
    let mut raised: Option<PyErr> = None;
    let (raised_by, stop_flag) = (&mut raised, &stop);
    let outcome = py.detach(move || {
        std::thread::scope(|scope| {
            let work = || {
                // The other end closes with this one, which is how the caller knows that the work is done.
                let mut reporter = reporter;
                threads::run(&pool, || {
                    let plan = Planner::default().plan(&document, &cache)?;
                    plan.check(&options)?;
                    if fresh {
                        run.clear()?;
                    }
                    match partial {
                        true => plan.partial_fit(&run, before.as_ref(), &options, &mut reporter),
                        false => plan.train(&run, &options, &mut reporter),
                    }
                })
            };
            let training = scope.spawn(work);
            loop {
                let message = match receiver.recv_timeout(LOOK_EVERY) {
                    Ok(message) => Some(message),
                    Err(RecvTimeoutError::Timeout) => None,
                    Err(RecvTimeoutError::Disconnected) => break,
                };
                let called = Python::attach(|py| {
                    py.check_signals()?;
                    match message {
                        Some(message) if raised_by.is_none() => {
                            tell(py, observer.as_ref().map(|observer| observer.bind(py)), message)
                        }
                        _ => Ok(()),
                    }
                });
                if let Err(error) = called {
                    stop_flag.store(true, Ordering::SeqCst);
                    raised_by.get_or_insert(error);
                }
            }
            match training.join() {
                Ok(result) => result,
                Err(panic) => Err(error::of_panic(&*panic)),
            }
        })
    });
    match (raised, outcome) {
        (Some(error), _) => Err(error),
        // The observer stopped it, and its checkpoint is saved.
        (None, Err(_)) if stop.load(Ordering::SeqCst) => Ok((None, false)),
        (None, outcome) => {
            let outcome = outcome?;
            Ok((serde_json::to_string(&outcome.result).ok(), outcome.was_finished))
        }
    }
}

/// Hands an event to Python.
fn tell(py: Python<'_>, observer: Option<&Bound<'_, PyAny>>, message: Message) -> PyResult<()> {
    match (message, observer) {
        (Message::Moved(what), _) => {
            PyErr::warn(py, &py.get_type::<PyUserWarning>(), &CString::new(what)?, 1)
        }
        (Message::Begin { epochs, steps, parameters, resumed }, Some(observer)) => {
            observer.call_method1("begin", (epochs, steps, parameters, resumed)).map(drop)
        }
        (Message::Step { epoch, step, loss }, Some(observer)) => {
            observer.call_method1("step", (epoch, step, loss)).map(drop)
        }
        (Message::Epoch { scores, answer }, Some(observer)) => {
            let go_on = observer.call_method1("epoch", (scores.to_string(),)).and_then(|said| said.extract());
            // The training waits; it goes on, or stops, in any case.
            let _ = answer.send(*go_on.as_ref().unwrap_or(&false));
            go_on.map(drop)
        }
        // Nobody asked for these, and so none was sent.
        (_, None) => Ok(()),
    }
}

//! A model: a run, the net that was loaded from it, and the requests that wait for it.

use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError, RwLock, mpsc};
use std::thread;
use std::time::{Instant, SystemTime};

use hyper::StatusCode;
use matnet_data::Array;
use matnet_train::{Error, Predictor, Run};
use serde_json::Value;
use sha2::{Digest, Sha256};
use tokio::sync::oneshot;

use crate::current::Current;
use crate::metrics::{ModelMetrics, ModelRow};
use crate::passes::Passes;
use crate::queue::{Answered, BatchRule, Job, Queue, Work};
use crate::refusal::{Allowed, Refusal};
use crate::{ModelSpec, Options, ServeError, batch, protocol};

/// Digits of a version.
const VERSION_DIGITS: usize = 12;

/// A model that is served.
pub struct Model {
    pub name: String,
    pub run: Run,
    pub metrics: ModelMetrics,
    options: Options,
    queue: Queue,
    current: RwLock<Arc<Current>>,
    threads: AtomicU64,
    /// The state of the run when it was last read.
    stamp: Mutex<Stamp>,
}

/// What tells one state of a run from another without reading it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Stamp(Vec<Option<(SystemTime, u64)>>);

impl Model {
    /// Loads a run and starts the thread that computes its predictions.
    pub fn start(spec: &ModelSpec, options: &Options) -> Result<Arc<Self>, ServeError> {
        let rule = BatchRule { max_samples: options.max_batch.max(1), max_delay: options.max_delay };
        let failed = |error| ServeError::Model { name: spec.name.clone(), error };
        let none =
            Current { kind: "", interface: None, version: String::new(), epoch: 0, metadata: Value::Null };
        let model = Arc::new(Self {
            name: spec.name.clone(),
            run: Run::at(&spec.run),
            metrics: ModelMetrics::default(),
            options: options.clone(),
            queue: Queue::new(options.max_queue.max(1), rule),
            current: RwLock::new(Arc::new(none)),
            threads: AtomicU64::new(0),
            stamp: Mutex::default(),
        });
        model.load().map_err(failed)?;
        Ok(model)
    }

    /// Loads the run as it is now. The net before goes on until the new one is ready, and stays if it cannot be loaded.
    pub fn load(self: &Arc<Self>) -> Result<(), Error> {
        // What changes from here on is found by the next look.
        *self.stamp.lock().unwrap_or_else(PoisonError::into_inner) = self.look();
        let me = self.threads.fetch_add(1, Ordering::SeqCst) + 1;
        let (tell, told) = mpsc::channel();
        let model = self.clone();
        // A net stays on the thread that made it.
        let thread = thread::Builder::new().name(format!("net {}", self.name)).spawn(move || {
            let (net, current) = match model.read() {
                Ok((net, current)) => {
                    let current = Arc::new(current);
                    let _ = tell.send(Ok(current.clone()));
                    (net, current)
                }
                Err(error) => {
                    let _ = tell.send(Err(error));
                    return;
                }
            };
            if model.queue.wait_for_turn(me) {
                model.work(me, &*net, &current);
            }
        });
        thread.map_err(|source| Error::Io { path: self.run.folder().to_owned(), source })?;
        let stopped = || Error::Mismatch("the net could not be built".to_owned());
        let current = told.recv().map_err(|_| stopped())??;
        *self.current.write().unwrap_or_else(PoisonError::into_inner) = current;
        self.queue.hand_to(me);
        Ok(())
    }

    fn look(&self) -> Stamp {
        let one = |name: &str| {
            let data = std::fs::metadata(self.run.path(name)).ok()?;
            Some((data.modified().ok()?, data.len()))
        };
        Stamp(["config.toml", &self.options.weights].map(one).to_vec())
    }

    /// Whether the run has changed since it was last read.
    pub fn has_changed(&self) -> bool {
        *self.stamp.lock().unwrap_or_else(PoisonError::into_inner) != self.look()
    }

    /// Reads the net from its run.
    fn read(&self) -> Result<(Box<dyn Predictor>, Current), Error> {
        let weights = &self.options.weights;
        let net = self.run.load(weights, &self.options.device)?;
        let (kind, interface) = (net.parts().kind, net.interface());
        let (version, epoch) = (checksum(&self.run.path(weights))?, net.epoch());
        let metadata = protocol::metadata(&self.name, &version, kind, epoch, interface.as_ref());
        Ok((net, Current { kind, interface, version, epoch, metadata }))
    }

    /// Does the work of the queue until another thread owns it, or it is closed and empty.
    fn work(&self, me: u64, net: &dyn Predictor, current: &Arc<Current>) {
        let passes = Passes::new(net, self.options.max_batch.max(1), self.options.max_pass);
        while let Some(work) = self.queue.take(me) {
            match work {
                Work::Aside(aside) => aside(&passes),
                Work::Batch(jobs) => {
                    let began = Instant::now();
                    let samples = jobs.iter().map(|job| job.inputs.len()).sum();
                    jobs.iter().for_each(|job| self.metrics.queue_seconds.add(began - job.queued));
                    batch::run(&passes, current, jobs);
                    self.metrics.batch(samples, began.elapsed());
                }
            }
        }
    }

    /// What is known about the net that answers now.
    pub fn current(&self) -> Arc<Current> {
        self.current.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Predictions for inputs, when their turn comes, and the net that they are of.
    pub async fn predict(&self, inputs: Array, lengths: Vec<usize>) -> Answered {
        let (reply, answer) = oneshot::channel();
        self.queue.push(Job { inputs, lengths, queued: Instant::now(), reply })?;
        self.wait(answer).await?
    }

    /// What a function makes of the net, when its turn comes.
    pub async fn ask<T: Send + 'static>(
        &self,
        ask: impl FnOnce(&Passes) -> T + Send + 'static,
    ) -> Allowed<T> {
        let (reply, answer) = oneshot::channel();
        self.queue.push_aside(Box::new(move |passes| {
            if !reply.is_closed() {
                let _ = reply.send(ask(passes));
            }
        }))?;
        self.wait(answer).await
    }

    async fn wait<T>(&self, answer: oneshot::Receiver<T>) -> Allowed<T> {
        match tokio::time::timeout(self.options.timeout, answer).await {
            Ok(Ok(answer)) => Ok(answer),
            Ok(Err(_)) => Err(Refusal::new(
                StatusCode::INTERNAL_SERVER_ERROR,
                "the net stopped while it computed; try again",
            )),
            Err(_) => {
                let seconds = self.options.timeout.as_secs_f64();
                let what = format!("no prediction within {seconds} s (--timeout); try again later");
                Err(Refusal::new(StatusCode::SERVICE_UNAVAILABLE, what))
            }
        }
    }

    /// What `/metrics` shows of it.
    pub fn metrics_row(&self) -> ModelRow<'_> {
        ModelRow { name: &self.name, waiting: self.queue.len(), metrics: &self.metrics }
    }

    /// Takes no more requests; those that wait are answered.
    pub fn close(&self) {
        self.queue.close();
    }
}

fn checksum(path: &Path) -> Result<String, Error> {
    let bytes = std::fs::read(path).map_err(|source| Error::Io { path: path.to_owned(), source })?;
    let digest = Sha256::digest(bytes);
    let digits: String = digest.iter().map(|byte| format!("{byte:02x}")).collect();
    Ok(digits[..VERSION_DIGITS].to_owned())
}

//! Counters in the text format of Prometheus.

use std::fmt::Write;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::Duration;

use hyper::StatusCode;

/// Upper bounds of the histograms of seconds.
const SECONDS: [f64; 13] = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.02, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 10.0];
/// Upper bounds of the histogram of batch sizes.
const SIZES: [f64; 9] = [1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 128.0, 1024.0];

/// A number that only grows.
#[derive(Default)]
pub struct Counter(AtomicU64);

impl Counter {
    pub fn add(&self, count: u64) {
        self.0.fetch_add(count, Ordering::Relaxed);
    }

    pub fn get(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

/// How often values fell below each bound.
pub struct Histogram<const N: usize> {
    counts: [Counter; N],
    /// What lies above all bounds.
    above: Counter,
    /// The sum, in millionths.
    sum: Counter,
}

impl<const N: usize> Default for Histogram<N> {
    fn default() -> Self {
        Self {
            counts: std::array::from_fn(|_| Counter::default()),
            above: Counter::default(),
            sum: Counter::default(),
        }
    }
}

impl<const N: usize> Histogram<N> {
    fn add_value(&self, value: f64, bounds: &[f64; N]) {
        let place = bounds.iter().position(|bound| value <= *bound);
        place.map_or(&self.above, |place| &self.counts[place]).add(1);
        self.sum.add((value * 1e6) as u64);
    }

    fn write(&self, text: &mut String, name: &str, model: &str, bounds: &[f64; N]) {
        let mut below = 0;
        for (count, bound) in self.counts.iter().zip(bounds) {
            below += count.get();
            let _ = writeln!(text, "{name}_bucket{{model=\"{model}\",le=\"{bound}\"}} {below}");
        }
        below += self.above.get();
        let _ = writeln!(text, "{name}_bucket{{model=\"{model}\",le=\"+Inf\"}} {below}");
        let _ = writeln!(text, "{name}_sum{{model=\"{model}\"}} {}", self.sum.get() as f64 / 1e6);
        let _ = writeln!(text, "{name}_count{{model=\"{model}\"}} {below}");
    }
}

/// A histogram of seconds.
#[derive(Default)]
pub struct Seconds(Histogram<{ SECONDS.len() }>);

impl Seconds {
    pub fn add(&self, time: Duration) {
        self.0.add_value(time.as_secs_f64(), &SECONDS);
    }
}

/// What is counted for a model.
#[derive(Default)]
pub struct ModelMetrics {
    pub requests: Counter,
    pub failed: Counter,
    pub samples: Counter,
    pub reloads: Counter,
    pub failed_reloads: Counter,
    /// How long requests waited for their batch.
    pub queue_seconds: Seconds,
    /// How long batches took.
    compute_seconds: Seconds,
    /// How long requests took, from their head to their answer.
    pub request_seconds: Seconds,
    batch_sizes: Histogram<{ SIZES.len() }>,
}

impl ModelMetrics {
    /// A batch was computed.
    pub fn batch(&self, samples: usize, took: Duration) {
        self.samples.add(samples as u64);
        self.batch_sizes.add_value(samples as f64, &SIZES);
        self.compute_seconds.add(took);
    }
}

/// A model, as `/metrics` shows it.
#[derive(Clone, Copy)]
pub struct ModelRow<'a> {
    pub name: &'a str,
    /// Requests that wait.
    pub waiting: usize,
    pub metrics: &'a ModelMetrics,
}

/// What is counted for the server.
#[derive(Default)]
pub struct Metrics {
    pub connections: AtomicUsize,
    pub refused_connections: Counter,
    /// By status, from 200; others are not sent.
    statuses: [Counter; Self::STATUSES.len()],
}

impl Metrics {
    const STATUSES: [u16; 13] = [200, 400, 401, 404, 405, 408, 411, 413, 415, 429, 500, 503, 0];

    /// A request was answered.
    pub fn answered(&self, status: StatusCode) {
        let place = Self::STATUSES.iter().position(|known| *known == status.as_u16());
        self.statuses[place.unwrap_or(Self::STATUSES.len() - 1)].add(1);
    }

    /// Everything, as `/metrics` shows it.
    pub fn text(&self, models: &[ModelRow], body_bytes: usize) -> String {
        let mut text = String::new();
        let head = |text: &mut String, name: &str, kind: &str, help: &str| {
            let _ = writeln!(text, "# HELP {name} {help}\n# TYPE {name} {kind}");
        };
        head(&mut text, "matnet_http_responses_total", "counter", "Answers, by status.");
        for (status, count) in Self::STATUSES.iter().zip(&self.statuses).filter(|(_, count)| count.get() > 0)
        {
            let _ = writeln!(text, "matnet_http_responses_total{{code=\"{status}\"}} {}", count.get());
        }
        head(&mut text, "matnet_connections", "gauge", "Open connections.");
        let _ = writeln!(text, "matnet_connections {}", self.connections.load(Ordering::Relaxed));
        head(&mut text, "matnet_connections_refused_total", "counter", "Connections beyond the limit.");
        let _ = writeln!(text, "matnet_connections_refused_total {}", self.refused_connections.get());
        head(&mut text, "matnet_body_bytes", "gauge", "Bodies of requests that are being answered.");
        let _ = writeln!(text, "matnet_body_bytes {body_bytes}");
        type Count = fn(&ModelRow) -> u64;
        let counts: [(&str, &str, &str, Count); 6] = [
            ("matnet_requests_total", "counter", "Requests for predictions.", |model| {
                model.metrics.requests.get()
            }),
            ("matnet_requests_failed_total", "counter", "Requests that were refused or failed.", |model| {
                model.metrics.failed.get()
            }),
            ("matnet_samples_total", "counter", "Samples predicted for.", |model| {
                model.metrics.samples.get()
            }),
            ("matnet_queue_requests", "gauge", "Requests that wait.", |model| model.waiting as u64),
            ("matnet_reloads_total", "counter", "Times the run was loaded again.", |model| {
                model.metrics.reloads.get()
            }),
            (
                "matnet_reloads_failed_total",
                "counter",
                "Times the changed run could not be loaded.",
                |model| model.metrics.failed_reloads.get(),
            ),
        ];
        for (name, kind, help, count) in counts {
            head(&mut text, name, kind, help);
            for model in models {
                let _ = writeln!(text, "{name}{{model=\"{}\"}} {}", model.name, count(model));
            }
        }
        type Times = fn(&ModelMetrics) -> &Seconds;
        let times: [(&str, &str, Times); 3] = [
            ("matnet_request_seconds", "From the head of a request to its answer.", |metrics| {
                &metrics.request_seconds
            }),
            ("matnet_queue_seconds", "How long requests waited for their batch.", |metrics| {
                &metrics.queue_seconds
            }),
            ("matnet_compute_seconds", "How long batches were computed.", |metrics| &metrics.compute_seconds),
        ];
        for (name, help, times) in times {
            head(&mut text, name, "histogram", help);
            models
                .iter()
                .for_each(|model| times(model.metrics).0.write(&mut text, name, model.name, &SECONDS));
        }
        head(&mut text, "matnet_batch_samples", "histogram", "Samples per batch.");
        for model in models {
            model.metrics.batch_sizes.write(&mut text, "matnet_batch_samples", model.name, &SIZES);
        }
        if let Some((cpu, memory)) = process() {
            head(&mut text, "process_cpu_seconds_total", "counter", "Processor time of the server.");
            let _ = writeln!(text, "process_cpu_seconds_total {cpu}");
            head(&mut text, "process_resident_memory_bytes", "gauge", "Memory of the server.");
            let _ = writeln!(text, "process_resident_memory_bytes {memory}");
        }
        text
    }
}

/// Processor time and memory, where the system has them in `/proc`.
fn process() -> Option<(f64, u64)> {
    let stat = std::fs::read_to_string("/proc/self/stat").ok()?;
    // The name of the command, which may hold anything, ends at the last bracket.
    let fields: Vec<&str> = stat.rsplit_once(") ")?.1.split(' ').collect();
    let ticks = fields.get(11)?.parse::<f64>().ok()? + fields.get(12)?.parse::<f64>().ok()?;
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let memory = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    let memory = memory.trim().strip_suffix(" kB")?.parse::<u64>().ok()?;
    // Linux counts in hundredths of a second for programs, whatever it does inside.
    Some((ticks / 100.0, memory * 1024))
}

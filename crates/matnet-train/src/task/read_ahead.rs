//! A thread that reads what the next steps need while this one computes.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread::{self, JoinHandle};
use std::time::Duration;

/// Batches that are read before their turn.
const AHEAD: usize = 8;

/// A thread at work; it ends when this is dropped.
pub struct ReadAhead {
    step: Arc<AtomicUsize>,
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl ReadAhead {
    /// Reads the batches of an epoch from step `from` on, never far ahead of the step that was last [reached](Self::reached).
    pub fn start(
        batches: Arc<Vec<Vec<usize>>>,
        from: usize,
        read: impl Fn(&[usize]) + Send + 'static,
    ) -> Self {
        let (step, stop) = (Arc::new(AtomicUsize::new(from)), Arc::new(AtomicBool::new(false)));
        let (reached, stopped) = (Arc::clone(&step), Arc::clone(&stop));
        let work = move || {
            for (at, batch) in batches.iter().enumerate().skip(from) {
                while at > reached.load(Ordering::Relaxed) + AHEAD && !stopped.load(Ordering::Relaxed) {
                    thread::park_timeout(Duration::from_millis(50));
                }
                if stopped.load(Ordering::Relaxed) {
                    return;
                }
                // What was overtaken has been read by others.
                if at >= reached.load(Ordering::Relaxed) {
                    read(batch);
                }
            }
        };
        // Without the thread everything is read when it is needed.
        let thread = thread::Builder::new().name("read-ahead".to_owned()).spawn(work).ok();
        Self { step, stop, thread }
    }

    /// Tells how far the training has come.
    pub fn reached(&self, step: usize) {
        self.step.store(step, Ordering::Relaxed);
        if let Some(thread) = &self.thread {
            thread.thread().unpark();
        }
    }
}

impl Drop for ReadAhead {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            thread.thread().unpark();
            let _ = thread.join();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use super::*;

    #[test]
    fn it_reads_everything_in_order_and_not_too_early() {
        let batches: Arc<Vec<Vec<usize>>> = Arc::new((0..40).map(|at| vec![at]).collect());
        let read = Arc::new(Mutex::new(Vec::new()));
        let seen = Arc::clone(&read);
        let ahead = ReadAhead::start(batches, 3, move |batch: &[usize]| {
            seen.lock().unwrap().extend_from_slice(batch)
        });
        while read.lock().unwrap().len() < AHEAD + 1 {
            thread::yield_now();
        }
        thread::sleep(Duration::from_millis(20));
        assert_eq!(*read.lock().unwrap(), (3..=3 + AHEAD).collect::<Vec<_>>());
        ahead.reached(30);
        while read.lock().unwrap().last() != Some(&38) {
            thread::yield_now();
        }
        drop(ahead);
        assert!(read.lock().unwrap().is_sorted());
    }
}

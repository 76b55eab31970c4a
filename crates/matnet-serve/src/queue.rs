//! The requests that wait for a model.

use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use hyper::StatusCode;
use matnet_data::Array;
use matnet_train::task::Predictions;
use tokio::sync::oneshot;

use crate::current::Current;
use crate::passes::Passes;
use crate::refusal::{Allowed, Refusal};

/// Predictions, and the net that they are of.
pub type Answered = Allowed<(Predictions, Arc<Current>)>;

/// A request for predictions that waits.
pub struct Job {
    pub inputs: Array,
    pub lengths: Vec<usize>,
    pub queued: Instant,
    pub reply: oneshot::Sender<Answered>,
}

impl Job {
    /// Whether it can share a batch with another.
    fn goes_with(&self, other: &Self) -> bool {
        self.inputs.shape()[1..] == other.inputs.shape()[1..]
            && self.lengths.is_empty() == other.lengths.is_empty()
    }
}

/// Other work that needs the net.
pub type Aside = Box<dyn FnOnce(&Passes) + Send>;

/// What the thread of a net does next.
pub enum Work {
    /// Predict for these, together.
    Batch(Vec<Job>),
    /// Do this.
    Aside(Aside),
}

/// When a batch begins.
#[derive(Clone, Copy, Debug)]
pub struct BatchRule {
    /// Samples, at most. A request with more makes a batch of its own.
    pub max_samples: usize,
    /// How long the first request may wait for others.
    pub max_delay: Duration,
}

/// The queue of a model. Requests come from the threads of the network and are taken by the thread of the net.
pub struct Queue {
    state: Mutex<State>,
    changed: Condvar,
    limit: usize,
    rule: BatchRule,
}

#[derive(Default)]
struct State {
    jobs: VecDeque<Job>,
    samples: usize,
    asides: VecDeque<Aside>,
    /// The thread that may take work; a reloaded net has a new one.
    owner: u64,
    closed: bool,
    /// How many requests wake the thread that waits.
    wanted: usize,
    /// Requests in the batch before.
    last: usize,
}

impl Queue {
    /// An empty queue for so many requests.
    pub fn new(limit: usize, rule: BatchRule) -> Self {
        Self { state: Mutex::default(), changed: Condvar::new(), limit, rule }
    }

    /// The state is consistent between any two statements that hold the lock.
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Requests that wait.
    pub fn len(&self) -> usize {
        self.lock().jobs.len()
    }

    /// Adds a request, unless the queue is full.
    pub fn push(&self, job: Job) -> Allowed<()> {
        let mut state = self.lock();
        self.check(&state, state.jobs.len())?;
        state.samples += job.inputs.len();
        state.jobs.push_back(job);
        if state.jobs.len() >= state.wanted || state.samples >= self.rule.max_samples {
            // Nobody is woken twice for the same batch.
            state.wanted = usize::MAX;
            drop(state);
            self.changed.notify_all();
        }
        Ok(())
    }

    /// Adds other work, unless the queue is full.
    pub fn push_aside(&self, aside: Aside) -> Allowed<()> {
        let mut state = self.lock();
        self.check(&state, state.asides.len())?;
        state.asides.push_back(aside);
        drop(state);
        self.changed.notify_all();
        Ok(())
    }

    fn check(&self, state: &State, waiting: usize) -> Allowed<()> {
        if state.closed {
            return Err(Refusal::new(StatusCode::SERVICE_UNAVAILABLE, "the server is stopping"));
        }
        if waiting >= self.limit {
            let what = format!(
                "{waiting} requests wait for this model, which is the limit (--max-queue); try again later"
            );
            return Err(Refusal::new(StatusCode::TOO_MANY_REQUESTS, what));
        }
        Ok(())
    }

    /// Work goes to this thread from now on.
    pub fn hand_to(&self, owner: u64) {
        self.lock().owner = owner;
        self.changed.notify_all();
    }

    /// No more work is taken; what waits is still done.
    pub fn close(&self) {
        self.lock().closed = true;
        self.changed.notify_all();
    }

    /// Waits until work can go to this thread; `false` if it never will.
    pub fn wait_for_turn(&self, me: u64) -> bool {
        let mut state = self.lock();
        while state.owner < me && !state.closed {
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        state.owner == me
    }

    /// The next work of this thread; `None` if there will be none.
    ///
    /// A batch begins when it is full, when as many requests wait as the batch before had, or when the first has waited long enough.
    /// So requests that come one after another never wait, and those of many clients find each other.
    pub fn take(&self, me: u64) -> Option<Work> {
        let mut state = self.lock();
        loop {
            if state.owner != me {
                return None;
            }
            if let Some(aside) = state.asides.pop_front() {
                return Some(Work::Aside(aside));
            }
            let Some(first) = state.jobs.front() else {
                if state.closed {
                    return None;
                }
                state.wanted = 1;
                state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
                continue;
            };
            let waited = first.queued.elapsed();
            let enough = state.samples >= self.rule.max_samples || state.jobs.len() >= state.last;
            if enough || state.closed || waited >= self.rule.max_delay {
                return Some(Work::Batch(self.batch(&mut state)));
            }
            state.wanted = state.last;
            let left = self.rule.max_delay - waited;
            state = self.changed.wait_timeout(state, left).unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    /// The first request, and those that go with it.
    fn batch(&self, state: &mut State) -> Vec<Job> {
        let (waiting, mut batch, mut samples) = (state.jobs.len(), Vec::new(), 0);
        for _ in 0..waiting {
            let job = state.jobs.pop_front().expect("as many as were counted");
            // Whoever asked is gone.
            if job.reply.is_closed() {
                state.samples -= job.inputs.len();
                continue;
            }
            let fits = samples == 0 || samples + job.inputs.len() <= self.rule.max_samples;
            match fits && batch.first().is_none_or(|first| job.goes_with(first)) {
                true => {
                    samples += job.inputs.len();
                    batch.push(job);
                }
                false => state.jobs.push_back(job),
            }
        }
        state.samples -= samples;
        state.last = batch.len();
        batch
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LONG: Duration = Duration::from_secs(3600);

    fn job(samples: usize, rows: usize) -> (Job, oneshot::Receiver<Answered>) {
        let (reply, answer) = oneshot::channel();
        let inputs = Array::new([samples, rows, 1], vec![0.0; samples * rows]).unwrap();
        (Job { inputs, lengths: Vec::new(), queued: Instant::now(), reply }, answer)
    }

    fn queue(limit: usize, max_samples: usize, max_delay: Duration) -> Queue {
        let queue = Queue::new(limit, BatchRule { max_samples, max_delay });
        queue.hand_to(1);
        queue
    }

    /// The samples of each request in the next batch.
    fn batch(queue: &Queue) -> Vec<usize> {
        match queue.take(1) {
            Some(Work::Batch(jobs)) => jobs.iter().map(|job| job.inputs.len()).collect(),
            _ => panic!("a batch expected"),
        }
    }

    #[test]
    fn requests_that_fit_together_share_a_batch() {
        let queue = queue(100, 8, Duration::ZERO);
        let waiting: Vec<_> =
            [(1, 2), (2, 2), (1, 3), (20, 2), (5, 2), (1, 2), (3, 3)].map(|(n, rows)| job(n, rows)).into();
        let (jobs, mut answers): (Vec<_>, Vec<_>) = waiting.into_iter().unzip();
        jobs.into_iter().for_each(|job| queue.push(job).unwrap());
        assert_eq!(batch(&queue), [1, 2, 5]);
        // Whoever asked for this one is gone.
        drop(answers.remove(5));
        assert_eq!(batch(&queue), [1, 3]);
        assert_eq!(batch(&queue), [20], "a request larger than a batch is alone");
        assert_eq!((queue.len(), queue.lock().samples), (0, 0));
    }

    #[test]
    fn a_full_queue_refuses() {
        let queue = queue(2, 8, LONG);
        let kept: Vec<_> = (0..2).map(|_| job(1, 1)).map(|(job, answer)| (queue.push(job), answer)).collect();
        assert!(kept.iter().all(|(pushed, _)| pushed.is_ok()));
        let refused = queue.push(job(1, 1).0).unwrap_err();
        assert_eq!(refused.status, StatusCode::TOO_MANY_REQUESTS);
        assert!(refused.message.starts_with("2 requests wait for this model"), "{}", refused.message);
        queue.close();
        assert_eq!(queue.push(job(1, 1).0).unwrap_err().status, StatusCode::SERVICE_UNAVAILABLE);
        // What waits is still done, without delay.
        assert_eq!(batch(&queue), [1, 1]);
        assert!(queue.take(1).is_none());
    }

    #[test]
    fn a_batch_waits_for_as_many_requests_as_the_one_before() {
        let queue = queue(100, 8, LONG);
        let mut answers = Vec::new();
        let mut push = |count: usize| {
            for _ in 0..count {
                let (job, answer) = job(1, 1);
                queue.push(job).unwrap();
                answers.push(answer);
            }
        };
        push(3);
        assert_eq!(batch(&queue).len(), 3, "the first has none before it");
        std::thread::scope(|scope| {
            let taker = scope.spawn(|| batch(&queue).len());
            push(3);
            assert_eq!(taker.join().unwrap(), 3);
        });
        push(8);
        assert_eq!(batch(&queue).len(), 8, "a full batch waits for nobody");
    }

    #[test]
    fn a_batch_does_not_wait_longer_than_the_delay() {
        let delay = Duration::from_millis(30);
        let queue = queue(100, 8, delay);
        let mut answers = Vec::new();
        let mut push = |count: usize| {
            for _ in 0..count {
                let (job, answer) = job(1, 1);
                queue.push(job).unwrap();
                answers.push(answer);
            }
        };
        push(3);
        assert_eq!(batch(&queue).len(), 3);
        // Two of the three that were there before do not come again.
        let began = Instant::now();
        push(1);
        assert_eq!(batch(&queue).len(), 1);
        assert!(began.elapsed() >= delay, "{:?}", began.elapsed());
        // From now on one is enough.
        push(1);
        assert_eq!((batch(&queue).len(), queue.lock().last), (1, 1));
    }

    #[test]
    fn another_thread_takes_over() {
        let queue = queue(100, 8, LONG);
        std::thread::scope(|scope| {
            let old = scope.spawn(|| queue.take(1).is_none());
            let new = scope.spawn(|| queue.wait_for_turn(2) && matches!(queue.take(2), Some(Work::Batch(_))));
            queue.hand_to(2);
            let (job, _answer) = job(1, 1);
            queue.push(job).unwrap();
            assert!(old.join().unwrap() && new.join().unwrap());
        });
        assert!(!queue.wait_for_turn(1), "an old net has no turn any more");
    }
}

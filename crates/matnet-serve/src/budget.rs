//! What the bodies of all requests, and of the answers to them, may take together.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use hyper::StatusCode;

use crate::refusal::{Allowed, Refusal};

/// Bytes that may be held at the same time.
pub struct Budget {
    limit: usize,
    used: AtomicUsize,
}

/// The part of a budget that one request holds, until it is dropped.
pub struct Held {
    budget: Arc<Budget>,
    bytes: usize,
}

impl Budget {
    pub fn new(limit: usize) -> Arc<Self> {
        Arc::new(Self { limit, used: AtomicUsize::new(0) })
    }

    /// Bytes that are held now.
    pub fn used(&self) -> usize {
        self.used.load(Ordering::Relaxed)
    }

    /// Nothing yet.
    pub fn hold(self: &Arc<Self>) -> Held {
        Held { budget: self.clone(), bytes: 0 }
    }

    fn full(&self) -> Refusal {
        let what = format!(
            "the bodies of all requests and answers would have more than {} bytes together, which is the limit (--max-bodies); try again later",
            self.limit
        );
        Refusal::new(StatusCode::SERVICE_UNAVAILABLE, what)
    }
}

impl Held {
    /// Holds so many bytes more, if they are there.
    pub fn grow(&mut self, bytes: usize) -> Allowed<()> {
        let Budget { limit, used } = &*self.budget;
        let more = |used: usize| used.checked_add(bytes).filter(|used| used <= limit);
        match used.fetch_update(Ordering::Relaxed, Ordering::Relaxed, more) {
            Ok(_) => {
                self.bytes += bytes;
                Ok(())
            }
            Err(_) => Err(self.budget.full()),
        }
    }

    /// Holds so many bytes for the answer, if they are there, or ever can be.
    pub fn grow_for_answer(&mut self, bytes: usize) -> Allowed<()> {
        let limit = self.budget.limit;
        if bytes > limit {
            let what = format!(
                "the answer would take {bytes} bytes; at most {limit} expected (--max-bodies): ask for fewer samples at once"
            );
            return Err(Refusal::new(StatusCode::PAYLOAD_TOO_LARGE, what));
        }
        self.grow(bytes)
    }

    /// Whether so many bytes more are there now.
    pub fn check(&self, bytes: u64) -> Allowed<()> {
        match bytes <= self.budget.limit.saturating_sub(self.budget.used()) as u64 {
            true => Ok(()),
            false => Err(self.budget.full()),
        }
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        self.budget.used.fetch_sub(self.bytes, Ordering::Relaxed);
    }
}

/// Bytes of an answer, with what its request holds: both are given back once the answer has been written.
pub struct Kept {
    pub bytes: Vec<u8>,
    /// Held, not looked at.
    pub _held: Held,
}

impl AsRef<[u8]> for Kept {
    fn as_ref(&self) -> &[u8] {
        &self.bytes
    }
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;

    use super::*;

    #[test]
    fn what_is_held_comes_back() {
        let budget = Budget::new(10);
        let (mut one, mut two) = (budget.hold(), budget.hold());
        one.grow(4).unwrap();
        two.grow(6).unwrap();
        let refused = one.grow(1).unwrap_err();
        assert_eq!((refused.status, budget.used()), (StatusCode::SERVICE_UNAVAILABLE, 10));
        assert!(one.grow(usize::MAX).is_err() && one.check(1).is_err());
        drop(two);
        one.check(6).unwrap();
        assert!(one.check(7).is_err());
        // An answer holds what its request held, however often its bytes are shared.
        let answer = Bytes::from_owner(Kept { bytes: vec![1, 2, 3], _held: one });
        let part = answer.slice(1..2);
        drop(answer);
        assert_eq!(budget.used(), 4);
        drop(part);
        assert_eq!(budget.used(), 0);
    }
}

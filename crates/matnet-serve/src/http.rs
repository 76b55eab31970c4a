//! Answers, and the reading of bodies.

use bytes::{Bytes, BytesMut};
use http_body_util::{BodyExt, Full};
use hyper::body::{Body, Incoming};
use hyper::header::{self, HeaderMap, HeaderValue};
use hyper::{Response, StatusCode};
use std::sync::Arc;
use std::time::Duration;
use tokio::time::Instant;

use crate::budget::{Budget, Held};
use crate::refusal::{Allowed, Refusal};

/// An answer.
pub type Answer = Response<Full<Bytes>>;

/// How many times the limit is read from a body that is refused, so that its client sees the answer.
const DRAINED: usize = 4;

/// An answer with a body of this type.
pub fn answer(status: StatusCode, content_type: &'static str, body: impl Into<Bytes>) -> Answer {
    let mut answer = Response::new(Full::new(body.into()));
    *answer.status_mut() = status;
    answer.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static(content_type));
    answer
}

/// A JSON answer.
pub fn json(value: &serde_json::Value) -> Answer {
    answer(StatusCode::OK, "application/json", value.to_string())
}

impl From<Refusal> for Answer {
    fn from(refusal: Refusal) -> Self {
        let body = serde_json::json!({ "error": refusal.message }).to_string();
        let mut answer = answer(refusal.status, "application/json", body);
        let headers = answer.headers_mut();
        match refusal.status {
            StatusCode::UNAUTHORIZED => {
                headers.insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
            }
            StatusCode::TOO_MANY_REQUESTS | StatusCode::SERVICE_UNAVAILABLE => {
                headers.insert(header::RETRY_AFTER, HeaderValue::from_static("1"));
            }
            _ => {}
        }
        if let Some(methods) = refusal.allow {
            headers.insert(header::ALLOW, HeaderValue::from_static(methods));
        }
        if refusal.close {
            headers.insert(header::CONNECTION, HeaderValue::from_static("close"));
        }
        answer
    }
}

/// How much may be read, and for how long.
#[derive(Clone)]
pub struct BodyLimits {
    /// Bytes of one body.
    pub bytes: usize,
    /// Bytes of all bodies.
    pub together: Arc<Budget>,
    pub timeout: Duration,
}

/// The bytes of a body, and what they hold of the memory for bodies.
pub struct Whole {
    pub bytes: Bytes,
    pub held: Held,
}

/// The body of a request, as it arrives.
pub struct RequestBody<'a> {
    body: Incoming,
    limits: &'a BodyLimits,
    /// When it has to be there.
    deadline: Instant,
    /// Whether the client waits to be asked for it (`Expect: 100-continue`), which its first reading does.
    held_back: bool,
}

impl<'a> RequestBody<'a> {
    pub fn new(body: Incoming, headers: &HeaderMap, limits: &'a BodyLimits) -> Self {
        let held_back = headers
            .get(header::EXPECT)
            .is_some_and(|value| value.as_bytes().eq_ignore_ascii_case(b"100-continue"));
        Self { body, limits, deadline: Instant::now() + limits.timeout, held_back }
    }

    /// Reads it, within the limits.
    pub async fn read(&mut self) -> Allowed<Whole> {
        let (deadline, timeout) = (self.deadline, self.limits.timeout);
        tokio::time::timeout_at(deadline, self.collect()).await.unwrap_or_else(|_| {
            let what = format!("the body did not arrive within {} s", timeout.as_secs_f64());
            Err(Refusal::new(StatusCode::REQUEST_TIMEOUT, what).closing())
        })
    }

    async fn collect(&mut self) -> Allowed<Whole> {
        let failed = |error: hyper::Error| Refusal::bad(format!("the body broke off: {error}")).closing();
        let (limit, mut held) = (self.limits.bytes, self.limits.together.hold());
        let announced = self.body.size_hint().lower();
        if announced > limit as u64 {
            return Err(too_long(announced, limit));
        }
        // What is announced is held once it is there: an announcement costs its client nothing.
        held.check(announced)?;
        self.held_back = false;
        let mut whole = BytesMut::new();
        while let Some(frame) = self.body.frame().await {
            let part = frame.map_err(failed)?.into_data().unwrap_or_default();
            let size = whole.len() + part.len();
            if size > limit {
                return Err(too_long(size as u64, limit));
            }
            held.grow(part.len())?;
            // A small body comes in one piece, which needs no copy.
            if whole.is_empty() && self.body.is_end_stream() {
                return Ok(Whole { bytes: part, held });
            }
            whole.extend_from_slice(&part);
        }
        Ok(Whole { bytes: whole.freeze(), held })
    }

    /// Reads on for a while before a refusal: a client that is still sending would not see it.
    pub async fn drain(mut self) {
        if self.held_back {
            return;
        }
        let mut left = self.limits.bytes.saturating_mul(DRAINED);
        let rest = async {
            while let Some(Ok(frame)) = self.body.frame().await {
                let size = frame.data_ref().map_or(0, Bytes::len);
                if size >= left {
                    break;
                }
                left -= size;
            }
        };
        let _ = tokio::time::timeout_at(self.deadline, rest).await;
    }
}

fn too_long(bytes: u64, limit: usize) -> Refusal {
    let what = format!("the body has {bytes} bytes or more; at most {limit} expected (--max-body)");
    Refusal::new(StatusCode::PAYLOAD_TOO_LARGE, what).closing()
}

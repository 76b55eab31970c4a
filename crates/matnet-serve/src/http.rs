//! Answers, and the reading of bodies.

use bytes::{Bytes, BytesMut};
use http_body_util::{BodyExt, Full};
use hyper::body::{Body, Incoming};
use hyper::header::{self, HeaderValue};
use hyper::{Response, StatusCode};
use std::sync::Arc;
use std::time::Duration;

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
        if refusal.close {
            headers.insert(header::CONNECTION, HeaderValue::from_static("close"));
        }
        answer
    }
}

/// The body of a request, and what it holds of the memory for bodies.
pub struct RequestBody {
    pub bytes: Bytes,
    pub held: Held,
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

/// Reads a body, within the limits.
pub async fn read_body(body: Incoming, limits: &BodyLimits) -> Allowed<RequestBody> {
    let whole = tokio::time::timeout(limits.timeout, collect(body, limits)).await;
    whole.unwrap_or_else(|_| {
        let what = format!("the body did not arrive within {} s", limits.timeout.as_secs_f64());
        Err(Refusal::new(StatusCode::REQUEST_TIMEOUT, what).closing())
    })
}

async fn collect(mut body: Incoming, limits: &BodyLimits) -> Allowed<RequestBody> {
    let failed = |error: hyper::Error| Refusal::bad(format!("the body broke off: {error}")).closing();
    let (limit, mut held) = (limits.bytes, limits.together.hold());
    let announced = body.size_hint().lower();
    if announced > limit as u64 {
        return Err(refused(body, limit, too_long(announced, limit)).await);
    }
    // What is announced is held once it is there: an announcement costs its client nothing.
    if let Err(refusal) = held.check(announced) {
        return Err(refused(body, limit, refusal).await);
    }
    let mut whole = BytesMut::new();
    while let Some(frame) = body.frame().await {
        let part = frame.map_err(failed)?.into_data().unwrap_or_default();
        let size = whole.len() + part.len();
        let refusal = match size > limit {
            true => Err(too_long(size as u64, limit)),
            false => held.grow(part.len()),
        };
        if let Err(refusal) = refusal {
            drop((whole, part, held));
            return Err(refused(body, limit, refusal).await);
        }
        // A small body comes in one piece, which needs no copy.
        if whole.is_empty() && body.is_end_stream() {
            return Ok(RequestBody { bytes: part, held });
        }
        whole.extend_from_slice(&part);
    }
    Ok(RequestBody { bytes: whole.freeze(), held })
}

fn too_long(bytes: u64, limit: usize) -> Refusal {
    let what = format!("the body has {bytes} bytes or more; at most {limit} expected (--max-body)");
    Refusal::new(StatusCode::PAYLOAD_TOO_LARGE, what)
}

/// Reads on for a while before a refusal: a client that is still sending would not see it.
async fn refused(mut body: Incoming, limit: usize, refusal: Refusal) -> Refusal {
    let mut left = limit.saturating_mul(DRAINED);
    while let Some(Ok(frame)) = body.frame().await {
        let size = frame.data_ref().map_or(0, Bytes::len);
        if size >= left {
            break;
        }
        left -= size;
    }
    refusal.closing()
}

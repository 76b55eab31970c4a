//! Answers, and the reading of bodies.

use bytes::{Bytes, BytesMut};
use http_body_util::{BodyExt, Full};
use hyper::body::{Body, Incoming};
use hyper::header::{self, HeaderValue};
use hyper::{Response, StatusCode};
use std::time::Duration;

/// An answer.
pub type Answer = Response<Full<Bytes>>;

/// How many times the limit is read from a body that is too long, so that its client sees the answer.
const DRAINED: usize = 4;

/// Why a request fails: a status and one sentence.
#[derive(Clone, Debug, PartialEq)]
pub struct Refusal {
    pub status: StatusCode,
    pub message: String,
    /// Whether the connection cannot be used further.
    pub close: bool,
}

impl Refusal {
    pub fn new(status: StatusCode, message: impl Into<String>) -> Self {
        Self { status, message: message.into(), close: false }
    }

    /// The request is wrong.
    pub fn bad(message: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, message)
    }

    fn closing(self) -> Self {
        Self { close: true, ..self }
    }
}

/// Shorthand for anything that may be refused.
pub type Allowed<T> = Result<T, Refusal>;

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

/// Reads a body of at most `limit` bytes within `timeout`.
pub async fn read_body(body: Incoming, limit: usize, timeout: Duration) -> Allowed<Bytes> {
    let whole = tokio::time::timeout(timeout, collect(body, limit)).await;
    whole.unwrap_or_else(|_| {
        let what = format!("the body did not arrive within {} s", timeout.as_secs_f64());
        Err(Refusal::new(StatusCode::REQUEST_TIMEOUT, what).closing())
    })
}

async fn collect(mut body: Incoming, limit: usize) -> Allowed<Bytes> {
    let failed = |error: hyper::Error| Refusal::bad(format!("the body broke off: {error}")).closing();
    let announced = body.size_hint().lower();
    if announced > limit as u64 {
        return Err(too_long(body, limit, announced).await);
    }
    // A small body comes in one piece, which needs no copy.
    let Some(frame) = body.frame().await else { return Ok(Bytes::new()) };
    let first = frame.map_err(failed)?.into_data().unwrap_or_default();
    if body.is_end_stream() && first.len() <= limit {
        return Ok(first);
    }
    let mut whole = BytesMut::from(first);
    while whole.len() <= limit
        && let Some(frame) = body.frame().await
    {
        whole.extend_from_slice(&frame.map_err(failed)?.into_data().unwrap_or_default());
    }
    match whole.len() <= limit {
        true => Ok(whole.freeze()),
        false => {
            let read = whole.len() as u64;
            drop(whole);
            Err(too_long(body, limit, read).await)
        }
    }
}

/// Reads on for a while: a client that is still sending would not see an answer.
async fn too_long(mut body: Incoming, limit: usize, bytes: u64) -> Refusal {
    let mut left = limit.saturating_mul(DRAINED);
    while let Some(Ok(frame)) = body.frame().await {
        let size = frame.data_ref().map_or(0, Bytes::len);
        if size >= left {
            break;
        }
        left -= size;
    }
    let what = format!("the body has {bytes} bytes or more; at most {limit} expected (--max-body)");
    Refusal::new(StatusCode::PAYLOAD_TOO_LARGE, what).closing()
}

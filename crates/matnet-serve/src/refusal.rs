//! Why a request fails.

use hyper::StatusCode;

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

    /// The connection cannot be used further.
    pub fn closing(self) -> Self {
        Self { close: true, ..self }
    }
}

/// Shorthand for anything that may be refused.
pub type Allowed<T> = Result<T, Refusal>;

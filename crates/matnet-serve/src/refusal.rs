//! Why a request fails.

use hyper::{Method, StatusCode};

/// Why a request fails: a status and one sentence.
#[derive(Clone, Debug, PartialEq)]
pub struct Refusal {
    pub status: StatusCode,
    pub message: String,
    /// Whether the connection cannot be used further.
    pub close: bool,
    /// The methods that are possible, where another was tried.
    pub allow: Option<&'static str>,
}

impl Refusal {
    pub fn new(status: StatusCode, message: impl Into<String>) -> Self {
        Self { status, message: message.into(), close: false, allow: None }
    }

    /// The request is wrong.
    pub fn bad(message: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, message)
    }

    /// This method is not possible here; those that are, as the header `Allow` has them.
    pub fn method(tried: &Method, allow: &'static str) -> Self {
        let what = format!("{tried} is not possible here; {allow} expected");
        Self { allow: Some(allow), ..Self::new(StatusCode::METHOD_NOT_ALLOWED, what) }
    }

    /// The connection cannot be used further.
    pub fn closing(self) -> Self {
        Self { close: true, ..self }
    }
}

/// Shorthand for anything that may be refused.
pub type Allowed<T> = Result<T, Refusal>;

//! The Open Inference Protocol (KServe v2): tensors as JSON, or as bytes after the JSON.

mod datatype;
mod metadata;
mod numbers;
mod request;
mod response;

pub use self::metadata::metadata;
use self::metadata::{inputs, outputs};
pub use self::request::InferRequest;
pub use self::response::encode;

/// The header that says how much of a body is JSON, where bytes of tensors follow it.
pub const JSON_LENGTH: &str = "inference-header-content-length";
/// The name of the output with probabilities.
const PROBABILITIES: &str = "probabilities";
/// The name of the output with values or matrices.
const VALUES: &str = "values";
/// The name of the output with the most probable class.
const LABEL: &str = "label";

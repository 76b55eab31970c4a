#![doc = include_str!("../README.md")]
//!
//! A request's way: `server` (hyper) → `route` → `protocol` (tensors) → the `queue` of a `model` → its `batch` → back.

#![forbid(unsafe_code)]

mod batch;
mod budget;
mod connection;
mod current;
mod error;
mod http;
mod metrics;
mod model;
mod options;
mod page;
mod passes;
mod protocol;
mod queue;
mod refusal;
mod reload;
mod route;
mod server;
mod token;

pub use error::ServeError;
pub use options::{ModelSpec, Options};
pub use server::Server;
pub use token::Token;

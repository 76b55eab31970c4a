//! What a server is asked to do.

use std::net::{Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use burn::tensor::Device;
use matnet_train::run::BEST;

use crate::{ServeError, Token};

/// How a server listens, batches and protects itself.
#[derive(Clone)]
pub struct Options {
    /// Where to listen; port 0 takes a free one.
    pub listen: SocketAddr,
    /// Samples per batch, at most.
    pub max_batch: usize,
    /// How long a request may wait for others to share its batch.
    pub max_delay: Duration,
    /// Requests per model that may wait; further ones are answered with 429.
    pub max_queue: usize,
    /// Bytes of a request's body, at most.
    pub max_body: usize,
    /// Bytes that the bodies of all requests have together, from their arrival until the answer is written; beyond it requests are
    /// answered with 503. At least `max_body`.
    pub max_bodies: usize,
    /// Bytes that a forward pass may take, as [`Predictor::pass_bytes`](matnet_train::Predictor::pass_bytes) estimates them. A batch has as many samples as that
    /// allows; a request one of whose samples takes more is answered with 413.
    pub max_pass: u64,
    /// Open connections, at most; further ones are answered with 503.
    pub max_connections: usize,
    /// How long a body, a prediction and the writing of an answer may take, each.
    pub timeout: Duration,
    /// How long a connection may be idle, or take to send the head of a request.
    pub idle_timeout: Duration,
    /// How long requests in flight may take once the server is asked to stop.
    pub grace: Duration,
    /// How often runs are looked at for changes; `None` for never.
    pub reload_every: Option<Duration>,
    /// What a client must present, if anything.
    pub token: Option<Token>,
    /// The file of weights in each run.
    pub weights: String,
    /// Where nets are computed.
    pub device: Device,
    /// Takes a line about what happens: reloads, failures, the end.
    pub log: Arc<dyn Fn(&str) + Send + Sync>,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            listen: (Ipv4Addr::LOCALHOST, 8080).into(),
            max_batch: 128,
            max_delay: Duration::from_millis(1),
            max_queue: 1024,
            max_body: 16 << 20,
            max_bodies: 256 << 20,
            max_pass: 1 << 30,
            max_connections: 16 << 10,
            timeout: Duration::from_secs(30),
            idle_timeout: Duration::from_secs(75),
            grace: Duration::from_secs(30),
            reload_every: Some(Duration::from_secs(1)),
            token: None,
            weights: BEST.to_owned(),
            device: Device::flex(),
            log: Arc::new(|_| ()),
        }
    }
}

/// A run and the name it is served under.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModelSpec {
    /// The name in addresses.
    pub name: String,
    /// The folder of the run.
    pub run: PathBuf,
}

impl ModelSpec {
    /// Reads `PATH`, whose last part is the name, or `NAME=PATH`.
    ///
    /// # Errors
    ///
    /// If there is no name that can stand in an address.
    pub fn parse(text: &str) -> Result<Self, ServeError> {
        // A path with an equals sign is a path if it is there.
        let (name, run) = match text.split_once('=') {
            Some((name, path)) if !Path::new(text).exists() => (name.to_owned(), PathBuf::from(path)),
            _ => {
                let run = PathBuf::from(text);
                let whole = std::path::absolute(&run).unwrap_or_else(|_| run.clone());
                let name = whole.file_name().map(|name| name.to_string_lossy().into_owned());
                (name.unwrap_or_default(), run)
            }
        };
        let plain = |letter: char| letter.is_ascii_alphanumeric() || "._-".contains(letter);
        match !name.is_empty() && name.chars().all(plain) && name != "." && name != ".." {
            true => Ok(Self { name, run }),
            false => Err(ServeError::Usage(format!(
                "{text}: `{name}` cannot be the name of a model; NAME=PATH with a name of letters, digits, ., _ and - expected"
            ))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_those_of_folders_or_given() {
        let spec = |text| ModelSpec::parse(text).map(|spec| (spec.name, spec.run.display().to_string()));
        let both = |name: &str, run: &str| (name.to_owned(), run.to_owned());
        assert_eq!(spec("runs/digits/").unwrap(), both("digits", "runs/digits/"));
        assert_eq!(spec("runs/../x.y_z-1").unwrap(), both("x.y_z-1", "runs/../x.y_z-1"));
        assert_eq!(spec("d=runs/a=b").unwrap(), both("d", "runs/a=b"));
        for wrong in ["", "/", "runs/my run", "a b=runs/x", "=runs/x", "ü=runs/x", "..=runs/x"] {
            let error = spec(wrong).unwrap_err().to_string();
            assert!(error.starts_with(wrong) && error.contains("NAME=PATH"), "{error}");
        }
    }
}

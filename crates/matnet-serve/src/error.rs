//! Why a server cannot start.

use std::net::SocketAddr;

/// Why a server did not start, or did not end well.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ServeError {
    /// The name, or the number, of models cannot be.
    #[error("{0}")]
    Usage(String),
    /// A run cannot be loaded.
    #[error("model {name}: {error}")]
    Model {
        /// The name of the model.
        name: String,
        /// What is wrong with its run.
        #[source]
        error: matnet_train::Error,
    },
    /// The address cannot be listened on.
    #[error("cannot listen on {address}: {}", matnet_data::describe(source))]
    Listen {
        /// The address.
        address: SocketAddr,
        /// What the operating system said.
        source: std::io::Error,
    },
    /// The operating system refused something else.
    #[error("{what}: {}", matnet_data::describe(source))]
    Io {
        /// What was tried.
        what: String,
        /// What the operating system said.
        source: std::io::Error,
    },
    /// The server stopped before all requests were answered.
    #[error("stopped with {0} requests or connections unfinished")]
    Unfinished(usize),
}

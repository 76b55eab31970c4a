//! What can go wrong, in words for the page.

/// Why a run cannot be used, or an input is none for it.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// `config.toml` cannot be read.
    #[error("config.toml: {0}")]
    Config(String),
    /// The weights cannot be read, or are of another net.
    #[error("best.safetensors: {0}")]
    Weights(String),
    /// The graph cannot be read.
    #[error("graph: {0}")]
    Graph(String),
    /// The config of a net says something that cannot be.
    #[error(transparent)]
    Net(#[from] matnet::ConfigError),
    /// An input does not fit the net.
    #[error("{0}")]
    Input(String),
}

impl From<matnet::weights::WeightsError> for Error {
    fn from(error: matnet::weights::WeightsError) -> Self {
        Self::Weights(error.to_string())
    }
}

impl From<matnet::graph::GraphError> for Error {
    fn from(error: matnet::graph::GraphError) -> Self {
        Self::Graph(error.to_string())
    }
}

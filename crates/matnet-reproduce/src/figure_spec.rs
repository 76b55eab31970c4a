//! What `experiment.toml` says about figures.

use serde::Deserialize;

/// A figure that a description asks for.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FigureSpec {
    pub kind: PlotKind,
    /// The rows it shows; all by default.
    #[serde(default)]
    pub rows: Vec<String>,
    /// The columns it shows; all by default.
    #[serde(default)]
    pub columns: Vec<String>,
}

/// The kinds of figures.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PlotKind {
    /// The table as a bar chart.
    Bars,
    /// Learning curves of training and test.
    Curves,
    /// A metric against the number of hidden units.
    Units,
    /// A metric against the number of parameters.
    Parameters,
    /// A metric against the number of training samples.
    Samples,
    /// U, V and their products in the first layer.
    Maps,
    /// Inputs, targets and outputs.
    Reconstructions,
    /// Predicted frames as strips and as an animation.
    Frames,
    /// Spectrograms of some inputs.
    Spectrogram,
    /// Hidden states in space.
    Embedding,
    /// Inputs, outputs and memory accesses over time.
    Trace,
    /// Attention weights.
    Attention,
}

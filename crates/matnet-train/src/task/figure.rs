//! Figures that only some tasks have.

use image::RgbImage;
use matnet_data::Array;
use matnet_report::chart::{HeatMap, Scatter3d};

/// The kinds of figures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FigureKind {
    /// The last hidden states, placed in space by t-SNE.
    Embedding,
    /// Attention weights of some examples.
    Attention,
    /// Inputs, outputs and memory accesses of one sequence, over time.
    Trace,
}

/// A figure of one of these kinds.
pub enum TaskFigure {
    /// Points in space.
    Embedding(Scatter3d),
    /// A map of weights.
    Attention(HeatMap),
    /// A picture with a name for its file and a caption.
    Trace {
        /// What it shows, in a word.
        name: &'static str,
        /// The picture.
        image: RgbImage,
        /// What it shows, in a sentence.
        caption: String,
    },
}

/// What goes into a net and comes out of it, for some examples.
pub struct ExampleMatrices {
    /// `[n, rows, cols]`, occluded where the data are; `None` for sequences.
    pub input: Option<Array>,
    /// The targets `[n · steps, rows, cols]`.
    pub target: Array,
    /// The outputs `[n · steps, rows, cols]`.
    pub output: Array,
}

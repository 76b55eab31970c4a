//! What a trained net takes and gives, for programs that ask it for predictions.

/// The inputs and outputs of a net on samples.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Interface {
    /// feedforward, sequence-classifier, …
    pub kind: &'static str,
    /// The sides of one raw input, as it stands in the user's files; `None` where any size will do.
    pub input: Vec<Option<usize>>,
    /// Whether inputs are sequences, which may have different lengths.
    pub sequences: bool,
    /// Whether values of inputs may be missing (NaN).
    pub missing: bool,
    /// What the outputs are.
    pub output_kind: OutputKind,
    /// The sides of the output for one input; `None` where the input decides.
    pub output: Vec<Option<usize>>,
    /// A name per class, label or value; empty for matrices.
    pub names: Vec<String>,
}

/// What the outputs of a net are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OutputKind {
    /// Probabilities of classes, of which one is right.
    Classes,
    /// A probability for each of several labels.
    Labels,
    /// Values.
    Values,
    /// Matrices.
    Matrices,
}

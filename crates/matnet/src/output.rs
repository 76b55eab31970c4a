//! What nets on samples learn and return.

/// What a net on samples learns for each of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SampleTarget {
    /// So many numbers, which the task gives a meaning: scores of classes, of which one is right; logits of several labels; or
    /// the values of a regression.
    Class,
    /// So many numbers per time step, as of [`Class`](Self::Class).
    StepClass,
    /// A matrix.
    Matrix,
    /// A matrix per time step.
    StepMatrix,
    /// The matrices that follow the sequence.
    Future,
    /// The input itself.
    Input,
}

impl SampleTarget {
    /// Whether every step of the input sequence has a target.
    pub fn per_step(self) -> bool {
        matches!(self, Self::StepClass | Self::StepMatrix)
    }
}

/// What a net on samples returns for each of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NetOutput {
    /// So many numbers: scores of classes (one score is a logit), logits of labels, or values.
    Classes(usize),
    /// So many numbers at every time step.
    StepClasses(usize),
    /// A matrix of so many rows and columns.
    Matrix([usize; 2]),
    /// A sequence of matrices.
    Sequence {
        /// Its length; `None` if it is that of the input.
        steps: Option<usize>,
        /// Rows and columns of a matrix.
        sides: [usize; 2],
    },
}

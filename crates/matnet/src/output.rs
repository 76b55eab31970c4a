//! What nets on samples learn and return.

/// What a net on samples learns for each of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SampleTarget {
    /// A class.
    Class,
    /// A class per time step.
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

/// What a net on samples returns for each of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NetOutput {
    /// Scores for so many classes; one score is a logit.
    Classes(usize),
    /// Scores for so many classes at every time step.
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

//! What loading by name leaves open.

/// Options of [`load`](super::load()).
#[derive(Clone, Copy, Debug)]
pub struct LoadOptions {
    /// The seed of generated data.
    pub seed: u64,
    /// The number of moving-digit sequences; all 10,000 of them take 3.3 GB.
    pub sequences: usize,
}

impl Default for LoadOptions {
    fn default() -> Self {
        Self { seed: 0, sequences: 100 }
    }
}

//! Seeded generators of data. The same seed gives the same data on every machine, for any number of threads.

pub mod algorithm;
mod moving_digits;
mod simulated_eeg;
mod stories;

pub use moving_digits::{MovingDigits, MovingDigitsConfig};
pub use simulated_eeg::EegSimulator;
pub use stories::StoryGenerator;

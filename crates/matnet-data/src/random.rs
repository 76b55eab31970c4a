//! Named, seeded random streams, so that a result depends on its seed and on nothing else.
//!
//! Each purpose draws from its own stream: asking for one more random patch does not move the split.
//!
//! ```
//! use matnet_data::random::Streams;
//! use rand::Rng;
//!
//! let streams = Streams::new(7);
//! let mut split = streams.stream("split");
//! split.next_u32();
//!
//! // Save where a stream stands, and go on from there in another process.
//! let saved = split.position();
//! let mut again = streams.stream_at("split", saved);
//! assert_eq!(split.next_u64(), again.next_u64());
//! ```

use std::convert::Infallible;

use rand::{Rng, SeedableRng, TryRng};
use rand_chacha::ChaCha8Rng;
use sha2::{Digest, Sha256};

/// The source of all streams of one seed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Streams {
    seed: u64,
}

impl Streams {
    /// The streams of `seed`.
    pub fn new(seed: u64) -> Self {
        Self { seed }
    }

    /// The seed all streams come from.
    pub fn seed(&self) -> u64 {
        self.seed
    }

    /// The stream called `name`, from its beginning.
    pub fn stream(&self, name: &str) -> Stream {
        // Hashing keeps names with a common beginning, and neighbouring seeds, unrelated.
        let key = Sha256::new().chain_update(self.seed.to_le_bytes()).chain_update(name).finalize();
        Stream { rng: ChaCha8Rng::from_seed(key.into()) }
    }

    /// The stream called `name`, from a [`Stream::position`] saved earlier.
    pub fn stream_at(&self, name: &str, position: u64) -> Stream {
        let mut stream = self.stream(name);
        stream.rng.set_word_pos(position.into());
        stream
    }
}

/// One stream of random numbers; use it like any other generator of `rand`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stream {
    rng: ChaCha8Rng,
}

impl Stream {
    /// How many 32-bit words have been drawn: enough to continue with [`Streams::stream_at`].
    pub fn position(&self) -> u64 {
        // 2^64 words would take centuries to draw.
        self.rng.get_word_pos() as u64
    }
}

impl TryRng for Stream {
    type Error = Infallible;

    fn try_next_u32(&mut self) -> Result<u32, Infallible> {
        Ok(self.rng.next_u32())
    }

    fn try_next_u64(&mut self) -> Result<u64, Infallible> {
        Ok(self.rng.next_u64())
    }

    fn try_fill_bytes(&mut self, bytes: &mut [u8]) -> Result<(), Infallible> {
        self.rng.fill_bytes(bytes);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rand::seq::SliceRandom;

    use super::*;

    #[test]
    fn names_and_seeds_are_unrelated() {
        let first = |seed, name| Streams::new(seed).stream(name).next_u64();
        assert_eq!(first(1, "split"), first(1, "split"));
        assert_ne!(first(1, "split"), first(1, "splits"));
        assert_ne!(first(1, "split"), first(2, "split"));
        // The seed's bytes must not run into the name's.
        assert_ne!(first(0, "\0"), first(0, ""));
    }

    /// Recorded splits and figures rest on these numbers: a new `rand` that changes them must be noticed.
    #[test]
    fn numbers_stay_the_same_across_versions() {
        let mut stream = Streams::new(0).stream("split");
        let mut order: Vec<u8> = (0..10).collect();
        order.shuffle(&mut stream);
        assert_eq!((order, stream.next_u32()), (vec![9, 7, 3, 8, 4, 0, 1, 2, 6, 5], 3_773_698_116));
    }

    proptest! {
        #[test]
        fn a_saved_position_goes_on_where_it_stopped(seed: u64, drawn in 0usize..300) {
            let streams = Streams::new(seed);
            let mut stream = streams.stream("noise");
            for _ in 0..drawn {
                stream.next_u32();
            }
            let mut again = streams.stream_at("noise", stream.position());
            prop_assert_eq!(stream.next_u64(), again.next_u64());
            prop_assert_eq!(stream.position(), again.position());
        }
    }
}

//! Named, seeded random generators.
//!
//! Everything random in matnet (splits, initial weights, dropout masks, noise) is drawn from a [`SeededRng`] that the caller
//! passes in, never from the device or the clock. So a seed determines a run on every device.

#![forbid(unsafe_code)]

use std::convert::Infallible;

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng, TryRng};

/// A random generator that is determined by a seed and a name.
///
/// Generators of different names are independent, so that drawing more numbers from one does not change those of another.
/// It is a generator of the `rand` crate.
///
/// ```
/// use matnet_random::SeededRng;
///
/// let mut rng = SeededRng::new(42, "dropout");
/// assert_eq!(rng.uniform(), SeededRng::new(42, "dropout").uniform());
/// assert_ne!(rng.uniform(), SeededRng::new(42, "noise").uniform());
/// ```
#[derive(Clone, Debug)]
pub struct SeededRng(Option<ChaCha8Rng>);

impl SeededRng {
    /// The generator of this name under this seed.
    pub fn new(seed: u64, name: &str) -> Self {
        let mut key = [0; 32];
        key[..8].copy_from_slice(&seed.to_le_bytes());
        let mut rng = ChaCha8Rng::from_seed(key);
        rng.set_stream(hash(name));
        Self(Some(rng))
    }

    /// A generator that gives only zeros, for values that are about to be replaced.
    pub fn zeros() -> Self {
        Self(None)
    }

    /// Whether it gives only zeros.
    pub fn is_zeros(&self) -> bool {
        self.0.is_none()
    }

    /// A uniform number in [0, 1) with 53 random bits.
    pub fn uniform(&mut self) -> f64 {
        (self.next_u64() >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// A standard normal number.
    pub fn normal(&mut self) -> f64 {
        if self.is_zeros() {
            return 0.0;
        }
        // Box–Muller; the second number is not kept, so that every call draws the same amount.
        let radius = (-2.0 * (1.0 - self.uniform()).ln()).sqrt();
        radius * (std::f64::consts::TAU * self.uniform()).cos()
    }

    /// True with this probability.
    pub fn chance(&mut self, probability: f64) -> bool {
        f64::from(self.next_u32()) < probability * (1_u64 << 32) as f64
    }

    /// A uniform integer in 0..n, or 0 when n is 0.
    pub fn below(&mut self, n: usize) -> usize {
        // The high half of a 64×64-bit product; the bias is below n / 2^64.
        ((u128::from(self.next_u64()) * n as u128) >> 64) as usize
    }
}

impl TryRng for SeededRng {
    type Error = Infallible;

    fn try_next_u32(&mut self) -> Result<u32, Infallible> {
        self.0.as_mut().map_or(Ok(0), |rng| rng.try_next_u32())
    }

    fn try_next_u64(&mut self) -> Result<u64, Infallible> {
        self.0.as_mut().map_or(Ok(0), |rng| rng.try_next_u64())
    }

    fn try_fill_bytes(&mut self, bytes: &mut [u8]) -> Result<(), Infallible> {
        match &mut self.0 {
            Some(rng) => rng.try_fill_bytes(bytes),
            None => {
                bytes.fill(0);
                Ok(())
            }
        }
    }
}

/// FNV-1a, so that a name selects the same stream on every machine and in every version.
fn hash(name: &str) -> u64 {
    name.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_seeds_are_unrelated() {
        let first = |seed, name| SeededRng::new(seed, name).next_u64();
        assert_eq!(first(1, "split"), first(1, "split"));
        assert_ne!(first(1, "split"), first(1, "splits"));
        assert_ne!(first(1, "split"), first(2, "split"));
        assert_ne!(first(0, "\0"), first(0, ""));
    }

    /// Recorded splits and figures rest on these numbers: a new `rand` that changes them must be noticed.
    #[test]
    fn numbers_stay_the_same_across_versions() {
        use rand::seq::SliceRandom;
        let mut rng = SeededRng::new(0, "split");
        let mut order: Vec<u8> = (0..10).collect();
        order.shuffle(&mut rng);
        assert_eq!((order, rng.next_u32()), (vec![0, 8, 9, 6, 4, 5, 7, 1, 2, 3], 3_492_521_903));
    }

    #[test]
    fn the_numbers_have_the_right_moments() {
        let mut rng = SeededRng::new(1, "moments");
        let n = 200_000;
        let normal: Vec<f64> = (0..n).map(|_| rng.normal()).collect();
        let mean = normal.iter().sum::<f64>() / n as f64;
        let variance = normal.iter().map(|x| x * x).sum::<f64>() / n as f64;
        assert!(mean.abs() < 0.01 && (variance - 1.0).abs() < 0.02, "{mean} {variance}");
        let hits = (0..n).filter(|_| rng.chance(0.2)).count() as f64 / n as f64;
        assert!((hits - 0.2).abs() < 0.01, "{hits}");
        assert!((0..1000).all(|_| rng.below(3) < 3));
    }
}

//! Checksums of numbers.

use sha2::{Digest, Sha256};

use crate::Array;
use crate::pieces::Pieces;

/// A SHA-256.
pub type Sum = [u8; 32];

/// Adds numbers to a checksum, as little-endian bytes. Data larger than memory go through here, so it must not be slow.
pub fn add_numbers(hash: &mut Sha256, numbers: &[f32]) {
    let mut buffer = [0; 1 << 14];
    for chunk in numbers.chunks(buffer.len() / 4) {
        let bytes = &mut buffer[..4 * chunk.len()];
        for (place, number) in bytes.as_chunks_mut().0.iter_mut().zip(chunk) {
            *place = number.to_le_bytes();
        }
        hash.update(bytes);
    }
}

/// The checksum of the numbers of a piece.
pub fn of_piece(numbers: &[f32]) -> Sum {
    let mut hash = Sha256::new();
    add_numbers(&mut hash, numbers);
    hash.finalize().into()
}

/// The checksum of samples of this shape: over the shape and the checksums of all their [pieces](Pieces), so that several processes can
/// compute it together.
pub fn of_pieces(shape: &[usize], pieces: &[Sum]) -> Sum {
    let mut hash = Sha256::new();
    hash.update(format!("{shape:?}"));
    hash.update(pieces.as_flattened());
    hash.finalize().into()
}

/// The checksum of samples in memory.
pub fn of_samples(samples: &Array) -> Sum {
    let (shape, size) = (samples.shape(), samples.shape().iter().skip(1).product::<usize>());
    let pieces = Pieces::of(shape);
    let piece = |at: usize| {
        let samples_of = pieces.samples(at);
        of_piece(&samples.data()[samples_of.start * size..samples_of.end * size])
    };
    of_pieces(shape, &(0..pieces.count()).map(piece).collect::<Vec<_>>())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_checksum_is_that_of_the_bytes() {
        for count in [0, 1, 4095, 4096, 4097, 10_000] {
            let numbers: Vec<f32> = (0..count).map(|at| (at as f32).sin()).collect();
            let bytes: Vec<u8> = numbers.iter().flat_map(|x| x.to_le_bytes()).collect();
            assert_eq!(of_piece(&numbers), <Sum>::from(Sha256::digest(&bytes)), "{count} numbers");
        }
    }

    /// As anybody could compute it.
    #[test]
    fn samples_have_the_checksum_of_the_checksums_of_their_pieces() {
        let numbers: Vec<f32> = (0..5 << 16).map(|at| at as f32).collect();
        let bytes: Vec<u8> = numbers.iter().flat_map(|x| x.to_le_bytes()).collect();
        let samples = Array::new([5, 256, 256], numbers).unwrap();
        let mut hash = Sha256::new();
        hash.update("[5, 256, 256]");
        // Four samples are a MiB.
        hash.update(Sha256::digest(&bytes[..1 << 20]));
        hash.update(Sha256::digest(&bytes[1 << 20..]));
        assert_eq!(of_samples(&samples), <Sum>::from(hash.finalize()));
    }
}

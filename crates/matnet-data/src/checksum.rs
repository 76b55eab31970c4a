//! Checksums of numbers.

use sha2::{Digest, Sha256};

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_checksum_is_that_of_the_bytes() {
        for count in [0, 1, 4095, 4096, 4097, 10_000] {
            let numbers: Vec<f32> = (0..count).map(|at| (at as f32).sin()).collect();
            let bytes: Vec<u8> = numbers.iter().flat_map(|x| x.to_le_bytes()).collect();
            let mut hash = Sha256::new();
            add_numbers(&mut hash, &numbers);
            assert_eq!(hash.finalize(), Sha256::digest(&bytes), "{count} numbers");
        }
    }
}

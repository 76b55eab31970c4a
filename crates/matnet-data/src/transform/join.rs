//! From sequences of matrices to one matrix each.

use crate::{Array, Error, Result, memory};

/// Puts the matrices of a sequence beside each other: `[n, time, rows, cols]` becomes `[n, rows, time · cols]`. Series of columns,
/// `[n, time, channels, 1]`, become `[n, channels, time]`.
pub fn join_steps(sequences: &Array) -> Result<Array> {
    let &[count, time, rows, cols] = sequences.shape() else {
        let what =
            format!("shape {:?} holds no sequences; [n, time, rows, cols] expected", sequences.shape());
        return Err(Error::Invalid(what));
    };
    let mut joined = memory::filled(0.0, sequences.data().len(), "joined steps")?;
    for (at, out) in joined.chunks_exact_mut((time * rows * cols).max(1)).enumerate() {
        for (place, row) in sequences.sample(at).chunks_exact(cols.max(1)).enumerate() {
            let to = (place % rows * time + place / rows) * cols;
            out[to..to + cols].copy_from_slice(row);
        }
    }
    Array::new([count, rows, time * cols], joined)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_lie_beside_each_other() {
        // Two samples of three steps of 2×2.
        let values: Vec<f32> = (0..24_u8).map(f32::from).collect();
        let joined = join_steps(&Array::new([2, 3, 2, 2], values).unwrap()).unwrap();
        assert_eq!(joined.shape(), [2, 2, 6]);
        assert_eq!(joined.sample(0), [0., 1., 4., 5., 8., 9., 2., 3., 6., 7., 10., 11.]);
        assert_eq!(joined.sample(1)[..4], [12., 13., 16., 17.]);
        let columns = Array::new([1, 3, 2, 1], vec![0., 10., 1., 11., 2., 12.]).unwrap();
        assert_eq!(join_steps(&columns).unwrap().sample(0), [0., 1., 2., 10., 11., 12.]);
        assert!(join_steps(&Array::new([1, 3, 2], vec![0.; 6]).unwrap()).is_err());
    }
}

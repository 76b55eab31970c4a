//! The logarithm of values that span several orders of magnitude.

use crate::transform::Channels;
use crate::{Array, Error, Result};

/// x becomes ln(x + offset).
///
/// Key `offset`, above 0; default 1, so that 0 stays 0 (`log1p`). A smaller offset tells small values further apart.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct Log {
    /// What is added first.
    pub offset: f64,
}

impl Default for Log {
    fn default() -> Self {
        Self { offset: 1.0 }
    }
}

impl Log {
    /// Fails unless the offset is a number above 0.
    pub fn check(&self) -> Result<()> {
        match self.offset > 0.0 && self.offset.is_finite() {
            true => Ok(()),
            false => Err(Error::Invalid(format!("offset {}: a number above 0 expected", self.offset))),
        }
    }

    /// Takes the logarithm of `data` in place; padding stays as it is. Fails where a value is too small; NaN stays.
    pub fn apply(&self, data: &mut Array, lengths: &[usize]) -> Result<()> {
        self.check()?;
        let channels = Channels::of(data)?;
        let used = channels.used_steps(data, lengths)?;
        for (at, (sample, used)) in
            data.data_mut().chunks_exact_mut(channels.size().max(1)).zip(used).enumerate()
        {
            for (place, x) in sample.iter_mut().enumerate() {
                if used < channels.steps && channels.step(place) >= used {
                    continue;
                }
                let shifted = f64::from(*x) + self.offset;
                if shifted <= 0.0 {
                    return Err(Error::Invalid(format!(
                        "sample {at} holds {x}: with offset {} a logarithm needs values above {}",
                        self.offset, -self.offset
                    )));
                }
                *x = shifted.ln() as f32;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn zero_stays_zero_and_padding_is_left_alone() {
        let mut data = Array::new([1, 3, 1, 1], vec![0.0, 1.0, 7.0]).unwrap();
        Log::default().apply(&mut data, &[2]).unwrap();
        assert_eq!(data.data(), [0.0, std::f32::consts::LN_2, 7.0]);
        let mut data = Array::new([1, 1, 2], vec![0.5, f32::NAN]).unwrap();
        Log { offset: 0.5 }.apply(&mut data, &[]).unwrap();
        assert!(data.data()[0] == 0.0 && data.data()[1].is_nan());
    }

    #[test]
    fn values_below_the_offset_are_refused() {
        let mut data = Array::new([2, 1, 1], vec![0.0, -1.0]).unwrap();
        let message = Log::default().apply(&mut data, &[]).unwrap_err().to_string();
        assert_eq!(message, "sample 1 holds -1: with offset 1 a logarithm needs values above -1");
        let message = Log { offset: 0.0 }.check().unwrap_err().to_string();
        assert_eq!(message, "offset 0: a number above 0 expected");
    }
}

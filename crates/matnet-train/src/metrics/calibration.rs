//! Calibration: whether what is predicted with probability p comes true in a share p of the cases.

use super::weight;

/// The examples with probabilities in one interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CalibrationBin {
    /// Their mean probability.
    pub predicted: f64,
    /// The share of them that came true.
    pub observed: f64,
    /// How many.
    pub examples: usize,
}

/// The examples in `bins` intervals of equal width between 0 and 1; those without examples are left out.
pub fn calibration(
    came_true: impl IntoIterator<Item = bool>,
    probabilities: impl IntoIterator<Item = f32>,
    weights: Option<&[f32]>,
    bins: usize,
) -> Vec<CalibrationBin> {
    // weight, weight · probability, weight of those that came true, examples
    let mut sums = vec![(0.0, 0.0, 0.0, 0_usize); bins];
    for (at, (came_true, probability)) in came_true.into_iter().zip(probabilities).enumerate() {
        let (probability, weight) = (f64::from(probability), weight(weights, at));
        // An edge belongs to the interval below it, as in scikit-learn.
        let bin = ((probability * bins as f64).ceil() as usize).clamp(1, bins) - 1;
        let sum = &mut sums[bin];
        sum.0 += weight;
        sum.1 += weight * probability;
        sum.2 += if came_true { weight } else { 0.0 };
        sum.3 += 1;
    }
    let used = sums.into_iter().filter(|sum| sum.0 > 0.0);
    used.map(|(weight, probability, observed, examples)| CalibrationBin {
        predicted: probability / weight,
        observed: observed / weight,
        examples,
    })
    .collect()
}

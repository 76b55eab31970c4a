//! Loops over all numbers of a net outside of tensors, for steps in shards. They stand in this crate because it is compiled with all optimisations.

use burn::tensor::TensorData;

/// The numbers of a tensor in 32 bits.
pub fn to_f32(data: TensorData) -> Vec<f32> {
    data.convert::<f32>().try_into_vec().expect("converted just now")
}

/// Adds `weight` times each number to its sum.
pub fn add_weighted(sums: &mut [f64], weight: f64, numbers: &[f32]) {
    for (sum, &number) in sums.iter_mut().zip(numbers) {
        *sum += weight * f64::from(number);
    }
}

/// Appends the sums, each divided by the same number.
pub fn append_divided(sums: &[f64], by: f64, into: &mut Vec<f32>) {
    into.extend(sums.iter().map(|sum| (sum / by) as f32));
}

//! t-SNE: an embedding of high-dimensional points in three dimensions.

/// Iterations in all, and those with early exaggeration.
const ITERATIONS: usize = 500;
const EARLY: usize = 100;
const EXAGGERATION: f64 = 12.0;

/// Embeds points with `num_features` features each in three dimensions by exact t-SNE (van der Maaten and Hinton, 2008).
///
/// `perplexity` is about the number of neighbours that count for a point. `init` holds the initial position of every
/// point; the same input gives the same output. Time is quadratic in the number of points: use it for a few thousand.
///
/// ```
/// // Two groups of 20 points each.
/// let points: Vec<f32> = (0..40).flat_map(|i| [(i / 20 * 9) as f32, (i % 20) as f32 / 20.0]).collect();
/// let init = (0..40).map(|i| [1e-4 * f64::from(i * 7 % 11), 1e-4 * f64::from(i * 5 % 13), 0.0]).collect();
/// let placed = matnet_report::tsne(&points, 2, 5.0, init);
/// let apart = |a: usize, b: usize| (0..3).map(|i| (placed[a][i] - placed[b][i]).powi(2)).sum::<f64>();
/// assert!((1..20).all(|near| (20..40).all(|far| apart(near, near - 1) < apart(near, far))));
/// ```
///
/// # Panics
///
/// If `points` does not have `num_features` values for each position in `init`.
pub fn tsne(points: &[f32], num_features: usize, perplexity: f64, init: Vec<[f64; 3]>) -> Vec<[f64; 3]> {
    let count = init.len();
    assert_eq!(points.len(), count * num_features, "t-SNE: one initial position for every point");
    if count < 2 {
        return init;
    }
    let joint = joint_probabilities(points, num_features, count, perplexity.clamp(1.0, (count - 1) as f64));
    let rate = (count as f64 / EXAGGERATION).max(50.0);
    let mut positions = init;
    let mut velocity = vec![[0.0; 3]; count];
    let mut gain = vec![[1.0_f64; 3]; count];
    let mut kernels = vec![0.0; count * count];
    for step in 0..ITERATIONS {
        let exaggeration = if step < EARLY { EXAGGERATION } else { 1.0 };
        let momentum = if step < EARLY { 0.5 } else { 0.8 };
        let mut total = 0.0;
        for i in 0..count {
            for j in i + 1..count {
                let kernel = 1.0 / (1.0 + square(positions[i], positions[j]));
                kernels[i * count + j] = kernel;
                kernels[j * count + i] = kernel;
                total += 2.0 * kernel;
            }
        }
        for i in 0..count {
            let mut gradient = [0.0; 3];
            for j in (0..count).filter(|&j| j != i) {
                let kernel = kernels[i * count + j];
                let weight = (exaggeration * joint[i * count + j] - kernel / total) * kernel;
                for axis in 0..3 {
                    gradient[axis] += 4.0 * weight * (positions[i][axis] - positions[j][axis]);
                }
            }
            for axis in 0..3 {
                let same = (gradient[axis] > 0.0) == (velocity[i][axis] > 0.0);
                gain[i][axis] = if same { (gain[i][axis] * 0.8).max(0.01) } else { gain[i][axis] + 0.2 };
                velocity[i][axis] = momentum * velocity[i][axis] - rate * gain[i][axis] * gradient[axis];
            }
        }
        for (position, velocity) in positions.iter_mut().zip(&velocity) {
            for axis in 0..3 {
                position[axis] += velocity[axis];
            }
        }
    }
    positions
}

fn square(a: [f64; 3], b: [f64; 3]) -> f64 {
    (0..3).map(|axis| (a[axis] - b[axis]).powi(2)).sum()
}

/// The symmetric probabilities pᵢⱼ that i and j are neighbours; they sum to 1.
fn joint_probabilities(points: &[f32], num_features: usize, count: usize, perplexity: f64) -> Vec<f64> {
    let row = |i: usize| &points[i * num_features..(i + 1) * num_features];
    let mut shares = vec![0.0; count * count];
    for i in 0..count {
        let apart: Vec<f64> = (0..count)
            .map(|j| row(i).iter().zip(row(j)).map(|(a, b)| f64::from(a - b).powi(2)).sum())
            .collect();
        // Bisection for the precision β at which the entropy is ln(perplexity).
        let nearest = (0..count).filter(|&j| j != i).map(|j| apart[j]).fold(f64::INFINITY, f64::min);
        let (mut low, mut high, mut precision) = (0.0, f64::INFINITY, 1.0);
        let line = &mut shares[i * count..(i + 1) * count];
        for _ in 0..60 {
            let mut sum = 0.0;
            for j in 0..count {
                line[j] = if j == i { 0.0 } else { (-precision * (apart[j] - nearest)).exp() };
                sum += line[j];
            }
            let mean = (0..count).map(|j| line[j] * (apart[j] - nearest)).sum::<f64>() / sum;
            line.iter_mut().for_each(|share| *share /= sum);
            let entropy = sum.ln() + precision * mean;
            if entropy > perplexity.ln() {
                low = precision;
                precision = if high.is_finite() { (low + high) / 2.0 } else { 2.0 * precision };
            } else {
                high = precision;
                precision = (low + high) / 2.0;
            }
        }
    }
    let mut both = vec![0.0; count * count];
    for i in 0..count {
        for j in 0..count {
            both[i * count + j] = (shares[i * count + j] + shares[j * count + i]) / (2.0 * count as f64);
        }
    }
    both
}

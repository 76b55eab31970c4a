//! t-SNE: points of many numbers as points in space, neighbours near each other.

/// Steps in all, and those at the beginning that draw neighbours together more strongly.
const STEPS: usize = 500;
const EARLY: usize = 100;
const EXAGGERATION: f64 = 12.0;

/// Places points of `width` numbers in space so that near ones stay near (van der Maaten and Hinton, 2008). Each point has
/// about `perplexity` neighbours that count. The way begins at `first`, which decides it: the same input gives the same
/// output. Every pair is looked at in every step, which suits some thousand points.
///
/// ```
/// // Two groups of 20 points each.
/// let points: Vec<f32> = (0..40).flat_map(|i| [(i / 20 * 9) as f32, (i % 20) as f32 / 20.0]).collect();
/// let first = (0..40).map(|i| [1e-4 * f64::from(i * 7 % 11), 1e-4 * f64::from(i * 5 % 13), 0.0]).collect();
/// let placed = matnet_report::tsne(&points, 2, 5.0, first);
/// let apart = |a: usize, b: usize| (0..3).map(|i| (placed[a][i] - placed[b][i]).powi(2)).sum::<f64>();
/// assert!((1..20).all(|near| (20..40).all(|far| apart(near, near - 1) < apart(near, far))));
/// ```
///
/// # Panics
///
/// If there is not a first place for every point.
pub fn tsne(points: &[f32], width: usize, perplexity: f64, first: Vec<[f64; 3]>) -> Vec<[f64; 3]> {
    let count = first.len();
    assert_eq!(points.len(), count * width, "t-SNE: a first place for every point");
    if count < 2 {
        return first;
    }
    let near = neighbourhoods(points, width, count, perplexity.clamp(1.0, (count - 1) as f64));
    let rate = (count as f64 / EXAGGERATION).max(50.0);
    let mut places = first;
    let mut speed = vec![[0.0; 3]; count];
    let mut gain = vec![[1.0_f64; 3]; count];
    let mut pull = vec![0.0; count * count];
    for step in 0..STEPS {
        let strength = if step < EARLY { EXAGGERATION } else { 1.0 };
        let momentum = if step < EARLY { 0.5 } else { 0.8 };
        let mut total = 0.0;
        for i in 0..count {
            for j in i + 1..count {
                let kernel = 1.0 / (1.0 + square(places[i], places[j]));
                pull[i * count + j] = kernel;
                pull[j * count + i] = kernel;
                total += 2.0 * kernel;
            }
        }
        for i in 0..count {
            let mut force = [0.0; 3];
            for j in (0..count).filter(|&j| j != i) {
                let kernel = pull[i * count + j];
                let weight = (strength * near[i * count + j] - kernel / total) * kernel;
                for axis in 0..3 {
                    force[axis] += 4.0 * weight * (places[i][axis] - places[j][axis]);
                }
            }
            for axis in 0..3 {
                let same = (force[axis] > 0.0) == (speed[i][axis] > 0.0);
                gain[i][axis] = if same { (gain[i][axis] * 0.8).max(0.01) } else { gain[i][axis] + 0.2 };
                speed[i][axis] = momentum * speed[i][axis] - rate * gain[i][axis] * force[axis];
            }
        }
        for (place, speed) in places.iter_mut().zip(&speed) {
            for axis in 0..3 {
                place[axis] += speed[axis];
            }
        }
    }
    places
}

fn square(a: [f64; 3], b: [f64; 3]) -> f64 {
    (0..3).map(|axis| (a[axis] - b[axis]).powi(2)).sum()
}

/// pᵢⱼ: how much j counts as a neighbour of i, and i of j, over all 1.
fn neighbourhoods(points: &[f32], width: usize, count: usize, perplexity: f64) -> Vec<f64> {
    let row = |i: usize| &points[i * width..(i + 1) * width];
    let mut shares = vec![0.0; count * count];
    for i in 0..count {
        let apart: Vec<f64> = (0..count)
            .map(|j| row(i).iter().zip(row(j)).map(|(a, b)| f64::from(a - b).powi(2)).sum())
            .collect();
        // The sharpness β at which the entropy is that of `perplexity` neighbours that count alike.
        let nearest = (0..count).filter(|&j| j != i).map(|j| apart[j]).fold(f64::INFINITY, f64::min);
        let (mut low, mut high, mut sharp) = (0.0, f64::INFINITY, 1.0);
        let line = &mut shares[i * count..(i + 1) * count];
        for _ in 0..60 {
            let mut sum = 0.0;
            for j in 0..count {
                line[j] = if j == i { 0.0 } else { (-sharp * (apart[j] - nearest)).exp() };
                sum += line[j];
            }
            let mean = (0..count).map(|j| line[j] * (apart[j] - nearest)).sum::<f64>() / sum;
            line.iter_mut().for_each(|share| *share /= sum);
            let entropy = sum.ln() + sharp * mean;
            if entropy > perplexity.ln() {
                low = sharp;
                sharp = if high.is_finite() { (low + high) / 2.0 } else { 2.0 * sharp };
            } else {
                high = sharp;
                sharp = (low + high) / 2.0;
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

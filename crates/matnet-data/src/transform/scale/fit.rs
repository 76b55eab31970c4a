//! Fitting a scaling, piece by piece.

use super::{Padding, ScaleMethod, ScalePer, Scaler};
use crate::pieces::{Node, Tree};
use crate::transform::matrix_sides;
use crate::{Array, Error, Result};

/// A scaling that is fitted to [pieces](crate::pieces) of the samples as they come, for those that are not in memory together. Several processes
/// can fit some of the pieces each.
pub struct ScalerFit {
    method: ScaleMethod,
    per: ScalePer,
    rows: usize,
    cols: usize,
    pieces: Tree<Vec<Stats>>,
}

/// What a scaling needs to know of the samples of a piece.
pub struct PieceFit {
    per: ScalePer,
    rows: usize,
    cols: usize,
    stats: Vec<Stats>,
}

impl ScalerFit {
    /// For matrices of this size.
    pub fn new(method: ScaleMethod, per: ScalePer, rows: usize, cols: usize) -> Self {
        Self { method, per, rows, cols, pieces: Tree::default() }
    }

    /// A piece without samples so far.
    pub fn piece(&self) -> PieceFit {
        let Self { per, rows, cols, .. } = *self;
        PieceFit { per, rows, cols, stats: vec![Stats::default(); per.count(rows, cols)] }
    }

    /// Adds the next piece.
    pub fn push(&mut self, piece: usize, fitted: PieceFit) {
        self.pieces.push(Node { first: piece, count: 1, found: fitted.stats }, joined);
    }

    /// What was found in the pieces so far, for another process.
    pub fn to_bytes(&self) -> Vec<u8> {
        let words = |node: &Node<Vec<Stats>>| {
            let stats = node.found.iter().flat_map(Stats::to_words);
            [node.first as u64, node.count as u64].into_iter().chain(stats).collect::<Vec<_>>()
        };
        self.pieces.nodes().iter().flat_map(words).flat_map(u64::to_le_bytes).collect()
    }

    /// Adds what another process has found in the next pieces.
    pub fn push_bytes(&mut self, bytes: &[u8]) -> Result<()> {
        let words: Vec<u64> = bytes.as_chunks().0.iter().map(|word| u64::from_le_bytes(*word)).collect();
        let size = 2 + Stats::WORDS * self.per.count(self.rows, self.cols);
        if !bytes.len().is_multiple_of(8 * size) {
            let what =
                format!("a scale fitted in part has {} bytes, no multiple of {}", bytes.len(), 8 * size);
            return Err(Error::Invalid(what));
        }
        for node in words.chunks_exact(size) {
            let (place, stats) = node.split_at(2);
            let found = stats.as_chunks().0.iter().map(Stats::of_words).collect();
            self.pieces.push(Node { first: place[0] as usize, count: place[1] as usize, found }, joined);
        }
        Ok(())
    }

    /// The scaling; fails without samples.
    pub fn finish(self) -> Result<Scaler> {
        let Self { method, per, rows, cols, pieces } = self;
        let stats = pieces.finish(joined).unwrap_or_default();
        if stats.is_empty() || stats.iter().any(|stats| stats.count == 0.0) {
            return Err(Error::Invalid("no training samples to fit a scale to".into()));
        }
        let (shift, scale) = stats.iter().map(|stats| stats.shift_and_scale(method)).unzip();
        Ok(Scaler { per, rows, cols, shift, scale })
    }
}

impl PieceFit {
    /// Adds samples of this weight; `lengths` as in [`Scaler::fit_padded`].
    pub fn add(&mut self, data: &Array, lengths: &[usize], weight: f64) -> Result<()> {
        let sides = matrix_sides(data)?;
        if sides != (self.rows, self.cols) {
            let what = format!("a scale for {}×{} matrices, these are {sides:?}", self.rows, self.cols);
            return Err(Error::Invalid(what));
        }
        let padding = Padding::of(data, lengths)?;
        (0..data.len()).for_each(|at| self.add_sample(data.sample(at), weight, padding.of_sample(at)));
        Ok(())
    }

    pub(super) fn add_sample(&mut self, sample: &[f32], weight: f64, outside: impl Fn(usize) -> bool) {
        if weight == 0.0 {
            return;
        }
        for (place, &x) in sample.iter().enumerate().filter(|(place, _)| !outside(*place)) {
            self.stats[self.per.slot(place, self.rows, self.cols)].add(x.into(), weight);
        }
    }
}

/// What is known of two neighbours.
fn joined(mut first: Vec<Stats>, second: Vec<Stats>) -> Vec<Stats> {
    first.iter_mut().zip(&second).for_each(|(first, second)| first.join(second));
    first
}

/// Running mean and variance (Welford), minimum and maximum.
#[derive(Clone, Debug)]
struct Stats {
    count: f64,
    mean: f64,
    spread: f64,
    low: f64,
    high: f64,
}

impl Default for Stats {
    fn default() -> Self {
        Self { count: 0.0, mean: 0.0, spread: 0.0, low: f64::INFINITY, high: f64::NEG_INFINITY }
    }
}

impl Stats {
    /// Numbers in it.
    const WORDS: usize = 5;

    fn add(&mut self, x: f64, weight: f64) {
        self.count += weight;
        let before = x - self.mean;
        self.mean += before * weight / self.count;
        self.spread += before * weight * (x - self.mean);
        self.low = self.low.min(x);
        self.high = self.high.max(x);
    }

    /// Adds what is known of the samples that follow (Chan, Golub and LeVeque).
    fn join(&mut self, next: &Self) {
        if next.count == 0.0 {
            return;
        }
        if self.count == 0.0 {
            *self = next.clone();
            return;
        }
        let (count, between) = (self.count + next.count, next.mean - self.mean);
        self.spread += next.spread + between * between * (self.count * next.count / count);
        self.mean += between * (next.count / count);
        self.count = count;
        self.low = self.low.min(next.low);
        self.high = self.high.max(next.high);
    }

    fn to_words(&self) -> [u64; Self::WORDS] {
        [self.count, self.mean, self.spread, self.low, self.high].map(f64::to_bits)
    }

    fn of_words(words: &[u64; Self::WORDS]) -> Self {
        let [count, mean, spread, low, high] = words.map(f64::from_bits);
        Self { count, mean, spread, low, high }
    }

    fn shift_and_scale(&self, method: ScaleMethod) -> (f32, f32) {
        let (shift, scale) = match method {
            ScaleMethod::Standardize => (self.mean, (self.spread / self.count).sqrt()),
            ScaleMethod::MinMax => (self.low, self.high - self.low),
        };
        // A constant keeps its scale: dividing by almost 0 would blow it up in the test set.
        let scale = scale as f32;
        (shift as f32, if scale.is_normal() { scale } else { 1.0 })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pieces::Pieces;
    use crate::transform::scale::weight_of;

    /// Seven pieces and a half.
    const SHAPE: [usize; 4] = [30, 4, 128, 128];

    fn data() -> Array {
        let number = |at: usize| (at * 7919 % 1009) as f32 / 100.0 + (at >> 20) as f32;
        Array::new(SHAPE, (0..SHAPE.iter().product()).map(number).collect()).unwrap()
    }

    fn fit(method: ScaleMethod, per: ScalePer) -> ScalerFit {
        ScalerFit::new(method, per, SHAPE[2], SHAPE[3])
    }

    #[test]
    fn any_number_of_processes_fit_the_same_bits() {
        let data = data();
        let (pieces, weights) = (Pieces::of(&SHAPE), [1.0, 0.0, 2.5]);
        let train: Vec<usize> = (0..30).map(|at| at * 7 % 30).filter(|at| !(8..12).contains(at)).collect();
        let (groups, weights): (_, Vec<f32>) =
            (pieces.group(&train), (0..30).map(|at| weights[at % 3]).collect());
        let share = |rank: usize, ranks: usize| 8 * rank / ranks..8 * (rank + 1) / ranks;
        for method in [ScaleMethod::Standardize, ScaleMethod::MinMax] {
            for per in [ScalePer::Whole, ScalePer::Row, ScalePer::Column, ScalePer::Entry] {
                let whole = Scaler::fit_weighted(method, per, &data, &[], &train, &weights).unwrap();
                for ranks in [1, 2, 3, 4, 9] {
                    let mut all = fit(method, per);
                    for rank in 0..ranks {
                        let mut own = fit(method, per);
                        for piece in share(rank, ranks) {
                            let mut fitted = own.piece();
                            for &at in &groups[piece] {
                                let sample = data.select(&[at]).unwrap();
                                fitted.add(&sample, &[], weight_of(&weights, at)).unwrap();
                            }
                            own.push(piece, fitted);
                        }
                        all.push_bytes(&own.to_bytes()).unwrap();
                    }
                    assert_eq!(all.finish().unwrap(), whole, "{method:?} per {per:?} on {ranks} ranks");
                }
            }
        }
    }

    #[test]
    fn pieces_together_have_the_mean_and_the_deviation_of_all() {
        let data = data();
        let train: Vec<usize> = (0..30).collect();
        let scaler = Scaler::fit(ScaleMethod::Standardize, ScalePer::Whole, &data, &train).unwrap();
        let numbers = || data.data().iter().map(|&x| f64::from(x));
        let count = data.data().len() as f64;
        let mean = numbers().sum::<f64>() / count;
        let deviation = (numbers().map(|x| (x - mean).powi(2)).sum::<f64>() / count).sqrt();
        let (_, shift, scale) = scaler.parts();
        assert_eq!((shift, scale), (&[mean as f32][..], &[deviation as f32][..]));
    }

    #[test]
    fn a_message_that_is_cut_off_is_refused() {
        let mut own = fit(ScaleMethod::MinMax, ScalePer::Row);
        own.push(0, own.piece());
        let (bytes, mut all) = (own.to_bytes(), fit(ScaleMethod::MinMax, ScalePer::Row));
        assert_eq!(bytes.len(), 16 + 128 * 40);
        let message = all.push_bytes(&bytes[1..]).unwrap_err().to_string();
        assert_eq!(message, "a scale fitted in part has 5135 bytes, no multiple of 5136");
    }
}

//! Means over a few seeds, and whether a difference between two nets is more than their luck: Student's t.

use std::collections::BTreeMap;

/// Mean, standard deviation and best of some numbers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Spread {
    /// The mean.
    pub mean: f64,
    /// The sample standard deviation; `None` for a single number.
    pub deviation: Option<f64>,
    /// The smallest.
    pub best: f64,
    /// How many.
    pub count: usize,
}

impl Spread {
    /// Of some numbers; `None` if there are none.
    pub fn of(numbers: impl IntoIterator<Item = f64>) -> Option<Self> {
        let numbers: Vec<f64> = numbers.into_iter().collect();
        let count = numbers.len();
        let mean = numbers.iter().sum::<f64>() / count as f64;
        let squares = numbers.iter().map(|number| (number - mean).powi(2)).sum::<f64>();
        let best = numbers.iter().copied().reduce(f64::min)?;
        Some(Self {
            mean,
            deviation: (count > 1).then(|| (squares / (count - 1) as f64).sqrt()),
            best,
            count,
        })
    }
}

/// The confidence of all intervals.
const CONFIDENCE: f64 = 0.95;

/// How many seeds or folds settle a difference at least. Two say hardly anything of the spread: where their differences happen to be
/// equal, as error rates on few samples often are, the interval has no width.
pub const MIN_SEEDS: usize = 3;

/// The difference of two means with its 95 % confidence interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Difference {
    /// The mean of the first minus the mean of the second.
    pub mean: f64,
    /// Half the width of the interval; `None` with too few numbers to tell.
    pub half_width: Option<f64>,
    /// How many differences, if they are paired.
    pub pairs: Option<usize>,
    /// How many numbers there are on the side that has fewer.
    pub fewest: usize,
}

impl Difference {
    /// Of numbers by seed (or by seed and fold): paired where both have the same keys, since the same seeds have the same splits
    /// and what is hard for both cancels; else by Welch's test. `None` if one side is empty.
    pub fn of<K: Ord>(first: &BTreeMap<K, f64>, second: &BTreeMap<K, f64>) -> Option<Self> {
        if first.keys().eq(second.keys()) {
            let spread = Spread::of(first.values().zip(second.values()).map(|(a, b)| a - b))?;
            return Some(Self {
                mean: spread.mean,
                half_width: half_width(spread),
                pairs: Some(spread.count),
                fewest: spread.count,
            });
        }
        let (a, b) = (Spread::of(first.values().copied())?, Spread::of(second.values().copied())?);
        // The squared standard error of a mean, and its degrees of freedom.
        let square =
            |spread: Spread| Some((spread.deviation?.powi(2) / spread.count as f64, spread.count - 1));
        let half_width = square(a).zip(square(b)).map(|((first, m), (second, n))| {
            let sum = first + second;
            let freedom = sum * sum / (first * first / m as f64 + second * second / n as f64);
            if sum == 0.0 { 0.0 } else { t_quantile(0.5 + CONFIDENCE / 2.0, freedom) * sum.sqrt() }
        });
        Some(Self { mean: a.mean - b.mean, half_width, pairs: None, fewest: a.count.min(b.count) })
    }

    /// Of numbers by seed and a fixed number.
    pub fn from_number<K: Ord>(first: &BTreeMap<K, f64>, number: f64) -> Option<Self> {
        let spread = Spread::of(first.values().map(|value| value - number))?;
        Some(Self { mean: spread.mean, half_width: half_width(spread), pairs: None, fewest: spread.count })
    }

    /// The same over the folds of a cross-validation. Their training samples overlap, so the usual interval is too narrow; the
    /// variance grows by the factor 1 + k · test / training samples, after Nadeau and Bengio.
    pub fn widened_for_folds(mut self, folds: usize) -> Self {
        let folds = folds as f64;
        self.half_width = self.half_width.map(|half| half * (1.0 + folds / (folds - 1.0)).sqrt());
        self
    }

    /// Whether the interval excludes 0: the sign of the difference is settled. Fewer than [`MIN_SEEDS`] numbers settle nothing.
    pub fn is_settled(self) -> bool {
        self.fewest >= MIN_SEEDS && self.half_width.is_some_and(|half| self.mean.abs() > half)
    }
}

/// Half the width of the confidence interval of a mean.
fn half_width(spread: Spread) -> Option<f64> {
    let error = spread.deviation? / (spread.count as f64).sqrt();
    Some(t_quantile(0.5 + CONFIDENCE / 2.0, (spread.count - 1) as f64) * error)
}

/// The quantile of Student's t distribution with so many degrees of freedom, by bisection of its distribution function.
pub fn t_quantile(probability: f64, freedom: f64) -> f64 {
    if probability < 0.5 {
        return -t_quantile(1.0 - probability, freedom);
    }
    let mut high = 1.0;
    while t_cdf(high, freedom) < probability && high < 1e300 {
        high *= 2.0;
    }
    let mut low = 0.0;
    // Bisection down to neighbouring numbers.
    loop {
        let middle = 0.5 * (low + high);
        if middle <= low || middle >= high {
            return middle;
        }
        if t_cdf(middle, freedom) < probability { low = middle } else { high = middle }
    }
}

/// The distribution function of Student's t.
fn t_cdf(t: f64, freedom: f64) -> f64 {
    let tail = 0.5 * incomplete_beta(freedom / (freedom + t * t), 0.5 * freedom, 0.5);
    if t > 0.0 { 1.0 - tail } else { tail }
}

/// The regularized incomplete beta function I_x(a, b), by its continued fraction (Lentz's method).
fn incomplete_beta(x: f64, a: f64, b: f64) -> f64 {
    if x <= 0.0 || x >= 1.0 {
        return x.clamp(0.0, 1.0);
    }
    // The fraction converges fast on this side of the mean only.
    if x > (a + 1.0) / (a + b + 2.0) {
        return 1.0 - incomplete_beta(1.0 - x, b, a);
    }
    let front = (ln_gamma(a + b) - ln_gamma(a) - ln_gamma(b) + a * x.ln() + b * (-x).ln_1p()).exp() / a;
    let away_from_zero = |value: f64| if value.abs() < 1e-300 { 1e-300 } else { value };
    let mut c = 1.0;
    let mut d = 1.0 / away_from_zero(1.0 - (a + b) * x / (a + 1.0));
    let mut fraction = d;
    for step in 1..500 {
        let m = f64::from(step);
        let even = m * (b - m) * x / ((a + 2.0 * m - 1.0) * (a + 2.0 * m));
        let odd = -(a + m) * (a + b + m) * x / ((a + 2.0 * m) * (a + 2.0 * m + 1.0));
        let before = fraction;
        for numerator in [even, odd] {
            d = 1.0 / away_from_zero(1.0 + numerator * d);
            c = away_from_zero(1.0 + numerator / c);
            fraction *= c * d;
        }
        if (fraction / before - 1.0).abs() < 1e-16 {
            break;
        }
    }
    front * fraction
}

/// log Γ(x) for x > 0: Stirling's series, after the argument is shifted to where it is exact.
fn ln_gamma(mut x: f64) -> f64 {
    let mut shift = 0.0;
    while x < 15.0 {
        shift -= x.ln();
        x += 1.0;
    }
    let inverse = 1.0 / x;
    let square = inverse * inverse;
    let terms = [1.0 / 12.0, -1.0 / 360.0, 1.0 / 1260.0, -1.0 / 1680.0, 1.0 / 1188.0, -691.0 / 360_360.0];
    let series = terms.iter().rev().fold(0.0, |sum, term| sum * square + term) * inverse;
    shift + (x - 0.5) * x.ln() - x + 0.5 * (2.0 * std::f64::consts::PI).ln() + series
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spreads_are_those_of_samples() {
        let spread = Spread::of([2.0, 4.0, 4.0, 6.0]).unwrap();
        assert_eq!((spread.mean, spread.best, spread.count), (4.0, 2.0, 4));
        assert!((spread.deviation.unwrap() - (8.0_f64 / 3.0).sqrt()).abs() < 1e-12);
        assert_eq!(Spread::of([3.0]).unwrap().deviation, None);
        assert_eq!(Spread::of([]), None);
    }

    /// Frozen numbers of scipy.stats.t and of its t-tests.
    #[test]
    fn quantiles_are_those_of_scipy() {
        for (freedom, p975, p95) in [
            (1.0, 12.706204736174694, 6.313751514675037),
            (2.0, 4.302652729749462, 2.9199855803537242),
            (3.0, 3.1824463052837078, 2.3533634348018233),
            (4.0, 2.7764451051977934, 2.1318467863266495),
            (9.0, 2.262157162798205, 1.833112932656237),
            (29.0, 2.045229642132703, 1.6991270265334972),
            (99.0, 1.9842169515864174, 1.6603911560169906),
        ] {
            for (probability, wanted) in [(0.975, p975), (0.95, p95), (0.025, -p975)] {
                let found = t_quantile(probability, freedom);
                assert!((found / wanted - 1.0).abs() < 1e-9, "{probability} {freedom}: {found}");
            }
        }
        assert!((t_quantile(0.975, 7.3) / 2.345066736547703 - 1.0).abs() < 1e-9);
        assert!((t_quantile(0.6, 2.5) / 0.2814595127485477 - 1.0).abs() < 1e-9);
        assert!((t_cdf(1.5, 4.0) - 0.896).abs() < 1e-12);
        assert!((t_cdf(-0.3, 1.0) - 0.4072264209222577).abs() < 1e-12);
    }

    #[test]
    fn intervals_are_those_of_scipy() {
        let by_seed = |values: &[f64]| (1_u64..).zip(values.iter().copied()).collect::<BTreeMap<_, _>>();
        let a = by_seed(&[5.0, 7.0, 6.5, 5.8]);
        let interval = |difference: Option<Difference>| {
            let Difference { mean, half_width, .. } = difference.unwrap();
            [mean - half_width.unwrap(), mean + half_width.unwrap()]
        };
        let close = |found: [f64; 2], wanted: [f64; 2]| {
            assert!(found.iter().zip(wanted).all(|(a, b)| (a - b).abs() < 1e-9), "{found:?}");
        };
        // ttest_rel, ttest_ind(equal_var=False), ttest_1samp
        let paired = Difference::of(&a, &by_seed(&[4.2, 6.1, 6.4, 5.0]));
        close(interval(paired), [0.06174938452605405, 1.2382506154739459]);
        assert!(paired.unwrap().is_settled() && paired.unwrap().pairs == Some(4));
        let welch = Difference::of(&a, &by_seed(&[4.2, 6.1, 6.4]));
        close(interval(welch), [-1.874931770404047, 2.8915984370707126]);
        assert!(!welch.unwrap().is_settled() && welch.unwrap().pairs.is_none());
        close(interval(Difference::from_number(&a, 4.0)), [4.691611663582354 - 4.0, 7.458388336417646 - 4.0]);
    }

    #[test]
    fn one_or_two_seeds_settle_nothing() {
        let one = BTreeMap::from([(1, 5.0)]);
        let difference = Difference::of(&one, &BTreeMap::from([(1, 1.0)])).unwrap();
        assert_eq!((difference.mean, difference.half_width, difference.is_settled()), (4.0, None, false));
        assert!(!Difference::of(&one, &BTreeMap::from([(1, 1.0), (2, 1.0)])).unwrap().is_settled());
        assert_eq!(Difference::of(&one, &BTreeMap::new()), None);
        // Equal numbers: no difference, and an interval of width 0.
        let two = BTreeMap::from([(1, 5.0), (2, 6.0)]);
        assert!(!Difference::of(&two, &two).unwrap().is_settled());
        // Equal differences of two seeds: the interval has width 0, but two seeds are too few. Three are enough.
        let better = BTreeMap::from([(1, 4.0), (2, 5.0)]);
        let difference = Difference::of(&better, &two).unwrap();
        assert_eq!(
            (difference.half_width, difference.fewest, difference.is_settled()),
            (Some(0.0), 2, false)
        );
        assert!(!Difference::from_number(&BTreeMap::from([(1, 4.0), (2, 4.0)]), 5.0).unwrap().is_settled());
        let (mut better, mut three) = (better, two.clone());
        better.insert(3, 4.5);
        three.insert(3, 5.5);
        assert!(Difference::of(&better, &three).unwrap().is_settled());
        // Three on one side, two on the other.
        assert_eq!(Difference::of(&better, &two).unwrap().fewest, 2);
    }
}

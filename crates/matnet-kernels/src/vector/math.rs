//! exp, sigmoid and tanh on vectors of `f32`, and a logarithm that loops can be made of.
//!
//! exp follows the usual road: x = n·ln 2 + r with |r| ≤ ½ ln 2, a polynomial for exp(r), 2ⁿ by bits.
//! Sigmoid and tanh come from it; tanh of small arguments has its own odd polynomial, so that it keeps
//! its relative accuracy near zero. The tests hold all three against `f64`.

use super::Vector;

/// What exp needs beyond arithmetic.
pub(crate) trait Exponent: Vector<Elem = f32> {
    /// `a` within the bounds; NaN stays NaN.
    fn clamp(self, a: Self::V, low: f32, high: f32) -> Self::V;
    /// The nearest whole number.
    fn round(self, a: Self::V) -> Self::V;
    /// 2ⁿ for a whole n from −126 to 127.
    fn power_of_two(self, n: Self::V) -> Self::V;
    /// a / b
    fn div(self, a: Self::V, b: Self::V) -> Self::V;
    /// `small` where |a| < limit, else `large`.
    fn select_small(self, a: Self::V, limit: f32, small: Self::V, large: Self::V) -> Self::V;
}

/// exp(x), for x within ±87.
#[inline(always)]
pub(crate) fn exp<S: Exponent>(s: S, x: S::V) -> S::V {
    const LN2_HIGH: f32 = 0.693_359_4;
    const LN2_LOW: f32 = -2.121_944_4e-4;
    let x = s.clamp(x, -87.0, 87.0);
    let n = s.round(s.mul(x, s.splat(std::f32::consts::LOG2_E)));
    let r = s.mul_add(n, s.splat(-LN2_HIGH), x);
    let r = s.mul_add(n, s.splat(-LN2_LOW), r);
    // 1 + r + r²/2 + … + r⁷/5040: the first term left out is below 6e-9 for |r| ≤ ½ ln 2.
    let mut sum = s.splat(1.0 / 5040.0);
    for coefficient in [1.0 / 720.0, 1.0 / 120.0, 1.0 / 24.0, 1.0 / 6.0, 0.5, 1.0, 1.0] {
        sum = s.mul_add(sum, r, s.splat(coefficient));
    }
    s.mul(sum, s.power_of_two(n))
}

/// 1 / (1 + exp(−x))
#[inline(always)]
pub(crate) fn sigmoid<S: Exponent>(s: S, x: S::V) -> S::V {
    let one = s.splat(1.0);
    let e = exp(s, s.sub(s.splat(0.0), x));
    s.div(one, s.add(one, e))
}

/// tanh(x)
#[inline(always)]
pub(crate) fn tanh<S: Exponent>(s: S, x: S::V) -> S::V {
    let one = s.splat(1.0);
    // 1 − 2 / (exp(2x) + 1)
    let e = exp(s, s.add(x, x));
    let large = s.sub(one, s.div(s.splat(2.0), s.add(e, one)));
    // The Taylor series x − x³/3 + 2x⁵/15 − 17x⁷/315 + 62x⁹/2835 − …, good below ½.
    let x2 = s.mul(x, x);
    let mut sum = s.splat(-929_569.0 / 638_512_875.0);
    for coefficient in
        [21_844.0 / 6_081_075.0, -1_382.0 / 155_925.0, 62.0 / 2_835.0, -17.0 / 315.0, 2.0 / 15.0, -1.0 / 3.0]
    {
        sum = s.mul_add(sum, x2, s.splat(coefficient));
    }
    let small = s.mul_add(s.mul(sum, x2), x, x);
    s.select_small(x, 0.5, small, large)
}

/// log(x) of a normal positive number, without a branch: a loop over it becomes vector code.
///
/// x = 2ᵉ·m with m from √½ to √2, and log m = 2 artanh(t) with t = (m − 1)/(m + 1), whose series 2(t + t³/3 + t⁵/5 + …) is
/// short because |t| stays below 0.172.
#[inline(always)]
pub(crate) fn ln(x: f32) -> f32 {
    const ROOT_HALF: u32 = 0x3f35_04f3;
    // Subtracting the bits of √½ before the exponent is cut off moves its border from 1 to there.
    let above = x.to_bits().wrapping_sub(ROOT_HALF);
    let exponent = (above as i32) >> 23;
    let m = f32::from_bits((above & 0x007f_ffff).wrapping_add(ROOT_HALF));
    let t = (m - 1.0) / (m + 1.0);
    let t2 = t * t;
    let series = (((t2 * (1.0 / 11.0) + 1.0 / 9.0) * t2 + 1.0 / 7.0) * t2 + 0.2) * t2 + 1.0 / 3.0;
    exponent as f32 * std::f32::consts::LN_2 + 2.0 * (t + t * t2 * series)
}

#[cfg(test)]
mod tests {
    use crate::simd::{Kernel, Level, Simd};

    /// sigmoid (or tanh) of every number, a vector at a time.
    struct Squash<'a>(&'a mut [f32], bool);

    impl Kernel<f32> for Squash<'_> {
        type Output = ();

        #[inline(always)]
        fn run<S: Simd<Elem = f32>>(self, s: S) {
            for vector in self.0.chunks_exact_mut(S::LANES) {
                // SAFETY: the chunk is `LANES` long.
                unsafe {
                    let x = s.load(vector.as_ptr());
                    let y = if self.1 { s.sigmoid(x) } else { s.tanh(x) };
                    s.store(vector.as_mut_ptr(), y);
                }
            }
        }
    }

    #[test]
    fn sigmoid_and_tanh_keep_their_relative_accuracy() {
        let small = (1..2000).map(|i| 1e-8 * 1.01f32.powi(i));
        let xs: Vec<f32> = small.clone().chain(small.map(|x| -x)).filter(|x| x.abs() < 80.0).collect();
        let xs = [&xs[..], &vec![0.0; 16 - xs.len() % 16]].concat();
        for level in Level::available() {
            let (mut sigmoids, mut tanhs) = (xs.clone(), xs.clone());
            level.run(Squash(&mut sigmoids, true));
            level.run(Squash(&mut tanhs, false));
            for ((&x, &sigmoid), &tanh) in xs.iter().zip(&sigmoids).zip(&tanhs) {
                let exact = 1.0 / (1.0 + (-f64::from(x)).exp());
                assert!(
                    (f64::from(sigmoid) - exact).abs() <= 4e-7 * exact,
                    "{level:?}: sigmoid({x}) = {sigmoid}"
                );
                let exact = f64::from(x).tanh();
                assert!(
                    (f64::from(tanh) - exact).abs() <= 4e-7 * exact.abs(),
                    "{level:?}: tanh({x}) = {tanh}"
                );
            }
        }
    }

    #[test]
    fn the_logarithm_is_that_of_f64() {
        for i in -2000..2000 {
            let x = 1.04_f32.powi(i).max(f32::MIN_POSITIVE);
            let exact = f64::from(x).ln();
            let error = (f64::from(super::ln(x)) - exact).abs();
            assert!(error <= 2e-7 * exact.abs().max(0.1), "ln({x}) is off by {error}");
        }
        assert_eq!(super::ln(1.0), 0.0);
    }

    #[test]
    fn the_ends_are_right_and_nan_stays() {
        let xs = [f32::INFINITY, f32::NEG_INFINITY, 1e30, -1e30, 100.0, -100.0, f32::NAN, 0.0];
        for level in Level::available() {
            let (mut sigmoids, mut tanhs) = ([xs, xs].concat(), [xs, xs].concat());
            level.run(Squash(&mut sigmoids, true));
            level.run(Squash(&mut tanhs, false));
            for at in [0, 2, 4] {
                assert_eq!((sigmoids[at], tanhs[at]), (1.0, 1.0), "{level:?} at {}", xs[at]);
                assert!(sigmoids[at + 1] < 1e-37, "{level:?} at {}", xs[at + 1]);
                assert_eq!(tanhs[at + 1], -1.0, "{level:?} at {}", xs[at + 1]);
            }
            assert!(sigmoids[6].is_nan() && tanhs[6].is_nan(), "{level:?}");
            assert_eq!((sigmoids[7], tanhs[7]), (0.5, 0.0), "{level:?}");
        }
    }
}

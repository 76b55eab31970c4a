//! What the tests of the kernels share.
#![allow(dead_code)] // Each test file uses some of it.

use matnet_kernels::Level;

/// A small generator, so that the tests need no crate for it.
pub struct Numbers(pub u64);

impl Numbers {
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        self.0 >> 33
    }

    pub fn below(&mut self, limit: usize) -> usize {
        self.next() as usize % limit
    }

    /// Numbers from −1 to 1.
    pub fn list(&mut self, count: usize) -> Vec<f64> {
        self.sized(count, 1.0)
    }

    /// The same in `f32`.
    pub fn singles(&mut self, count: usize) -> Vec<f32> {
        single(&self.list(count))
    }

    /// Numbers from −size to size.
    pub fn sized(&mut self, count: usize, size: f64) -> Vec<f64> {
        (0..count).map(|_| (self.next() as f64 / (1u64 << 31) as f64 * 2.0 - 1.0) * size).collect()
    }
}

pub fn single(values: &[f64]) -> Vec<f32> {
    values.iter().map(|&v| v as f32).collect()
}

/// Does `work` in a pool of so many threads.
pub fn with_threads<R: Send>(threads: usize, work: impl FnOnce() -> R + Send) -> R {
    rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("a pool").install(work)
}

pub fn close(what: &str, got: &[f32], want: &[f64]) {
    assert_eq!(got.len(), want.len(), "{what}");
    let scale = want.iter().fold(1.0f64, |most, v| most.max(v.abs()));
    for (at, (&got, &want)) in got.iter().zip(want).enumerate() {
        let error = (f64::from(got) - want).abs();
        assert!(error <= 1e-5 * scale, "{what}[{at}]: {got} instead of {want}");
    }
}

/// Compares tensors on some levels with those in `f64`. The first of them, the output, has the same bits on all levels that multiply
/// and add in one rounding.
pub fn agree(what: &str, levels: &[Level], want: &[Vec<f64>], run: impl Fn(Level) -> Vec<Vec<f32>>) {
    let mut output: Option<Vec<f32>> = None;
    for &level in levels {
        let got = run(level);
        assert_eq!(got.len(), want.len(), "{level:?} {what}");
        if !format!("{level:?}").starts_with("Portable") {
            let output = output.get_or_insert_with(|| got[0].clone());
            assert!(*output == got[0], "{level:?} {what}: other bits");
        }
        for (at, (got, want)) in got.iter().zip(want).enumerate() {
            close(&format!("{level:?} {what} tensor {at}"), got, want);
        }
    }
}

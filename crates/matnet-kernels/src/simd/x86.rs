//! The jump into code compiled for AVX2 with FMA, and for AVX-512F.

use super::Kernel;
use crate::vector::{Avx2, Avx512, Lanes};

/// Runs a kernel with AVX-512. Reached only through [`Level`](super::Level), which has asked the CPU.
pub(super) fn run_avx512<K: Kernel<f32>>(kernel: K) -> K::Output {
    #[target_feature(enable = "avx512f,avx2,fma")]
    fn enter<K: Kernel<f32>>(kernel: K) -> K::Output {
        // SAFETY: this function has its features.
        kernel.run(unsafe { Avx512::new() })
    }
    // SAFETY: `Vectors::Avx512` is only handed out after the CPU was asked for these features.
    unsafe { enter(kernel) }
}

/// Runs a kernel with AVX2 and FMA. Reached only through [`Level`](super::Level), which has asked the CPU.
pub(super) fn run_avx2<K: Kernel<f32>>(kernel: K) -> K::Output {
    #[target_feature(enable = "avx2,fma")]
    fn enter<K: Kernel<f32>>(kernel: K) -> K::Output {
        // SAFETY: this function has its features.
        kernel.run(unsafe { Avx2::<false>::new() })
    }
    // SAFETY: `Vectors::Avx2` is only handed out after the CPU was asked for these features.
    unsafe { enter(kernel) }
}

/// Runs a kernel with 8 lanes and the 32 registers of AVX-512VL.
pub(super) fn run_avx512_half<K: Kernel<f32>>(kernel: K) -> K::Output {
    #[target_feature(enable = "avx512f,avx512vl,avx2,fma")]
    fn enter<K: Kernel<f32>>(kernel: K) -> K::Output {
        // SAFETY: this function has its features.
        kernel.run(unsafe { Avx2::<true>::new() })
    }
    // SAFETY: `Vectors::Avx512Half` is only handed out after the CPU was asked for these features.
    unsafe { enter(kernel) }
}

/// Runs an `f64` kernel on plain arrays, compiled for AVX2.
pub(super) fn run_f64_avx2<K: Kernel<f64>>(kernel: K) -> K::Output {
    #[target_feature(enable = "avx2,fma")]
    fn enter<K: Kernel<f64>>(kernel: K) -> K::Output {
        kernel.run(Lanes::<f64, 4>::new())
    }
    // SAFETY: the levels that lead here are only handed out after the CPU was asked for these features.
    unsafe { enter(kernel) }
}

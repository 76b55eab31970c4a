//! CPU kernels of matnet on plain slices: the only home of `unsafe` and SIMD.

//! AVX2 with FMA, and AVX-512F.

use std::arch::x86_64::*;

use super::{Vector, math};

/// Whether a CPU with AVX-512 works on 512 bits in one piece. AMD's of family 19h, Zen 4, take two steps of 256.
pub(crate) fn whole_512() -> bool {
    let version = __cpuid(1);
    let family = (version.eax >> 8 & 0xf) + (version.eax >> 20 & 0xff);
    !(is_amd() && family <= 0x19)
}

fn is_amd() -> bool {
    let vendor = __cpuid(0);
    [vendor.ebx, vendor.edx, vendor.ecx].map(u32::to_le_bytes).concat() == b"AuthenticAMD"
}

/// Bytes of the data cache of this level, as the CPU itself says.
pub(crate) fn cache_size(level: u32) -> Option<usize> {
    const INSTRUCTIONS: u32 = 2;
    let (most, leaf) = if is_amd() { (0x8000_0000, 0x8000_001d) } else { (0, 4) };
    if __cpuid(most).eax < leaf {
        return None;
    }
    // The list of caches ends with one of no kind.
    let caches = (0..16).map(|at| __cpuid_count(leaf, at)).take_while(|cache| cache.eax & 31 != 0);
    let mut data = caches.filter(|cache| cache.eax & 31 != INSTRUCTIONS);
    let cache = data.find(|cache| cache.eax >> 5 & 7 == level)?;
    let part = |bits: u32, mask: u32| (bits & mask) as usize + 1;
    let line = part(cache.ebx, 0xfff) * part(cache.ebx >> 12, 0x3ff);
    Some(line * part(cache.ebx >> 22, 0x3ff) * part(cache.ecx, u32::MAX))
}

/// How many threads this CPU runs at once, all cores together.
pub(crate) fn cores() -> Option<usize> {
    const TOPOLOGY: u32 = 0xb;
    if __cpuid(0).eax < TOPOLOGY {
        return None;
    }
    // Threads of a core, then of what holds several, until there is no further level.
    let levels = (0..8).map(|at| __cpuid_count(TOPOLOGY, at)).take_while(|level| level.ecx >> 8 & 0xff != 0);
    levels.map(|level| (level.ebx & 0xffff) as usize).max().filter(|&count| count > 0)
}

/// 8 lanes; `MANY` registers (32, as AVX-512VL has) or 16. A value proves that the CPU has them.
#[derive(Clone, Copy)]
pub(crate) struct Avx2<const MANY: bool>(());

impl<const MANY: bool> Avx2<MANY> {
    /// # Safety
    /// The CPU has AVX2 and FMA, and with `MANY` AVX-512F and AVX-512VL.
    #[inline(always)]
    pub(crate) unsafe fn new() -> Self {
        Self(())
    }
}

/// 16 lanes. A value proves that the CPU has them.
#[derive(Clone, Copy)]
pub(crate) struct Avx512(());

impl Avx512 {
    /// # Safety
    /// The CPU has AVX-512F, AVX2 and FMA.
    #[inline(always)]
    pub(crate) unsafe fn new() -> Self {
        Self(())
    }
}

/// The operations that are written alike for vectors of 256 and of 512 bits, each with one instruction or none.
macro_rules! alike {
    (
        $vector:ty, $set1:ident, $load:ident, $store:ident, $add:ident, $sub:ident, $mul:ident, $fma:ident,
        $max:ident
    ) => {
        #[inline(always)]
        fn splat(self, value: f32) -> $vector {
            // SAFETY: `self` proves the features.
            unsafe { $set1(value) }
        }

        #[inline(always)]
        unsafe fn load(self, from: *const f32) -> $vector {
            // SAFETY: the caller vouches for the pointer, `self` proves the features.
            unsafe { $load(from) }
        }

        #[inline(always)]
        unsafe fn store(self, to: *mut f32, value: $vector) {
            // SAFETY: the caller vouches for the pointer, `self` proves the features.
            unsafe { $store(to, value) }
        }

        #[inline(always)]
        fn add(self, a: $vector, b: $vector) -> $vector {
            // SAFETY: `self` proves the features.
            unsafe { $add(a, b) }
        }

        #[inline(always)]
        fn sub(self, a: $vector, b: $vector) -> $vector {
            // SAFETY: `self` proves the features.
            unsafe { $sub(a, b) }
        }

        #[inline(always)]
        fn mul(self, a: $vector, b: $vector) -> $vector {
            // SAFETY: `self` proves the features.
            unsafe { $mul(a, b) }
        }

        #[inline(always)]
        fn mul_add(self, a: $vector, b: $vector, c: $vector) -> $vector {
            // SAFETY: `self` proves the features.
            unsafe { $fma(a, b, c) }
        }

        #[inline(always)]
        fn max(self, a: $vector, b: $vector) -> $vector {
            // SAFETY: `self` proves the features.
            unsafe { $max(a, b) }
        }

        #[inline(always)]
        fn exp(self, a: $vector) -> $vector {
            math::exp(self, a)
        }

        #[inline(always)]
        fn relu(self, a: $vector) -> $vector {
            self.where_positive(a, a)
        }

        #[inline(always)]
        fn sigmoid(self, a: $vector) -> $vector {
            math::sigmoid(self, a)
        }

        #[inline(always)]
        fn tanh(self, a: $vector) -> $vector {
            math::tanh(self, a)
        }

        #[inline(always)]
        fn prefetch(self, at: *const f32) {
            // SAFETY: a prefetch touches nothing and never faults.
            unsafe { _mm_prefetch::<_MM_HINT_T0>(at.cast()) }
        }
    };
}

// SAFETY: whoever made the value vouches for the features.
unsafe impl<const MANY: bool> Vector for Avx2<MANY> {
    type Elem = f32;
    type V = __m256;
    const LANES: usize = 8;

    alike!(
        __m256,
        _mm256_set1_ps,
        _mm256_loadu_ps,
        _mm256_storeu_ps,
        _mm256_add_ps,
        _mm256_sub_ps,
        _mm256_mul_ps,
        _mm256_fmadd_ps,
        _mm256_max_ps
    );

    #[inline(always)]
    unsafe fn load_first(self, from: *const f32, count: usize) -> __m256 {
        // SAFETY: lanes that the mask leaves out are not touched, `self` proves AVX2.
        unsafe {
            if MANY {
                _mm256_maskz_loadu_ps(first16(count) as __mmask8, from)
            } else {
                _mm256_maskload_ps(from, first8(count))
            }
        }
    }

    #[inline(always)]
    unsafe fn store_first(self, to: *mut f32, value: __m256, count: usize) {
        // SAFETY: lanes that the mask leaves out are not touched, `self` proves AVX2, and with MANY AVX-512VL.
        unsafe {
            if MANY {
                _mm256_mask_storeu_ps(to, first16(count) as __mmask8, value)
            } else {
                store_first8(to, value, count)
            }
        }
    }

    #[inline(always)]
    fn where_positive(self, y: __m256, a: __m256) -> __m256 {
        // SAFETY: `self` proves AVX2. "Not y ≤ 0" holds for NaN.
        unsafe { _mm256_and_ps(_mm256_cmp_ps::<_CMP_NLE_UQ>(y, _mm256_setzero_ps()), a) }
    }

    #[inline(always)]
    fn sum(self, a: __m256) -> f32 {
        // SAFETY: `self` proves AVX2.
        unsafe {
            let half = _mm_add_ps(_mm256_castps256_ps128(a), _mm256_extractf128_ps::<1>(a));
            let pair = _mm_add_ps(half, _mm_movehl_ps(half, half));
            _mm_cvtss_f32(_mm_add_ss(pair, _mm_shuffle_ps::<1>(pair, pair)))
        }
    }

    #[inline(always)]
    fn sum_four(self, [a, b, c, d]: [__m256; 4]) -> [f32; 4] {
        let mut sums = [0.0; 4];
        // SAFETY: `self` proves AVX2, and there is room for four numbers.
        unsafe {
            let all = _mm256_hadd_ps(_mm256_hadd_ps(a, b), _mm256_hadd_ps(c, d));
            let all = _mm_add_ps(_mm256_castps256_ps128(all), _mm256_extractf128_ps::<1>(all));
            _mm_storeu_ps(sums.as_mut_ptr(), all);
        }
        sums
    }

    #[inline(always)]
    unsafe fn transpose(self, from: *const f32, from_stride: usize, to: *mut f32, to_stride: usize) {
        // SAFETY: the caller vouches for 8 rows of 8 numbers on both sides, `self` proves AVX2.
        unsafe { transpose8(from, from_stride, to, to_stride) }
    }
}

impl<const MANY: bool> math::Exponent for Avx2<MANY> {
    #[inline(always)]
    fn clamp(self, a: __m256, low: f32, high: f32) -> __m256 {
        // SAFETY: `self` proves AVX2. The bound stands first so that a NaN in `a` stays.
        unsafe { _mm256_max_ps(self.splat(low), _mm256_min_ps(self.splat(high), a)) }
    }

    #[inline(always)]
    fn round(self, a: __m256) -> __m256 {
        // SAFETY: `self` proves AVX2.
        unsafe { _mm256_round_ps::<{ _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC }>(a) }
    }

    #[inline(always)]
    fn power_of_two(self, n: __m256) -> __m256 {
        // SAFETY: `self` proves AVX2.
        unsafe {
            let biased = _mm256_add_epi32(_mm256_cvtps_epi32(n), _mm256_set1_epi32(127));
            _mm256_castsi256_ps(_mm256_slli_epi32::<23>(biased))
        }
    }

    #[inline(always)]
    fn div(self, a: __m256, b: __m256) -> __m256 {
        // SAFETY: `self` proves AVX2.
        unsafe { _mm256_div_ps(a, b) }
    }

    #[inline(always)]
    fn select_small(self, a: __m256, limit: f32, small: __m256, large: __m256) -> __m256 {
        // SAFETY: `self` proves AVX2.
        unsafe {
            let size = _mm256_andnot_ps(_mm256_set1_ps(-0.0), a);
            _mm256_blendv_ps(large, small, _mm256_cmp_ps::<_CMP_LT_OQ>(size, self.splat(limit)))
        }
    }
}

// SAFETY: whoever made the value vouches for the features.
unsafe impl Vector for Avx512 {
    type Elem = f32;
    type V = __m512;
    const LANES: usize = 16;

    alike!(
        __m512,
        _mm512_set1_ps,
        _mm512_loadu_ps,
        _mm512_storeu_ps,
        _mm512_add_ps,
        _mm512_sub_ps,
        _mm512_mul_ps,
        _mm512_fmadd_ps,
        _mm512_max_ps
    );

    #[inline(always)]
    unsafe fn load_first(self, from: *const f32, count: usize) -> __m512 {
        // SAFETY: lanes that the mask leaves out are not touched, `self` proves AVX-512F.
        unsafe { _mm512_maskz_loadu_ps(first16(count), from) }
    }

    #[inline(always)]
    unsafe fn store_first(self, to: *mut f32, value: __m512, count: usize) {
        // SAFETY: lanes that the mask leaves out are not touched, `self` proves AVX-512F.
        unsafe { _mm512_mask_storeu_ps(to, first16(count), value) }
    }

    #[inline(always)]
    fn where_positive(self, y: __m512, a: __m512) -> __m512 {
        // SAFETY: `self` proves AVX-512F. "Not y ≤ 0" holds for NaN.
        unsafe { _mm512_maskz_mov_ps(_mm512_cmp_ps_mask::<_CMP_NLE_UQ>(y, _mm512_setzero_ps()), a) }
    }

    #[inline(always)]
    fn sum(self, a: __m512) -> f32 {
        // SAFETY: `self` proves AVX-512F.
        unsafe { _mm512_reduce_add_ps(a) }
    }

    #[inline(always)]
    fn sum_four(self, [a, b, c, d]: [__m512; 4]) -> [f32; 4] {
        let mut sums = [0.0; 4];
        // SAFETY: `self` proves AVX-512F, and there is room for four numbers.
        unsafe {
            // Halves of two vectors in one, then quarters of four, then the numbers of each quarter.
            let halves =
                |a, b| _mm512_add_ps(_mm512_shuffle_f32x4::<0x44>(a, b), _mm512_shuffle_f32x4::<0xee>(a, b));
            let (ab, cd) = (halves(a, b), halves(c, d));
            let all =
                _mm512_add_ps(_mm512_shuffle_f32x4::<0x88>(ab, cd), _mm512_shuffle_f32x4::<0xdd>(ab, cd));
            let all = _mm512_add_ps(all, _mm512_permute_ps::<0b01_00_11_10>(all));
            let all = _mm512_add_ps(all, _mm512_permute_ps::<0b10_11_00_01>(all));
            let one_each = _mm512_setr_epi32(0, 5, 10, 15, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0);
            let all = _mm512_castps512_ps128(_mm512_permutexvar_ps(one_each, all));
            _mm_storeu_ps(sums.as_mut_ptr(), all);
        }
        sums
    }

    #[inline(always)]
    unsafe fn transpose(self, from: *const f32, from_stride: usize, to: *mut f32, to_stride: usize) {
        for (i, j) in [(0, 0), (0, 8), (8, 0), (8, 8)] {
            // SAFETY: the caller vouches for 16 rows of 16 numbers on both sides, of which this is a
            // quarter; AVX-512F implies AVX2.
            unsafe {
                transpose8(from.add(i * from_stride + j), from_stride, to.add(j * to_stride + i), to_stride);
            }
        }
    }
}

impl math::Exponent for Avx512 {
    #[inline(always)]
    fn clamp(self, a: __m512, low: f32, high: f32) -> __m512 {
        // SAFETY: `self` proves AVX-512F. The bound stands first so that a NaN in `a` stays.
        unsafe { _mm512_max_ps(self.splat(low), _mm512_min_ps(self.splat(high), a)) }
    }

    #[inline(always)]
    fn round(self, a: __m512) -> __m512 {
        // SAFETY: `self` proves AVX-512F.
        unsafe { _mm512_roundscale_ps::<{ _MM_FROUND_TO_NEAREST_INT }>(a) }
    }

    #[inline(always)]
    fn power_of_two(self, n: __m512) -> __m512 {
        // SAFETY: `self` proves AVX-512F.
        unsafe {
            let biased = _mm512_add_epi32(_mm512_cvtps_epi32(n), _mm512_set1_epi32(127));
            _mm512_castsi512_ps(_mm512_slli_epi32::<23>(biased))
        }
    }

    #[inline(always)]
    fn div(self, a: __m512, b: __m512) -> __m512 {
        // SAFETY: `self` proves AVX-512F.
        unsafe { _mm512_div_ps(a, b) }
    }

    #[inline(always)]
    fn select_small(self, a: __m512, limit: f32, small: __m512, large: __m512) -> __m512 {
        // SAFETY: `self` proves AVX-512F.
        unsafe {
            let mask = _mm512_cmp_ps_mask::<_CMP_LT_OQ>(_mm512_abs_ps(a), self.splat(limit));
            _mm512_mask_blend_ps(mask, large, small)
        }
    }
}

/// A mask of the first `count` of 8 lanes.
///
/// # Safety
/// AVX2 is there.
#[inline(always)]
unsafe fn first8(count: usize) -> __m256i {
    // SAFETY: see above.
    unsafe {
        let lanes = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
        _mm256_cmpgt_epi32(_mm256_set1_epi32(count as i32), lanes)
    }
}

/// A mask of the first `count` of 16 lanes.
#[inline(always)]
fn first16(count: usize) -> __mmask16 {
    ((1_u32 << count) - 1) as __mmask16
}

/// Writes the first `count` of 8 lanes: one whole vector, or pieces of 4, 2 and 1. Masked stores of AVX2 are slow on many CPUs.
///
/// # Safety
/// AVX2 is there, and `to` is valid for writing `count` numbers.
#[inline(always)]
unsafe fn store_first8(to: *mut f32, value: __m256, count: usize) {
    // SAFETY: see above.
    unsafe {
        if count == 8 {
            return _mm256_storeu_ps(to, value);
        }
        let (mut rest, mut at) = (_mm256_castps256_ps128(value), 0);
        if count & 4 != 0 {
            _mm_storeu_ps(to, rest);
            (rest, at) = (_mm256_extractf128_ps::<1>(value), 4);
        }
        if count & 2 != 0 {
            _mm_storel_pd(to.add(at).cast(), _mm_castps_pd(rest));
            (rest, at) = (_mm_movehl_ps(rest, rest), at + 2);
        }
        if count & 1 != 0 {
            _mm_store_ss(to.add(at), rest);
        }
    }
}

/// Transposes 8×8 numbers in registers.
///
/// # Safety
/// AVX2 is there; row i is readable at `from + i · from_stride` and writable at `to + i · to_stride`.
#[inline(always)]
unsafe fn transpose8(from: *const f32, from_stride: usize, to: *mut f32, to_stride: usize) {
    // SAFETY: see above.
    unsafe {
        let row = |i: usize| _mm256_loadu_ps(from.add(i * from_stride));
        let [a, b, c, d, e, f, g, h] = [row(0), row(1), row(2), row(3), row(4), row(5), row(6), row(7)];
        // Pairs of rows, then quadruples, then the two halves.
        let (ab0, ab1) = (_mm256_unpacklo_ps(a, b), _mm256_unpackhi_ps(a, b));
        let (cd0, cd1) = (_mm256_unpacklo_ps(c, d), _mm256_unpackhi_ps(c, d));
        let (ef0, ef1) = (_mm256_unpacklo_ps(e, f), _mm256_unpackhi_ps(e, f));
        let (gh0, gh1) = (_mm256_unpacklo_ps(g, h), _mm256_unpackhi_ps(g, h));
        let ad0 = _mm256_shuffle_ps::<0x44>(ab0, cd0);
        let ad1 = _mm256_shuffle_ps::<0xEE>(ab0, cd0);
        let ad2 = _mm256_shuffle_ps::<0x44>(ab1, cd1);
        let ad3 = _mm256_shuffle_ps::<0xEE>(ab1, cd1);
        let eh0 = _mm256_shuffle_ps::<0x44>(ef0, gh0);
        let eh1 = _mm256_shuffle_ps::<0xEE>(ef0, gh0);
        let eh2 = _mm256_shuffle_ps::<0x44>(ef1, gh1);
        let eh3 = _mm256_shuffle_ps::<0xEE>(ef1, gh1);
        let low = |x, y| _mm256_permute2f128_ps::<0x20>(x, y);
        let high = |x, y| _mm256_permute2f128_ps::<0x31>(x, y);
        let columns = [
            low(ad0, eh0),
            low(ad1, eh1),
            low(ad2, eh2),
            low(ad3, eh3),
            high(ad0, eh0),
            high(ad1, eh1),
            high(ad2, eh2),
            high(ad3, eh3),
        ];
        for (i, column) in columns.into_iter().enumerate() {
            _mm256_storeu_ps(to.add(i * to_stride), column);
        }
    }
}

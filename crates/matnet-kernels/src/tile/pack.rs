//! Operands in the order in which register tiles read them.

use crate::vector::{Number, Vector};

/// A tile of A, `[k][rows]`: entry (i, k) from `from + i · row + k · col`.
///
/// # Safety
/// All entries of A are there, and `to` is writable for `rows · depth` numbers.
#[inline(always)]
pub(super) unsafe fn pack_a<E: Number>(
    from: *const E,
    [row, col]: [usize; 2],
    [rows, depth]: [usize; 2],
    to: *mut E,
) {
    for k in 0..depth {
        for i in 0..rows {
            // SAFETY: as the caller vouches.
            unsafe { *to.add(k * rows + i) = *from.add(i * row + k * col) }
        }
    }
}

/// A panel of B, `[k][width]`, filled up with zeros: entry (k, j) from `from + k · row + j · col`.
///
/// # Safety
/// All entries of B are there, and `to` is writable for `depth · width` numbers; `width` is a number of vectors that
/// holds `cols`.
#[inline(always)]
pub(super) unsafe fn pack_b<S: Vector>(
    s: S,
    from: *const S::Elem,
    [row, col]: [usize; 2],
    [depth, cols]: [usize; 2],
    width: usize,
    to: *mut S::Elem,
) {
    // SAFETY: as the caller vouches.
    unsafe {
        if col == 1 {
            for k in 0..depth {
                let (from, to) = (from.add(k * row), to.add(k * width));
                let mut at = 0;
                while at + S::LANES <= cols {
                    s.store(to.add(at), s.load(from.add(at)));
                    at += S::LANES;
                }
                if at < width {
                    s.store(to.add(at), s.load_first(from.add(at), cols - at));
                }
            }
            return;
        }
        let mut at = 0;
        while at < cols {
            let whole = at + S::LANES <= cols;
            let mut k = 0;
            if whole && row == 1 {
                while k + S::LANES <= depth {
                    s.transpose(from.add(at * col + k), col, to.add(k * width + at), width);
                    k += S::LANES;
                }
            }
            for k in k..depth {
                for j in at..at + S::LANES {
                    let entry = if j < cols { *from.add(k * row + j * col) } else { S::Elem::ZERO };
                    *to.add(k * width + j) = entry;
                }
            }
            at += S::LANES;
        }
    }
}

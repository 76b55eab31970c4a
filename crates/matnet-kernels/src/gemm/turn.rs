//! Turning a matrix.

use crate::simd::{Element, Kernel, Level, Simd};

/// Writes the columns of a matrix as rows that are filled up with zeros. Rows of `from` lie as far apart as `.1` says, those of
/// `to` `plane`, which is whole vectors.
pub(crate) fn turn<E: Element>(
    level: Level,
    from: (&[E], usize),
    [rows, cols]: [usize; 2],
    to: &mut [E],
    plane: usize,
) {
    struct Turn<'a, E>((&'a [E], usize), [usize; 2], &'a mut [E], usize);
    impl<E: Element> Kernel<E> for Turn<'_, E> {
        type Output = ();
        #[inline(always)]
        fn run<S: Simd<Elem = E>>(self, s: S) {
            let Self((from, stride), [rows, cols], to, plane) = self;
            let lanes = S::LANES;
            let mut edge = [[E::ZERO; 16]; 16];
            for r in (0..rows).step_by(lanes) {
                for c in (0..cols).step_by(lanes) {
                    let (height, width) = ((rows - r).min(lanes), (cols - c).min(lanes));
                    // SAFETY: `turn` has compared all sizes: `height` rows of `width` numbers can be read, and `width`
                    // rows of whole vectors be written. `edge` holds 16 ≥ lanes rows of as many.
                    unsafe {
                        let from = from.as_ptr().add(r * stride + c);
                        let to = to.as_mut_ptr().add(c * plane + r);
                        if height == lanes && width == lanes {
                            s.transpose(from, stride, to, plane);
                            continue;
                        }
                        for (i, row) in edge[..lanes].iter_mut().enumerate() {
                            let count = if i < height { width } else { 0 };
                            s.store(row.as_mut_ptr(), s.load_first(from.wrapping_add(i * stride), count));
                        }
                        let edge = edge.as_mut_ptr().cast::<E>();
                        if width == lanes {
                            s.transpose(edge, 16, to, plane);
                        } else {
                            let mut turned = [[E::ZERO; 16]; 16];
                            s.transpose(edge, 16, turned.as_mut_ptr().cast(), 16);
                            for (j, row) in turned[..width].iter().enumerate() {
                                s.store(to.add(j * plane), s.load(row.as_ptr()));
                            }
                        }
                    }
                }
            }
        }
    }
    assert!(rows > 0 && cols > 0 && (rows - 1) * from.1 + cols <= from.0.len(), "the matrix is too short");
    assert!(rows.next_multiple_of(level.lanes::<E>()) <= plane && cols * plane <= to.len());
    level.run(Turn(from, [rows, cols], to, plane));
}

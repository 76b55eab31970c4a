//! How samples lie in vectors.
//!
//! Usually side by side, `[rows][cols][lanes]`, one sample a lane: a batch `[batch, rows, cols]` is cut
//! into blocks of as many samples as a vector has lanes, the last one filled up with zeros, and entry
//! (r, c) of all samples of a block is one vector. Where there are too few samples to fill the lanes, a
//! block is one sample and its columns take the lanes, filled up to whole vectors.

use crate::Activation;
use crate::gemm::View;
use crate::simd::{Element, Kernel, Level, Simd};

/// Where the entries of a block of matrices stand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Layout {
    pub(crate) rows: usize,
    pub(crate) cols: usize,
    pub(crate) lanes: usize,
    /// Distance of two rows.
    pub(crate) plane: usize,
    /// A block is one sample, its columns lie in the lanes.
    pub(crate) alone: bool,
}

impl Layout {
    /// Rows follow each other at an odd number of cache lines: at a power of two, walking down a column
    /// would use a few sets of the cache only. A single column leaves no gaps.
    pub(crate) fn new<E: Element>(level: Level, [rows, cols]: [usize; 2]) -> Self {
        let lanes = level.lanes::<E>();
        let line = 64 / size_of::<E>();
        let lines = (cols * lanes).div_ceil(line);
        let plane = if cols == 1 { lanes } else { (lines | 1) * line };
        Self { rows, cols, lanes, plane, alone: false }
    }

    /// One sample, its columns in the lanes.
    pub(crate) fn alone<E: Element>(level: Level, [rows, cols]: [usize; 2]) -> Self {
        let lanes = level.lanes::<E>();
        Self { rows, cols, lanes, plane: cols.next_multiple_of(lanes), alone: true }
    }

    /// How many vectors a row takes.
    pub(crate) fn vectors(&self) -> usize {
        if self.alone { self.plane / self.lanes } else { self.cols }
    }

    /// How many numbers a block takes.
    pub(crate) fn len(&self) -> usize {
        self.rows * self.plane
    }

    /// Entry (r, c) at `r · .0 + c · .1`.
    pub(crate) fn strides(&self) -> (usize, usize) {
        (self.plane, self.lanes)
    }

    /// The same, rows and columns exchanged.
    pub(crate) fn strides_t(&self) -> (usize, usize) {
        (self.lanes, self.plane)
    }

    /// Views (r, c).
    pub(crate) fn view<'a, E>(&self, data: &'a [E]) -> View<'a, E> {
        View { data, strides: self.strides() }
    }

    /// Views (c, r).
    pub(crate) fn view_t<'a, E>(&self, data: &'a [E]) -> View<'a, E> {
        View { data, strides: self.strides_t() }
    }

    /// Lays samples side by side. `samples` holds at most `lanes` matrices, `stride` apart.
    pub(crate) fn gather<E: Element>(&self, level: Level, samples: &[E], stride: usize, block: &mut [E]) {
        if self.alone {
            for (row, to) in samples.chunks_exact(self.cols).zip(block.chunks_exact_mut(self.plane)) {
                to[..self.cols].copy_from_slice(row);
                to[self.cols..].fill(E::ZERO);
            }
            return;
        }
        level.run(Gather { layout: *self, samples, gradient: None, stride, block });
    }

    /// As [`gather`](Self::gather), with g · f′ in place of g; `outputs` are f's values.
    pub(crate) fn gather_gradient<E: Element>(
        &self,
        level: Level,
        gradients: &[E],
        outputs: &[E],
        activation: Activation,
        block: &mut [E],
    ) {
        let stride = self.rows * self.cols;
        let gradient = (activation != Activation::Identity).then_some((outputs, activation));
        level.run(Gather { layout: *self, samples: gradients, gradient, stride, block });
    }

    /// Takes samples apart again; the counterpart of [`gather`](Self::gather).
    pub(crate) fn scatter<E: Element>(&self, level: Level, block: &[E], samples: &mut [E], stride: usize) {
        if self.alone {
            for (row, to) in block.chunks_exact(self.plane).zip(samples.chunks_exact_mut(self.cols)) {
                to.copy_from_slice(&row[..self.cols]);
            }
            return;
        }
        level.run(Scatter { layout: *self, samples, stride, block });
    }
}

/// How many samples of one matrix each stand in a slice where they are `stride` apart.
fn count(len: usize, stride: usize, size: usize) -> usize {
    assert!(len >= size && stride >= size, "the slice does not hold one sample");
    (len - size) / stride + 1
}

struct Gather<'a, E> {
    layout: Layout,
    samples: &'a [E],
    gradient: Option<(&'a [E], Activation)>,
    stride: usize,
    block: &'a mut [E],
}

impl<E: Element> Kernel<E> for Gather<'_, E> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd<Elem = E>>(self, s: S) {
        let Self { layout: Layout { rows, cols, lanes, plane, .. }, samples, gradient, stride, block } = self;
        let filled = count(samples.len(), stride, rows * cols);
        assert!(lanes == S::LANES && filled <= lanes && rows * plane <= block.len());
        if let Some((outputs, _)) = gradient {
            assert_eq!(outputs.len(), samples.len(), "gradients and outputs differ in size");
        }
        let mut mixed = [[E::ZERO; 16]; 16];
        for r in 0..rows {
            let mut c = 0;
            if filled == lanes {
                while c + lanes <= cols {
                    let at = r * cols + c;
                    let to = block[r * plane + c * lanes..][..lanes * lanes].as_mut_ptr();
                    // SAFETY: the last of `lanes` samples reaches `(lanes − 1) · stride + at + lanes`, which
                    // is within the slice since at + lanes ≤ rows · cols; `to` was just bounded; rows of
                    // `mixed` hold 16 ≥ lanes numbers.
                    unsafe {
                        let from = samples.as_ptr().add(at);
                        if let Some((outputs, activation)) = gradient {
                            let y = outputs.as_ptr().add(at);
                            for (lane, row) in mixed[..lanes].iter_mut().enumerate() {
                                let g = s.load(from.add(lane * stride));
                                let y = s.load(y.add(lane * stride));
                                s.store(row.as_mut_ptr(), activation.backward(s, y, g));
                            }
                            s.transpose(mixed.as_ptr().cast(), 16, to, lanes);
                        } else {
                            s.transpose(from, stride, to, lanes);
                        }
                    }
                    c += lanes;
                }
            }
            for c in c..cols {
                let vector = &mut block[r * plane + c * lanes..][..lanes];
                vector.fill(E::ZERO);
                for (lane, entry) in vector[..filled].iter_mut().enumerate() {
                    *entry = samples[lane * stride + r * cols + c];
                }
                if let Some((outputs, activation)) = gradient {
                    for (lane, entry) in mixed[0][..filled].iter_mut().enumerate() {
                        *entry = outputs[lane * stride + r * cols + c];
                    }
                    mixed[0][filled..].fill(E::ZERO);
                    // SAFETY: both are `lanes` numbers long.
                    unsafe {
                        let (y, g) = (s.load(mixed[0].as_ptr()), s.load(vector.as_ptr()));
                        s.store(vector.as_mut_ptr(), activation.backward(s, y, g));
                    }
                }
            }
        }
    }
}

struct Scatter<'a, E> {
    layout: Layout,
    samples: &'a mut [E],
    stride: usize,
    block: &'a [E],
}

impl<E: Element> Kernel<E> for Scatter<'_, E> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd<Elem = E>>(self, s: S) {
        let Self { layout: Layout { rows, cols, lanes, plane, .. }, samples, stride, block } = self;
        let filled = count(samples.len(), stride, rows * cols);
        assert!(lanes == S::LANES && filled <= lanes && rows * plane <= block.len());
        for r in 0..rows {
            let mut c = 0;
            if filled == lanes {
                while c + lanes <= cols {
                    let from = block[r * plane + c * lanes..][..lanes * lanes].as_ptr();
                    // SAFETY: as in `Gather`, with reading and writing exchanged.
                    unsafe { s.transpose(from, lanes, samples.as_mut_ptr().add(r * cols + c), stride) }
                    c += lanes;
                }
            }
            for c in c..cols {
                let vector = &block[r * plane + c * lanes..][..lanes];
                for (lane, entry) in vector[..filled].iter().enumerate() {
                    samples[lane * stride + r * cols + c] = *entry;
                }
            }
        }
    }
}

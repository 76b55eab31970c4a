//! How samples lie in vectors.
//!
//! Side by side, `[rows][cols][lanes]`, one sample a lane: a batch `[batch, rows, cols]` is cut
//! into blocks of as many samples as a vector has lanes, the last one filled up with zeros, and entry
//! (r, c) of all samples of a block is one vector. Or one after the other, `[samples][rows][cols]`, the columns of a
//! sample in the lanes, each row filled up to whole vectors with numbers that nobody reads.

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
    /// The columns of a sample lie in the lanes, and so many samples make a block.
    pub(crate) columns: Option<usize>,
}

impl Layout {
    /// Rows follow each other at an odd number of cache lines: at a power of two, walking down a column
    /// would use a few sets of the cache only. A single column leaves no gaps.
    pub(crate) fn new<E: Element>(level: Level, [rows, cols]: [usize; 2]) -> Self {
        let lanes = level.lanes::<E>();
        let line = 64 / size_of::<E>();
        let lines = (cols * lanes).div_ceil(line);
        let plane = if cols == 1 { lanes } else { (lines | 1) * line };
        Self { rows, cols, lanes, plane, columns: None }
    }

    /// `samples` samples, their columns in the lanes. Long rows do not lie at a power of two either.
    pub(crate) fn columns<E: Element>(level: Level, [rows, cols]: [usize; 2], samples: usize) -> Self {
        let lanes = level.lanes::<E>();
        let line = 64 / size_of::<E>();
        let plane = cols.next_multiple_of(lanes);
        let plane = if plane.is_multiple_of(8 * line) { plane + line } else { plane };
        Self { rows, cols, lanes, plane, columns: Some(samples) }
    }

    /// How many numbers `samples` samples of a block take.
    pub(crate) fn filled(&self, samples: usize) -> usize {
        self.one() * if self.columns.is_some() { samples } else { 1 }
    }

    /// How many vectors a row takes.
    pub(crate) fn vectors(&self) -> usize {
        if self.columns.is_some() { self.cols.div_ceil(self.lanes) } else { self.cols }
    }

    /// How far apart two samples lie whose columns are in the lanes.
    pub(crate) fn one(&self) -> usize {
        self.rows * self.plane
    }

    /// How many numbers a block takes.
    pub(crate) fn len(&self) -> usize {
        self.filled(self.columns.unwrap_or(1))
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
        if self.columns.is_some() {
            return self.rows_of(samples.len(), stride, |from, to| {
                let row = &mut block[to..to + self.plane];
                row[..self.cols].copy_from_slice(&samples[from..from + self.cols]);
                row[self.cols..].fill(E::ZERO);
            });
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
        if self.columns.is_some() {
            self.gather(level, gradients, stride, block);
            return level.run(ThroughRows { layout: *self, outputs, activation, block });
        }
        let gradient = (activation != Activation::Identity).then_some((outputs, activation));
        level.run(Gather { layout: *self, samples: gradients, gradient, stride, block });
    }

    /// Takes samples apart again; the counterpart of [`gather`](Self::gather).
    pub(crate) fn scatter<E: Element>(&self, level: Level, block: &[E], samples: &mut [E], stride: usize) {
        if self.columns.is_some() {
            return self.rows_of(samples.len(), stride, |from, to| {
                samples[from..from + self.cols].copy_from_slice(&block[to..to + self.cols]);
            });
        }
        level.run(Scatter { layout: *self, samples, stride, block });
    }

    /// Calls `each` with where a row begins in samples that are `stride` apart, and where in a block.
    fn rows_of(&self, len: usize, stride: usize, mut each: impl FnMut(usize, usize)) {
        for sample in 0..count(len, stride, self.rows * self.cols) {
            for row in 0..self.rows {
                each(sample * stride + row * self.cols, (sample * self.rows + row) * self.plane);
            }
        }
    }
}

/// How many samples of one matrix each stand in a slice where they are `stride` apart.
fn count(len: usize, stride: usize, size: usize) -> usize {
    assert!(len >= size && stride >= size, "the slice does not hold one sample");
    (len - size) / stride + 1
}

/// g · f′ where the columns of samples lie in the lanes; `outputs` are f's values as they were given.
struct ThroughRows<'a, E> {
    layout: Layout,
    outputs: &'a [E],
    activation: Activation,
    block: &'a mut [E],
}

impl<E: Element> Kernel<E> for ThroughRows<'_, E> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd<Elem = E>>(self, s: S) {
        let Self { layout: Layout { cols, plane, .. }, outputs, activation, block } = self;
        if activation == Activation::Identity {
            return;
        }
        for (y, g) in outputs.chunks_exact(cols).zip(block.chunks_exact_mut(plane)) {
            for (y, g) in y.chunks(S::LANES).zip(g.chunks_exact_mut(S::LANES)) {
                // SAFETY: `y` is as long as it says, and rows of a block are whole vectors.
                unsafe {
                    let through =
                        activation.backward(s, s.load_first(y.as_ptr(), y.len()), s.load(g.as_ptr()));
                    s.store(g.as_mut_ptr(), through);
                }
            }
        }
    }
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

//! Blocks of samples that lie anywhere in a batch.
//!
//! Where sequences differ in length, a block holds samples of similar length, not neighbours. Its lanes are then read from and
//! written to places of their own.

use std::marker::PhantomData;

use crate::block::Layout;
use crate::simd::{Element, Kernel, Level, Simd};

/// The most lanes that a vector has.
const MOST_LANES: usize = 16;
/// Where fewer than a vector's numbers by this are left of a row, they are copied one by one.
const FEW: usize = 4;

/// Where the matrices of some samples begin, at most one a lane.
#[derive(Clone, Copy)]
pub(crate) struct Starts {
    at: [usize; MOST_LANES],
    count: usize,
}

impl Starts {
    /// At `at` of every sample.
    pub(crate) fn new(samples: &[usize], at: impl Fn(usize) -> usize) -> Self {
        let mut starts = Self { at: [0; MOST_LANES], count: samples.len() };
        for (start, &sample) in starts.at.iter_mut().zip(samples) {
            *start = at(sample);
        }
        assert!(samples.len() <= MOST_LANES, "more samples than lanes");
        starts
    }

    fn all(&self) -> &[usize] {
        &self.at[..self.count]
    }

    /// How far apart they are, if that is the same everywhere.
    fn stride(&self, size: usize) -> Option<usize> {
        let stride = match self.all() {
            [first, second, ..] => second.checked_sub(*first)?,
            _ => size,
        };
        let even = self.all().windows(2).all(|pair| pair[1].checked_sub(pair[0]) == Some(stride));
        (even && stride >= size).then_some(stride)
    }

    /// Panics unless matrices of `size` numbers lie within `len` numbers.
    fn check(&self, size: usize, len: usize) {
        let inside = |&start: &usize| start.checked_add(size).is_some_and(|end| end <= len);
        assert!(self.all().iter().all(inside), "a sample lies outside of the batch");
    }
}

/// Numbers that several threads write, each in places of its own.
pub(crate) struct Shared<'a, E> {
    to: *mut E,
    len: usize,
    whose: PhantomData<&'a mut [E]>,
}

// SAFETY: a mutable slice of numbers, which may be sent; `scatter_lanes` leaves it to its callers that places differ.
unsafe impl<E: Send> Send for Shared<'_, E> {}
// SAFETY: as above.
unsafe impl<E: Send> Sync for Shared<'_, E> {}

impl<'a, E> Shared<'a, E> {
    pub(crate) fn new(to: &'a mut [E]) -> Self {
        Self { to: to.as_mut_ptr(), len: to.len(), whose: PhantomData }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.len == 0
    }
}

impl Layout {
    /// Numbers in one sample.
    fn size(&self) -> usize {
        self.rows * self.cols
    }

    /// Rows and columns for copying: a block without gaps is a single row.
    fn copied(&self) -> [usize; 2] {
        if self.plane == self.cols * self.lanes { [1, self.size()] } else { [self.rows, self.cols] }
    }

    /// Lays samples side by side, the first of `starts` in lane `first`. The other lanes become 0.
    pub(crate) fn gather_lanes<E: Element>(
        &self,
        level: Level,
        data: &[E],
        first: usize,
        starts: &Starts,
        block: &mut [E],
    ) {
        let size = self.size();
        starts.check(size, data.len());
        match starts.all() {
            [from] if self.columns.is_some() => self.gather(level, &data[*from..from + size], size, block),
            _ => level.run(GatherLanes { layout: *self, data, first, starts, block }),
        }
    }

    /// As [`gather_lanes`](Self::gather_lanes), but the other lanes stay as they are.
    pub(crate) fn replace_lanes<E: Element>(
        &self,
        data: &[E],
        first: usize,
        starts: &Starts,
        block: &mut [E],
    ) {
        for (lane, start) in (first..).zip(starts.all()) {
            let sample = &data[*start..start + self.size()];
            for (r, row) in sample.chunks_exact(self.cols).enumerate() {
                for (c, number) in row.iter().enumerate() {
                    block[r * self.plane + c * self.lanes + lane] = *number;
                }
            }
        }
    }

    /// Takes samples apart again; the counterpart of [`gather_lanes`](Self::gather_lanes).
    ///
    /// # Safety
    ///
    /// While this runs, nothing else reads or writes the samples that begin at `starts`.
    pub(crate) unsafe fn scatter_lanes<E: Element>(
        &self,
        level: Level,
        block: &[E],
        first: usize,
        starts: &Starts,
        to: &Shared<E>,
    ) {
        let size = self.size();
        starts.check(size, to.len);
        match starts.all() {
            [] => {}
            [start] if self.columns.is_some() => {
                // SAFETY: `check` has seen that the sample lies within; the caller that nothing else uses it.
                let sample = unsafe { std::slice::from_raw_parts_mut(to.to.add(*start), size) };
                self.scatter(level, block, sample, size);
            }
            _ => level.run(ScatterLanes { layout: *self, block, first, starts, to: to.to }),
        }
    }
}

struct GatherLanes<'a, E> {
    layout: Layout,
    data: &'a [E],
    first: usize,
    starts: &'a Starts,
    block: &'a mut [E],
}

impl<E: Element> Kernel<E> for GatherLanes<'_, E> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd<Elem = E>>(self, s: S) {
        let Self { layout, data, first, starts, block } = self;
        let Layout { lanes, plane, columns, .. } = layout;
        let used = first..first + starts.count;
        assert!(columns.is_none() && lanes == S::LANES && used.end <= lanes && layout.len() <= block.len());
        let [rows, cols] = layout.copied();
        let stride = starts.stride(layout.size()).filter(|_| starts.count == lanes);
        // Lanes without a sample stay 0.
        let mut mixed = [[E::ZERO; MOST_LANES]; MOST_LANES];
        let mut turned = [[E::ZERO; MOST_LANES]; MOST_LANES];
        for r in 0..rows {
            for c in (0..cols).step_by(lanes) {
                let width = lanes.min(cols - c);
                let to = &mut block[r * plane + c * lanes..][..width * lanes];
                if width * FEW < lanes {
                    for (at, vector) in to.chunks_exact_mut(lanes).enumerate() {
                        vector.fill(E::ZERO);
                        for (entry, start) in vector[used.clone()].iter_mut().zip(starts.all()) {
                            *entry = data[start + r * cols + c + at];
                        }
                    }
                    continue;
                }
                // SAFETY: `gather_lanes` has seen that `rows · cols` numbers from every start are within the data, and c + width ≤ cols.
                // With a stride, sample i begins `stride` behind sample i − 1. `lanes` rows of `mixed` and `turned` hold as many
                // numbers each, and so does `to` where the width is `lanes`.
                unsafe {
                    if let (Some(stride), true) = (stride, width == lanes) {
                        let from = data.as_ptr().add(starts.at[0] + r * cols + c);
                        s.transpose(from, stride, to.as_mut_ptr(), lanes);
                        continue;
                    }
                    for (row, start) in mixed[used.clone()].iter_mut().zip(starts.all()) {
                        let numbers = s.load_first(data.as_ptr().add(start + r * cols + c), width);
                        s.store(row.as_mut_ptr(), numbers);
                    }
                    if width == lanes {
                        s.transpose(mixed.as_ptr().cast(), MOST_LANES, to.as_mut_ptr(), lanes);
                        continue;
                    }
                    s.transpose(mixed.as_ptr().cast(), MOST_LANES, turned.as_mut_ptr().cast(), MOST_LANES);
                }
                for (vector, row) in to.chunks_exact_mut(lanes).zip(&turned) {
                    vector.copy_from_slice(&row[..lanes]);
                }
            }
        }
    }
}

struct ScatterLanes<'a, E> {
    layout: Layout,
    block: &'a [E],
    first: usize,
    starts: &'a Starts,
    to: *mut E,
}

impl<E: Element> Kernel<E> for ScatterLanes<'_, E> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd<Elem = E>>(self, s: S) {
        let Self { layout, block, first, starts, to } = self;
        let Layout { lanes, plane, columns, .. } = layout;
        let used = first..first + starts.count;
        assert!(columns.is_none() && lanes == S::LANES && used.end <= lanes && layout.len() <= block.len());
        let [rows, cols] = layout.copied();
        let stride = starts.stride(layout.size()).filter(|_| starts.count == lanes);
        let mut mixed = [[E::ZERO; MOST_LANES]; MOST_LANES];
        let mut turned = [[E::ZERO; MOST_LANES]; MOST_LANES];
        for r in 0..rows {
            for c in (0..cols).step_by(lanes) {
                let width = lanes.min(cols - c);
                let from = &block[r * plane + c * lanes..][..width * lanes];
                // SAFETY: `scatter_lanes` has seen that `rows · cols` numbers from every start are within the batch, and
                // c + width ≤ cols; its caller, that nothing else uses them. With a stride, sample i begins `stride` behind sample
                // i − 1. `lanes` rows of `mixed` and `turned` hold as many numbers each, and so does `from` where the width is
                // `lanes`.
                unsafe {
                    if width * FEW < lanes {
                        for (at, vector) in from.chunks_exact(lanes).enumerate() {
                            for (entry, start) in vector[used.clone()].iter().zip(starts.all()) {
                                *to.add(start + r * cols + c + at) = *entry;
                            }
                        }
                        continue;
                    }
                    if let (Some(stride), true) = (stride, width == lanes) {
                        s.transpose(from.as_ptr(), lanes, to.add(starts.at[0] + r * cols + c), stride);
                        continue;
                    }
                    for (row, vector) in mixed.iter_mut().zip(from.chunks_exact(lanes)) {
                        row[..lanes].copy_from_slice(vector);
                    }
                    s.transpose(mixed.as_ptr().cast(), MOST_LANES, turned.as_mut_ptr().cast(), MOST_LANES);
                    for (row, start) in turned[used.clone()].iter().zip(starts.all()) {
                        s.store_first(to.add(start + r * cols + c), s.load(row.as_ptr()), width);
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Samples anywhere, in some of the lanes, of matrices and columns, on every level.
    #[test]
    fn lanes_go_where_they_came_from() {
        let data: Vec<f32> = (0..4000).map(|at| at as f32).collect();
        for level in Level::available() {
            for sides in [[3, 5], [20, 1], [2, 33], [2, 12], [1, 16], [4, 2]] {
                let layout = Layout::new::<f32>(level, sides);
                let size = sides[0] * sides[1];
                let all = level.lanes::<f32>();
                for (first, count) in [(0, all), (0, 1), (1, all - 1), (all / 2, 2), (all - 1, 1), (2, 0)] {
                    for step in [1, 7, 11] {
                        let samples: Vec<usize> = (0..count).map(|at| (at * step + 3) % 16).collect();
                        let starts = Starts::new(&samples, |sample| sample * size + 5);
                        let mut block = vec![f32::NAN; layout.len()];
                        layout.gather_lanes(level, &data, first, &starts, &mut block);
                        let mut other = vec![0.0; layout.len()];
                        layout.replace_lanes(&data, first, &starts, &mut other);
                        for r in 0..sides[0] {
                            for at in r * layout.plane..r * layout.plane + sides[1] * all {
                                assert_eq!(block[at], other[at], "{level:?} {sides:?} {first} {count}");
                            }
                        }
                        let mut back = vec![-1.0; data.len()];
                        // SAFETY: there is only this thread.
                        unsafe {
                            layout.scatter_lanes(level, &block, first, &starts, &Shared::new(&mut back));
                        }
                        for (at, (back, number)) in back.iter().zip(&data).enumerate() {
                            let written = samples
                                .iter()
                                .any(|&sample| (sample * size + 5..(sample + 1) * size + 5).contains(&at));
                            assert_eq!(*back, if written { *number } else { -1.0 });
                        }
                    }
                }
            }
        }
    }
}

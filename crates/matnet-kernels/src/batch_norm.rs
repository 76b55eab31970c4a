//! Batch norm with the activation behind it, entry by entry.
//!
//! Entries lie in the lanes, and sums over the batch take its samples in their order, so neither the CPU nor the number of threads
//! changes a bit of them.

use rayon::prelude::*;

use crate::Activation;
use crate::lanes::{activate, through_all};
use crate::parallel::at_least;
use crate::simd::{Element, Kernel, Level, Simd};

/// So many entries are summed over the batch at a time; their sums stay in the first-level cache.
const PANEL: usize = 512;
/// So many numbers are worth a thread of their own.
const GRAIN: usize = 1 << 15;

/// The mean and the biased variance of every entry of a batch.
#[derive(Clone, Debug, PartialEq)]
pub struct BatchStatistics<E> {
    /// M
    pub mean: Vec<E>,
    /// S
    pub variance: Vec<E>,
}

impl<E: Element> BatchStatistics<E> {
    /// Those of samples of so many entries each.
    ///
    /// # Panics
    ///
    /// If there is no sample, or the last one is not whole.
    pub fn of(level: Level, input: &[E], entries: usize) -> Self {
        let share = one_of(samples(input, entries));
        let mean = multiplied(sums(level, entries, Summands::Values(input)), |_| share);
        let squares = sums(level, entries, Summands::Squares { input, mean: &mean });
        Self { variance: multiplied(squares, |_| share), mean }
    }
}

/// Y = f(G ⊙ X̂ + A) with X̂ = (X − M) / √(S + ε), for every sample X of a batch.
#[derive(Clone, Copy, Debug)]
pub struct BatchNorm<'a, E> {
    /// X of every sample, one after the other.
    pub input: &'a [E],
    /// G
    pub scale: &'a [E],
    /// A
    pub shift: &'a [E],
    /// M
    pub mean: &'a [E],
    /// S
    pub variance: &'a [E],
    /// ε
    pub epsilon: E,
    /// f
    pub activation: Activation,
}

/// What the backward pass gives.
#[derive(Clone, Debug)]
pub struct BatchNormGradients<E> {
    /// Of X.
    pub input: Vec<E>,
    /// Of G.
    pub scale: Vec<E>,
    /// Of A.
    pub shift: Vec<E>,
}

impl<E: Element> BatchNorm<'_, E> {
    /// Y of every sample.
    ///
    /// # Panics
    ///
    /// If lengths do not fit.
    pub fn forward(&self, level: Level) -> Vec<E> {
        self.check();
        let factor = multiplied(self.inverse_deviation(), |at| self.scale[at]);
        let work = |first, output: &mut [E]| {
            let input = &self.input[first..first + output.len()];
            level.run(Forward { norm: *self, factor: &factor, input, output });
            activate(level, self.activation, output);
        };
        self.share_samples(work)
    }

    /// The gradients from that of Y; `output` is what [`forward`](Self::forward) gave. `of_batch` says that M and S are those of
    /// this batch: then the gradient goes through them, too.
    ///
    /// # Panics
    ///
    /// If lengths do not fit.
    pub fn backward(
        &self,
        level: Level,
        output: &[E],
        gradient: &[E],
        of_batch: bool,
    ) -> BatchNormGradients<E> {
        let batch = self.check();
        assert_eq!(output.len(), self.input.len(), "one output for every number");
        assert_eq!(gradient.len(), self.input.len(), "one gradient for every number");
        let through;
        let gradient = if self.activation == Activation::Identity {
            gradient
        } else {
            through = through_all(level, self.activation, output, gradient);
            &through
        };
        let (entries, inverse) = (self.mean.len(), self.inverse_deviation());
        let shift = sums(level, entries, Summands::Values(gradient));
        let scale = sums(level, entries, Summands::Products { input: self.input, mean: self.mean, gradient });
        let scale = multiplied(scale, |at| inverse[at]);
        // dX = G/√(S + ε) ⊙ (D − mean of D − X̂ ⊙ mean of D ⊙ X̂); constant statistics have no means.
        let share = if of_batch { one_of(batch) } else { E::ZERO };
        let mean = multiplied(shift.clone(), |_| share);
        let along = multiplied(scale.clone(), |at| inverse[at] * share);
        let factor = multiplied(inverse, |at| self.scale[at]);
        let work = |first, output: &mut [E]| {
            let (input, gradient) = (&self.input[first..], &gradient[first..]);
            level.run(Backward {
                norm: *self,
                factor: &factor,
                mean: &mean,
                along: &along,
                input,
                gradient,
                output,
            });
        };
        BatchNormGradients { input: self.share_samples(work), scale, shift }
    }

    /// The size of the batch.
    fn check(&self) -> usize {
        let entries = self.mean.len();
        for (name, len) in
            [("scale", self.scale.len()), ("shift", self.shift.len()), ("variance", self.variance.len())]
        {
            assert_eq!(len, entries, "one {name} for every entry");
        }
        samples(self.input, entries)
    }

    /// 1 / √(S + ε)
    fn inverse_deviation(&self) -> Vec<E> {
        self.variance.iter().map(|&variance| E::ONE / (variance + self.epsilon).sqrt()).collect()
    }

    /// A number for every one of the input; `work` computes those of some samples, the first of which begins there.
    fn share_samples(&self, work: impl Fn(usize, &mut [E]) + Sync) -> Vec<E> {
        let mut output = vec![E::ZERO; self.input.len()];
        let entries = self.mean.len();
        let at_once = GRAIN.div_ceil(entries) * entries;
        let groups = output.par_chunks_mut(at_once).enumerate().with_min_len(at_least());
        groups.for_each(|(group, output)| work(group * at_once, output));
        output
    }
}

/// How many samples there are.
fn samples<E>(input: &[E], entries: usize) -> usize {
    assert!(entries > 0 && !input.is_empty(), "batch norm of nothing");
    assert_eq!(input.len() % entries, 0, "whole samples");
    input.len() / entries
}

/// 1 / n
fn one_of<E: Element>(count: usize) -> E {
    E::ONE / E::from_single(count as f32)
}

fn multiplied<E: Element>(mut numbers: Vec<E>, by: impl Fn(usize) -> E) -> Vec<E> {
    numbers.iter_mut().enumerate().for_each(|(at, number)| *number = *number * by(at));
    numbers
}

/// What is summed over the batch, entry by entry.
#[derive(Clone, Copy)]
enum Summands<'a, E> {
    /// X
    Values(&'a [E]),
    /// (X − M)²
    Squares { input: &'a [E], mean: &'a [E] },
    /// D ⊙ (X − M)
    Products { input: &'a [E], mean: &'a [E], gradient: &'a [E] },
}

/// The sum of every entry over the samples, from the first to the last.
fn sums<E: Element>(level: Level, entries: usize, of: Summands<E>) -> Vec<E> {
    let mut sums = vec![E::ZERO; entries];
    let (Summands::Values(input) | Summands::Squares { input, .. } | Summands::Products { input, .. }) = of;
    let at_once = if input.len() < GRAIN { entries } else { PANEL };
    let panels = sums.par_chunks_mut(at_once).enumerate().with_min_len(at_least());
    panels.for_each(|(panel, sums)| level.run(Sums { of, entries, first: panel * at_once, sums }));
    sums
}

struct Sums<'a, E> {
    of: Summands<'a, E>,
    entries: usize,
    first: usize,
    sums: &'a mut [E],
}

impl<E: Element> Kernel<E> for Sums<'_, E> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd<Elem = E>>(self, _: S) {
        let Self { of, entries, first, sums } = self;
        let panel = first..first + sums.len();
        match of {
            Summands::Values(input) => {
                for sample in input.chunks_exact(entries) {
                    for (sum, &x) in sums.iter_mut().zip(&sample[panel.clone()]) {
                        *sum += x;
                    }
                }
            }
            Summands::Squares { input, mean } => {
                for sample in input.chunks_exact(entries) {
                    let numbers = sample[panel.clone()].iter().zip(&mean[panel.clone()]);
                    for (sum, (&x, &mean)) in sums.iter_mut().zip(numbers) {
                        *sum += (x - mean) * (x - mean);
                    }
                }
            }
            Summands::Products { input, mean, gradient } => {
                for (sample, gradient) in input.chunks_exact(entries).zip(gradient.chunks_exact(entries)) {
                    let numbers = sample[panel.clone()].iter().zip(&mean[panel.clone()]);
                    for ((sum, &d), (&x, &mean)) in sums.iter_mut().zip(&gradient[panel.clone()]).zip(numbers)
                    {
                        *sum += d * (x - mean);
                    }
                }
            }
        }
    }
}

/// G ⊙ X̂ + A of some samples.
struct Forward<'a, E> {
    norm: BatchNorm<'a, E>,
    factor: &'a [E],
    input: &'a [E],
    output: &'a mut [E],
}

impl<E: Element> Kernel<E> for Forward<'_, E> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd<Elem = E>>(self, _: S) {
        let Self { norm: BatchNorm { mean, shift, .. }, factor, input, output } = self;
        let entries = mean.len();
        for (input, output) in input.chunks_exact(entries).zip(output.chunks_exact_mut(entries)) {
            let numbers = output.iter_mut().zip(input);
            for (((y, &x), &mean), (&factor, &shift)) in numbers.zip(mean).zip(factor.iter().zip(shift)) {
                *y = (x - mean) * factor + shift;
            }
        }
    }
}

/// The gradient of X of some samples.
struct Backward<'a, E> {
    norm: BatchNorm<'a, E>,
    /// G / √(S + ε)
    factor: &'a [E],
    /// The mean of D.
    mean: &'a [E],
    /// The mean of D ⊙ X̂, over √(S + ε).
    along: &'a [E],
    input: &'a [E],
    gradient: &'a [E],
    output: &'a mut [E],
}

impl<E: Element> Kernel<E> for Backward<'_, E> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd<Elem = E>>(self, _: S) {
        let Self { norm, factor, mean, along, input, gradient, output } = self;
        let entries = mean.len();
        let samples = input.chunks_exact(entries).zip(gradient.chunks_exact(entries));
        for ((input, gradient), output) in samples.zip(output.chunks_exact_mut(entries)) {
            let numbers = output.iter_mut().zip(input).zip(gradient);
            let means = factor.iter().zip(norm.mean).zip(mean.iter().zip(along));
            for (((to, &x), &d), ((&factor, &centre), (&mean, &along))) in numbers.zip(means) {
                *to = factor * (d - mean - (x - centre) * along);
            }
        }
    }
}

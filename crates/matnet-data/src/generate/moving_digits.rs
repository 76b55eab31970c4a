//! Moving digits: two of them, bouncing around in a frame of 64×64, as in Srivastava et al. (arXiv 1502.04681).
//!
//! The rules are those of the authors' released generator:
//!
//! 1. a digit's top-left corner lives in the unit square, scaled by frame side − digit side (36 pixels);
//!    it starts anywhere, uniformly;
//! 2. it moves in a uniformly random direction at a constant speed, 0.1 of the square per frame;
//! 3. each frame begins with the move; beyond a wall the digit is set on the wall and that component of its velocity is reversed;
//! 4. its pixel corner is the truncated position;
//! 5. digits are drawn without replacement from a shuffled order, which is reshuffled when it is exhausted;
//! 6. where digits overlap, the brighter pixel counts.
//!
//! 10,000 sequences take 3.3 GB as `f32`, so a [`MovingDigits`] stores only the digits and their paths, and renders sequences on
//! demand; two cores render a thousand sequences in less than half a second.

use std::f64::consts::TAU;
use std::ops::Range;

use rand::seq::SliceRandom;
use rand::{Rng, RngExt};
use rayon::prelude::*;

use crate::error::counted;
use crate::{Array, Error, Result, memory};

/// Sizes of the sequences; the default is the original's.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct MovingDigitsConfig {
    /// Frames per sequence.
    pub frames: usize,
    /// Rows and columns of a frame.
    pub side: usize,
    /// Digits per sequence.
    pub digits: usize,
    /// How far a digit moves per frame, relative to the free space of the frame.
    pub step: f64,
}

impl Default for MovingDigitsConfig {
    fn default() -> Self {
        Self { frames: 20, side: 64, digits: 2, step: 0.1 }
    }
}

/// Sequences of moving digits, rendered on demand.
#[derive(Clone, Debug)]
pub struct MovingDigits {
    config: MovingDigitsConfig,
    images: Array,
    /// `config.digits` per sequence.
    tracks: Vec<Track>,
}

/// Which image moves, and where it starts.
#[derive(Clone, Debug)]
struct Track {
    image: usize,
    start: (f64, f64),
    angle: f64,
}

impl MovingDigitsConfig {
    /// Draws the digits and paths of `count` sequences; `images` are square, `[n, side, side]`, with values between 0 and 1.
    pub fn generate(self, images: Array, count: usize, rng: &mut impl Rng) -> Result<MovingDigits> {
        let &[available, rows, cols] = images.shape() else {
            return Err(Error::Invalid(format!(
                "digits of shape {:?}: [n, rows, cols] expected",
                images.shape()
            )));
        };
        if available == 0 || rows != cols || rows == 0 || rows > self.side {
            return Err(Error::Invalid(format!(
                "{} of {rows}×{cols} in frames of {side}×{side}: square images that fit expected",
                counted(available, "digit"),
                side = self.side
            )));
        }
        if !(0.0..=1.0).contains(&self.step) {
            return Err(Error::Invalid(format!("step {}: must lie between 0 and 1", self.step)));
        }
        // As the original: all y, then all x, then all angles, then the digits.
        let total = count.checked_mul(self.digits).filter(|&total| total < 1 << 32);
        let total = total.ok_or_else(|| Error::Invalid(format!("{count} sequences: too many")))?;
        let mut draw = || (0..total).map(|_| rng.random::<f64>()).collect::<Vec<f64>>();
        let (y, x, turn) = (draw(), draw(), draw());
        let mut deck = Deck { order: (0..available).collect(), next: available };
        let tracks = (0..total)
            .map(|i| Track { image: deck.deal(rng), start: (y[i], x[i]), angle: turn[i] * TAU })
            .collect();
        Ok(MovingDigits { config: self, images, tracks })
    }
}

/// Images in random order; each occurs once before any occurs again.
struct Deck {
    order: Vec<usize>,
    next: usize,
}

impl Deck {
    fn deal(&mut self, rng: &mut impl Rng) -> usize {
        if self.next == self.order.len() {
            self.order.shuffle(rng);
            self.next = 0;
        }
        self.next += 1;
        self.order[self.next - 1]
    }
}

impl MovingDigits {
    /// Number of sequences.
    pub fn len(&self) -> usize {
        self.tracks.len() / self.config.digits.max(1)
    }

    /// Whether there is no sequence.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The indices of the images in sequence `index`.
    pub fn digits(&self, index: usize) -> impl Iterator<Item = usize> {
        self.tracks_of(index).iter().map(|track| track.image)
    }

    /// Renders sequences `[n, frames, side, side]` in parallel; the pixels do not depend on the number of threads.
    pub fn render(&self, range: Range<usize>) -> Result<Array> {
        if range.start > range.end || range.end > self.len() {
            return Err(Error::Invalid(format!("sequences {range:?} of {}", self.len())));
        }
        let MovingDigitsConfig { frames, side, .. } = self.config;
        let size = frames * side * side;
        let mut out = memory::filled(0.0, range.len() * size, "moving digits")?;
        if size > 0 {
            out.par_chunks_mut(size).zip(range.clone()).for_each(|(out, index)| self.draw(index, out));
        }
        Array::new([range.len(), frames, side, side], out)
    }

    fn tracks_of(&self, index: usize) -> &[Track] {
        &self.tracks[index * self.config.digits..][..self.config.digits]
    }

    fn draw(&self, index: usize, out: &mut [f32]) {
        let side = self.config.side;
        let digit_side = self.images.shape()[1];
        for track in self.tracks_of(index) {
            let image = self.images.sample(track.image);
            let corners = track.corners(self.config.step, side - digit_side);
            for (frame, (top, left)) in out.chunks_exact_mut(side * side).zip(corners) {
                for (row, line) in image.chunks_exact(digit_side).enumerate() {
                    let start = (top + row) * side + left;
                    for (pixel, &ink) in frame[start..start + digit_side].iter_mut().zip(line) {
                        *pixel = pixel.max(ink);
                    }
                }
            }
        }
    }
}

impl Track {
    /// The top-left pixel of each frame, without end.
    fn corners(&self, step: f64, room: usize) -> impl Iterator<Item = (usize, usize)> {
        let (mut y, mut x) = self.start;
        let (mut v_y, mut v_x) = self.angle.sin_cos();
        std::iter::repeat_with(move || {
            advance(&mut y, &mut v_y, step);
            advance(&mut x, &mut v_x, step);
            let pixel = |coordinate: f64| (room as f64 * coordinate) as usize;
            (pixel(y), pixel(x))
        })
    }
}

/// One step along one axis; a wall stops the digit and reverses it.
fn advance(position: &mut f64, velocity: &mut f64, step: f64) {
    *position += *velocity * step;
    if *position <= 0.0 {
        *position = 0.0;
        *velocity = -*velocity;
    }
    if *position >= 1.0 {
        *position = 1.0;
        *velocity = -*velocity;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::SeededRng;

    fn rng(seed: u64) -> SeededRng {
        SeededRng::new(seed, "moving-mnist")
    }

    /// `count` full squares of brightness 1/count, 2/count, …
    fn squares(count: usize) -> Array {
        let data = (0..count * 784).map(|i| (i / 784 + 1) as f32 / count as f32).collect();
        Array::new([count, 28, 28], data).unwrap()
    }

    /// Computed by hand: straight down from 0.95 hits the wall at once, and comes back.
    #[test]
    fn walls_stop_and_reverse() {
        let track = Track { image: 0, start: (0.95, 0.5), angle: TAU / 4.0 };
        let rows: Vec<usize> = track.corners(0.1, 36).take(4).map(|(row, _)| row).collect();
        assert_eq!(rows, [36, 32, 28, 25]);
        let (mut position, mut velocity) = (0.05, -1.0);
        advance(&mut position, &mut velocity, 0.1);
        assert_eq!((position, velocity), (0.0, 1.0));
    }

    /// Paths computed from the rules with NumPy.
    #[test]
    fn paths_equal_those_of_another_implementation() {
        let rows_and_cols = |start, angle| -> (Vec<usize>, Vec<usize>) {
            Track { image: 0, start, angle }.corners(0.1, 36).take(20).unzip()
        };
        let (rows, cols) = rows_and_cols((0.3, 0.7), 1.0);
        assert_eq!(rows, [13, 16, 19, 22, 25, 28, 32, 35, 36, 32, 29, 26, 23, 20, 17, 14, 11, 8, 5, 2]);
        assert_eq!(cols, [27, 29, 31, 32, 34, 36, 34, 32, 30, 28, 26, 24, 22, 20, 18, 16, 14, 12, 10, 8]);
        let (rows, cols) = rows_and_cols((0.95, 0.02), 4.0);
        assert_eq!(rows, [31, 28, 26, 23, 20, 17, 15, 12, 9, 6, 4, 1, 0, 2, 5, 8, 10, 13, 16, 19]);
        assert_eq!(cols, [0, 2, 4, 7, 9, 11, 14, 16, 18, 21, 23, 25, 28, 30, 32, 35, 36, 33, 31, 28]);
    }

    #[test]
    fn frames_hold_both_digits_and_the_brighter_wins() {
        let digits = MovingDigitsConfig::default().generate(squares(2), 50, &mut rng(1)).unwrap();
        let frames = digits.render(0..50).unwrap();
        assert_eq!(frames.shape(), [50, 20, 64, 64]);
        for frame in frames.data().chunks_exact(64 * 64) {
            assert_eq!(
                frame.iter().filter(|&&x| x == 1.0).count(),
                784,
                "the brighter square is never hidden"
            );
            assert!(frame.iter().all(|&x| x == 0.0 || x == 0.5 || x == 1.0));
        }
    }

    #[test]
    fn every_digit_is_used_once_before_any_is_used_again() {
        let digits = MovingDigitsConfig::default().generate(squares(10), 10, &mut rng(2)).unwrap();
        let mut used: Vec<usize> = (0..5).flat_map(|sequence| digits.digits(sequence)).collect();
        used.sort_unstable();
        assert_eq!(used, (0..10).collect::<Vec<_>>());
    }

    #[test]
    fn threads_and_ranges_do_not_matter() {
        let digits = MovingDigitsConfig::default().generate(squares(7), 12, &mut rng(3)).unwrap();
        let whole = digits.render(0..12).unwrap();
        for threads in [1, 3] {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            let again = MovingDigitsConfig::default().generate(squares(7), 12, &mut rng(3)).unwrap();
            assert_eq!(pool.install(|| again.render(0..12)).unwrap(), whole);
        }
        assert_eq!(digits.render(5..6).unwrap().data(), whole.sample(5));
    }

    #[test]
    fn impossible_sizes_are_refused() {
        let message =
            |config: MovingDigitsConfig| config.generate(squares(1), 1, &mut rng(0)).unwrap_err().to_string();
        assert_eq!(
            message(MovingDigitsConfig { side: 20, ..MovingDigitsConfig::default() }),
            "1 digit of 28×28 in frames of 20×20: square images that fit expected"
        );
        assert_eq!(
            message(MovingDigitsConfig { step: 1.5, ..MovingDigitsConfig::default() }),
            "step 1.5: must lie between 0 and 1"
        );
        let digits = MovingDigitsConfig::default().generate(squares(1), 3, &mut rng(0)).unwrap();
        assert_eq!(digits.render(2..4).unwrap_err().to_string(), "sequences 2..4 of 3");
    }
}

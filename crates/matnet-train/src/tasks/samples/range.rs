//! The minimum and the maximum of numbers: in whatever order they are put together, they are the same.

/// Of no number.
pub(super) const EMPTY: (f32, f32) = (f32::INFINITY, f32::NEG_INFINITY);

/// Of some numbers.
pub(super) fn range(values: &[f32]) -> (f32, f32) {
    values.iter().fold(EMPTY, |found, &x| joined(found, (x, x)))
}

/// Of what was found in two places.
pub(super) fn joined(one: (f32, f32), other: (f32, f32)) -> (f32, f32) {
    (one.0.min(other.0), one.1.max(other.1))
}

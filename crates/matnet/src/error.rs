//! Errors of configs.

/// A config that is not valid: the key, its value, and what would be right.
///
/// ```
/// use matnet::ConfigError;
///
/// let error = ConfigError::new("hidden", "side 0 at layer 2", "every side must be at least 1");
/// assert_eq!(error.to_string(), "hidden: side 0 at layer 2; every side must be at least 1");
/// ```
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{key}: {value}; {expected}")]
#[non_exhaustive]
pub struct ConfigError {
    /// The key of the config.
    pub key: String,
    /// Its value.
    pub value: String,
    /// What would be right.
    pub expected: String,
}

impl ConfigError {
    /// An error about `key`.
    pub fn new(key: impl Into<String>, value: impl Into<String>, expected: impl Into<String>) -> Self {
        Self { key: key.into(), value: value.into(), expected: expected.into() }
    }
}

/// The largest size of one parameter: 8 GiB of `f32`.
pub const MAX_NUMBERS: usize = 1 << 31;

/// The largest number of parameters of a net: 64 GiB of `f32`.
pub const MAX_TOTAL: u64 = 1 << 34;

/// The largest depth.
pub const MAX_DEPTH: usize = 10_000;

/// Checks that every side is at least 1 and their product at most [`MAX_NUMBERS`].
pub(crate) fn check_sides(key: &str, sides: &[usize]) -> Result<(), ConfigError> {
    let shape = || show(sides);
    if sides.contains(&0) {
        return Err(ConfigError::new(key, shape(), "every side must be at least 1"));
    }
    match sides.iter().try_fold(1_usize, |product, &side| product.checked_mul(side)) {
        Some(numbers) if numbers <= MAX_NUMBERS => Ok(()),
        _ => {
            Err(ConfigError::new(key, shape(), format!("one matrix may hold at most {MAX_NUMBERS} numbers")))
        }
    }
}

/// Checks that a net has at most [`MAX_TOTAL`] parameters.
pub(crate) fn check_total(key: &str, numbers: usize) -> Result<(), ConfigError> {
    if numbers as u64 <= MAX_TOTAL {
        return Ok(());
    }
    let expected = format!("a net may hold at most {MAX_TOTAL} numbers");
    Err(ConfigError::new(key, format!("{numbers} numbers or more"), expected))
}

/// Checks a number of layers, steps or classes.
pub(crate) fn check_count(key: &str, count: usize, most: usize) -> Result<(), ConfigError> {
    if (1..=most).contains(&count) {
        return Ok(());
    }
    Err(ConfigError::new(key, count.to_string(), format!("must lie between 1 and {most}")))
}

/// Checks a dropout rate: 0 ≤ rate < 1.
pub(crate) fn check_rate(key: &str, rate: f64) -> Result<(), ConfigError> {
    if (0.0..1.0).contains(&rate) {
        return Ok(());
    }
    Err(ConfigError::new(key, rate.to_string(), "must be at least 0 and less than 1"))
}

/// Checks that a number is finite.
pub(crate) fn check_finite(key: &str, value: f64) -> Result<(), ConfigError> {
    if value.is_finite() {
        return Ok(());
    }
    Err(ConfigError::new(key, value.to_string(), "must be a finite number"))
}

/// Checks a variance factor: finite and not negative.
pub(crate) fn check_gain(key: &str, value: f64) -> Result<(), ConfigError> {
    if value.is_finite() && value >= 0.0 {
        return Ok(());
    }
    Err(ConfigError::new(key, value.to_string(), "must be finite and at least 0"))
}

/// Formats sides: 50×50.
pub(crate) fn show(sides: &[usize]) -> String {
    if sides.is_empty() {
        return "nothing".to_owned();
    }
    sides.iter().map(usize::to_string).collect::<Vec<_>>().join("×")
}

//! A named line.

/// A named line of a [`LineChart`](super::LineChart).
#[derive(Clone, Debug)]
pub struct Series {
    pub(crate) name: String,
    pub(crate) points: Vec<(f64, f64)>,
    pub(crate) band: Vec<f64>,
}

impl Series {
    /// A line through `points` in the order they come; a NaN or infinite one leaves a gap.
    pub fn new(name: impl Into<String>, points: impl IntoIterator<Item = (f64, f64)>) -> Self {
        Self { name: name.into(), points: points.into_iter().collect(), band: Vec::new() }
    }

    /// A value for each epoch, the first of which is 1.
    pub fn counted(name: impl Into<String>, values: impl IntoIterator<Item = f64>) -> Self {
        let points = values.into_iter().enumerate().map(|(place, value)| ((place + 1) as f64, value));
        Self::new(name, points)
    }

    /// A band around the line: a standard deviation for each point, to both sides.
    pub fn with_band(mut self, deviations: impl IntoIterator<Item = f64>) -> Self {
        self.band = deviations.into_iter().map(f64::abs).collect();
        self
    }

    /// The value below, at and above each point; without a band all three are the same.
    pub(crate) fn bounds(&self) -> impl Iterator<Item = [f64; 3]> {
        self.points.iter().enumerate().map(|(place, &(_, y))| {
            let room = self.band.get(place).copied().filter(|room| room.is_finite()).unwrap_or(0.0);
            [y - room, y, y + room]
        })
    }
}

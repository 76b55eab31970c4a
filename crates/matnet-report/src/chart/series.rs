//! The lines of a line chart.

/// A named line of a [`LineChart`](super::LineChart).
#[derive(Clone, Debug)]
pub struct ChartSeries {
    pub(crate) name: String,
    pub(crate) points: Vec<(f64, f64)>,
    pub(crate) band: Vec<f64>,
}

impl ChartSeries {
    /// A line through `points` in their order; NaN and infinite values leave a gap.
    pub fn new(name: impl Into<String>, points: impl IntoIterator<Item = (f64, f64)>) -> Self {
        Self { name: name.into(), points: points.into_iter().collect(), band: Vec::new() }
    }

    /// One value per epoch, starting with epoch 1.
    pub fn by_epoch(name: impl Into<String>, values: impl IntoIterator<Item = f64>) -> Self {
        let points = values.into_iter().enumerate().map(|(place, value)| ((place + 1) as f64, value));
        Self::new(name, points)
    }

    /// An error band around the line: the standard deviation of each point, to both sides.
    pub fn with_band(mut self, deviations: impl IntoIterator<Item = f64>) -> Self {
        self.band = deviations.into_iter().map(f64::abs).collect();
        self
    }

    /// Lower end of the band, value and upper end at each point; all the same without a band.
    pub(crate) fn bounds(&self) -> impl Iterator<Item = [f64; 3]> {
        self.points.iter().enumerate().map(|(place, &(_, y))| {
            let deviation = self.band.get(place).copied().filter(|x| x.is_finite()).unwrap_or(0.0);
            [y - deviation, y, y + deviation]
        })
    }
}

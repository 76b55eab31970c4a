//! How many nodes have how many neighbours, as bars.

use image::RgbImage;
use matnet_report::chart::{BarChart, Bars};

use crate::degrees::Degrees;
use crate::failure::Failure;
use matnet_report::text::count;

/// Bars for bins of degrees that double, with the number of nodes on top and the degrees below.
pub fn degrees(title: &str, degrees: &Degrees) -> Result<RgbImage, Failure> {
    let bins = degrees.bins();
    let title = title.split(':').next().unwrap_or(title);
    let title = format!("{title}: degrees of {} nodes", count(degrees.nodes()));
    let names = bins.iter().map(|(name, _)| name.clone());
    let nodes = bins.iter().map(|(_, nodes)| *nodes as f64);
    let chart = BarChart::new(title, names)
        .with_axes("distinct neighbours of a node (bins double)", "nodes")
        .with_decimals(0)
        .with_bars(Bars::new("nodes", nodes));
    Ok(chart.svg().to_image(1.5)?)
}

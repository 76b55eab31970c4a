//! Charts as [`Svg`](crate::Svg).
//!
//! All charts work the same way: `new` takes what is required, `with_*` the options, `svg` draws. Values that cannot be
//! drawn (NaN, infinite, not positive on a log axis) leave a gap; a chart without any value says "no data". No input
//! panics.
//!
//! The default width of 560 pixels stays readable when a phone scales a chart down to its screen.

mod bar;
mod confusion;
mod frame;
mod heat;
mod histogram;
mod legend;
mod line;
mod panels;
mod parallel;
mod scale;
mod scatter;
mod scatter3d;
mod series;

pub use bar::{BarChart, Bars};
pub use confusion::ConfusionChart;
pub use heat::HeatMap;
pub use histogram::Histogram;
pub use line::LineChart;
pub use panels::HeatPanels;
pub use parallel::{ParallelAxis, ParallelChart};
pub use scatter::Scatter;
pub use scatter3d::Scatter3d;
pub use series::ChartSeries;

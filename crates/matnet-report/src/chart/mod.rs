//! Charts as [`Svg`](crate::Svg).
//!
//! Every chart is made the same way: `new` takes what it cannot do without, `with_*` the rest, `svg` draws. Numbers that
//! cannot be drawn (NaN, infinite, not positive on a log axis) leave a gap, and no input panics.

mod bar;
mod confusion;
mod frame;
mod heat;
mod legend;
mod line;
mod panels;
mod scale;
mod scatter;
mod scatter3;
mod series;

pub use bar::{BarChart, Bars};
pub use confusion::ConfusionMatrix;
pub use heat::HeatMap;
pub use line::LineChart;
pub use panels::HeatPanels;
pub use scatter::{Scatter, ScatterClass};
pub use scatter3::{Camera, Scatter3, Scatter3Class};
pub use series::Series;

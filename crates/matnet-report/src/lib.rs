//! Charts, pictures of matrices, tables and the one-file HTML report of [matnet](https://docs.rs/matnet).
//!
//! The crate knows nothing of networks, runs or datasets: it takes numbers and names and returns a drawing, a table or a
//! page. The same input gives the same bytes.
//!
//! - [`chart`]: line and bar charts, scatter plots and heat maps as [`Svg`]. [`Svg::to_png`] renders them without a
//!   browser and without system fonts.
//! - [`picture`]: matrices as small pictures in a grid, as PNG, as an animated GIF or as text in a terminal.
//! - [`table`]: one table, written as HTML, as Markdown or as plain text.
//! - [`text`]: numbers, counts, durations and sizes as text.
//! - [`tsne()`]: high-dimensional states as points in three dimensions.
//! - [`page`]: an HTML file that needs no other file, readable on a desktop and on a phone.
//!
//! ```
//! use matnet_report::chart::{ChartSeries, LineChart};
//! use matnet_report::page::{Figure, Page};
//!
//! let chart = LineChart::new("Digits, error rate after each epoch")
//!     .with_axes("epoch", "error rate (%)")
//!     .with_series(ChartSeries::by_epoch("matrix net", [9.1, 4.2, 2.6]))
//!     .with_series(ChartSeries::by_epoch("vector net", [12.0, 6.3, 3.9]))
//!     .svg();
//! let mut page = Page::new("Digits");
//! page.heading("Training");
//! page.figure(Figure::svg(chart, "Error rate on the test split."));
//! assert!(page.html().starts_with("<!DOCTYPE html>"));
//! ```

#![forbid(unsafe_code)]

pub mod chart;
mod color;
mod encode;
mod error;
mod escape;
mod layout;
pub mod page;
pub mod picture;
mod raster;
mod svg;
pub mod table;
pub mod text;
mod tsne;

pub use error::ReportError;
pub use svg::Svg;
pub use tsne::tsne;

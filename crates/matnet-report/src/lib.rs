//! Figures (SVG, PNG, GIF) and the pieces of a one-file HTML report.
//!
//! Nothing here knows of nets, runs or datasets: numbers and names go in, a drawing, a table or a page comes out, and
//! the same input gives the same bytes.
//!
//! - [`chart`]: lines, bars, scatters and heat maps as [`Svg`]; [`Svg::to_png`] draws them without a browser and
//!   without the machine's fonts.
//! - [`picture`]: matrices as small pictures in a grid, as PNG, as an animated GIF or as text in a terminal.
//! - [`table`]: one table, written as HTML or as Markdown.
//! - [`tsne()`]: states of many numbers as points in space.
//! - [`page`]: an HTML file that needs no other file.
//!
//! ```
//! use matnet_report::chart::{LineChart, Series};
//! use matnet_report::page::{Figure, Page};
//!
//! let chart = LineChart::new("Digits, error after each epoch")
//!     .with_axes("epoch", "error (%)")
//!     .with_series(Series::counted("matrix net", [9.1, 4.2, 2.6]))
//!     .with_series(Series::counted("vector net", [12.0, 6.3, 3.9]))
//!     .svg();
//! let mut page = Page::new("Digits");
//! page.heading("Learning");
//! page.figure(Figure::svg(chart, "Error on the test set."));
//! assert!(page.html().starts_with("<!DOCTYPE html>"));
//! ```

#![forbid(unsafe_code)]

pub mod chart;
mod colour;
mod error;
mod escape;
mod number;
pub mod page;
pub mod picture;
mod raster;
mod svg;
pub mod table;
mod text;
mod tsne;

pub use error::ReportError;
pub use svg::Svg;
pub use tsne::tsne;

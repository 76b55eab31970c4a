//! Letters on a picture, in the font that ships.

use std::fmt::Write;

use image::{Rgb, RgbImage};

use crate::escape::markup;
use crate::raster::draw_over;
use crate::{ReportError, text};

/// Size of the letters in pixels.
pub(super) const SIZE: f64 = 12.0;

/// Words with the point they start or are centred at, in the middle of their height.
pub(super) struct Label {
    pub x: f64,
    pub y: f64,
    pub text: String,
    pub centred: bool,
}

/// Width of the widest.
pub(super) fn widest<'a>(texts: impl Iterator<Item = &'a String>) -> f64 {
    texts.map(|label| text::width(label, SIZE)).fold(0.0, f64::max)
}

/// Writes all labels at once.
pub(super) fn write(
    image: &mut RgbImage,
    labels: &[Label],
    Rgb([r, g, b]): Rgb<u8>,
) -> Result<(), ReportError> {
    let labels: Vec<&Label> = labels.iter().filter(|label| !label.text.is_empty()).collect();
    if labels.is_empty() {
        return Ok(());
    }
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{}\" height=\"{}\" font-family=\"Noto Sans\" \
         font-size=\"{SIZE}\" fill=\"rgb({r},{g},{b})\">",
        image.width(),
        image.height()
    );
    for label in labels {
        let anchor = if label.centred { "middle" } else { "start" };
        let (x, y) = (label.x, label.y + SIZE * 0.36);
        let _ = write!(
            svg,
            "<text x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"{anchor}\">{}</text>",
            markup(&label.text)
        );
    }
    svg.push_str("</svg>");
    draw_over(&svg, 1.0, image)
}

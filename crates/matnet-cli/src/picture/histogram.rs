//! How many nodes have how many neighbours, as bars.

use image::{Rgb, RgbImage};

use super::{BAR, INK, PAPER, letters};
use crate::commands::Degrees;
use crate::text::count;

/// Sizes in pixels.
const BAR_WIDTH: u32 = 56;
const BAR_GAP: u32 = 24;
const PLOT_HEIGHT: u32 = 260;
const MARGIN: u32 = 24;
const LINE: u32 = 16;

/// Bars for bins of degrees that double, with the number of nodes on top and the degrees below.
pub fn degrees(title: &str, degrees: &Degrees) -> RgbImage {
    let bins = degrees.bins();
    let title: String = title.split(':').next().unwrap_or(title).into();
    let title = format!("{title}: degrees of {} nodes", count(degrees.nodes()));
    let plot = bins.len() as u32 * (BAR_WIDTH + BAR_GAP);
    let width = plot.max(letters::width(&title, 2)) + 2 * MARGIN;
    let base = MARGIN + 3 * LINE + PLOT_HEIGHT;
    let mut image = RgbImage::from_pixel(width, base + 3 * LINE + MARGIN, PAPER);
    letters::write(&mut image, MARGIN, MARGIN, 2, INK, &title);
    let largest = bins.iter().map(|(_, nodes)| *nodes).max().unwrap_or(0).max(1);
    for (place, (name, nodes)) in bins.iter().enumerate() {
        let left = MARGIN + place as u32 * (BAR_WIDTH + BAR_GAP) + BAR_GAP / 2;
        let height = (*nodes as u64 * u64::from(PLOT_HEIGHT)).div_ceil(largest as u64) as u32;
        fill(&mut image, left, base - height, BAR_WIDTH, height, BAR);
        centred(&mut image, left, base - height - 12, &count(*nodes));
        centred(&mut image, left, base + 8, name);
    }
    fill(&mut image, MARGIN, base, width - 2 * MARGIN, 1, INK);
    let axis = "distinct neighbours of a node (bins double)";
    letters::write(&mut image, MARGIN, base + 2 * LINE, 1, INK, axis);
    image
}

fn centred(image: &mut RgbImage, left: u32, top: u32, text: &str) {
    let middle = left + BAR_WIDTH / 2;
    letters::write(image, middle.saturating_sub(letters::width(text, 1) / 2), top, 1, INK, text);
}

fn fill(image: &mut RgbImage, left: u32, top: u32, width: u32, height: u32, colour: Rgb<u8>) {
    for y in top..top + height {
        for x in left..(left + width).min(image.width()) {
            image.put_pixel(x, y, colour);
        }
    }
}

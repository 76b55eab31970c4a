//! Pictures in a terminal: two pixels per character, the upper as foreground and the lower as background colour.

use std::fmt::Write;

use image::{Rgb, RgbImage, imageops};

/// The picture as text with ANSI colours, at most `columns` characters wide.
pub fn half_blocks(image: &RgbImage, columns: u32) -> String {
    let columns = columns.clamp(1, 160);
    let shrunk;
    let image = if image.width() > columns {
        let height = (image.height() * columns / image.width()).max(1);
        shrunk = imageops::resize(image, columns, height, imageops::FilterType::Triangle);
        &shrunk
    } else {
        image
    };
    let mut text = String::new();
    for top in (0..image.height()).step_by(2) {
        for x in 0..image.width() {
            let Rgb([r, g, b]) = *image.get_pixel(x, top);
            let _ = write!(text, "\x1b[38;2;{r};{g};{b}m");
            if top + 1 < image.height() {
                let Rgb([r, g, b]) = *image.get_pixel(x, top + 1);
                let _ = write!(text, "\x1b[48;2;{r};{g};{b}m");
            }
            text.push('▀');
        }
        text.push_str("\x1b[0m\n");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_pixels_make_a_character() {
        let mut image = RgbImage::new(2, 3);
        image.put_pixel(0, 1, Rgb([255, 0, 9]));
        let text = half_blocks(&image, 80);
        assert_eq!(text.matches('▀').count(), 4);
        assert!(text.starts_with("\x1b[38;2;0;0;0m\x1b[48;2;255;0;9m▀"));
        assert_eq!(text.lines().count(), 2);
    }

    #[test]
    fn a_wide_picture_is_shrunk() {
        let text = half_blocks(&RgbImage::new(400, 100), 80);
        assert_eq!(text.lines().count(), 10);
        assert_eq!(text.lines().next().unwrap().matches('▀').count(), 80);
    }
}

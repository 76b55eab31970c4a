//! Letters of eight by eight pixels.

use font8x8::legacy::BASIC_LEGACY;
use image::{Rgb, RgbImage};

/// Rows and columns of a letter.
pub const SIDE: u32 = 8;

/// Writes `text` with its top-left corner at (`left`, `top`), each pixel `scale` wide; what does not fit is cut off.
pub fn write(image: &mut RgbImage, left: u32, top: u32, scale: u32, colour: Rgb<u8>, text: &str) {
    for (place, letter) in text.chars().enumerate() {
        let letter = if letter == '×' { 'x' } else { letter };
        let glyph = BASIC_LEGACY.get(letter as usize).unwrap_or(&BASIC_LEGACY['?' as usize]);
        for y in 0..SIDE * scale {
            for x in 0..SIDE * scale {
                let lit = glyph[(y / scale) as usize] >> (x / scale) & 1 == 1;
                let column = left + place as u32 * SIDE * scale + x;
                if lit && column < image.width() && top + y < image.height() {
                    image.put_pixel(column, top + y, colour);
                }
            }
        }
    }
}

/// How wide `text` is.
pub fn width(text: &str, scale: u32) -> u32 {
    text.chars().count() as u32 * SIDE * scale
}

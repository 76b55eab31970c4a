//! Encoding of pictures as PNG and GIF.

use std::time::Duration;

use image::codecs::gif::{GifEncoder, Repeat};
use image::codecs::png::PngEncoder;
use image::{Delay, DynamicImage, ExtendedColorType, Frame, ImageEncoder, RgbImage};

use crate::ReportError;

/// A picture as a PNG file.
///
/// # Errors
///
/// If the picture has no pixels.
pub fn png(image: &RgbImage) -> Result<Vec<u8>, ReportError> {
    let mut file = Vec::new();
    let (width, height) = image.dimensions();
    PngEncoder::new(&mut file).write_image(image.as_raw(), width, height, ExtendedColorType::Rgb8)?;
    Ok(file)
}

/// Frames as an animated GIF file that loops forever. Frames with at most 256 colours keep them exactly.
///
/// # Errors
///
/// If there are no frames, or they differ in size, or a side exceeds 65,535 pixels.
pub fn gif(frames: &[RgbImage], delay: Duration) -> Result<Vec<u8>, ReportError> {
    let Some(first) = frames.first() else { return Err(ReportError::Frames) };
    if first.is_empty() || frames.iter().any(|frame| frame.dimensions() != first.dimensions()) {
        return Err(ReportError::Frames);
    }
    let (width, height) = first.dimensions();
    if width.max(height) > u32::from(u16::MAX) {
        return Err(ReportError::ImageSize { width: width.into(), height: height.into() });
    }
    let mut file = Vec::new();
    // The encoder writes the trailer when it is dropped.
    {
        let mut encoder = GifEncoder::new_with_speed(&mut file, 10);
        encoder.set_repeat(Repeat::Infinite)?;
        for frame in frames {
            let pixels = DynamicImage::ImageRgb8(frame.clone()).into_rgba8();
            let delay = Delay::from_saturating_duration(delay);
            encoder.encode_frame(Frame::from_parts(pixels, 0, 0, delay))?;
        }
    }
    Ok(file)
}

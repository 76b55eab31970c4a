//! Pictures of data: contact sheets, histograms, and both as coloured text.

pub mod contact;
pub mod histogram;
mod letters;
pub mod terminal;

use std::io::Write;
use std::path::Path;

use image::{ImageEncoder, Rgb, RgbImage};

use crate::failure::Failure;

/// Behind and between pictures: dark, but not as dark as a black pixel.
const PAPER: Rgb<u8> = Rgb([38, 50, 66]);
/// Letters on paper.
const INK: Rgb<u8> = Rgb([226, 232, 240]);
/// Bars.
const BAR: Rgb<u8> = Rgb([94, 168, 220]);

/// Writes a PNG beside its place, then puts it there.
pub fn save(image: &RgbImage, path: &Path) -> Result<(), Failure> {
    let failed = |what: String| Failure::Failed(format!("{}: {what}", path.display()));
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let mut png = Vec::new();
    image::codecs::png::PngEncoder::new(&mut png)
        .write_image(image.as_raw(), image.width(), image.height(), image::ExtendedColorType::Rgb8)
        .map_err(|e| failed(e.to_string()))?;
    let mut file = tempfile::NamedTempFile::new_in(folder).map_err(|e| failed(e.to_string()))?;
    file.write_all(&png).and_then(|()| file.as_file().sync_all()).map_err(|e| failed(e.to_string()))?;
    file.persist(path).map_err(|e| failed(e.error.to_string()))?;
    Ok(())
}

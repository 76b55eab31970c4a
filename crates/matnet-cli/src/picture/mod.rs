//! Pictures of data: contact sheets and histograms.

pub mod contact;
pub mod histogram;

use std::path::Path;

use image::RgbImage;
use matnet_report::picture::png;

use crate::failure::Failure;

/// Writes a PNG beside its place, then puts it there.
pub fn save(image: &RgbImage, path: &Path) -> Result<(), Failure> {
    let png = png(image).map_err(|error| Failure::Failed(format!("{}: {error}", path.display())))?;
    Ok(matnet_train::write_file(path, &png)?)
}

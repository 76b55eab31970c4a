//! Pictures of data: contact sheets and histograms.

pub mod contact;
pub mod histogram;

use std::io::Write;
use std::path::Path;

use image::RgbImage;
use matnet_report::ReportError;
use matnet_report::picture::png;

use crate::failure::Failure;

/// Writes a PNG beside its place, then puts it there.
pub fn save(image: &RgbImage, path: &Path) -> Result<(), Failure> {
    let failed = |what: String| Failure::Failed(format!("{}: {what}", path.display()));
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let png = png(image).map_err(|e| failed(e.to_string()))?;
    let mut file = tempfile::NamedTempFile::new_in(folder).map_err(|e| failed(e.to_string()))?;
    file.write_all(&png).and_then(|()| file.as_file().sync_all()).map_err(|e| failed(e.to_string()))?;
    file.persist(path).map_err(|e| failed(e.error.to_string()))?;
    Ok(())
}

/// A picture that cannot be made.
impl From<ReportError> for Failure {
    fn from(error: ReportError) -> Self {
        Self::Failed(error.to_string())
    }
}

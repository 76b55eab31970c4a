//! Images, as matrices of grey levels between 0 and 1.

use std::io::Cursor;
use std::path::Path;

use image::{DynamicImage, ImageDecoder, ImageReader, Limits};

use crate::format::bounded::Input;
use crate::{Array, Error, Result};

/// An image may decompress to this many times its file size …
const MOST_RATIO: u64 = 100;
/// … plus this many bytes.
const FREE_BYTES: u64 = 256 << 10;

/// The file extensions that [`read`] supports.
pub const EXTENSIONS: [&str; 9] = ["png", "jpg", "jpeg", "gif", "bmp", "pgm", "ppm", "pnm", "pbm"];

/// Whether the file name is that of an image.
pub fn is_image(path: &Path) -> bool {
    let ending = path.extension().and_then(|e| e.to_str()).unwrap_or_default().to_ascii_lowercase();
    EXTENSIONS.contains(&ending.as_str())
}

/// Reads an image as `[rows, cols]` of grey levels between 0 (black) and 1 (white); colours are converted to luma.
pub fn read(path: impl AsRef<Path>) -> Result<Array> {
    let path = path.as_ref();
    let bytes = Input::open_packed(path)?.rest()?;
    parse(path, &bytes)
}

/// Reads an image from memory; `name` is used in errors.
pub fn parse(name: impl AsRef<Path>, bytes: &[u8]) -> Result<Array> {
    let name = name.as_ref();
    let bad = |e: image::ImageError| Error::format(name, format!("image: {e}"));
    let most = (bytes.len() as u64).saturating_mul(MOST_RATIO).saturating_add(FREE_BYTES);
    let mut reader = ImageReader::new(Cursor::new(bytes));
    let mut limits = Limits::default();
    limits.max_alloc = Some(most);
    reader.limits(limits);
    let reader = reader.with_guessed_format().map_err(|e| Error::io(name, e))?;
    if reader.format().is_none() {
        return Err(Error::format(
            name,
            format!("is not an image of a known format: {}", EXTENSIONS.join(", ")),
        ));
    }
    let decoder = reader.into_decoder().map_err(bad)?;
    let (width, height) = decoder.dimensions();
    if decoder.total_bytes() > most {
        let what =
            format!("{width}x{height} image in {} bytes; if it is valid, save it uncompressed", bytes.len());
        return Err(Error::format(name, what));
    }
    let image = DynamicImage::from_decoder(decoder).map_err(bad)?;
    let levels: Vec<f32> = match image {
        DynamicImage::ImageLuma8(grey) => grey.into_raw().iter().map(|&v| f32::from(v) / 255.0).collect(),
        DynamicImage::ImageLuma16(grey) => grey.into_raw().iter().map(|&v| f32::from(v) / 65535.0).collect(),
        other => other.into_luma8().into_raw().iter().map(|&v| f32::from(v) / 255.0).collect(),
    };
    Array::new([height as usize, width as usize], levels)
}

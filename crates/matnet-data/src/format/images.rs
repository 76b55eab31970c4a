//! Pictures, as matrices of grey levels between 0 and 1.

use std::io::Cursor;
use std::path::Path;

use image::{DynamicImage, ImageDecoder, ImageReader, Limits};

use crate::format::bounded::Input;
use crate::{Array, Error, Result};

/// A picture may unpack to this many times its file …
const MOST_RATIO: u64 = 100;
/// … and this much more.
const FREE_BYTES: u64 = 256 << 10;

/// The names of files that [`read`] can read end in one of these.
pub const ENDINGS: [&str; 9] = ["png", "jpg", "jpeg", "gif", "bmp", "pgm", "ppm", "pnm", "pbm"];

/// Whether a path is named like a picture.
pub fn is_image(path: &Path) -> bool {
    let ending = path.extension().and_then(|e| e.to_str()).unwrap_or_default().to_ascii_lowercase();
    ENDINGS.contains(&ending.as_str())
}

/// Reads a picture as `[rows, cols]` of grey levels between 0 (black) and 1 (white); colours are weighed by how
/// bright they look.
pub fn read(path: impl AsRef<Path>) -> Result<Array> {
    let path = path.as_ref();
    let bytes = Input::open_packed(path)?.rest()?;
    parse(path, &bytes)
}

/// Reads a picture that is in memory; `name` is for errors.
pub fn parse(name: impl AsRef<Path>, bytes: &[u8]) -> Result<Array> {
    let name = name.as_ref();
    let bad = |e: image::ImageError| Error::format(name, format!("picture: {e}"));
    let most = (bytes.len() as u64).saturating_mul(MOST_RATIO).saturating_add(FREE_BYTES);
    let mut reader = ImageReader::new(Cursor::new(bytes));
    let mut limits = Limits::default();
    limits.max_alloc = Some(most);
    reader.limits(limits);
    let reader = reader.with_guessed_format().map_err(|e| Error::io(name, e))?;
    if reader.format().is_none() {
        return Err(Error::format(name, format!("is not a picture of a known kind: {}", ENDINGS.join(", "))));
    }
    let decoder = reader.into_decoder().map_err(bad)?;
    let (width, height) = decoder.dimensions();
    if decoder.total_bytes() > most {
        let what =
            format!("{width}x{height} picture in {} bytes; if it is sound, save it unpacked", bytes.len());
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

//! Images, as matrices of grey levels between 0 and 1.

use std::io::Cursor;
use std::path::Path;

use image::imageops::{self, FilterType};
use image::{DynamicImage, ImageBuffer, ImageDecoder, ImageReader, Limits, Luma, Pixel, Rgb};

use crate::format::bounded::Input;
use crate::{Array, Error, Result, memory};

/// An image may decompress to this many times its file size …
const MOST_RATIO: u64 = 100;
/// … plus this many bytes.
const FREE_BYTES: u64 = 256 << 10;

/// The most pixels that an image is resized to.
const MOST_PIXELS: usize = 1 << 26;

/// The file extensions that [`read`] supports.
pub const EXTENSIONS: [&str; 9] = ["png", "jpg", "jpeg", "gif", "bmp", "pgm", "ppm", "pnm", "pbm"];

/// Whether the file name is that of an image.
pub fn is_image(path: &Path) -> bool {
    let ending = path.extension().and_then(|e| e.to_str()).unwrap_or_default().to_ascii_lowercase();
    EXTENSIONS.contains(&ending.as_str())
}

/// How an image becomes a matrix.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ImageOptions {
    /// Rows and columns to which it is resized, whatever its proportions; `None`: as it is.
    pub size: Option<[usize; 2]>,
    /// Whether the colours are kept, as three matrices below each other: red, green, blue.
    pub color: bool,
}

/// Reads an image as `[rows, cols]` of grey levels between 0 (black) and 1 (white); colours are converted to luma.
pub fn read(path: impl AsRef<Path>) -> Result<Array> {
    read_with(path, ImageOptions::default())
}

/// Reads an image as `[rows, cols]` or, with its colours, `[3 * rows, cols]`.
pub fn read_with(path: impl AsRef<Path>, options: ImageOptions) -> Result<Array> {
    let path = path.as_ref();
    // An image is read whole: a device has no end, and a pipe may never have one.
    if std::fs::metadata(path).is_ok_and(|meta| !meta.is_file() && !meta.is_dir()) {
        return Err(Error::format(path, "is a device or a pipe; an image file expected"));
    }
    let bytes = Input::open_packed(path)?.rest()?;
    parse_with(path, &bytes, options)
}

/// Reads an image from memory; `name` is used in errors.
pub fn parse(name: impl AsRef<Path>, bytes: &[u8]) -> Result<Array> {
    parse_with(name, bytes, ImageOptions::default())
}

/// The same with options.
pub fn parse_with(name: impl AsRef<Path>, bytes: &[u8], options: ImageOptions) -> Result<Array> {
    let name = name.as_ref();
    let image = decode(name, bytes)?;
    match options.color {
        false => planes(grey(image), options.size),
        true => planes(colours(image), options.size),
    }
}

fn decode(name: &Path, bytes: &[u8]) -> Result<DynamicImage> {
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
    memory::check(decoder.total_bytes(), name.display())?;
    DynamicImage::from_decoder(decoder).map_err(bad)
}

type Floats<P> = ImageBuffer<P, Vec<f32>>;

fn grey(image: DynamicImage) -> Floats<Luma<f32>> {
    match image {
        DynamicImage::ImageLuma16(grey) => {
            floats(grey.width(), grey.height(), grey.into_raw().into_iter().map(|v| f32::from(v) / 65535.0))
        }
        other => {
            let grey = other.into_luma8();
            floats(grey.width(), grey.height(), grey.into_raw().into_iter().map(|v| f32::from(v) / 255.0))
        }
    }
}

fn colours(image: DynamicImage) -> Floats<Rgb<f32>> {
    use DynamicImage::{ImageLuma16, ImageLumaA16, ImageRgb16, ImageRgba16};
    match image {
        ImageLuma16(_) | ImageLumaA16(_) | ImageRgb16(_) | ImageRgba16(_) => {
            let rgb = image.into_rgb16();
            floats(rgb.width(), rgb.height(), rgb.into_raw().into_iter().map(|v| f32::from(v) / 65535.0))
        }
        other => {
            let rgb = other.into_rgb8();
            floats(rgb.width(), rgb.height(), rgb.into_raw().into_iter().map(|v| f32::from(v) / 255.0))
        }
    }
}

/// A buffer of pixels; there are as many values as its size says.
fn floats<P: Pixel<Subpixel = f32>>(width: u32, height: u32, levels: impl Iterator<Item = f32>) -> Floats<P> {
    ImageBuffer::from_raw(width, height, levels.collect()).unwrap_or_else(|| ImageBuffer::new(0, 0))
}

/// The matrices of the channels below each other, resized: each new pixel is a weighted mean of the old ones that it covers.
fn planes<P: Pixel<Subpixel = f32> + 'static>(image: Floats<P>, size: Option<[usize; 2]>) -> Result<Array> {
    let image = match size {
        None => image,
        Some([0, _] | [_, 0]) => {
            return Err(Error::Invalid("an image cannot be resized to nothing".to_owned()));
        }
        Some([rows, cols]) if rows.saturating_mul(cols) > MOST_PIXELS => {
            let what =
                format!("an image cannot be resized to {rows}x{cols}; at most {MOST_PIXELS} pixels are");
            return Err(Error::Invalid(what));
        }
        Some([rows, cols]) => imageops::resize(&image, cols as u32, rows as u32, FilterType::Triangle),
    };
    let (width, height, channels) =
        (image.width() as usize, image.height() as usize, P::CHANNEL_COUNT as usize);
    let raw = image.into_raw();
    let data = match channels {
        1 => raw,
        _ => (0..channels).flat_map(|channel| raw[channel..].iter().step_by(channels).copied()).collect(),
    };
    Array::new([channels * height, width], data)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn png(image: DynamicImage) -> Vec<u8> {
        let mut out = Cursor::new(Vec::new());
        image.write_to(&mut out, image::ImageFormat::Png).unwrap();
        out.into_inner()
    }

    #[test]
    fn colours_stand_below_each_other() {
        let image = image::RgbImage::from_fn(2, 1, |x, _| image::Rgb([255, 51 * x as u8, 0]));
        let bytes = png(image.into());
        let found = parse_with("t", &bytes, ImageOptions { size: None, color: true }).unwrap();
        assert_eq!((found.shape(), found.data()), (&[3, 2][..], &[1., 1., 0., 0.2, 0., 0.][..]));
        // Grey stays grey in colour.
        let bytes = png(image::GrayImage::from_pixel(1, 1, Luma([51])).into());
        let found = parse_with("t", &bytes, ImageOptions { size: None, color: true }).unwrap();
        assert_eq!((found.shape(), found.data()), (&[3, 1][..], &[0.2, 0.2, 0.2][..]));
    }

    #[test]
    fn images_are_resized() {
        // Left half black, right half white.
        let bytes = png(image::GrayImage::from_fn(8, 4, |x, _| Luma([if x < 4 { 0 } else { 255 }])).into());
        let resized = |size| parse_with("t", &bytes, ImageOptions { size: Some(size), color: false });
        let found = resized([2, 2]).unwrap();
        assert_eq!(found.shape(), [2, 2]);
        let [a, b, c, d] = found.data() else { panic!() };
        assert!(a < &0.2 && b > &0.8 && a == c && b == d, "{:?}", found.data());
        let mean = found.data().iter().sum::<f32>() / 4.0;
        assert!((mean - 0.5).abs() < 1e-3, "{mean}");
        assert_eq!(resized([4, 8]).unwrap().data(), parse("t", &bytes).unwrap().data());
        assert_eq!(resized([16, 3]).unwrap().shape(), [16, 3]);
        assert!(resized([0, 3]).is_err() && resized([1 << 20, 1 << 20]).is_err());
    }
}

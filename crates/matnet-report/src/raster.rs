//! Rendering of drawings to pixels, with an embedded font, so that every machine renders the same text.

use std::sync::{Arc, LazyLock};

use image::{Rgb, RgbImage};
use resvg::tiny_skia::{Pixmap, Transform};
use resvg::usvg::{Options, Tree, fontdb};

use crate::picture::png;
use crate::{ReportError, Svg};

/// Largest number of pixels of a picture.
pub(crate) const MAX_PIXELS: u64 = 1 << 28;

/// Noto Sans, regular and bold: SIL Open Font License 1.1, carried by the crate `notosans`.
static FONTS: LazyLock<Arc<fontdb::Database>> = LazyLock::new(|| {
    let mut fonts = fontdb::Database::new();
    for font in [notosans::REGULAR_TTF, notosans::BOLD_TTF] {
        fonts.load_font_source(fontdb::Source::Binary(Arc::new(font)));
    }
    fonts.set_sans_serif_family("Noto Sans");
    Arc::new(fonts)
});

impl Svg {
    /// The drawing as a PNG file, at `scale` times its natural size: 1 for a screen, 2 or 3 for print.
    ///
    /// # Errors
    ///
    /// If the scaled picture has no pixels or too many.
    pub fn to_png(&self, scale: f32) -> Result<Vec<u8>, ReportError> {
        png(&self.to_image(scale)?)
    }

    /// The drawing as pixels, in the light theme.
    ///
    /// # Errors
    ///
    /// As [`Svg::to_png`].
    pub fn to_image(&self, scale: f32) -> Result<RgbImage, ReportError> {
        let mut image = RgbImage::new(side(self.width(), scale), side(self.height(), scale));
        draw_over(self, scale, &mut image)?;
        Ok(image)
    }
}

fn side(side: u32, scale: f32) -> u32 {
    // Too large a product is rejected when the picture is rendered.
    (f64::from(side) * f64::from(scale)).round().clamp(0.0, 65_536.0) as u32
}

/// Renders a drawing on top of a picture.
pub(crate) fn draw_over(svg: &Svg, scale: f32, image: &mut RgbImage) -> Result<(), ReportError> {
    let (width, height) = image.dimensions();
    let failed = || ReportError::ImageSize { width: width.into(), height: height.into() };
    if u64::from(width) * u64::from(height) > MAX_PIXELS {
        return Err(failed());
    }
    let options = Options { fontdb: FONTS.clone(), font_family: "Noto Sans".into(), ..Options::default() };
    let tree = Tree::from_str(svg.as_str(), &options)?;
    let mut pixels = Pixmap::new(width, height).ok_or_else(failed)?;
    resvg::render(&tree, Transform::from_scale(scale, scale), &mut pixels.as_mut());
    for (under, over) in image.pixels_mut().zip(pixels.pixels()) {
        let rest = 255 - u32::from(over.alpha());
        // The colours of the upper pixel are premultiplied by its alpha.
        let mix =
            |under: u8, over: u8| (u32::from(over) + (u32::from(under) * rest + 127) / 255).min(255) as u8;
        let Rgb([r, g, b]) = *under;
        *under = Rgb([mix(r, over.red()), mix(g, over.green()), mix(b, over.blue())]);
    }
    Ok(())
}

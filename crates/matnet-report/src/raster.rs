//! Rendering of drawings to pixels, with an embedded font, so that every machine renders the same text.

use std::sync::LazyLock;

use image::{Rgb, RgbImage};
use tiny_skia::{FillRule, LineJoin, Paint, Path, PathBuilder, Pixmap, Stroke, StrokeDash, Transform};
use ttf_parser::{Face, OutlineBuilder};

use crate::encode::png;
use crate::svg::{Anchor, Label, Shape};
use crate::{ReportError, Svg};

/// Largest number of pixels of a picture.
pub(crate) const MAX_PIXELS: u64 = 1 << 28;

/// Noto Sans, regular and bold: SIL Open Font License 1.1, carried by the crate `notosans`.
static FONTS: LazyLock<[Option<Face<'static>>; 2]> =
    LazyLock::new(|| [notosans::REGULAR_TTF, notosans::BOLD_TTF].map(|font| Face::parse(font, 0).ok()));

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
    let mut pixels = Pixmap::new(width, height).ok_or_else(failed)?;
    let transform = Transform::from_scale(scale, scale);
    for shape in &svg.shapes {
        draw(&mut pixels, shape, transform);
    }
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

fn draw(pixels: &mut Pixmap, shape: &Shape, transform: Transform) {
    let mut paint = Paint::default();
    let mut color = |[r, g, b]: [u8; 3], opacity: f64| {
        paint.set_color_rgba8(r, g, b, (opacity * 255.0).round() as u8);
    };
    match shape {
        Shape::Fill { path, color: rgb, opacity, is_crisp } => {
            color(*rgb, *opacity);
            paint.anti_alias = !is_crisp;
            if let Some(path) = parse(path) {
                pixels.fill_path(&path, &paint, FillRule::Winding, transform, None);
            }
        }
        Shape::Stroke { path, color: rgb, width, dashes } => {
            color(*rgb, 1.0);
            let dash = StrokeDash::new(dashes.split(' ').filter_map(|part| part.parse().ok()).collect(), 0.0);
            let stroke =
                Stroke { width: *width as f32, line_join: LineJoin::Round, dash, ..Stroke::default() };
            if let Some(path) = parse(path) {
                pixels.stroke_path(&path, &paint, &stroke, transform, None);
            }
        }
        Shape::Text(label) => {
            color(label.role.rgb(), 1.0);
            let rotated = transform.pre_rotate_at(label.rotation as f32, label.x as f32, label.y as f32);
            if let Some(path) = outline(label) {
                pixels.fill_path(&path, &paint, FillRule::Winding, rotated, None);
            }
        }
    }
}

/// The path of a [`Shape`].
fn parse(text: &str) -> Option<Path> {
    let mut path = PathBuilder::new();
    let (mut x, mut y) = (0.0, 0.0);
    let starts: Vec<usize> =
        text.char_indices().filter(|(_, letter)| letter.is_ascii_alphabetic()).map(|(at, _)| at).collect();
    let ends = starts.iter().skip(1).copied().chain([text.len()]);
    for (&start, end) in starts.iter().zip(ends) {
        let mut numbers = text[start + 1..end].split(' ').map_while(|number| number.parse::<f32>().ok());
        let mut next = || numbers.next().unwrap_or(0.0);
        match &text[start..=start] {
            "M" => {
                (x, y) = (next(), next());
                path.move_to(x, y);
                continue;
            }
            "z" => {
                path.close();
                continue;
            }
            "a" => {
                // A half circle as two quarters; `reach` is the usual distance of the control points.
                let (radius, end) = (next(), numbers.nth(4).unwrap_or(0.0));
                let (middle, side, reach) = (x + end / 2.0, end.signum(), 0.552_285 * radius);
                let top = y + side * radius;
                let right = x + end;
                path.cubic_to(x, y + side * reach, middle - side * reach, top, middle, top);
                path.cubic_to(middle + side * reach, top, right, y + side * reach, right, y);
                x = right;
                continue;
            }
            "L" => (x, y) = (next(), next()),
            "H" => x = next(),
            "l" => (x, y) = (x + next(), y + next()),
            "h" => x += next(),
            _ => y += next(),
        }
        path.line_to(x, y);
    }
    path.finish()
}

/// The outlines of the glyphs of a label, without its rotation.
fn outline(label: &Label) -> Option<Path> {
    let face = FONTS[usize::from(label.bold)].as_ref()?;
    let scale = label.size as f32 / f32::from(face.units_per_em());
    let glyphs: Vec<_> = label.text.chars().map(|c| face.glyph_index(c).unwrap_or_default()).collect();
    let advance = |glyph| f32::from(face.glyph_hor_advance(glyph).unwrap_or(0)) * scale;
    let width: f32 = glyphs.iter().map(|&glyph| advance(glyph)).sum();
    let shift = match label.anchor {
        Anchor::Start => 0.0,
        Anchor::Middle => width / 2.0,
        Anchor::End => width,
    };
    let mut pen = Pen { path: PathBuilder::new(), x: label.x as f32 - shift, y: label.y as f32, scale };
    for glyph in glyphs {
        face.outline_glyph(glyph, &mut pen);
        pen.x += advance(glyph);
    }
    pen.path.finish()
}

/// Adds the outline of a glyph to a path.
struct Pen {
    path: PathBuilder,
    x: f32,
    y: f32,
    scale: f32,
}

impl Pen {
    fn at(&self, x: f32, y: f32) -> (f32, f32) {
        (self.x + x * self.scale, self.y - y * self.scale)
    }
}

impl OutlineBuilder for Pen {
    fn move_to(&mut self, x: f32, y: f32) {
        let (x, y) = self.at(x, y);
        self.path.move_to(x, y);
    }

    fn line_to(&mut self, x: f32, y: f32) {
        let (x, y) = self.at(x, y);
        self.path.line_to(x, y);
    }

    fn quad_to(&mut self, x1: f32, y1: f32, x: f32, y: f32) {
        let ((x1, y1), (x, y)) = (self.at(x1, y1), self.at(x, y));
        self.path.quad_to(x1, y1, x, y);
    }

    fn curve_to(&mut self, x1: f32, y1: f32, x2: f32, y2: f32, x: f32, y: f32) {
        let ((x1, y1), (x2, y2), (x, y)) = (self.at(x1, y1), self.at(x2, y2), self.at(x, y));
        self.path.cubic_to(x1, y1, x2, y2, x, y);
    }

    fn close(&mut self) {
        self.path.close();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::color::marker;

    #[test]
    fn paths_are_parsed() {
        let bounds = |text: &str| {
            let bounds = parse(text).unwrap().compute_tight_bounds().unwrap();
            [bounds.left(), bounds.top(), bounds.right(), bounds.bottom()]
                .map(|side| (side * 10.0).round() / 10.0)
        };
        assert_eq!(bounds("M1 2h3v4H1z"), [1.0, 2.0, 4.0, 6.0]);
        assert_eq!(bounds("M1 2L5 -3l-6 1"), [-1.0, -3.0, 5.0, 2.0]);
        assert_eq!(bounds(&marker(0, 10.0, 20.0, 4.0)), [6.0, 16.0, 14.0, 24.0], "a circle of two arcs");
        assert_eq!(bounds(&marker(3, 10.0, 20.0, 4.0)), [4.8, 14.8, 15.2, 25.2], "a diamond");
        assert_eq!(parse(""), None);
    }

    #[test]
    fn text_is_anchored_and_every_letter_has_an_outline() {
        let bounds = |label: Label| outline(&label).unwrap().bounds();
        let (start, end) =
            (bounds(Label::new(50.0, 9.0, "Wave")), bounds(Label::new(50.0, 9.0, "Wave").end()));
        assert!(start.left() >= 50.0 && end.right() <= 50.0 && (start.width() - end.width()).abs() < 0.01);
        let middle = bounds(Label::new(50.0, 9.0, "o").middle());
        assert!((middle.left() + middle.right() - 100.0).abs() < 0.2);
        assert!(bounds(Label::new(0.0, 9.0, "Wave").bold()).width() > start.width());
        // A letter that the font does not have is a box.
        assert!(outline(&Label::new(0.0, 9.0, "語")).is_some());
        assert!(outline(&Label::new(0.0, 9.0, " ")).is_none());
    }
}

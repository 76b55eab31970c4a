//! Drawings and pictures with captions.

use std::fmt::Write;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use image::RgbImage;

use crate::escape::markup;
use crate::picture::png;
use crate::{ReportError, Svg};

/// Wider figures in a row shrink to this before the row wraps.
const ROW_WIDTH: u32 = 400;

#[derive(Clone, Debug)]
enum Content {
    Svg(Svg),
    Picture { format: &'static str, bytes: Vec<u8>, size: Option<(u32, u32)> },
}

/// A drawing or picture with a caption, which is also the alternative text of a picture.
#[derive(Clone, Debug)]
pub struct Figure {
    content: Content,
    caption: String,
}

impl Figure {
    fn new(content: Content, caption: impl Into<String>) -> Self {
        Self { content, caption: caption.into() }
    }

    /// A chart; the browser draws it in the colours of its theme.
    pub fn svg(svg: Svg, caption: impl Into<String>) -> Self {
        Self::new(Content::Svg(svg), caption)
    }

    /// A PNG file.
    pub fn png(bytes: impl Into<Vec<u8>>, caption: impl Into<String>) -> Self {
        let bytes = bytes.into();
        let side = |at: usize| Some(u32::from_be_bytes(bytes.get(at..at + 4)?.try_into().ok()?));
        let size = side(16).zip(side(20));
        Self::new(Content::Picture { format: "png", bytes, size }, caption)
    }

    /// A GIF file.
    pub fn gif(bytes: impl Into<Vec<u8>>, caption: impl Into<String>) -> Self {
        let bytes = bytes.into();
        let side = |at: usize| Some(u16::from_le_bytes(bytes.get(at..at + 2)?.try_into().ok()?).into());
        let size = side(6).zip(side(8));
        Self::new(Content::Picture { format: "gif", bytes, size }, caption)
    }

    /// A picture.
    ///
    /// # Errors
    ///
    /// If the picture has no pixels.
    pub fn image(image: &RgbImage, caption: impl Into<String>) -> Result<Self, ReportError> {
        Ok(Self::png(png(image)?, caption))
    }

    /// The figure in a row: at most its natural width, and smaller if more figures then fit beside each other.
    pub(super) fn in_row(&self) -> String {
        let width = match &self.content {
            Content::Svg(svg) => Some(svg.width()),
            Content::Picture { size, .. } => size.map(|(width, _)| width),
        };
        let style = width.map(|width| {
            format!(" style=\"flex-basis:{}px;max-width:max({width}px,16rem)\"", width.clamp(120, ROW_WIDTH))
        });
        self.html(&style.unwrap_or_default())
    }

    pub(super) fn html(&self, attributes: &str) -> String {
        let mut html = format!("<figure{attributes}>\n");
        match &self.content {
            Content::Svg(svg) => {
                let _ = writeln!(html, "<div class=\"draw\">{svg}</div>");
            }
            Content::Picture { format, bytes, size } => {
                let alt = markup(&self.caption);
                let size = size.map(|(width, height)| format!(" width=\"{width}\" height=\"{height}\""));
                let size = size.unwrap_or_default();
                let data = STANDARD.encode(bytes);
                let _ = writeln!(html, "<img alt=\"{alt}\"{size} src=\"data:image/{format};base64,{data}\">");
            }
        }
        if !self.caption.is_empty() {
            let _ = writeln!(html, "<figcaption>{}</figcaption>", markup(&self.caption));
        }
        html.push_str("</figure>\n");
        html
    }
}

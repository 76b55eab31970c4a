//! Sizes that drawings share, and the room that text takes in them.
//!
//! Font sizes are chosen for drawings of about 560 pixels that a phone shows at two thirds of that width.
//! A browser may choose another font than the embedded one, so widths are estimates, a little too wide.

/// Font sizes of titles, of labels and legends, and of ticks.
pub(crate) const TITLE_SIZE: f64 = 16.0;
pub(crate) const LABEL_SIZE: f64 = 13.0;
pub(crate) const TICK_SIZE: f64 = 12.5;
/// Pixels between the edge of a drawing and its content.
pub(crate) const MARGIN: f64 = 14.0;

/// Some fonts are wider than the embedded one.
const WIDE: f64 = 1.08;

/// Estimated width of `text` in pixels at a font size of `size` pixels.
pub(crate) fn text_width(text: &str, size: f64) -> f64 {
    text.chars().map(advance).sum::<f64>() * size * WIDE
}

/// The widest of several texts.
pub(crate) fn widest<'a>(texts: impl IntoIterator<Item = &'a String>, size: f64) -> f64 {
    texts.into_iter().map(|text| text_width(text, size)).fold(0.0, f64::max)
}

fn advance(letter: char) -> f64 {
    match letter {
        'i' | 'j' | 'l' | 't' | 'f' | 'I' | '.' | ',' | ':' | ';' | '\'' | '|' | '!' | ' ' => 0.31,
        'r' | '(' | ')' | '[' | ']' | '/' | '-' | '·' => 0.4,
        'm' | 'w' | 'M' | 'W' | '@' | '%' => 0.9,
        '0'..='9' => 0.57,
        'A'..='Z' => 0.68,
        '\u{1100}'.. => 1.0,
        _ => 0.58,
    }
}

/// As much of `text` as fits into `room` pixels, with `…` at the end if it was cut.
pub(crate) fn ellipsize(text: &str, size: f64, room: f64) -> String {
    if text_width(text, size) <= room {
        return text.into();
    }
    let mut kept = String::new();
    let mut used = size;
    for letter in text.chars() {
        used += advance(letter) * size * WIDE;
        if used > room {
            break;
        }
        kept.push(letter);
    }
    kept.truncate(kept.trim_end().len());
    kept.push('…');
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_text_is_cut() {
        assert_eq!(ellipsize("short", 10.0, 100.0), "short");
        let cut = ellipsize("a rather long name of a class", 10.0, 80.0);
        assert!(cut.ends_with('…') && text_width(&cut, 10.0) <= 80.0, "{cut}");
        assert_eq!(ellipsize("abc", 10.0, 0.0), "…");
    }
}

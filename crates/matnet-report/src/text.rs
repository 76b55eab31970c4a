//! How much room text takes, for laying out.
//!
//! The reader's browser may choose another font than the one that ships, so widths are estimates, a little wide.

/// Some fonts are wider than the one that ships.
const WIDE: f64 = 1.08;

/// Width of `text` in pixels at `size` pixels a letter.
pub(crate) fn width(text: &str, size: f64) -> f64 {
    text.chars().map(advance).sum::<f64>() * size * WIDE
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

/// As much of `text` as fits into `room`, with `…` where something is missing.
pub(crate) fn fitted(text: &str, size: f64, room: f64) -> String {
    if width(text, size) <= room {
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
        assert_eq!(fitted("short", 10.0, 100.0), "short");
        let cut = fitted("a rather long name of a class", 10.0, 80.0);
        assert!(cut.ends_with('…') && width(&cut, 10.0) <= 80.0, "{cut}");
        assert_eq!(fitted("abc", 10.0, 0.0), "…");
    }
}

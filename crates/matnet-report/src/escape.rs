//! Escaping of text for HTML, SVG and JSON.

use std::fmt::Write;

/// Text that is safe as content and as a quoted attribute; control characters, which XML forbids, become `�`.
pub(crate) fn markup(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '&' => safe.push_str("&amp;"),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '"' => safe.push_str("&quot;"),
            '\'' => safe.push_str("&#39;"),
            '\n' | '\t' => safe.push(letter),
            '\u{fffe}' | '\u{ffff}' => safe.push('\u{fffd}'),
            _ if letter.is_control() => safe.push('\u{fffd}'),
            _ => safe.push(letter),
        }
    }
    safe
}

/// A quoted JSON string that cannot close the `<script>` element around it.
pub(crate) fn json(text: &str) -> String {
    let mut safe = String::from("\"");
    for letter in text.chars() {
        match letter {
            '"' | '\\' | '<' | '>' | '&' | '\u{2028}' | '\u{2029}' => {
                let _ = write!(safe, "\\u{:04x}", letter as u32);
            }
            _ if letter.is_control() => {
                let _ = write!(safe, "\\u{:04x}", letter as u32);
            }
            _ => safe.push(letter),
        }
    }
    safe.push('"');
    safe
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hostile_text_is_escaped() {
        assert_eq!(markup("<a b='c'>&\"\u{0}"), "&lt;a b=&#39;c&#39;&gt;&amp;&quot;\u{fffd}");
        let script = json("</script><img onerror=\"x\">\n\\");
        assert!(!script.contains(['<', '>', '\n']));
        assert_eq!(script, r#""\u003c/script\u003e\u003cimg onerror=\u0022x\u0022\u003e\u000a\u005c""#);
    }
}

//! Numbers and counts as text for people: in tables, on axes, in sentences and in a terminal.

/// Text that a terminal shows as it stands: control characters but line breaks and tabs become `�`, as they could move the cursor or
/// change colours, and so do the marks that turn the direction of what follows.
///
/// ```
/// use matnet_report::text::printable;
///
/// assert_eq!(printable("a\u{1b}[31m\n\u{202e}b"), "a�[31m\n�b");
/// ```
pub fn printable(text: &str) -> String {
    text.chars().map(|letter| if is_printable(letter) { letter } else { '�' }).collect()
}

fn is_printable(letter: char) -> bool {
    let turns = matches!(letter, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    matches!(letter, '\n' | '\t') || !(letter.is_control() || turns)
}

/// A whole number with thousands separators: `19,717`.
///
/// ```
/// use matnet_report::text::count;
///
/// assert_eq!([count(999), count(2697), count(1_234_567)], ["999", "2,697", "1,234,567"]);
/// ```
pub fn count(number: usize) -> String {
    grouped(&number.to_string())
}

/// A count with its noun in the singular or plural: `1 file`, `2,000 stories`.
///
/// ```
/// use matnet_report::text::counted;
///
/// assert_eq!(counted(1, "story"), "1 story");
/// assert_eq!(counted(2000, "story"), "2,000 stories");
/// ```
pub fn counted(number: usize, noun: &str) -> String {
    if number == 1 { format!("1 {noun}") } else { format!("{} {}", count(number), plural(noun)) }
}

/// The plural of an English noun; of several words, the last one changes.
pub fn plural(noun: &str) -> String {
    for (singular, plural) in
        [("matrix", "matrices"), ("vertex", "vertices"), ("axis", "axes"), ("epoch", "epochs")]
    {
        if let Some(start) = noun.strip_suffix(singular) {
            return format!("{start}{plural}");
        }
    }
    match noun.strip_suffix('y') {
        Some(stem) if !stem.ends_with(['a', 'e', 'i', 'o', 'u']) => format!("{stem}ies"),
        _ if ["s", "x", "z", "ch", "sh"].iter().any(|end| noun.ends_with(end)) => format!("{noun}es"),
        _ => format!("{noun}s"),
    }
}

/// A number with about four significant digits; very small and very large ones in scientific notation.
///
/// ```
/// use matnet_report::text::number;
///
/// assert_eq!([number(0.123456), number(12_345.6), number(-2.5e-7)], ["0.1235", "12,346", "−2.5e−7"]);
/// ```
pub fn number(value: f64) -> String {
    let size = value.abs();
    if size == 0.0 || !value.is_finite() {
        return trimmed(fixed(value, 0));
    }
    if !(1e-4..1e7).contains(&size) {
        return scientific(value, 3);
    }
    let decimals = (3 - size.log10().floor() as i32).clamp(0, 7) as usize;
    trimmed(fixed(value, decimals))
}

/// A number with `decimals` digits after the point, thousands separators and a minus sign (`−`, not a hyphen).
pub fn fixed(value: f64, decimals: usize) -> String {
    if value.is_nan() {
        return "NaN".into();
    }
    let text = if value.is_finite() { format!("{:.decimals$}", value.abs()) } else { "∞".into() };
    let is_zero = text.chars().all(|c| c == '0' || c == '.');
    let sign = if value < 0.0 && !is_zero { "−" } else { "" };
    match text.split_once('.') {
        Some((whole, part)) => format!("{sign}{}.{part}", grouped(whole)),
        None => format!("{sign}{}", grouped(&text)),
    }
}

/// Seconds as a duration: `8 s`, `3 min 20 s`, `2 h 5 min`.
pub fn duration(seconds: f64) -> String {
    let whole = seconds.round() as u64;
    match whole {
        0..60 => format!("{whole} s"),
        60..3600 => format!("{} min {} s", whole / 60, whole % 60),
        _ => format!("{} h {} min", whole / 3600, whole % 3600 / 60),
    }
}

/// A number of bytes in the unit that suits it: `12 B`, `2 KiB`, `11.0 MiB`.
pub fn bytes(bytes: u64) -> String {
    const MIB: u64 = 1 << 20;
    const GIB: u64 = 1 << 30;
    match bytes {
        0..1024 => format!("{bytes} B"),
        1024..MIB => format!("{:.0} KiB", bytes as f64 / 1024.0),
        MIB..GIB => format!("{:.1} MiB", bytes as f64 / MIB as f64),
        _ => format!("{:.1} GiB", bytes as f64 / GIB as f64),
    }
}

/// The shape of a matrix or tensor: `28×28`.
pub fn shape(shape: &[usize]) -> String {
    shape.iter().map(usize::to_string).collect::<Vec<_>>().join("×")
}

/// `1.5e−7`, with at most `digits` digits after the point.
pub(crate) fn scientific(value: f64, digits: usize) -> String {
    let text = format!("{value:.digits$e}");
    let (base, power) = text.split_once('e').unwrap_or((&text, "0"));
    format!("{}e{power}", trimmed(base.into())).replace('-', "−")
}

/// A coordinate in a drawing: at most two digits after the point, never `-0`.
pub(crate) fn coordinate(value: f64) -> String {
    trimmed(format!("{value:.2}"))
}

/// Removes zeros after the point, the point with them, and the sign of zero.
fn trimmed(mut text: String) -> String {
    if text.contains('.') {
        text.truncate(text.trim_end_matches('0').trim_end_matches('.').len());
    }
    if text == "-0" { "0".into() } else { text }
}

/// Digits with a separator after every third from the right.
fn grouped(digits: &str) -> String {
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (place, digit) in digits.char_indices() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_written_for_people() {
        assert_eq!(coordinate(-0.001), "0");
        assert_eq!(coordinate(12.50), "12.5");
        assert_eq!(fixed(-1234567.891, 1), "−1,234,567.9");
        assert_eq!(fixed(-0.04, 1), "0.0");
        assert_eq!(fixed(1234.0, 0), "1,234");
        assert_eq!([number(0.0), number(1.0), number(100.0), number(1000.0)], ["0", "1", "100", "1,000"]);
        assert_eq!([number(0.123456), number(-0.130_66)], ["0.1235", "−0.1307"]);
        assert_eq!([number(160_601.0), number(12_345.6)], ["160,601", "12,346"]);
        assert_eq!([number(-2.5e-7), number(2e9)], ["−2.5e−7", "2e9"]);
        assert_eq!([number(f64::NEG_INFINITY), number(f64::NAN)], ["−∞", "NaN"]);
    }

    #[test]
    fn counts_have_separators_and_nouns_their_plural() {
        assert_eq!([count(0), count(999), count(1000), count(1_234_567)], ["0", "999", "1,000", "1,234,567"]);
        assert_eq!(
            [counted(1, "file"), counted(2000, "file"), counted(0, "run")],
            ["1 file", "2,000 files", "0 runs"]
        );
        let nouns = ["story", "day", "class", "batch", "matrix", "distinct pair", "step"];
        let plurals = ["stories", "days", "classes", "batches", "matrices", "distinct pairs", "steps"];
        assert_eq!(nouns.map(plural), plurals);
    }

    #[test]
    fn durations_sizes_and_shapes_have_their_units() {
        assert_eq!([duration(8.2), duration(200.0), duration(7500.0)], ["8 s", "3 min 20 s", "2 h 5 min"]);
        assert_eq!(
            [bytes(12), bytes(2048), bytes(11_534_336), bytes(3 << 30)],
            ["12 B", "2 KiB", "11.0 MiB", "3.0 GiB"]
        );
        assert_eq!([shape(&[28, 28]), shape(&[5])], ["28×28", "5"]);
    }
}

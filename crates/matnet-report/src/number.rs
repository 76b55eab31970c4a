//! Numbers as text: coordinates, ticks, values.

/// A coordinate: two digits after the point, no trailing zeros, never `-0`.
pub(crate) fn coordinate(value: f64) -> String {
    trimmed(format!("{value:.2}"))
}

/// Drops zeros after the point, the point with them, and the sign of zero.
fn trimmed(mut text: String) -> String {
    if text.contains('.') {
        text.truncate(text.trim_end_matches('0').trim_end_matches('.').len());
    }
    if text == "-0" { "0".into() } else { text }
}

/// A value with `decimals` digits after the point, thousands apart, and a real minus.
pub(crate) fn fixed(value: f64, decimals: usize) -> String {
    if !value.is_finite() {
        return odd(value);
    }
    let text = format!("{:.decimals$}", value.abs());
    let (whole, part) = text.split_once('.').map_or((text.as_str(), None), |(w, p)| (w, Some(p)));
    let mut grouped = String::new();
    for (place, digit) in whole.chars().enumerate() {
        // Four digits stand together; from five on they are grouped.
        if place > 0 && (whole.len() - place).is_multiple_of(3) && whole.len() > 4 {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    let is_zero = text.chars().all(|c| c == '0' || c == '.');
    let sign = if value < 0.0 && !is_zero { "−" } else { "" };
    match part {
        Some(part) => format!("{sign}{grouped}.{part}"),
        None => format!("{sign}{grouped}"),
    }
}

/// A value for people: about four digits that count.
pub(crate) fn short(value: f64) -> String {
    if !value.is_finite() {
        return odd(value);
    }
    let size = value.abs();
    if size == 0.0 {
        return "0".into();
    }
    if !(1e-4..1e7).contains(&size) {
        return scientific(value, 3);
    }
    let decimals = (3 - size.log10().floor() as i32).clamp(0, 7) as usize;
    let text = fixed(value, decimals);
    if text.contains('.') { trimmed(text) } else { text }
}

/// `1.5e−7`, with at most `digits` after the point.
pub(crate) fn scientific(value: f64, digits: usize) -> String {
    let text = format!("{value:.digits$e}");
    let (base, power) = text.split_once('e').unwrap_or((&text, "0"));
    format!("{}e{power}", trimmed(base.into())).replace('-', "−")
}

fn odd(value: f64) -> String {
    if value.is_nan() {
        "NaN".into()
    } else if value > 0.0 {
        "∞".into()
    } else {
        "−∞".into()
    }
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
        assert_eq!(fixed(1234.0, 0), "1234");
        assert_eq!(short(0.123456), "0.1235");
        assert_eq!(short(160601.0), "160,601");
        assert_eq!(short(100.0), "100");
        assert_eq!(short(-2.5e-7), "−2.5e−7");
        assert_eq!(short(f64::NEG_INFINITY), "−∞");
    }
}

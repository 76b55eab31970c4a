//! Lines of CSV files.

/// A line with these cells; those with commas, quotes or line breaks are quoted.
pub fn line(cells: impl IntoIterator<Item = impl AsRef<str>>) -> String {
    let mut line = String::new();
    for (at, cell) in cells.into_iter().enumerate() {
        if at > 0 {
            line.push(',');
        }
        let cell = cell.as_ref();
        match cell.contains([',', '"', '\n', '\r']) {
            true => line += &format!("\"{}\"", cell.replace('"', "\"\"")),
            false => line += cell,
        }
    }
    line.push('\n');
    line
}

/// A number, or nothing.
pub fn number(value: Option<f64>) -> String {
    value.map(|value| value.to_string()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    #[test]
    fn cells_are_quoted_where_they_must_be() {
        assert_eq!(super::line(["a", "", "[20, 20]", "say \"x\""]), "a,,\"[20, 20]\",\"say \"\"x\"\"\"\n");
    }
}

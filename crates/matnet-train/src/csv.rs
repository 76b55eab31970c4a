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

/// The cells of a [`line()`]; none of them has a line break.
pub fn cells(line: &str) -> Vec<String> {
    let (mut cells, mut cell, mut quoted) = (Vec::new(), String::new(), false);
    let mut characters = line.chars().peekable();
    while let Some(character) = characters.next() {
        match character {
            // Two quotes within quotes are one.
            '"' if quoted && characters.next_if_eq(&'"').is_some() => cell.push('"'),
            '"' => quoted = !quoted,
            ',' if !quoted => cells.push(std::mem::take(&mut cell)),
            other => cell.push(other),
        }
    }
    cells.push(cell);
    cells
}

/// A number, or nothing.
pub fn number(value: Option<f64>) -> String {
    value.map(|value| value.to_string()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    #[test]
    fn cells_are_quoted_where_they_must_be() {
        let (cells, line) = (["a", "", "[20, 20]", "say \"x\""], "a,,\"[20, 20]\",\"say \"\"x\"\"\"\n");
        assert_eq!(super::line(cells), line);
        assert_eq!(super::cells(line.trim_end()), cells);
        assert_eq!(super::cells(""), [""]);
    }
}

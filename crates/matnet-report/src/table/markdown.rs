//! Tables as Markdown.

use super::{Table, TableCell};

impl Table {
    /// The table as Markdown, with aligned columns in the source too, without its caption.
    pub fn markdown(&self) -> String {
        let best = self.best();
        let written = |cell: &TableCell, best: &Option<String>| {
            let text = escaped(&cell.text());
            if Self::is_best(best, cell) { format!("**{text}**") } else { text }
        };
        let head: Vec<String> = self.columns.iter().map(|column| escaped(&column.name)).collect();
        let body: Vec<Vec<String>> = self
            .rows
            .iter()
            .map(|row| row.iter().zip(&best).map(|(cell, best)| written(cell, best)).collect())
            .collect();
        let width = |place: usize| {
            let cells = body.iter().map(|row| &row[place]).chain([&head[place]]);
            cells.map(|cell| cell.chars().count()).max().unwrap_or(0).max(3)
        };
        let widths: Vec<usize> = (0..head.len()).map(width).collect();
        let line = |cells: &[String]| {
            let padded = cells.iter().zip(&widths).zip(&self.columns).map(|((cell, width), column)| {
                let room = " ".repeat(width - cell.chars().count());
                if column.numeric { format!(" {room}{cell} |") } else { format!(" {cell}{room} |") }
            });
            format!("|{}\n", padded.collect::<String>())
        };
        let rule = widths.iter().zip(&self.columns).map(|(width, column)| {
            let end = if column.numeric { ":|" } else { "-|" };
            format!("{}{end}", "-".repeat(width + 1))
        });
        let rule = format!("|{}\n", rule.collect::<String>());
        let body: String = body.iter().map(|row| line(row)).collect();
        format!("{}{rule}{body}", line(&head))
    }
}

/// Escapes characters with a meaning in Markdown or HTML.
fn escaped(text: &str) -> String {
    let letters: Vec<char> = text.chars().collect();
    let mut safe = String::new();
    for (place, &letter) in letters.iter().enumerate() {
        let beside = |at: Option<&char>| at.is_some_and(|c| c.is_alphanumeric());
        match letter {
            '\\' | '|' | '*' | '`' | '[' | ']' | '~' => safe.extend(['\\', letter]),
            // Within a word, as in row_map, it has no meaning.
            '_' if !(beside(letters[..place].last()) && beside(letters.get(place + 1))) => {
                safe.push_str("\\_")
            }
            '<' => safe.push_str("&lt;"),
            '&' => safe.push_str("&amp;"),
            _ if letter.is_control() => safe.push(' '),
            _ => safe.push(letter),
        }
    }
    safe
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::{Highlight, TableColumn};

    #[test]
    fn markup_is_escaped() {
        assert_eq!(escaped("a|b\nc *d* <img> row_map _x_"), "a\\|b c \\*d\\* &lt;img> row_map \\_x\\_");
    }

    #[test]
    fn columns_are_aligned() {
        let table =
            Table::new([TableColumn::text("é|"), TableColumn::number("n").with_highlight(Highlight::Max)])
                .with_row(["long name".into(), TableCell::count(160_601)])
                .with_row([TableCell::Empty, TableCell::number(-1.0, 0)]);
        let lines = "| é\\|       |           n |\n\
                     |-----------|------------:|\n\
                     | long name | **160,601** |\n\
                     | –         |          −1 |\n";
        assert_eq!(table.markdown(), lines);
    }

    #[test]
    #[should_panic(expected = "2 cells for 1 columns")]
    fn too_many_cells_panic() {
        let _ = Table::new([TableColumn::text("a")]).with_row([TableCell::Empty, TableCell::Empty]);
    }
}

//! Tables as plain text.

use super::Table;
use crate::text::printable;

impl Table {
    /// The table as plain text for a terminal: one header line, aligned columns, without its caption.
    pub fn text(&self) -> String {
        let clean = |text: &str| printable(text).replace(['\n', '\t'], " ");
        let head: Vec<String> = self.columns.iter().map(|column| clean(&column.name)).collect();
        let body = self.rows.iter().map(|row| row.iter().map(|cell| clean(&cell.text())).collect());
        let lines: Vec<Vec<String>> = std::iter::once(head).chain(body).collect();
        let width = |place: usize| lines.iter().map(|line| line[place].chars().count()).max().unwrap_or(0);
        let widths: Vec<usize> = (0..self.columns.len()).map(width).collect();
        let mut text = String::new();
        for line in &lines {
            let cells = line.iter().zip(&widths).zip(&self.columns).map(|((cell, &width), column)| {
                if column.numeric { format!("{cell:>width$}") } else { format!("{cell:<width$}") }
            });
            text.push_str(cells.collect::<Vec<_>>().join("  ").trim_end());
            text.push('\n');
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use crate::table::{Table, TableCell, TableColumn};

    #[test]
    fn columns_are_aligned() {
        let columns =
            [TableColumn::text("class"), TableColumn::number("support"), TableColumn::number("recall")];
        let table = Table::new(columns)
            .with_caption("not shown")
            .with_row(["é\u{1b}[2J".into(), TableCell::count(2697), "97.1 %".into()])
            .with_row(["long name".into(), TableCell::count(9), TableCell::Empty])
            .with_row(["mean".into(), "".into(), "".into()]);
        let lines = "class      support  recall\n\
                     é�[2J        2,697  97.1 %\n\
                     long name        9       –\n\
                     mean\n";
        assert_eq!(table.text(), lines);
    }
}

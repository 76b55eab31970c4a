//! Tables as HTML.

use std::fmt::Write;

use super::Table;
use crate::escape::markup;

impl Table {
    /// The table as HTML. The caption is outside the scroll box, so that it stays on a narrow screen.
    pub(crate) fn html(&self) -> String {
        let mut html = String::from("<figure class=\"table\">\n");
        if !self.caption.is_empty() {
            let _ = writeln!(html, "<figcaption>{}</figcaption>", markup(&self.caption));
        }
        html.push_str("<div class=\"scroll\"><table>\n<thead><tr>");
        for column in &self.columns {
            let class = if column.numeric { " class=\"n\"" } else { "" };
            let _ = write!(html, "<th scope=\"col\"{class}>{}</th>", markup(&column.name));
        }
        html.push_str("</tr></thead>\n<tbody>\n");
        let best = self.best();
        for row in &self.rows {
            html.push_str("<tr>");
            for ((cell, column), best) in row.iter().zip(&self.columns).zip(&best) {
                let class = match (column.numeric, Self::is_best(best, cell)) {
                    (true, true) => " class=\"n best\"",
                    (true, false) => " class=\"n\"",
                    (false, true) => " class=\"best\"",
                    (false, false) => "",
                };
                let _ = write!(html, "<td{class}>{}</td>", markup(&cell.text()));
            }
            html.push_str("</tr>\n");
        }
        html.push_str("</tbody></table></div>\n</figure>\n");
        html
    }
}

#[cfg(test)]
mod tests {
    use crate::table::{Highlight, Table, TableCell, TableColumn};

    #[test]
    fn numbers_are_right_aligned_and_the_best_is_bold() {
        let table = Table::new([
            TableColumn::text("net"),
            TableColumn::number("<acc>").with_highlight(Highlight::Max),
        ])
        .with_row(["<b>a</b>".into(), TableCell::number(97.06, 1)])
        .with_row(["b".into(), TableCell::number(97.14, 1)])
        .with_row(["c".into(), TableCell::number(f64::NAN, 1)])
        .with_row(["d".into()]);
        let html = table.html();
        assert!(html.contains("<th scope=\"col\" class=\"n\">&lt;acc&gt;</th>"));
        assert!(html.contains("<td>&lt;b&gt;a&lt;/b&gt;</td>"));
        // Both are written as 97.1, so both are bold.
        assert_eq!(html.matches("<td class=\"n best\">97.1</td>").count(), 2);
        assert!(html.contains("<td class=\"n\">NaN</td>") && html.contains("<td class=\"n\">–</td>"));
    }
}

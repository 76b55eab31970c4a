//! The table on a page.

use std::fmt::Write;

use super::Table;
use crate::escape::markup;

impl Table {
    /// The table as HTML, to stand in a [`Page`](crate::page::Page).
    pub(crate) fn html(&self) -> String {
        let mut html = String::from("<div class=\"scroll\"><table");
        html.push_str(if self.sortable { " class=\"sort\">\n" } else { ">\n" });
        if !self.caption.is_empty() {
            let _ = writeln!(html, "<caption>{}</caption>", markup(&self.caption));
        }
        html.push_str("<thead><tr>");
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
                let _ = write!(html, "<td{class}");
                if let Some(value) = cell.value().filter(|_| self.sortable) {
                    let _ = write!(html, " data-v=\"{value}\"");
                }
                let _ = write!(html, ">{}</td>", markup(&cell.text()));
            }
            html.push_str("</tr>\n");
        }
        html.push_str("</tbody></table></div>\n");
        html
    }
}

#[cfg(test)]
mod tests {
    use crate::table::{Best, Cell, Column, Table};

    #[test]
    fn numbers_stand_right_and_the_best_is_marked() {
        let table = Table::new([Column::text("net"), Column::number("<acc>").with_best(Best::Highest)])
            .with_sorting()
            .with_row(["<b>a</b>".into(), Cell::number(97.06, 1)])
            .with_row(["b".into(), Cell::number(97.14, 1)])
            .with_row(["c".into(), Cell::number(f64::NAN, 1)])
            .with_row(["d".into()]);
        let html = table.html();
        assert!(html.contains("<th scope=\"col\" class=\"n\">&lt;acc&gt;</th>"));
        assert!(html.contains("<td>&lt;b&gt;a&lt;/b&gt;</td>"));
        // Both are written 97.1, so both are best.
        assert_eq!(html.matches("<td class=\"n best\" data-v=\"97").count(), 2);
        assert!(html.contains("<td class=\"n\">NaN</td>") && html.contains("<td class=\"n\">–</td>"));
    }
}

//! One table type for HTML, Markdown and plain text.

mod cell;
mod html;
mod markdown;
mod plain;

pub use cell::TableCell;

/// The value of a column that is set in bold, together with values that are written the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Highlight {
    /// The lowest, as for errors.
    Min,
    /// The highest, as for accuracies.
    Max,
}

/// The header of a column.
#[derive(Clone, Debug)]
pub struct TableColumn {
    name: String,
    numeric: bool,
    highlight: Option<Highlight>,
}

impl TableColumn {
    /// A left-aligned column.
    pub fn text(name: impl Into<String>) -> Self {
        Self { name: name.into(), numeric: false, highlight: None }
    }

    /// A right-aligned column.
    pub fn number(name: impl Into<String>) -> Self {
        Self { name: name.into(), numeric: true, highlight: None }
    }

    /// Sets the best number in bold, in HTML and Markdown.
    pub fn with_highlight(mut self, highlight: Highlight) -> Self {
        self.highlight = Some(highlight);
        self
    }
}

/// Rows of cells under named columns.
///
/// ```
/// use matnet_report::table::{Highlight, Table, TableCell, TableColumn};
///
/// let columns = [
///     TableColumn::text("net"),
///     TableColumn::number("error rate (%)").with_highlight(Highlight::Min),
/// ];
/// let table = Table::new(columns)
///     .with_row([TableCell::from("matrix"), TableCell::mean_std(1.21, 0.04, 2)])
///     .with_row([TableCell::from("vector"), TableCell::mean_std(1.9, 0.1, 2)]);
/// assert_eq!(
///     table.markdown(),
///     "| net    |  error rate (%) |\n\
///      |--------|----------------:|\n\
///      | matrix | **1.21 ± 0.04** |\n\
///      | vector |     1.90 ± 0.10 |\n"
/// );
/// assert_eq!(
///     table.text(),
///     "net     error rate (%)\n\
///      matrix     1.21 ± 0.04\n\
///      vector     1.90 ± 0.10\n"
/// );
/// ```
#[derive(Clone, Debug)]
pub struct Table {
    columns: Vec<TableColumn>,
    rows: Vec<Vec<TableCell>>,
    caption: String,
}

impl Table {
    /// A table without rows.
    pub fn new(columns: impl IntoIterator<Item = TableColumn>) -> Self {
        Self { columns: columns.into_iter().collect(), rows: Vec::new(), caption: String::new() }
    }

    /// The caption, written above the table in HTML.
    pub fn with_caption(mut self, caption: impl Into<String>) -> Self {
        self.caption = caption.into();
        self
    }

    /// The caption.
    pub fn caption(&self) -> &str {
        &self.caption
    }

    /// Adds a row; missing cells are empty.
    ///
    /// # Panics
    ///
    /// If the row has more cells than there are columns.
    pub fn with_row(mut self, cells: impl IntoIterator<Item = TableCell>) -> Self {
        self.push(cells);
        self
    }

    /// Adds a row; missing cells are empty.
    ///
    /// # Panics
    ///
    /// If the row has more cells than there are columns.
    pub fn push(&mut self, cells: impl IntoIterator<Item = TableCell>) {
        let mut row: Vec<TableCell> = cells.into_iter().collect();
        assert!(row.len() <= self.columns.len(), "{} cells for {} columns", row.len(), self.columns.len());
        row.resize(self.columns.len(), TableCell::Empty);
        self.rows.push(row);
    }

    /// The text of the best cells of each column that has a highlight.
    fn best(&self) -> Vec<Option<String>> {
        let best = |(place, column): (usize, &TableColumn)| {
            let sign = match column.highlight? {
                Highlight::Min => 1.0,
                Highlight::Max => -1.0,
            };
            let numbers = self.rows.iter().filter_map(|row| Some((row[place].value()?, &row[place])));
            let best = numbers.min_by(|a, b| (sign * a.0).total_cmp(&(sign * b.0)))?;
            Some(best.1.head())
        };
        self.columns.iter().enumerate().map(best).collect()
    }

    /// Whether a cell is among the best of its column.
    fn is_best(best: &Option<String>, cell: &TableCell) -> bool {
        cell.value().is_some() && best.as_ref() == Some(&cell.head())
    }
}

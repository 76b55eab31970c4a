//! One table for a page and for a Markdown file.

mod cell;
mod html;
mod markdown;

pub use cell::Cell;

/// Which value of a column is set in bold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Best {
    /// None.
    None,
    /// The lowest, as for errors.
    Lowest,
    /// The highest, as for accuracies.
    Highest,
}

/// The head of a column.
#[derive(Clone, Debug)]
pub struct Column {
    name: String,
    numeric: bool,
    best: Best,
}

impl Column {
    /// A column of words, to the left.
    pub fn text(name: impl Into<String>) -> Self {
        Self { name: name.into(), numeric: false, best: Best::None }
    }

    /// A column of numbers, to the right.
    pub fn number(name: impl Into<String>) -> Self {
        Self { name: name.into(), numeric: true, best: Best::None }
    }

    /// Sets the best number, and those that are written the same, in bold.
    pub fn with_best(mut self, best: Best) -> Self {
        self.best = best;
        self
    }
}

/// Rows of cells under named columns.
///
/// ```
/// use matnet_report::table::{Best, Cell, Column, Table};
///
/// let columns = [Column::text("net"), Column::number("error (%)").with_best(Best::Lowest)];
/// let table = Table::new(columns)
///     .with_row([Cell::from("matrix"), Cell::mean_sd(1.21, 0.04, 2)])
///     .with_row([Cell::from("vector"), Cell::mean_sd(1.9, 0.1, 2)]);
/// assert_eq!(
///     table.markdown(),
///     "| net    |       error (%) |\n\
///      |--------|----------------:|\n\
///      | matrix | **1.21 ± 0.04** |\n\
///      | vector |     1.90 ± 0.10 |\n"
/// );
/// ```
#[derive(Clone, Debug)]
pub struct Table {
    columns: Vec<Column>,
    rows: Vec<Vec<Cell>>,
    caption: String,
    sortable: bool,
}

impl Table {
    /// A table without rows.
    pub fn new(columns: impl IntoIterator<Item = Column>) -> Self {
        let columns = columns.into_iter().collect();
        Self { columns, rows: Vec::new(), caption: String::new(), sortable: false }
    }

    /// What the table shows, written above it.
    pub fn with_caption(mut self, caption: impl Into<String>) -> Self {
        self.caption = caption.into();
        self
    }

    /// What the table shows.
    pub fn caption(&self) -> &str {
        &self.caption
    }

    /// Lets a reader of the page sort the rows by a click on a column's name.
    pub fn with_sorting(mut self) -> Self {
        self.sortable = true;
        self
    }

    /// One more row.
    ///
    /// # Panics
    ///
    /// If it has more cells than there are columns; missing ones are empty.
    pub fn with_row(mut self, cells: impl IntoIterator<Item = Cell>) -> Self {
        self.push(cells);
        self
    }

    /// One more row, as [`Table::with_row`].
    ///
    /// # Panics
    ///
    /// If it has more cells than there are columns; missing ones are empty.
    pub fn push(&mut self, cells: impl IntoIterator<Item = Cell>) {
        let mut row: Vec<Cell> = cells.into_iter().collect();
        assert!(row.len() <= self.columns.len(), "{} cells for {} columns", row.len(), self.columns.len());
        row.resize(self.columns.len(), Cell::Empty);
        self.rows.push(row);
    }

    /// How many rows there are.
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// Whether there are no rows.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// For each column what its best cells say, if it has any.
    fn best(&self) -> Vec<Option<String>> {
        let best = |(place, column): (usize, &Column)| {
            let sign = match column.best {
                Best::None => return None,
                Best::Lowest => 1.0,
                Best::Highest => -1.0,
            };
            let numbers = self.rows.iter().filter_map(|row| Some((row[place].value()?, &row[place])));
            let best = numbers.min_by(|a, b| (sign * a.0).total_cmp(&(sign * b.0)))?;
            Some(best.1.head())
        };
        self.columns.iter().enumerate().map(best).collect()
    }

    /// Whether a cell is among the best of its column.
    fn is_best(best: &Option<String>, cell: &Cell) -> bool {
        cell.value().is_some() && best.as_ref() == Some(&cell.head())
    }
}

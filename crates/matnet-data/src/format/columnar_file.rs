//! What the readers of `Parquet` and `Arrow` have in common.

use super::table::ColumnKind;

/// One value of a column.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Value<'a> {
    Missing,
    Boolean(bool),
    /// Of 64 bits, with a sign or without.
    Integer(i128),
    Float(f64),
    Text(&'a str),
}

/// A column as a file describes it.
pub(super) struct Column {
    pub name: String,
    /// The type, if no value is missing.
    pub kind: ColumnKind,
    /// Whether a value is missing; `None` where only the values tell.
    pub missing: Option<bool>,
}

/// Takes the values of a column one by one; an error ends the reading.
pub(super) type EachValue<'a> = dyn FnMut(Value) -> Result<(), String> + 'a;

/// A file of one of the formats. Errors say what is wrong, without the name of the file.
pub(super) trait ColumnarFile: Send + Sync {
    /// The number of rows, which the file says it has.
    fn rows(&self) -> Result<usize, String>;
    /// All columns.
    fn columns(&self) -> Result<Vec<Column>, String>;
    /// The rows of each group that can be read on its own.
    fn groups(&self) -> Result<Vec<usize>, String>;
    /// Passes every value of a column in a group of rows to `each`.
    fn each_in(&self, group: usize, column: usize, each: &mut EachValue) -> Result<(), String>;
}

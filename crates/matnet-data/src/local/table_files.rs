//! The files of a table, of any format, and its columns by their names.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

#[cfg(not(feature = "columnar"))]
use super::columnar::no_columnar;
use super::columnar::{is_columnar, shards};
use super::{ReadOptions, TargetKind};
#[cfg(feature = "columnar")]
use crate::format::columnar::{ColumnarTable, word};
use crate::format::table::{self, ColumnKind, Columns, TableHead, TableNames};
use crate::{Array, Error, Result};

/// The columns that are features, in the order of the user or of the file.
pub(super) struct Features {
    pub columns: Vec<usize>,
    /// The names of columns that are neither features nor targets.
    pub left_out: Vec<String>,
    /// How many further columns have no name.
    pub unnamed: usize,
}

/// A table of any format, perhaps in several files.
pub(super) struct TableFiles {
    pub path: PathBuf,
    pub head: TableHead,
    #[cfg(feature = "columnar")]
    columnar: Vec<ColumnarTable>,
}

impl TableFiles {
    #[cfg(feature = "columnar")]
    pub fn open(path: &Path, names: TableNames) -> Result<Self> {
        let mut files = shards(path)?;
        if files.is_empty() && is_columnar(path) {
            files.push(path.to_owned());
        }
        let columnar = files.iter().map(ColumnarTable::open).collect::<Result<Vec<_>>>()?;
        let head = match columnar.is_empty() {
            true => table::scan(path, names)?,
            false => joined(&columnar)?,
        };
        Ok(Self { path: path.to_owned(), head, columnar })
    }

    #[cfg(feature = "columnar")]
    pub fn read(&self, numbers: &[usize], texts: &[usize]) -> Result<Columns> {
        let mut tables = self.columnar.iter();
        let Some(first) = tables.next() else {
            return table::read(&self.path, &self.head, numbers, texts);
        };
        let Columns { numbers: values, texts: mut words } = first.read(numbers, texts)?;
        if self.columnar.len() == 1 {
            return Ok(Columns { numbers: values, texts: words });
        }
        let mut values = values.into_data();
        for table in tables {
            let more = table.read(numbers, texts)?;
            crate::memory::reserve(&mut values, more.numbers.data().len(), self.path.display())?;
            values.extend_from_slice(more.numbers.data());
            for (words, more) in words.iter_mut().zip(&more.texts) {
                for index in &more.indices {
                    let text = index.map_or("", |index| &more.names[index as usize]);
                    words.push(text).map_err(|what| self.error(what))?;
                }
            }
        }
        Ok(Columns { numbers: Array::new([self.head.rows, numbers.len()], values)?, texts: words })
    }

    /// Whether it is a text.
    #[cfg(feature = "columnar")]
    fn is_text(&self) -> bool {
        self.columnar.is_empty()
    }

    /// Passes every field of a column to `each`, with its row.
    #[cfg(feature = "columnar")]
    pub fn each_word(&self, column: usize, each: &mut dyn FnMut(usize, &str) -> Result<()>) -> Result<()> {
        if self.is_text() {
            return table::each_word(&self.path, &self.head, column, each);
        }
        let mut first = 0;
        for table in &self.columnar {
            // An error of `each` is of the whole table, and has its path already.
            let mut failed = None;
            let read = table.each(column, &mut |row, value| {
                each(first + row, &word(value)).map_err(|error| {
                    failed = Some(error);
                    String::new()
                })
            });
            match failed {
                Some(error) => return Err(error),
                None => read?,
            }
            first += table.head().rows;
        }
        Ok(())
    }

    #[cfg(not(feature = "columnar"))]
    fn is_text(&self) -> bool {
        true
    }

    #[cfg(not(feature = "columnar"))]
    pub fn each_word(&self, column: usize, each: &mut dyn FnMut(usize, &str) -> Result<()>) -> Result<()> {
        table::each_word(&self.path, &self.head, column, each)
    }

    #[cfg(not(feature = "columnar"))]
    pub fn open(path: &Path, names: TableNames) -> Result<Self> {
        if is_columnar(path) || !shards(path)?.is_empty() {
            return Err(no_columnar(path));
        }
        Ok(Self { path: path.to_owned(), head: table::scan(path, names)? })
    }

    #[cfg(not(feature = "columnar"))]
    pub fn read(&self, numbers: &[usize], texts: &[usize]) -> Result<Columns> {
        table::read(&self.path, &self.head, numbers, texts)
    }

    /// Columns of numbers, row by row. They are read in the order of the file; they are wanted in the order of the user.
    pub fn numbers(&self, columns: &[usize]) -> Result<Vec<f32>> {
        let mut sorted = columns.to_vec();
        sorted.sort_unstable();
        let values = self.read(&sorted, &[])?.numbers;
        if sorted == columns {
            return Ok(values.into_data());
        }
        let places: Vec<usize> =
            columns.iter().map(|column| sorted.partition_point(|n| n < column)).collect();
        let rows = values.data().chunks_exact(sorted.len().max(1));
        Ok(rows.flat_map(|row| places.iter().map(|&place| row[place])).collect())
    }

    pub fn find(&self, name: &str) -> Option<usize> {
        self.head.names.iter().position(|known| known == name)
    }

    /// The columns with these names; the error lists those there are.
    pub fn named(&self, names: &[String]) -> Result<Vec<usize>> {
        let find = |name: &String| {
            self.find(name).ok_or_else(|| {
                let some: Vec<&str> = self.head.names.iter().take(12).map(String::as_str).collect();
                let more = if self.head.names.len() > 12 { ", …" } else { "" };
                self.error(format!("no column {name:?}; there are: {}{more}", some.join(", ")))
            })
        };
        let found: Vec<usize> = names.iter().map(find).collect::<Result<_>>()?;
        if let Some(at) = (1..found.len()).find(|&at| found[..at].contains(&found[at])) {
            return Err(self.error(format!("column {:?} is named twice", names[at])));
        }
        self.require_distinct(&found)?;
        Ok(found)
    }

    /// Fails if another column has the name of one of these: it would be found in its place.
    pub fn require_distinct(&self, columns: &[usize]) -> Result<()> {
        let mut count: HashMap<&str, usize> = HashMap::new();
        self.head.names.iter().for_each(|name| *count.entry(name).or_default() += 1);
        match columns.iter().map(|&column| &self.head.names[column]).find(|name| count[name.as_str()] > 1) {
            Some(name) => {
                Err(self.error(format!("{} columns are called {name:?}; one expected", count[name.as_str()])))
            }
            None => Ok(()),
        }
    }

    /// Fails if the first line of a text looks like a row: it would be lost as names.
    pub fn require_names(&self) -> Result<()> {
        let names = &self.head.names;
        let all_numbers = names.iter().all(|name| name.parse::<f32>().is_ok());
        match self.is_text() && all_numbers && !table::counts(names) {
            true => Err(self.error(format!(
                "its first line holds numbers ({}, …); the names of the columns expected there",
                names[0]
            ))),
            false => Ok(()),
        }
    }

    pub fn features(&self, options: &ReadOptions, targets: &[usize]) -> Result<Features> {
        let is_text = |column: &usize| self.head.kinds[*column] == ColumnKind::Text;
        if !options.columns.is_empty() {
            let columns = self.named(&options.columns)?;
            if let Some(&both) = columns.iter().find(|column| targets.contains(column)) {
                return Err(
                    self.error(format!("column {:?} is a feature and a target", self.head.names[both]))
                );
            }
            if let Some(&text) = columns.iter().find(|column| is_text(column)) {
                return Err(self.error(format!("column {:?} does not hold numbers", self.head.names[text])));
            }
            return Ok(Features { columns, left_out: Vec::new(), unnamed: 0 });
        }
        let rest = (0..self.head.names.len()).filter(|column| !targets.contains(column));
        // A column without a name is the index that pandas writes.
        let (unnamed, rest): (Vec<usize>, Vec<usize>) =
            rest.partition(|&column| self.head.names[column].is_empty());
        let (left_out, columns): (Vec<usize>, Vec<usize>) = rest.into_iter().partition(is_text);
        if columns.is_empty() {
            return Err(self.error("no column of numbers is left for the features".to_owned()));
        }
        self.require_distinct(&columns)?;
        let left_out = left_out.into_iter().map(|column| self.head.names[column].clone()).collect();
        Ok(Features { columns, left_out, unnamed: unnamed.len() })
    }

    /// What the target columns are: as the user says, or else by their types.
    pub fn target_kind(&self, said: Option<TargetKind>, targets: &[usize]) -> Result<Option<TargetKind>> {
        use ColumnKind::{Boolean, Float, Text};
        let kinds: Vec<ColumnKind> = targets.iter().map(|&column| self.head.kinds[column]).collect();
        let kind = match (said, &kinds[..]) {
            (_, []) => return Ok(None),
            (Some(TargetKind::Matrix), _) => {
                return Err(self.error("a table has no target matrices, where `target` says so".to_owned()));
            }
            (Some(kind), _) => kind,
            (None, [Float]) => TargetKind::Value,
            (None, [_]) => TargetKind::Class,
            (None, several) if several.contains(&Float) => TargetKind::Value,
            (None, _) => TargetKind::Labels,
        };
        if kind == TargetKind::Class && targets.len() > 1 {
            return Err(
                self.error(format!("{} target columns; one class per sample expected", targets.len()))
            );
        }
        let text = kinds.iter().position(|kind| *kind == Text);
        match text.filter(|_| kind != TargetKind::Class) {
            Some(at) => Err(self.error(format!(
                "target column {:?} does not hold numbers; a single one of texts is a class",
                self.head.names[targets[at]]
            ))),
            None if kind == TargetKind::Value && kinds.contains(&Boolean) => {
                Err(self.error("a target column holds booleans, where values were expected".to_owned()))
            }
            None => Ok(Some(kind)),
        }
    }

    pub fn error(&self, what: String) -> Error {
        Error::format(&self.path, what)
    }
}

/// The columns of files that are read as one table.
#[cfg(feature = "columnar")]
fn joined(tables: &[ColumnarTable]) -> Result<TableHead> {
    let mut head = tables[0].head().clone();
    for table in &tables[1..] {
        let other = table.head();
        if other.names != head.names {
            let what = format!(
                "has the columns {}; those of {} expected: {}",
                other.names.join(", "),
                tables[0].name().display(),
                head.names.join(", ")
            );
            return Err(Error::format(table.name(), what));
        }
        for ((kind, other), name) in head.kinds.iter_mut().zip(&other.kinds).zip(&head.names) {
            use ColumnKind::{Boolean, Float, Integer, Text};
            *kind = match (*kind, *other) {
                (a, b) if a == b => a,
                (Integer, Float) | (Float, Integer) => Float,
                // `True` and 1 would be two classes.
                (Boolean, Integer | Float) | (Integer | Float, Boolean) => {
                    let first = tables[0].name().display();
                    let what = format!(
                        "column {name:?} holds booleans here or in {first}, and numbers in the other; one type expected"
                    );
                    return Err(Error::format(table.name(), what));
                }
                _ => Text,
            };
        }
        head.rows += other.rows;
    }
    Ok(head)
}

/// A remark on columns without a name.
pub(super) fn unnamed_note(count: usize) -> Option<String> {
    match count {
        0 => None,
        1 => Some("the column without a name is left out".to_owned()),
        some => Some(format!("{some} columns without a name are left out")),
    }
}

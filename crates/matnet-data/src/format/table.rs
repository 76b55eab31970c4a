//! Tables as text: a row per line, columns of numbers and of texts, and usually a first line of names.
//!
//! The separator is that of the first line: a tab, a semicolon or a comma, else blanks. Other fields than texts may be empty, or one of
//! `?`, `NA`, `N/A`, `NaN`, `null` and `none`: such values are missing. A file is read twice, first for the types of its columns, then
//! for the columns that are needed.

use std::collections::HashMap;
use std::path::Path;

use crate::format::bounded::{Input, reserve};
use crate::format::fields::{Fields, Next};
use crate::{Array, Error, Result, memory};

/// More columns than tables of samples have.
const MAX_COLUMNS: usize = 1 << 16;
/// More different texts than a column of classes has.
const MAX_TEXTS: usize = 1 << 16;

/// The words for a missing value, in lower case.
const MISSING: [&str; 7] = ["", "?", "na", "n/a", "nan", "null", "none"];

/// The type of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ColumnKind {
    /// `true` and `false`, none of them missing.
    Boolean,
    /// Integers, none of them missing.
    Integer,
    /// Numbers; some may be missing.
    Float,
    /// Anything else.
    Text,
}

/// What a table holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TableHead {
    /// A name per column.
    pub names: Vec<String>,
    /// The type of each column.
    pub kinds: Vec<ColumnKind>,
    /// The number of rows, without that of the names.
    pub rows: usize,
    /// Whether the first line holds the names.
    pub named: bool,
}

/// Whether the first line holds names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TableNames {
    /// It does.
    Given,
    /// It does if none of its fields is a number.
    Detect,
}

/// Some columns of a table.
#[derive(Clone, Debug, PartialEq)]
pub struct Columns {
    /// Columns of numbers, `[rows, columns]`; missing ones are NaN.
    pub numbers: Array,
    /// Columns of texts.
    pub texts: Vec<TextColumn>,
}

/// A column of texts, each as the index of its name; `None` where it is missing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TextColumn {
    /// The index of each text.
    pub indices: Vec<Option<u32>>,
    /// The texts, in the order of their first appearance.
    pub names: Vec<String>,
    known: HashMap<String, u32>,
}

impl TextColumn {
    /// Appends a text; fails if there are too many different ones.
    pub(crate) fn push(&mut self, text: &str) -> Result<(), String> {
        let index = match self.known.get(text) {
            _ if is_missing(text) => None,
            Some(&index) => Some(index),
            None if self.names.len() == MAX_TEXTS => {
                return Err(format!(
                    "a column of more than {MAX_TEXTS} different texts, where classes were expected"
                ));
            }
            None => {
                let index = self.names.len() as u32;
                self.known.insert(text.to_owned(), index);
                self.names.push(text.to_owned());
                Some(index)
            }
        };
        reserve(&mut self.indices, 1, Path::new("")).map_err(|_| "not enough memory".to_owned())?;
        self.indices.push(index);
        Ok(())
    }
}

/// Finds the columns of a file, gzipped or not.
pub fn scan(path: impl AsRef<Path>, names: TableNames) -> Result<TableHead> {
    scan_input(Input::open(path)?, names)
}

/// Finds the columns of a stream.
pub fn scan_input(input: Input, names: TableNames) -> Result<TableHead> {
    let mut fields = Fields::of_table(input);
    let mut first: Vec<String> = Vec::new();
    loop {
        match fields.next()? {
            Next::Field if first.len() == MAX_COLUMNS => {
                return Err(fields.error(format!("more than {MAX_COLUMNS} columns")));
            }
            Next::Field => first.push(fields.text()?.to_owned()),
            Next::Line => break,
            Next::End => return Err(fields.error("no row")),
        }
    }
    fields.next_line();
    let named = names == TableNames::Given || !first.iter().any(|text| number(&fields, text).is_some());
    let mut kinds = vec![Guess::default(); first.len()];
    let mut rows = 0;
    if !named {
        kinds.iter_mut().zip(&first).for_each(|(kind, text)| kind.see(&fields, text));
        rows = 1;
    }
    let mut at = 0;
    loop {
        match fields.next()? {
            Next::Field => {
                if let Some(kind) = kinds.get_mut(at) {
                    let text = fields.text()?;
                    kind.see(&fields, text);
                }
                at += 1;
            }
            Next::Line if at != kinds.len() => {
                return Err(fields.error(format!("{at} fields where the first line has {}", kinds.len())));
            }
            Next::Line => {
                rows += 1;
                at = 0;
                fields.next_line();
            }
            Next::End => break,
        }
    }
    if rows == 0 {
        return Err(fields.error("no row after the names of the columns"));
    }
    let names = match named {
        true => first,
        false => (1..=first.len()).map(|column| format!("column {column}")).collect(),
    };
    Ok(TableHead { names, kinds: kinds.into_iter().map(Guess::kind).collect(), rows, named })
}

/// A number, with a decimal comma where the table has them.
fn number(fields: &Fields, text: &str) -> Option<f32> {
    match fields.has_decimal_commas() && text.contains(',') {
        true => text.replacen(',', ".", 1).parse().ok(),
        false => text.parse().ok(),
    }
}

/// What the fields of a column have been so far.
#[derive(Clone, Copy, Debug, Default)]
struct Guess {
    boolean: bool,
    integer: bool,
    float: bool,
    missing: bool,
    text: bool,
}

impl Guess {
    fn see(&mut self, fields: &Fields, text: &str) {
        match text {
            _ if is_missing(text) => self.missing = true,
            _ if text.parse::<i64>().is_ok() => self.integer = true,
            _ if number(fields, text).is_some() => self.float = true,
            _ if truth(text).is_some() => self.boolean = true,
            _ => self.text = true,
        }
    }

    fn kind(self) -> ColumnKind {
        match self {
            Self { text: true, .. } => ColumnKind::Text,
            Self { boolean: true, integer: false, float: false, missing: false, .. } => ColumnKind::Boolean,
            Self { boolean: true, .. } => ColumnKind::Text,
            Self { integer: true, float: false, missing: false, .. } => ColumnKind::Integer,
            _ => ColumnKind::Float,
        }
    }
}

/// Whether a field is one of the words for a missing value.
fn is_missing(text: &str) -> bool {
    text.len() <= 4 && MISSING.iter().any(|word| word.eq_ignore_ascii_case(text))
}

fn truth(text: &str) -> Option<bool> {
    [("true", true), ("false", false)]
        .into_iter()
        .find(|(word, _)| word.eq_ignore_ascii_case(text))
        .map(|(_, is)| is)
}

/// Reads some columns of a file; both lists are of indices in increasing order. `head` is what [`scan`] found.
pub fn read(path: impl AsRef<Path>, head: &TableHead, numbers: &[usize], texts: &[usize]) -> Result<Columns> {
    read_input(Input::open(path)?, head, numbers, texts)
}

/// Reads some columns of a stream.
pub fn read_input(input: Input, head: &TableHead, numbers: &[usize], texts: &[usize]) -> Result<Columns> {
    let source = input.name().to_owned();
    let mut fields = Fields::of_table(input);
    let mut columns = vec![TextColumn::default(); texts.len()];
    let mut values = memory::with_capacity(head.rows.saturating_mul(numbers.len()), source.display())?;
    let place: Vec<(bool, Option<usize>)> = (0..head.names.len())
        .map(|column| (numbers.contains(&column), texts.iter().position(|&text| text == column)))
        .collect();
    let (mut row, mut at) = (0, 0);
    let mut skip = head.named;
    loop {
        match fields.next()? {
            Next::Field if skip => {}
            Next::Field => {
                let (is_number, text) = place.get(at).copied().unwrap_or_default();
                if is_number {
                    let value = match fields.text()? {
                        word if is_missing(word) => f32::NAN,
                        word => match truth(word) {
                            Some(truth) => f32::from(u8::from(truth)),
                            None => fields.number()?,
                        },
                    };
                    reserve(&mut values, 1, &source)?;
                    values.push(value);
                }
                if let Some(text) = text {
                    // 7 and 07 are one class, and so are true and True
                    let word = fields.text()?;
                    let pushed = match (word.parse::<i64>(), truth(word), head.kinds[at]) {
                        (Ok(number), _, ColumnKind::Integer) => columns[text].push(&number.to_string()),
                        (_, Some(truth), ColumnKind::Boolean) => {
                            columns[text].push(if truth { "True" } else { "False" })
                        }
                        _ => columns[text].push(word),
                    };
                    pushed.map_err(|what| fields.error(what))?;
                }
                at += 1;
            }
            Next::Line => {
                row += usize::from(!std::mem::take(&mut skip));
                at = 0;
                fields.next_line();
            }
            Next::End => break,
        }
    }
    if row != head.rows {
        return Err(Error::format(source, "changed while it was read"));
    }
    Ok(Columns { numbers: Array::new([row, numbers.len()], values)?, texts: columns })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scanned(text: &str, names: TableNames) -> Result<TableHead> {
        scan_input(Input::bytes("t.csv", text.as_bytes()).unwrap(), names)
    }

    fn columns(text: &str, numbers: &[usize], texts: &[usize]) -> Columns {
        let head = scanned(text, TableNames::Detect).unwrap();
        read_input(Input::bytes("t.csv", text.as_bytes()).unwrap(), &head, numbers, texts).unwrap()
    }

    #[test]
    fn types_and_names_of_columns() {
        use ColumnKind::{Boolean, Float, Integer, Text};
        let text = "when,n,x,ok,who\n2016-07-01 00:00,1,0.5,true,\"Smith, J \"\"JJ\"\"\"\n2016-07-01 01:00,02,,False,a b \n";
        let head = scanned(text, TableNames::Detect).unwrap();
        assert_eq!(head.names, ["when", "n", "x", "ok", "who"]);
        assert_eq!((&head.kinds[..], head.rows), (&[Text, Integer, Float, Boolean, Text][..], 2));
        let found = columns(text, &[1, 2, 3], &[0, 1, 3, 4]);
        assert_eq!(found.numbers.shape(), [2, 3]);
        assert_eq!((&found.numbers.data()[..4], found.numbers.data()[5]), (&[1., 0.5, 1., 2.][..], 0.0));
        assert!(found.numbers.data()[4].is_nan());
        assert_eq!(found.texts[0].names, ["2016-07-01 00:00", "2016-07-01 01:00"]);
        assert_eq!(found.texts[1].names, ["1", "2"]);
        assert_eq!(found.texts[2].names, ["True", "False"]);
        assert_eq!(found.texts[3].names, ["Smith, J \"JJ\"", "a b"]);
    }

    #[test]
    fn separators_and_tables_without_names() {
        for text in
            ["a;b\n1,5;x y\n2;x y\n", "a\tb\r\n1,5\tx y\r\n2\tx y", "\u{feff}# made\na,b\n1.5,x y\n2,x y\n"]
        {
            let found = columns(text, &[0], &[1]);
            assert_eq!(
                (found.numbers.data(), &found.texts[0].names[..]),
                (&[1.5, 2.0][..], &["x y".to_owned()][..])
            );
        }
        let head = scanned("2016,1.5\n2017,2\n", TableNames::Detect).unwrap();
        assert_eq!(
            (&head.names[..], head.rows, head.named),
            (&["column 1".to_owned(), "column 2".into()][..], 2, false)
        );
        assert_eq!(scanned("2016,1.5\n2017,2\n", TableNames::Given).unwrap().rows, 1);
        assert_eq!(columns("1 2\n3 4\n", &[0, 1], &[]).numbers.data(), [1., 2., 3., 4.]);
        let texts = columns("a,b\n?,1\nx,2\n", &[], &[0]).texts;
        assert_eq!(texts[0].indices, [None, Some(0)]);
    }

    #[test]
    fn errors_name_the_line() {
        let error = |text: &str| scanned(text, TableNames::Detect).unwrap_err().to_string();
        assert_eq!(error("a,b\n1\n"), "t.csv: line 2: 1 fields where the first line has 2");
        assert_eq!(error("a,b\n1,2\n1,2,\n"), "t.csv: line 3: 3 fields where the first line has 2");
        assert!(error("a,b\n").contains("no row after the names"));
        assert!(error("").contains("no row"));
        assert!(error("a,\"b\n1,2\n").contains("a quote is not closed"));
    }
}

//! Tables as text: a row per line, columns of numbers and of texts, and usually a first line of names.
//!
//! The separator is that of the first line: a tab, a semicolon or a comma, else blanks. Other fields than texts may be empty, or one of
//! `?`, `NA`, `N/A`, `NaN`, `null` and `none`: such values are missing. A file is read twice, first for the types of its columns, then
//! for the columns that are needed.

use std::collections::HashMap;
use std::path::Path;

use crate::error::counted;
use crate::format::bounded::{Input, reserve};
use crate::format::fields::{Fields, Next};
use crate::{Array, Error, Result, memory};

/// More columns than tables of samples have.
const MAX_COLUMNS: usize = 1 << 16;
/// More different texts than a column of classes has.
const MAX_TEXTS: usize = 1 << 16;

/// The words for a missing value, in lower case.
const MISSING: [&str; 7] = ["", "?", "na", "n/a", "nan", "null", "none"];

/// The names of columns that hold times, whatever their type.
pub(crate) const TIMES: [&str; 5] = ["date", "time", "datetime", "timestamp", "ds"];

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
    /// It does if none of its fields is a number, if one is a word above numbers (`time,1,2`), or if they count the columns, as
    /// pandas writes it (`,0,1,2`).
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
    let path = path.as_ref();
    require_file(path)?;
    scan_input(Input::open(path)?, names)
}

/// Fails for a pipe: what flows through it is gone when it was read, and reading it again would wait for ever.
pub(super) fn require_file(path: &Path) -> Result<()> {
    match std::fs::metadata(path).is_ok_and(|meta| !meta.is_file() && !meta.is_dir()) {
        true => Err(Error::format(path, "is a device or a pipe; a table is read twice, so a file expected")),
        false => Ok(()),
    }
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
    let mut kinds = vec![Guess::default(); first.len()];
    let (mut rows, mut at) = (0, 0);
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
                return Err(fields.error(format!(
                    "{} where the first line has {}",
                    counted(at, "field"),
                    kinds.len()
                )));
            }
            Next::Line => {
                rows += 1;
                at = 0;
                fields.next_line();
            }
            Next::End => break,
        }
    }
    let named = names == TableNames::Given || are_names(&fields, &first, &kinds);
    if !named {
        kinds.iter_mut().zip(&first).for_each(|(kind, text)| kind.see(&fields, text));
        rows += 1;
    }
    if rows == 0 {
        return Err(fields.error("no row after the names of the columns"));
    }
    let names: Vec<String> = match named {
        true => first,
        false => (1..=first.len()).map(|column| format!("column {column}")).collect(),
    };
    // 1.234 may then be a thousand
    if let Some(at) = kinds.iter().position(|kind| kind.comma && kind.point && !kind.text) {
        let what = format!("column {:?} has numbers with commas and numbers with points", names[at]);
        return Err(Error::format(fields.name(), format!("{what}; one of them expected")));
    }
    Ok(TableHead { names, kinds: kinds.into_iter().map(Guess::kind).collect(), rows, named })
}

/// Whether the fields of a first line name the columns, which hold these below it.
fn are_names(fields: &Fields, first: &[String], below: &[Guess]) -> bool {
    let is_number = |text: &String| number(fields, text).is_some();
    if !first.iter().any(is_number) {
        return true;
    }
    let above_numbers = |(text, kind): (&String, &Guess)| {
        !is_number(text) && !is_missing(text) && (kind.integer || kind.float) && !kind.text && !kind.boolean
    };
    let time = |text: &String| TIMES.iter().any(|time| time.eq_ignore_ascii_case(text));
    let counted = || {
        let index = first.first().is_some_and(String::is_empty);
        index && counts(&first[1..])
    };
    first.iter().zip(below).any(above_numbers) || first.iter().any(time) || counted()
}

/// Whether these are 0, 1, 2, … or 1, 2, 3, …: names that pandas makes up.
pub(crate) fn counts(names: &[String]) -> bool {
    let from = |start: usize| names.iter().zip(start..).all(|(name, at)| *name == at.to_string());
    !names.is_empty() && (from(0) || from(1))
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
    /// Whether a number has a decimal comma, and whether one has a point.
    comma: bool,
    point: bool,
}

impl Guess {
    fn see(&mut self, fields: &Fields, text: &str) {
        match text {
            _ if is_missing(text) => self.missing = true,
            _ if is_integer(text) => self.integer = true,
            _ if number(fields, text).is_some() => {
                self.float = true;
                self.comma |= text.contains(',');
                self.point |= text.contains('.');
            }
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

/// Whether a field is an integer, however large: identifiers of 64 bits and more are classes, and no values.
fn is_integer(text: &str) -> bool {
    let digits = text.strip_prefix(['-', '+']).unwrap_or(text);
    !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())
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
                    // 7 and 07 are one class, and so are 7.0 and 7 beside 7.5, and true and True
                    let word = fields.text()?;
                    let pushed = match (word.parse::<i64>(), truth(word), head.kinds[at]) {
                        _ if is_missing(word) => columns[text].push(word),
                        (Ok(number), _, ColumnKind::Integer) => columns[text].push(&number.to_string()),
                        (_, Some(truth), ColumnKind::Boolean) => {
                            columns[text].push(if truth { "True" } else { "False" })
                        }
                        (_, _, ColumnKind::Float) => {
                            let plain =
                                if fields.has_decimal_commas() { &word.replacen(',', ".", 1) } else { word };
                            match plain.parse::<f64>() {
                                Ok(number) => columns[text].push(&number.to_string()),
                                Err(_) => columns[text].push(word),
                            }
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

/// Passes every field of a column to `each`, with its row.
pub(crate) fn each_word(
    path: &Path,
    head: &TableHead,
    column: usize,
    each: &mut dyn FnMut(usize, &str) -> Result<()>,
) -> Result<()> {
    let mut fields = Fields::of_table(Input::open(path)?);
    let (mut row, mut at, mut skip) = (0, 0, head.named);
    loop {
        match fields.next()? {
            Next::Field => {
                if at == column && !skip {
                    each(row, fields.text()?)?;
                }
                at += 1;
            }
            Next::Line => {
                row += usize::from(!std::mem::take(&mut skip));
                at = 0;
                fields.next_line();
            }
            Next::End => return Ok(()),
        }
    }
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
    fn large_integers_are_classes_and_no_values() {
        let text = "a,y\n1,9007199254740992\n2,9007199254740993\n3,18446744073709551615\n4,-7\n5,+7\n6,007\n";
        let head = scanned(text, TableNames::Detect).unwrap();
        assert_eq!(head.kinds[1], ColumnKind::Integer);
        let found = columns(text, &[], &[1]).texts;
        assert_eq!(
            found[0].names,
            ["9007199254740992", "9007199254740993", "18446744073709551615", "-7", "7"]
        );
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
        for (text, rows) in [
            (",0,1\n0,2.5,3\n1,4,5\n", 2),          // pandas, with its index
            ("time,1,2\n0,2.5,3\n1,4,5\n", 2),      // a word above numbers
            ("date,2019\n2020-01-01,3\n", 1),       // the name of times
            ("2020-01-01,2019\n2020-01-02,3\n", 2), // no names
            (",0.5,1\n0,2.5,3\n", 2),               // a value is missing
        ] {
            let head = scanned(text, TableNames::Detect).unwrap();
            assert_eq!((head.rows, head.named), (rows, rows + 1 == text.lines().count()), "{text:?}");
        }
        let head = scanned("2016,1.5\n2017,2\n", TableNames::Detect).unwrap();
        assert_eq!(
            (&head.names[..], head.rows, head.named),
            (&["column 1".to_owned(), "column 2".into()][..], 2, false)
        );
        assert_eq!(scanned("2016,1.5\n2017,2\n", TableNames::Given).unwrap().rows, 1);
        assert_eq!(columns("1 2\n3 4\n", &[0, 1], &[]).numbers.data(), [1., 2., 3., 4.]);
        let texts = columns("a,b\n1.0,1\n1,2\n2.50,3\n,4\n", &[], &[0]).texts;
        assert_eq!(
            (&texts[0].names[..], &texts[0].indices[..]),
            (&["1".to_owned(), "2.5".to_owned()][..], &[Some(0), Some(0), Some(1), None][..])
        );
        let texts = columns("a,b\n?,1\nx,2\n", &[], &[0]).texts;
        assert_eq!(texts[0].indices, [None, Some(0)]);
    }

    #[test]
    fn errors_name_the_line() {
        let error = |text: &str| scanned(text, TableNames::Detect).unwrap_err().to_string();
        assert_eq!(error("a,b\n1\n"), "t.csv: line 2: 1 field where the first line has 2");
        assert_eq!(error("a,b\n1,2\n1,2,\n"), "t.csv: line 3: 3 fields where the first line has 2");
        assert!(error("a,b\n").contains("no row after the names"));
        assert!(error("").contains("no row"));
        assert_eq!(
            error("a;b\n1;1.234\n2;2,5\n"),
            "t.csv: column \"b\" has numbers with commas and numbers with points; one of them expected"
        );
        assert!(scanned("a;b\n1.5;1\n2.5;2,5\n", TableNames::Detect).is_ok(), "in two columns");
        // Only above the names is a # a remark.
        assert_eq!(scanned("# made\na,b\n#1,2\n3,4\n", TableNames::Detect).unwrap().rows, 2);
        assert!(error("a,\"b\n1,2\n").contains("a quote is not closed"));
    }
}

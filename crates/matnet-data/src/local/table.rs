//! Tables: a sample per row, or one long series with a row per time step.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use super::files::{SampleFile, graph_files};
use super::labels::{require_few_classes, require_finite, values_note};
use super::times::TimeOrder;
use super::{ReadOptions, TargetKind};
#[cfg(feature = "columnar")]
use crate::StoredArray;
use crate::format::bounded::Input;
#[cfg(feature = "columnar")]
use crate::format::columnar::{ColumnarTable, word};
use crate::format::edgelist::{natural, sort_classes};
use crate::format::npy;
use crate::format::table::{self, ColumnKind, Columns, TIMES, TableHead, TableNames, TextColumn};
#[cfg(feature = "columnar")]
use crate::stored::StoredTable;
use crate::{Array, Dataset, Error, Result, Samples, TableData, Target};

/// Loads one long table, a row per time step and a column per channel, for forecasting: `.csv`, `.tsv` or `.txt`, gzipped or not,
/// `.parquet`, `.arrow`, `.feather`, or an `.npy` `[rows, columns]`.
///
/// A column of times is left out, with a note: one that is called `date`, `time`, `datetime`, `timestamp` or `ds`, or else the first
/// one that does not hold numbers. Dates that are out of order are an error. Any other column must hold numbers; missing ones are NaN.
pub fn load_table(path: impl AsRef<Path>) -> Result<Dataset> {
    load_columns(path.as_ref(), &[], Nameless::Refused)
}

/// What is done with a table without names where columns are wanted by their names.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Nameless {
    /// It is an error.
    Refused,
    /// As many columns as wanted are taken as they stand.
    AsTheyStand,
}

/// The same with these columns only, in this order; all if there are none.
pub(super) fn load_columns(path: &Path, wanted: &[String], nameless: Nameless) -> Result<Dataset> {
    let name = path.file_name().unwrap_or_default().to_string_lossy().to_ascii_lowercase();
    if name.strip_suffix(".gz").unwrap_or(&name).ends_with(".npy") {
        if !wanted.is_empty() && nameless == Nameless::Refused {
            return Err(Error::format(path, "`columns` has no effect on an .npy; its columns have no names"));
        }
        let values = npy::read(path)?.into_array(path)?;
        return match values.shape() {
            [rows, columns] if rows * columns > 0 => Ok(TableData::new(values)?.into()),
            shape => Err(Error::format(path, format!("shape {shape:?}; one table [rows, columns] expected"))),
        };
    }
    let source = Source::open(path, TableNames::Detect)?;
    let head = &source.head;
    let by_name = head.names.iter().position(|name| TIMES.iter().any(|time| time.eq_ignore_ascii_case(name)));
    let time = by_name.or(head.kinds.iter().position(|kind| *kind == ColumnKind::Text));
    // A column without a name is the index that pandas writes.
    let mut columns: Vec<usize> = (0..head.names.len())
        .filter(|&column| Some(column) != time && !head.names[column].is_empty())
        .collect();
    let chosen = !wanted.is_empty() && (head.named || nameless == Nameless::Refused);
    if chosen {
        columns = source.named(wanted)?;
    } else if head.named {
        source.require_distinct(&columns)?;
    }
    if let Some(&text) = columns.iter().find(|&&column| head.kinds[column] == ColumnKind::Text) {
        let what = format!(
            "column {:?} does not hold numbers; only a column of times is left out, which is {:?}",
            head.names[text],
            time.map_or("", |time| &head.names[time])
        );
        return Err(Error::format(path, what));
    }
    if columns.is_empty() {
        return Err(Error::format(path, "holds no column of numbers"));
    }
    let values = Array::new([head.rows, columns.len()], source.numbers(&columns)?)?;
    let mut table = TableData::new(values)?;
    if head.named {
        table.column_names = columns.iter().map(|&column| head.names[column].clone()).collect();
    }
    let mut dataset = Dataset::from(table);
    if let Some(note) = time.map(|time| time_order(&source, time)).transpose()?.flatten() {
        dataset = dataset.with_note(note);
    }
    if chosen {
        return Ok(dataset);
    }
    if let Some(time) = time {
        let what = if by_name.is_some() { "holds times" } else { "does not hold numbers" };
        dataset = dataset.with_note(format!("column {:?} {what} and is left out", head.names[time]));
    }
    let unnamed = (0..head.names.len()).filter(|&at| Some(at) != time && head.names[at].is_empty()).count();
    Ok(unnamed_note(unnamed).into_iter().fold(dataset, Dataset::with_note))
}

/// Fails if the rows of a table are not in the order of the dates in a column. A remark on what may be wrong otherwise.
fn time_order(source: &Source, column: usize) -> Result<Option<String>> {
    let name = &source.head.names[column];
    let mut order = TimeOrder::default();
    source.each_word(column, &mut |row, word| {
        order
            .see(row, word)
            .map_err(|what| source.error(format!("{what}; rows in the order of column {name:?} expected")))
    })?;
    Ok(order.note(name))
}

/// A remark on columns without a name.
fn unnamed_note(count: usize) -> Option<String> {
    match count {
        0 => None,
        1 => Some("the column without a name is left out".to_owned()),
        some => Some(format!("{some} columns without a name are left out")),
    }
}

/// Whether a path is read as one long table: the user says so, or it is text that has a column of times.
pub(super) fn is_long(path: &Path, options: &ReadOptions) -> bool {
    let text = SampleFile::of(path) == Some(SampleFile::Table);
    if options.long_table && options.target_columns.is_empty() && options.shape.is_none() {
        return text || is_columnar(path) || SampleFile::of(path) == Some(SampleFile::Npy);
    }
    if options.ask_for_rows() {
        return false;
    }
    let has_text = |head: TableHead| head.kinds.contains(&ColumnKind::Text);
    text && options.layout.is_none() && table::scan(path, TableNames::Detect).is_ok_and(has_text)
}

/// Whether a path is a table of rows and columns, and nothing more.
pub(super) fn is_one_table(path: &Path) -> Result<bool> {
    Ok(match SampleFile::of(path) {
        _ if path.is_dir() => false,
        Some(SampleFile::Table) => true,
        Some(SampleFile::Npy) => npy::header(&mut Input::open(path)?)?.shape.len() == 2,
        _ => is_columnar(path),
    })
}

/// Whether a file name is that of a Parquet or Arrow table.
pub(crate) fn is_columnar(path: &Path) -> bool {
    let ending = path.extension().unwrap_or_default().to_string_lossy().to_ascii_lowercase();
    ["parquet", "pq", "arrow", "feather"].contains(&ending.as_str())
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
        for (kind, other) in head.kinds.iter_mut().zip(&other.kinds) {
            *kind = match (*kind, *other) {
                (a, b) if a == b => a,
                (ColumnKind::Integer, ColumnKind::Float) | (ColumnKind::Float, ColumnKind::Integer) => {
                    ColumnKind::Float
                }
                _ => ColumnKind::Text,
            };
        }
        head.rows += other.rows;
    }
    Ok(head)
}

/// The error for Parquet and Arrow where they cannot be read.
#[cfg(not(feature = "columnar"))]
pub(super) fn no_columnar(path: &Path) -> Error {
    let what =
        "is Parquet or Arrow, which this build cannot read; build it with the cargo feature `columnar`";
    Error::format(path, what)
}

/// Whether a path is read as a table with a sample per row.
pub(super) fn has_rows(path: &Path, options: &ReadOptions) -> bool {
    is_columnar(path)
        || shards(path).is_ok_and(|files| !files.is_empty())
        || SampleFile::of(path) == Some(SampleFile::Table) && options.ask_for_rows()
}

/// The Parquet files that a path stands for: a folder of them, a pattern with `*` and `?` in the place of a file name, or one file. None if
/// it stands for something else.
pub(crate) fn shards(path: &Path) -> Result<Vec<PathBuf>> {
    let is_parquet = |path: &Path| {
        let end = path.extension().unwrap_or_default().to_string_lossy().to_ascii_lowercase();
        ["parquet", "pq"].contains(&end.as_str())
    };
    let (folder, pattern) = match path.is_dir() {
        true => (path, None),
        false if path.exists() => {
            return Ok(if is_parquet(path) { vec![path.to_owned()] } else { Vec::new() });
        }
        false => {
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            let folder = path.parent().filter(|parent| *parent != Path::new("")).unwrap_or(Path::new("."));
            if !name.contains(['*', '?']) || !folder.is_dir() {
                return Ok(Vec::new());
            }
            (folder, Some(name))
        }
    };
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(|error| Error::io(folder, error))? {
        let entry = entry.map_err(|error| Error::io(folder, error))?;
        let name = entry.file_name().to_string_lossy().into_owned();
        // Marks that Spark and others leave beside their files.
        if name.starts_with(['.', '_']) {
            continue;
        }
        let wanted = match &pattern {
            Some(pattern) => matches(pattern.as_bytes(), name.as_bytes()) && is_parquet(&entry.path()),
            None => is_parquet(&entry.path()),
        };
        match wanted {
            true => found.push(if pattern.is_some() && path.parent() == Some(Path::new("")) {
                PathBuf::from(name)
            } else {
                entry.path()
            }),
            // A folder that holds other things, too, is no table.
            false if pattern.is_none() => return Ok(Vec::new()),
            false => {}
        }
    }
    // A folder of nodes and edges is a graph.
    if pattern.is_none() && graph_files(&found).is_some() {
        return Ok(Vec::new());
    }
    found.sort_by_cached_key(|path| natural(&path.file_name().unwrap_or_default().to_string_lossy()));
    Ok(found)
}

/// Whether a name fits a pattern, in which `*` stands for any letters and `?` for one.
fn matches(pattern: &[u8], name: &[u8]) -> bool {
    match (pattern.split_first(), name.split_first()) {
        (None, None) => true,
        (Some((b'*', rest)), _) => {
            matches(rest, name) || name.split_first().is_some_and(|(_, n)| matches(pattern, n))
        }
        (Some((b'?', rest)), Some((_, name))) => matches(rest, name),
        (Some((a, rest)), Some((b, name))) => a == b && matches(rest, name),
        _ => false,
    }
}

/// A table with a sample per row.
pub(super) fn load(path: &Path, options: &ReadOptions) -> Result<Dataset> {
    let described = Described::open(path, options)?;
    let (samples, notes) = described.samples(options, |source, features| {
        let [high, across] = shape(options.shape, features.len(), path)?;
        Array::new([source.head.rows, high, across], source.numbers(features)?)
    })?;
    Ok(Dataset { notes, ..Dataset::from(samples) })
}

/// A table in Parquet files, whose inputs stay there; and remarks for the user.
#[cfg(feature = "columnar")]
pub(super) fn open_stored(
    path: &Path,
    options: &ReadOptions,
) -> Result<Option<(Samples<StoredArray>, Vec<String>)>> {
    let described = Described::open(path, options)?;
    let stored = |source: &Source, features: &[usize]| stored(source, features, path, options);
    described.samples(options, stored).map(Some)
}

#[cfg(not(feature = "columnar"))]
pub(super) fn open_stored(
    path: &Path,
    _: &ReadOptions,
) -> Result<Option<(Samples<crate::StoredArray>, Vec<String>)>> {
    Err(no_columnar(path))
}

#[cfg(feature = "columnar")]
fn stored(source: &Source, features: &[usize], path: &Path, options: &ReadOptions) -> Result<StoredArray> {
    let [high, across] = shape(options.shape, features.len(), path)?;
    let again = shards(path)?.iter().map(ColumnarTable::open).collect::<Result<Vec<_>>>()?;
    let table = StoredTable::new(again, features.to_vec());
    Ok(StoredArray::of_table(path, vec![source.head.rows, high, across], table))
}

/// The inputs of Parquet files with a sample per row, for prediction: they stay there, target columns are ignored.
#[cfg(feature = "columnar")]
pub(super) fn stored_inputs(path: &Path, options: &ReadOptions) -> Result<StoredArray> {
    let (source, features) = input_columns(path, options)?;
    stored(&source, &features, path, options)
}

/// The inputs of a table with a sample per row, for prediction: target columns are ignored, and may be absent.
pub(super) fn inputs(path: &Path, options: &ReadOptions) -> Result<Array> {
    let (source, features) = input_columns(path, options)?;
    let [high, across] = shape(options.shape, features.len(), path)?;
    Array::new([source.head.rows, high, across], source.numbers(&features)?)
}

fn input_columns(path: &Path, options: &ReadOptions) -> Result<(Source, Vec<usize>)> {
    options.allow(path, "a table", &["target_column", "columns", "shape"])?;
    let source = Source::open(path, TableNames::Given)?;
    let targets: Vec<usize> = options.target_columns.iter().filter_map(|name| source.find(name)).collect();
    let features = source.features(options, &targets)?.columns;
    Ok((source, features))
}

/// A table whose columns are known.
struct Described {
    source: Source,
    features: Features,
    targets: Vec<usize>,
    kind: Option<TargetKind>,
}

impl Described {
    fn open(path: &Path, options: &ReadOptions) -> Result<Self> {
        let mut allowed = vec!["target_column", "columns", "shape"];
        allowed.extend((!options.target_columns.is_empty()).then_some("target"));
        options.allow(path, "a table without `target_column`", &allowed)?;
        let source = Source::open(path, TableNames::Given)?;
        if options.target_columns.is_empty() && options.columns.is_empty() {
            source.require_names()?;
        }
        let targets = source.named(&options.target_columns)?;
        let features = source.features(options, &targets)?;
        let kind = source.target_kind(options.target, &targets)?;
        Ok(Self { source, features, targets, kind })
    }

    /// The samples, with inputs that are made of the columns of features; and remarks for the user.
    fn samples<I>(
        self,
        options: &ReadOptions,
        inputs: impl FnOnce(&Source, &[usize]) -> Result<I>,
    ) -> Result<(Samples<I>, Vec<String>)> {
        let Self { source, features, targets, kind } = self;
        let inputs = inputs(&source, &features.columns)?;
        let column_names = features.columns.iter().map(|&column| source.head.names[column].clone()).collect();
        let values = || Array::new([source.head.rows, targets.len()], source.numbers(&targets)?);
        let target = match kind {
            None => Target::None,
            Some(TargetKind::Class) => {
                let target = classes(source.read(&[], &targets)?.texts, &source.path)?;
                if let (Target::Classes { names, .. }, None, ColumnKind::Integer) =
                    (&target, options.target, source.head.kinds[targets[0]])
                {
                    require_few_classes(names.len(), source.head.rows, &source.path)?;
                }
                target
            }
            Some(TargetKind::Labels) => labels(&values()?, &source, options, &source.path)?,
            Some(TargetKind::Value | TargetKind::Matrix) => {
                let values = values()?;
                require_finite(&values, &source.path, "the target of ")?;
                Target::Values { values, names: options.target_columns.clone() }
            }
        };
        let left_out = features.left_out.join(", ");
        let note = format!("columns left out, because they do not hold numbers: {left_out}");
        let note = Some(note).filter(|_| !left_out.is_empty());
        let notes =
            [note, unnamed_note(features.unnamed), values_note(&target).filter(|_| options.target.is_none())];
        let samples = Samples { column_names, ..Samples::new(inputs, target) };
        Ok((samples, notes.into_iter().flatten().collect()))
    }
}

/// Rows and columns of a sample of `count` features.
fn shape(shape: Option<[usize; 2]>, count: usize, path: &Path) -> Result<[usize; 2]> {
    match shape {
        None => Ok([count, 1]),
        Some([rows, cols]) if rows.checked_mul(cols) == Some(count) => Ok([rows, cols]),
        Some([rows, cols]) => {
            let what = format!("{count} features cannot fill {rows}x{cols}, which is what `shape` says");
            Err(Error::format(path, what))
        }
    }
}

fn classes(mut texts: Vec<TextColumn>, path: &Path) -> Result<Target> {
    let Some(mut column) = texts.pop() else { return Ok(Target::None) };
    if let Some(at) = column.indices.iter().position(Option::is_none) {
        return Err(Error::format(path, format!("sample {at} has no class; one is expected")));
    }
    let known: HashMap<String, u32> = column.names.into_iter().zip(0..).collect();
    let names = sort_classes(known, &mut column.indices);
    Ok(Target::Classes { labels: column.indices.into_iter().flatten().collect(), names })
}

fn labels(values: &Array, source: &Source, options: &ReadOptions, path: &Path) -> Result<Target> {
    let width = options.target_columns.len();
    if let Some(at) = values.data().iter().position(|&x| x != 0.0 && x != 1.0) {
        let what = format!(
            "sample {} has {} in column {:?}; labels of 0 and 1 expected, or `target = \"value\"`",
            at / width,
            values.data()[at],
            options.target_columns[at % width]
        );
        return Err(Error::format(&source.path, what));
    }
    let flags: Vec<bool> = values.data().iter().map(|&x| x == 1.0).collect();
    if flags.is_empty() {
        return Err(Error::format(path, "holds no samples"));
    }
    Ok(Target::MultiLabels { flags, names: options.target_columns.clone() })
}

/// The columns that are features, in the order of the user or of the file.
struct Features {
    columns: Vec<usize>,
    /// The names of columns that are neither features nor targets.
    left_out: Vec<String>,
    /// How many further columns have no name.
    unnamed: usize,
}

/// A table of any format, perhaps in several files.
struct Source {
    path: PathBuf,
    head: TableHead,
    #[cfg(feature = "columnar")]
    columnar: Vec<ColumnarTable>,
}

impl Source {
    #[cfg(feature = "columnar")]
    fn open(path: &Path, names: TableNames) -> Result<Self> {
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
    fn read(&self, numbers: &[usize], texts: &[usize]) -> Result<Columns> {
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
    fn each_word(&self, column: usize, each: &mut dyn FnMut(usize, &str) -> Result<()>) -> Result<()> {
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
    fn each_word(&self, column: usize, each: &mut dyn FnMut(usize, &str) -> Result<()>) -> Result<()> {
        table::each_word(&self.path, &self.head, column, each)
    }

    #[cfg(not(feature = "columnar"))]
    fn open(path: &Path, names: TableNames) -> Result<Self> {
        if is_columnar(path) || !shards(path)?.is_empty() {
            return Err(no_columnar(path));
        }
        Ok(Self { path: path.to_owned(), head: table::scan(path, names)? })
    }

    #[cfg(not(feature = "columnar"))]
    fn read(&self, numbers: &[usize], texts: &[usize]) -> Result<Columns> {
        table::read(&self.path, &self.head, numbers, texts)
    }

    /// Columns of numbers, row by row. They are read in the order of the file; they are wanted in the order of the user.
    fn numbers(&self, columns: &[usize]) -> Result<Vec<f32>> {
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

    fn find(&self, name: &str) -> Option<usize> {
        self.head.names.iter().position(|known| known == name)
    }

    /// The columns with these names; the error lists those there are.
    fn named(&self, names: &[String]) -> Result<Vec<usize>> {
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
    fn require_distinct(&self, columns: &[usize]) -> Result<()> {
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
    fn require_names(&self) -> Result<()> {
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

    fn features(&self, options: &ReadOptions, targets: &[usize]) -> Result<Features> {
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
    fn target_kind(&self, said: Option<TargetKind>, targets: &[usize]) -> Result<Option<TargetKind>> {
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

    fn error(&self, what: String) -> Error {
        Error::format(&self.path, what)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_stand_for_names() {
        let fits = |pattern: &str, name: &str| matches(pattern.as_bytes(), name.as_bytes());
        assert!(fits("part-*.parquet", "part-0.parquet") && fits("*", "x") && fits("a?c*", "abc"));
        assert!(!fits("part-*.parquet", "part-0.parquet.crc") && !fits("?", "") && !fits("a", "ab"));
    }

    #[test]
    fn shards_stand_in_natural_order_and_alone() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["part-10.parquet", "part-2.parquet", "_SUCCESS", ".hidden"] {
            std::fs::write(folder.path().join(name), b"").unwrap();
        }
        let names = |path: &Path| -> Vec<String> {
            let name = |path: &PathBuf| path.file_name().unwrap().to_string_lossy().into_owned();
            shards(path).unwrap().iter().map(name).collect()
        };
        assert_eq!(names(folder.path()), ["part-2.parquet", "part-10.parquet"]);
        assert_eq!(names(&folder.path().join("*-2.*")), ["part-2.parquet"]);
        assert_eq!(names(&folder.path().join("part-2.parquet")), ["part-2.parquet"]);
        std::fs::write(folder.path().join("x.npy"), b"").unwrap();
        assert!(names(folder.path()).is_empty(), "a folder of other files");
        assert!(names(&folder.path().join("nothing")).is_empty());
    }
}

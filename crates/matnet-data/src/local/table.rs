//! Tables: a sample per row, or one long series with a row per time step.

use std::collections::HashMap;
use std::path::Path;

use super::files::SampleFile;
use super::labels::require_finite;
use super::{ReadOptions, TargetKind};
use crate::format::bounded::Input;
use crate::format::edgelist::sort_classes;
use crate::format::npy;
use crate::format::table::{self, ColumnKind, Columns, TableHead, TableNames, TextColumn};
use crate::{Array, Dataset, Error, Result, Samples, TableData, Target};

/// The names of columns that hold times, whatever their type.
const TIMES: [&str; 5] = ["date", "time", "datetime", "timestamp", "ds"];

/// Loads one long table, a row per time step and a column per channel, for forecasting: `.csv`, `.tsv` or `.txt`, gzipped or not,
/// `.parquet`, `.arrow`, `.feather`, or an `.npy` `[rows, columns]`.
///
/// A column of times is left out, with a note: one that is called `date`, `time`, `datetime`, `timestamp` or `ds`, or else the first
/// one that does not hold numbers. Any other column must hold numbers; missing ones are NaN.
pub fn load_table(path: impl AsRef<Path>) -> Result<Dataset> {
    let path = path.as_ref();
    let name = path.file_name().unwrap_or_default().to_string_lossy().to_ascii_lowercase();
    if name.strip_suffix(".gz").unwrap_or(&name).ends_with(".npy") {
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
    let columns: Vec<usize> = (0..head.names.len())
        .filter(|&column| Some(column) != time && !head.names[column].is_empty())
        .collect();
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
    let mut table = TableData::new(source.read(&columns, &[])?.numbers)?;
    if head.named {
        table.column_names = columns.iter().map(|&column| head.names[column].clone()).collect();
    }
    let dataset = Dataset::from(table);
    Ok(match time {
        Some(time) => dataset.with_note(format!("column {:?} holds times and is left out", head.names[time])),
        None => dataset,
    })
}

/// Whether a path is read as one long table: the user says so, or it is text that has a column of times.
pub(super) fn is_long(path: &Path, options: &ReadOptions) -> bool {
    let text = SampleFile::of(path) == Some(SampleFile::Table);
    if options.ask_for_rows() {
        return false;
    }
    if options.long_table {
        return text || is_columnar(path) || SampleFile::of(path) == Some(SampleFile::Npy);
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

/// The error for Parquet and Arrow where they cannot be read.
#[cfg(not(feature = "columnar"))]
pub(super) fn no_columnar(path: &Path) -> Error {
    let what =
        "is Parquet or Arrow, which this build cannot read; build it with the cargo feature `columnar`";
    Error::format(path, what)
}

/// Whether a path is read as a table with a sample per row.
pub(super) fn has_rows(path: &Path, options: &ReadOptions) -> bool {
    is_columnar(path) || SampleFile::of(path) == Some(SampleFile::Table) && options.ask_for_rows()
}

/// A table with a sample per row.
pub(super) fn load(path: &Path, options: &ReadOptions) -> Result<Dataset> {
    let mut allowed = vec!["target_column", "columns", "shape"];
    allowed.extend((!options.target_columns.is_empty()).then_some("target"));
    options.allow(path, "a table without `target_column`", &allowed)?;
    let source = Source::open(path, TableNames::Given)?;
    let targets = source.named(&options.target_columns)?;
    let features = source.features(options, &targets)?;
    let kind = source.target_kind(options.target, &targets)?;
    let of_texts = if kind == Some(TargetKind::Class) { &targets[..] } else { &[] };
    let of_numbers = if kind == Some(TargetKind::Class) { &[] } else { &targets[..] };
    let (wide, inputs) = (features.columns.len(), &features.columns);
    let mut numbers: Vec<usize> = inputs.iter().chain(of_numbers).copied().collect();
    numbers.sort_unstable();
    let Columns { numbers: values, texts } = source.read(&numbers, of_texts)?;
    let pick = |columns: &[usize]| -> Result<Array> {
        // Columns are read in the order of the file; they are wanted in the order of the user.
        let places: Vec<usize> =
            columns.iter().map(|column| numbers.partition_point(|n| n < column)).collect();
        let rows = values.data().chunks_exact(numbers.len().max(1));
        let data = rows.flat_map(|row| places.iter().map(|&place| row[place])).collect();
        Array::new([source.head.rows, columns.len()], data)
    };
    let target = match kind {
        None => Target::None,
        Some(TargetKind::Class) => classes(texts, path)?,
        Some(TargetKind::Labels) => labels(&pick(&targets)?, &source, options, path)?,
        Some(TargetKind::Value | TargetKind::Matrix) => {
            let values = pick(&targets)?;
            require_finite(&values, path, "the target of ")?;
            Target::Values { values, names: options.target_columns.clone() }
        }
    };
    let rows = source.head.rows;
    let [high, across] = shape(options.shape, wide, path)?;
    let inputs = Array::new([rows, high, across], pick(inputs)?.into_data())?;
    let dataset = Dataset::from(Samples::new(inputs, target));
    Ok(match features.left_out.is_empty() {
        true => dataset,
        false => {
            let names = features.left_out.join(", ");
            dataset.with_note(format!("columns left out, because they do not hold numbers: {names}"))
        }
    })
}

/// The inputs of a table with a sample per row, for prediction: target columns are ignored, and may be absent.
pub(super) fn inputs(path: &Path, options: &ReadOptions) -> Result<Array> {
    options.allow(path, "a table", &["target_column", "columns", "shape"])?;
    let source = Source::open(path, TableNames::Given)?;
    let targets: Vec<usize> = options.target_columns.iter().filter_map(|name| source.find(name)).collect();
    let features = source.features(options, &targets)?.columns;
    let mut sorted = features.clone();
    sorted.sort_unstable();
    let values = source.read(&sorted, &[])?.numbers;
    let rows = values.data().chunks_exact(sorted.len());
    let places: Vec<usize> = features.iter().map(|column| sorted.partition_point(|n| n < column)).collect();
    let data = rows.flat_map(|row| places.iter().map(|&place| row[place])).collect();
    let [high, across] = shape(options.shape, features.len(), path)?;
    Array::new([source.head.rows, high, across], data)
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
}

/// A table of any format.
struct Source {
    path: std::path::PathBuf,
    head: TableHead,
    #[cfg(feature = "columnar")]
    columnar: Option<crate::format::columnar::ColumnarTable>,
}

impl Source {
    #[cfg(feature = "columnar")]
    fn open(path: &Path, names: TableNames) -> Result<Self> {
        let columnar = match is_columnar(path) {
            true => Some(crate::format::columnar::ColumnarTable::open(path)?),
            false => None,
        };
        let head = match &columnar {
            Some(table) => table.head().clone(),
            None => table::scan(path, names)?,
        };
        Ok(Self { path: path.to_owned(), head, columnar })
    }

    #[cfg(feature = "columnar")]
    fn read(&self, numbers: &[usize], texts: &[usize]) -> Result<Columns> {
        match &self.columnar {
            Some(columnar) => columnar.read(numbers, texts),
            None => table::read(&self.path, &self.head, numbers, texts),
        }
    }

    #[cfg(not(feature = "columnar"))]
    fn open(path: &Path, names: TableNames) -> Result<Self> {
        if is_columnar(path) {
            return Err(no_columnar(path));
        }
        Ok(Self { path: path.to_owned(), head: table::scan(path, names)? })
    }

    #[cfg(not(feature = "columnar"))]
    fn read(&self, numbers: &[usize], texts: &[usize]) -> Result<Columns> {
        table::read(&self.path, &self.head, numbers, texts)
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
        match (1..found.len()).find(|&at| found[..at].contains(&found[at])) {
            Some(at) => Err(self.error(format!("column {:?} is named twice", names[at]))),
            None => Ok(found),
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
            return Ok(Features { columns, left_out: Vec::new() });
        }
        // A column without a name is the index that pandas writes.
        let unnamed = |column: &usize| self.head.names[*column].is_empty();
        let rest = (0..self.head.names.len()).filter(|column| !targets.contains(column) && !unnamed(column));
        let (left_out, columns): (Vec<usize>, Vec<usize>) = rest.partition(is_text);
        if columns.is_empty() {
            return Err(self.error("no column of numbers is left for the features".to_owned()));
        }
        let left_out = left_out.into_iter().map(|column| self.head.names[column].clone()).collect();
        Ok(Features { columns, left_out })
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

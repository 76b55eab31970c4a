//! Columns of Parquet files that stay in their files: groups of rows are decoded when they are needed, and the last ones are kept.

use std::fmt;
use std::ops::Range;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use crate::format::columnar::ColumnarTable;
use crate::{Error, Result};

/// Bytes of decoded rows that are kept at most, unless all are; two groups of rows are kept however large they are.
const KEPT: usize = 256 << 20;

/// Numbers in several files of the same columns, one after another.
pub(crate) struct StoredTable {
    shards: Vec<ColumnarTable>,
    /// The columns, in the order of a row.
    columns: Vec<usize>,
    /// The first row of each group, and the number of all rows at the end.
    starts: Vec<usize>,
    /// The file of each group, and its place in it.
    places: Vec<(usize, usize)>,
    kept: Mutex<Vec<Kept>>,
    /// How many bytes of them.
    most: AtomicUsize,
}

/// The rows of a group, or why they cannot be decoded; empty while nobody has tried.
type Decoded = Arc<OnceLock<Result<Vec<f32>, String>>>;

/// A group that is decoded, or being decoded.
struct Kept {
    group: usize,
    rows: Decoded,
}

impl fmt::Debug for StoredTable {
    fn fmt(&self, out: &mut fmt::Formatter) -> fmt::Result {
        write!(out, "StoredTable({} files, {} rows)", self.shards.len(), self.starts[self.places.len()])
    }
}

impl StoredTable {
    pub fn new(shards: Vec<ColumnarTable>, columns: Vec<usize>) -> Self {
        let (mut starts, mut places) = (vec![0], Vec::new());
        for (shard, table) in shards.iter().enumerate() {
            for (group, &rows) in table.groups().iter().enumerate().filter(|(_, rows)| **rows > 0) {
                starts.push(starts[starts.len() - 1] + rows);
                places.push((shard, group));
            }
        }
        Self { shards, columns, starts, places, kept: Mutex::default(), most: KEPT.into() }
    }

    /// Keeps all groups that are decoded from now on.
    pub fn keep_all(&self) {
        self.most.store(usize::MAX, Ordering::Relaxed);
    }

    /// The files.
    pub fn files(&self) -> impl Iterator<Item = &Path> {
        self.shards.iter().map(ColumnarTable::name)
    }

    fn group_of(&self, row: usize) -> usize {
        self.starts.partition_point(|&start| start <= row).saturating_sub(1).min(self.places.len() - 1)
    }

    /// Appends so many numbers from the one at `first` on, row by row.
    pub fn read(&self, numbers: Range<u64>, into: &mut Vec<f32>) -> Result<()> {
        let width = self.columns.len() as u64;
        let mut at = numbers.start;
        while at < numbers.end {
            let group = self.group_of((at / width) as usize);
            let [first, end] = [self.starts[group], self.starts[group + 1]].map(|row| row as u64 * width);
            let end = end.min(numbers.end);
            let rows = self.group(group)?;
            if let Some(Ok(rows)) = rows.get() {
                into.extend_from_slice(&rows[(at - first) as usize..(end - first) as usize]);
            }
            at = end;
        }
        Ok(())
    }

    /// Decodes the group of a row, so that it is at hand when it is asked for.
    pub fn touch(&self, row: usize) -> Result<()> {
        self.group(self.group_of(row)).map(drop)
    }

    /// The rows of a group; whoever asks while another thread decodes it waits.
    fn group(&self, group: usize) -> Result<Decoded> {
        let lock = || self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let rows = {
            let mut kept = lock();
            let found = kept.iter().position(|kept| kept.group == group);
            let it = match found {
                Some(at) => kept.remove(at),
                None => Kept { group, rows: Arc::default() },
            };
            let rows = Arc::clone(&it.rows);
            // The last one is the one that was asked for last.
            kept.push(it);
            let (mut bytes, most) = (0, self.most.load(Ordering::Relaxed));
            let mut first = kept.len();
            while first > 0 && (kept.len() - first < 2 || bytes <= most) {
                first -= 1;
                let size = self.starts[kept[first].group + 1] - self.starts[kept[first].group];
                bytes += 4 * size * self.columns.len();
            }
            if bytes > most && kept.len() - first > 2 {
                first += 1;
            }
            kept.drain(..first);
            rows
        };
        let (shard, place) = self.places[group];
        let table = &self.shards[shard];
        let decoded = rows.get_or_init(|| {
            table.read_group(place, &self.columns).map_err(|error| match error {
                Error::Format { what, .. } => what,
                other => other.to_string(),
            })
        });
        if let Err(what) = decoded {
            let error = Error::format(table.name(), what.clone());
            lock().retain(|kept| kept.group != group);
            return Err(error);
        }
        Ok(rows)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use parquet::data_type::FloatType;
    use parquet::file::writer::SerializedFileWriter;

    use super::*;

    /// A column of ten rows in groups of two: 0 to 9.
    fn table() -> StoredTable {
        let schema = parquet::schema::parser::parse_message_type("message t { required float x; }").unwrap();
        let mut out = Vec::new();
        let mut writer = SerializedFileWriter::new(&mut out, Arc::new(schema), Default::default()).unwrap();
        for group in 0..5 {
            let mut rows = writer.next_row_group().unwrap();
            let mut column = rows.next_column().unwrap().unwrap();
            let numbers = [2 * group, 2 * group + 1].map(|number| number as f32);
            column.typed::<FloatType>().write_batch(&numbers, None, None).unwrap();
            column.close().unwrap();
            rows.close().unwrap();
        }
        writer.close().unwrap();
        StoredTable::new(vec![ColumnarTable::parse("t.parquet", &out).unwrap()], vec![0])
    }

    #[test]
    fn groups_are_kept_as_far_as_memory_goes() {
        let kept = |table: &StoredTable| -> Vec<usize> {
            table.kept.lock().unwrap().iter().map(|kept| kept.group).collect()
        };
        let read = |table: &StoredTable| {
            let mut numbers = Vec::new();
            table.read(0..10, &mut numbers).unwrap();
            assert_eq!(numbers, (0..10).map(|number| number as f32).collect::<Vec<_>>());
        };
        let table = table();
        table.most.store(0, Ordering::Relaxed);
        read(&table);
        assert_eq!(kept(&table), [3, 4]);
        table.most.store(24, Ordering::Relaxed);
        read(&table);
        assert_eq!(kept(&table), [2, 3, 4]);
        table.keep_all();
        read(&table);
        table.touch(0).unwrap();
        assert_eq!(kept(&table), [1, 2, 3, 4, 0]);
    }
}

//! An external sort: edges in any order go in, and come out sorted and once each, in bounded memory.
//!
//! A full buffer is sorted, freed of repeats and written to a file. Many such files are merged into one, so that few are open at a
//! time. This is written here because the crates for it serialize items one by one; an edge is three numbers.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::fs::File;
use std::io::{self, BufReader, BufWriter, Read};
use std::path::{Path, PathBuf};

use super::array::write_all;
use crate::{Error, Result, files, memory};

/// Relation, node, neighbour.
pub(super) type Entry = [u32; 3];

const SIZE: usize = size_of::<Entry>();
/// Files that are merged at once, at most, and the bytes that each is read by.
const FAN_IN: usize = 64;
const READ: usize = 1 << 16;

/// Sorts in a folder, with a buffer of so many bytes.
pub(super) struct Sorter {
    folder: PathBuf,
    buffer: Vec<Entry>,
    capacity: usize,
    /// Files of sorted entries, and how often each was merged: those of one level are merged together.
    runs: Vec<(PathBuf, u32)>,
    made: usize,
}

impl Sorter {
    pub fn new(folder: &Path, bytes: u64) -> Result<Self> {
        let capacity = usize::try_from(bytes / SIZE as u64).unwrap_or(usize::MAX).max(16);
        // As large as it may become, so that it never grows by copying; what is not touched costs nothing.
        let buffer = memory::with_capacity(capacity, "the buffer for sorting")?;
        Ok(Self { folder: folder.to_owned(), buffer, capacity, runs: Vec::new(), made: 0 })
    }

    pub fn push(&mut self, entry: Entry) -> Result<()> {
        if self.buffer.len() == self.capacity {
            self.spill()?;
        }
        self.buffer.push(entry);
        Ok(())
    }

    fn sort(&mut self) {
        self.buffer.sort_unstable();
        self.buffer.dedup();
    }

    fn spill(&mut self) -> Result<()> {
        self.sort();
        let mut run = RunWriter::create(self.next_path())?;
        for &entry in &self.buffer {
            run.push(entry)?;
        }
        self.buffer.clear();
        self.runs.push((run.finish()?, 0));
        while let Some(level) = self.full_level() {
            self.merge_level(level)?;
        }
        Ok(())
    }

    fn next_path(&mut self) -> PathBuf {
        self.made += 1;
        self.folder.join(format!("run-{}", self.made))
    }

    /// A level that has as many files as are merged at once.
    fn full_level(&self) -> Option<u32> {
        let level = self.runs.last()?.1;
        (self.runs.iter().filter(|run| run.1 == level).count() == FAN_IN).then_some(level)
    }

    fn merge_level(&mut self, level: u32) -> Result<()> {
        let (merged, kept): (Vec<_>, Vec<_>) = self.runs.drain(..).partition(|run| run.1 == level);
        self.runs = kept;
        let mut out = RunWriter::create(self.next_path())?;
        let paths = merged.into_iter().map(|run| run.0).collect::<Vec<_>>();
        merge(&paths, &[], &mut |entry| out.push(entry))?;
        self.runs.push((out.finish()?, level + 1));
        remove(&paths)
    }

    /// Passes all entries to `each`, sorted, each once.
    pub fn finish(mut self, each: &mut dyn FnMut(Entry) -> Result<()>) -> Result<()> {
        self.sort();
        // What is left of all levels may be more than can be open at once.
        while self.runs.len() > FAN_IN {
            self.runs.sort_by_key(|run| run.1);
            let smallest: Vec<PathBuf> = self.runs.drain(..FAN_IN).map(|run| run.0).collect();
            let mut out = RunWriter::create(self.next_path())?;
            merge(&smallest, &[], &mut |entry| out.push(entry))?;
            self.runs.push((out.finish()?, u32::MAX));
            remove(&smallest)?;
        }
        let paths: Vec<PathBuf> = self.runs.drain(..).map(|run| run.0).collect();
        merge(&paths, &self.buffer, each)?;
        remove(&paths)
    }
}

fn remove(paths: &[PathBuf]) -> Result<()> {
    paths.iter().try_for_each(|path| crate::files::remove(path))
}

struct RunWriter {
    path: PathBuf,
    file: BufWriter<File>,
}

impl RunWriter {
    fn create(path: PathBuf) -> Result<Self> {
        let file = files::create(&path)?;
        Ok(Self { path, file: BufWriter::with_capacity(READ, file) })
    }

    fn push(&mut self, entry: Entry) -> Result<()> {
        let mut bytes = [0; SIZE];
        for (place, number) in bytes.chunks_exact_mut(4).zip(entry) {
            place.copy_from_slice(&number.to_le_bytes());
        }
        write_all(&mut self.file, &bytes).map_err(|error| Error::io(&self.path, error))
    }

    fn finish(self) -> Result<PathBuf> {
        self.file.into_inner().map_err(|error| Error::io(&self.path, error.into_error()))?;
        Ok(self.path)
    }
}

/// The sorted entries of a file.
struct RunReader<'a> {
    path: &'a Path,
    file: BufReader<File>,
}

impl<'a> RunReader<'a> {
    fn open(path: &'a Path) -> Result<Self> {
        let file = files::open(path)?;
        Ok(Self { path, file: BufReader::with_capacity(READ, file) })
    }

    fn next(&mut self) -> Result<Option<Entry>> {
        let mut bytes = [0; SIZE];
        match self.file.read_exact(&mut bytes) {
            Ok(()) => {
                let number =
                    |at: usize| u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]]);
                Ok(Some([number(0), number(4), number(8)]))
            }
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Ok(None),
            Err(error) => Err(Error::io(self.path, error)),
        }
    }
}

/// Passes the entries of sorted files and of a sorted list to `each`, sorted, each once.
fn merge(paths: &[PathBuf], list: &[Entry], each: &mut dyn FnMut(Entry) -> Result<()>) -> Result<()> {
    if paths.is_empty() {
        return list.iter().try_for_each(|&entry| each(entry));
    }
    let mut runs = paths.iter().map(|path| RunReader::open(path)).collect::<Result<Vec<_>>>()?;
    let mut list = list.iter().copied();
    let mut next = |source: usize| -> Result<Option<Entry>> {
        match runs.get_mut(source) {
            Some(run) => run.next(),
            None => Ok(list.next()),
        }
    };
    let mut heap = BinaryHeap::new();
    for source in 0..=paths.len() {
        heap.extend(next(source)?.map(|entry| Reverse((entry, source))));
    }
    let mut last = None;
    while let Some(mut top) = heap.peek_mut() {
        let Reverse((entry, source)) = *top;
        match next(source)? {
            Some(following) => *top = Reverse((following, source)),
            None => {
                std::collections::binary_heap::PeekMut::pop(top);
            }
        }
        if last != Some(entry) {
            each(entry)?;
            last = Some(entry);
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use matnet_random::SeededRng;

    use super::*;

    #[test]
    fn entries_come_out_sorted_and_once_whatever_the_memory() {
        let mut rng = SeededRng::new(1, "entries");
        for (count, bytes) in
            [(0, 0), (10, 1 << 20), (20_000, 12 * 16), (20_000, 12 * 300), (5000, 12 * 5000)]
        {
            let folder = tempfile::tempdir().unwrap();
            let entries: Vec<Entry> = (0..count)
                .map(|_| [rng.below(2) as u32, rng.below(50) as u32, rng.below(300) as u32])
                .collect();
            let mut sorter = Sorter::new(folder.path(), bytes).unwrap();
            for &entry in &entries {
                sorter.push(entry).unwrap();
                assert!(sorter.runs.len() < 4 * FAN_IN);
            }
            let mut found = Vec::new();
            sorter
                .finish(&mut |entry| {
                    found.push(entry);
                    Ok(())
                })
                .unwrap();
            let mut expected = entries;
            expected.sort_unstable();
            expected.dedup();
            assert!(found == expected, "{count} entries in {bytes} bytes");
            assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0, "nothing is left behind");
        }
    }
}

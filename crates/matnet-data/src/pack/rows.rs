//! Features and rows of a packed graph under construction.

use std::path::{Path, PathBuf};

use super::array::ArrayWriter;
use super::names::{FEATURES, neighbors_name, offsets_name};
use crate::{Error, Result};

/// Features under construction.
pub(super) struct FeatureRows {
    folder: PathBuf,
    pub writer: Option<ArrayWriter<f32>>,
    pub nodes: u64,
    pub width: usize,
    pub nonzero: u64,
}

impl FeatureRows {
    pub fn create(folder: &Path) -> Result<Self> {
        Ok(Self { folder: folder.to_owned(), writer: None, nodes: 0, width: 0, nonzero: 0 })
    }

    pub fn push(&mut self, row: &[f32]) -> Result<()> {
        let writer = match &mut self.writer {
            Some(writer) => writer,
            None => {
                if row.is_empty() {
                    return Err(Error::Invalid("nodes have no features; at least one expected".to_owned()));
                }
                self.width = row.len();
                let path = self.folder.join(FEATURES);
                self.writer.insert(ArrayWriter::create(path, Some(row.len()))?)
            }
        };
        if let Some(number) = row.iter().find(|x| !x.is_finite()) {
            return Err(Error::Invalid(format!(
                "node {} holds {number}; finite numbers expected",
                self.nodes
            )));
        }
        self.nonzero += row.iter().filter(|&&x| x != 0.0).count() as u64;
        self.nodes += 1;
        writer.extend(row)
    }
}

/// The rows of one relation under construction.
pub(super) struct RowWriter {
    offsets: ArrayWriter<i64>,
    columns: ArrayWriter<u32>,
    /// Rows whose end is written.
    rows: usize,
    entries: u64,
    longest: u64,
    start: u64,
}

impl RowWriter {
    pub fn create(folder: &Path, relation: usize) -> Result<Self> {
        let mut offsets = ArrayWriter::create(folder.join(offsets_name(relation)), None)?;
        offsets.push(0)?;
        let columns = ArrayWriter::create(folder.join(neighbors_name(relation)), None)?;
        Ok(Self { offsets, columns, rows: 0, entries: 0, longest: 0, start: 0 })
    }

    fn end_rows(&mut self, until: usize) -> Result<()> {
        while self.rows < until {
            self.longest = self.longest.max(self.entries - self.start);
            self.start = self.entries;
            self.offsets.push(self.entries as i64)?;
            self.rows += 1;
        }
        Ok(())
    }

    pub fn push(&mut self, from: u32, to: u32) -> Result<()> {
        self.end_rows(from as usize)?;
        self.entries += 1;
        self.columns.push(to)
    }

    pub fn finish(mut self, nodes: usize) -> Result<(u64, usize)> {
        self.end_rows(nodes)?;
        self.offsets.finish()?;
        self.columns.finish()?;
        Ok((self.entries, self.longest as usize))
    }
}

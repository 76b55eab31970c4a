//! The names of nodes.

use std::path::Path;

use crate::format::bounded::reserve;
use crate::{Error, Result};

/// Names in one buffer, with a sorted index.
#[derive(Default)]
pub(crate) struct Names {
    bytes: Vec<u8>,
    ends: Vec<u32>,
    sorted: Vec<u32>,
}

impl Names {
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    pub fn get(&self, at: usize) -> &[u8] {
        let start = if at == 0 { 0 } else { self.ends[at - 1] as usize };
        &self.bytes[start..self.ends[at] as usize]
    }

    pub fn texts(&self) -> Vec<String> {
        (0..self.ends.len()).map(|at| String::from_utf8_lossy(self.get(at)).into_owned()).collect()
    }

    pub fn push(&mut self, name: &[u8], source: &Path) -> Result<()> {
        reserve(&mut self.bytes, name.len(), source)?;
        self.bytes.extend_from_slice(name);
        reserve(&mut self.ends, 1, source)?;
        let end = u32::try_from(self.bytes.len());
        self.ends.push(end.map_err(|_| Error::format(source, "the node names take more than 4 GiB"))?);
        Ok(())
    }

    /// Sorts the index; returns a duplicate name, if there is one.
    pub fn sort(&mut self) -> Option<String> {
        let mut sorted: Vec<u32> = (0..self.ends.len() as u32).collect();
        sorted.sort_unstable_by(|&a, &b| self.get(a as usize).cmp(self.get(b as usize)));
        let twice = sorted.windows(2).find(|pair| self.get(pair[0] as usize) == self.get(pair[1] as usize));
        let twice = twice.map(|pair| String::from_utf8_lossy(self.get(pair[0] as usize)).into_owned());
        self.sorted = sorted;
        twice
    }

    pub fn find(&self, name: &[u8]) -> Option<u32> {
        let at = self.sorted.binary_search_by(|&at| self.get(at as usize).cmp(name)).ok()?;
        Some(self.sorted[at])
    }
}

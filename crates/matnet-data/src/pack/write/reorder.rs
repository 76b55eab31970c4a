//! What needs the rows that were written: another order of the nodes, and how many neighbours a node has.

use std::path::Path;

use super::{BETWEEN, PackProgress, Packer};
use crate::pack::array::{ArrayFile, ArrayWriter};
use crate::pack::header::PackedRelation;
use crate::pack::names::{DEGREES, FEATURES, ORDER, neighbors_name, offsets_name};
use crate::pack::order::{places, reverse_cuthill_mckee};
use crate::pack::sort::Sorter;
use crate::pack::work::SCRATCH;
use crate::{Error, Result};

/// The rows of one relation.
struct Rows {
    offsets: Vec<i64>,
    columns: ArrayFile,
}

impl Rows {
    /// Those of all relations in a folder.
    fn open_all(folder: &Path, nodes: usize, relations: &[PackedRelation]) -> Result<Vec<Self>> {
        let open = |(number, relation): (usize, &PackedRelation)| {
            let offsets = ArrayFile::open::<i64>(folder.join(offsets_name(number)), &[nodes + 1])?;
            let columns = folder.join(neighbors_name(number));
            let columns = ArrayFile::open::<u32>(columns, &[relation.entries as usize])?;
            Ok(Self { offsets: offsets.read_all()?, columns })
        };
        relations.iter().enumerate().map(open).collect()
    }

    /// How many neighbours a node has.
    fn count(&self, node: u32) -> usize {
        (self.offsets[node as usize + 1] - self.offsets[node as usize]) as usize
    }

    /// Appends the neighbours of a node.
    fn read(&self, node: u32, into: &mut Vec<u32>) -> Result<()> {
        self.columns.read(self.offsets[node as usize] as u64, self.count(node), into)
    }
}

impl Packer<'_> {
    /// Finds another order of the nodes, and writes rows and features in it.
    pub(super) fn reorder(&mut self, stage: &Path) -> Result<()> {
        self.tell(PackProgress::Ordering)?;
        let (nodes, width) = (self.header.nodes, self.header.features);
        let rows = Rows::open_all(stage, nodes, &self.header.relations)?;
        let degree = |node: u32| rows.iter().map(|rows| rows.count(node)).sum::<usize>();
        let mut visited = 0;
        let order = reverse_cuthill_mckee(nodes, degree, |node, into| {
            visited += 1;
            if visited % BETWEEN == 0 {
                self.tell(PackProgress::Ordering)?;
            }
            rows.iter().try_for_each(|rows| rows.read(node, into))
        })?;
        let places = places(&order).map_err(Error::Invalid)?;
        let mut sorter = Sorter::new(&self.work.join(SCRATCH), self.options.memory)?;
        let mut row = Vec::new();
        for (number, rows) in rows.iter().enumerate() {
            for node in 0..nodes as u32 {
                if u64::from(node) % BETWEEN == 0 {
                    self.tell(PackProgress::Ordering)?;
                }
                row.clear();
                rows.read(node, &mut row)?;
                for &to in &row {
                    sorter.push([number as u32, places[node as usize], places[to as usize]])?;
                }
            }
        }
        drop(rows);
        self.rows(sorter, self.work)?;
        let features = ArrayFile::open::<f32>(stage.join(FEATURES), &[nodes, width])?;
        let mut writer = ArrayWriter::<f32>::create(self.work.join(FEATURES), Some(width))?;
        let mut row = Vec::new();
        for (done, &node) in order.iter().enumerate() {
            if (done as u64).is_multiple_of(BETWEEN) {
                self.tell(PackProgress::Nodes(done as u64))?;
            }
            row.clear();
            features.read(u64::from(node) * width as u64, width, &mut row)?;
            writer.extend(&row)?;
        }
        writer.finish()?;
        self.list(self.work, ORDER, &order)
    }

    /// With several relations: how many neighbours a node has in all of them together.
    pub(super) fn degrees(&mut self) -> Result<()> {
        let nodes = self.header.nodes;
        if self.header.relations.len() == 1 {
            return Ok(());
        }
        let rows = Rows::open_all(self.work, nodes, &self.header.relations)?;
        let mut writer = ArrayWriter::<u32>::create(self.work.join(DEGREES), None)?;
        let mut all: Vec<u32> = Vec::new();
        for node in 0..nodes as u32 {
            all.clear();
            rows.iter().try_for_each(|rows| rows.read(node, &mut all))?;
            all.sort_unstable();
            all.dedup();
            writer.push(all.len() as u32)?;
        }
        writer.finish()
    }
}

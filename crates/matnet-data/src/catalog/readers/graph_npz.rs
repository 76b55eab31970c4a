//! Graphs as `.npz`, in the two layouts of their publishers: sparse matrices (Shchur and others), and lists with split masks
//! (Platonov and others).

use std::path::Path;

use crate::format::raw::RawArray;
use crate::format::{archive, npy};
use crate::{Array, Error, GraphData, Result, SplitIndices, memory};

/// A graph and its published counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GraphFile {
    /// The name in the catalog.
    pub name: &'static str,
    /// The number of nodes.
    pub nodes: usize,
    /// The number of features of a node.
    pub features: usize,
    /// A name per class; empty where they are only numbered.
    pub class_names: &'static [&'static str],
    /// The number of classes.
    pub classes: usize,
    /// The number of public splits; sparse matrices come without.
    pub splits: usize,
}

/// All graphs that the catalog has in these layouts.
pub const GRAPHS: [GraphFile; 3] = [
    GraphFile {
        name: "coauthor-cs",
        nodes: 18_333,
        features: 6805,
        class_names: &[],
        classes: 15,
        splits: 0,
    },
    GraphFile { name: "amazon-photo", nodes: 7650, features: 745, class_names: &[], classes: 8, splits: 0 },
    GraphFile {
        name: "tolokers",
        nodes: 11_758,
        features: 10,
        class_names: &["not banned", "banned"],
        classes: 2,
        splits: 10,
    },
];

impl GraphFile {
    /// The graph of this name in the catalog.
    pub fn get(name: &str) -> Option<&'static Self> {
        GRAPHS.iter().find(|graph| graph.name == name)
    }

    /// Loads the graph. Edges have no direction; they are kept as stored.
    pub fn load(&self, path: &Path) -> Result<GraphData> {
        match self.splits {
            0 => self.sparse(path),
            _ => self.lists(path),
        }
    }

    /// `adj_*` and `attr_*` in compressed rows, `labels`.
    fn sparse(&self, path: &Path) -> Result<GraphData> {
        let arrays = Arrays::read(path, |name| {
            name == "labels" || name.starts_with("adj_") || name.starts_with("attr_")
        })?;
        let adjacency = Rows::new(&arrays, "adj", [self.nodes, self.nodes])?;
        let attributes = Rows::new(&arrays, "attr", [self.nodes, self.features])?;
        let weights = arrays.get("attr_data")?.clone().into_array(&arrays.name("attr_data"))?;
        if weights.data().len() != attributes.columns.len() {
            return Err(Error::format(arrays.name("attr_data"), "its length is not that of attr_indices"));
        }
        let mut features = memory::filled(0.0, self.nodes * self.features, path.display())?;
        for ((node, word), weight) in attributes.entries().zip(weights.data()) {
            features[node * self.features + word] = *weight;
        }
        let edges = adjacency.entries().map(|(from, to)| (from as u32, to as u32)).collect();
        self.graph(&arrays, "labels", features, edges, Vec::new())
    }

    /// `node_features`, `node_labels`, `edges`, and a mask per split.
    fn lists(&self, path: &Path) -> Result<GraphData> {
        let arrays = Arrays::read(path, |_| true)?;
        let features = arrays.get("node_features")?;
        self.expect(&arrays, "node_features", features.shape(), &[self.nodes, self.features])?;
        let features = features.clone().into_array(&arrays.name("node_features"))?.into_data();
        let pairs = arrays.get("edges")?;
        if !matches!(pairs.shape(), [_, 2]) {
            let what = format!("shape {:?}; [edges, 2] expected", pairs.shape());
            return Err(Error::format(arrays.name("edges"), what));
        }
        let ends = arrays.indices("edges", self.nodes)?;
        let edges = ends.chunks_exact(2).map(|ends| (ends[0] as u32, ends[1] as u32)).collect();
        let mut splits = vec![SplitIndices::default(); self.splits];
        for part in ["train_masks", "val_masks", "test_masks"] {
            let raw = arrays.get(part)?;
            self.expect(&arrays, part, raw.shape(), &[self.splits, self.nodes])?;
            let flags = arrays.indices(part, 2)?;
            for (split, flags) in splits.iter_mut().zip(flags.chunks_exact(self.nodes)) {
                let nodes = (0..self.nodes).filter(|&node| flags[node] == 1).collect();
                match part {
                    "train_masks" => split.train = nodes,
                    "val_masks" => split.valid = nodes,
                    _ => split.test = nodes,
                }
            }
        }
        for split in &splits {
            split.check(self.nodes).map_err(|error| Error::format(path, error.to_string()))?;
        }
        self.graph(&arrays, "node_labels", features, edges, splits)
    }

    fn graph(
        &self,
        arrays: &Arrays,
        label_key: &str,
        features: Vec<f32>,
        edges: Vec<(u32, u32)>,
        splits: Vec<SplitIndices>,
    ) -> Result<GraphData> {
        self.expect(arrays, label_key, arrays.get(label_key)?.shape(), &[self.nodes])?;
        let labels = arrays.indices(label_key, self.classes)?;
        let named =
            |class: usize| self.class_names.get(class).map_or_else(|| class.to_string(), ToString::to_string);
        Ok(GraphData {
            features: Array::new([self.nodes, self.features], features)?,
            feature_names: Vec::new(),
            node_names: Vec::new(),
            labels: labels.into_iter().map(|label| Some(label as u32)).collect(),
            class_names: (0..self.classes).map(named).collect(),
            weights: Vec::new(),
            edges,
            relations: Vec::new(),
            relation_names: Vec::new(),
            directed: false,
            splits,
        })
    }

    fn expect(&self, arrays: &Arrays, key: &str, found: &[usize], wanted: &[usize]) -> Result<()> {
        match found == wanted {
            true => Ok(()),
            false => {
                Err(Error::format(arrays.name(key), format!("shape {found:?}; {} has {wanted:?}", self.name)))
            }
        }
    }
}

/// Some arrays of an `.npz`. Others are not parsed: the published files also hold names as Python objects.
struct Arrays<'p> {
    path: &'p Path,
    arrays: Vec<(String, RawArray)>,
}

impl<'p> Arrays<'p> {
    fn read(path: &'p Path, wanted: impl Fn(&str) -> bool) -> Result<Self> {
        let mut arrays = Vec::new();
        archive::each(path, &mut |entry| {
            if let Some(key) = entry.name.strip_suffix(".npy").filter(|key| wanted(key)) {
                arrays.push((key.to_owned(), npy::parse(entry.input)?));
            }
            Ok(())
        })?;
        Ok(Self { path, arrays })
    }

    fn name(&self, key: &str) -> std::path::PathBuf {
        self.path.join(key)
    }

    fn get(&self, key: &str) -> Result<&RawArray> {
        let found = self.arrays.iter().find(|(name, _)| name == key);
        found.map(|(_, raw)| raw).ok_or_else(|| Error::format(self.path, format!("no array {key:?}")))
    }

    /// The numbers of an array, all below `end`.
    fn indices(&self, key: &str, end: usize) -> Result<Vec<usize>> {
        let inside = |number| usize::try_from(number).ok().filter(|&number| number < end);
        let indices = self.get(key)?.map_integers(inside);
        indices.ok_or_else(|| {
            let what = format!("integers from 0 to {} expected", end.saturating_sub(1));
            Error::format(self.name(key), what)
        })
    }
}

/// The places of the entries of a sparse matrix: `NAME_indptr` and `NAME_indices`.
struct Rows {
    starts: Vec<usize>,
    columns: Vec<usize>,
}

impl Rows {
    fn new(arrays: &Arrays, name: &str, shape: [usize; 2]) -> Result<Self> {
        let key = |part: &str| format!("{name}_{part}");
        let found = arrays.indices(&key("shape"), usize::MAX)?;
        if found != shape {
            let what = format!("is {found:?}, not {shape:?}");
            return Err(Error::format(arrays.name(&key("shape")), what));
        }
        let columns = arrays.indices(&key("indices"), shape[1])?;
        let starts = arrays.indices(&key("indptr"), columns.len() + 1)?;
        let rising = starts.windows(2).all(|pair| pair[0] <= pair[1]);
        if starts.len() != shape[0] + 1
            || !rising
            || starts.first() != Some(&0)
            || starts.last() != Some(&columns.len())
        {
            let what = format!("{} rising starts of rows from 0 to {} expected", shape[0] + 1, columns.len());
            return Err(Error::format(arrays.name(&key("indptr")), what));
        }
        Ok(Self { starts, columns })
    }

    /// Row and column of every entry, in the order of the file.
    fn entries(&self) -> impl Iterator<Item = (usize, usize)> + '_ {
        let rows = self.starts.windows(2).enumerate();
        rows.flat_map(|(row, ends)| self.columns[ends[0]..ends[1]].iter().map(move |&column| (row, column)))
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;
    use crate::format::npz::NpzWriter;

    const SPARSE: GraphFile =
        GraphFile { name: "small", nodes: 3, features: 2, class_names: &[], classes: 2, splits: 0 };
    const LISTS: GraphFile = GraphFile { splits: 2, class_names: &["no", "yes"], ..SPARSE };

    /// An `.npz` of these arrays, integers but for weights and features, and one that is not for us.
    fn load(graph: GraphFile, arrays: &[(&str, &[usize], &[f32])]) -> Result<GraphData> {
        let mut writer = NpzWriter::new(Vec::new());
        for (name, shape, values) in arrays {
            let write = |out: &mut dyn Write| match name.ends_with("_data") || name.ends_with("_features") {
                true => npy::write_f32(&mut { out }, shape, values),
                false => {
                    npy::write_header(&mut { &mut *out }, "<i8", shape)?;
                    values.iter().try_for_each(|&number| out.write_all(&(number as i64).to_le_bytes()))
                }
            };
            writer.add(name, write).unwrap();
        }
        if graph.splits == 0 {
            writer.add("node_names", |out| out.write_all(b"objects")).unwrap();
        }
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("small.npz");
        std::fs::write(&path, writer.finish().unwrap()).unwrap();
        graph.load(&path)
    }

    type Arrays = Vec<(&'static str, &'static [usize], &'static [f32])>;

    fn sparse() -> Arrays {
        vec![
            ("adj_shape", &[2], &[3.0, 3.0]),
            ("adj_indices", &[3], &[1.0, 2.0, 0.0]),
            ("adj_indptr", &[4], &[0.0, 2.0, 2.0, 3.0]),
            ("attr_shape", &[2], &[3.0, 2.0]),
            ("attr_data", &[2], &[5.0, 6.0]),
            ("attr_indices", &[2], &[1.0, 0.0]),
            ("attr_indptr", &[4], &[0.0, 1.0, 1.0, 2.0]),
            ("labels", &[3], &[0.0, 1.0, 1.0]),
        ]
    }

    #[test]
    fn sparse_matrices_are_read() {
        let graph = load(SPARSE, &sparse()).unwrap();
        assert_eq!(graph.edges, [(0, 1), (0, 2), (2, 0)]);
        assert_eq!(graph.features.data(), [0.0, 5.0, 0.0, 0.0, 6.0, 0.0]);
        assert_eq!((graph.labels[2], &graph.class_names[1][..]), (Some(1), "1"));
        assert!(graph.splits.is_empty() && !graph.directed);
    }

    #[test]
    fn damaged_sparse_matrices_are_refused() {
        let message = |at: usize, array: (&'static str, &'static [usize], &'static [f32])| {
            let mut arrays = sparse();
            arrays[at] = array;
            let text = load(SPARSE, &arrays).unwrap_err().to_string();
            text.split("small.npz").last().unwrap().trim_start_matches(std::path::MAIN_SEPARATOR).to_owned()
        };
        assert_eq!(message(0, ("adj_shape", &[2], &[9.0, 9.0])), "adj_shape: is [9, 9], not [3, 3]");
        assert_eq!(
            message(1, ("adj_indices", &[3], &[1.0, 3.0, 0.0])),
            "adj_indices: integers from 0 to 2 expected"
        );
        for starts in [&[0.0, 2.0, 1.0, 3.0], &[1.0, 2.0, 2.0, 3.0], &[0.0, 2.0, 2.0, 2.0]] {
            let text = message(2, ("adj_indptr", &[4], starts));
            assert_eq!(text, "adj_indptr: 4 rising starts of rows from 0 to 3 expected");
        }
        assert!(message(4, ("attr_data", &[1], &[5.0])).starts_with("attr_data: its length"));
        assert_eq!(message(7, ("labels", &[2], &[0.0, 1.0])), "labels: shape [2]; small has [3]");
        assert_eq!(message(7, ("labels", &[3], &[0.0, 1.0, 2.0])), "labels: integers from 0 to 1 expected");
        assert_eq!(message(7, ("other", &[1], &[0.0])), ": no array \"labels\"");
    }

    #[test]
    fn lists_and_masks_are_read() {
        let mut arrays: Arrays = vec![
            ("node_features", &[3, 2], &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]),
            ("node_labels", &[3], &[1.0, 0.0, 0.0]),
            ("edges", &[2, 2], &[0.0, 1.0, 1.0, 2.0]),
            ("train_masks", &[2, 3], &[1.0, 0.0, 0.0, 0.0, 1.0, 0.0]),
            ("val_masks", &[2, 3], &[0.0, 1.0, 0.0, 0.0, 0.0, 1.0]),
            ("test_masks", &[2, 3], &[0.0, 0.0, 1.0, 1.0, 0.0, 0.0]),
        ];
        let graph = load(LISTS, &arrays).unwrap();
        assert_eq!(graph.edges, [(0, 1), (1, 2)]);
        assert_eq!(graph.splits[1], SplitIndices { train: vec![1], valid: vec![2], test: vec![0] });
        assert_eq!(graph.class_names, ["no", "yes"]);
        arrays[5].2 = &[1.0, 0.0, 0.0, 1.0, 0.0, 0.0];
        assert!(load(LISTS, &arrays).unwrap_err().to_string().ends_with("split contains index 0 twice"));
        arrays[2] = ("edges", &[4], &[0.0, 1.0, 1.0, 2.0]);
        assert!(
            load(LISTS, &arrays).unwrap_err().to_string().ends_with("edges: shape [4]; [edges, 2] expected")
        );
    }
}

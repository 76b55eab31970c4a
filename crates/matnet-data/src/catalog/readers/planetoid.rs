//! Cora, Citeseer and PubMed as Planetoid's pickles `ind.NAME.{x,y,tx,ty,allx,ally,graph,test.index}`.
//!
//! The nodes of `allx` come first, in order; the rest are test nodes, whose indices are in `test.index`, in the order of `tx`. Fifteen of
//! Citeseer's test nodes are missing from `test.index`: they are in the graph, but have neither features nor class, and are in no split.

use std::path::{Path, PathBuf};

use crate::format::archive;
use crate::format::bounded::Input;
use crate::format::fields::{Fields, Next};
use crate::format::pickle::{CsrMatrix, Pickle};
use crate::{Array, Error, GraphData, Result, SplitIndices, memory};

/// One of the three graphs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PlanetoidGraph {
    /// 2,708 papers on machine learning, 7 classes.
    Cora,
    /// 3,327 papers on computer science, 6 classes; 15 of them without features.
    Citeseer,
    /// 19,717 papers on diabetes, 3 classes.
    PubMed,
}

impl PlanetoidGraph {
    /// The name in the file names.
    pub fn name(self) -> &'static str {
        match self {
            Self::Cora => "cora",
            Self::Citeseer => "citeseer",
            Self::PubMed => "pubmed",
        }
    }

    /// The class names, in the order of the files.
    fn class_names(self) -> &'static [&'static str] {
        match self {
            Self::Cora => &[
                "Theory",
                "Reinforcement_Learning",
                "Genetic_Algorithms",
                "Neural_Networks",
                "Probabilistic_Methods",
                "Case_Based",
                "Rule_Learning",
            ],
            Self::Citeseer => &["AI", "ML", "IR", "DB", "Agents", "HCI"],
            Self::PubMed => &["diabetes_experimental", "diabetes_type_1", "diabetes_type_2"],
        }
    }
}

/// The number of validation nodes in the public split, right after the training nodes.
const VALID: usize = 500;

const PARTS: [&str; 7] = ["x", "tx", "allx", "ty", "ally", "graph", "test.index"];

/// Loads a graph from a folder of `ind.…` files, from a folder with `planetoid-NAME.tar.gz`, or from such an archive.
///
/// Edges are the entries of the adjacency lists as stored: each citation in both directions, self-loops and duplicates included. The
/// public split is in `split`.
pub fn load(path: impl AsRef<Path>, graph: PlanetoidGraph) -> Result<GraphData> {
    let path = path.as_ref();
    let name = graph.name();
    let mut files: [Option<Vec<u8>>; PARTS.len()] = Default::default();
    let loose = path.join(format!("ind.{name}.graph"));
    if loose.is_file() {
        for (file, part) in files.iter_mut().zip(PARTS) {
            *file = Some(Input::open(path.join(format!("ind.{name}.{part}")))?.rest()?);
        }
    } else {
        let packed =
            if path.is_dir() { path.join(format!("planetoid-{name}.tar.gz")) } else { path.to_owned() };
        if !packed.is_file() {
            let what = format!("neither {} nor {} is there", loose.display(), packed.display());
            return Err(Error::Missing(what));
        }
        archive::each(&packed, &mut |mut entry| {
            let file = entry.name.rsplit('/').next().unwrap_or_default();
            let part = file.strip_prefix("ind.").and_then(|file| file.strip_prefix(name)?.strip_prefix('.'));
            if let Some(at) = PARTS.iter().position(|&known| Some(known) == part) {
                files[at] = Some(entry.input.rest()?);
            }
            Ok(())
        })?;
    }
    let mut found = Vec::with_capacity(PARTS.len());
    for (file, part) in files.into_iter().zip(PARTS) {
        let shown = path.join(format!("ind.{name}.{part}"));
        let bytes = file.ok_or_else(|| Error::Missing(format!("{} is not there", shown.display())))?;
        found.push((shown, bytes));
    }
    let [x, tx, allx, ty, ally, lists, index] = &found[..] else {
        return Err(Error::Invalid("seven parts expected".into()));
    };
    let pickle =
        |part: &(PathBuf, Vec<u8>)| -> Result<CsrMatrix> { Pickle::parse(&part.0, &part.1)?.root_csr() };
    let labels = |part: &(PathBuf, Vec<u8>)| -> Result<Array> {
        Pickle::parse(&part.0, &part.1)?.root_array()?.into_array(&part.0)
    };
    let parts = Parts {
        trained: pickle(x)?.rows,
        known: pickle(allx)?,
        tested: pickle(tx)?,
        known_labels: labels(ally)?,
        tested_labels: labels(ty)?,
        index: indices(Input::bytes_packed(&index.0, &index.1))?,
    };
    parts.assemble(path, graph, &Pickle::parse(&lists.0, &lists.1)?)
}

/// The indices of the test nodes, one per line.
fn indices(input: Input) -> Result<Vec<usize>> {
    let mut fields = Fields::new(input);
    let mut found = Vec::new();
    loop {
        match fields.next()? {
            Next::Field => {
                let number =
                    fields.text()?.parse::<u32>().map_err(|_| fields.error("a node index expected"))?;
                found.push(number as usize);
            }
            Next::Line => fields.next_line(),
            Next::End => return Ok(found),
        }
    }
}

/// The contents of the files.
struct Parts {
    trained: usize,
    known: CsrMatrix,
    tested: CsrMatrix,
    known_labels: Array,
    tested_labels: Array,
    index: Vec<usize>,
}

impl Parts {
    fn assemble(self, path: &Path, graph: PlanetoidGraph, lists: &Pickle) -> Result<GraphData> {
        let wrong = |what: String| Error::format(path, format!("ind.{}: {what}", graph.name()));
        let classes = graph.class_names().len();
        let (known, cols) = (self.known.rows, self.known.cols);
        let fits = self.tested.cols == cols
            && self.tested.rows == self.index.len()
            && self.known_labels.shape() == [known, classes]
            && self.tested_labels.shape() == [self.tested.rows, classes]
            && self.trained <= known;
        if !fits {
            return Err(wrong("x, tx, allx, ty, ally and test.index do not fit each other".into()));
        }
        // the graph, not the index, defines the number of nodes: some test nodes may be missing from the index
        let mut edges = Vec::new();
        let mut outside = None;
        let nodes = lists.root_lists(|from, to| match (u32::try_from(from), u32::try_from(to)) {
            (Ok(from), Ok(to)) => edges.push((from, to)),
            _ => outside = Some(from.min(to)),
        })?;
        outside =
            outside.or_else(|| edges.iter().map(|&(a, b)| i64::from(a.max(b))).find(|&n| n >= nodes as i64));
        if let Some(node) = outside {
            return Err(wrong(format!(
                "an edge goes to node {node}; 0 to {} expected",
                nodes.saturating_sub(1)
            )));
        }
        let mut seen = vec![false; nodes];
        for &node in &self.index {
            if node < known || node >= nodes || std::mem::replace(&mut seen[node], true) {
                return Err(wrong(format!("test.index: node {node} is out of range or occurs twice")));
            }
        }
        let size = nodes.checked_mul(cols).filter(|&n| n <= 1 << 31);
        let size = size.ok_or_else(|| wrong(format!("{nodes} nodes of {cols} features are too many")))?;
        let mut features = memory::filled(0.0, size, "features")?;
        let mut labels = vec![None; nodes];
        let mut place = |node: usize, csr: &CsrMatrix, targets: &Array, row: usize| {
            for (col, value) in csr.row(row) {
                features[node * cols + col] = value;
            }
            labels[node] = targets.sample(row).iter().position(|&hot| hot == 1.0).map(|class| class as u32);
        };
        for row in 0..known.min(nodes) {
            place(row, &self.known, &self.known_labels, row);
        }
        for (row, &node) in self.index.iter().enumerate() {
            place(node, &self.tested, &self.tested_labels, row);
        }
        let valid_end = (self.trained + VALID).min(known);
        let mut test = self.index;
        test.sort_unstable();
        Ok(GraphData {
            features: Array::new([nodes, cols], features)?,
            labels,
            class_names: graph.class_names().iter().map(|&name| name.to_owned()).collect(),
            edges,
            feature_names: Vec::new(),
            node_names: Vec::new(),
            weights: Vec::new(),
            relations: Vec::new(),
            relation_names: Vec::new(),
            directed: false,
            splits: vec![SplitIndices {
                train: (0..self.trained).collect(),
                valid: (self.trained..valid_end).collect(),
                test,
            }],
        })
    }
}

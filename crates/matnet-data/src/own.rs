//! Your own data: a path in, samples or a graph out, with the kind found from what is there.
//!
//! | path | what it holds |
//! |---|---|
//! | `x.npy` | inputs `[n, rows, cols]` or `[n, time, rows, cols]`; nothing to learn but themselves |
//! | `data.npz` | `x` as above; `y`, if there: classes `[n]` or, one per step, `[n, time]` (whole numbers or texts), matrices `[n, r, c]` or sequences `[n, time, r, c]`; `group`, if there: one whole number or text per sample |
//! | `graph.npz` | `features` `[nodes, k]`; `edges` `[m, 2]` or `[2, m]` (2×2 counts as `[m, 2]`), node numbers from 0; `labels`, if there: `[nodes]`, −1 for unknown (or texts, empty for unknown); `relations`, if there: `[m]`, a whole number or text per edge; `directed`, if there: whether edges go one way only; `train`, `valid`, `test`, if there: node numbers, or a truth value per node |
//! | folder of folders | a class per folder: pictures, or one matrix per `.csv`/`.tsv`/`.txt` |
//! | folder of files | pictures or matrices without classes |
//! | folder with two texts | `edges.*` and `nodes.*` (or `features.*`), or LINQS's `.cites` and `.content`: a graph ([`edgelist`]) |

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use crate::format::edgelist::{self, class_of, sort_classes};
use crate::format::npz::{self, Npz};
use crate::format::raw::Raw;
use crate::format::{csv, images, npy};
use crate::{Array, Error, GraphData, Result, Samples, Split, Target};

/// What a path turned out to hold.
#[derive(Clone, Debug, PartialEq)]
pub enum Loaded {
    /// Matrices, or sequences of matrices, that stand on their own.
    Samples(Samples),
    /// Nodes joined by edges.
    Graph(GraphData),
}

/// Loads whatever stands at `path`; this module's table says what that may be.
pub fn load(path: impl AsRef<Path>) -> Result<Loaded> {
    let path = path.as_ref();
    if path.is_dir() {
        return load_folder(path);
    }
    if !path.exists() {
        return Err(Error::Missing(format!("{}: there is no such file or folder", path.display())));
    }
    let name = path.file_name().unwrap_or_default().to_string_lossy().to_ascii_lowercase();
    let name = name.strip_suffix(".gz").unwrap_or(&name);
    if name.ends_with(".npy") {
        let inputs = inputs(npy::read(path)?, path)?;
        return Ok(Loaded::Samples(samples(inputs, Target::None)));
    }
    if name.ends_with(".npz") {
        let npz = npz::read(path)?;
        return if npz.get("x").is_none() && npz.get("edges").is_some() {
            graph(npz, path).map(Loaded::Graph)
        } else {
            from_npz(npz, path).map(Loaded::Samples)
        };
    }
    if images::is_image(path) || is_table(path) {
        let one = read_matrix(path)?;
        let shape = [1, one.shape()[0], one.shape()[1]];
        return Ok(Loaded::Samples(samples(Array::new(shape, one.into_data())?, Target::None)));
    }
    Err(Error::format(path, "is of no known kind; .npy, .npz, pictures, .csv or a folder of them expected"))
}

/// Loads a graph from a list of edges and a table of nodes, whatever they are called.
pub fn load_graph(edges: impl AsRef<Path>, nodes: impl AsRef<Path>) -> Result<GraphData> {
    edgelist::read(edges, nodes)
}

fn samples(inputs: Array, target: Target) -> Samples {
    Samples { inputs, target, groups: Vec::new(), group_names: Vec::new() }
}

/// An array of three or four sides.
pub(crate) fn inputs(raw: Raw, name: &Path) -> Result<Array> {
    check_shape(raw.shape(), name)?;
    raw.into_array(name)
}

/// Matrices, or sequences of them, and at least one.
pub(crate) fn check_shape(shape: &[usize], name: &Path) -> Result<()> {
    if !(3..=4).contains(&shape.len()) {
        let what = format!("shape {shape:?}; [n, rows, cols] or [n, time, rows, cols] expected");
        return Err(Error::format(name, what));
    }
    if shape.contains(&0) {
        return Err(Error::format(name, format!("shape {shape:?} holds nothing")));
    }
    Ok(())
}

fn from_npz(mut npz: Npz, path: &Path) -> Result<Samples> {
    let x = inputs(npz.take("x")?, &path.join("x"))?;
    let target = match npz.get("y") {
        None => Target::None,
        Some(_) => {
            let (raw, name) = (npz.take("y")?, path.join("y"));
            if raw.shape().first() != Some(&x.len()) {
                let what =
                    format!("shape {:?} beside {} samples in x; as many expected", raw.shape(), x.len());
                return Err(Error::format(name, what));
            }
            match raw.shape() {
                &[_] | &[_, 1] => classes(&raw, &name)?,
                &[_, time] if x.shape().len() == 4 && x.shape()[1] == time => {
                    let (labels, names) = named(&raw, &name)?;
                    Target::Steps { labels: known(labels, &name)?, names }
                }
                &[_, _, _] | &[_, _, _, _] => Target::Matrices(raw.into_array(&name)?),
                shape => {
                    let what = format!(
                        "shape {shape:?}; classes [n] or [n, time], matrices [n, r, c] or sequences [n, time, r, c] expected"
                    );
                    return Err(Error::format(name, what));
                }
            }
        }
    };
    let mut found = samples(x, target);
    if npz.get("group").is_some() {
        let (raw, name) = (npz.take("group")?, path.join("group"));
        if raw.shape() != [found.inputs.len()] {
            let what = format!(
                "shape {:?}; one group for each of {} samples expected",
                raw.shape(),
                found.inputs.len()
            );
            return Err(Error::format(name, what));
        }
        let (labels, names) = named(&raw, &name)?;
        found.groups = known(labels, &name)?;
        found.group_names = names;
    }
    Ok(found)
}

/// A class per sample: whole numbers, or texts, in order.
fn classes(raw: &Raw, name: &Path) -> Result<Target> {
    let (labels, names) = named(raw, name)?;
    Ok(Target::Classes { labels: known(labels, name)?, names })
}

/// Fails unless every label is known.
fn known(labels: Vec<Option<u32>>, name: &Path) -> Result<Vec<u32>> {
    let hole = labels.iter().position(Option::is_none);
    match hole {
        Some(at) => Err(Error::format(name, format!("number {at} is not known; a class expected"))),
        None => Ok(labels.into_iter().flatten().collect()),
    }
}

/// Labels and their names; −1 and empty texts are unknown. Whole numbers from 0 keep their value as class number.
fn named(raw: &Raw, name: &Path) -> Result<(Vec<Option<u32>>, Vec<String>)> {
    let mut classes: HashMap<String, u32> = HashMap::new();
    if let Some(texts) = raw.texts() {
        let mut labels: Vec<_> = texts.iter().map(|text| class_of(text, &mut classes)).collect();
        let names = sort_classes(classes, &mut labels);
        return Ok((labels, names));
    }
    let numbers = raw.integers(name)?;
    let most = numbers.iter().copied().max().unwrap_or(0);
    let least = numbers.iter().copied().min().unwrap_or(0);
    if least < -1 {
        return Err(Error::format(
            name,
            format!("class {least}; numbers from 0 expected, or -1 for unknown"),
        ));
    }
    // a few classes: the number is the class; wide gaps: the numbers are only names
    if most < 2 * numbers.len() as i64 + 16 {
        let labels = numbers.iter().map(|&n| u32::try_from(n).ok()).collect();
        return Ok((labels, (0..=most.max(0)).map(|n| n.to_string()).collect()));
    }
    let mut labels: Vec<_> =
        numbers.iter().map(|&n| if n < 0 { None } else { class_of(&n.to_string(), &mut classes) }).collect();
    let names = sort_classes(classes, &mut labels);
    Ok((labels, names))
}

/// A graph from `features`, `edges` and perhaps `labels`, `train`, `valid` and `test`.
fn graph(mut npz: Npz, path: &Path) -> Result<GraphData> {
    let raw = npz.take("features")?;
    let &[nodes, _] = raw.shape() else {
        let what = format!("shape {:?}; [nodes, features] expected", raw.shape());
        return Err(Error::format(path.join("features"), what));
    };
    let features = raw.into_array(&path.join("features"))?;
    let node_numbers = |raw: &Raw, name: &Path| -> Result<Vec<u32>> {
        let one = |n: i64| match u32::try_from(n).ok().filter(|&n| (n as usize) < nodes) {
            Some(node) => Ok(node),
            None => Err(Error::format(name, format!("node {n}; 0 to {} expected", nodes.saturating_sub(1)))),
        };
        raw.integers(name)?.into_iter().map(one).collect()
    };
    let (raw, name) = (npz.take("edges")?, path.join("edges"));
    let flat = node_numbers(&raw, &name)?;
    let edges: Vec<(u32, u32)> = match raw.shape() {
        &[_, 2] => flat.as_chunks::<2>().0.iter().map(|&[from, to]| (from, to)).collect(),
        &[2, count] => flat[..count].iter().copied().zip(flat[count..].iter().copied()).collect(),
        shape => return Err(Error::format(name, format!("shape {shape:?}; [m, 2] or [2, m] expected"))),
    };
    let (mut relations, mut relation_names) = (Vec::new(), Vec::new());
    if npz.get("relations").is_some() {
        let (raw, name) = (npz.take("relations")?, path.join("relations"));
        if raw.shape() != [edges.len()] {
            let what =
                format!("shape {:?}; one relation for each of {} edges expected", raw.shape(), edges.len());
            return Err(Error::format(name, what));
        }
        let (labels, names) = named(&raw, &name)?;
        (relations, relation_names) = (known(labels, &name)?, names);
    }
    let directed = match npz.get("directed") {
        None => false,
        Some(_) => match &npz.take("directed")?.integers(&path.join("directed"))?[..] {
            [one] if (0..=1).contains(one) => *one == 1,
            _ => return Err(Error::format(path.join("directed"), "one truth value expected")),
        },
    };
    let (mut labels, mut class_names) = (vec![None; nodes], Vec::new());
    if npz.get("labels").is_some() {
        let (raw, name) = (npz.take("labels")?, path.join("labels"));
        if raw.shape() != [nodes] {
            let what = format!("shape {:?}; one label for each of {nodes} nodes expected", raw.shape());
            return Err(Error::format(name, what));
        }
        (labels, class_names) = named(&raw, &name)?;
    }
    let mut split = Split::default();
    let mut any = false;
    let mut used = vec![false; nodes];
    for (key, part) in [("train", &mut split.train), ("valid", &mut split.valid), ("test", &mut split.test)] {
        if npz.get(key).is_none() {
            continue;
        }
        any = true;
        let (raw, name) = (npz.take(key)?, path.join(key));
        let mut chosen = node_numbers(&raw, &name)?;
        // A truth value per node; as numbers of nodes they would stand there twice.
        if chosen.len() == nodes && nodes > 2 && chosen.iter().all(|&number| number < 2) {
            chosen = (0..nodes as u32).filter(|&node| chosen[node as usize] == 1).collect();
        }
        for node in chosen {
            if std::mem::replace(&mut used[node as usize], true) {
                return Err(Error::format(name, format!("node {node} stands in two parts, or twice in one")));
            }
            part.push(node as usize);
        }
    }
    let split = any.then_some(split);
    let node_names = Vec::new();
    Ok(GraphData {
        features,
        node_names,
        labels,
        class_names,
        edges,
        relations,
        relation_names,
        directed,
        split,
    })
}

/// Whether a path is named like a table of numbers.
pub(crate) fn is_table(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy().to_ascii_lowercase();
    let name = name.strip_suffix(".gz").unwrap_or(&name);
    [".csv", ".tsv", ".txt"].iter().any(|end| name.ends_with(end))
}

fn read_matrix(path: &Path) -> Result<Array> {
    if images::is_image(path) { images::read(path) } else { csv::read(path) }
}

/// Files and folders in a folder, in order of name; hidden ones are left out.
fn list(dir: &Path) -> Result<(Vec<PathBuf>, Vec<PathBuf>)> {
    let (mut files, mut folders) = (Vec::new(), Vec::new());
    for entry in std::fs::read_dir(dir).map_err(|e| Error::io(dir, e))? {
        let entry = entry.map_err(|e| Error::io(dir, e))?;
        if entry.file_name().to_string_lossy().starts_with('.') {
            continue;
        }
        if entry.path().is_dir() { folders.push(entry.path()) } else { files.push(entry.path()) }
    }
    files.sort();
    folders.sort();
    Ok((files, folders))
}

fn load_folder(dir: &Path) -> Result<Loaded> {
    let (files, _) = list(dir)?;
    if let Some((edges, nodes)) = graph_files(&files) {
        return edgelist::read(edges, nodes).map(Loaded::Graph);
    }
    let mut found = Matrices::default();
    let (matrices, names) = matrix_files(dir)?;
    for (file, class) in &matrices {
        found.add(file, *class)?;
    }
    let Some((_, [rows, cols])) = found.first else {
        return Err(Error::format(
            dir,
            "holds no pictures and no .csv, neither in it nor in folders by class, and no edges and nodes",
        ));
    };
    let inputs = Array::new([found.count, rows, cols], found.data)?;
    let target =
        if names.is_empty() { Target::None } else { Target::Classes { labels: found.labels, names } };
    Ok(Loaded::Samples(samples(inputs, target)))
}

/// The files of a folder that hold a matrix each, in order, with the class of each, and the classes' names. If there are
/// folders of such files they are the classes, and files beside them are left out.
#[allow(clippy::type_complexity)]
pub(crate) fn matrix_files(dir: &Path) -> Result<(Vec<(PathBuf, Option<u32>)>, Vec<String>)> {
    let is_matrix = |path: &PathBuf| images::is_image(path) || is_table(path);
    let (files, folders) = list(dir)?;
    let (mut found, mut names) = (Vec::new(), Vec::new());
    for folder in &folders {
        let (files, _) = list(folder)?;
        let files: Vec<_> = files.into_iter().filter(is_matrix).collect();
        if files.is_empty() {
            continue;
        }
        let class = names.len() as u32;
        names.push(folder.file_name().unwrap_or_default().to_string_lossy().into_owned());
        found.extend(files.into_iter().map(|file| (file, Some(class))));
    }
    if names.is_empty() {
        found.extend(files.into_iter().filter(is_matrix).map(|file| (file, None)));
    }
    Ok((found, names))
}

/// The list of edges and the table of nodes, if the folder has both.
fn graph_files(files: &[PathBuf]) -> Option<(&PathBuf, &PathBuf)> {
    let called = |stems: &[&str], ending: &str| {
        files.iter().find(|path| {
            let name = path.file_name().unwrap_or_default().to_string_lossy().to_ascii_lowercase();
            let (stem, _) = name.split_once('.').unwrap_or((&name, ""));
            stems.contains(&stem) || name.strip_suffix(".gz").unwrap_or(&name).ends_with(ending)
        })
    };
    let edges = called(&["edges", "edge_list", "edgelist"], ".cites")?;
    let nodes = called(&["nodes", "features"], ".content")?;
    Some((edges, nodes))
}

/// Matrices of one size, as they come in.
#[derive(Default)]
pub(crate) struct Matrices {
    data: Vec<f32>,
    labels: Vec<u32>,
    count: usize,
    /// The first file, and its size, which all others must have.
    first: Option<(PathBuf, [usize; 2])>,
}

impl Matrices {
    /// Those that came in since the last time, `[n, rows, cols]`; what comes next must be of the same size.
    pub fn take(&mut self) -> Result<Array> {
        let [rows, cols] = self.first.as_ref().map_or([0, 0], |(_, size)| *size);
        let count = std::mem::take(&mut self.count);
        self.labels.clear();
        Array::new([count, rows, cols], std::mem::take(&mut self.data))
    }

    pub fn add(&mut self, path: &Path, class: Option<u32>) -> Result<()> {
        let matrix = read_matrix(path)?;
        let size = [matrix.shape()[0], matrix.shape()[1]];
        let (first, wanted) = self.first.get_or_insert_with(|| (path.to_owned(), size));
        if *wanted != size {
            let what = format!(
                "{}x{} where {} is {}x{}; all must be of one size",
                size[0],
                size[1],
                first.display(),
                wanted[0],
                wanted[1]
            );
            return Err(Error::format(path, what));
        }
        self.data.extend(matrix.data());
        self.labels.extend(class);
        self.count += 1;
        Ok(())
    }
}

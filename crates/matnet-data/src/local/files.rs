//! The files of a folder: samples of which each is a picture, a recording, an array or a table, or the two tables of a graph.

use std::ops::Range;
use std::path::{Path, PathBuf};

use super::series::{SeriesForm, SeriesList};
use super::{Layout, ReadOptions};
use crate::error::counted;
use crate::format::images::{self, ImageOptions};
use crate::format::{csv, npy, wav};
use crate::{Array, Error, Result};

/// The kinds of files that hold one sample; where a folder has several, the first counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum SampleFile {
    Image,
    Wav,
    Npy,
    Table,
}

impl SampleFile {
    /// The kind of a file, by its name.
    pub fn of(path: &Path) -> Option<Self> {
        if images::is_image(path) {
            return Some(Self::Image);
        }
        let name = path.file_name().unwrap_or_default().to_string_lossy().to_ascii_lowercase();
        let name = name.strip_suffix(".gz").unwrap_or(&name);
        match name.rsplit_once('.')?.1 {
            "wav" | "wave" => Some(Self::Wav),
            "npy" => Some(Self::Npy),
            "csv" | "tsv" | "txt" => Some(Self::Table),
            _ => None,
        }
    }

    fn words(self) -> &'static str {
        match self {
            Self::Image => "a picture",
            Self::Wav => "a .wav",
            Self::Npy => "an .npy",
            Self::Table => "a table",
        }
    }

    fn plural(self) -> &'static str {
        match self {
            Self::Image => "pictures",
            Self::Wav => ".wav files",
            Self::Npy => ".npy files of one sample each",
            Self::Table => "tables of one sample each",
        }
    }

    /// The options that have an effect on such files.
    fn options(self) -> &'static [&'static str] {
        match self {
            Self::Image => &["image_size", "color"],
            Self::Wav | Self::Npy | Self::Table => &["layout"],
        }
    }
}

/// Files of one kind, and what all of them must have in common.
pub(super) struct SampleFiles {
    files: Vec<PathBuf>,
    kind: SampleFile,
    options: ReadOptions,
    first: Option<First>,
}

/// The first sample, after which all others go.
struct First {
    path: PathBuf,
    /// The shape of the sample: `[rows, cols]`, `[time, channels]` or `[time, rows, cols]`.
    shape: Vec<usize>,
    sample_rate: Option<u32>,
}

/// One sample, as its file has it.
struct Sample {
    array: Array,
    sample_rate: Option<u32>,
}

impl SampleFiles {
    /// The files of a folder, or one file; fails if there is none, or if they are of different kinds.
    pub fn new(dir: &Path, files: Vec<PathBuf>, options: &ReadOptions) -> Result<Self> {
        let kinds = || files.iter().filter_map(|file| Some((file, SampleFile::of(file)?)));
        let Some((first, kind)) = kinds().next() else {
            let what = "holds no pictures, .wav, .npy, .csv or .ts, neither in it nor in folders by class, and no edges \
                        and nodes";
            return Err(Error::format(dir, what));
        };
        if let Some((other, odd)) = kinds().find(|(_, other)| *other != kind) {
            let what = format!(
                "is {} where {} is {}; one kind expected",
                odd.words(),
                first.display(),
                kind.words()
            );
            return Err(Error::format(other, what));
        }
        options.allow(dir, kind.plural(), kind.options())?;
        Ok(Self { files, kind, options: options.clone(), first: None })
    }

    pub fn len(&self) -> usize {
        self.files.len()
    }

    pub fn paths(&self) -> &[PathBuf] {
        &self.files
    }

    /// The samples per second of the files that have been read, if they are recordings.
    pub fn sample_rate(&self) -> Option<u32> {
        self.first.as_ref()?.sample_rate
    }

    /// What the user may want to know about the files that have been read.
    pub fn note(&self) -> Option<String> {
        self.sample_rate().map(|rate| format!("{rate} samples per second"))
    }

    /// The samples of some files and, where they differ, their lengths.
    pub fn read(&mut self, range: Range<usize>) -> Result<(Array, Vec<usize>)> {
        let mut series: Option<SeriesList> = None;
        let mut matrices = Vec::new();
        let mut form = None;
        for at in range.clone() {
            let Sample { array, sample_rate } = self.sample(at)?;
            form = self.form(array.shape());
            self.check(at, array.shape(), sample_rate, form)?;
            match form {
                None => matrices.extend_from_slice(array.data()),
                Some(_) => {
                    series.get_or_insert_with(|| SeriesList::new(&array.shape()[1..])).push(array.data())?;
                }
            }
        }
        match (series, form) {
            (Some(series), Some(form)) => series.finish(form, self.folder()),
            _ => {
                let shape = self.first.as_ref().map_or(&[0, 0][..], |first| &first.shape);
                Ok((Array::new([&[range.len()], shape].concat(), matrices)?, Vec::new()))
            }
        }
    }

    /// The folder of the first file, for errors about all of them.
    fn folder(&self) -> &Path {
        match &self.files[..] {
            [one] => one,
            files => files[0].parent().unwrap_or(Path::new(".")),
        }
    }

    /// The form of series, or `None` for matrices that stay as they are in the file.
    fn form(&self, shape: &[usize]) -> Option<SeriesForm> {
        match (self.kind, self.options.layout, shape.len()) {
            (SampleFile::Wav, _, _) => Some(SeriesForm::of(&self.options, Layout::Matrix)),
            (_, Some(Layout::Sequence), 2) => Some(SeriesForm::of(&self.options, Layout::Sequence)),
            (_, _, 3) => Some(SeriesForm::Sequence),
            _ => None,
        }
    }

    fn sample(&self, at: usize) -> Result<Sample> {
        let path = &self.files[at];
        let plain = |array| Ok(Sample { array, sample_rate: None });
        match self.kind {
            SampleFile::Image => {
                let options = ImageOptions { size: self.options.image_size, color: self.options.color };
                plain(images::read_with(path, options)?)
            }
            SampleFile::Table => plain(csv::read(path)?),
            SampleFile::Npy => {
                let array = npy::read(path)?.into_array(path)?;
                let shape = array.shape().to_vec();
                if shape.contains(&0) {
                    return Err(Error::format(path, format!("shape {shape:?} holds nothing")));
                }
                match shape[..] {
                    [time] => plain(Array::new([time, 1], array.into_data())?),
                    [_, _] => plain(array),
                    [_, _, _] if self.options.layout != Some(Layout::Matrix) => plain(array),
                    [_, _, _] => Err(Error::format(
                        path,
                        format!("shape {shape:?} is a sequence of matrices, where `layout` says matrix"),
                    )),
                    _ => Err(Error::format(
                        path,
                        format!(
                            "shape {shape:?}; [rows, cols], [time, channels] or [time, rows, cols] expected"
                        ),
                    )),
                }
            }
            SampleFile::Wav => {
                let found = wav::read(path)?;
                let shape = [found.values.len() / found.channels, found.channels];
                Ok(Sample { array: Array::new(shape, found.values)?, sample_rate: Some(found.sample_rate) })
            }
        }
    }

    /// Fails unless a sample fits the first one.
    fn check(
        &mut self,
        at: usize,
        shape: &[usize],
        rate: Option<u32>,
        form: Option<SeriesForm>,
    ) -> Result<()> {
        let path = &self.files[at];
        let new = || First { path: path.clone(), shape: shape.to_vec(), sample_rate: rate };
        let first = self.first.get_or_insert_with(new);
        let (whose, wanted) = (first.path.display(), &first.shape);
        let other_rate = |expected: &f64| rate.is_some_and(|rate| f64::from(rate) != *expected);
        let what = match form {
            _ if let Some(expected) = self.options.sample_rate.filter(other_rate) => format!(
                "{} samples per second; {expected} expected, the sample rate of the config or of the training data",
                rate.unwrap_or(0)
            ),
            _ if rate != first.sample_rate => format!(
                "{} samples per second where {whose} has {}; one sample rate expected: resample before",
                rate.unwrap_or(0),
                first.sample_rate.unwrap_or(0)
            ),
            None if shape != wanted => {
                let hint = match self.kind {
                    SampleFile::Image => "; `image_size = [rows, cols]` resizes them",
                    _ if shape.get(1) == wanted.get(1) => {
                        "; `layout = \"sequence\"` reads recordings [time, channels] of different lengths"
                    }
                    _ => "",
                };
                format!(
                    "{} where {whose} is {}; all must have the same size{hint}",
                    sides(shape),
                    sides(wanted)
                )
            }
            Some(_) if shape[1..] != wanted[1..] && shape.len() == 2 && wanted.len() == 2 => {
                format!("{} where {whose} has {}; as many expected", counted(shape[1], "channel"), wanted[1])
            }
            Some(_) if shape[1..] != wanted[1..] => {
                format!("steps of shape {:?} where {whose} has {:?}", &shape[1..], &wanted[1..])
            }
            Some(SeriesForm::Matrix) if shape[0] != wanted[0] => format!(
                "{} where {whose} has {}; matrices have one size; `layout = \"sequence\"` reads sequences of \
                 different lengths, and signals that become spectrograms may differ, too",
                counted(shape[0], "step"),
                wanted[0]
            ),
            _ => return Ok(()),
        };
        Err(Error::format(path, what))
    }
}

fn sides(shape: &[usize]) -> String {
    shape.iter().map(usize::to_string).collect::<Vec<_>>().join("x")
}

/// The edge list and the node table, if a folder has these files.
pub(crate) fn graph_files(files: &[PathBuf]) -> Option<(&PathBuf, &PathBuf)> {
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

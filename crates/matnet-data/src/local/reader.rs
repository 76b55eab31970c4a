//! Reading the samples of a file in chunks, for prediction on files larger than memory.

use std::path::{Path, PathBuf};

use super::files::SampleFiles;
use super::long_table::Nameless;
use super::npz::{inputs_and_lengths, refuse_padding};
use super::target::clear_padding;
use super::{FileKind, ReadOptions, arrays, check_shape, columnar, folder, long_table, table, ts};
use crate::format::bounded::Input;
use crate::format::npy::{self, NpyHeader};
use crate::format::npz;
use crate::format::raw::{DType, RawArray, byte_count};
use crate::{Array, Error, Result, memory};

/// Reads samples in order, a chunk at a time.
///
/// | path | contents |
/// |---|---|
/// | `x.npy` | `[n, rows, cols]` or `[n, time, rows, cols]`; read in chunks (in Fortran order: as a whole) |
/// | folder with `x.npy`, `length.npy`, … | the same with lengths; read in chunks |
/// | `data.npz` | the same as array `x`, perhaps with `length`; read as a whole |
/// | `.ts` | series, whose classes or values are ignored; read as a whole |
/// | `.csv`, `.tsv` or `.txt`, with `target_columns`, `columns` or `shape` | a sample per row; targets are ignored, and may be absent; read as a whole, as are `.arrow` and `.feather` |
/// | `.parquet`, a folder of them, or a pattern | the same; read in chunks |
/// | a table, with `long_table` | one sample `[rows, columns]`: see [`load_table`](super::load_table) |
/// | an image, a `.wav`, or a `.csv`, `.tsv` or `.txt` | one sample |
/// | a folder of these or of `.npy`, or of folders of these | a sample per file, sorted by path; read in chunks |
///
/// ```no_run
/// let mut reader = matnet_data::local::SampleReader::open("x.npy")?;
/// while let Some(chunk) = reader.next_chunk(100)? {
///     println!("{:?}, {} remaining", chunk.inputs.shape(), reader.remaining());
/// }
/// # Ok::<(), matnet_data::Error>(())
/// ```
pub struct SampleReader<'a> {
    path: PathBuf,
    source: ChunkSource<'a>,
    len: usize,
    at: usize,
    missing: bool,
    /// Whether sequences without lengths must not end in zeros.
    lengths_differ: bool,
}

/// Some samples.
#[derive(Clone, Debug, PartialEq)]
pub struct SampleChunk {
    /// The inputs; sequences that are shorter than the longest of the chunk, or of the file, are followed by zeros.
    pub inputs: Array,
    /// The number of steps of each sequence; empty where all have the same.
    pub lengths: Vec<usize>,
}

enum ChunkSource<'a> {
    /// An `.npy` in C order.
    Stream { input: Input<'a>, head: NpyHeader, lengths: Vec<usize> },
    /// Rows of Parquet files.
    #[cfg(feature = "columnar")]
    Stored(crate::StoredArray),
    /// Samples that had to be read as a whole.
    Whole(SampleChunk),
    /// One sample per file; the names are relative to the folder.
    Files { files: SampleFiles, names: Vec<String> },
}

impl SampleReader<'static> {
    /// Opens the file or folder at `path`.
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        Self::open_with(path, &ReadOptions::default())
    }

    /// The same, where the files leave a choice. Options about targets are ignored, because targets are.
    pub fn open_with(path: impl AsRef<Path>, options: &ReadOptions) -> Result<Self> {
        let path = path.as_ref();
        let options = &ReadOptions { target: None, ..options.clone() };
        if options.long_table && long_table::is_one_table(path)? {
            let dataset = long_table::load_columns(path, options, Nameless::AsTheyStand)?;
            let values = dataset.into_table()?.values;
            let shape = [&[1], values.shape()].concat();
            return Ok(Self::whole(path, (values.reshaped(shape)?, Vec::new())));
        }
        match FileKind::of(path, options)? {
            FileKind::Folder if let Some(names) = arrays::names(path)? => {
                options.allow(path, "a folder of arrays", &[])?;
                let mut reader = Self::from_npy(Input::open(path.join("x.npy"))?)?;
                reader.lengths_differ = options.lengths_differ && !names.iter().any(|name| name == "length");
                if let ChunkSource::Stream { head, lengths, .. } = &mut reader.source {
                    *lengths = arrays::beside(path, &names, &head.shape)?.1;
                } else if names.iter().any(|name| name == "length") {
                    let all = npz::read_folder(path, &names, "")?;
                    return Ok(Self::whole(path, inputs_and_lengths(&mut { all }, path)?));
                }
                Ok(reader)
            }
            FileKind::Folder => Self::files(path, folder::sample_files(path)?, options),
            FileKind::Npy => {
                options.allow(path, "an .npy", &[])?;
                let reader = Self::from_npy(Input::open(path)?)?;
                Ok(Self { lengths_differ: options.lengths_differ, ..reader })
            }
            FileKind::Npz => {
                options.allow(path, "an .npz", &[])?;
                let mut npz = npz::read(path)?;
                let counted = npz.get("length").is_some();
                let reader = Self::whole(path, inputs_and_lengths(&mut npz, path)?);
                Ok(Self { lengths_differ: options.lengths_differ && !counted, ..reader })
            }
            FileKind::Ts => {
                options.allow(path, "a .ts file", &["layout"])?;
                Ok(Self::whole(path, ts::inputs(path, options)?))
            }
            #[cfg(feature = "columnar")]
            FileKind::Rows if !columnar::shards(path)?.is_empty() => {
                let array = table::stored_inputs(path, options)?;
                let len = array.len();
                Ok(Self {
                    path: path.to_owned(),
                    source: ChunkSource::Stored(array),
                    len,
                    at: 0,
                    missing: false,
                    lengths_differ: false,
                })
            }
            FileKind::Rows => Ok(Self::whole(path, (table::inputs(path, options)?, Vec::new()))),
            FileKind::Sample => Self::files(path, vec![path.to_owned()], options),
        }
    }

    fn files(path: &Path, files: Vec<PathBuf>, options: &ReadOptions) -> Result<Self> {
        let name = |file: &PathBuf| {
            let below = file.strip_prefix(path).ok().filter(|below| *below != Path::new(""));
            below.or(file.file_name().map(Path::new)).unwrap_or(file).to_string_lossy().into_owned()
        };
        let (names, len) = (files.iter().map(name).collect(), files.len());
        let source = ChunkSource::Files { files: SampleFiles::new(path, files, options)?, names };
        Ok(Self { path: path.to_owned(), source, len, at: 0, missing: false, lengths_differ: false })
    }
}

impl<'a> SampleReader<'a> {
    /// Reads samples from a stream in the format `.npy`.
    pub fn from_npy(mut input: Input<'a>) -> Result<Self> {
        let head = npy::header(&mut input)?;
        let path = input.name().to_owned();
        check_shape(&head.shape, &path)?;
        if matches!(head.dtype, DType::Bytes(_) | DType::Text(_)) {
            return Err(input.error("holds strings where numbers were expected"));
        }
        // Where the size is known, a truncated file is refused before its first samples are used.
        match byte_count(&head.shape, head.dtype) {
            Some(bytes) => input.expect_left(bytes)?,
            None => return Err(input.error(format!("shape {:?} is too large", head.shape))),
        }
        if head.fortran {
            let raw = RawArray::read(&mut input, head.shape, head.dtype, head.big_endian, true)?;
            input.expect_end()?;
            let array = raw.into_array(&path)?;
            return Ok(Self::whole(&path, (array, Vec::new())));
        }
        let len = head.shape[0];
        Ok(Self {
            path,
            source: ChunkSource::Stream { input, head, lengths: Vec::new() },
            len,
            at: 0,
            missing: false,
            lengths_differ: false,
        })
    }

    fn whole(path: &Path, (inputs, lengths): (Array, Vec<usize>)) -> Self {
        let len = inputs.len();
        let source = ChunkSource::Whole(SampleChunk { inputs, lengths });
        Self { path: path.to_owned(), source, len, at: 0, missing: false, lengths_differ: false }
    }

    /// Lets missing values through, as NaN, for the caller to fill; without it they are an error.
    pub fn keep_missing(self) -> Self {
        Self { missing: true, ..self }
    }

    /// The total number of samples.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there is no sample.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The number of samples not yet read.
    pub fn remaining(&self) -> usize {
        self.len - self.at
    }

    /// The number of values per sample, where it is known before reading.
    pub fn sample_size(&self) -> Option<usize> {
        match &self.source {
            ChunkSource::Stream { head, .. } => Some(head.shape[1..].iter().product()),
            ChunkSource::Whole(all) => Some(all.inputs.shape()[1..].iter().product()),
            #[cfg(feature = "columnar")]
            ChunkSource::Stored(array) => Some(array.sample_size()),
            ChunkSource::Files { .. } => None,
        }
    }

    /// The file names, where each sample is a file.
    pub fn file_names(&self) -> Option<&[String]> {
        match &self.source {
            ChunkSource::Files { names, .. } => Some(names),
            _ => None,
        }
    }

    /// The next `count` samples, or fewer at the end; `None` when all have been read.
    pub fn next_chunk(&mut self, count: usize) -> Result<Option<SampleChunk>> {
        let count = count.max(1).min(self.remaining());
        if count == 0 {
            return Ok(None);
        }
        let (range, last) = (self.at..self.at + count, count == self.remaining());
        let (inputs, lengths) = match &mut self.source {
            ChunkSource::Stream { input, head, lengths } => {
                let mut shape = head.shape.clone();
                shape[0] = count;
                let raw = RawArray::read(input, shape, head.dtype, head.big_endian, false)?;
                if last {
                    input.expect_end()?;
                }
                let mut inputs = raw.into_array(&self.path)?;
                let lengths = lengths.get(range).map(<[usize]>::to_vec).unwrap_or_default();
                clear_padding(&mut inputs, &lengths);
                (inputs, lengths)
            }
            ChunkSource::Whole(all) => {
                let mut shape = all.inputs.shape().to_vec();
                shape[0] = count;
                let size = shape[1..].iter().product::<usize>();
                let numbers = &all.inputs.data()[range.start * size..range.end * size];
                let lengths = all.lengths.get(range).map(<[usize]>::to_vec).unwrap_or_default();
                (Array::new(shape, memory::collect(numbers.iter().copied(), self.path.display())?)?, lengths)
            }
            #[cfg(feature = "columnar")]
            ChunkSource::Stored(array) => (array.samples(range)?, Vec::new()),
            ChunkSource::Files { files, .. } => files.read(range)?,
        };
        self.check_finite(&inputs)?;
        if self.lengths_differ {
            refuse_padding(&inputs, &self.path)?;
        }
        self.at += count;
        Ok(Some(SampleChunk { inputs, lengths }))
    }

    /// Fails if a value is not finite, and not missing where that is allowed.
    fn check_finite(&self, array: &Array) -> Result<()> {
        let odd = |x: &f32| if self.missing { x.is_infinite() } else { !x.is_finite() };
        let Some(at) = array.data().iter().position(odd) else { return Ok(()) };
        let size = array.data().len() / array.len().max(1);
        let sample = self.at + at / size.max(1);
        let path = match &self.source {
            ChunkSource::Files { files, .. } => &files.paths()[sample],
            _ => &self.path,
        };
        let what = format!("sample {sample} holds {}; finite numbers expected", array.data()[at]);
        Err(Error::format(path, what))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(shape: &[usize]) -> Vec<u8> {
        let numbers: Vec<f32> = (0..shape.iter().product()).map(|i| i as f32).collect();
        let mut bytes = Vec::new();
        npy::write_f32(&mut bytes, shape, &numbers).unwrap();
        bytes
    }

    fn all(mut reader: SampleReader, count: usize) -> (Vec<usize>, Vec<f32>) {
        let (mut sizes, mut numbers) = (Vec::new(), Vec::new());
        while let Some(some) = reader.next_chunk(count).unwrap() {
            sizes.push(some.inputs.len());
            numbers.extend(some.inputs.into_data());
        }
        (sizes, numbers)
    }

    #[test]
    fn chunks_make_the_whole() {
        let bytes = file(&[5, 2, 3]);
        let wanted: Vec<f32> = (0..30).map(|i| i as f32).collect();
        for (count, sizes) in [(1, vec![1; 5]), (2, vec![2, 2, 1]), (5, vec![5]), (99, vec![5])] {
            let reader = SampleReader::from_npy(Input::bytes("x.npy", &bytes).unwrap()).unwrap();
            assert_eq!((reader.len(), reader.remaining(), reader.sample_size()), (5, 5, Some(6)));
            assert_eq!(all(reader, count), (sizes, wanted.clone()));
        }
    }

    #[test]
    fn damage_is_reported_at_once_or_at_the_end() {
        let error = |bytes: &[u8]| {
            let read = |bytes| {
                let mut reader = SampleReader::from_npy(Input::bytes("x.npy", bytes)?)?;
                while reader.next_chunk(2)?.is_some() {}
                Ok::<(), Error>(())
            };
            read(bytes).unwrap_err().to_string()
        };
        let bytes = file(&[5, 2, 3]);
        assert_eq!(error(&bytes[..bytes.len() - 1]), "x.npy: says 120 bytes follow, but only 119 do");
        assert_eq!(error(&[&bytes[..], b"x"].concat()), "x.npy: has trailing bytes after its last number");
        assert_eq!(
            error(&file(&[4, 2])),
            "x.npy: shape [4, 2]; [n, rows, cols] or [n, time, rows, cols] expected"
        );
        assert_eq!(error(&file(&[4, 0, 2])), "x.npy: shape [4, 0, 2] holds nothing");
        let mut bytes = file(&[5, 2, 3]);
        let end = bytes.len();
        bytes[end - 8..end - 4].copy_from_slice(&f32::NAN.to_le_bytes());
        assert_eq!(error(&bytes), "x.npy: sample 4 holds NaN; finite numbers expected");
        let reader = SampleReader::from_npy(Input::bytes("x.npy", &bytes).unwrap()).unwrap();
        assert!(all(reader.keep_missing(), 2).1[28].is_nan());
    }
}

//! Reading the samples of a file in chunks, for prediction on files larger than memory.

use std::path::{Path, PathBuf};

use super::folder::{self, MatrixList};
use super::{FileKind, check_shape, inputs};
use crate::format::bounded::Input;
use crate::format::npy::{self, NpyHeader};
use crate::format::npz;
use crate::format::raw::{DType, RawArray, byte_count};
use crate::{Array, Error, Result};

/// Reads samples in order, a chunk at a time.
///
/// | path | contents |
/// |---|---|
/// | `x.npy` | `[n, rows, cols]` or `[n, time, rows, cols]`; read in chunks (in Fortran order: as a whole) |
/// | `data.npz` | the same as array `x`; read as a whole |
/// | an image, or a `.csv`, `.tsv` or `.txt` | one matrix |
/// | a folder of these, or of folders of these | a matrix per file, sorted by path; read in chunks |
///
/// ```no_run
/// let mut reader = matnet_data::local::SampleReader::open("x.npy")?;
/// while let Some(chunk) = reader.next_chunk(100)? {
///     println!("{:?}, {} remaining", chunk.shape(), reader.remaining());
/// }
/// # Ok::<(), matnet_data::Error>(())
/// ```
pub struct SampleReader<'a> {
    path: PathBuf,
    source: ChunkSource<'a>,
    len: usize,
    at: usize,
}

enum ChunkSource<'a> {
    /// An `.npy` in C order.
    Stream { input: Input<'a>, head: NpyHeader },
    /// An array that had to be read as a whole.
    Whole(Array),
    /// One matrix per file; the names are relative to the folder.
    Files { files: Vec<PathBuf>, names: Vec<String>, matrices: MatrixList },
}

impl SampleReader<'static> {
    /// Opens the file or folder at `path`.
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref();
        match FileKind::of(path)? {
            FileKind::Folder => {
                Self::files(path, folder::matrix_files(path)?.0.into_iter().map(|(file, _)| file).collect())
            }
            FileKind::Npy => Self::from_npy(Input::open(path)?),
            FileKind::Npz => Self::whole(path, inputs(npz::read(path)?.take("x")?, &path.join("x"))?),
            FileKind::Matrix => Self::files(path, vec![path.to_owned()]),
        }
    }

    fn files(path: &Path, files: Vec<PathBuf>) -> Result<Self> {
        if files.is_empty() {
            let what = "holds no images and no .csv, neither in it nor in folders in it";
            return Err(Error::format(path, what));
        }
        let name = |file: &PathBuf| {
            let below = file.strip_prefix(path).ok().filter(|below| *below != Path::new(""));
            below.or(file.file_name().map(Path::new)).unwrap_or(file).to_string_lossy().into_owned()
        };
        let names = files.iter().map(name).collect();
        let len = files.len();
        let source = ChunkSource::Files { files, names, matrices: MatrixList::default() };
        Ok(Self { path: path.to_owned(), source, len, at: 0 })
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
            return Self::whole(&path, array);
        }
        let len = head.shape[0];
        Ok(Self { path, source: ChunkSource::Stream { input, head }, len, at: 0 })
    }

    fn whole(path: &Path, array: Array) -> Result<Self> {
        let len = array.len();
        Ok(Self { path: path.to_owned(), source: ChunkSource::Whole(array), len, at: 0 })
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
            ChunkSource::Whole(array) => Some(array.shape()[1..].iter().product()),
            ChunkSource::Files { .. } => None,
        }
    }

    /// The file names, where each sample is a file.
    pub fn file_names(&self) -> Option<&[String]> {
        match &self.source {
            ChunkSource::Files { names, .. } => Some(names),
            ChunkSource::Stream { .. } | ChunkSource::Whole(_) => None,
        }
    }

    /// The next `count` samples, or fewer at the end; `None` when all have been read.
    pub fn next_chunk(&mut self, count: usize) -> Result<Option<Array>> {
        let count = count.max(1).min(self.remaining());
        if count == 0 {
            return Ok(None);
        }
        let last = count == self.remaining();
        let array = match &mut self.source {
            ChunkSource::Stream { input, head } => {
                let mut shape = head.shape.clone();
                shape[0] = count;
                let raw = RawArray::read(input, shape, head.dtype, head.big_endian, false)?;
                if last {
                    input.expect_end()?;
                }
                raw.into_array(&self.path)?
            }
            ChunkSource::Whole(array) => {
                let mut shape = array.shape().to_vec();
                shape[0] = count;
                let size = shape[1..].iter().product::<usize>();
                let numbers = &array.data()[self.at * size..(self.at + count) * size];
                Array::new(shape, numbers.to_vec())?
            }
            ChunkSource::Files { files, matrices, .. } => {
                for file in &files[self.at..self.at + count] {
                    matrices.add(file, None)?;
                }
                matrices.take()?
            }
        };
        self.check_finite(&array)?;
        self.at += count;
        Ok(Some(array))
    }

    /// Fails if a value is not finite.
    fn check_finite(&self, array: &Array) -> Result<()> {
        let Some(at) = array.data().iter().position(|x| !x.is_finite()) else { return Ok(()) };
        let size = array.data().len() / array.len().max(1);
        let sample = self.at + at / size.max(1);
        let path = match &self.source {
            ChunkSource::Files { files, .. } => &files[sample],
            ChunkSource::Stream { .. } | ChunkSource::Whole(_) => &self.path,
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
            sizes.push(some.len());
            numbers.extend(some.into_data());
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
    }
}

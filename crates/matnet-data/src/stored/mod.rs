//! A dense array that stays in its file, for data larger than memory.
//!
//! Values are read by position when they are asked for, not through a memory map: a file that is cut off meanwhile is an error like any
//! other and not the end of the process, and only what is asked for counts as memory of the process.

#[cfg(feature = "columnar")]
mod table;

use std::fs::{File, Metadata};
use std::io::{self, Read, Seek, SeekFrom};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

#[cfg(feature = "columnar")]
pub(crate) use self::table::StoredTable;
use crate::format::archive;
use crate::format::bounded::{Budget, Input};
use crate::format::npy::{self, NpyHeader};
use crate::format::raw::{DType, RawArray, byte_count, decode_into};
use crate::{Array, Error, Result, faults, files, memory};

/// Numbers in a file, in row-major order; the first axis counts the samples.
#[derive(Clone, Debug)]
pub struct StoredArray {
    path: PathBuf,
    shape: Vec<usize>,
    source: Source,
}

#[derive(Clone, Debug)]
enum Source {
    /// One after another.
    Numbers(Numbers),
    /// A sample per row of Parquet files.
    #[cfg(feature = "columnar")]
    Table(Arc<StoredTable>),
}

/// Numbers that stand one after another in a file.
#[derive(Clone, Debug)]
struct Numbers {
    file: Arc<File>,
    /// Where the first number begins.
    start: u64,
    dtype: DType,
    big_endian: bool,
}

impl StoredArray {
    /// The array of an `.npy` file, not compressed and in C order; `None` if it is otherwise, and must be read as a whole. The
    /// size of the file is checked.
    pub fn open(path: impl AsRef<Path>) -> Result<Option<Self>> {
        Ok(Self::open_any(path.as_ref())?.filter(|array| !array.is_text()))
    }

    /// The array called `key` in an `.npz`, if it is not compressed and in C order; `None` if it is otherwise, or not there.
    pub fn open_member(path: impl AsRef<Path>, key: &str) -> Result<Option<Self>> {
        let path = path.as_ref();
        let Some(range) = archive::stored_member(path, &format!("{key}.npy"))? else { return Ok(None) };
        let mut file = files::open(path)?;
        let size = range.end - range.start;
        let name = path.join(key);
        file.seek(SeekFrom::Start(range.start)).map_err(|error| Error::io(path, error))?;
        let mut input = Input::inside(name, file.take(size), Some(size), Budget::for_size(size));
        let Some((head, before)) = head(&mut input)? else { return Ok(None) };
        let array = Self::of(path, head, range.start + before)?;
        Ok(Some(array).filter(|array| !array.is_text()))
    }

    /// The rows of Parquet files of the same columns, as samples of this shape.
    #[cfg(feature = "columnar")]
    pub(crate) fn of_table(path: &Path, shape: Vec<usize>, table: StoredTable) -> Self {
        Self { path: path.to_owned(), shape, source: Source::Table(Arc::new(table)) }
    }

    fn is_text(&self) -> bool {
        matches!(&self.source, Source::Numbers(Numbers { dtype: DType::Bytes(_) | DType::Text(_), .. }))
    }

    /// The same for an array of any type.
    pub(crate) fn open_any(path: &Path) -> Result<Option<Self>> {
        let mut input = Input::open_packed(path)?;
        if path.extension().is_some_and(|end| end.eq_ignore_ascii_case("gz")) {
            return Ok(None);
        }
        match head(&mut input)? {
            Some((head, start)) => Self::of(path, head, start).map(Some),
            None => Ok(None),
        }
    }

    fn of(path: &Path, head: NpyHeader, start: u64) -> Result<Self> {
        let file = files::open(path)?;
        let NpyHeader { shape, dtype, big_endian, .. } = head;
        let numbers = Numbers { file: Arc::new(file), start, dtype, big_endian };
        Ok(Self { path: path.to_owned(), shape, source: Source::Numbers(numbers) })
    }

    /// The file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The shape, outermost axis first.
    pub fn shape(&self) -> &[usize] {
        &self.shape
    }

    /// The number of samples.
    pub fn len(&self) -> usize {
        self.shape.first().copied().unwrap_or(0)
    }

    /// Whether there is no sample.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The numbers of one sample.
    pub fn sample_size(&self) -> usize {
        self.shape.iter().skip(1).product()
    }

    /// What the files are, whichever machine asks: where machines share them, they get the same text, and for copies another. `None`
    /// if the system does not tell.
    pub fn identity(&self) -> Result<Option<String>> {
        let of = |path: &Path, meta: io::Result<Metadata>| {
            meta.map(|meta| files::identity(&meta)).map_err(|error| Error::io(path, error))
        };
        match &self.source {
            Source::Numbers(numbers) => of(&self.path, numbers.file.metadata()),
            #[cfg(feature = "columnar")]
            Source::Table(table) => {
                let each = table.files().map(|path| of(path, path.metadata()));
                Ok(each.collect::<Result<Option<Vec<String>>>>()?.map(|all| all.join(" ")))
            }
        }
    }

    /// Keeps whatever has to be decoded, for data that would fit into memory.
    pub fn keep_decoded(&self) {
        match &self.source {
            Source::Numbers(_) => {}
            #[cfg(feature = "columnar")]
            Source::Table(table) => table.keep_all(),
        }
    }

    /// The bytes that all of it would take as `f32`.
    pub fn bytes_in_memory(&self) -> u64 {
        (self.len() as u64).saturating_mul(self.sample_size() as u64).saturating_mul(4)
    }

    /// Appends some numbers of a sample.
    pub fn read(&self, sample: usize, range: Range<usize>, into: &mut Vec<f32>) -> Result<()> {
        if sample >= self.len() || range.start > range.end || range.end > self.sample_size() {
            let what = format!("numbers {range:?} of sample {sample}, where the shape is {:?}", self.shape);
            return Err(Error::format(&self.path, what));
        }
        let first = sample as u64 * self.sample_size() as u64 + range.start as u64;
        self.read_numbers(first, range.len(), into)
    }

    /// Samples that stand one after another.
    pub fn samples(&self, range: Range<usize>) -> Result<Array> {
        let mut values = memory::with_capacity(range.len() * self.sample_size(), self.path.display())?;
        self.read_numbers(range.start as u64 * self.sample_size() as u64, values.capacity(), &mut values)?;
        self.array(range.len(), values)
    }

    /// Some samples, in this order.
    pub fn select(&self, indices: &[usize]) -> Result<Array> {
        let mut values = memory::with_capacity(indices.len() * self.sample_size(), self.path.display())?;
        for &at in indices {
            self.read(at, 0..self.sample_size(), &mut values)?;
        }
        self.array(indices.len(), values)
    }

    /// Reads the bytes of a sample, so that the system has them at hand when they are asked for.
    pub fn touch(&self, sample: usize, scratch: &mut Vec<u8>) -> Result<()> {
        match &self.source {
            Source::Numbers(numbers) => {
                let size = self.sample_size() * numbers.dtype.size();
                scratch.resize(size, 0);
                numbers.read(&self.path, sample as u64 * size as u64, scratch)
            }
            #[cfg(feature = "columnar")]
            Source::Table(table) => table.touch(sample),
        }
    }

    /// Some entries along the first axis, in their own type.
    pub(crate) fn raw(&self, range: Range<usize>) -> Result<RawArray> {
        let each = self.sample_size();
        self.raw_numbers(range.start as u64 * each as u64, range.len() * each)
    }

    /// So many elements from the one at `first` on, as one list, in their own type.
    pub(crate) fn raw_numbers(&self, first: u64, count: usize) -> Result<RawArray> {
        let Source::Numbers(numbers) = &self.source else {
            return Err(Error::format(&self.path, "an .npy expected"));
        };
        let mut bytes = memory::filled(0, count * numbers.dtype.size(), self.path.display())?;
        numbers.read(&self.path, first * numbers.dtype.size() as u64, &mut bytes)?;
        let mut input = Input::bytes_packed(&self.path, &bytes);
        RawArray::read(&mut input, vec![count], numbers.dtype, numbers.big_endian, false)
    }

    fn array(&self, count: usize, values: Vec<f32>) -> Result<Array> {
        let mut shape = self.shape.clone();
        shape[0] = count;
        Array::new(shape, values)
    }

    /// Appends so many numbers from the one at `first` on.
    fn read_numbers(&self, first: u64, count: usize, into: &mut Vec<f32>) -> Result<()> {
        match &self.source {
            Source::Numbers(numbers) => numbers.decode(&self.path, first, count, into),
            #[cfg(feature = "columnar")]
            Source::Table(table) => table.read(first..first + count as u64, into),
        }
    }
}

/// The header of an `.npy` whose numbers follow one after another, and the bytes before them; `None` if it is in Fortran order, or its
/// size is not known.
fn head(input: &mut Input) -> Result<Option<(NpyHeader, u64)>> {
    let size = input.left();
    let head = npy::header(input)?;
    let (Some(size), Some(left), false) = (size, input.left(), head.fortran) else {
        return Ok(None);
    };
    let Some(bytes) = byte_count(&head.shape, head.dtype) else {
        return Err(input.error(format!("shape {:?} is too large", head.shape)));
    };
    input.expect_left(bytes)?;
    if left > bytes {
        return Err(input.error("has trailing bytes after its last number"));
    }
    Ok(Some((head, size - left)))
}

impl Numbers {
    /// Appends so many numbers from the one at `first` on.
    fn decode(&self, path: &Path, first: u64, count: usize, into: &mut Vec<f32>) -> Result<()> {
        /// Numbers that are read at once.
        const BLOCK: usize = 1 << 16;
        let size = self.dtype.size();
        let mut bytes = vec![0; count.min(BLOCK) * size];
        let mut done = 0;
        while done < count {
            let block = &mut bytes[..(count - done).min(BLOCK) * size];
            self.read(path, (first + done as u64) * size as u64, block)?;
            decode_into(block, self.dtype, self.big_endian, into);
            done += block.len() / size.max(1);
        }
        Ok(())
    }

    fn read(&self, path: &Path, from: u64, into: &mut [u8]) -> Result<()> {
        let read = faults::file().and_then(|()| files::read_exact_at(&self.file, into, self.start + from));
        read.map_err(|error| match error.kind() {
            io::ErrorKind::UnexpectedEof => Error::format(path, "was cut off while it was read"),
            _ => Error::io(path, error),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn npy(code: &str, shape: &[usize], body: &[u8]) -> Vec<u8> {
        let mut file = Vec::new();
        npy::write_header(&mut file, code, shape).unwrap();
        file.extend(body);
        file
    }

    #[test]
    fn a_stored_array_holds_what_a_read_one_does() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.npy");
        let numbers: Vec<i16> = (0..60).map(|at| at * 37 - 900).collect();
        let little: Vec<u8> = numbers.iter().flat_map(|x| x.to_le_bytes()).collect();
        let big: Vec<u8> = numbers.iter().flat_map(|x| x.to_be_bytes()).collect();
        for (code, body) in [("<i2", &little), (">i2", &big)] {
            std::fs::write(&path, npy(code, &[5, 3, 4], body)).unwrap();
            let stored = StoredArray::open(&path).unwrap().unwrap();
            let whole = npy::read(&path).unwrap().into_array(&path).unwrap();
            assert_eq!(stored.samples(0..5).unwrap(), whole);
            assert_eq!(stored.select(&[4, 0, 4]).unwrap(), whole.select(&[4, 0, 4]).unwrap());
            let mut some = vec![1.0];
            stored.read(3, 2..7, &mut some).unwrap();
            assert_eq!(some[1..], whole.sample(3)[2..7]);
            assert!(stored.read(5, 0..1, &mut some).is_err() && stored.read(0, 3..13, &mut some).is_err());
            assert_eq!((stored.sample_size(), stored.bytes_in_memory()), (12, 240));
        }
    }

    #[test]
    fn a_file_that_is_cut_off_is_an_error() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.npy");
        let whole = npy("<f4", &[4, 2, 2], &[0; 64]);
        let error = |path: &Path| StoredArray::open(path).unwrap_err().to_string();
        std::fs::write(&path, &whole[..whole.len() - 1]).unwrap();
        assert!(error(&path).ends_with("x.npy: says 64 bytes follow, but only 63 do"), "{}", error(&path));
        std::fs::write(&path, [&whole[..], b"x"].concat()).unwrap();
        assert!(error(&path).ends_with("has trailing bytes after its last number"));
        std::fs::write(&path, &whole).unwrap();
        let stored = StoredArray::open(&path).unwrap().unwrap();
        File::options().write(true).open(&path).unwrap().set_len(100).unwrap();
        let error = stored.samples(0..4).unwrap_err().to_string();
        assert!(error.ends_with("x.npy: was cut off while it was read"), "{error}");
    }

    #[test]
    fn other_orders_and_texts_are_read_as_a_whole() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.npy");
        let text = String::from_utf8_lossy(&npy("<f4", &[1, 1, 1], &[])).into_owned();
        std::fs::write(&path, npy("|S1", &[2], b"ab")).unwrap();
        assert!(StoredArray::open(&path).unwrap().is_none());
        assert!(text.contains("'fortran_order': False"));
    }
}

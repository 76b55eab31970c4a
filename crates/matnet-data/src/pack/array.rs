//! The `.npy` files of a packed graph: written front to back, read by position.

use std::fs::File;
use std::io::{self, BufWriter, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

use crate::format::bounded::Input;
use crate::format::npy;
use crate::format::raw::{DType, byte_count};
use crate::{Error, Result, faults, files, memory};

/// The bytes of every header that is written here: the number of rows is known at the end, when the header is written again.
const HEADER: usize = 128;

/// A number in a file, little-endian.
pub(super) trait Number: Copy {
    const CODE: &'static str;
    const DTYPE: DType;
    const SIZE: usize;
    fn put(self, into: &mut Vec<u8>);
    fn take(bytes: &[u8]) -> Self;
}

macro_rules! number {
    ($type:ty, $code:literal, $dtype:ident) => {
        impl Number for $type {
            const CODE: &'static str = $code;
            const DTYPE: DType = DType::$dtype;
            const SIZE: usize = size_of::<$type>();

            fn put(self, into: &mut Vec<u8>) {
                into.extend_from_slice(&self.to_le_bytes());
            }

            fn take(bytes: &[u8]) -> Self {
                <$type>::from_le_bytes(bytes.try_into().unwrap_or_default())
            }
        }
    };
}
number!(u32, "<u4", U32);
number!(i32, "<i4", I32);
number!(i64, "<i8", I64);
number!(f32, "<f4", F32);

/// An array under construction, `[rows]` or `[rows, width]`; the number of rows may be anything.
pub(super) struct ArrayWriter<T> {
    path: PathBuf,
    file: BufWriter<File>,
    width: Option<usize>,
    numbers: u64,
    block: Vec<u8>,
    kind: std::marker::PhantomData<T>,
}

impl<T: Number> ArrayWriter<T> {
    pub fn create(path: PathBuf, width: Option<usize>) -> Result<Self> {
        let file = files::create(&path)?;
        let mut writer = Self {
            file: BufWriter::with_capacity(1 << 18, file),
            path,
            width,
            numbers: 0,
            block: Vec::new(),
            kind: std::marker::PhantomData,
        };
        writer.write(&[0; HEADER])?;
        Ok(writer)
    }

    pub fn push(&mut self, number: T) -> Result<()> {
        self.extend(&[number])
    }

    pub fn extend(&mut self, numbers: &[T]) -> Result<()> {
        for part in numbers.chunks(1 << 14) {
            let mut block = std::mem::take(&mut self.block);
            block.clear();
            part.iter().for_each(|number| number.put(&mut block));
            self.write(&block)?;
            self.block = block;
        }
        self.numbers += numbers.len() as u64;
        Ok(())
    }

    fn write(&mut self, bytes: &[u8]) -> Result<()> {
        write_all(&mut self.file, bytes).map_err(|error| Error::io(&self.path, error))
    }

    /// Writes the header and syncs the file.
    pub fn finish(self) -> Result<()> {
        let Self { path, file, width, numbers, .. } = self;
        let failed = |error| Error::io(&path, error);
        let shape = match width {
            None => vec![numbers as usize],
            Some(width) => vec![(numbers / width.max(1) as u64) as usize, width],
        };
        let mut head = Vec::new();
        npy::write_header_of(&mut head, T::CODE, &shape, HEADER).map_err(failed)?;
        let mut file = file.into_inner().map_err(|error| failed(error.into_error()))?;
        file.seek(SeekFrom::Start(0)).and_then(|_| write_all(&mut file, &head)).map_err(failed)?;
        files::sync(&file, &path)
    }
}

/// Writes all bytes; see [`files::write_some`].
pub(super) fn write_all(out: &mut impl Write, mut bytes: &[u8]) -> io::Result<()> {
    while !bytes.is_empty() {
        let count = files::write_some(out, bytes)?;
        bytes = &bytes[count..];
    }
    Ok(())
}

/// An array that stays in its file.
#[derive(Debug)]
pub(super) struct ArrayFile {
    path: PathBuf,
    file: File,
    start: u64,
    /// The numbers in it.
    numbers: u64,
}

impl ArrayFile {
    /// Opens an array, which must have this type and shape.
    pub fn open<T: Number>(path: PathBuf, shape: &[usize]) -> Result<Self> {
        let mut input = Input::open_packed(&path)?;
        let size = input.left().unwrap_or(0);
        let head = npy::header(&mut input)?;
        if head.shape != shape || head.dtype != T::DTYPE || head.big_endian || head.fortran {
            let what = format!("{:?} {:?}; {:?} {shape:?} expected", head.dtype, head.shape, T::DTYPE);
            return Err(Error::format(path, what));
        }
        let bytes = byte_count(shape, T::DTYPE).ok_or_else(|| Error::format(&path, "is too large"))?;
        let left = input.left().unwrap_or(0);
        if left != bytes {
            return Err(Error::format(path, format!("{left} bytes of numbers; {bytes} expected")));
        }
        let file = files::open(&path)?;
        Ok(Self { path, file, start: size - left, numbers: bytes / T::SIZE as u64 })
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Appends so many numbers from the one at `first` on.
    pub fn read<T: Number>(&self, first: u64, count: usize, into: &mut Vec<T>) -> Result<()> {
        /// Numbers that are read at once.
        const BLOCK: usize = 1 << 14;
        /// Bytes of a row of usual length, which need no memory of their own.
        const SMALL: usize = 1 << 10;
        if first.checked_add(count as u64).is_none_or(|end| end > self.numbers) {
            let what = format!("numbers {first} to {} of {}", first + count as u64, self.numbers);
            return Err(Error::format(&self.path, what));
        }
        let mut small = [0; SMALL];
        let mut large = Vec::new();
        let mut done = 0;
        while done < count {
            let size = (count - done).min(BLOCK) * T::SIZE;
            let block = if size <= SMALL {
                &mut small[..size]
            } else {
                large.resize(size, 0);
                &mut large[..]
            };
            let place = self.start + (first + done as u64) * T::SIZE as u64;
            let read = faults::file().and_then(|()| files::read_exact_at(&self.file, block, place));
            read.map_err(|error| match error.kind() {
                io::ErrorKind::UnexpectedEof => Error::format(&self.path, "was cut off while it was read"),
                _ => Error::io(&self.path, error),
            })?;
            into.extend(block.chunks_exact(T::SIZE).map(T::take));
            done += size / T::SIZE;
        }
        Ok(())
    }

    /// All numbers.
    pub fn read_all<T: Number>(&self) -> Result<Vec<T>> {
        let mut all = memory::with_capacity(self.numbers as usize, self.path.display())?;
        self.read(0, self.numbers as usize, &mut all)?;
        Ok(all)
    }
}

/// The SHA-256 of a file, in hex; `each` is told how many bytes were read.
pub(super) fn sha256(path: &Path, each: &mut dyn FnMut(u64) -> Result<()>) -> Result<String> {
    let mut file = files::open(path)?;
    let (mut sha, mut block) = (Sha256::new(), vec![0; 1 << 20]);
    loop {
        match io::Read::read(&mut file, &mut block).map_err(|error| Error::io(path, error))? {
            0 => return Ok(hex(&sha.finalize())),
            count => {
                sha.update(&block[..count]);
                each(count as u64)?;
            }
        }
    }
}

/// Bytes as hexadecimal digits.
pub(super) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

//! Reading with bounded memory.
//!
//! A header may claim any size. [`Input`] allocates as bytes arrive, so that a reader never holds more than twice the file plus 1 MiB.
//! Compressed files count by their decompressed size, which a [`Budget`] limits, so that decompression bombs are refused. Readers return
//! numbers in the width of the file; converting them to `f32` takes four more bytes each.

use std::io::{self, BufReader, Cursor, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use flate2::bufread::MultiGzDecoder;

use crate::{Error, Result, files, memory};

/// Deflate compresses at most 1032 to 1, and only constants come near; numbers worth learning from do not.
const MOST_RATIO: u64 = 100;
/// What a file of any size may unpack to.
const FREE_BYTES: u64 = 16 << 20;
/// How much is read at once, and the smallest step in which memory grows.
const STEP: usize = 64 << 10;

/// The number of bytes that a file, with everything nested in it, may still decompress to.
#[derive(Clone, Debug)]
pub struct Budget(Arc<AtomicU64>);

impl Budget {
    /// The budget of a file of `size` bytes.
    pub fn for_size(size: u64) -> Self {
        Self(Arc::new(AtomicU64::new(size.saturating_mul(MOST_RATIO).saturating_add(FREE_BYTES))))
    }

    /// Charges `bytes` decompressed bytes; fails if the budget is exhausted.
    pub(crate) fn spend(&self, bytes: u64) -> io::Result<()> {
        let paid = self.0.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(bytes));
        paid.map(drop).map_err(|_| {
            let what =
                format!("unpacks to more than {MOST_RATIO} times its size; if it is valid, unpack it first");
            io::Error::new(io::ErrorKind::InvalidData, what)
        })
    }
}

/// A reader whose bytes are charged to a budget.
struct Paid<R> {
    inner: R,
    budget: Budget,
}

impl<R: Read> Read for Paid<R> {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        let read = self.inner.read(buf)?;
        self.budget.spend(read as u64)?;
        Ok(read)
    }
}

#[cfg(unix)]
fn is_device(meta: &std::fs::Metadata) -> bool {
    use std::os::unix::fs::FileTypeExt;
    meta.file_type().is_char_device() || meta.file_type().is_block_device()
}

#[cfg(not(unix))]
fn is_device(_: &std::fs::Metadata) -> bool {
    false
}

/// A stream of bytes with a name for errors and, where it is known, the number of remaining bytes.
pub struct Input<'a> {
    name: PathBuf,
    reader: Box<dyn Read + 'a>,
    left: Option<u64>,
    budget: Budget,
}

impl<'a> Input<'a> {
    /// Opens a file; gzip is detected and decompressed.
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        Self::open_packed(path)?.gunzip()
    }

    /// Opens a file without decompression.
    pub fn open_packed(path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref();
        let file = files::open(path)?;
        let meta = file.metadata().map_err(|e| Error::io(path, e))?;
        if meta.is_dir() {
            return Err(Error::format(path, "is a folder where a file was expected"));
        }
        // A device may have no end.
        if is_device(&meta) {
            return Err(Error::format(path, "is a device; a file expected"));
        }
        let size = meta.len();
        let left = meta.is_file().then_some(size);
        let reader = Box::new(BufReader::with_capacity(STEP, file));
        Ok(Self { name: path.to_owned(), reader, left, budget: Budget::for_size(size) })
    }

    /// Reads from memory, with `name` for errors; gzip is detected and decompressed.
    pub fn bytes(name: impl AsRef<Path>, bytes: &'a [u8]) -> Result<Self> {
        Self::bytes_packed(name, bytes).gunzip()
    }

    /// Reads from memory without decompression, with `name` for errors.
    pub fn bytes_packed(name: impl AsRef<Path>, bytes: &'a [u8]) -> Self {
        let size = bytes.len() as u64;
        Self {
            name: name.as_ref().to_owned(),
            reader: Box::new(bytes),
            left: Some(size),
            budget: Budget::for_size(size),
        }
    }

    /// Wraps a reader that is nested in another file and shares its budget.
    pub(crate) fn inside(name: PathBuf, reader: impl Read + 'a, left: Option<u64>, budget: Budget) -> Self {
        Self { name, reader: Box::new(reader), left, budget }
    }

    /// Like [`Input::inside`], with each byte charged to the budget.
    pub(crate) fn paid(name: PathBuf, inner: impl Read + 'a, left: Option<u64>, budget: Budget) -> Self {
        Self::inside(name, Paid { inner, budget: budget.clone() }, left, budget)
    }

    /// The same stream, decompressed if it is gzip.
    pub fn gunzip(mut self) -> Result<Self> {
        if self.peek(2)? != [0x1f, 0x8b] {
            return Ok(self);
        }
        let Self { name, reader, budget, .. } = self;
        let unpacked = MultiGzDecoder::new(BufReader::with_capacity(STEP / 2, reader));
        Ok(Self::paid(name, unpacked, None, budget))
    }

    /// The same stream through `decode`, each decompressed byte charged to the budget.
    pub(crate) fn unpack<R: Read + 'a>(self, decode: impl FnOnce(Box<dyn Read + 'a>) -> R) -> Self {
        let Self { name, reader, budget, .. } = self;
        Self::paid(name, decode(reader), None, budget)
    }

    /// The first bytes, at most `count`, without consuming them.
    pub(crate) fn peek(&mut self, count: usize) -> Result<Vec<u8>> {
        let mut head = Vec::with_capacity(count);
        self.reader.by_ref().take(count as u64).read_to_end(&mut head).map_err(|e| self.failed(e))?;
        let rest = std::mem::replace(&mut self.reader, Box::new(io::empty()));
        self.reader = Box::new(Cursor::new(head.clone()).chain(rest));
        Ok(head)
    }

    /// The name in errors.
    pub fn name(&self) -> &Path {
        &self.name
    }

    /// The number of remaining bytes, where it is known.
    pub fn left(&self) -> Option<u64> {
        self.left
    }

    /// The remaining budget for decompression.
    pub fn budget(&self) -> &Budget {
        &self.budget
    }

    /// A format error in this stream.
    pub fn error(&self, what: impl Into<String>) -> Error {
        Error::format(&self.name, what)
    }

    /// Converts an error of the wrapped reader: errors of decoders are format errors, others come from the system.
    fn failed(&self, error: io::Error) -> Error {
        match error.kind() {
            io::ErrorKind::UnexpectedEof => self.error("ends too early"),
            io::ErrorKind::InvalidData | io::ErrorKind::InvalidInput | io::ErrorKind::Other => {
                self.error(error.to_string())
            }
            _ => Error::io(&self.name, error),
        }
    }

    /// Up to `buf.len()` bytes; fewer only at the end of the stream.
    pub fn read_up_to(&mut self, buf: &mut [u8]) -> Result<usize> {
        let mut filled = 0;
        while filled < buf.len() {
            match self.reader.read(&mut buf[filled..]) {
                Ok(0) => break,
                Ok(read) => filled += read,
                Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
                Err(e) => return Err(self.failed(e)),
            }
        }
        if let Some(left) = &mut self.left {
            *left = left.saturating_sub(filled as u64);
        }
        Ok(filled)
    }

    /// Exactly `buf.len()` bytes.
    pub fn fill(&mut self, buf: &mut [u8]) -> Result<()> {
        let read = self.read_up_to(buf)?;
        if read < buf.len() {
            let what = format!("ends too early: {} bytes expected, {read} found", buf.len());
            return Err(self.error(what));
        }
        Ok(())
    }

    /// The next `N` bytes.
    pub fn array<const N: usize>(&mut self) -> Result<[u8; N]> {
        let mut bytes = [0; N];
        self.fill(&mut bytes)?;
        Ok(bytes)
    }

    /// Fails at once if the stream is known to have fewer than `count` bytes left.
    pub fn expect_left(&self, count: u64) -> Result<()> {
        match self.left {
            Some(left) if left < count => {
                Err(self.error(format!("says {count} bytes follow, but only {left} do")))
            }
            _ => Ok(()),
        }
    }

    /// The next `count` bytes; the buffer grows as they arrive.
    pub fn take_vec(&mut self, count: u64) -> Result<Vec<u8>> {
        self.expect_left(count)?;
        let count = usize::try_from(count).map_err(|_| self.error("is larger than the address space"))?;
        let mut bytes = Vec::new();
        while bytes.len() < count {
            let have = bytes.len();
            let step = if self.left.is_some() { count - have } else { have.max(STEP).min(count - have) };
            memory::reserve(&mut bytes, step, self.name.display())?;
            bytes.resize(have + step, 0);
            self.fill(&mut bytes[have..])?;
        }
        Ok(bytes)
    }

    /// All remaining bytes.
    pub fn rest(&mut self) -> Result<Vec<u8>> {
        let mut bytes = Vec::new();
        loop {
            let have = bytes.len();
            // one byte past the known end, so that the end itself is seen
            let step = match self.left {
                Some(left) => usize::try_from(left).unwrap_or(usize::MAX).saturating_add(1).min(1 << 30),
                None => have.max(STEP),
            };
            memory::reserve(&mut bytes, step, self.name.display())?;
            bytes.resize(have + step, 0);
            let read = self.read_up_to(&mut bytes[have..])?;
            bytes.truncate(have + read);
            if read < step {
                bytes.shrink_to_fit();
                return Ok(bytes);
            }
        }
    }

    /// All remaining bytes; fails if there are more than `most`.
    pub fn take_up_to(&mut self, most: u64) -> Result<Vec<u8>> {
        let too_long = || self.error(format!("is longer than {most} bytes"));
        if self.left.is_some_and(|left| left > most) {
            return Err(too_long());
        }
        let mut bytes = Vec::new();
        let read = self.reader.by_ref().take(most.saturating_add(1)).read_to_end(&mut bytes);
        read.map_err(|e| self.failed(e))?;
        if bytes.len() as u64 > most {
            return Err(self.error(format!("is longer than {most} bytes")));
        }
        self.left = self.left.map(|left| left.saturating_sub(bytes.len() as u64));
        Ok(bytes)
    }

    /// Passes `count` bytes to `each` in blocks whose length is a multiple of `unit`, with the name of the stream.
    pub(crate) fn blocks(
        &mut self,
        count: u64,
        unit: usize,
        mut each: impl FnMut(&[u8], &Path) -> Result<()>,
    ) -> Result<()> {
        self.expect_left(count)?;
        let size = (STEP / unit.max(1)).max(1) * unit;
        let mut block = vec![0; (size as u64).min(count) as usize];
        let mut left = count;
        while left > 0 {
            let now = (block.len() as u64).min(left) as usize;
            self.fill(&mut block[..now])?;
            each(&block[..now], &self.name)?;
            left -= now as u64;
        }
        Ok(())
    }

    /// Fails unless the stream has ended.
    pub fn expect_end(&mut self) -> Result<()> {
        let mut one = [0];
        match self.read_up_to(&mut one)? {
            0 => Ok(()),
            _ => Err(self.error("has trailing bytes after its last number")),
        }
    }
}

impl Read for Input<'_> {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        let read = self.reader.read(buf)?;
        if let Some(left) = &mut self.left {
            *left = left.saturating_sub(read as u64);
        }
        Ok(read)
    }
}

/// Reserves room for `more` values of the file `name` in steps of an eighth, so that little memory is unused.
pub(crate) fn reserve<T>(values: &mut Vec<T>, more: usize, name: &Path) -> Result<()> {
    if values.capacity() - values.len() >= more {
        return Ok(());
    }
    let step = (values.len() / 8).max(STEP / size_of::<T>().max(1)).max(more);
    memory::reserve(values, step, name.display())
}

//! The bytes of a Parquet file, in memory or read by position from the file.

use std::fs::File;
use std::io::{self, BufReader, Read};
use std::sync::Arc;

use ::parquet::errors::{ParquetError, Result};
use ::parquet::file::reader::{ChunkReader, Length};
use bytes::{Buf, Bytes};

use crate::files::read_exact_at;

/// Where the bytes are.
#[derive(Clone)]
pub enum Chunks {
    /// In memory.
    Memory(Bytes),
    /// In a file of so many bytes. Threads may read at once: there is no common position.
    File(Arc<File>, u64),
}

impl Length for Chunks {
    fn len(&self) -> u64 {
        match self {
            Self::Memory(bytes) => bytes.len() as u64,
            Self::File(_, size) => *size,
        }
    }
}

impl ChunkReader for Chunks {
    type T = Box<dyn Read>;

    fn get_read(&self, start: u64) -> Result<Self::T> {
        match self {
            Self::Memory(bytes) if start <= bytes.len() as u64 => {
                Ok(Box::new(bytes.slice(start as usize..).reader()))
            }
            Self::Memory(_) => Err(beyond()),
            Self::File(file, size) => {
                let at = Position { file: Arc::clone(file), at: start, end: *size };
                Ok(Box::new(BufReader::with_capacity(1 << 12, at)))
            }
        }
    }

    fn get_bytes(&self, start: u64, length: usize) -> Result<Bytes> {
        if start.checked_add(length as u64).is_none_or(|end| end > self.len()) {
            return Err(beyond());
        }
        match self {
            Self::Memory(bytes) => Ok(bytes.slice(start as usize..start as usize + length)),
            Self::File(file, _) => {
                let mut bytes = Vec::new();
                bytes.try_reserve_exact(length).map_err(|error| ParquetError::General(error.to_string()))?;
                bytes.resize(length, 0);
                read_exact_at(file, &mut bytes, start)?;
                Ok(bytes.into())
            }
        }
    }
}

fn beyond() -> ParquetError {
    ParquetError::EOF("it ends too early".to_owned())
}

/// A place in a file.
struct Position {
    file: Arc<File>,
    at: u64,
    end: u64,
}

impl Read for Position {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let count = self.end.saturating_sub(self.at).min(into.len() as u64) as usize;
        read_exact_at(&self.file, &mut into[..count], self.at)?;
        self.at += count as u64;
        Ok(count)
    }
}

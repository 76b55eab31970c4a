//! The original Moving MNIST test set, `mnist_test_seq.npy`: u8 `[20, 10000, 64, 64]`, time outermost.
//!
//! The file is 782 MiB, and four times that as `f32`, so sequences are read a range at a time.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::ops::Range;
use std::path::{Path, PathBuf};

use crate::dataset::grey_to_f32;
use crate::format::bounded::Input;
use crate::format::npy;
use crate::format::raw::DType;
use crate::{Array, Error, Result, files, memory};

/// An open file of sequences.
#[derive(Debug)]
pub struct MovingMnistFile {
    path: PathBuf,
    file: File,
    start: u64,
    shape: [usize; 4],
}

impl MovingMnistFile {
    /// Opens the file, or `mnist_test_seq.npy` in a folder, and checks its header and its size.
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref();
        let path = if path.is_dir() { path.join("mnist_test_seq.npy") } else { path.to_owned() };
        let mut input = Input::open_packed(&path)?;
        let size = input.left();
        let head = npy::header(&mut input)?;
        let &[time, count, rows, cols] = &head.shape[..] else {
            return Err(
                input.error(format!("shape {:?}; [time, sequences, rows, cols] expected", head.shape))
            );
        };
        if head.shape.contains(&0) {
            return Err(input.error(format!("shape {:?} holds nothing", head.shape)));
        }
        if head.dtype != DType::U8 || head.fortran {
            return Err(input.error("u8 in C order expected"));
        }
        let bytes = head.shape.iter().try_fold(1u64, |n, &side| n.checked_mul(side as u64));
        if bytes.is_none() || bytes != input.left() {
            let what = format!(
                "shape {:?} does not fit the {} bytes after the header",
                head.shape,
                input.left().unwrap_or(0)
            );
            return Err(input.error(what));
        }
        let start = size.unwrap_or(0) - bytes.unwrap_or(0);
        let file = files::open(&path)?;
        Ok(Self { path, file, start, shape: [time, count, rows, cols] })
    }

    /// Number of sequences.
    pub fn len(&self) -> usize {
        self.shape[1]
    }

    /// Whether there is no sequence.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Reads the sequences of `range`: `[n, time, rows, cols]` between 0 and 1.
    pub fn read(&mut self, range: Range<usize>) -> Result<Array> {
        let [time, count, rows, cols] = self.shape;
        if range.start > range.end || range.end > count {
            return Err(Error::Invalid(format!("sequences {range:?} requested; there are {count}")));
        }
        let (frame, wanted) = (rows * cols, range.len());
        let mut data = memory::filled(0.0, wanted * time * frame, "Moving MNIST")?;
        let mut pixels = vec![0; wanted * frame];
        for step in 0..time {
            let at = self.start + ((step * count + range.start) * frame) as u64;
            let read = self.file.seek(SeekFrom::Start(at)).and_then(|_| self.file.read_exact(&mut pixels));
            read.map_err(|e| Error::io(&self.path, e))?;
            let levels = grey_to_f32(&pixels)?;
            for sequence in 0..wanted {
                let to = (sequence * time + step) * frame;
                data[to..to + frame].copy_from_slice(&levels[sequence * frame..(sequence + 1) * frame]);
            }
        }
        Array::new([wanted, time, rows, cols], data)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_comes_after_the_sequence() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("mnist_test_seq.npy");
        // 3 steps of 4 sequences of 2x1: pixel = 10 step + sequence
        let mut bytes = Vec::new();
        npy::write_header(&mut bytes, "|u1", &[3, 4, 2, 1]).unwrap();
        bytes.extend((0..3u8).flat_map(|t| (0..4u8).flat_map(move |s| [10 * t + s; 2])));
        std::fs::write(&path, &bytes).unwrap();
        let mut file = MovingMnistFile::open(dir.path()).unwrap();
        let samples = file.read(1..3).unwrap();
        assert_eq!(samples.shape(), [2, 3, 2, 1]);
        let back: Vec<u32> = samples.data().iter().map(|x| (x * 255.0).round() as u32).collect();
        assert_eq!(back, [1, 1, 11, 11, 21, 21, 2, 2, 12, 12, 22, 22]);
        assert!(file.read(3..5).is_err());
        std::fs::write(&path, &bytes[..bytes.len() - 1]).unwrap();
        assert!(MovingMnistFile::open(&path).unwrap_err().to_string().contains("does not fit"));
    }
}

//! Inputs for a trained net, a part at a time and in order, so that a file may be larger than memory.
//!
//! | path | what it holds |
//! |---|---|
//! | `x.npy` | `[n, rows, cols]` or `[n, time, rows, cols]`; read as it is asked for (in Fortran order: whole) |
//! | `data.npz` | the same as array `x`; read whole |
//! | a picture, or a `.csv`, `.tsv` or `.txt` | one matrix |
//! | a folder of these, or of folders of these | a matrix per file, in order of their paths; read as they are asked for |

use std::path::{Path, PathBuf};

use crate::format::bounded::Input;
use crate::format::npy::{self, Header};
use crate::format::raw::{Kind, Raw, byte_count};
use crate::format::{images, npz};
use crate::own::{self, Matrices};
use crate::{Array, Error, Result};

/// Samples that are read as they are asked for.
///
/// ```no_run
/// let mut inputs = matnet_data::inputs::Inputs::open("x.npy")?;
/// while let Some(some) = inputs.next(100)? {
///     println!("{:?}, {} still to come", some.shape(), inputs.left());
/// }
/// # Ok::<(), matnet_data::Error>(())
/// ```
pub struct Inputs<'a> {
    path: PathBuf,
    source: Source<'a>,
    len: usize,
    at: usize,
}

enum Source<'a> {
    /// An `.npy` whose samples stand one after another.
    SeededRng { input: Input<'a>, head: Header },
    /// What had to be read whole.
    Whole(Array),
    /// One matrix per file; their names are those below the folder.
    Files { files: Vec<PathBuf>, names: Vec<String>, matrices: Matrices },
}

impl Inputs<'static> {
    /// Finds out what stands at `path`; this module's table says what that may be.
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref();
        if path.is_dir() {
            let files = own::matrix_files(path)?.0.into_iter().map(|(file, _)| file).collect();
            return Self::files(path, files);
        }
        if !path.exists() {
            return Err(Error::Missing(format!("{}: there is no such file or folder", path.display())));
        }
        let name = path.file_name().unwrap_or_default().to_string_lossy().to_ascii_lowercase();
        let name = name.strip_suffix(".gz").unwrap_or(&name);
        if name.ends_with(".npy") {
            return Self::npy(Input::open(path)?);
        }
        if name.ends_with(".npz") {
            return Self::whole(path, own::inputs(npz::read(path)?.take("x")?, &path.join("x"))?);
        }
        if images::is_image(path) || own::is_table(path) {
            return Self::files(path, vec![path.to_owned()]);
        }
        let what = "is of no known kind; .npy, .npz, pictures, .csv or a folder of them expected";
        Err(Error::format(path, what))
    }

    fn files(path: &Path, files: Vec<PathBuf>) -> Result<Self> {
        if files.is_empty() {
            let what = "holds no pictures and no .csv, neither in it nor in folders in it";
            return Err(Error::format(path, what));
        }
        let name = |file: &PathBuf| {
            let below = file.strip_prefix(path).ok().filter(|below| *below != Path::new(""));
            below.or(file.file_name().map(Path::new)).unwrap_or(file).to_string_lossy().into_owned()
        };
        let names = files.iter().map(name).collect();
        let len = files.len();
        let source = Source::Files { files, names, matrices: Matrices::default() };
        Ok(Self { path: path.to_owned(), source, len, at: 0 })
    }
}

impl<'a> Inputs<'a> {
    /// Takes samples from a rng of `.npy`.
    pub fn npy(mut input: Input<'a>) -> Result<Self> {
        let head = npy::header(&mut input)?;
        let path = input.name().to_owned();
        own::check_shape(&head.shape, &path)?;
        if matches!(head.kind, Kind::Bytes(_) | Kind::Text(_)) {
            return Err(input.error("holds texts where numbers were expected"));
        }
        // Where the size is known, a file that was cut is refused before anything is done with its first half.
        match byte_count(&head.shape, head.kind) {
            Some(bytes) => input.expect_left(bytes)?,
            None => return Err(input.error(format!("shape {:?} is too large for any machine", head.shape))),
        }
        if head.fortran {
            let raw = Raw::read(&mut input, head.shape, head.kind, head.big_endian, true)?;
            input.expect_end()?;
            let array = raw.into_array(&path)?;
            return Self::whole(&path, array);
        }
        let len = head.shape[0];
        Ok(Self { path, source: Source::SeededRng { input, head }, len, at: 0 })
    }

    fn whole(path: &Path, array: Array) -> Result<Self> {
        let len = array.len();
        Ok(Self { path: path.to_owned(), source: Source::Whole(array), len, at: 0 })
    }

    /// How many samples there are in all.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// How many are still to come.
    pub fn left(&self) -> usize {
        self.len - self.at
    }

    /// How many numbers a sample holds, where that is known before it is read.
    pub fn sample_size(&self) -> Option<usize> {
        match &self.source {
            Source::SeededRng { head, .. } => Some(head.shape[1..].iter().product()),
            Source::Whole(array) => Some(array.shape()[1..].iter().product()),
            Source::Files { .. } => None,
        }
    }

    /// The files' names, where each sample is a file.
    pub fn names(&self) -> Option<&[String]> {
        match &self.source {
            Source::Files { names, .. } => Some(names),
            Source::SeededRng { .. } | Source::Whole(_) => None,
        }
    }

    /// The next `count` samples, or as many as are left; nothing at the end.
    pub fn next(&mut self, count: usize) -> Result<Option<Array>> {
        let count = count.max(1).min(self.left());
        if count == 0 {
            return Ok(None);
        }
        let last = count == self.left();
        let array = match &mut self.source {
            Source::SeededRng { input, head } => {
                let mut shape = head.shape.clone();
                shape[0] = count;
                let raw = Raw::read(input, shape, head.kind, head.big_endian, false)?;
                if last {
                    input.expect_end()?;
                }
                raw.into_array(&self.path)?
            }
            Source::Whole(array) => {
                let mut shape = array.shape().to_vec();
                shape[0] = count;
                let size = shape[1..].iter().product::<usize>();
                let numbers = &array.data()[self.at * size..(self.at + count) * size];
                Array::new(shape, numbers.to_vec())?
            }
            Source::Files { files, matrices, .. } => {
                for file in &files[self.at..self.at + count] {
                    matrices.add(file, None)?;
                }
                matrices.take()?
            }
        };
        self.check_numbers(&array)?;
        self.at += count;
        Ok(Some(array))
    }

    /// A net has no answer to what is no number.
    fn check_numbers(&self, array: &Array) -> Result<()> {
        let Some(at) = array.data().iter().position(|x| !x.is_finite()) else { return Ok(()) };
        let size = array.data().len() / array.len().max(1);
        let sample = self.at + at / size.max(1);
        let path = match &self.source {
            Source::Files { files, .. } => &files[sample],
            Source::SeededRng { .. } | Source::Whole(_) => &self.path,
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

    fn all(mut inputs: Inputs, count: usize) -> (Vec<usize>, Vec<f32>) {
        let (mut sizes, mut numbers) = (Vec::new(), Vec::new());
        while let Some(some) = inputs.next(count).unwrap() {
            sizes.push(some.len());
            numbers.extend(some.into_data());
        }
        (sizes, numbers)
    }

    #[test]
    fn parts_make_the_whole() {
        let bytes = file(&[5, 2, 3]);
        let wanted: Vec<f32> = (0..30).map(|i| i as f32).collect();
        for (count, sizes) in [(1, vec![1; 5]), (2, vec![2, 2, 1]), (5, vec![5]), (99, vec![5])] {
            let inputs = Inputs::npy(Input::bytes("x.npy", &bytes).unwrap()).unwrap();
            assert_eq!((inputs.len(), inputs.left(), inputs.sample_size()), (5, 5, Some(6)));
            assert_eq!(all(inputs, count), (sizes, wanted.clone()));
        }
    }

    #[test]
    fn damage_is_told_at_once_or_at_the_end() {
        let error = |bytes: &[u8]| {
            let read = |bytes| {
                let mut inputs = Inputs::npy(Input::bytes("x.npy", bytes)?)?;
                while inputs.next(2)?.is_some() {}
                Ok::<(), Error>(())
            };
            read(bytes).unwrap_err().to_string()
        };
        let bytes = file(&[5, 2, 3]);
        assert_eq!(error(&bytes[..bytes.len() - 1]), "x.npy: says 120 bytes follow, but only 119 do");
        assert_eq!(error(&[&bytes[..], b"x"].concat()), "x.npy: goes on after its last number");
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

//! Frey faces: 1,965 frames of one face, 28×20, as a MATLAB file.

use std::path::Path;

use crate::dataset::grey_to_f32;
use crate::format::matlab;
use crate::format::raw::RawValues;
use crate::{Array, Error, Result, Samples, Target};

const ROWS: usize = 28;
const COLS: usize = 20;

/// Loads the faces from `frey_rawface.mat`, or from its folder: inputs `[1965, 28, 20]` between 0 and 1 in the order of the film,
/// without targets.
pub fn load(path: impl AsRef<Path>) -> Result<Samples> {
    let path = path.as_ref();
    let file = if path.is_dir() { path.join("frey_rawface.mat") } else { path.to_owned() };
    let arrays = matlab::read(&file)?;
    let Some((_, raw)) = arrays.into_iter().find(|(name, _)| name == "ff") else {
        return Err(Error::format(file, "no array \"ff\""));
    };
    let (shape, values) = raw.into_parts();
    let (RawValues::U8(pixels), &[size, frames]) = (values, &shape[..]) else {
        return Err(Error::format(
            file,
            format!("array \"ff\" has shape {shape:?}; u8 of [560, n] expected"),
        ));
    };
    if size != ROWS * COLS {
        let what =
            format!("array \"ff\" has frames of {size} pixels; {ROWS}x{COLS} = {} expected", ROWS * COLS);
        return Err(Error::format(file, what));
    }
    // a column is a frame
    let levels = grey_to_f32(&pixels)?;
    let mut data = Vec::with_capacity(levels.len());
    for frame in 0..frames {
        data.extend((0..size).map(|pixel| levels[pixel * frames + frame]));
    }
    Ok(Samples::new(Array::new([frames, ROWS, COLS], data)?, Target::None))
}

//! IDX, the format of MNIST: a magic number, the shape, the values, all big-endian.

use std::path::Path;

use crate::Result;
use crate::format::bounded::Input;
use crate::format::raw::{DType, RawArray};

/// Reads an IDX file, gzipped or not.
pub fn read(path: impl AsRef<Path>) -> Result<RawArray> {
    parse(Input::open(path)?)
}

/// Reads IDX from a stream.
pub fn parse(mut input: Input) -> Result<RawArray> {
    let [zero, null, code, rank] = input.array()?;
    if (zero, null) != (0, 0) {
        return Err(input.error("is not IDX: its first two bytes are not zero"));
    }
    let dtype = match code {
        0x08 => DType::U8,
        0x09 => DType::I8,
        0x0b => DType::I16,
        0x0c => DType::I32,
        0x0d => DType::F32,
        0x0e => DType::F64,
        _ => {
            let what = format!("number type 0x{code:02x} is not one of IDX's (0x08 to 0x0e without 0x0a)");
            return Err(input.error(what));
        }
    };
    let mut shape = Vec::with_capacity(usize::from(rank));
    for _ in 0..rank {
        shape.push(u32::from_be_bytes(input.array()?) as usize);
    }
    let raw = RawArray::read(&mut input, shape, dtype, true, false)?;
    input.expect_end()?;
    Ok(raw)
}

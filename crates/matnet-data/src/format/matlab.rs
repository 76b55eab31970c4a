//! MATLAB v5 files (`save -v5`, `-v6`, `-v7`): numeric arrays, compressed or not, both byte orders.
//!
//! Cells, structs, strings, sparse and complex arrays are skipped.

use std::io::Read;
use std::path::Path;

use flate2::bufread::ZlibDecoder;

use crate::Result;
use crate::format::bounded::Input;
use crate::format::raw::{DType, RawArray};

const MATRIX: u32 = 14;
const COMPRESSED: u32 = 15;
/// The maximum number of axes.
const MOST_SIDES: u32 = 64;

/// Reads all numeric arrays of a MATLAB v5 file, with their names, in C order.
pub fn read(path: impl AsRef<Path>) -> Result<Vec<(String, RawArray)>> {
    parse(Input::open(path)?)
}

/// Reads MATLAB v5 from a stream.
pub fn parse(mut input: Input) -> Result<Vec<(String, RawArray)>> {
    let head: [u8; 128] = input.array()?;
    if head.starts_with(b"MATLAB 7.3") || head.starts_with(b"\x89HDF") {
        return Err(input.error("is MATLAB 7.3 (HDF5); save it again with -v7"));
    }
    let big = match &head[126..] {
        b"IM" => false,
        b"MI" => true,
        _ => return Err(input.error("is not MATLAB v5: no byte-order mark at byte 126")),
    };
    let mut arrays = Vec::new();
    while let Some((kind, size)) = next_tag(&mut input, big)? {
        match kind {
            COMPRESSED => {
                input.expect_left(size.into())?;
                let mut inner = part(&mut input, size)
                    .unpack(|packed| ZlibDecoder::new(std::io::BufReader::with_capacity(32 << 10, packed)));
                if let Some((MATRIX, size)) = next_tag(&mut inner, big)? {
                    arrays.extend(matrix(&mut part(&mut inner, size), big)?);
                }
                drain(&mut inner)?;
            }
            MATRIX => {
                input.expect_left(size.into())?;
                let mut inner = part(&mut input, size);
                arrays.extend(matrix(&mut inner, big)?);
                drain(&mut inner)?;
            }
            _ => drain(&mut part(&mut input, size))?,
        }
    }
    Ok(arrays)
}

/// The next `size` bytes as a stream.
fn part<'a>(input: &'a mut Input<'_>, size: u32) -> Input<'a> {
    let (name, budget) = (input.name().to_owned(), input.budget().clone());
    let left = input.left().map(|left| left.min(size.into()));
    Input::inside(name, input.take(size.into()), left, budget)
}

fn word(bytes: [u8; 4], big: bool) -> u32 {
    if big { u32::from_be_bytes(bytes) } else { u32::from_le_bytes(bytes) }
}

/// Type and size of the next element, or `None` at the end.
fn next_tag(input: &mut Input, big: bool) -> Result<Option<(u32, u32)>> {
    let mut tag = [0; 8];
    match input.read_up_to(&mut tag)? {
        0 => Ok(None),
        8 => {
            let [a, b, c, d, e, f, g, h] = tag;
            Ok(Some((word([a, b, c, d], big), word([e, f, g, h], big))))
        }
        _ => Err(input.error("ends in the middle of an element")),
    }
}

/// The tag of an element in a matrix: type, size in bytes, and padding to a multiple of eight.
struct Piece {
    kind: u32,
    size: u32,
    padding: usize,
}

fn piece(input: &mut Input, big: bool) -> Result<Piece> {
    let first = word(input.array()?, big);
    // small elements have size and type in one word, followed by up to four bytes
    if first >> 16 != 0 {
        let size = first >> 16;
        if size > 4 {
            return Err(input.error(format!("a small element of {size} bytes; at most 4 fit")));
        }
        return Ok(Piece { kind: first & 0xffff, size, padding: 4 - size as usize });
    }
    let size = word(input.array()?, big);
    Ok(Piece { kind: first, size, padding: (8 - size as usize % 8) % 8 })
}

/// The bytes of a short element.
fn short(input: &mut Input, big: bool, most: u32, what: &str) -> Result<Vec<u8>> {
    let piece = piece(input, big)?;
    if piece.size > most {
        return Err(input.error(format!("{what} of {} bytes; at most {most} expected", piece.size)));
    }
    let bytes = input.take_vec(piece.size.into())?;
    input.take_vec(piece.padding as u64)?;
    Ok(bytes)
}

/// One matrix, or `None` if it is not a real numeric one.
fn matrix(input: &mut Input, big: bool) -> Result<Option<(String, RawArray)>> {
    let flags = short(input, big, 8, "array flags")?;
    let Some(&[a, b, c, d]) = flags.first_chunk::<4>() else {
        return Err(input.error("an array without flags"));
    };
    let flags = word([a, b, c, d], big);
    let (class, complex) = (flags & 0xff, flags & 0x800 != 0);
    let sides = short(input, big, 4 * MOST_SIDES, "a shape")?;
    let mut shape = Vec::new();
    for &side in sides.as_chunks::<4>().0 {
        let side = word(side, big);
        if side > i32::MAX as u32 {
            return Err(input.error("an axis of the shape is negative"));
        }
        shape.push(side as usize);
    }
    let name = short(input, big, 4096, "a name")?;
    let name = String::from_utf8_lossy(&name).into_owned();
    if !(6..=15).contains(&class) || complex {
        return Ok(None);
    }
    let piece = piece(input, big)?;
    let kind = match piece.kind {
        1 => DType::I8,
        2 => DType::U8,
        3 => DType::I16,
        4 => DType::U16,
        5 => DType::I32,
        6 => DType::U32,
        7 => DType::F32,
        9 => DType::F64,
        12 => DType::I64,
        13 => DType::U64,
        other => return Err(input.error(format!("array {name:?} has numbers of unknown type {other}"))),
    };
    let wanted = crate::format::raw::byte_count(&shape, kind);
    if wanted != Some(piece.size.into()) {
        let what = format!("array {name:?} of shape {shape:?} does not fit its {} bytes", piece.size);
        return Err(input.error(what));
    }
    let raw = RawArray::read(input, shape, kind, big, true)?;
    Ok(Some((name, raw)))
}

/// Reads the rest of an element, which verifies the checksum of a compressed one.
fn drain(input: &mut Input) -> Result<()> {
    let mut block = [0; 8 << 10];
    while input.read_up_to(&mut block)? > 0 {}
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    /// One u8 matrix [[1, 2, 3], [4, 5, 6]] called `ff`, as an element.
    fn element(big: bool) -> Vec<u8> {
        let w = |x: u32| if big { x.to_be_bytes() } else { x.to_le_bytes() };
        let mut inner = Vec::new();
        for x in [6, 8, 9, 0, 5, 8, 2, 3] {
            inner.extend(w(x));
        }
        // a small element for the name, a full one for the numbers
        inner.extend(w(2 << 16 | 1));
        inner.extend(b"ff\0\0");
        inner.extend([w(2), w(6)].concat());
        inner.extend([1, 4, 2, 5, 3, 6, 0, 0]);
        let mut out = [w(MATRIX), w(inner.len() as u32)].concat();
        out.extend(inner);
        out
    }

    fn file(big: bool, elements: &[u8]) -> Vec<u8> {
        let mut out = b"MATLAB 5.0 MAT-file".to_vec();
        out.resize(124, b' ');
        out.extend(if big { [1, 0] } else { [0, 1] });
        out.extend(if big { b"MI" } else { b"IM" });
        out.extend(elements);
        out
    }

    #[test]
    fn plain_and_compressed_in_both_byte_orders() {
        for big in [false, true] {
            let plain = element(big);
            let mut packer = flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::default());
            packer.write_all(&plain).unwrap();
            let packed = packer.finish().unwrap();
            let w = |x: u32| if big { x.to_be_bytes() } else { x.to_le_bytes() };
            let compressed = [&w(COMPRESSED)[..], &w(packed.len() as u32), &packed].concat();
            for elements in [&plain, &compressed, &[plain.clone(), compressed.clone()].concat()] {
                let arrays = parse(Input::bytes_packed("t.mat", &file(big, elements))).unwrap();
                for (name, raw) in arrays {
                    assert_eq!(name, "ff");
                    let array = raw.into_array(Path::new("t")).unwrap();
                    assert_eq!(array.shape(), [2, 3]);
                    assert_eq!(array.data(), [1., 2., 3., 4., 5., 6.]);
                }
            }
        }
    }

    #[test]
    fn newer_files_are_named() {
        let mut bytes = b"MATLAB 7.3 MAT-file".to_vec();
        bytes.resize(600, 0);
        let error = parse(Input::bytes_packed("t.mat", &bytes)).unwrap_err().to_string();
        assert_eq!(error, "t.mat: is MATLAB 7.3 (HDF5); save it again with -v7");
    }
}

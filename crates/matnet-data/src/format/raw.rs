//! Arrays as stored in files: any element type, before the conversion to `f32`.

use std::borrow::Cow;
use std::path::Path;

use crate::format::bounded::{Input, reserve};
use crate::{Array, Error, Result, memory};

/// The element type of an array in a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum DType {
    /// Booleans, a byte each; read as `U8`.
    Bool,
    U8,
    I8,
    U16,
    I16,
    U32,
    I32,
    U64,
    I64,
    F32,
    F64,
    /// Strings of a fixed number of bytes.
    Bytes(usize),
    /// Strings of a fixed number of four-byte characters.
    Text(usize),
}

impl DType {
    /// Bytes per element.
    pub fn size(self) -> usize {
        match self {
            Self::Bool | Self::U8 | Self::I8 => 1,
            Self::U16 | Self::I16 => 2,
            Self::U32 | Self::I32 | Self::F32 => 4,
            Self::U64 | Self::I64 | Self::F64 => 8,
            Self::Bytes(width) => width,
            Self::Text(width) => width.saturating_mul(4),
        }
    }
}

/// The elements of an array in their original type.
#[derive(Clone, Debug, PartialEq)]
#[allow(missing_docs)]
pub enum RawValues {
    U8(Vec<u8>),
    I8(Vec<i8>),
    U16(Vec<u16>),
    I16(Vec<i16>),
    U32(Vec<u32>),
    I32(Vec<i32>),
    U64(Vec<u64>),
    I64(Vec<i64>),
    F32(Vec<f32>),
    F64(Vec<f64>),
    /// Strings of `width` bytes each, padded with zeros.
    Bytes {
        width: usize,
        bytes: Vec<u8>,
    },
    /// Strings of `width` little-endian four-byte characters each, padded with zeros.
    Text {
        width: usize,
        bytes: Vec<u8>,
    },
}

/// Evaluates one expression with `v` bound to the numbers of any type, or the other one for strings.
macro_rules! numbers {
    ($values:expr, $v:ident => $body:expr, text => $text:expr) => {
        match $values {
            RawValues::U8($v) => $body,
            RawValues::I8($v) => $body,
            RawValues::U16($v) => $body,
            RawValues::I16($v) => $body,
            RawValues::U32($v) => $body,
            RawValues::I32($v) => $body,
            RawValues::U64($v) => $body,
            RawValues::I64($v) => $body,
            RawValues::F32($v) => $body,
            RawValues::F64($v) => $body,
            RawValues::Bytes { .. } | RawValues::Text { .. } => $text,
        }
    };
}

/// An array of any type in row-major order.
#[derive(Clone, Debug, PartialEq)]
pub struct RawArray {
    shape: Vec<usize>,
    values: RawValues,
    boolean: bool,
}

/// The size in bytes of an array of this shape, or `None` on overflow.
pub(crate) fn byte_count(shape: &[usize], dtype: DType) -> Option<u64> {
    // an axis of size 0 must not hide an overflow of the others
    let held = shape.iter().try_fold(dtype.size().max(1), |n, &side| n.checked_mul(side.max(1)))?;
    if held > isize::MAX as usize {
        return None;
    }
    Some(if shape.contains(&0) { 0 } else { shape.iter().product::<usize>() as u64 * dtype.size() as u64 })
}

// in code for all types, some casts are from a type to itself
#[allow(clippy::unnecessary_cast)]
impl RawArray {
    /// An array from its shape and its elements; fails unless their number agrees. Booleans are given as `U8`.
    pub fn new(shape: impl Into<Vec<usize>>, values: RawValues, boolean: bool) -> Result<Self> {
        let shape = shape.into();
        let count = match &values {
            RawValues::Bytes { width, bytes } => bytes.len().checked_div(*width),
            RawValues::Text { width, bytes } => bytes.len().checked_div(width.saturating_mul(4)),
            values => Some(numbers!(values, v => v.len(), text => 0)),
        };
        let held = shape.iter().try_fold(1usize, |n, &side| n.checked_mul(side));
        if count.is_none() || held != count {
            return Err(Error::Invalid(format!(
                "shape {shape:?} does not hold {} elements",
                count.unwrap_or(0)
            )));
        }
        Ok(Self { shape, values, boolean })
    }

    /// Reads the elements of an array of this shape from the stream, in C order or, if `fortran`, in Fortran order.
    pub fn read(
        input: &mut Input,
        shape: Vec<usize>,
        dtype: DType,
        big: bool,
        fortran: bool,
    ) -> Result<Self> {
        let Some(bytes) = byte_count(&shape, dtype) else {
            return Err(input.error(format!("shape {shape:?} is too large")));
        };
        let values = if fortran && shape.iter().filter(|&&side| side > 1).count() > 1 {
            let flat = input.take_vec(bytes)?;
            decode_fortran(&flat, &shape, dtype, big, input.name())?
        } else {
            decode_stream(input, bytes, dtype, big)?
        };
        Ok(Self { shape, values, boolean: dtype == DType::Bool })
    }

    /// The shape, outermost axis first.
    pub fn shape(&self) -> &[usize] {
        &self.shape
    }

    /// The elements.
    pub fn values(&self) -> &RawValues {
        &self.values
    }

    /// Whether the elements are booleans.
    pub fn is_boolean(&self) -> bool {
        self.boolean
    }

    /// Whether the elements are floating-point numbers.
    pub fn is_float(&self) -> bool {
        matches!(self.values, RawValues::F32(_) | RawValues::F64(_))
    }

    /// The shape and the elements.
    pub fn into_parts(self) -> (Vec<usize>, RawValues) {
        (self.shape, self.values)
    }

    /// The elements as `f32`; fails for strings, with `name` in the error.
    pub fn into_array(self, name: &Path) -> Result<Array> {
        let data = match self.values {
            RawValues::F32(v) => v,
            values => {
                numbers!(values, v => memory::collect(v.into_iter().map(|x| x as f32), name.display())?,
                text => return Err(Error::format(name, "holds strings where numbers were expected")))
            }
        };
        Array::new(self.shape, data)
    }

    /// The elements as integers; fails at the first that is not one.
    pub fn integers(&self, name: &Path) -> Result<Vec<i64>> {
        match &self.values {
            RawValues::F32(v) => whole(v.iter().map(|&x| f64::from(x)), name),
            RawValues::F64(v) => whole(v.iter().copied(), name),
            RawValues::U64(v) => v
                .iter()
                .map(|&x| i64::try_from(x).map_err(|_| Error::format(name, format!("{x} is too large"))))
                .collect(),
            values => {
                Ok(numbers!(values, v => memory::collect(v.iter().map(|&x| x as i64), name.display())?,
                text => return Err(Error::format(name, "holds strings where integers were expected"))))
            }
        }
    }

    /// Maps every integer through `one`; `None` if that returns `None`, or if the elements are not integers.
    pub(crate) fn map_integers<T>(&self, one: impl Fn(i64) -> Option<T>) -> Option<Vec<T>> {
        match &self.values {
            RawValues::F32(_) | RawValues::F64(_) => None,
            RawValues::U64(v) => v.iter().map(|&x| one(i64::try_from(x).ok()?)).collect(),
            values => numbers!(values, v => v.iter().map(|&x| one(x as i64)).collect(), text => None),
        }
    }

    /// The strings, without padding; `None` if the elements are numbers. What is no text is escaped as in Python (`\\xe9`), so that
    /// different strings stay different.
    pub fn texts(&self) -> Option<Vec<String>> {
        let end = |text: &str| text.trim_end_matches('\0').to_owned();
        match &self.values {
            RawValues::Bytes { width, bytes } => {
                Some(bytes.chunks_exact((*width).max(1)).map(|b| end(&escaped(b))).collect())
            }
            RawValues::Text { width, bytes } => {
                let character = |b: &[u8]| {
                    let code = u32::from_le_bytes(b.try_into().unwrap_or_default());
                    char::from_u32(code).map_or_else(|| format!("\\u{code:04x}"), String::from)
                };
                let text = |b: &[u8]| end(&b.chunks_exact(4).map(character).collect::<String>());
                Some(bytes.chunks_exact(width.saturating_mul(4).max(1)).map(text).collect())
            }
            _ => None,
        }
    }
}

/// Bytes as text; what is not UTF-8 is escaped.
pub(crate) fn escaped(bytes: &[u8]) -> Cow<'_, str> {
    if let Ok(text) = std::str::from_utf8(bytes) {
        return text.into();
    }
    let mut text = String::new();
    for chunk in bytes.utf8_chunks() {
        text.push_str(chunk.valid());
        chunk.invalid().iter().for_each(|byte| text.push_str(&format!("\\x{byte:02x}")));
    }
    text.into()
}

/// Integers from floats.
fn whole(values: impl Iterator<Item = f64>, name: &Path) -> Result<Vec<i64>> {
    let one = |(at, x): (usize, f64)| {
        if x.fract() == 0.0 && x.abs() < 9e15 {
            Ok(x as i64)
        } else {
            Err(Error::format(name, format!("{x} at index {at}, where an integer was expected")))
        }
    };
    values.enumerate().map(one).collect()
}

/// Evaluates one macro for the variant and the type of numbers of any type, except bytes, which need no decoding; they and strings
/// have arms of their own.
macro_rules! by_dtype {
    ($dtype:expr, $typed:ident, $($other:pat => $value:expr),+) => {
        match $dtype {
            $($other => $value,)+
            DType::I8 => $typed!(I8, i8),
            DType::U16 => $typed!(U16, u16),
            DType::I16 => $typed!(I16, i16),
            DType::U32 => $typed!(U32, u32),
            DType::I32 => $typed!(I32, i32),
            DType::U64 => $typed!(U64, u64),
            DType::I64 => $typed!(I64, i64),
            DType::F32 => $typed!(F32, f32),
            DType::F64 => $typed!(F64, f64),
        }
    };
}

/// Appends the numbers in `$bytes` to `$out`, in either byte order.
macro_rules! append {
    ($out:expr, $type:ty, $bytes:expr, $big:expr, $name:expr) => {{
        const N: usize = size_of::<$type>();
        let bytes: &[u8] = $bytes;
        reserve(&mut $out, bytes.len() / N, $name)?;
        let (chunks, _) = bytes.as_chunks::<N>();
        if $big {
            $out.extend(chunks.iter().map(|&b| <$type>::from_be_bytes(b)));
        } else {
            $out.extend(chunks.iter().map(|&b| <$type>::from_le_bytes(b)));
        }
    }};
}

/// Reads `bytes` bytes as elements; the buffer grows as they arrive.
fn decode_stream(input: &mut Input, bytes: u64, dtype: DType, big: bool) -> Result<RawValues> {
    let known = input.left().is_some();
    input.expect_left(bytes)?;
    macro_rules! typed {
        ($variant:ident, $type:ty) => {{
            let mut out: Vec<$type> = Vec::new();
            if known {
                let count = (bytes / size_of::<$type>() as u64) as usize;
                memory::reserve(&mut out, count, input.name().display())?;
            }
            input.blocks(bytes, size_of::<$type>(), |block, name| {
                append!(out, $type, block, big, name);
                Ok(())
            })?;
            RawValues::$variant(out)
        }};
    }
    Ok(by_dtype!(
        dtype, typed,
        DType::Bool | DType::U8 => RawValues::U8(input.take_vec(bytes)?),
        DType::Bytes(width) => RawValues::Bytes { width, bytes: input.take_vec(bytes)? },
        DType::Text(width) => RawValues::Text { width, bytes: swapped(input.take_vec(bytes)?, big) }
    ))
}

/// Appends the numbers in `bytes` as `f32`, converted as [`RawArray::into_array`] does; strings give nothing.
#[allow(clippy::unnecessary_cast)] // in code for all types, some casts are from a type to itself
pub(crate) fn decode_into(bytes: &[u8], dtype: DType, big: bool, into: &mut Vec<f32>) {
    macro_rules! typed {
        ($variant:ident, $type:ty) => {{
            let (chunks, _) = bytes.as_chunks::<{ size_of::<$type>() }>();
            match big {
                true => into.extend(chunks.iter().map(|&b| <$type>::from_be_bytes(b) as f32)),
                false => into.extend(chunks.iter().map(|&b| <$type>::from_le_bytes(b) as f32)),
            }
        }};
    }
    by_dtype!(
        dtype, typed,
        DType::Bool | DType::U8 => into.extend(bytes.iter().map(|&b| f32::from(b))),
        DType::Bytes(_) | DType::Text(_) => {}
    );
}

/// Converts elements of the file `name` from Fortran order to C order.
fn decode_fortran(flat: &[u8], shape: &[usize], dtype: DType, big: bool, name: &Path) -> Result<RawValues> {
    let mut steps = Vec::with_capacity(shape.len());
    let mut step = dtype.size();
    for &side in shape {
        steps.push(step);
        step = step.saturating_mul(side);
    }
    let mut place = vec![0usize; shape.len()];
    let mut at = 0usize;
    let mut next = || {
        let here = &flat[at..at + dtype.size()];
        for axis in (0..shape.len()).rev() {
            place[axis] += 1;
            at += steps[axis];
            if place[axis] < shape[axis] {
                break;
            }
            at -= steps[axis] * place[axis];
            place[axis] = 0;
        }
        here
    };
    let count = flat.len().checked_div(dtype.size()).unwrap_or(0);
    macro_rules! typed {
        ($variant:ident, $type:ty) => {{
            let mut out: Vec<$type> = memory::with_capacity(count, name.display())?;
            for _ in 0..count {
                append!(out, $type, next(), big, name);
            }
            RawValues::$variant(out)
        }};
    }
    let mut bytes = || -> Result<Vec<u8>> {
        let mut out = memory::with_capacity(flat.len(), name.display())?;
        (0..count).for_each(|_| out.extend_from_slice(next()));
        Ok(out)
    };
    Ok(by_dtype!(
        dtype, typed,
        DType::Bool | DType::U8 => RawValues::U8(bytes()?),
        DType::Bytes(width) => RawValues::Bytes { width, bytes: bytes()? },
        DType::Text(width) => RawValues::Text { width, bytes: swapped(bytes()?, big) }
    ))
}

/// Four-byte characters in little-endian order.
fn swapped(mut bytes: Vec<u8>, big: bool) -> Vec<u8> {
    if big {
        bytes.chunks_exact_mut(4).for_each(<[u8]>::reverse);
    }
    bytes
}

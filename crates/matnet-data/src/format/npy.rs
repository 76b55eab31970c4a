//! NumPy's `.npy`, versions 1 to 3: numbers and fixed-width strings, both byte orders, C and Fortran order.
//!
//! Object arrays contain pickles and are refused.

use std::io::Write;
use std::path::Path;

use crate::Result;
use crate::format::bounded::Input;
use crate::format::raw::{DType, RawArray};

/// The maximum length of a header.
const LONGEST_HEADER: u32 = 64 << 10;
/// The maximum number of axes in NumPy.
const MOST_SIDES: usize = 64;

/// The header of an `.npy` file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NpyHeader {
    /// The shape, outermost axis first.
    pub shape: Vec<usize>,
    /// The type of the elements.
    pub dtype: DType,
    /// Whether the elements are big-endian.
    pub big_endian: bool,
    /// Whether the array is in Fortran order: the first axis varies fastest.
    pub fortran: bool,
}

/// Reads an `.npy` file, gzipped or not.
pub fn read(path: impl AsRef<Path>) -> Result<RawArray> {
    parse(Input::open(path)?)
}

/// Reads `.npy` from a stream.
pub fn parse(mut input: Input) -> Result<RawArray> {
    let head = header(&mut input)?;
    let raw = RawArray::read(&mut input, head.shape, head.dtype, head.big_endian, head.fortran)?;
    input.expect_end()?;
    Ok(raw)
}

/// Reads the header; the stream is then at the first element.
pub fn header(input: &mut Input) -> Result<NpyHeader> {
    if input.array::<6>()? != *b"\x93NUMPY" {
        return Err(input.error("is not .npy: it does not start with \\x93NUMPY"));
    }
    let [major, minor] = input.array()?;
    let length = match major {
        1 => u32::from(u16::from_le_bytes(input.array()?)),
        2 | 3 => u32::from_le_bytes(input.array()?),
        _ => return Err(input.error(format!(".npy version {major}.{minor} is not 1, 2 or 3"))),
    };
    if length > LONGEST_HEADER {
        return Err(input.error(format!("header of {length} bytes; at most {LONGEST_HEADER} are read")));
    }
    let text = input.take_vec(length.into())?;
    parse_header(&text).map_err(|what| input.error(format!("header: {what}")))
}

/// Parses the dictionary of the header.
fn parse_header(text: &[u8]) -> Result<NpyHeader, String> {
    let mut text = Literal { text, at: 0 };
    let (mut descr, mut fortran, mut shape) = (None, None, None);
    text.expect(b'{')?;
    while !text.accept(b'}') {
        let key = text.string()?;
        text.expect(b':')?;
        match key.as_str() {
            "descr" => {
                if text.peek() == Some(b'[') {
                    return Err("structured arrays are not supported; save each field separately".into());
                }
                descr = Some(text.string()?);
            }
            "fortran_order" => fortran = Some(text.boolean()?),
            "shape" => shape = Some(text.shape()?),
            other => return Err(format!("unknown key {other:?}")),
        }
        if !text.accept(b',') && text.peek() != Some(b'}') {
            return Err("',' or '}' expected".into());
        }
    }
    if text.peek().is_some() {
        return Err("continues after its closing brace".into());
    }
    let (dtype, big_endian) = dtype(&descr.ok_or("no 'descr'")?)?;
    let shape = shape.ok_or("no 'shape'")?;
    Ok(NpyHeader { shape, dtype, big_endian, fortran: fortran.ok_or("no 'fortran_order'")? })
}

/// A NumPy type code such as `<f4`, with whether it is big-endian.
pub(crate) fn dtype(code: &str) -> Result<(DType, bool), String> {
    let (big, name) = match code.as_bytes().first() {
        Some(b'>') => (true, &code[1..]),
        Some(b'<' | b'|' | b'=') => (false, &code[1..]),
        _ => (false, code),
    };
    let width = |digits: &str| {
        digits.parse::<u16>().map(usize::from).map_err(|_| format!("type {code:?} is unknown"))
    };
    let dtype = match name {
        "b1" | "?" => DType::Bool,
        "u1" => DType::U8,
        "i1" => DType::I8,
        "u2" => DType::U16,
        "i2" => DType::I16,
        "u4" => DType::U32,
        "i4" => DType::I32,
        "u8" => DType::U64,
        "i8" => DType::I64,
        "f4" => DType::F32,
        "f8" => DType::F64,
        _ => match name.as_bytes().first() {
            Some(b'S' | b'a') => DType::Bytes(width(&name[1..])?),
            Some(b'U') => DType::Text(width(&name[1..])?),
            Some(b'O') => {
                let what = "object arrays can contain code and are refused; save numbers or strings \
                            (.astype(str)), and sequences of different lengths padded, with an array `length`";
                return Err(what.into());
            }
            _ => {
                return Err(format!(
                    "type {code:?} is not supported; f4, f8, i1 to i8, u1 to u8, b1, S and U are"
                ));
            }
        },
    };
    Ok((dtype, big))
}

/// A parser of Python literals.
struct Literal<'a> {
    text: &'a [u8],
    at: usize,
}

impl Literal<'_> {
    /// The next character that is not blank, without consuming it.
    fn peek(&mut self) -> Option<u8> {
        while self.text.get(self.at).is_some_and(u8::is_ascii_whitespace) {
            self.at += 1;
        }
        self.text.get(self.at).copied()
    }

    fn accept(&mut self, wanted: u8) -> bool {
        let found = self.peek() == Some(wanted);
        self.at += usize::from(found);
        found
    }

    fn expect(&mut self, wanted: u8) -> Result<(), String> {
        if self.accept(wanted) { Ok(()) } else { Err(format!("{:?} expected", char::from(wanted))) }
    }

    fn string(&mut self) -> Result<String, String> {
        let quote = self.peek().filter(|q| b"'\"".contains(q)).ok_or("a quoted word expected")?;
        let rest = &self.text[self.at + 1..];
        let end = rest.iter().position(|&b| b == quote).ok_or("a quote is not closed")?;
        self.at += end + 2;
        let word = &rest[..end];
        if !word.is_ascii() || word.contains(&b'\\') {
            return Err("a quoted word is not plain text".into());
        }
        Ok(word.iter().map(|&b| char::from(b)).collect())
    }

    fn boolean(&mut self) -> Result<bool, String> {
        self.peek();
        for (word, value) in [("True", true), ("False", false)] {
            if self.text[self.at..].starts_with(word.as_bytes()) {
                self.at += word.len();
                return Ok(value);
            }
        }
        Err("True or False expected".into())
    }

    fn shape(&mut self) -> Result<Vec<usize>, String> {
        let mut sides = Vec::new();
        self.expect(b'(')?;
        while !self.accept(b')') {
            let start = self.peek().map_or(self.at, |_| self.at);
            while self.text.get(self.at).is_some_and(u8::is_ascii_digit) {
                self.at += 1;
            }
            let digits = std::str::from_utf8(&self.text[start..self.at]).unwrap_or_default();
            sides.push(digits.parse().map_err(|_| format!("{digits:?} in the shape is not a size"))?);
            if sides.len() > MOST_SIDES {
                return Err(format!("a shape of more than {MOST_SIDES} axes"));
            }
            self.accept(b'L');
            if !self.accept(b',') && self.peek() != Some(b')') {
                return Err("',' or ')' expected in the shape".into());
            }
        }
        Ok(sides)
    }
}

/// Writes the header of a little-endian array in C order of type `code` (`<f4`, `|u1`, …), version 1.
pub fn write_header(out: &mut impl Write, code: &str, shape: &[usize]) -> std::io::Result<()> {
    write_header_of(out, code, shape, 64)
}

/// The same for a header of `least` bytes, or of more if it does not fit: the elements start at a multiple of `least`.
pub(crate) fn write_header_of(
    out: &mut impl Write,
    code: &str,
    shape: &[usize],
    least: usize,
) -> std::io::Result<()> {
    let sides: String = shape.iter().map(|side| format!("{side}, ")).collect();
    // NumPy writes (3,) and (3, 4); a comma after the last axis is valid too
    let mut text =
        format!("{{'descr': '{code}', 'fortran_order': False, 'shape': ({}), }}", sides.trim_end());
    let padded = (10 + text.len() + 1).next_multiple_of(least) - 10;
    while text.len() + 1 < padded {
        text.push(' ');
    }
    text.push('\n');
    let length = u16::try_from(text.len()).map_err(std::io::Error::other)?;
    out.write_all(b"\x93NUMPY\x01\x00")?;
    out.write_all(&length.to_le_bytes())?;
    out.write_all(text.as_bytes())
}

/// Writes `f32` values as `.npy`.
pub fn write_f32(out: &mut impl Write, shape: &[usize], numbers: &[f32]) -> std::io::Result<()> {
    write_numbers(out, "<f4", shape, numbers, f32::to_le_bytes)
}

/// Writes integers as `.npy`.
pub fn write_i64(out: &mut impl Write, shape: &[usize], numbers: &[i64]) -> std::io::Result<()> {
    write_numbers(out, "<i8", shape, numbers, i64::to_le_bytes)
}

fn write_numbers<T: Copy, const N: usize>(
    out: &mut impl Write,
    code: &str,
    shape: &[usize],
    numbers: &[T],
    bytes: impl Fn(T) -> [u8; N],
) -> std::io::Result<()> {
    write_header(out, code, shape)?;
    let mut block = Vec::with_capacity(N << 10);
    for part in numbers.chunks(1 << 10) {
        block.clear();
        block.extend(part.iter().flat_map(|&number| bytes(number)));
        out.write_all(&block)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::raw::RawValues;

    /// An `.npy` of the given version, type and shape around `body`.
    fn npy(major: u8, descr: &str, fortran: &str, shape: &str, body: &[u8]) -> Vec<u8> {
        let head = format!("{{'descr': {descr}, 'fortran_order': {fortran}, 'shape': {shape}, }}\n");
        let mut file = b"\x93NUMPY".to_vec();
        file.extend([major, 0]);
        match major {
            1 => file.extend((head.len() as u16).to_le_bytes()),
            _ => file.extend((head.len() as u32).to_le_bytes()),
        }
        file.extend(head.as_bytes());
        file.extend(body);
        file
    }

    fn parsed(file: &[u8]) -> Result<RawArray> {
        parse(Input::bytes("t.npy", file)?)
    }

    #[test]
    fn every_type_version_and_order_gives_the_same_values() {
        macro_rules! check {
            ($($code:literal $type:ty),*) => {$(
                for major in 1..=3 {
                    let little: Vec<u8> = (1..7).flat_map(|i| (i as $type).to_le_bytes()).collect();
                    let big: Vec<u8> = (1..7).flat_map(|i| (i as $type).to_be_bytes()).collect();
                    // the same matrix in Fortran order
                    let fortran: Vec<u8> = [1, 4, 2, 5, 3, 6].iter().flat_map(|&i| (i as $type).to_le_bytes()).collect();
                    for (order, flag, body) in [("<", "False", &little), (">", "False", &big), ("<", "True", &fortran)] {
                        let file = npy(major, &format!("'{order}{}'", $code), flag, "(2, 3)", body);
                        let array = parsed(&file).unwrap().into_array(Path::new("t")).unwrap();
                        assert_eq!(array.shape(), [2, 3]);
                        assert_eq!(array.data(), [1., 2., 3., 4., 5., 6.], "{}{}", order, $code);
                    }
                }
            )*};
        }
        check!("f4" f32, "f8" f64, "i1" i8, "i2" i16, "i4" i32, "i8" i64, "u1" u8, "u2" u16, "u4" u32, "u8" u64);
    }

    #[test]
    fn fortran_order_of_three_axes() {
        // element (i, j, k) is 100 i + 10 j + k
        let mut body = Vec::new();
        for k in 0..4u8 {
            for j in 0..3u8 {
                for i in 0..2u8 {
                    body.push(100 * i + 10 * j + k);
                }
            }
        }
        let raw = parsed(&npy(1, "'|u1'", "True", "(2, 3, 4)", &body)).unwrap();
        let RawValues::U8(v) = raw.values() else { panic!("u8 expected") };
        for (at, &x) in v.iter().enumerate() {
            assert_eq!(usize::from(x), 100 * (at / 12) + 10 * (at / 4 % 3) + at % 4);
        }
    }

    #[test]
    fn scalars_empties_booleans_and_strings() {
        assert_eq!(
            parsed(&npy(1, "'<f8'", "False", "()", &1.5f64.to_le_bytes())).unwrap().shape(),
            [0usize; 0]
        );
        assert_eq!(parsed(&npy(1, "'<f8'", "False", "(0, 3)", &[])).unwrap().shape(), [0, 3]);
        let bits = parsed(&npy(1, "'|b1'", "False", "(2,)", &[0, 1])).unwrap();
        assert_eq!(bits.integers(Path::new("t")).unwrap(), [0, 1]);
        let words = parsed(&npy(1, "'|S3'", "False", "(2,)", b"cat\0\0\0")).unwrap();
        assert_eq!(words.texts().unwrap(), ["cat", ""]);
        let words = parsed(&npy(1, "'>U2'", "False", "(1,)", &[0, 0, 0, b'a', 0, 0, 0, 0])).unwrap();
        assert_eq!(words.texts().unwrap(), ["a"]);
        // Latin-1, whose bytes are no UTF-8, stays two words.
        let bytes = b"caf\xe9caf\xe8".to_vec();
        let words = RawArray::new([2], RawValues::Bytes { width: 4, bytes }, false).unwrap();
        assert_eq!(words.texts().unwrap(), ["caf\\xe9", "caf\\xe8"]);
    }

    #[test]
    fn objects_records_and_wrong_sizes_are_refused() {
        let error = |file: &[u8]| parsed(file).unwrap_err().to_string();
        assert!(error(&npy(1, "'|O'", "False", "(1,)", &[0; 8])).contains("object arrays"));
        assert!(error(&npy(1, "[('a', '<f4')]", "False", "(1,)", &[0; 4])).contains("structured"));
        assert!(error(&npy(1, "'<f4'", "False", "(9000000000000000,)", &[0; 4])).contains("only 4 do"));
        let huge = "(4294967296, 4294967296, 0)";
        assert!(error(&npy(1, "'<f4'", "False", huge, &[])).contains("too large"));
        assert!(error(&npy(1, "'<f4'", "False", "(1,)", &[0; 5])).contains("trailing bytes"));
        assert!(error(&npy(1, "'<f2'", "False", "(1,)", &[0; 2])).contains("f4, f8"));
        assert!(error(&npy(4, "'<f4'", "False", "(1,)", &[0; 4])).contains("version 4.0"));
    }

    #[test]
    fn arrays_survive_the_round_trip() {
        for shape in [vec![], vec![6], vec![2, 3]] {
            let numbers: Vec<f32> = (0..shape.iter().product()).map(|i| i as f32 - 0.5).collect();
            let mut file = Vec::new();
            write_f32(&mut file, &shape, &numbers).unwrap();
            let array = parsed(&file).unwrap().into_array(Path::new("t")).unwrap();
            assert_eq!((array.shape(), array.data()), (&shape[..], &numbers[..]));
        }
    }
}

//! NumPy arrays and SciPy CSR matrices from the values of a pickle.

use super::{Global, Pickle, Value};
use crate::Result;
use crate::format::bounded::Input;
use crate::format::npy;
use crate::format::raw::{RawArray, byte_count};

/// A sparse matrix: the columns and values of row `i` are at `starts[i]..starts[i + 1]`.
#[derive(Clone, Debug, PartialEq)]
pub struct CsrMatrix {
    /// Number of rows.
    pub rows: usize,
    /// Number of columns.
    pub cols: usize,
    /// The start of each row, and the end of the last one.
    pub starts: Vec<u32>,
    /// The column of each stored value.
    pub columns: Vec<u32>,
    /// The stored values.
    pub values: Vec<f32>,
}

impl CsrMatrix {
    /// The stored (column, value) pairs of a row.
    pub fn row(&self, row: usize) -> impl Iterator<Item = (usize, f32)> {
        let span = self.starts[row] as usize..self.starts[row + 1] as usize;
        self.columns[span.clone()].iter().map(|&c| c as usize).zip(self.values[span].iter().copied())
    }
}

impl Pickle<'_> {
    /// The array that is the whole pickle.
    pub fn root_array(&self) -> Result<RawArray> {
        self.ndarray(self.root())
    }

    /// The sparse matrix that is the whole pickle.
    pub fn root_csr(&self) -> Result<CsrMatrix> {
        self.csr(self.root())
    }

    /// The whole pickle as a dictionary from integers to lists of integers; passes each pair to `each` and returns the number of keys.
    pub fn root_lists(&self, mut each: impl FnMut(i64, i64)) -> Result<usize> {
        let wrong = || self.error("pickle is not a dictionary of lists of integers");
        let mut count = 0;
        for (key, list) in self.pairs(self.root()).ok_or_else(wrong)? {
            let key = self.int(key).ok_or_else(wrong)?;
            for item in self.items(list).ok_or_else(wrong)? {
                each(key, self.int(item).ok_or_else(wrong)?);
            }
            count += 1;
        }
        Ok(count)
    }

    /// A NumPy array, from its state: version, shape, type, order, bytes.
    fn ndarray(&self, value: Value) -> Result<RawArray> {
        let wrong = || self.error("pickle does not hold a NumPy array where one was expected");
        let object = self.object(value).filter(|o| o.global == Global::Reconstruct).ok_or_else(wrong)?;
        let [_, shape, dtype, fortran, body] = self.tuple(object.state).ok_or_else(wrong)?;
        let side = |v| self.int(v).and_then(|n| usize::try_from(n).ok());
        let shape: Option<Vec<usize>> = self.items(shape).ok_or_else(wrong)?.map(side).collect();
        let shape = shape.ok_or_else(wrong)?;
        let code = self.dtype(dtype).ok_or_else(wrong)?;
        let (kind, big) = npy::dtype(&code).map_err(|what| self.error(what))?;
        let body = self.text(body).ok_or_else(wrong)?;
        if byte_count(&shape, kind) != Some(body.len() as u64) {
            let what =
                format!("array of shape {shape:?} and type {code} does not fit its {} bytes", body.len());
            return Err(self.error(what));
        }
        let fortran = fortran == Value::Bool(true) || self.int(fortran) == Some(1);
        RawArray::read(&mut Input::bytes_packed(self.name(), body), shape, kind, big, fortran)
    }

    /// A type code such as `<f4`: the letters are constructor arguments, the byte order is in the state.
    fn dtype(&self, value: Value) -> Option<String> {
        let object = self.object(value).filter(|o| o.global == Global::Dtype)?;
        let letters = self.text(self.items(object.args)?.next()?)?;
        let order = self.items(object.state).and_then(|mut state| self.text(state.nth(1)?)).unwrap_or(b"<");
        if letters.len() > 8 || order.len() != 1 {
            return None;
        }
        Some(format!("{}{}", std::str::from_utf8(order).ok()?, std::str::from_utf8(letters).ok()?))
    }

    fn csr(&self, value: Value) -> Result<CsrMatrix> {
        let wrong = |what: &str| self.error(format!("sparse matrix: {what}"));
        let object = self.object(value).filter(|o| o.global == Global::Csr);
        let object = object.ok_or_else(|| wrong("pickle does not hold one"))?;
        let state = object.state;
        let field = |names: &[&[u8]]| {
            let mut pairs = self.pairs(state).into_iter().flatten();
            let found = pairs.find(|&(key, _)| self.text(key).is_some_and(|k| names.contains(&k)));
            found
                .map(|(_, value)| value)
                .ok_or_else(|| wrong(&format!("no field {:?}", String::from_utf8_lossy(names[0]))))
        };
        let sides = self.tuple(field(&[b"_shape", b"shape"])?);
        let side = |v| self.int(v).and_then(|n| u32::try_from(n).ok());
        let Some([Some(rows), Some(cols)]) = sides.map(|sides: [Value; 2]| sides.map(side)) else {
            return Err(wrong("its shape is not two sizes"));
        };
        let index = |names: &[&[u8]], most: u32| -> Result<Vec<u32>> {
            let whole = self.ndarray(field(names)?)?;
            let one = |n: i64| u32::try_from(n).ok().filter(|&n| n <= most);
            whole.map_integers(one).ok_or_else(|| wrong("an index is not an integer, or outside the matrix"))
        };
        let values = self.ndarray(field(&[b"data"])?)?.into_array(self.name())?.into_data();
        let stored = u32::try_from(values.len()).map_err(|_| wrong("too many values"))?;
        let columns = index(&[b"indices"], cols.saturating_sub(1))?;
        let starts = index(&[b"indptr"], stored)?;
        let rising = starts.windows(2).all(|pair| pair[0] <= pair[1]);
        let whole = starts.first() == Some(&0) && starts.last() == Some(&stored);
        if starts.len() != rows as usize + 1 || columns.len() != values.len() || !rising || !whole {
            return Err(wrong("rows, columns and values do not agree"));
        }
        if cols == 0 && stored > 0 {
            return Err(wrong("values in a matrix without columns"));
        }
        Ok(CsrMatrix { rows: rows as usize, cols: cols as usize, starts, columns, values })
    }
}

//! Compressed sparse rows: which entries a sparse matrix has.

use std::ops::Range;

/// Why entries make no matrix.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum CsrError {
    /// The offsets do not begin with 0, fall, or do not end with the number of entries.
    Offsets,
    /// The entry at this place lies in a column that the matrix does not have.
    Column(usize),
    /// More columns or entries than 32 bits can number.
    TooLarge,
}

/// The places of the entries of a sparse matrix, row after row.
///
/// Made only by [`Csr::new`], which checks everything, so that kernels may follow the columns blindly.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Csr {
    cols: usize,
    offsets: Vec<usize>,
    columns: Vec<u32>,
}

impl Csr {
    /// The matrix whose row r has its entries in `columns[offsets[r]..offsets[r + 1]]`.
    pub fn new(cols: usize, offsets: Vec<usize>, columns: Vec<u32>) -> Result<Self, CsrError> {
        if cols > u32::MAX as usize || columns.len() > u32::MAX as usize {
            return Err(CsrError::TooLarge);
        }
        let rising = offsets.is_sorted();
        if offsets.first() != Some(&0) || !rising || offsets.last() != Some(&columns.len()) {
            return Err(CsrError::Offsets);
        }
        match columns.iter().position(|&column| column as usize >= cols) {
            Some(at) => Err(CsrError::Column(at)),
            None => Ok(Self { cols, offsets, columns }),
        }
    }

    /// How many rows.
    pub fn rows(&self) -> usize {
        self.offsets.len() - 1
    }

    /// How many columns.
    pub fn cols(&self) -> usize {
        self.cols
    }

    /// How many entries.
    pub fn entries(&self) -> usize {
        self.columns.len()
    }

    /// The columns of all entries, row after row.
    pub fn columns(&self) -> &[u32] {
        &self.columns
    }

    /// Where the entries of each row begin among all, and where the last ends.
    pub(super) fn offsets(&self) -> &[usize] {
        &self.offsets
    }

    /// Where the entries of a row stand among all.
    pub fn range(&self, row: usize) -> Range<usize> {
        self.offsets[row]..self.offsets[row + 1]
    }

    /// The columns of the entries of a row.
    pub fn row(&self, row: usize) -> &[u32] {
        &self.columns[self.range(row)]
    }

    /// The transposed matrix, and for each of its entries the place it had here.
    pub fn transpose(&self) -> (Self, Vec<u32>) {
        let mut offsets = vec![0; self.cols + 1];
        for &column in &self.columns {
            offsets[column as usize + 1] += 1;
        }
        for column in 0..self.cols {
            offsets[column + 1] += offsets[column];
        }
        let mut next = offsets.clone();
        let (mut columns, mut places) = (vec![0; self.entries()], vec![0; self.entries()]);
        for row in 0..self.rows() {
            for place in self.range(row) {
                let to = &mut next[self.columns[place] as usize];
                columns[*to] = row as u32;
                places[*to] = place as u32;
                *to += 1;
            }
        }
        (Self { cols: self.rows(), offsets, columns }, places)
    }
}

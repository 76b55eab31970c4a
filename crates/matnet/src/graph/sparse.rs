//! Sparse matrices that are not trained.

use std::sync::Arc;

use burn::tensor::{Device, Tensor, TensorData};
use matnet_kernels::{Csr, CsrError};

use super::GraphError;

/// A constant sparse matrix in CSR format, and its transpose for the backward pass.
///
/// Clones share their memory.
///
/// ```
/// use matnet::graph::Sparse;
///
/// let matrix = Sparse::from_rows(3, &[0.0, 2.0, 0.0, 1.0, 0.0, 3.0])?;
/// assert_eq!((matrix.rows(), matrix.cols(), matrix.entries()), (2, 3, 3));
/// assert_eq!(matrix.row(1), (&[0, 2][..], Some(&[1.0, 3.0][..])));
/// # Ok::<(), matnet::graph::GraphError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Sparse {
    places: Arc<Places>,
    weights: Option<Arc<Weights>>,
}

#[derive(Debug, PartialEq)]
struct Places {
    matrix: Csr,
    transposed: Csr,
    /// For each entry of the transposed matrix, its place in the other.
    order: Vec<u32>,
}

#[derive(Debug, PartialEq)]
struct Weights {
    matrix: Vec<f32>,
    transposed: Vec<f32>,
}

impl Sparse {
    /// The matrix of `cols` columns whose row r has its entries in `columns[offsets[r]..offsets[r + 1]]`, with
    /// a weight for each, or 1 for all.
    pub fn new(
        cols: usize,
        offsets: Vec<usize>,
        columns: Vec<u32>,
        weights: Option<Vec<f32>>,
    ) -> Result<Self, GraphError> {
        let entries = columns.len();
        let matrix = Csr::new(cols, offsets, columns).map_err(|error| match error {
            CsrError::Offsets => {
                GraphError::Matrix("offsets must rise from 0 to the number of entries".into())
            }
            CsrError::Column(at) => GraphError::Matrix(format!("entry {at} lies beyond the {cols} columns")),
            CsrError::TooLarge => GraphError::TooLarge,
            other => GraphError::Matrix(format!("{other:?}")),
        })?;
        if matrix.rows() > u32::MAX as usize {
            return Err(GraphError::TooLarge);
        }
        let (transposed, order) = matrix.transpose();
        let sparse = Self { places: Arc::new(Places { matrix, transposed, order }), weights: None };
        match weights {
            None => Ok(sparse),
            Some(weights) if weights.len() == entries => Ok(sparse.with_weights(weights)),
            Some(weights) => {
                Err(GraphError::Matrix(format!("{} weights for {entries} entries", weights.len())))
            }
        }
    }

    /// The non-zero entries of a dense matrix of `cols` columns, in row-major order.
    pub fn from_rows(cols: usize, numbers: &[f32]) -> Result<Self, GraphError> {
        if cols == 0 || !numbers.len().is_multiple_of(cols) {
            let what = format!("{} numbers are no rows of {cols} columns", numbers.len());
            return Err(GraphError::Matrix(what));
        }
        let (mut offsets, mut columns, mut weights) = (vec![0], Vec::new(), Vec::new());
        for row in numbers.chunks_exact(cols) {
            for (column, &number) in row.iter().enumerate() {
                if number != 0.0 {
                    columns.push(u32::try_from(column).map_err(|_| GraphError::TooLarge)?);
                    weights.push(number);
                }
            }
            offsets.push(columns.len());
        }
        Self::new(cols, offsets, columns, Some(weights))
    }

    /// Entries in the same places with other weights, one for each.
    pub(crate) fn with_weights(&self, matrix: Vec<f32>) -> Self {
        let transposed = self.places.order.iter().map(|&place| matrix[place as usize]).collect();
        let weights = Some(Arc::new(Weights { matrix, transposed }));
        Self { places: self.places.clone(), weights }
    }

    /// How many rows.
    pub fn rows(&self) -> usize {
        self.places.matrix.rows()
    }

    /// How many columns.
    pub fn cols(&self) -> usize {
        self.places.matrix.cols()
    }

    /// How many entries.
    pub fn entries(&self) -> usize {
        self.places.matrix.entries()
    }

    /// How many entries the longest row has.
    pub fn longest_row(&self) -> usize {
        (0..self.rows()).map(|row| self.places.matrix.range(row).len()).max().unwrap_or(0)
    }

    /// The columns of a row's entries, and their weights if they are not all 1.
    ///
    /// # Panics
    ///
    /// If there is no such row.
    pub fn row(&self, row: usize) -> (&[u32], Option<&[f32]>) {
        let range = self.places.matrix.range(row);
        let weights = self.weights.as_ref().map(|weights| &weights.matrix[range]);
        (self.places.matrix.row(row), weights)
    }

    /// These rows, in this order.
    ///
    /// # Panics
    ///
    /// If there is no such row.
    pub fn select(&self, rows: &[u32]) -> Self {
        let (mut offsets, mut columns, mut weights) = (vec![0], Vec::new(), Vec::new());
        for &row in rows {
            let (row_columns, row_weights) = self.row(row as usize);
            columns.extend_from_slice(row_columns);
            weights.extend_from_slice(row_weights.unwrap_or_default());
            offsets.push(columns.len());
        }
        let weights = self.weights.is_some().then_some(weights);
        Self::new(self.cols(), offsets, columns, weights).expect("rows of a matrix make a matrix")
    }

    /// The dense matrix `[rows, cols]`. Entries of the same row and column add up.
    pub fn to_dense(&self, device: &Device) -> Tensor<2> {
        let (rows, cols) = (self.rows(), self.cols());
        let mut numbers = vec![0.0_f32; rows * cols];
        for row in 0..rows {
            let (columns, weights) = self.row(row);
            for (entry, &column) in columns.iter().enumerate() {
                numbers[row * cols + column as usize] += weights.map_or(1.0, |weights| weights[entry]);
            }
        }
        Tensor::from_data(TensorData::new(numbers, [rows, cols]), device)
    }

    /// For the kernels: places and weights.
    pub(crate) fn matrix(&self) -> (&Csr, Option<&[f32]>) {
        (&self.places.matrix, self.weights.as_ref().map(|weights| &weights.matrix[..]))
    }

    /// For the kernels: places and weights of the transposed matrix.
    pub(crate) fn transposed(&self) -> (&Csr, Option<&[f32]>) {
        (&self.places.transposed, self.weights.as_ref().map(|weights| &weights.transposed[..]))
    }

    /// For the kernels: the place of each entry of the transposed matrix in the other.
    pub(crate) fn places(&self) -> &[u32] {
        &self.places.order
    }
}

//! Pictures of matrices and of the maps U and V.

use burn::tensor::TensorData;
use matnet_data::Array;
use matnet_report::ReportError;
use matnet_report::page::Figure;
use matnet_report::picture::{Colormap, Grid, Tile, outer_products};

/// Columns of U and V whose products are shown.
const MAX_PRODUCTS: usize = 6;
/// Matrices with sides up to this are drawn whole.
pub(crate) const MAX_SIDE: usize = 128;

/// The maps of a layer.
pub(crate) fn maps(layer: &str, named: &[(String, TensorData)]) -> Result<Vec<Figure>, ReportError> {
    let grids = map_grids(layer, named, MAX_PRODUCTS)?;
    let figure =
        |(grid, caption): (Grid, String)| Figure::image(&grid.draw()?, format!("{layer}: {caption}"));
    grids.into_iter().map(figure).collect()
}

/// U and V, and the products of their first columns, each with a caption.
pub fn map_grids(
    layer: &str,
    named: &[(String, TensorData)],
    max_products: usize,
) -> Result<Vec<(Grid, String)>, ReportError> {
    let find =
        |leaf: &str| named.iter().find(|(path, _)| *path == format!("{layer}.{leaf}")).map(|(_, data)| data);
    let mut grids = Vec::new();
    for (row, col, what) in [
        ("row_map", "col_map", ""),
        ("input_row_map", "input_col_map", " of the input, gate by gate"),
        ("state_row_map", "state_col_map", " of the state, gate by gate"),
    ] {
        let (Some(row), Some(col)) = (find(row), find(col)) else { continue };
        let (rows, cols) = (gates(row)?, gates(col)?);
        let grid = Grid::new(Colormap::Diverging)
            .with_row("U", rows.iter().map(|tile| tile.subsampled(MAX_SIDE)))
            .with_row("V", cols.iter().map(|tile| tile.subsampled(MAX_SIDE)));
        let caption = format!("U (rows to rows) and V (columns to columns){what}; blue below 0, red above.");
        grids.push((grid, caption));
        if let ([row], [col]) = (&rows[..], &cols[..]) {
            let caption =
                "what its first units respond to: products of a column of U and one of V.".to_owned();
            grids.push((outer_products(row, col, max_products), caption));
        }
    }
    Ok(grids)
}

/// A matrix, or one per gate.
fn gates(data: &TensorData) -> Result<Vec<Tile>, ReportError> {
    let values: Vec<f32> = data.iter::<f32>().collect();
    match data.shape()[..] {
        [rows, cols] => Ok(vec![Tile::new(rows, cols, values)?]),
        [_, rows, cols] => {
            values.chunks(rows * cols).map(|gate| Tile::new(rows, cols, gate.to_vec())).collect()
        }
        _ => Ok(Vec::new()),
    }
}

/// Matrices `[n, rows, cols]` one by one.
pub fn tiles(matrices: &Array) -> Result<Vec<Tile>, ReportError> {
    let [rows, cols] = [matrices.shape()[1], matrices.shape()[2]];
    matrices.data().chunks(rows * cols).map(|matrix| Tile::new(rows, cols, matrix.to_vec())).collect()
}

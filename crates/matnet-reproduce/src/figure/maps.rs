//! The maps of the first layer of a matrix net.

use matnet_cli::failure::Failure;
use matnet_report::picture::png;
use matnet_train::draw::map_grids;

use super::{Canvas, Content, Drawn, FigureSpec, Groups};

/// Columns of U and V whose products are shown.
const PRODUCTS: usize = 10;
/// Pixels per entry of U or V.
const ZOOM: u32 = 6;

/// U, V and their products in the first layer, from the first seed.
pub fn draw(canvas: &mut Canvas, figure: &FigureSpec) -> Result<Groups, Failure> {
    let mut groups = Vec::new();
    for (column, data) in canvas.columns(figure) {
        for (row, net) in canvas.rows(figure) {
            let Some(predictor) = canvas.predictor(column, row)? else { continue };
            let grids = map_grids("layer.0", &predictor.weights(), PRODUCTS)?;
            let mut group = Vec::new();
            for ((grid, caption), what) in grids.into_iter().zip(["maps", "products"]) {
                let grid = if what == "maps" { grid.with_zoom(ZOOM, ZOOM) } else { grid };
                group.push(Drawn {
                    name: canvas.name(&[&data.name, &net.name, what]),
                    caption: format!("First layer of {}, {}: {caption}", net.label, data.label),
                    content: Content::Png(png(&grid.draw()?)?),
                });
            }
            groups.push(group);
        }
    }
    Ok(groups)
}

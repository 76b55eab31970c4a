//! What the first layer of a matrix net looks at.

use matnet::weights;
use matnet_report::picture::png;

use super::{Content, Drawn, Stage, Wish};
use crate::commands::report::pictures::map_grids;
use crate::failure::Failure;

/// Columns of U and V whose products are shown.
const PRODUCTS: usize = 10;
/// Pixels that an entry of U or V takes.
const ZOOM: u32 = 6;

/// U, V and the tiles of the first layer, from the first seed.
pub fn draw(stage: &mut Stage, wish: &Wish) -> Result<Vec<Vec<Drawn>>, Failure> {
    let mut groups = Vec::new();
    for (column, data) in stage.columns(wish) {
        for (row, net) in stage.rows(wish) {
            let Some((_, model)) = stage.trained(column, row)? else { continue };
            let grids = map_grids("layer.0", &weights::named(&model), PRODUCTS)?;
            let mut group = Vec::new();
            for ((mut grid, caption), what) in grids.into_iter().zip(["maps", "tiles"]) {
                if what == "maps" {
                    grid = grid.with_zoom(ZOOM, ZOOM);
                }
                group.push(Drawn {
                    name: stage.name(&[&data.name, &net.name, what]),
                    caption: format!("First layer of {}, {}: {caption}", net.label, data.label),
                    content: Content::Png(png(&grid.draw()?)?),
                });
            }
            groups.push(group);
        }
    }
    Ok(groups)
}

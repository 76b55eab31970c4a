//! What went in, what was wanted, and what each net made of it.

use burn::tensor::Tensor;
use matnet::Mode;
use matnet_report::picture::{Colours, Grid, Range, png};
use matnet_train::data::Part;
use matnet_train::model::{Input, Output};

use super::{Content, Drawn, Stage, Wish};
use crate::commands::report::pictures::split;
use crate::failure::Failure;

/// Test images that are shown.
const SHOWN: usize = 12;

/// A grid for every column: the corrupted images, the truth, and a row for each net, from its first seed.
pub fn draw(stage: &mut Stage, wish: &Wish) -> Result<Vec<Vec<Drawn>>, Failure> {
    let mut groups = Vec::new();
    for (column, data) in stage.columns(wish) {
        let mut grid = Grid::new(Colours::Grey).with_range(Range::Fixed(0.0, 1.0));
        let mut begun = false;
        for (row, net) in stage.rows(wish) {
            let Some((task, model)) = stage.trained(column, row)? else { continue };
            let all = task.data.part(Part::Test);
            let every = (all.len() / SHOWN).max(1);
            let shown: Vec<usize> = all.iter().copied().step_by(every).take(SHOWN).collect();
            let Input::Matrices(input) = task.input(&shown, stage.device) else { continue };
            if !begun {
                let wanted: Tensor<3> = task.wanted(&shown, stage.device);
                grid = grid.with_row("corrupted", split(input.clone())?).with_row("truth", split(wanted)?);
                begun = true;
            }
            let given = model.forward(Input::Matrices(input), &mut Mode::Eval);
            let Output::Matrices(given) = given else { continue };
            grid = grid.with_row(&net.label, split(task.finished(given))?);
        }
        if begun {
            groups.push(vec![Drawn {
                name: stage.name(&[&data.name, "reconstructions"]),
                caption: format!("{}: test images with a black patch, the truth, and what each net makes of them (first seed).", data.label),
                content: Content::Png(png(&grid.draw()?)?),
            }]);
        }
    }
    Ok(groups)
}

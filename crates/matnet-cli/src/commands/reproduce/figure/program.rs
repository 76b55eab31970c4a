//! What a net that learnt a program does with a sequence.

use matnet_report::picture::png;
use matnet_train::data::Part;
use matnet_train::run::Plan;

use super::{Content, Drawn, Stage, Wish};
use crate::commands::report::program::pictures;
use crate::failure::Failure;

/// What went in and came out, and where the heads looked, from the first seed.
pub fn draw(stage: &mut Stage, wish: &Wish) -> Result<Vec<Vec<Drawn>>, Failure> {
    let mut groups = Vec::new();
    for (column, data) in stage.columns(wish) {
        for (row, net) in stage.rows(wish) {
            let Some((run, Plan::Program(work))) = stage.first(column, row)? else { continue };
            let Some(&number) = work.task.data.part(Part::Test).first() else { continue };
            let trained = run.trained_program("best.safetensors", stage.device)?;
            let drawn = pictures(&work.task, &trained, number, stage.device)?;
            let mut group = Vec::new();
            for ((picture, caption), what) in drawn.into_iter().zip(["bits", "heads"]) {
                group.push(Drawn {
                    name: stage.name(&[&data.name, &net.name, what]),
                    caption: format!("{}, {}. {caption}", net.label, data.label),
                    content: Content::Png(png(&picture)?),
                });
            }
            groups.push(group);
        }
    }
    Ok(groups)
}

//! Which sentences a memory net looks at for an answer, hop by hop.

use matnet_train::run::Plan;

use super::{Content, Drawn, Stage, Wish};
use crate::commands::report::stories;
use crate::failure::Failure;

/// One question for each row, from the first seed.
pub fn draw(stage: &mut Stage, wish: &Wish) -> Result<Vec<Vec<Drawn>>, Failure> {
    let mut groups = Vec::new();
    for (column, data) in stage.columns(wish) {
        for (row, net) in stage.rows(wish) {
            let Some((run, Plan::Stories(work))) = stage.first(column, row)? else { continue };
            let maps = stories::looked(&run, &work, stage.device)?;
            groups.extend(maps.first().map(|map| {
                vec![Drawn {
                    name: stage.name(&[&data.name, &net.name, "looked"]),
                    caption: format!(
                        "{}, {}: the sentences of a story, and how much of each hop's attention they have; • marks what the data name as support of the answer.",
                        net.label, data.label
                    ),
                    content: Content::Chart(map.svg()),
                }]
            }));
        }
    }
    Ok(groups)
}

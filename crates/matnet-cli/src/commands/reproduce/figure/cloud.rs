//! Hidden states of nets on graphs, in space.

use matnet_train::run::Plan;

use super::{Content, Drawn, Stage, Wish};
use crate::commands::report;
use crate::failure::Failure;

/// The last hidden states of the test nodes, from the first seed.
pub fn draw(stage: &mut Stage, wish: &Wish) -> Result<Vec<Vec<Drawn>>, Failure> {
    let mut groups = Vec::new();
    for (column, data) in stage.columns(wish) {
        for (row, net) in stage.rows(wish) {
            let Some((run, Plan::Nodes(work))) = stage.first(column, row)? else { continue };
            let title = format!("{} on {}: hidden states, by t-SNE", net.label, data.label);
            groups.push(vec![Drawn {
                name: stage.name(&[&data.name, &net.name]),
                caption: format!(
                    "{}: the last hidden states of the test nodes of {}, first seed, placed by t-SNE.",
                    net.label, data.label
                ),
                content: Content::Cloud(report::cloud(&run, &work, &title)?),
            }]);
        }
    }
    Ok(groups)
}

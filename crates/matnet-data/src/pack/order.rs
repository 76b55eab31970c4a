//! Orders of nodes that keep neighbours close together.

use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::{Error, Result, memory};

/// The order in which the nodes of a packed graph stand in its files.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum NodeOrder {
    /// As in the source.
    #[default]
    Natural,
    /// Reverse Cuthill–McKee: neighbours get numbers close to each other, so that rows and features that are needed together stand together.
    Rcm,
}

impl FromStr for NodeOrder {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "natural" => Ok(Self::Natural),
            "rcm" => Ok(Self::Rcm),
            _ => Err("natural or rcm expected".to_owned()),
        }
    }
}

/// The reverse Cuthill–McKee order: `order[place]` is the node that stands at `place`.
///
/// Each component is walked in breadth from a node of least degree, the neighbours of a node in order of their degrees; the whole order is
/// then reversed. `neighbors` appends those of a node. Besides what it returns, it takes five bytes per node.
///
/// ```
/// use matnet_data::pack::reverse_cuthill_mckee;
///
/// // A path whose nodes are numbered at random: 3 – 0 – 4 – 1 – 2.
/// let rows: [&[u32]; 5] = [&[3, 4], &[2, 4], &[1], &[0], &[0, 1]];
/// let degree = |node: u32| rows[node as usize].len();
/// let order = reverse_cuthill_mckee(5, degree, |node, into| {
///     into.extend_from_slice(rows[node as usize]);
///     Ok(())
/// })?;
/// assert_eq!(order, [3, 0, 4, 1, 2]);
/// # Ok::<(), matnet_data::Error>(())
/// ```
pub fn reverse_cuthill_mckee(
    nodes: usize,
    degree: impl Fn(u32) -> usize,
    mut neighbors: impl FnMut(u32, &mut Vec<u32>) -> Result<()>,
) -> Result<Vec<u32>> {
    let count = u32::try_from(nodes).map_err(|_| Error::Invalid(format!("{nodes} nodes; too many")))?;
    let mut order: Vec<u32> = memory::with_capacity(nodes, "the order of the nodes")?;
    let mut seen = memory::filled(false, nodes, "the order of the nodes")?;
    // Where a component may begin: all nodes, those of least degree first.
    let mut starts: Vec<u32> = memory::collect(0..count, "the order of the nodes")?;
    starts.sort_by_key(|&node| degree(node));
    let mut row = Vec::new();
    for start in starts {
        if std::mem::replace(&mut seen[start as usize], true) {
            continue;
        }
        let mut at = order.len();
        order.push(start);
        while at < order.len() {
            row.clear();
            neighbors(order[at], &mut row)?;
            let first = order.len();
            for &node in &row {
                if !std::mem::replace(&mut seen[node as usize], true) {
                    order.push(node);
                }
            }
            order[first..].sort_by_key(|&node| degree(node));
            at += 1;
        }
    }
    order.reverse();
    Ok(order)
}

/// The place of each node in an order; an error unless it holds every node once.
pub(super) fn places(order: &[u32]) -> Result<Vec<u32>, String> {
    const NONE: u32 = u32::MAX;
    let mut places = vec![NONE; order.len()];
    for (place, &node) in order.iter().enumerate() {
        match places.get_mut(node as usize) {
            Some(free) if *free == NONE => *free = place as u32,
            Some(_) => return Err(format!("node {node} stands in it twice")),
            None => return Err(format!("node {node}, where there are {}", order.len())),
        }
    }
    Ok(places)
}

#[cfg(test)]
mod tests {
    use matnet_random::SeededRng;

    use super::*;

    #[test]
    fn a_band_is_found_again_and_every_node_stands_once() {
        // A band of width 3 whose nodes are shuffled, and some nodes alone.
        let (nodes, width, alone) = (400, 3, 5);
        let mut names: Vec<u32> = (0..nodes as u32).collect();
        let mut rng = SeededRng::new(1, "names");
        for at in (1..nodes).rev() {
            names.swap(at, rng.below(at + 1));
        }
        let mut rows = vec![Vec::new(); nodes];
        for a in 0..nodes - alone {
            for b in a + 1..(a + width + 1).min(nodes - alone) {
                rows[names[a] as usize].push(names[b]);
                rows[names[b] as usize].push(names[a]);
            }
        }
        let order = reverse_cuthill_mckee(
            nodes,
            |node| rows[node as usize].len(),
            |node, into| {
                into.extend_from_slice(&rows[node as usize]);
                Ok(())
            },
        )
        .unwrap();
        let places = places(&order).unwrap();
        let bandwidth = |place: &dyn Fn(u32) -> u32| {
            let rows = rows.iter().enumerate();
            rows.flat_map(|(a, row)| row.iter().map(move |&b| place(a as u32).abs_diff(place(b))))
                .max()
                .unwrap()
        };
        assert!(bandwidth(&|node| node) > 300);
        assert!(bandwidth(&|node| places[node as usize]) <= 2 * width as u32);
        assert!(super::places(&[0, 0]).unwrap_err().contains("twice"));
        assert!(super::places(&[0, 2]).unwrap_err().contains("node 2"));
    }
}

//! Pieces of samples, for what is computed over all of them. Their borders depend on the data alone: whoever computes which piece, what is
//! put together from them has the same bits.

use std::ops::Range;

/// Numbers in a piece, unless one sample has more.
const NUMBERS: usize = 1 << 18;

/// Samples that are divided into pieces, one after another.
#[derive(Clone, Copy, Debug)]
pub struct Pieces {
    samples: usize,
    /// Samples in a piece.
    each: usize,
}

impl Pieces {
    /// Those of data of this shape, whose first axis counts the samples.
    pub fn of(shape: &[usize]) -> Self {
        let (samples, size) = (shape.first().copied().unwrap_or(0), shape.iter().skip(1).product::<usize>());
        Self { samples, each: (NUMBERS / size.max(1)).max(1) }
    }

    /// How many there are.
    pub fn count(&self) -> usize {
        self.samples.div_ceil(self.each)
    }

    /// The samples of a piece.
    pub fn samples(&self, piece: usize) -> Range<usize> {
        piece * self.each..((piece + 1) * self.each).min(self.samples)
    }

    /// Some samples by piece; in each, they stay in their order.
    pub fn group(&self, samples: &[usize]) -> Vec<Vec<usize>> {
        let mut groups = vec![Vec::new(); self.count()];
        for &at in samples {
            groups[at / self.each].push(at);
        }
        groups
    }
}

/// What is put together from pieces, two neighbours at a time: first pieces 0 and 1, 2 and 3, …, then these pairs, and so on. Where the
/// pieces are divided among several trees, what each has found can be put together to the same bits as in one.
#[derive(Clone, Debug, PartialEq)]
pub struct Tree<T> {
    nodes: Vec<Node<T>>,
}

/// What was found in so many pieces, a power of two, from `first` on, which is a multiple of it.
#[derive(Clone, Debug, PartialEq)]
pub struct Node<T> {
    /// The first piece.
    pub first: usize,
    /// The pieces.
    pub count: usize,
    /// What was found in them.
    pub found: T,
}

impl<T> Default for Tree<T> {
    fn default() -> Self {
        Self { nodes: Vec::new() }
    }
}

impl<T> Tree<T> {
    /// Adds what was found in the next pieces; `join` puts two neighbours together.
    pub fn push(&mut self, mut node: Node<T>, join: impl Fn(T, T) -> T) {
        while let Some(last) = self.nodes.pop_if(|last| {
            last.count == node.count
                && last.first + last.count == node.first
                && last.first.is_multiple_of(2 * last.count)
        }) {
            node = Node { first: last.first, count: 2 * last.count, found: join(last.found, node.found) };
        }
        self.nodes.push(node);
    }

    /// What has not been put together so far.
    pub fn nodes(&self) -> &[Node<T>] {
        &self.nodes
    }

    /// All of it put together; `None` if there was no piece.
    pub fn finish(self, join: impl Fn(T, T) -> T) -> Option<T> {
        self.nodes.into_iter().map(|node| node.found).reduce(join)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_are_whole_samples_and_cover_all() {
        for (shape, count) in [
            (vec![0, 4, 4], 0),
            (vec![1, 4, 4], 1),
            (vec![1000, 16, 16], 1),
            (vec![1025, 16, 16], 2),
            (vec![10, 4, 256, 256], 10),
            (vec![7, 0], 1),
            (vec![3, 1 << 20], 3),
        ] {
            let pieces = Pieces::of(&shape);
            assert_eq!(pieces.count(), count, "{shape:?}");
            let all: Vec<usize> = (0..count).flat_map(|piece| pieces.samples(piece)).collect();
            assert_eq!(all, (0..shape[0]).collect::<Vec<_>>(), "{shape:?}");
        }
        let groups = Pieces::of(&[9, 1 << 17]).group(&[8, 3, 2, 7, 0]);
        assert_eq!(groups, [vec![0], vec![3, 2], vec![], vec![7], vec![8]]);
    }

    /// Text that says what was put together with what.
    fn tree(pieces: Range<usize>) -> Tree<String> {
        let mut tree = Tree::default();
        pieces.for_each(|first| tree.push(Node { first, count: 1, found: first.to_string() }, join));
        tree
    }

    fn join(a: String, b: String) -> String {
        format!("({a} {b})")
    }

    #[test]
    fn pieces_are_put_together_in_the_same_way_whoever_has_them() {
        assert_eq!(tree(0..0).finish(join), None);
        assert_eq!(tree(0..7).finish(join).unwrap(), "((((0 1) (2 3)) (4 5)) 6)");
        for count in 1..40 {
            for ranks in 1..9 {
                let mut all = Tree::default();
                for rank in 0..ranks {
                    let own = tree(count * rank / ranks..count * (rank + 1) / ranks);
                    // Little is left of many pieces.
                    assert!(own.nodes().len() <= 10);
                    own.nodes().iter().for_each(|node| all.push(node.clone(), join));
                }
                assert_eq!(all.finish(join), tree(0..count).finish(join), "{count} pieces, {ranks} ranks");
            }
        }
    }
}

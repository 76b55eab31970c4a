//! Successive halving: all trials get a few epochs, the best third of them three times as many, and so on.

/// How many times more epochs, and fewer trials, each rung has than the one before.
pub const FACTOR: usize = 3;

/// The epochs of every rung: `min`, three times as many, …, `max`.
pub fn rungs(min: usize, max: usize) -> Vec<usize> {
    let mut rungs = Vec::new();
    let mut epochs = min.max(1);
    while epochs < max {
        rungs.push(epochs);
        epochs = epochs.saturating_mul(FACTOR);
    }
    rungs.push(max);
    rungs
}

/// The epochs of the first rung if the user does not say: three rungs where there are enough epochs.
pub fn default_min(max: usize) -> usize {
    max.div_ceil(FACTOR * FACTOR)
}

/// How a trial stands: its score and the tie-breaker, lower is better; `None` if it diverged.
pub type Standing = Option<(f64, f64)>;

/// Which of these trials go on to the next rung: the best third, at least one, in their order. Trials that diverged are the
/// worst, and do not go on; ties go to the first.
pub fn promoted(standings: &[(usize, Standing)]) -> Vec<usize> {
    let mut order: Vec<(usize, (f64, f64))> =
        standings.iter().filter_map(|(trial, standing)| Some((*trial, (*standing)?))).collect();
    order.sort_by(|(_, a), (_, b)| a.0.total_cmp(&b.0).then(a.1.total_cmp(&b.1)));
    let mut best: Vec<usize> =
        order.into_iter().take((standings.len() / FACTOR).max(1)).map(|(trial, _)| trial).collect();
    best.sort_unstable();
    best
}

/// The best of some trials; `None` if all diverged.
pub fn best(standings: &[(usize, Standing)]) -> Option<usize> {
    let alive = standings.iter().filter_map(|(trial, standing)| Some((*trial, (*standing)?)));
    alive.min_by(|(_, a), (_, b)| a.0.total_cmp(&b.0).then(a.1.total_cmp(&b.1))).map(|(trial, _)| trial)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rungs_grow_by_three() {
        assert_eq!(rungs(2, 20), [2, 6, 18, 20]);
        assert_eq!(rungs(3, 27), [3, 9, 27]);
        assert_eq!((rungs(5, 5), rungs(9, 5)), (vec![5], vec![5]));
        assert_eq!((default_min(27), default_min(20), default_min(1)), (3, 3, 1));
    }

    #[test]
    fn the_best_third_goes_on() {
        let at = |score: f64| Some((score, 1.0));
        let standings = [
            (0, at(0.5)),
            (1, at(0.1)),
            (2, None),
            (3, at(0.3)),
            (4, Some((0.3, 0.5))),
            (5, at(f64::INFINITY)),
        ];
        assert_eq!(promoted(&standings), [1, 4], "the lower loss breaks the tie");
        assert_eq!(promoted(&standings[..2]), [1]);
        assert_eq!(promoted(&[(7, None), (8, at(9.0))]), [8]);
        assert_eq!(promoted(&[(7, None)]), [0_usize; 0]);
        assert_eq!((best(&standings), best(&[(7, None)])), (Some(1), None));
        // Ties go to the first.
        assert_eq!(promoted(&[(3, at(1.0)), (4, at(1.0)), (5, at(1.0))]), [3]);
    }
}

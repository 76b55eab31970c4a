//! Splits in time: training first, then validation, then test.

use super::SplitFractions;
use crate::dataset::RowCounts;
use crate::{Error, Result, SplitIndices};

/// Splits samples that are ordered in time: the first are for training, the next for validation, the last for testing.
pub fn in_order(count: usize, fractions: SplitFractions) -> Result<SplitIndices> {
    let rows = RowCounts::by_fraction(count, fractions)?;
    let valid = rows.train + rows.valid;
    Ok(SplitIndices {
        train: (0..rows.train).collect(),
        valid: (rows.train..valid).collect(),
        test: (valid..count).collect(),
    })
}

impl RowCounts {
    /// All of `rows` rows by fraction.
    pub fn by_fraction(rows: usize, fractions: SplitFractions) -> Result<Self> {
        fractions.check()?;
        let (valid, test) = fractions.counts(rows);
        Ok(Self { train: rows - valid - test, valid, test })
    }

    /// The number of rows in use; fails if there are more than `rows`.
    pub fn check(&self, rows: usize) -> Result<usize> {
        let total = self.train.checked_add(self.valid).and_then(|sum| sum.checked_add(self.test));
        total.filter(|&total| total <= rows).ok_or_else(|| {
            let Self { train, valid, test } = self;
            Error::Invalid(format!(
                "{train} training, {valid} validation and {test} test rows: the table has {rows}"
            ))
        })
    }
}

/// Splits windows over a long table: window `i` reads the rows from `i` on, `window` of them, and predicts the next `horizon` rows.
///
/// A window belongs to the split that holds all rows that it predicts. Those that would predict rows of two splits are left out, so
/// that no training target is a validation or test row. The inputs of a validation or test window may reach back into the rows
/// before its split: at that time they are known. This is the usual protocol of the ETT tables.
pub fn chronological(window: usize, horizon: usize, rows: RowCounts) -> Result<SplitIndices> {
    if window == 0 || horizon == 0 {
        return Err(Error::Invalid(format!(
            "window {window} and horizon {horizon}: both must be at least 1"
        )));
    }
    rows.check(usize::MAX)?;
    let windows = |name: &str, from: usize, count: usize| {
        // predicted rows start in from..=from + count - horizon, and at `window` at the earliest
        let first = from.max(window);
        let end = (from + count + 1).saturating_sub(horizon);
        if count > 0 && first >= end {
            return Err(Error::Invalid(format!(
                "{count} {name} rows hold no window of {window} rows with {horizon} to predict"
            )));
        }
        Ok((first - window..end.saturating_sub(window).max(first - window)).collect())
    };
    Ok(SplitIndices {
        train: windows("training", 0, rows.train)?,
        valid: windows("validation", rows.train, rows.valid)?,
        test: windows("test", rows.train + rows.valid, rows.test)?,
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_usual_numbers_of_windows() {
        let months = RowCounts { train: 8640, valid: 2880, test: 2880 };
        // as printed by the programs of Informer and of its successors
        for (window, horizon, train, others) in
            [(96, 96, 8449, 2785), (336, 96, 8209, 2785), (96, 720, 7825, 2161)]
        {
            let split = chronological(window, horizon, months).unwrap();
            assert_eq!((split.train.len(), split.valid.len(), split.test.len()), (train, others, others));
        }
        let split = chronological(96, 96, months).unwrap();
        assert_eq!((split.valid[0] + 96, split.test[2784] + 192), (8640, 14_400));
    }

    #[test]
    fn impossible_requests_say_what_is_wrong() {
        let message = |window, horizon, train, valid| {
            chronological(window, horizon, RowCounts { train, valid, test: 0 }).unwrap_err().to_string()
        };
        assert_eq!(message(0, 5, 10, 0), "window 0 and horizon 5: both must be at least 1");
        assert_eq!(message(8, 3, 10, 0), "10 training rows hold no window of 8 rows with 3 to predict");
        assert_eq!(message(2, 3, 10, 2), "2 validation rows hold no window of 2 rows with 3 to predict");
        let rows = RowCounts { train: 5, valid: 4, test: 3 };
        assert_eq!(
            rows.check(11).unwrap_err().to_string(),
            "5 training, 4 validation and 3 test rows: the table has 11"
        );
        assert!(RowCounts { train: usize::MAX, valid: 1, test: 0 }.check(9).is_err());
    }

    #[test]
    fn samples_in_order() {
        let split = in_order(10, SplitFractions::new(0.2, 0.3).unwrap()).unwrap();
        assert_eq!((split.train, split.valid, split.test), (vec![0, 1, 2, 3, 4], vec![5, 6], vec![7, 8, 9]));
    }

    proptest! {
        #[test]
        fn no_target_lies_in_two_splits(
            window in 1usize..20, horizon in 1usize..20, train in 0usize..80, valid in 0usize..60, test in 0usize..60,
        ) {
            let rows = RowCounts { train, valid, test };
            let Ok(split) = chronological(window, horizon, rows) else { return Ok(()) };
            split.check(train + valid + test).unwrap();
            let borders = [0, train, train + valid, train + valid + test];
            for (part, windows) in [&split.train, &split.valid, &split.test].into_iter().enumerate() {
                for &start in windows {
                    prop_assert!(start + window >= borders[part] && start + window + horizon <= borders[part + 1]);
                }
                // and none is missing
                let starts = 0..(train + valid + test).saturating_sub(window + horizon - 1);
                let all = starts.filter(|s| s + window >= borders[part] && s + window + horizon <= borders[part + 1]);
                prop_assert_eq!(windows.len(), all.count());
            }
        }
    }
}

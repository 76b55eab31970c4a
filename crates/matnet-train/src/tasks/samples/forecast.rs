//! Forecasting: windows over one long table, split in the order of time.

use matnet_data::checksum::add_numbers;
use matnet_data::split::{self, RowCounts, SplitFractions};
use matnet_data::transform::missing::Fill;
use matnet_data::transform::windows::{WindowForm, WindowLevels, Windows};
use matnet_data::{Array, Dataset, SplitIndices, TableData, Target};
use sha2::{Digest, Sha256};

use super::{Inputs, Missing, Preprocess, SampleDataConfig, SplitRule};
use crate::run::checksummed::hex;
use crate::{Error, Result};

/// A table, and the rows of each split.
pub(super) struct Series {
    pub table: TableData,
    rows: RowCounts,
    windows: Windows,
}

/// Windows over a table, and what follows them.
pub(super) struct Forecast {
    /// `[n, window, columns, 1]`, with as many further columns for a mask of missing values.
    pub inputs: Inputs,
    /// `[n, horizon, columns, 1]`; 0 where a value is missing.
    pub target: Target,
    /// What was taken out of each window.
    pub levels: Option<WindowLevels>,
    /// Which target values are known, where some are missing.
    pub known: Option<Vec<bool>>,
}

/// Fails if a table holds a number that is not finite, unless it is missing and filled.
fn check_finite(table: &TableData, config: &SampleDataConfig) -> Result<()> {
    let filled = config.missing != Missing::Error;
    let odd = |x: &f32| !(x.is_finite() || filled && x.is_nan());
    let Some(at) = table.values.data().iter().position(odd) else { return Ok(()) };
    let (row, value) = (at / table.columns(), table.values.data()[at]);
    let what = format!("{}: row {row} holds {value}; finite numbers expected", config.source);
    Err(Error::data_key("data.source", what))
}

impl Series {
    /// The table of a dataset; fails if it holds something else. The config gets its defaults.
    pub fn new(dataset: Dataset, windows: Windows, config: &mut SampleDataConfig) -> Result<Self> {
        let table = dataset.into_table().map_err(|error| Error::DataKey { key: "data.window", error })?;
        check_finite(&table, config)?;
        *config = config.with_columns(&table.column_names);
        let rule = config.split.rule.unwrap_or(match table.split {
            Some(_) => SplitRule::Official,
            None => SplitRule::Chronological,
        });
        config.split.rule = Some(rule);
        if let Some(train) = config.split.train {
            let expected = "windows overlap, so that fewer of them are no smaller sample; leave it out";
            return Err(Error::config("data", "split.train", train.to_string(), expected));
        }
        let wrong = |error| Error::DataKey { key: "data.split", error };
        let rows = match (rule, table.split) {
            (SplitRule::Official, Some(rows)) => match config.split.test {
                None => rows,
                Some(test) => {
                    let expected = "the official test split decides it; leave it out, or choose another rule";
                    return Err(Error::config("data", "split.test", test.to_string(), expected));
                }
            },
            (SplitRule::Chronological, _) => {
                let test = *config.split.test.get_or_insert(super::divide::DEFAULT_TEST);
                let count = table.rows();
                let fractions = SplitFractions::new(config.split.valid.fraction(count), test.fraction(count))
                    .map_err(wrong)?;
                RowCounts::by_fraction(count, fractions).map_err(wrong)?
            }
            (SplitRule::Official, None) => {
                let expected = format!("{} has no official test split; leave the rule out", config.source);
                return Err(Error::config("data", "split.rule", "official", expected));
            }
            (other, _) => {
                let expected = "windows are split in the order of time: must be \"chronological\"";
                return Err(Error::config("data", "split.rule", other.name(), expected));
            }
        };
        rows.check(table.rows()).map_err(wrong)?;
        Ok(Self { table, rows, windows })
    }

    /// All rows of a table, for a trained net.
    pub fn whole(dataset: Dataset, windows: Windows, config: &SampleDataConfig) -> Result<Self> {
        let table = dataset.into_table()?;
        check_finite(&table, config)?;
        let rows = RowCounts { train: 0, valid: 0, test: table.rows() };
        Ok(Self { table, rows, windows })
    }

    /// The windows of each split.
    pub fn indices(&self) -> Result<SplitIndices> {
        let Windows { window, horizon } = self.windows;
        split::chronological(window, horizon, self.rows)
            .map_err(|error| Error::DataKey { key: "data.window", error })
    }

    /// Transforms fitted to the training rows.
    pub fn fit(&self, config: &SampleDataConfig) -> Result<Preprocess> {
        let (rows, columns) = (self.rows.train, self.table.columns());
        let known = self.table.values.data()[..rows * columns].to_vec();
        let mut series = Array::new([1, rows, columns, 1], known)?;
        let fill = match config.missing.method() {
            Some(method) => Some(Fill::fit(method, &series, &[], &[0])?),
            None => None,
        };
        if let Some(fill) = &fill {
            fill.apply(&mut series, &[])?;
        }
        let table = TableData::new(Array::new([rows, columns], series.into_data())?)?;
        let scaler = match config.scale.method() {
            Some(method) => Some(Windows::fit_scaler(method, &table, 0..rows)?),
            None => None,
        };
        Ok(Preprocess {
            row_step: self.table.row_step,
            fill,
            missing_mask: config.missing_mask,
            target_scaler: scaler.clone(),
            scaler,
            windows: Some(self.windows),
            normalize_window: config.normalize_window,
            ..Preprocess::default()
        })
    }

    /// The windows of all splits.
    pub fn samples(self, preprocess: &Preprocess) -> Result<Forecast> {
        let rows = self.rows.check(self.table.rows())?;
        let samples = self.windows.samples(&self.table, WindowForm::Sequence, rows)?;
        let (inputs, Target::Matrices(mut targets)) = (samples.inputs, samples.target) else {
            unreachable!("windows have matrices as targets");
        };
        let (inputs, levels) = preprocess.apply_to_windows(inputs)?;
        if let Some(scaler) = &preprocess.scaler {
            scaler.apply(&mut targets)?;
        }
        if let Some(levels) = &levels {
            levels.apply(&mut targets)?;
        }
        let missing = targets.data().iter().any(|x| x.is_nan());
        let known = missing.then(|| targets.data().iter().map(|x| !x.is_nan()).collect::<Vec<bool>>());
        if known.as_ref().is_some_and(|known| !known.contains(&true)) {
            return Err(Error::data_key("data.source", "all values that are to be predicted are missing"));
        }
        targets.data_mut().iter_mut().filter(|x| x.is_nan()).for_each(|x| *x = 0.0);
        Ok(Forecast { inputs: Inputs::Floats(inputs), target: Target::Matrices(targets), levels, known })
    }

    /// Over the table.
    pub fn checksum(&self) -> String {
        let mut sha = Sha256::new();
        sha.update(format!("table {:?}", self.table.values.shape()));
        add_numbers(&mut sha, self.table.values.data());
        hex(&sha.finalize())
    }
}

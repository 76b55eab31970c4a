//! The claims of the paper about its tables.

use serde::Deserialize;

use crate::metric::Metric;

/// The name of the mean over all rows.
pub const ALL: &str = "all";
/// The name of the published number.
pub const PUBLISHED: &str = "published";

/// What nets of matched size have nearly as many of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Matched {
    /// Parameters, which are what a large net costs.
    Parameters,
    /// Hidden units, which are what the paper compares by.
    Units,
}

impl Matched {
    /// Its name in descriptions and verdicts.
    pub fn name(self) -> &'static str {
        match self {
            Self::Parameters => "parameters",
            Self::Units => "hidden units",
        }
    }
}

/// A claim about a net, or about every size of a net. Exactly one of `better_than`, `better_than_on`, `below`, `above`,
/// `improves` and `worsens_after` says what is claimed.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Claim {
    pub says: String,
    /// A row, a variant with several rows, or `all` for the mean over all rows.
    pub of: String,
    /// Its columns; all by default.
    #[serde(default)]
    pub on: Vec<String>,
    /// What is compared; by default the first metric of the table.
    pub metric: Option<Metric>,
    /// Its best row is better than the best of these rows, or than the `published` number.
    pub better_than: Option<String>,
    /// Its best row is better than its best row on this other column.
    pub better_than_on: Option<String>,
    /// With `better_than`: every row is compared with the other row that is nearest in size, within a factor of two, and not the best
    /// with the best.
    pub matched: Option<Matched>,
    /// By how much it may be worse.
    #[serde(default)]
    pub(crate) within: f64,
    /// All its rows are at or below this.
    pub(crate) below: Option<f64>,
    /// With `below`: judged not by the mean, but by this fraction of the seeds at least.
    pub(crate) fraction: Option<f64>,
    /// Judged by the seed with the lowest training loss, not by the mean over the seeds.
    #[serde(default)]
    pub(crate) selected: bool,
    /// All its rows are above this.
    pub(crate) above: Option<f64>,
    /// From its smallest row to its largest, each is better than the one before.
    #[serde(default)]
    pub(crate) improves: bool,
    /// All its rows of more hidden units than this are worse than the row of this many.
    pub worsens_after: Option<usize>,
}

impl Claim {
    /// What is wrong with it, if it does not claim exactly one thing.
    pub fn mistake(&self) -> Option<String> {
        let kinds = [
            self.better_than.is_some(),
            self.better_than_on.is_some(),
            self.below.is_some(),
            self.above.is_some(),
            self.improves,
            self.worsens_after.is_some(),
        ];
        let other_rows = self.better_than.as_deref().is_some_and(|name| name != PUBLISHED);
        if self.matched.is_some() && (!other_rows || self.of == ALL) {
            return Some(format!(
                "claim `{}`: matched goes with better_than and the rows of two nets",
                self.says
            ));
        }
        (kinds.iter().filter(|given| **given).count() != 1).then(|| {
            format!(
                "claim `{}`: one of better_than, better_than_on, below, above, improves and worsens_after expected",
                self.says
            )
        })
    }
}

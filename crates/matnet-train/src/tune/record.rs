//! What a trial has reached, in a file of its run folder.

use serde::{Deserialize, Serialize};

use crate::run::{Run, files};
use crate::trainer::TrialScore;
use crate::{Error, Result};

const RECORD: &str = "trial.json";

/// The scores of a trial after every rung it was trained for.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Record {
    pub rungs: Vec<RungScore>,
    /// Where it diverged, if it did.
    pub diverged: Option<String>,
}

/// A score; the numbers as bits, since text would round them.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RungScore {
    pub epochs: usize,
    pub best_epoch: usize,
    #[serde(with = "crate::task::bits")]
    pub value: f64,
    #[serde(with = "crate::task::bits")]
    pub loss: f64,
}

impl From<TrialScore> for RungScore {
    fn from(TrialScore { epochs, best_epoch, value, loss }: TrialScore) -> Self {
        Self { epochs, best_epoch, value, loss }
    }
}

impl From<RungScore> for TrialScore {
    fn from(RungScore { epochs, best_epoch, value, loss }: RungScore) -> Self {
        Self { epochs, best_epoch, value, loss }
    }
}

impl Record {
    /// Of a run; empty if there is none.
    pub fn read(run: &Run) -> Result<Self> {
        let path = run.path(RECORD);
        match std::fs::read_to_string(&path) {
            Ok(text) => {
                serde_json::from_str(&text).map_err(|error| Error::damaged(path, format!("damaged: {error}")))
            }
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(Self::default()),
            Err(error) => Err(Error::io(path, error)),
        }
    }

    /// Writes it into the folder of the run.
    pub fn write(&self, run: &Run) -> Result<()> {
        let text = serde_json::to_string_pretty(self).expect("numbers and strings") + "\n";
        files::write(&run.path(RECORD), text.as_bytes())
    }
}

//! What a trial has reached, in a file of its run folder.

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::run::checksummed::hex;
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

/// The file: a record with its checksum, since a search chooses by it.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct RecordFile {
    record: Record,
    sha256: String,
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
        let Some(text) = files::read_text(&path)? else { return Ok(Self::default()) };
        let file: RecordFile = serde_json::from_str(&text)
            .map_err(|error| Error::damaged(&path, format!("damaged: {error}")))?;
        match file.sha256 == file.record.sha256() {
            true => Ok(file.record),
            false => Err(Error::damaged(path, "damaged or edited: its checksum does not match")),
        }
    }

    fn sha256(&self) -> String {
        hex(&Sha256::digest(serde_json::to_vec(self).expect("numbers and strings")))
    }

    /// Writes it into the folder of the run.
    pub fn write(&self, run: &Run) -> Result<()> {
        let file = RecordFile { record: self.clone(), sha256: self.sha256() };
        let text = serde_json::to_string_pretty(&file).expect("numbers and strings") + "\n";
        files::write(&run.path(RECORD), text.as_bytes())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_flipped_bit_is_detected() {
        let folder = tempfile::tempdir().unwrap();
        let run = Run::at(folder.path());
        let rung = RungScore { epochs: 3, best_epoch: 2, value: 0.25, loss: f64::INFINITY };
        let record = Record { rungs: vec![rung], diverged: Some("epoch 4".to_owned()) };
        record.write(&run).unwrap();
        assert_eq!(Record::read(&run).unwrap(), record);
        let good = std::fs::read(run.path(RECORD)).unwrap();
        for bit in 0..8 * good.len() {
            let mut bad = good.clone();
            bad[bit / 8] ^= 1 << (bit % 8);
            std::fs::write(run.path(RECORD), &bad).unwrap();
            // Blanks between the parts of a JSON text say nothing.
            assert!(Record::read(&run).is_err() || Record::read(&run).unwrap() == record, "bit {bit}");
        }
    }
}

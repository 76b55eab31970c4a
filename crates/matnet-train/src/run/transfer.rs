//! `from.json`: which weights of another run a run started from.

use serde::{Deserialize, Serialize};

use super::{Run, files};
use crate::{Error, Result};

/// The name of the file.
pub(super) const TRANSFER: &str = "from.json";

/// What a run took from the weights of another.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Transfer {
    /// The file.
    pub source: String,
    /// Its checksum.
    pub sha256: String,
    /// The parameters that were taken.
    pub taken: Vec<String>,
    /// Those that both have, in different shapes.
    pub other_shape: Vec<String>,
    /// Those that only this net has.
    pub new: Vec<String>,
    /// Those that only the file has.
    pub unused: Vec<String>,
}

impl Transfer {
    /// Of a run; `None` if it did not start from the weights of another.
    pub fn of(run: &Run) -> Result<Option<Self>> {
        let path = run.path(TRANSFER);
        let Some(text) = files::read_text(&path)? else { return Ok(None) };
        serde_json::from_str(&text)
            .map(Some)
            .map_err(|error| Error::damaged(path, format!("damaged: {error}")))
    }

    /// Writes it into the folder of a run.
    pub(crate) fn write(&self, run: &Run) -> Result<()> {
        let text = serde_json::to_string_pretty(self).expect("names") + "\n";
        files::write(&run.path(TRANSFER), text.as_bytes())
    }
}

impl std::fmt::Display for Transfer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let all = self.taken.len() + self.other_shape.len() + self.new.len();
        write!(f, "{} of {all} parameters taken from {}", self.taken.len(), self.source)?;
        for (what, names) in
            [("of another shape", &self.other_shape), ("new", &self.new), ("not used", &self.unused)]
        {
            if !names.is_empty() {
                write!(f, "; {what}: {}", names.join(", "))?;
            }
        }
        Ok(())
    }
}

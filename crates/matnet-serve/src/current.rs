//! The net that answers now.

use matnet_train::task::Interface;
use serde_json::Value;

use crate::refusal::{Allowed, Refusal};

/// What is known about the net that answers now.
pub struct Current {
    pub kind: &'static str,
    /// What it takes and gives; `None` for nets whose inputs are files, which the page takes.
    pub interface: Option<Interface>,
    /// The first digits of the checksum of the weights.
    pub version: String,
    pub epoch: usize,
    /// What `/v2/models/NAME` answers.
    pub metadata: Value,
}

impl Current {
    /// What the net takes and gives, unless its inputs are files.
    pub fn tensors(&self) -> Allowed<&Interface> {
        self.interface.as_ref().ok_or_else(|| {
            let what = "takes no tensors; drop a file on the page at /, or use `matnet predict`";
            Refusal::bad(format!("a {} {what}", self.kind))
        })
    }
}

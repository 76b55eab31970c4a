//! `matnet report`

use burn::tensor::Device;
use matnet_train::Run;
use matnet_train::run::Plan;

use crate::failure::Outcome;

/// Writes the report of a run.
pub fn write(_run: &Run, _plan: &Plan, _device: &Device) -> Outcome {
    Ok(())
}

//! Damaged run folders: loading, prediction, evaluation, reports and resuming must give errors, never panics.

#![no_main]

use libfuzzer_sys::fuzz_target;

#[path = "../../crates/matnet-train/tests/damaged_runs/mod.rs"]
mod damaged_runs;

fuzz_target!(|data: &[u8]| damaged_runs::try_input(data));

//! Arbitrary command lines, and arbitrary `--set` on every template.

#![no_main]

use libfuzzer_sys::fuzz_target;

#[path = "../../crates/matnet-cli/tests/any_arguments/mod.rs"]
mod any_arguments;

fuzz_target!(|data: &[u8]| any_arguments::try_input(data));

//! Nets with a memory.

mod controller;
mod turing;

pub use controller::{Controller, ControllerKind};
pub use turing::{Trace, TuringMachine, TuringMachineConfig};

//! Nets with a memory of their own to read from.

mod controller;
mod encoder;
mod end_to_end;
mod memory_network;
mod stories;
mod turing;

pub use controller::{Controller, ControllerKind};
pub use encoder::{Embedding, Encoding};
pub use end_to_end::{EndToEnd, EndToEndConfig, Heads, Tying};
pub use memory_network::{FactLoss, MemoryNetwork, MemoryNetworkConfig, Taught};
pub use stories::Stories;
pub use turing::{Trace, TuringMachine, TuringMachineConfig};

//! The `matnet` command.

fn main() {}

//! The `matnet` command as a library: its binary is one call, and other commands of the workspace share its parts.
//!
//! Exit codes: 0 done, 1 failed, 2 wrong usage or config, 130 interrupted. A reader that closes the pipe early has
//! what it wanted, so that counts as done.

#![forbid(unsafe_code)]

pub mod args;
mod cli;
mod commands;
mod degrees;
mod distributed;
pub mod failure;
pub mod interrupt;
mod picture;
pub mod progress;
pub mod screen;
pub mod together;

use std::process::ExitCode;

use clap::Parser;

/// Parses the command line of the process and runs the command.
pub fn main() -> ExitCode {
    main_from(std::env::args_os()).into()
}

/// Parses a command line, its first word being the command itself, and runs it. Returns the exit code.
pub fn main_from<I: IntoIterator<Item = T>, T: Into<std::ffi::OsString> + Clone>(args: I) -> u8 {
    interrupt::install();
    let cli = match cli::Cli::try_parse_from(args) {
        Ok(cli) => cli,
        Err(error) => {
            // Help goes to standard output; whoever read it may be gone. An error repeats what was typed.
            let plain = error.to_string();
            match screen::printable(&plain) == plain {
                true => drop(error.print()),
                false => say!("{}", plain.trim_end()),
            }
            return u8::try_from(error.exit_code()).unwrap_or(2);
        }
    };
    match commands::run(cli.command) {
        Ok(()) => 0,
        Err(failure) => failure.report(),
    }
}

/// Parses a command line without running it; its overrides of config keys. Arbitrary command lines are tried by `fuzz/`.
#[doc(hidden)]
pub fn parse<I: IntoIterator<Item = T>, T: Into<std::ffi::OsString> + Clone>(
    args: I,
) -> Result<Vec<String>, clap::Error> {
    Ok(match cli::Cli::try_parse_from(args)?.command {
        cli::Command::Train(train) => train.overrides.set,
        cli::Command::Compare(compare) => compare.overrides.set,
        cli::Command::Inspect(inspect) => inspect.overrides.set,
        cli::Command::Tune(tune) => tune.overrides.set,
        _ => Vec::new(),
    })
}

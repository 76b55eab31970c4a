//! `matnet completions` and `matnet man`: what the declaration of the command line is also good for.

use std::io::{self, Write};
use std::path::Path;

use clap::CommandFactory;

use crate::cli::{Cli, Completions, Man};
use crate::failure::Outcome;
use crate::screen::Screen;

/// Prints the completions of a shell.
pub fn completions(args: Completions) -> Outcome {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "matnet", &mut script);
    io::stdout().lock().write_all(&script)?;
    Ok(())
}

/// Writes a page per verb.
pub fn man(args: Man) -> Outcome {
    let failed = |error: io::Error| matnet_data::Error::io(&args.folder, error);
    std::fs::create_dir_all(&args.folder).map_err(failed)?;
    clap_mangen::generate_to(Cli::command(), &args.folder).map_err(failed)?;
    writeln!(Screen::lock(), "manual pages written; `man -l {}` shows the first", page(&args.folder))?;
    Ok(())
}

fn page(folder: &Path) -> String {
    folder.join("matnet.1").display().to_string()
}

//! `matnet new`

use std::io::{self, Write};
use std::path::Path;

use matnet_train::{registry, write_file};

use crate::cli::New;
use crate::failure::{Failure, Outcome};
use crate::screen::Screen;

/// Writes a commented config.
pub fn run(args: New) -> Outcome {
    let text = registry::get(&args.kind)?.template();
    let Some(path) = args.out else {
        io::stdout().lock().write_all(text.as_bytes())?;
        return Ok(());
    };
    if path.exists() && !args.force {
        let what = "exists already; --force overwrites it";
        return Err(Failure::Usage(format!("{}: {what}", path.display())));
    }
    write_file(&path, text.as_bytes())?;
    let mut out = Screen::lock();
    writeln!(out, "{} written; `matnet train {}` trains it", path.display(), quoted(&path))?;
    Ok(())
}

fn quoted(path: &Path) -> String {
    let text = path.display().to_string();
    if text.contains(' ') { format!("'{text}'") } else { text }
}

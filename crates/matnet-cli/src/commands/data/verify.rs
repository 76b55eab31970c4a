//! `matnet data verify`

use std::io::{self, Write};

use matnet_data::cache::Verdict;
use matnet_data::catalog::Source;

use crate::cli::Verify;
use crate::failure::{Failure, Outcome};
use crate::text;

/// Checks what is in the cache.
pub fn run(args: Verify) -> Outcome {
    let cache = super::cache(&args.cache)?;
    let mut out = io::stdout().lock();
    let (mut right, mut wrong, mut absent) = (0, Vec::new(), Vec::new());
    for dataset in super::chosen(&args.names)? {
        let verdicts = cache.verify(dataset)?;
        if matches!(dataset.source, Source::BuiltIn) {
            if !args.names.is_empty() {
                writeln!(out, "built in  {}", dataset.name)?;
            }
            continue;
        }
        if verdicts.is_empty() && !args.names.is_empty() {
            absent.push(dataset.name);
        }
        for (path, verdict) in verdicts {
            match verdict {
                Verdict::Right => {
                    right += 1;
                    writeln!(out, "right     {}", path.display())?;
                }
                Verdict::Unknown(sum) => {
                    writeln!(out, "unknown   {}: nothing to compare with, SHA-256 {sum}", path.display())?
                }
                Verdict::Wrong(what) => {
                    writeln!(out, "wrong     {}: {what}", path.display())?;
                    wrong.push(path);
                }
            }
        }
    }
    if !absent.is_empty() {
        let names = absent.join(", ");
        return Err(Failure::Failed(format!("not in {}: {names}", cache.root().display())));
    }
    match wrong.len() {
        0 => writeln!(out, "{} right", text::counted(right, "file")).map_err(Failure::from),
        count => {
            Err(Failure::Failed(format!("{} wrong: remove and fetch again", text::counted(count, "file"))))
        }
    }
}

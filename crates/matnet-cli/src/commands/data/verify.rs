//! `matnet data verify`

use std::io::Write;

use matnet_data::catalog::{Origin, Verdict};

use crate::cli::Verify;
use crate::failure::{Failure, Outcome};
use crate::screen::Screen;
use matnet_report::text;

/// Checks what is in the cache.
pub fn run(args: Verify) -> Outcome {
    let cache = args.cache.cache()?;
    let mut out = Screen::lock();
    let (mut right, mut wrong, mut absent) = (0, Vec::new(), Vec::new());
    for dataset in super::chosen(&args.names)? {
        let verdicts = cache.verify(dataset)?;
        if dataset.origin == Origin::BuiltIn {
            if !args.names.is_empty() {
                writeln!(out, "built in    {}", dataset.name)?;
            }
            continue;
        }
        if verdicts.is_empty() && !args.names.is_empty() {
            absent.push(dataset.name);
        }
        for (path, verdict) in verdicts {
            match verdict {
                Verdict::Verified => {
                    right += 1;
                    writeln!(out, "verified    {}", path.display())?;
                }
                Verdict::Unverified(sum) => writeln!(
                    out,
                    "unverified  {}: no checksum to compare with, SHA-256 {sum}",
                    path.display()
                )?,
                Verdict::Mismatch(what) => {
                    writeln!(out, "mismatch    {}: {what}", path.display())?;
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
        0 => writeln!(out, "{} verified", text::counted(right, "file")).map_err(Failure::from),
        count => Err(Failure::Failed(format!(
            "{} with a mismatch: remove and fetch again",
            text::counted(count, "file")
        ))),
    }
}

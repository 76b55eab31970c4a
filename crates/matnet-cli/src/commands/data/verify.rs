//! `matnet data verify`

use std::io::Write;

use matnet_data::Error;
use matnet_data::catalog::{Origin, Verdict};
use matnet_data::pack::PackedGraph;
use matnet_report::text;

use crate::cli::Verify;
use crate::failure::{Failure, Outcome};
use crate::interrupt;
use crate::screen::Screen;

/// Checks what is in the cache.
pub fn run(args: Verify) -> Outcome {
    let cache = args.cache.cache()?;
    let mut out = Screen::lock();
    let (mut right, mut wrong, mut absent) = (0, Vec::new(), Vec::new());
    let (packed, names): (Vec<String>, Vec<String>) =
        args.names.iter().cloned().partition(|name| PackedGraph::is_packed(name));
    interrupt::watch();
    for folder in &packed {
        let graph = PackedGraph::open(folder)?;
        let differing = graph.verify(&mut |_| match interrupt::asked() {
            true => Err(Error::Interrupted),
            false => Ok(()),
        })?;
        right += graph.header().files.len() - differing.len();
        for (path, what) in differing {
            writeln!(out, "mismatch    {}: {what}", path.display())?;
            wrong.push(path);
        }
        writeln!(
            out,
            "checked     {folder}: a packed graph of {}",
            text::counted(graph.header().nodes, "node")
        )?;
    }
    // Without any name all datasets are meant.
    let chosen = if names.is_empty() && !packed.is_empty() { Vec::new() } else { super::chosen(&names)? };
    for dataset in chosen {
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
        count => {
            let again = if packed.is_empty() { "fetch" } else { "fetch or pack" };
            let files = text::counted(count, "file");
            Err(Failure::Failed(format!("{files} with a mismatch: remove and {again} again")))
        }
    }
}

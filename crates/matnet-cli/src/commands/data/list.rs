//! `matnet data list`

use std::io::{self, Write};

use matnet_data::catalog::{Cache, Check, DatasetInfo, Origin};

use crate::cli::List;
use crate::failure::Outcome;
use crate::screen::Screen;
use matnet_report::text;

/// Lists the datasets.
pub fn run(args: List) -> Outcome {
    let cache = args.cache.cache()?;
    let datasets = super::chosen(&args.names)?;
    let mut out = Screen::lock();
    let width = datasets.iter().map(|dataset| dataset.name.len()).max().unwrap_or(0);
    for dataset in datasets {
        writeln!(out, "{:width$}  {:9}  {}", dataset.name, state(dataset, &cache), dataset.about)?;
        if args.long {
            details(&mut out, dataset, &cache)?;
        }
    }
    writeln!(out, "\ncache: {}", cache.root().display())?;
    Ok(())
}

/// Whether a dataset can be used right now.
fn state(dataset: &DatasetInfo, cache: &Cache) -> &'static str {
    match dataset.origin {
        Origin::BuiltIn => "built in",
        _ if cache.locate(dataset).is_some() => "available",
        Origin::Generated => "generated",
        _ if dataset.files().is_empty() && dataset.derived_from.is_none() => "not here",
        Origin::Repository | Origin::Download => "to fetch",
    }
}

fn details(out: &mut impl Write, dataset: &DatasetInfo, cache: &Cache) -> io::Result<()> {
    writeln!(out, "    home   {}", dataset.home)?;
    writeln!(out, "    terms  {}", dataset.terms)?;
    for file in dataset.files() {
        let here = if cache.path(dataset, file).is_file() { ", here" } else { "" };
        writeln!(out, "    file   {}{here}: {}", file.name, checks(&file.checks))?;
        for url in &file.urls {
            writeln!(out, "           {url}")?;
        }
    }
    Ok(())
}

fn checks(checks: &[Check]) -> String {
    let known = checks.iter().map(|check| match check {
        Check::File { sha256, size } => format!("{}, SHA-256 {sha256}", text::bytes(*size)),
        Check::Unpacked { sha256, size } => {
            format!("{} unpacked, SHA-256 of that {sha256}", text::bytes(*size))
        }
        Check::Md5 { md5 } => format!("MD5 {md5}"),
        Check::Members(members) => format!("SHA-256 of its {} known", text::counted(members.len(), "file")),
        Check::Folder { folder, files, .. } => format!("SHA-256 of the {files} texts in {folder}/ known"),
        Check::MatlabVariable { name, sha256 } => format!("SHA-256 of variable {name} {sha256}"),
        Check::FirstSeen => "no published checksum; that of the first download is kept".into(),
    });
    known.collect::<Vec<_>>().join(", or ")
}

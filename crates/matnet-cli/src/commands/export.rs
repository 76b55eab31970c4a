//! `matnet export`

use std::io::Write;

use matnet_onnx::{Error, Options};
use matnet_train::Run;

use crate::args::require_ending;
use crate::cli::Export;
use crate::failure::{Failure, Outcome};
use crate::screen::Screen;

/// Writes a trained net as ONNX.
pub fn run(args: Export) -> Outcome {
    require_ending("--onnx", &args.onnx, &["onnx"], "")?;
    let run = Run::at(&args.run);
    let mut options = Options::default();
    options.lengths = args.lengths.then_some(true);
    matnet_onnx::write(&args.onnx, &run, args.weights.file(), &options).map_err(|error| match error {
        Error::Run(error) => error.into(),
        refused => Failure::Usage(format!("{}: {refused}", args.run.display())),
    })?;
    if !args.quiet {
        let mut out = Screen::lock();
        writeln!(out, "{} written, opset {}", args.onnx.display(), matnet_onnx::OPSET)?;
    }
    Ok(())
}

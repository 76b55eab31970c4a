//! What `matnet eval` does with a run that learnt a program.

use std::io::{self, Write};

use burn::tensor::Device;
use matnet_train::Run;
use matnet_train::program::{self, BitScore, ProgramData, Size};
use serde::Serialize;

use super::eval::{About, columns, part, same_data, unfinished};
use crate::cli::Eval;
use crate::failure::{Failure, Outcome};
use crate::text;

/// Measures a trained net, at every length that was asked for.
pub fn eval(args: &Eval, run: &Run, device: &Device) -> Outcome {
    if args.data.is_some() {
        let what = "--data: the sequences of a program are drawn; --length asks for others than the run's";
        return Err(Failure::Usage(what.to_owned()));
    }
    let trained = run.trained_program(args.weights.file(), device)?;
    let (document, part) = (run.document()?, part(args));
    let (config, train) = (program::data_config(&document)?, document.train()?);
    let asked = !args.length.is_empty() || args.repeats.is_some();
    if asked && args.part != "test" {
        return Err(Failure::Usage("--length, --repeats: only the test part has one length".to_owned()));
    }
    let lengths = match args.length.is_empty() {
        true => vec![config.test_size().length],
        false => args.length.clone(),
    };
    let mut found = Vec::new();
    for length in lengths {
        let mut config = config.clone();
        config.test_length = Some(length);
        config.test_repeats = args.repeats.or(config.test_repeats);
        let data = ProgramData::new(&config)?;
        if !asked {
            same_data(run, &data.checksum, config.source.word())?;
        }
        let task = trained.task(data, &train)?;
        let Some(score) = task.score(&trained.net, part, device) else {
            return Err(Failure::Usage(format!(
                "--part {}: this part of the run's data is empty",
                part.name()
            )));
        };
        found.push((config.test_size(), score));
    }
    unfinished(run, trained.note.epoch)?;
    let about = About::new(args, trained.note.epoch, config.source.word().to_owned());
    let mut out = io::stdout().lock();
    match args.json {
        true => json(&mut out, about, &found),
        false => words(&mut out, &about, &found),
    }?;
    Ok(())
}

fn json(out: &mut impl Write, about: About, found: &[(Size, BitScore)]) -> io::Result<()> {
    #[derive(Serialize)]
    struct Line {
        length: usize,
        repeats: usize,
        #[serde(flatten)]
        score: BitScore,
        wrong_per_sequence: f64,
    }
    #[derive(Serialize)]
    struct Whole {
        #[serde(flatten)]
        about: About,
        lengths: Vec<Line>,
    }
    let line = |&(Size { length, repeats }, score): &(Size, BitScore)| Line {
        length,
        repeats,
        score,
        wrong_per_sequence: score.wrong_per_sequence(),
    };
    let lengths = found.iter().map(line).collect();
    serde_json::to_writer_pretty(&mut *out, &Whole { about, lengths })?;
    writeln!(out)
}

fn words(out: &mut impl Write, about: &About, found: &[(Size, BitScore)]) -> io::Result<()> {
    writeln!(out, "{}\n", about.sentence())?;
    let repeated = found.iter().any(|(size, _)| size.repeats > 1);
    let mut rows = vec![Vec::new()];
    let titles =
        ["length", "repeats", "sequences", "loss", "wrong bits", "of", "per sequence", "without one"];
    rows[0].extend(titles.map(str::to_owned));
    for (size, score) in found {
        rows.push(vec![
            if about.is_test() { text::count(size.length) } else { "any".to_owned() },
            if about.is_test() { text::count(size.repeats) } else { "any".to_owned() },
            text::count(score.sequences),
            text::number(score.loss),
            text::count(score.wrong as usize),
            text::count(score.bits as usize),
            format!("{:.2}", score.wrong_per_sequence()),
            text::count(score.faultless),
        ]);
    }
    if !repeated {
        rows.iter_mut().for_each(|row| drop(row.remove(1)));
    }
    columns(out, &rows)
}

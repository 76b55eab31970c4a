//! `matnet new`

use std::io::{self, Write};
use std::path::Path;

use matnet_train::graph::GRAPH_KINDS;
use matnet_train::stories::STORY_KINDS;

use crate::cli::New;
use crate::failure::{Failure, Outcome};

/// Writes a commented config.
pub fn run(args: New) -> Outcome {
    let text = template(args.kind.word());
    let Some(path) = args.out else {
        io::stdout().lock().write_all(text.as_bytes())?;
        return Ok(());
    };
    if path.exists() && !args.force {
        let what = "is there already; --force overwrites it";
        return Err(Failure::Usage(format!("{}: {what}", path.display())));
    }
    matnet_train::write_file(&path, text.as_bytes())?;
    let mut out = io::stdout().lock();
    writeln!(out, "{} written; `matnet train {}` trains it", path.display(), show(&path))?;
    Ok(())
}

fn show(path: &Path) -> String {
    let text = path.display().to_string();
    if text.contains(' ') { format!("'{text}'") } else { text }
}

/// The config of a kind of net, on data that ship with matnet where there are such.
pub fn template(kind: &str) -> String {
    if kind == "turing-machine" {
        return include_str!("../../templates/turing-machine.toml").to_owned();
    }
    let (what, source, note, model) = match kind {
        "autoencoder" => (
            "Matrices that are to come out as they went in.",
            "faces",
            "a dataset's name (`matnet data list`) or a path",
            include_str!("../../templates/autoencoder.toml"),
        ),
        "sequence-classifier" => (
            "A class for a sequence of matrices.",
            "motions",
            "a dataset's name (`matnet data list`) or a path",
            include_str!("../../templates/sequence-classifier.toml"),
        ),
        "sequence-labeller" => (
            "A class or a matrix for every step of a sequence.",
            "mine.npz",
            "x [n, time, rows, cols] and y [n, time] or [n, time, r, c]",
            include_str!("../../templates/sequence-labeller.toml"),
        ),
        "seq2seq" => (
            "From the first matrices of a sequence to those that follow.",
            "motions",
            "a dataset's name (`matnet data list`) or a path",
            include_str!("../../templates/seq2seq.toml"),
        ),
        "column-net" => (
            "A class for every node of a graph, from what its neighbours say.",
            "citations",
            "a dataset's name (`matnet data list`), an .npz, or a folder with edges and nodes",
            include_str!("../../templates/column-net.toml"),
        ),
        "gcn" => (
            "A class for every node of a graph, by graph convolutions.",
            "citations",
            "a dataset's name (`matnet data list`), an .npz, or a folder with edges and nodes",
            include_str!("../../templates/gcn.toml"),
        ),
        "chebyshev" => (
            "A class for every node of a graph, by polynomials of its Laplacian.",
            "citations",
            "a dataset's name (`matnet data list`), an .npz, or a folder with edges and nodes",
            include_str!("../../templates/chebyshev.toml"),
        ),
        "memory-network" => (
            "The answer to a question about a story, from the sentences that support it.",
            "stories",
            "babi, stories, or a path: bAbI's folder, or a text file",
            include_str!("../../templates/memory-network.toml"),
        ),
        "end-to-end-memory" => (
            "The answer to a question about a story, read hop by hop.",
            "stories",
            "babi, stories, or a path: bAbI's folder, or a text file",
            include_str!("../../templates/end-to-end-memory.toml"),
        ),
        _ => (
            "A class for a matrix, or a matrix for a matrix.",
            "digits",
            "a dataset's name (`matnet data list`) or a path",
            include_str!("../../templates/feedforward.toml"),
        ),
    };
    if STORY_KINDS.contains(&kind) {
        // How they are trained differs too much to be shared.
        let data = include_str!("../../templates/story-data.toml");
        return assembled(what, source, note, &format!("{data}{model}"));
    }
    let graph = GRAPH_KINDS.contains(&kind);
    let own = match kind {
        "seq2seq" => {
            "past = 80                   # matrices that are given; the others are to be predicted\n"
        }
        "autoencoder" => {
            "# patch = [5, 5]            # a black patch on every validation and test matrix, to be filled in\n"
        }
        _ => "",
    };
    let (data, train) = match graph {
        true => (
            include_str!("../../templates/graph-data.toml"),
            include_str!("../../templates/graph-train.toml"),
        ),
        false => (include_str!("../../templates/data.toml"), include_str!("../../templates/train.toml")),
    };
    assembled(what, source, note, &format!("{own}{data}{model}{train}"))
}

fn assembled(what: &str, source: &str, note: &str, rest: &str) -> String {
    let quoted = format!("\"{source}\"");
    format!("# {what}\n\n[data]\nsource = {quoted:<18} # {note}\n{rest}")
}

//! Any command line is parsed or refused, without a panic.

mod any_arguments;

use matnet_data::random::SeededRng;

/// How many are tried, unless `MATNET_ARGUMENT_TRIES` says.
const TRIES: usize = 3000;

/// What command lines and overrides are made of.
const WORDS: [&str; 46] = [
    "train",
    "compare",
    "eval",
    "predict",
    "inspect",
    "report",
    "serve",
    "new",
    "data",
    "fetch",
    "list",
    "show",
    "verify",
    "man",
    "completions",
    "bash",
    "--set",
    "--out",
    "--seeds",
    "--length",
    "--listen",
    "--variant",
    "--threads",
    "--timeout",
    "-q",
    "--",
    "-1",
    "3,9",
    "feedforward",
    "x.toml",
    "\u{202e}\u{1b}[31m",
    "",
    "model.hidden=[5, 5]",
    "model.hidden=[[",
    "train.epochs=1e99",
    "train.learning_rate_multipliers.a=0",
    "data.split.valid=\"20%\"",
    "variant.../x.train.seed=3",
    "variant.a.model.kind=gcn",
    "=",
    "a.b.c.d.e.f=1",
    "train=3",
    "[train]",
    "seed = 18446744073709551616",
    "model.kind = [",
    "train.schedule=step",
];

#[test]
fn any_arguments_are_parsed_or_refused() {
    let tries = std::env::var("MATNET_ARGUMENT_TRIES").ok().and_then(|tries| tries.parse().ok());
    let mut rng = SeededRng::new(1, "arguments");
    for _ in 0..tries.unwrap_or(TRIES) {
        let mut input = vec![rng.below(256) as u8];
        for _ in 0..rng.below(8) {
            input.extend(WORDS[rng.below(WORDS.len())].bytes());
            if rng.below(4) == 0 {
                input.push(rng.below(256) as u8);
            }
            input.push(b'\n');
        }
        any_arguments::try_input(&input);
    }
}

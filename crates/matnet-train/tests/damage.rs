//! A run with any damaged file is used, resumed or refused, without a panic.

mod damaged_runs;

use matnet::random::SeededRng;

/// How many inputs are tried, unless `MATNET_DAMAGE_TRIES` says.
const TRIES: usize = 2000;

/// Pieces that random bytes would not hit upon.
const WORDS: [&str; 14] = [
    "0",
    "-1",
    "1e300",
    "nan",
    "\"\"",
    "[]",
    "[[]]",
    "{}",
    "null",
    "true",
    "99999999999999999999",
    "\n",
    "= 0\n",
    "[1, 0]",
];

#[test]
fn damage_is_an_error() {
    let tries = std::env::var("MATNET_DAMAGE_TRIES").ok().and_then(|tries| tries.parse().ok());
    let mut rng = SeededRng::new(1, "damage");
    for _ in 0..tries.unwrap_or(TRIES) {
        // Every file of every run, edited more often than replaced.
        let how = u8::from(rng.below(8) > 0) + 2 * rng.below(2) as u8;
        let mut input = vec![rng.below(24) as u8, how];
        for _ in 0..1 + rng.below(3) {
            let word = match rng.below(3) {
                0 => vec![rng.below(256) as u8],
                _ => WORDS[rng.below(WORDS.len())].bytes().take(15).collect(),
            };
            input.extend([rng.below(256) as u8, rng.below(256) as u8, rng.below(12) as u8, word.len() as u8]);
            input.extend(word);
        }
        damaged_runs::try_input(&input);
    }
}

//! Times the loading of real data: `cargo run --release -p matnet-data --example time_loading -- mnist DIR`, or
//! `eeg TREE`, `eeg-cached TREE CACHE`, `eeg-compare TREE NPZ_DIR`.

use std::time::Instant;

use matnet_data::catalog::readers::{eeg, mnist};

fn main() -> matnet_data::Result<()> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let start = Instant::now();
    match &args.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["mnist", dir] => {
            let train = mnist::load(dir, mnist::MnistSplit::Train)?;
            let test = mnist::load(dir, mnist::MnistSplit::Test)?;
            println!("{} + {} digits", train.inputs.len(), test.inputs.len());
        }
        ["eeg", tree] => tell(&eeg::load(tree, eeg::EegSelection::Official)?),
        ["eeg-cached", tree, cache] => tell(&eeg::load_cached(tree, eeg::EegSelection::Official, cache)?),
        ["eeg-compare", tree, other] => {
            let (raw, compact) = (
                eeg::load(tree, eeg::EegSelection::Official)?,
                eeg::load(other, eeg::EegSelection::Official)?,
            );
            let pairs = || raw.inputs.data().iter().zip(compact.inputs.data());
            let differing = pairs().filter(|(a, b)| a != b).count();
            let most = pairs().map(|(a, b)| (a - b).abs()).fold(0.0, f32::max);
            println!(
                "trials equal: {}; values that differ: {differing}, by at most {most}",
                raw.trials == compact.trials
            );
        }
        _ => println!("mnist DIR | eeg TREE | eeg-cached TREE CACHE | eeg-compare TREE NPZ_DIR"),
    }
    println!("{:.3} s", start.elapsed().as_secs_f64());
    Ok(())
}

fn tell(eeg: &eeg::EegData) {
    let (skipped, repeated) = (eeg.report.skipped.len(), eeg.report.repeated.len());
    println!("{} trials, {skipped} skipped, {repeated} repeated", eeg.trials.len());
}

//! Writes the files that fuzzing starts from: `cargo run --release -p matnet-data --example fuzz_seeds -- fuzz/seeds`.

#[allow(dead_code)]
#[path = "../tests/seeds/mod.rs"]
mod seeds;

fn main() -> std::io::Result<()> {
    let root = std::path::PathBuf::from(std::env::args().nth(1).unwrap_or_else(|| "fuzz/seeds".into()));
    for seed in seeds::all() {
        seeds::run(seed.target, &seed.bytes).map_err(std::io::Error::other)?;
        let folder = root.join(seed.target);
        std::fs::create_dir_all(&folder)?;
        std::fs::write(folder.join(seed.name), &seed.bytes)?;
    }
    Ok(())
}

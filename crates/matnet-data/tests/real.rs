//! The catalog against the real files, found through `MATNET_DATA`.

use std::ops::ControlFlow;
use std::time::Instant;

use matnet_data::catalog::{self, Cache, FetchOptions, FetchProgress, LoadOptions, Verdict, fetch, load};
use matnet_data::{Samples, Target};

/// The cache with real data; a missing one is reported.
fn real(test: &str) -> Option<Cache> {
    match std::env::var_os("MATNET_DATA") {
        Some(root) => Some(Cache::new(root)),
        None => {
            println!("SKIPPED: {test}: MATNET_DATA is not set");
            None
        }
    }
}

fn samples(cache: &Cache, name: &str) -> Samples {
    load(name, cache, LoadOptions { seed: 0, sequences: 12 }).unwrap().into_samples().unwrap()
}

#[test]
fn every_file_that_is_there_passes_its_check() {
    let Some(cache) = real("every_file_that_is_there_passes_its_check") else { return };
    let mut checked = 0;
    for dataset in catalog::all() {
        for (path, verdict) in cache.verify(dataset).unwrap() {
            assert_eq!(verdict, Verdict::Verified, "{}", path.display());
            checked += 1;
        }
    }
    println!("{checked} files are right");
    assert!(checked > 0, "MATNET_DATA holds none of the datasets");
}

#[test]
fn present_files_are_not_fetched_again() {
    let Some(cache) = real("present_files_are_not_fetched_again") else { return };
    for name in [
        "mnist",
        "frey-face",
        "uci-eeg",
        "cora",
        "linqs-cora",
        "babi",
        "natops",
        "japanese-vowels",
        "etth1",
        "tolokers",
    ] {
        let dataset = catalog::get(name).unwrap();
        if cache.locate(dataset).is_none() {
            println!("SKIPPED: {name} is not in MATNET_DATA");
            continue;
        }
        let mut present = 0;
        fetch(dataset, &cache, &FetchOptions::default(), &mut |progress| {
            assert!(matches!(progress, FetchProgress::Present(_)), "{progress:?}");
            present += 1;
            ControlFlow::Continue(())
        })
        .unwrap();
        assert!(present > 0);
    }
}

#[test]
fn names_lead_to_the_published_sizes() {
    let Some(cache) = real("names_lead_to_the_published_sizes") else { return };
    for (name, shape, classes) in [
        ("mnist", &[70_000, 28, 28][..], 10),
        ("frey-face", &[1965, 28, 20], 0),
        ("moving-mnist", &[12, 20, 64, 64], 0),
        ("uci-eeg", &[1176, 64, 256], 2),
        ("articulary-word-recognition", &[575, 144, 9, 1], 25),
        ("epilepsy", &[275, 206, 3, 1], 4),
        ("finger-movements", &[416, 50, 28, 1], 2),
        ("hand-movement-direction", &[234, 400, 10, 1], 4),
        ("japanese-vowels", &[640, 29, 12, 1], 9),
        ("natops", &[360, 51, 24, 1], 6),
        ("self-regulation-scp2", &[380, 1152, 7, 1], 2),
    ] {
        let needed = if name == "moving-mnist" { "mnist" } else { name };
        if cache.locate(catalog::get(needed).unwrap()).is_none() {
            println!("SKIPPED: {name} is not in MATNET_DATA");
            continue;
        }
        let start = Instant::now();
        let samples = samples(&cache, name);
        println!("{name} loaded in {:?}", start.elapsed());
        assert_eq!(samples.inputs.shape(), shape, "{name}");
        let names = match &samples.target {
            Target::Classes { names, .. } => names.len(),
            _ => 0,
        };
        assert_eq!(names, classes, "{name}");
    }
    for (name, nodes, features, split) in [
        ("cora", 2708, 1433, (140, 500, 1000)),
        ("citeseer", 3327, 3703, (120, 500, 1000)),
        ("pubmed", 19_717, 500, (60, 500, 1000)),
        ("linqs-cora", 2708, 1433, (0, 0, 0)),
        ("coauthor-cs", 18_333, 6805, (0, 0, 0)),
        ("amazon-photo", 7650, 745, (0, 0, 0)),
        ("tolokers", 11_758, 10, (5879, 2939, 2940)),
    ] {
        if cache.locate(catalog::get(name).unwrap()).is_none() {
            println!("SKIPPED: {name} is not in MATNET_DATA");
            continue;
        }
        let graph = load(name, &cache, LoadOptions::default()).unwrap().into_graph().unwrap();
        assert_eq!(graph.features.shape(), [nodes, features], "{name}");
        let public = graph.splits.into_iter().next().unwrap_or_default();
        assert_eq!((public.train.len(), public.valid.len(), public.test.len()), split, "{name}");
    }
    for name in ["etth1", "etth2"] {
        if cache.locate(catalog::get(name).unwrap()).is_none() {
            println!("SKIPPED: {name} is not in MATNET_DATA");
            continue;
        }
        let table = load(name, &cache, LoadOptions::default()).unwrap().into_table().unwrap();
        assert_eq!((table.values.shape(), table.column_names.len()), (&[17_420, 7][..], 7));
    }
    if let Ok(babi) = load("babi", &cache, LoadOptions::default()) {
        assert_eq!(babi.into_stories().unwrap().tasks.len(), 20);
    }
}

#[test]
fn every_trial_becomes_a_sequence_of_spectra() {
    let Some(cache) = real("every_trial_becomes_a_sequence_of_spectra") else { return };
    if cache.locate(catalog::get("uci-eeg").unwrap()).is_none() {
        println!("SKIPPED: uci-eeg is not in MATNET_DATA");
        return;
    }
    let trials = samples(&cache, "uci-eeg");
    let start = Instant::now();
    let spectra = matnet_data::transform::stft::Stft::default().apply(&trials.inputs).unwrap();
    println!("{} trials transformed in {:?}", trials.inputs.len(), start.elapsed());
    assert_eq!(spectra.shape(), [1176, 25, 64, 32]);
    assert!(spectra.data().iter().all(|x| x.is_finite() && *x >= 0.0));

    let mut rng = matnet_data::random::SeededRng::new(0, "split");
    let fractions = matnet_data::split::SplitFractions::new(0.2, 0.2).unwrap();
    let split = matnet_data::split::within_groups(&trials.groups, fractions, &mut rng).unwrap();
    split.check(1176).unwrap();
    assert_eq!(split.train.len() + split.valid.len() + split.test.len(), 1176);
}

#[test]
fn moving_digits_are_generated_faster_than_they_are_used() {
    let Some(cache) = real("moving_digits_are_generated_faster_than_they_are_used") else { return };
    let dataset = catalog::get("mnist").unwrap();
    let Some(found) = cache.locate(dataset) else {
        println!("SKIPPED: mnist is not in MATNET_DATA");
        return;
    };
    use matnet_data::catalog::readers::mnist::{self, MnistSplit};
    let digits = mnist::load(found.folder, MnistSplit::Train).unwrap().inputs;
    let mut rng = matnet_data::random::SeededRng::new(0, "moving-mnist");
    let start = Instant::now();
    let moving =
        matnet_data::generate::MovingDigitsConfig::default().generate(digits, 10_000, &mut rng).unwrap();
    let planned = start.elapsed();
    let frames = moving.render(0..1000).unwrap();
    println!("10,000 sequences planned in {planned:?}, 1,000 drawn in {:?}", start.elapsed() - planned);
    let mean = frames.data().iter().map(|&x| f64::from(x)).sum::<f64>() / frames.data().len() as f64;
    // Two digits of mean 0.1307 × 784 pixels in 4096, less what overlaps.
    assert!((0.040..0.0501).contains(&mean), "{mean}");
}

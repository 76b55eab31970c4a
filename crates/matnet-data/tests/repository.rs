//! The datasets in the repository's `data` folder, and what is generated from them. They are found without a cache.

use matnet_data::catalog::{self, Cache, LoadOptions, MovingSequences, Origin, fetch};
use matnet_data::{Dataset, Target};

/// Loads a dataset with an empty cache; without the repository's `data` folder (in a packaged crate) there is none.
fn load(name: &str) -> Option<Dataset> {
    let empty = tempfile::tempdir().unwrap();
    match catalog::load(name, &Cache::new(empty.path()), LoadOptions::default()) {
        Ok(dataset) => Some(dataset),
        Err(error) => {
            println!("SKIPPED: {error}");
            let readme = concat!(env!("CARGO_MANIFEST_DIR"), "/../../data/README.md");
            assert!(!std::path::Path::new(readme).is_file(), "the repository is here: {error}");
            None
        }
    }
}

fn counts(labels: &[u32], classes: usize) -> Vec<usize> {
    (0..classes as u32).map(|class| labels.iter().filter(|&&label| label == class).count()).collect()
}

#[test]
fn digits_are_5000_of_ten_classes() {
    let Some(digits) = load("digits") else { return };
    let digits = digits.into_samples().unwrap();
    assert_eq!(digits.inputs.shape(), [5000, 28, 28]);
    let Target::Classes { labels, names } = &digits.target else { panic!("no classes") };
    assert_eq!((counts(labels, 10), names.len()), (vec![500; 10], 10));
    let data = digits.inputs.data();
    let mean = data.iter().map(|&x| f64::from(x)).sum::<f64>() / data.len() as f64;
    assert!((mean - 0.131).abs() < 0.002, "{mean}");
}

#[test]
fn faces_are_100_grey_images() {
    let Some(faces) = load("faces") else { return };
    let faces = faces.into_samples().unwrap();
    assert_eq!(faces.inputs.shape(), [100, 25, 25]);
    assert!(faces.inputs.data().iter().all(|x| (0.0..=1.0).contains(x)));
}

#[test]
fn motions_are_20_of_each_activity() {
    let Some(motions) = load("motions") else { return };
    let motions = motions.into_samples().unwrap();
    assert_eq!(motions.split.as_ref().map(|split| &split.test[..]), Some(&(40..80).collect::<Vec<_>>()[..]));
    assert_eq!(motions.inputs.shape(), [80, 100, 2, 3]);
    let Target::Classes { labels, names } = &motions.target else { panic!("no classes") };
    assert_eq!(names, &["Standing", "Running", "Walking", "Badminton"]);
    assert_eq!((counts(&labels[..40], 4), counts(&labels[40..], 4)), (vec![10; 4], vec![10; 4]));
    // The first two steps of the first recording: x of the accelerometer.
    assert_eq!((motions.inputs.data()[0], motions.inputs.data()[6]), (0.079106, 0.079106));
}

#[test]
fn citations_are_cora() {
    let Some(cora) = load("citations") else { return };
    let cora = cora.into_graph().unwrap();
    assert_eq!(cora.features.shape(), [2708, 1433]);
    assert_eq!(cora.features.data().iter().sum::<f32>(), 49_216.0);
    assert_eq!(cora.edges.len(), 5429);
    let labels: Vec<u32> = cora.labels.iter().flatten().copied().collect();
    let mut sizes = counts(&labels, cora.class_names.len());
    sizes.sort_unstable();
    assert_eq!(sizes, [180, 217, 298, 351, 418, 426, 818]);
}

#[test]
fn moving_digits_are_generated_and_fit_into_bytes() {
    if load("digits").is_none() {
        return;
    }
    let cache = Cache::new(std::env::temp_dir().join("no such cache"));
    let mut moving =
        MovingSequences::open("moving-digits", &cache, LoadOptions { seed: 3, sequences: 7 }).unwrap();
    let numbers = moving.read(0..7).unwrap();
    assert_eq!(numbers.shape(), [7, 20, 64, 64]);
    assert_eq!(moving.to_bytes().unwrap().to_array().unwrap(), numbers);
    assert_eq!(moving.note, "7 sequences generated from digits, seed 3");
}

#[test]
fn repository_files_need_no_fetch() {
    let empty = tempfile::tempdir().unwrap();
    let cache = Cache::new(empty.path());
    for dataset in catalog::all().iter().filter(|dataset| dataset.origin == Origin::Repository) {
        if load(dataset.name).is_none() {
            continue;
        }
        let mut events = 0;
        let paths = fetch(dataset, &cache, &Default::default(), &mut |_| {
            events += 1;
            std::ops::ControlFlow::Continue(())
        });
        assert_eq!((paths.unwrap().len(), events), (1, 1), "{}", dataset.name);
        assert!(cache.verify(dataset).unwrap().is_empty(), "the cache itself is empty");
    }
}

//! Small data that are part of the library, so that the first run needs neither network nor path.
//!
//! Real ones come from `data/`, whose README names source and terms; the EEG is simulated and says so in its name,
//! and the stories are made up.

pub mod simulated_eeg;
pub mod stories;

use crate::format::bounded::Input;
use crate::format::npz::{self, Npz};
use crate::format::{archive, edgelist};
use crate::{Array, Error, GraphData, Result, Samples, Target};

const DIGITS: &[u8] = include_bytes!("../../data/digits.npz");
const FACES: &[u8] = include_bytes!("../../data/faces.npz");
const MOTIONS: &[u8] = include_bytes!("../../data/motions.npz");
const CORA: &[u8] = include_bytes!("../../data/cora.tar.gz");

/// 5,000 handwritten digits `[5000, 28, 28]` between 0 and 1, ordered by class: 500 of each.
pub fn digits() -> Result<Samples> {
    let mut file = npz::parse("digits.npz", DIGITS)?;
    let labels = labels(&mut file)?;
    let names = (0..10).map(|digit| digit.to_string()).collect();
    Ok(samples(grey(inputs(&mut file)?), Target::Classes { labels, names }))
}

/// 100 photographed faces `[100, 25, 25]` between 0 and 1.
pub fn faces() -> Result<Samples> {
    let mut file = npz::parse("faces.npz", FACES)?;
    Ok(samples(grey(inputs(&mut file)?), Target::None))
}

/// 80 recordings of a smart watch `[80, 100, 2, 3]`: time, sensor (accelerometer, gyroscope), axis. The first 40 are
/// the official training half.
pub fn motions() -> Result<Samples> {
    let mut file = npz::parse("motions.npz", MOTIONS)?;
    let activities = file.take("y")?.texts().unwrap_or_default();
    let mut names: Vec<String> = Vec::new();
    let mut labels = Vec::with_capacity(activities.len());
    for activity in activities {
        let known = names.iter().position(|name| *name == activity);
        labels.push(known.unwrap_or(names.len()) as u32);
        if known.is_none() {
            names.push(activity);
        }
    }
    Ok(samples(inputs(&mut file)?, Target::Classes { labels, names }))
}

/// Cora: 2,708 papers, 1,433 words, 5,429 citations, 7 classes.
pub fn citations() -> Result<GraphData> {
    let (mut content, mut cites) = (Vec::new(), Vec::new());
    archive::each_bytes("cora.tar.gz", CORA, &mut |mut entry| {
        match entry.name.ends_with(".content") {
            true => content = entry.input.rest()?,
            false => cites = entry.input.rest()?,
        }
        Ok(())
    })?;
    edgelist::parse(Input::bytes("cora.cites", &cites)?, Input::bytes("cora.content", &content)?)
}

fn samples(inputs: Array, target: Target) -> Samples {
    Samples { inputs, target, groups: Vec::new(), group_names: Vec::new() }
}

fn inputs(file: &mut Npz) -> Result<Array> {
    let name = file.name_of("x");
    file.take("x")?.into_array(&name)
}

fn labels(file: &mut Npz) -> Result<Vec<u32>> {
    let name = file.name_of("y");
    let classes = file.take("y")?.integers(&name)?;
    classes
        .into_iter()
        .map(|class| u32::try_from(class).map_err(|_| Error::format(&name, "not a class")))
        .collect()
}

/// 256 grey levels to numbers between 0 and 1.
fn grey(mut pixels: Array) -> Array {
    pixels.data_mut().iter_mut().for_each(|pixel| *pixel /= 255.0);
    pixels
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counts(labels: &[u32], classes: usize) -> Vec<usize> {
        (0..classes as u32).map(|class| labels.iter().filter(|&&label| label == class).count()).collect()
    }

    #[test]
    fn digits_are_5000_of_ten_classes() {
        let digits = digits().unwrap();
        assert_eq!(digits.inputs.shape(), [5000, 28, 28]);
        let Target::Classes { labels, names } = &digits.target else { panic!("no classes") };
        assert_eq!((counts(labels, 10), names.len()), (vec![500; 10], 10));
        let mean = digits.inputs.data().iter().map(|&x| f64::from(x)).sum::<f64>()
            / digits.inputs.data().len() as f64;
        assert!((mean - 0.131).abs() < 0.002, "{mean}");
    }

    #[test]
    fn faces_are_100_grey_pictures() {
        let faces = faces().unwrap();
        assert_eq!(faces.inputs.shape(), [100, 25, 25]);
        assert!(faces.inputs.data().iter().all(|x| (0.0..=1.0).contains(x)));
    }

    #[test]
    fn motions_are_20_of_each_activity() {
        let motions = motions().unwrap();
        assert_eq!(motions.inputs.shape(), [80, 100, 2, 3]);
        let Target::Classes { labels, names } = &motions.target else { panic!("no classes") };
        assert_eq!(names, &["Standing", "Running", "Walking", "Badminton"]);
        assert_eq!((counts(&labels[..40], 4), counts(&labels[40..], 4)), (vec![10; 4], vec![10; 4]));
        // The first numbers of the first recording: x of the accelerometer, then of the gyroscope.
        assert_eq!((motions.inputs.data()[0], motions.inputs.data()[6]), (0.079106, 0.079106));
    }

    #[test]
    fn citations_are_cora() {
        let cora = citations().unwrap();
        assert_eq!(cora.features.shape(), [2708, 1433]);
        assert_eq!(cora.features.data().iter().sum::<f32>(), 49_216.0);
        assert_eq!(cora.edges.len(), 5429);
        let labels: Vec<u32> = cora.labels.iter().flatten().copied().collect();
        let mut sizes = counts(&labels, cora.class_names.len());
        sizes.sort_unstable();
        assert_eq!(sizes, [180, 217, 298, 351, 418, 426, 818]);
    }
}

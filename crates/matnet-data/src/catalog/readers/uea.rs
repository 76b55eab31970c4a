//! Sets of the UEA archive of multivariate time series: `NAME.zip` as it is served, its unpacked folder, or the two texts gzipped.

use std::collections::HashMap;
use std::path::Path;

use crate::catalog::Located;
use crate::format::archive;
use crate::format::class_names::sort_classes;
use crate::format::ts::{self, TimeSeries};
use crate::{Array, Error, Result, Samples, Target, memory};

/// A set and its published counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UeaSet {
    /// The name in the catalog.
    pub name: &'static str,
    /// The name in the archive.
    pub archive_name: &'static str,
    /// Official training and test samples.
    pub counts: [usize; 2],
    /// The number of channels.
    pub channels: usize,
    /// The longest series.
    pub steps: usize,
    /// The number of classes.
    pub classes: usize,
}

/// All sets that the catalog has.
pub const SETS: [UeaSet; 7] = [
    set("articulary-word-recognition", "ArticularyWordRecognition", [275, 300], 9, 144, 25),
    set("epilepsy", "Epilepsy", [137, 138], 3, 206, 4),
    set("finger-movements", "FingerMovements", [316, 100], 28, 50, 2),
    set("hand-movement-direction", "HandMovementDirection", [160, 74], 10, 400, 4),
    set("japanese-vowels", "JapaneseVowels", [270, 370], 12, 29, 9),
    set("natops", "NATOPS", [180, 180], 24, 51, 6),
    set("self-regulation-scp2", "SelfRegulationSCP2", [200, 180], 7, 1152, 2),
];

const fn set(
    name: &'static str,
    archive_name: &'static str,
    counts: [usize; 2],
    channels: usize,
    steps: usize,
    classes: usize,
) -> UeaSet {
    UeaSet { name, archive_name, counts, channels, steps, classes }
}

impl UeaSet {
    /// The set of this name in the catalog.
    pub fn get(name: &str) -> Option<&'static Self> {
        SETS.iter().find(|set| set.name == name)
    }

    /// Loads sequences `[n, time, channels, 1]` with their lengths, if these differ, and the official split: the training half comes
    /// first.
    pub fn load(&self, located: &Located) -> Result<Samples> {
        let (train, test) = match &located.files[..] {
            [train, test] => (ts::read(train)?, ts::read(test)?),
            [folder] if folder.is_dir() => {
                let half = |half| ts::read(folder.join(half_name(self.archive_name, half)));
                (half("TRAIN")?, half("TEST")?)
            }
            [zip] => halves_of_zip(zip, self.archive_name)?,
            _ => return Err(Error::Missing(format!("{}: no files", self.name))),
        };
        let place = &located.files[0];
        let found = [&train, &test].map(|half| half.lengths.len());
        let steps = train.lengths.iter().chain(&test.lengths).max().map_or(0, |&steps| steps as usize);
        if found != self.counts
            || [train.channels, test.channels] != [self.channels; 2]
            || steps != self.steps
        {
            let Self { archive_name, counts: [trained, tested], channels, steps, .. } = self;
            let what = format!(
                "is not {archive_name}: {trained} + {tested} series of {channels} channels of up to {steps} steps expected"
            );
            return Err(Error::format(place, what));
        }
        let samples = samples(self, [train, test])?;
        Ok(samples.with_official_test(self.counts[0]..self.counts[0] + self.counts[1]))
    }
}

fn half_name(archive_name: &str, half: &str) -> String {
    format!("{archive_name}_{half}.ts")
}

/// The training and the test half of `NAME.zip`.
pub(super) fn halves_of_zip(path: &Path, archive_name: &str) -> Result<(TimeSeries, TimeSeries)> {
    let [train_name, test_name] = ["TRAIN", "TEST"].map(|half| half_name(archive_name, half));
    let (mut train, mut test) = (None, None);
    archive::each(path, &mut |entry| {
        match entry.name.rsplit('/').next() {
            Some(name) if name == train_name => train = Some(ts::parse(entry.input)?),
            Some(name) if name == test_name => test = Some(ts::parse(entry.input)?),
            _ => {}
        }
        Ok(())
    })?;
    train.zip(test).ok_or_else(|| Error::format(path, format!("holds no {train_name} and {test_name}")))
}

/// Both halves as sequences, padded with zeros.
fn samples(set: &UeaSet, halves: [TimeSeries; 2]) -> Result<Samples> {
    let &UeaSet { channels, steps, .. } = set;
    let count = set.counts[0] + set.counts[1];
    let mut values = memory::filled(0.0, count * steps * channels, "padded series")?;
    let (mut labels, mut classes) = (Vec::with_capacity(count), HashMap::new());
    let mut lengths = Vec::with_capacity(count);
    let mut padded = values.chunks_exact_mut(steps * channels);
    for half in halves {
        let mut rest = &half.values[..];
        for (&length, &label) in half.lengths.iter().zip(&half.labels) {
            let length = length as usize;
            let (series, others) = rest.split_at(length * channels);
            rest = others;
            for (place, out) in padded.next().into_iter().flatten().take(length * channels).enumerate() {
                *out = series[place % channels * length + place / channels];
            }
            lengths.push(length);
            let next = classes.len() as u32;
            labels.push(Some(*classes.entry(half.class_names[label as usize].clone()).or_insert(next)));
        }
    }
    if lengths.iter().all(|&length| length == steps) {
        lengths.clear();
    }
    let inputs = Array::new([count, steps, channels, 1], values)?;
    let names = sort_classes(classes, &mut labels);
    let target = Target::Classes { labels: labels.into_iter().flatten().collect(), names };
    Ok(Samples { lengths, ..Samples::new(inputs, target) })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A set of 2 + 1 series of 2 channels and up to 3 steps.
    const SMALL: UeaSet = set("small", "Small", [2, 1], 2, 3, 2);

    fn located(folder: &Path, files: &[&str]) -> Located {
        Located { folder: folder.to_owned(), files: files.iter().map(|name| folder.join(name)).collect() }
    }

    #[test]
    fn series_become_padded_sequences() {
        let train = "@data\n1,2,3:4,5,6:b\n7:8:a\n";
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
        write("Small_TRAIN.ts", train);
        write("Small_TEST.ts", "@data\n1,2:3,4:b\n");
        let both = located(folder.path(), &["Small_TRAIN.ts", "Small_TEST.ts"]);
        let samples = SMALL.load(&both).unwrap();
        assert_eq!(samples.inputs.shape(), [3, 3, 2, 1]);
        assert_eq!(samples.inputs.sample(0), [1., 4., 2., 5., 3., 6.]);
        assert_eq!(samples.inputs.sample(1), [7., 8., 0., 0., 0., 0.]);
        assert_eq!(samples.lengths, [3, 1, 2]);
        assert!(matches!(&samples.target, Target::Classes { labels, .. } if labels == &[1, 0, 1]));
        assert_eq!(samples.split.as_ref().unwrap().test, [2]);
        // the folder that the archive unpacks to
        assert_eq!(SMALL.load(&located(folder.path(), &["."])).unwrap(), samples);

        write("Small_TEST.ts", "@data\n1,2:3,4:b\n1,2:3,4:b\n");
        let message = SMALL.load(&both).unwrap_err().to_string();
        assert!(
            message.ends_with("is not Small: 2 + 1 series of 2 channels of up to 3 steps expected"),
            "{message}"
        );
    }
}

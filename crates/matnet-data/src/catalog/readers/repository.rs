//! The datasets in the `data` folder of matnet's repository, or from the files that they were made from.
//!
//! `data/README.md` of the repository names their sources and terms.

use std::path::Path;

use super::{first_of, grey_inputs, inputs, named_classes, numbered_classes, uea};
use crate::catalog::Located;
use crate::dataset::grey_to_f32;
use crate::format::bounded::Input;
use crate::format::npz;
use crate::{Array, Error, Result, Samples, Target};

/// 5,000 handwritten digits `[5000, 28, 28]` between 0 and 1, ordered by class: 500 of each. They are the first 500 of each class
/// in MNIST's training set, and are taken from there if `digits.npz` is not at hand.
pub fn digits(located: &Located) -> Result<Samples> {
    if !located.files[0].ends_with("digits.npz") {
        return first_digits(&located.folder);
    }
    let mut file = npz::read(&located.files[0])?;
    let target = numbered_classes(&mut file, (0..10).map(|digit| digit.to_string()))?;
    Ok(Samples::new(grey_inputs(&mut file, 255.0)?, target))
}

/// The digits from MNIST's files. All of them are among the first 5,848 images, so that the rest is not unpacked.
fn first_digits(folder: &Path) -> Result<Samples> {
    const IMAGES: usize = 5848;
    const EACH: usize = 500;
    let read = |name: &str, head: [u8; 4], skip: u64, size: usize| {
        let packed = format!("{name}.gz");
        let mut input = Input::open(first_of(folder, &[name, &packed])?)?;
        if input.array::<4>()? != head {
            return Err(input.error("is not MNIST's IDX"));
        }
        input.take_vec(skip)?;
        input.take_vec((IMAGES * size) as u64)
    };
    let labels = read("train-labels-idx1-ubyte", [0, 0, 8, 1], 4, 1)?;
    let images = read("train-images-idx3-ubyte", [0, 0, 8, 3], 12, 784)?;
    let mut pixels = Vec::with_capacity(10 * EACH * 784);
    for digit in 0..10 {
        let of_digit = (0..IMAGES).filter(|&at| labels[at] == digit);
        of_digit.take(EACH).for_each(|at| pixels.extend_from_slice(&images[at * 784..(at + 1) * 784]));
    }
    let labels = (0..10).flat_map(|digit| [digit; EACH]).collect();
    let names = (0..10).map(|digit| digit.to_string()).collect();
    Ok(Samples::new(
        Array::new([10 * EACH, 28, 28], grey_to_f32(&pixels)?)?,
        Target::Classes { labels, names },
    ))
}

/// 100 photographed faces `[100, 25, 25]` between 0 and 1.
pub fn faces(path: &Path) -> Result<Samples> {
    Ok(Samples::new(grey_inputs(&mut npz::read(path)?, 255.0)?, Target::None))
}

/// 80 recordings of a smart watch `[80, 100, 2, 3]`: time, sensor (accelerometer, gyroscope), axis. The first 40 are the official
/// training set. `path` is `motions.npz`, or the UEA archive's `BasicMotions.zip`.
pub fn motions(path: &Path) -> Result<Samples> {
    if !path.ends_with("motions.npz") {
        return basic_motions(path);
    }
    let mut file = npz::read(path)?;
    let activities = file.take("y")?.texts().unwrap_or_default();
    Ok(Samples::new(inputs(&mut file)?, named_classes(activities)))
}

fn basic_motions(path: &Path) -> Result<Samples> {
    let (train, test) = uea::halves_of_zip(path, "BasicMotions")?;
    let mut data = Vec::with_capacity(80 * 600);
    let mut activities = Vec::with_capacity(80);
    for half in [train, test] {
        if half.channels != 6 || half.lengths != [100; 40] {
            return Err(Error::format(
                path,
                "is not BasicMotions: 40 + 40 series of 6 channels of 100 steps expected",
            ));
        }
        for sample in half.values.chunks_exact(600) {
            data.extend((0..100).flat_map(|step| (0..6).map(move |channel| sample[channel * 100 + step])));
        }
        activities.extend(half.labels.iter().map(|&label| half.class_names[label as usize].clone()));
    }
    Ok(Samples::new(Array::new([80, 100, 2, 3], data)?, named_classes(activities)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_from_mnist_are_those_of_the_repository() {
        let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../data");
        let mnist = std::env::var_os("MATNET_DATA").map(|root| Path::new(&root).join("mnist"));
        let Some(mnist) = mnist.filter(|mnist| mnist.is_dir() && data.is_dir()) else {
            println!("SKIPPED: set MATNET_DATA to a folder that holds mnist/ to compare the digits");
            return;
        };
        let located =
            |folder: &Path, file: &str| Located { folder: folder.to_owned(), files: vec![folder.join(file)] };
        let derived = digits(&located(&mnist, "train-images-idx3-ubyte.gz")).unwrap();
        assert!(derived == digits(&located(&data, "digits.npz")).unwrap());
    }

    /// Two files in the UEA archive's text: channel `c` of sample `n` at step `t` is n + c/10 + t/1000.
    #[test]
    fn motions_are_read_from_the_archives_text() {
        let names = ["Standing", "Running", "Walking", "Badminton"];
        let text = |first: usize| {
            let mut text = String::from(
                "# made here\n@problemName BasicMotions\n@classLabel true Standing Running Walking Badminton\n@data\n",
            );
            for sample in first..first + 40 {
                for channel in 0..6 {
                    let values: Vec<String> =
                        (0..100).map(|t| format!("{}.{channel}{t:02}", sample)).collect();
                    text += &format!("{}:", values.join(","));
                }
                text += &format!("{}\n", names[sample % 40 / 10]);
            }
            text
        };
        let mut zip = rawzip::ZipArchiveWriter::new(Vec::new());
        for (name, text) in [("BasicMotions_TEST.ts", text(40)), ("BasicMotions_TRAIN.ts", text(0))] {
            let (mut entry, config) = zip.new_file(name).start().unwrap();
            let mut writer = config.wrap(&mut entry);
            std::io::Write::write_all(&mut writer, text.as_bytes()).unwrap();
            let (_, descriptor) = writer.finish().unwrap();
            entry.finish(descriptor).unwrap();
        }
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("BasicMotions.zip");
        std::fs::write(&path, zip.finish().unwrap()).unwrap();
        let motions = motions(&path).unwrap();
        assert_eq!(motions.inputs.shape(), [80, 100, 2, 3]);
        // sample 41, step 7: six channels of two sensors
        assert_eq!(motions.inputs.sample(41)[7 * 6..8 * 6], [41.007, 41.107, 41.207, 41.307, 41.407, 41.507]);
        let Target::Classes { labels, names: found } = &motions.target else { panic!("no classes") };
        assert_eq!((&found[..], labels[39], labels[40]), (&names.map(String::from)[..], 3, 0));
    }
}

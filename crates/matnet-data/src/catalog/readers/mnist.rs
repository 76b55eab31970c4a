//! MNIST: 60,000 and 10,000 digits of 28×28, as four IDX files, gzipped or not.

use std::path::Path;

use crate::catalog::readers::first_of;
use crate::dataset::grey_to_f32;
use crate::format::idx;
use crate::format::raw::RawValues;
use crate::{Array, Error, Result, Samples, Target};

/// One of the two official splits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MnistSplit {
    /// 60,000 digits.
    Train,
    /// 10,000 digits.
    Test,
}

/// Loads one split from the folder `dir`: inputs `[n, 28, 28]` between 0 and 1, classes `0` to `9`.
pub fn load(dir: impl AsRef<Path>, half: MnistSplit) -> Result<Samples> {
    let dir = dir.as_ref();
    let stem = match half {
        MnistSplit::Train => "train",
        MnistSplit::Test => "t10k",
    };
    let find = |kind: &str| {
        // both spellings are in use
        let names = ["-ubyte", "-ubyte.gz"].map(|end| format!("{stem}-{kind}{end}"));
        let dotted = names.clone().map(|name| name.replace("-idx", ".idx"));
        first_of(dir, &[&names[0], &names[1], &dotted[0], &dotted[1]])
    };
    let (image_path, label_path) = (find("images-idx3")?, find("labels-idx1")?);
    let (shape, pixels) = idx::read(&image_path)?.into_parts();
    let (RawValues::U8(pixels), 3) = (pixels, shape.len()) else {
        return Err(Error::format(image_path, format!("shape {shape:?}; u8 of [n, rows, cols] expected")));
    };
    let (label_shape, labels) = idx::read(&label_path)?.into_parts();
    let RawValues::U8(labels) = labels else {
        return Err(Error::format(label_path, "labels are not u8"));
    };
    if label_shape != shape[..1] {
        let what = format!("shape {label_shape:?} beside {} images; one label per image expected", shape[0]);
        return Err(Error::format(label_path, what));
    }
    if let Some(at) = labels.iter().position(|&label| label > 9) {
        return Err(Error::format(
            label_path,
            format!("label {} of image {at}; 0 to 9 expected", labels[at]),
        ));
    }
    Ok(Samples::new(
        Array::new(shape, grey_to_f32(&pixels)?)?,
        Target::Classes {
            labels: labels.into_iter().map(u32::from).collect(),
            names: (0..10).map(|digit| digit.to_string()).collect(),
        },
    ))
}

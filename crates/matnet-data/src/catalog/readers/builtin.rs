//! Small datasets that are part of the library, so that the first run needs neither network nor files.
//!
//! `data/README.md` of the crate names their sources and licences.

use super::{grey_inputs, inputs, named_classes, numbered_classes};
use crate::format::npz;
use crate::{Result, Samples};

const OPTDIGITS: &[u8] = include_bytes!("../../../data/optdigits.npz");
const FASHION: &[u8] = include_bytes!("../../../data/fashion.npz");
const VOWELS: &[u8] = include_bytes!("../../../data/vowels.npz");

/// The classes of Fashion-MNIST.
const CLOTHES: [&str; 10] = [
    "T-shirt/top",
    "trouser",
    "pullover",
    "dress",
    "coat",
    "sandal",
    "shirt",
    "sneaker",
    "bag",
    "ankle boot",
];

/// 1,797 handwritten digits `[1797, 8, 8]` between 0 and 1.
pub fn optdigits() -> Result<Samples> {
    let mut file = npz::parse("optdigits.npz", OPTDIGITS)?;
    let target = numbered_classes(&mut file, (0..10).map(|digit| digit.to_string()))?;
    Ok(Samples::new(grey_inputs(&mut file, 16.0)?, target))
}

/// 5,000 photographs of clothes `[5000, 28, 28]` between 0 and 1, ordered by class: 500 of each.
pub fn fashion() -> Result<Samples> {
    let mut file = npz::parse("fashion.npz", FASHION)?;
    let target = numbered_classes(&mut file, CLOTHES)?;
    Ok(Samples::new(grey_inputs(&mut file, 255.0)?, target))
}

/// 640 recordings of two Japanese vowels `[640, 29, 12, 1]`: time, LPC coefficient. The classes are the 9 speakers; the first 270
/// samples are the official training set.
///
/// The recordings have 7 to 29 steps and are padded with zeros.
pub fn vowels() -> Result<Samples> {
    let mut file = npz::parse("vowels.npz", VOWELS)?;
    let speakers = file.take("y")?.texts().unwrap_or_default();
    let name = file.name_of("length");
    let lengths = file.take("length")?.integers(&name)?.into_iter().map(|length| length as usize).collect();
    Ok(Samples { lengths, ..Samples::new(inputs(&mut file)?, named_classes(speakers)) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Target;

    fn counts(samples: &Samples, range: std::ops::Range<usize>) -> Vec<usize> {
        let Target::Classes { labels, names } = &samples.target else { panic!("no classes") };
        let of = |class| labels[range.clone()].iter().filter(|&&label| label as usize == class).count();
        (0..names.len()).map(of).collect()
    }

    fn mean(samples: &Samples) -> f64 {
        let data = samples.inputs.data();
        data.iter().map(|&x| f64::from(x)).sum::<f64>() / data.len() as f64
    }

    #[test]
    fn optdigits_are_1797_of_ten_classes() {
        let digits = optdigits().unwrap();
        assert_eq!(digits.inputs.shape(), [1797, 8, 8]);
        assert_eq!(counts(&digits, 0..1797), [178, 182, 177, 183, 181, 182, 181, 179, 174, 180]);
        assert!(digits.inputs.data().iter().all(|x| (0.0..=1.0).contains(x) && (x * 16.0).fract() == 0.0));
        // scikit-learn's description: pixels from 0 to 16; their mean is 4.884
        assert!((mean(&digits) * 16.0 - 4.884).abs() < 0.001, "{}", mean(&digits) * 16.0);
    }

    #[test]
    fn fashion_is_500_of_each_of_ten_classes() {
        let fashion = fashion().unwrap();
        assert_eq!(fashion.inputs.shape(), [5000, 28, 28]);
        assert_eq!(counts(&fashion, 0..5000), [500; 10]);
        // the mean of Fashion-MNIST's training set is 0.2860
        assert!((mean(&fashion) - 0.286).abs() < 0.01, "{}", mean(&fashion));
    }

    #[test]
    fn vowels_have_their_official_split_and_lengths() {
        let vowels = vowels().unwrap();
        assert_eq!(vowels.inputs.shape(), [640, 29, 12, 1]);
        assert_eq!(counts(&vowels, 0..270), [30; 9]);
        assert_eq!(counts(&vowels, 270..640), [31, 35, 88, 44, 29, 24, 40, 50, 29]);
        let lengths = &vowels.lengths;
        assert_eq!((lengths.len(), lengths.iter().min(), lengths.iter().max()), (640, Some(&7), Some(&29)));
        for (sample, &length) in lengths.iter().enumerate() {
            let (steps, padding) = vowels.inputs.sample(sample).split_at(12 * length);
            let last = &steps[12 * (length - 1)..];
            assert!(last.iter().any(|&x| x != 0.0) && padding.iter().all(|&x| x == 0.0), "sample {sample}");
        }
        // the first step of the first recording, in the archive's text
        assert_eq!(vowels.inputs.data()[..2], [1.860936, -0.207383]);
    }
}

//! Series of the UEA archive, and long tables for forecasting.

use super::{Check, DatasetFile, DatasetInfo, Origin, empty, file, local};

pub(super) fn all() -> impl Iterator<Item = DatasetInfo> {
    UEA.iter().map(uea).chain(ETT.iter().map(ett))
}

/// One of the UEA archive's sets; the numbers are those of the unpacked texts.
struct Uea {
    name: &'static str,
    about: &'static str,
    archive_name: &'static str,
    train: (u64, &'static str),
    test: (u64, &'static str),
    unpacked: &'static [&'static str],
}

fn uea(set: &Uea) -> DatasetInfo {
    let archive_name = set.archive_name;
    let url = format!("https://timeseriesclassification.com/aeon-toolkit/{archive_name}.zip");
    let half = |half: &str, (size, sha256): (u64, &str)| DatasetFile {
        checks: vec![Check::Unpacked { sha256: sha256.into(), size }],
        ..local(&format!("{archive_name}_{half}.ts.gz"), size, "")
    };
    DatasetInfo {
        name: set.name,
        about: set.about,
        home: "https://timeseriesclassification.com",
        terms: "research use; cite the UEA archive (A. Bagnall and others, 2018)",
        folder: "uea",
        variants: vec![
            // The archive publishes no checksum of its zip files.
            vec![file(&format!("{archive_name}.zip"), &[&url], Check::FirstSeen, 64 << 20)],
            vec![half("TRAIN", set.train), half("TEST", set.test)],
        ],
        unpacked: set.unpacked,
        ..empty(Origin::Download)
    }
}

const UEA: [Uea; 7] = [
    Uea {
        name: "articulary-word-recognition",
        about: "575 recordings of lips and tongue at 25 words, 144 steps of 9×1",
        archive_name: "ArticularyWordRecognition",
        train: (2_884_471, "40c54640f20aa094115a47ad1f4745f5adcc08a65085659a4a042aee1c32a6d5"),
        test: (3_148_724, "b4431c96e04310c55b8f50b6f93b0e20cfa019a2d25ab2a5c844e5e0b1375995"),
        unpacked: &["ArticularyWordRecognition"],
    },
    Uea {
        name: "epilepsy",
        about: "275 recordings of a wrist accelerometer, seizures and three activities, 206 steps of 3×1",
        archive_name: "Epilepsy",
        train: (463_710, "e2555afb91b2484831bcc66b3b5db3a362ba0697e855cfbb041eac165e371022"),
        test: (471_837, "e68e220e31a9235fd7da23bbae2e59bd8315a3cc4c2b12f803885235b61b52ac"),
        unpacked: &["Epilepsy"],
    },
    Uea {
        name: "finger-movements",
        about: "416 EEG recordings before a key is pressed with the left or the right hand, 50 steps of 28×1",
        archive_name: "FingerMovements",
        train: (2_278_160, "26599c27a44cfb2f0723e6c944d486e3e47991bfc2ddc8e8aa7d99d008363840"),
        test: (724_305, "cbfd5ac70ff7a83fb29f9c2a3c6745fdfc640a8002b6973ee0d716737c47b8d6"),
        unpacked: &["FingerMovements"],
    },
    Uea {
        name: "hand-movement-direction",
        about: "234 MEG recordings of hand movements in four directions, 400 steps of 10×1",
        archive_name: "HandMovementDirection",
        train: (6_976_065, "dca263f9161bbb4570794e0e93522a608139cc8d768d14e7aba1bf20263f030d"),
        test: (3_229_783, "c192d70ab65f548b992a473ed75f9bf562943e91f2e07e5a3e5afb5c389d8e9e"),
        unpacked: &["HandMovementDirection"],
    },
    Uea {
        name: "japanese-vowels",
        about: "640 recordings of two Japanese vowels by 9 speakers, 7 to 29 steps of 12×1 (LPC coefficients); `vowels` is built in",
        archive_name: "JapaneseVowels",
        train: (487_971, "68a430eabd919cc77f40b1f5f3bc0dcafacc1486bca9260785aeb7d262cc78cd"),
        test: (649_132, "b3d41d6a0ca3bcad3afb9ca7d4365382aa51341e2e58bae2a574babdda5b9462"),
        unpacked: &["JapaneseVowels"],
    },
    Uea {
        name: "natops",
        about: "360 recordings of six aircraft handling signals, 51 steps of 24×1 (body positions)",
        archive_name: "NATOPS",
        train: (2_119_514, "3567f0aa297e89327215ee1147537e06f7bdc51f48ac8d2c39aaa34fb1eab1b7"),
        test: (2_119_227, "3a9a41a948c30d19db6b9e0ec44d946d42199c4f8724c2aa6e8b71b28612404e"),
        unpacked: &["NATOPS"],
    },
    Uea {
        name: "self-regulation-scp2",
        about: "380 EEG recordings of slow cortical potentials, positive or negative, 1,152 steps of 7×1",
        archive_name: "SelfRegulationSCP2",
        train: (9_308_916, "41c6a0310dc5c96155181509c4024ea139aa6ed38bb2252124b056fac8235fae"),
        test: (8_349_396, "1c2656ee44046ded9b901a4345cfb094f5585a2317919e2653a17708b2b38a70"),
        unpacked: &["SelfRegulationSCP2"],
    },
];

/// One of the ETT tables: name, what it is, file name, size and SHA-256 of the text.
type Ett = (&'static str, &'static str, &'static str, u64, &'static str);

fn ett(&(name, about, file_name, size, sha256): &Ett) -> DatasetInfo {
    let urls = [
        format!("https://github.com/zhouhaoyi/ETDataset/raw/main/ETT-small/{file_name}"),
        format!("https://raw.githubusercontent.com/zhouhaoyi/ETDataset/main/ETT-small/{file_name}"),
    ];
    let text = Check::File { sha256: sha256.into(), size };
    let packed = Check::Unpacked { sha256: sha256.into(), size };
    let packed = DatasetFile { checks: vec![packed], ..local(&format!("{file_name}.gz"), size, "") };
    DatasetInfo {
        name,
        about,
        home: "https://github.com/zhouhaoyi/ETDataset",
        terms: "CC BY-ND 4.0 (H. Zhou and others, 2021)",
        folder: "forecast",
        variants: vec![vec![file(file_name, &urls.each_ref().map(String::as_str), text, size)], vec![packed]],
        ..empty(Origin::Download)
    }
}

const ETT: [Ett; 2] = [
    (
        "etth1",
        "a long table: load and oil temperature of a transformer, 17,420 hours of 7 channels",
        "ETTh1.csv",
        2_589_657,
        "f18de3ad269cef59bb07b5438d79bb3042d3be49bdeecf01c1cd6d29695ee066",
    ),
    (
        "etth2",
        "a long table: load and oil temperature of another transformer, 17,420 hours of 7 channels",
        "ETTh2.csv",
        2_417_960,
        "a3dc2c597b9218c7ce1cd55eb77b283fd459a1d09d753063f944967dd6b9218b",
    ),
];

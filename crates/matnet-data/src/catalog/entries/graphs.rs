//! Graphs as `.npz`: larger than the citation graphs, or harder.

use super::{Check, DatasetFile, DatasetInfo, Origin, empty, file};

pub(super) fn all() -> [DatasetInfo; 3] {
    let shchur = |name| {
        [
            format!("https://github.com/shchur/gnn-benchmark/raw/master/data/npz/{name}"),
            format!("https://raw.githubusercontent.com/shchur/gnn-benchmark/master/data/npz/{name}"),
        ]
    };
    let platonov = |name| {
        [
            format!("https://github.com/yandex-research/heterophilous-graphs/raw/main/data/{name}"),
            format!(
                "https://raw.githubusercontent.com/yandex-research/heterophilous-graphs/main/data/{name}"
            ),
        ]
    };
    [
        DatasetInfo {
            name: "coauthor-cs",
            about: "18,333 authors of computer science, 6,805 keywords, 15 fields as classes; 499 MB in memory",
            home: "https://github.com/shchur/gnn-benchmark",
            terms: "repository MIT; data from the Microsoft Academic Graph, KDD Cup 2016",
            ..graph(
                "ms_academic_cs.npz",
                shchur("ms_academic_cs.npz"),
                2_633_158,
                "7bbda0ec297bb44efc712cc59f9e9a6c9ac959e5c4848e311bc7e011b0be5753",
            )
        },
        DatasetInfo {
            name: "amazon-photo",
            about: "7,650 products bought together, 745 words of reviews, 8 categories as classes",
            home: "https://github.com/shchur/gnn-benchmark",
            terms: "repository MIT; data from Amazon's reviews (J. McAuley and others, 2015)",
            ..graph(
                "amazon_electronics_photo.npz",
                shchur("amazon_electronics_photo.npz"),
                1_768_890,
                "616582b757950a34e573543c4d3c02e1087c11d5ad3b324aa1b0ddb95db1c99d",
            )
        },
        DatasetInfo {
            name: "tolokers",
            about: "11,758 crowd workers with 10 features, two classes (banned or not), with ten public splits",
            home: "https://github.com/yandex-research/heterophilous-graphs",
            terms: "repository MIT (O. Platonov and others, 2023)",
            ..graph(
                "tolokers.npz",
                platonov("tolokers.npz"),
                1_329_769,
                "dacf3ac94cec53d03cd2adb5255c08b33dee1656c33ca8164a464bd9450a1667",
            )
        },
    ]
}

/// One file, whose publisher gives no checksum. `size` and `sha256` are those of a copy that was packed again; its counts are the
/// published ones.
fn graph(name: &str, urls: [String; 2], size: u64, sha256: &str) -> DatasetInfo {
    let checks = vec![Check::File { sha256: sha256.into(), size }, Check::FirstSeen];
    let published = file(name, &urls.each_ref().map(String::as_str), Check::FirstSeen, 64 << 20);
    DatasetInfo {
        folder: "graphs",
        variants: vec![vec![DatasetFile { checks, ..published }]],
        ..empty(Origin::Download)
    }
}

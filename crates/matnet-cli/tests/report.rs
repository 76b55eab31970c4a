//! Reports: what is on the page, and whether a real browser shows it.

mod common;

use std::path::PathBuf;
use std::process::Command;

use common::run;
use tempfile::TempDir;

const CONFIG: &str = "
[data]
source = 'digits'
limit = 300
[model]
kind = 'feedforward'
hidden = [8, 8]
depth = 2
[train]
epochs = 2
log_test = true
[variant.matrix]
[variant.vector]
model.form = 'vector'
model.hidden = [20]
";

/// A comparison with its reports.
fn compared() -> TempDir {
    let folder = TempDir::new().unwrap();
    std::fs::write(folder.path().join("twins.toml"), CONFIG).unwrap();
    let (code, out, err) = run(folder.path(), &["compare", "twins.toml", "-q"]);
    assert_eq!(code, 0, "{err}");
    assert!(out.ends_with("\nruns/twins/results.csv\nruns/twins/report.html\n"), "{out}");
    folder
}

/// Fails if a page loads anything from outside.
fn check_self_contained(html: &str) {
    for outside in ["http://", "https://", "src=\"/", "src=\"file", "<link", "@import"] {
        let found = html.match_indices(outside).filter(|(at, _)| !html[..*at].ends_with("xmlns=\""));
        assert_eq!(found.count(), 0, "{outside}");
    }
}

#[test]
fn the_reports_of_a_run_and_a_comparison_are_complete() {
    let folder = compared();
    let read = |name: &str| std::fs::read_to_string(folder.path().join(name)).unwrap();
    let matrix = read("runs/twins/matrix/report.html");
    for part in [
        "<h1>matrix</h1>",
        ">Training<",
        "Confusion matrix, test split",
        ">Misclassified<",
        ", predicted ",
        ">Parameters<",
        "layer.0: U (rows to rows)",
        "config.toml",
        "data:image/png;base64,",
    ] {
        assert!(matrix.contains(part), "{part} is missing");
    }
    let both = read("runs/twins/report.html");
    for part in ["matrix and vector", "Test error rate", ">Test split<", ">Validation split<", "parameters"] {
        assert!(both.contains(part), "{part} is missing");
    }
    check_self_contained(&matrix);
    check_self_contained(&both);

    // Written again, here or elsewhere, it is the same.
    let (code, out, err) = run(folder.path(), &["report", "runs/twins/matrix", "--out", "again.html"]);
    assert_eq!((code, out.as_str()), (0, "again.html\n"), "{err}");
    assert_eq!(read("again.html"), matrix);
    assert_eq!(run(folder.path(), &["report", "runs/twins"]).1, "runs/twins/report.html\n");

    for (args, code, said) in [
        (&["report", "nowhere"][..], 1, "nowhere: No such file or directory"),
        (
            &["report", "runs/twins/matrix", "runs/twins/vector"],
            2,
            "a report about several runs needs a place: --out report.html",
        ),
        (
            &["report", "runs/twins/matrix", "--out", "no/such/place.html"],
            1,
            "no/such/place.html: No such file or directory",
        ),
    ] {
        let (ended, out, err) = run(folder.path(), args);
        assert_eq!((ended, out.as_str()), (code, ""), "{args:?}: {err}");
        assert!(err.contains(said), "{err}");
    }
}

fn browser() -> Option<PathBuf> {
    let paths = std::env::var_os("PATH")?;
    let names = ["chromium", "chromium-browser", "google-chrome"];
    std::env::split_paths(&paths)
        .flat_map(|folder| names.map(|name| folder.join(name)))
        .find(|path| path.exists())
}

#[test]
fn a_browser_shows_the_page_without_errors() {
    let Some(browser) = browser() else {
        eprintln!("SKIPPED: no Chromium on the path");
        return;
    };
    let folder = compared();
    let profile = TempDir::new().unwrap();
    let page = folder.path().join("runs/twins/matrix/report.html");
    let shot = folder.path().join("page.png");
    let output = Command::new(browser)
        .args([
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--no-first-run",
            "--disable-background-networking",
        ])
        .args(["--disable-component-update", "--disable-sync", "--disable-quic", "--hide-scrollbars"])
        .args(["--enable-logging=stderr", "--v=0", "--window-size=1000,3000"])
        .arg(format!("--user-data-dir={}", profile.path().display()))
        .arg(format!("--screenshot={}", shot.display()))
        .arg(format!("file://{}", page.display()))
        .output()
        .unwrap();
    let log = String::from_utf8_lossy(&output.stderr);
    assert!(!log.contains("CONSOLE"), "the page complains: {log}");
    let image = image::open(&shot).unwrap().to_rgb8();
    assert_eq!(image.dimensions(), (1000, 3000));
    // Dark pixels in every third of the page: text, curves, pictures.
    for third in 0..3 {
        let pixels = (0..1000).flat_map(|x| (1000 * third..1000 * (third + 1)).map(move |y| (x, y)));
        let dark =
            pixels.filter(|&(x, y)| image.get_pixel(x, y).0.iter().all(|&channel| channel < 120)).count();
        assert!(dark > 500, "third {third} of the page is empty: {dark} dark pixels");
    }
}

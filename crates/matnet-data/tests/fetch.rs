//! Fetching from servers that truncate, stall, send wrong lengths, redirect, refuse, or change the file.

mod server;

use std::ops::ControlFlow;
use std::path::Path;
use std::time::{Duration, Instant};

use matnet_data::catalog::{
    Cache, Check, DatasetFile, DatasetInfo, FetchOptions, FetchProgress, Origin, Verdict, fetch, fetch_file,
};
use matnet_data::{Error, Result};
use server::{Answer, Server, dripping, honest, rest, send, stalled, truncated, whole};
use sha2::{Digest, Sha256};

const QUICK: FetchOptions = FetchOptions {
    timeout: Duration::from_millis(800),
    min_bytes: 100,
    attempts: 3,
    retry_delay: Duration::from_millis(5),
};

fn content() -> Vec<u8> {
    (0..200_000u32).map(|i| (i.wrapping_mul(2_654_435_761) >> 24) as u8).collect()
}

fn sha256(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The file that holds `content()`, to be had at `urls`.
fn wanted(urls: &[&str]) -> DatasetFile {
    let content = content();
    let size = content.len() as u64;
    let check = Check::File { sha256: sha256(&content), size };
    DatasetFile {
        name: "file.bin".into(),
        urls: urls.iter().map(|url| url.to_string()).collect(),
        checks: vec![check],
        max_bytes: size,
    }
}

fn get(file: &DatasetFile, folder: &Path) -> Result<std::path::PathBuf> {
    fetch_file(file, folder, &QUICK, &mut |_| ControlFlow::Continue(()))
}

/// Fetches from a server that answers so; the content or the error, with the server and what is left in the folder.
fn run(answers: Vec<Answer>) -> (Result<Vec<u8>>, Server, Vec<String>) {
    let server = Server::start(answers);
    let folder = tempfile::tempdir().unwrap();
    let result = get(&wanted(&[&server.url]), folder.path()).map(|path| std::fs::read(path).unwrap());
    let left = names(folder.path());
    if result.is_err() {
        assert!(!left.contains(&"file.bin".to_string()), "a file that failed must not get its real name");
    }
    (result, server, left)
}

fn names(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).unwrap();
    let mut names: Vec<_> = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

#[test]
fn a_good_server_needs_one_request() {
    let (result, server, left) = run(vec![whole(&content(), "a")]);
    assert_eq!(result.unwrap(), content());
    assert_eq!(server.requests().len(), 1);
    assert!(server.requests()[0].contains("user-agent: matnet/"));
    assert_eq!(left, ["file.bin"], "nothing else stays behind");
}

#[test]
fn a_truncated_response_is_resumed() {
    let (result, server, left) = run(vec![truncated(&content(), 70_000, "a"), rest(&content(), 70_000, "a")]);
    assert_eq!(result.unwrap(), content());
    let second = &server.requests()[1];
    assert!(second.contains("range: bytes=70000-") && second.contains("if-range: \"a\""), "{second}");
    assert_eq!(left, ["file.bin"]);
}

#[test]
fn a_partial_download_of_an_earlier_run_is_resumed() {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start(vec![truncated(&content(), 50_000, "a"), rest(&content(), 50_000, "a")]);
    let once = FetchOptions { attempts: 1, ..QUICK };
    let file = wanted(&[&server.url]);
    let error = fetch_file(&file, folder.path(), &once, &mut |_| ControlFlow::Continue(())).unwrap_err();
    assert!(error.to_string().contains("broke off after 50000 bytes"), "{error}");
    assert_eq!(names(folder.path()), ["file.bin.part", "file.bin.part.from"]);
    let path = fetch_file(&file, folder.path(), &once, &mut |_| ControlFlow::Continue(())).unwrap();
    assert_eq!(std::fs::read(path).unwrap(), content());
}

#[test]
fn a_server_that_ignores_ranges_starts_again() {
    let (result, ..) = run(vec![truncated(&content(), 70_000, "a"), whole(&content(), "a")]);
    assert_eq!(result.unwrap(), content());
}

#[test]
fn a_file_that_changed_meanwhile_is_not_joined() {
    // The server honours if-range: it sends the new version whole.
    let mut old = content();
    old[0] ^= 1;
    let (result, ..) = run(vec![truncated(&old, 70_000, "old"), whole(&content(), "new")]);
    assert_eq!(result.unwrap(), content());

    // The server sends the same tag with other contents. The check fails, and the whole file is fetched again.
    let (result, server, _) =
        run(vec![truncated(&old, 70_000, "a"), rest(&content(), 70_000, "a"), whole(&content(), "a")]);
    assert_eq!(result.unwrap(), content());
    assert!(!server.requests()[2].contains("range:"));
}

#[test]
fn a_response_with_the_wrong_range_is_rejected() {
    let (result, ..) =
        run(vec![truncated(&content(), 70_000, "a"), rest(&content(), 60_000, "a"), whole(&content(), "a")]);
    assert_eq!(result.unwrap(), content());
    let refused = send("416 Range Not Satisfiable\ncontent-range: bytes */10\ncontent-length: 0", "");
    let (result, ..) = run(vec![truncated(&content(), 70_000, "a"), refused, whole(&content(), "a")]);
    assert_eq!(result.unwrap(), content());
}

#[test]
fn without_a_validator_nothing_is_continued() {
    let head = "200 OK\ncontent-length: 200000";
    let (result, server, _) = run(vec![send(head, &content()[..100]), send(head, content())]);
    assert_eq!(result.unwrap(), content());
    assert!(!server.requests()[1].contains("range:"));
}

#[test]
fn a_stalled_server_is_given_up_in_time() {
    let pause = Duration::from_secs(2);
    let (result, server, _) = run(vec![
        stalled(&content(), 1000, pause),
        stalled(&content(), 0, pause),
        stalled(&content(), 0, pause),
    ]);
    let error = result.unwrap_err().to_string();
    assert!(error.contains("broke off after 1000 bytes: nothing came in time"), "{error}");
    assert!(!server.requests().is_empty());
}

#[test]
fn a_dripping_server_is_given_up_too() {
    let drip = || dripping(&content(), Duration::from_millis(20));
    let (result, ..) = run(vec![drip(), drip(), drip()]);
    let error = result.unwrap_err().to_string();
    assert!(error.contains("slowed to a drip"), "{error}");
}

#[test]
fn wrong_content_is_removed_and_said() {
    let mut wrong = content();
    wrong[199_999] ^= 1;
    let (result, server, left) = run(vec![whole(&wrong, "a")]);
    let error = result.unwrap_err().to_string();
    assert!(error.contains(&format!("the download has SHA-256 {}", sha256(&wrong))), "{error}");
    assert!(error.contains("it was removed"), "{error}");
    assert_eq!((server.requests().len(), left.len()), (1, 0), "nothing is kept, and nothing is asked twice");
}

#[test]
fn wrong_lengths_are_detected() {
    // Too short a promise: the body is cut there.
    let (result, _, left) = run(vec![send("200 OK\ncontent-length: 1000", content())]);
    assert!(result.unwrap_err().to_string().contains("the download is 1000 bytes, not 200000"));
    assert_eq!(left.len(), 0);
    // Too long a promise: more than the file can have.
    let (result, ..) = run(vec![send("200 OK\ncontent-length: 999999999", content())]);
    assert!(result.unwrap_err().to_string().contains("offers more than the 200000 bytes"));
    // No promise, and no end: given up as soon as it is too much.
    let (result, _, left) = run(vec![send("200 OK", [content(), content()].concat())]);
    assert!(result.unwrap_err().to_string().contains("sends more than the 200000 bytes"));
    assert_eq!(left.len(), 0);
    // No promise, but honest.
    let (result, ..) = run(vec![send("200 OK", content())]);
    assert_eq!(result.unwrap(), content());
}

#[test]
fn redirects_are_followed_but_not_for_ever() {
    let target = Server::start(vec![whole(&content(), "a")]);
    let (result, ..) = run(vec![send(format!("302 Found\nlocation: {}\ncontent-length: 0", target.url), "")]);
    assert_eq!(result.unwrap(), content());

    let circle = || send("302 Found\nlocation: /file.bin\ncontent-length: 0", "");
    let (result, ..) = run((0..20).map(|_| circle()).collect());
    assert!(result.unwrap_err().to_string().contains("too many redirects"));
}

#[test]
fn a_404_sends_to_the_mirror_at_once_and_a_503_is_tried_again() {
    let gone = Server::start(vec![send("404 Not Found\ncontent-length: 0", "")]);
    let busy = send("503 Busy\ncontent-length: 0", "");
    let mirror = Server::start(vec![busy, whole(&content(), "a")]);
    let folder = tempfile::tempdir().unwrap();
    let path = get(&wanted(&[&gone.url, &mirror.url]), folder.path()).unwrap();
    assert_eq!(std::fs::read(path).unwrap(), content());
    assert_eq!((gone.requests().len(), mirror.requests().len()), (1, 2));
}

#[test]
fn without_a_network_the_error_says_what_to_do_by_hand() {
    let folder = tempfile::tempdir().unwrap();
    // A port without a server.
    let url = Server::start(vec![]).url;
    std::thread::sleep(Duration::from_millis(50));
    let error = get(&wanted(&[&url]), folder.path()).unwrap_err();
    assert!(matches!(error, Error::Fetch(_)));
    let text = error.to_string();
    let by_hand =
        format!("by hand:\n  download {url}\n  and put it at {}", folder.path().join("file.bin").display());
    assert!(text.starts_with("could not fetch file.bin:\n"), "{text}");
    assert!(text.ends_with(&by_hand), "{text}");
    assert_eq!(names(folder.path()).len(), 0);
}

#[test]
fn what_is_there_and_right_needs_no_network_and_what_is_wrong_is_replaced() {
    let folder = tempfile::tempdir().unwrap();
    let target = folder.path().join("file.bin");
    std::fs::write(&target, content()).unwrap();
    assert_eq!(get(&wanted(&[]), folder.path()).unwrap(), target);

    std::fs::write(&target, b"half a").unwrap();
    let server = Server::start(vec![whole(&content(), "a")]);
    get(&wanted(&[&server.url]), folder.path()).unwrap();
    assert_eq!(std::fs::read(&target).unwrap(), content());
}

#[test]
fn an_interrupted_fetch_keeps_its_part_and_goes_on() {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start(vec![honest(&content(), "a"), honest(&content(), "a")]);
    let file = wanted(&[&server.url]);
    let mut have = 0;
    let error = fetch_file(&file, folder.path(), &QUICK, &mut |progress| match progress {
        FetchProgress::Bytes(_, done, total) if done > 60_000 => {
            assert_eq!(total, Some(200_000));
            have = done;
            ControlFlow::Break(())
        }
        _ => ControlFlow::Continue(()),
    });
    assert!(matches!(error, Err(Error::Interrupted)));
    assert_eq!(std::fs::metadata(folder.path().join("file.bin.part")).unwrap().len(), have);
    let path = get(&file, folder.path()).unwrap();
    assert_eq!(std::fs::read(path).unwrap(), content());
    assert!(server.requests()[1].contains(&format!("range: bytes={have}-")));
}

#[cfg(unix)]
#[test]
fn a_part_that_is_a_link_is_refused_and_its_target_stays_whole() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("precious"), "mine").unwrap();
    std::os::unix::fs::symlink("precious", folder.path().join("file.bin.part")).unwrap();
    let server = Server::start(vec![honest(&content(), "a")]);
    let error = get(&wanted(&[&server.url]), folder.path()).unwrap_err().to_string();
    assert!(error.contains("file.bin.part: is a symbolic link"), "{error}");
    assert_eq!(std::fs::read_to_string(folder.path().join("precious")).unwrap(), "mine");
}

#[test]
fn two_fetches_of_one_file_do_not_mix() {
    let folder = tempfile::tempdir().unwrap();
    let part = std::fs::File::create(folder.path().join("file.bin.part")).unwrap();
    part.lock().unwrap();
    let error = get(&wanted(&["http://127.0.0.1:9/"]), folder.path()).unwrap_err().to_string();
    assert!(error.ends_with("another process is fetching it"), "{error}");
}

#[test]
fn a_file_without_a_published_checksum_is_held_to_its_first_one() {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start(vec![whole(&content(), "a")]);
    let file = DatasetFile { checks: vec![Check::FirstSeen], ..wanted(&[&server.url]) };
    let dataset = DatasetInfo {
        name: "test",
        about: "a test",
        home: "here",
        terms: "none",
        origin: Origin::Download,
        derived_from: None,
        folder: "test",
        variants: vec![vec![file]],
        unpacked: &[],
        repository_file: None,
        research: false,
    };
    let cache = Cache::new(folder.path());
    let paths = fetch(&dataset, &cache, &QUICK, &mut |_| ControlFlow::Continue(())).unwrap();
    assert_eq!(cache.verify(&dataset).unwrap(), [(paths[0].clone(), Verdict::Verified)]);
    std::fs::write(&paths[0], "other").unwrap();
    assert!(matches!(&cache.verify(&dataset).unwrap()[0].1, Verdict::Mismatch(_)));
}

#[test]
fn a_gzip_file_is_known_by_what_it_holds() {
    use std::io::Write;
    let pack = |level| {
        let mut packer = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::new(level));
        packer.write_all(&content()).unwrap();
        packer.finish().unwrap()
    };
    for level in [1, 9] {
        let folder = tempfile::tempdir().unwrap();
        let server = Server::start(vec![whole(&pack(level), "a")]);
        let check = Check::Unpacked { sha256: sha256(&content()), size: 200_000 };
        let file = DatasetFile { checks: vec![check], max_bytes: 300_000, ..wanted(&[&server.url]) };
        get(&file, folder.path()).unwrap();
    }
    // A page of HTML where a file should be is a common kind of wrong.
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start(vec![whole(b"<html>", "a")]);
    let check = Check::Unpacked { sha256: sha256(&content()), size: 200_000 };
    let error = get(&DatasetFile { checks: vec![check], ..wanted(&[&server.url]) }, folder.path())
        .unwrap_err()
        .to_string();
    assert!(error.contains("the download unpacks to 6 bytes, not 200000"), "{error}");
}

/// A server with a certificate that it signed itself, where the system has `openssl`; killed when dropped.
struct SelfSigned(std::process::Child, String);

impl SelfSigned {
    fn start(folder: &Path) -> Option<Self> {
        let openssl = |args: &[&str]| {
            let mut command = std::process::Command::new("openssl");
            command.args(args).current_dir(folder).stdin(std::process::Stdio::null());
            command.stdout(std::process::Stdio::null()).stderr(std::process::Stdio::null());
            command
        };
        let make =
            "req -x509 -newkey rsa:2048 -nodes -keyout key.pem -out cert.pem -days 2 -subj /CN=localhost";
        openssl(&make.split(' ').collect::<Vec<_>>()).status().ok().filter(|status| status.success())?;
        let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let serve = format!("s_server -accept {free} -key key.pem -cert cert.pem -www");
        let server = openssl(&serve.split(' ').collect::<Vec<_>>()).spawn().ok()?;
        let server = Self(server, format!("https://localhost:{free}/file.bin"));
        let start = Instant::now();
        while std::net::TcpStream::connect(("127.0.0.1", free)).is_err() {
            assert!(start.elapsed() < Duration::from_secs(20), "the server does not start");
            std::thread::sleep(Duration::from_millis(10));
        }
        Some(server)
    }
}

impl Drop for SelfSigned {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn a_certificate_that_is_not_trusted_is_said_once() {
    let folder = tempfile::tempdir().unwrap();
    let Some(server) = SelfSigned::start(folder.path()) else {
        eprintln!("skipped: there is no openssl");
        return;
    };
    let target = folder.path().join("data");
    let options = FetchOptions { timeout: Duration::from_secs(20), ..QUICK };
    let fetched = fetch_file(&wanted(&[&server.1]), &target, &options, &mut |_| ControlFlow::Continue(()));
    let error = fetched.unwrap_err().to_string();
    let line = format!(
        "  {}: its certificate is not signed by an authority that browsers trust (does a proxy read along?)",
        server.1
    );
    assert_eq!(error.lines().filter(|found| *found == line).count(), 1, "{error}");
    assert_eq!(error.matches("certificate").count(), 1, "{error}");
    assert_eq!(names(&target), [""; 0], "nothing stays behind");
}

//! Damaged and malicious files: every reader returns a value or a clear error, and never takes more memory than twice the file plus
//! 1 MiB. Compressed files count by their decompressed size.

mod seeds;

use std::sync::Mutex;

use matnet_data::Result;
use matnet_data::format::{archive, csv, idx, npy, npz};
use matnet_data::local::SampleReader;
use peak_alloc::PeakAlloc;
use seeds::{gzip, idx_file, npy_file, run, tar_file, tar_header, trial, zip_file};

#[global_allocator]
static MEMORY: PeakAlloc = PeakAlloc;

/// Memory is measured for the whole process: one test at a time.
static ALONE: Mutex<()> = Mutex::new(());

const FREE: usize = 1 << 20;

/// Runs `read` and fails if it holds more than `most` bytes at once.
fn within<T>(most: usize, what: &str, read: impl FnOnce() -> T) -> T {
    let before = MEMORY.current_usage();
    MEMORY.reset_peak_usage();
    let result = read();
    let taken = MEMORY.peak_usage().saturating_sub(before);
    assert!(taken <= most, "{what}: {taken} bytes taken, {most} allowed");
    result
}

/// Checks that an error says which file it is about.
fn check(result: Result<()>, what: &str) {
    if let Err(error) = result {
        let text = error.to_string();
        assert!(text.starts_with("seed") && text.len() > "seed: ".len(), "{what}: error {text:?}");
    }
}

/// A small generator of numbers: the same ones on every run.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
        ((self.0 >> 33) as usize) % end.max(1)
    }
}

#[test]
fn valid_files_are_read() {
    let _alone = ALONE.lock();
    for seed in seeds::all() {
        run(seed.target, &seed.bytes).unwrap_or_else(|e| panic!("{} {}: {e}", seed.target, seed.name));
    }
}

#[test]
fn files_cut_at_every_byte() {
    let _alone = ALONE.lock();
    for seed in seeds::all() {
        let what = format!("{} {}", seed.target, seed.name);
        for cut in 0..seed.bytes.len() {
            let most = 2 * cut.max(unpacked(seed.target)) + FREE;
            let result = within(most, &what, || run(seed.target, &seed.bytes[..cut]));
            check(result, &what);
        }
    }
}

#[test]
fn files_with_flipped_bits() {
    let _alone = ALONE.lock();
    let mut numbers = Numbers(7);
    for seed in seeds::all() {
        let what = format!("{} {}", seed.target, seed.name);
        let rounds = if seed.target == "eeg" { 2000 } else { 5000 };
        for _ in 0..rounds {
            let mut bytes = seed.bytes.clone();
            for _ in 0..=numbers.below(4) {
                let at = numbers.below(bytes.len());
                bytes[at] ^= 1 << numbers.below(8);
            }
            let most = 2 * bytes.len().max(unpacked(seed.target)) + FREE;
            let result = within(most, &what, || run(seed.target, &bytes));
            check(result, &what);
        }
    }
}

/// The decompressed size of a valid file, where it is compressed. Tables by column may say that they unpack to what a small file may, and
/// the crates that read them reserve that.
fn unpacked(target: &str) -> usize {
    match target {
        "eeg" => 300 << 10,
        "parquet" | "arrow" => 10 << 20,
        _ => 0,
    }
}

#[test]
fn plain_trials_are_cut_and_flipped_too() {
    let _alone = ALONE.lock();
    let text = trial("co2a0000364", "S1 obj ,", 0, 1).into_bytes();
    let mut numbers = Numbers(11);
    for _ in 0..3000 {
        let cut = numbers.below(text.len());
        assert!(within(2 * text.len() + FREE, "cut", || run("eeg", &text[..cut])).is_err(), "cut at {cut}");
        let mut flipped = text.clone();
        let at = numbers.below(text.len());
        flipped[at] ^= 1 << numbers.below(8);
        check(within(2 * text.len() + FREE, "flip", || run("eeg", &flipped)), "flip");
    }
}

#[test]
fn wrong_sizes_take_no_memory() {
    let _alone = ALONE.lock();
    let mut lies: Vec<(&str, Vec<u8>)> = vec![
        ("idx", idx_file(0x08, &[u32::MAX, u32::MAX], &[0; 16])),
        ("idx", idx_file(0x08, &[1 << 31], &[0; 16])),
        ("idx", gzip(&idx_file(0x0e, &[1 << 31], &[0; 16]))),
        ("npy", npy_file("<f8", false, "(1099511627776, 1024)", &[0; 16])),
        ("npy", gzip(&npy_file("<f8", false, "(1073741824,)", &[0; 16]))),
        ("npy", gzip(&npy_file("<f8", true, "(32768, 32768)", &[0; 16]))),
        ("samples", npy_file("<f8", false, "(1099511627776, 1, 1024)", &[0; 16])),
        ("samples", npy_file("<f8", false, "(9, 4294967296, 4294967296)", &[0; 16])),
        ("samples", gzip(&npy_file("<f8", false, "(2, 32768, 32768)", &[0; 16]))),
        ("samples", gzip(&npy_file("<f8", true, "(2, 32768, 32768)", &[0; 16]))),
        ("npz", zip_file(&[("x.npy", &npy_file("<f4", false, "(1073741824,)", &[0; 16]))], true)),
        ("pickle", b"\x80\x02T\xff\xff\xff\xff.".to_vec()),
        ("pickle", b"\x80\x02Nr\xff\xff\xff\xff.".to_vec()),
        ("pickle", vec![b'('; 3 << 20]),
        ("pickle", b"]".repeat(1 << 20)),
        ("pickle", b"}".repeat(1 << 20)),
    ];
    // a header of 4 GiB, version 2
    let mut long = b"\x93NUMPY\x02\x00".to_vec();
    long.extend(u32::MAX.to_le_bytes());
    lies.push(("npy", long));
    // a MATLAB element of 4 GiB
    let mut element = b"MATLAB 5.0 MAT-file".to_vec();
    element.resize(126, b' ');
    element.extend(b"IM\x0e\0\0\0\xff\xff\xff\xff");
    lies.push(("matlab", element));
    // a tar entry of 8 GiB
    let mut tar = tar_header("big", tar::EntryType::Regular, 8 << 30).as_bytes().to_vec();
    tar.resize(2048, 0);
    lies.push(("archive", tar));
    // a PNG of 60,000 by 60,000
    let mut png = b"\x89PNG\r\n\x1a\n\0\0\0\x0dIHDR\0\0\xea\x60\0\0\xea\x60\x08\0\0\0\0".to_vec();
    png.extend([0x2f, 0x12, 0x8e, 0x6d]);
    png.extend(b"\0\0\0\x10IDAT0123456789abcdef");
    lies.push(("images", png));
    lies.push(("images", b"P5 60000 60000 255\n0123".to_vec()));
    for (target, bytes) in lies {
        let result = within(2 * bytes.len() + FREE, target, || run(target, &bytes));
        assert!(result.is_err(), "{target}: a lie of {} bytes was believed", bytes.len());
    }
}

#[test]
fn large_files_stay_within_twice_their_size() {
    let _alone = ALONE.lock();
    let dir = tempfile::tempdir().unwrap();
    let count = 3 << 20;
    let body = vec![1; count];
    let mut text = b"1,".repeat(count / 2 - 1);
    text.extend(b"1\n");
    type Read = fn(&std::path::Path) -> Result<()>;
    let files: Vec<(&str, Vec<u8>, Read)> = vec![
        ("idx", idx_file(0x08, &[count as u32], &body), |path| idx::read(path).map(drop)),
        ("C order", npy_file("<f4", false, &format!("({},)", count / 4), &body), |path| {
            npy::read(path).map(drop)
        }),
        ("Fortran order", npy_file(">f8", true, &format!("(2, {})", count / 16), &body), |path| {
            npy::read(path).map(drop)
        }),
        (
            "npz",
            zip_file(&[("x.npy", &npy_file("<f8", false, &format!("({},)", count / 8), &body))], false),
            |path| npz::read(path).map(drop),
        ),
        ("csv", text, |path| csv::read(path).map(drop)),
    ];
    for (what, bytes, read) in files {
        let (path, size) = (dir.path().join(what), bytes.len());
        std::fs::write(&path, &bytes).unwrap();
        drop(bytes);
        within(2 * size + FREE, what, || read(&path)).unwrap_or_else(|e| panic!("{what}: {e}"));
    }
}

/// What fuzzing has found, and what was near it.
#[test]
fn nodes_below_a_header_of_another_width() {
    let _alone = ALONE.lock();
    for (nodes, expected) in [
        ("id\x0cf,cl`ss\n1,0,5c,3\n2,1,4\n", "seed: line 2: more fields than the 2 of the header"),
        ("f0,f1,class\na,0.5,0.7,2\n", "seed: line 2: more fields than the 3 of the header"),
        ("id,f0,f1,word\na,0.5,x\n", "seed: line 2: 3 fields where the header has 4"),
        ("id,f0,f1,class\na,0,1,x\nb,0,1\n", "seed: line 3: 3 fields where the header has 4"),
    ] {
        let bytes = format!("from,to\n\0{nodes}").into_bytes();
        assert_eq!(run("edgelist", &bytes).unwrap_err().to_string(), expected);
    }
}

#[test]
fn samples_are_read_in_chunks() {
    let _alone = ALONE.lock();
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("x.npy");
    let (count, size) = (3000, 4 * 32 * 32);
    std::fs::write(&path, npy_file("<f4", false, "(3000, 32, 32)", &vec![1; count * size])).unwrap();
    let read = || {
        let mut reader = SampleReader::open(&path)?;
        let mut found = 0;
        while let Some(some) = reader.next_chunk(10)? {
            found += some.inputs.len();
        }
        Ok::<_, matnet_data::Error>(found)
    };
    // 12 MB in all, of which ten samples and the reader's own blocks are held
    assert_eq!(within(20 * size + (200 << 10), "parts", read).unwrap(), count);
}

#[test]
fn archives_that_would_write_elsewhere_are_refused() {
    let _alone = ALONE.lock();
    let refused = |bytes: &[u8], why: &str| {
        let error = archive::each_bytes("seed", bytes, &mut |_| Ok(())).unwrap_err().to_string();
        assert!(error.contains(why), "{error:?} does not say {why:?}");
    };
    for name in ["../up", "a/../../up", "..\\up"] {
        refused(&tar_file(&[(name, b"x")]), "'..'");
        refused(&gzip(&tar_file(&[(name, b"x")])), "'..'");
        refused(&zip_file(&[(name, b"x")], true), "'..'");
    }
    for name in ["/etc/passwd", "\\root", "C:/x"] {
        refused(&tar_file(&[(name, b"x")]), "absolute");
        refused(&zip_file(&[(name, b"x")], false), "absolute");
    }
    for kind in [tar::EntryType::Symlink, tar::EntryType::Link] {
        let mut header = tar_header("link", kind, 0);
        header.set_link_name("/etc/passwd").unwrap();
        header.set_cksum();
        let mut bytes = header.as_bytes().to_vec();
        bytes.resize(2048, 0);
        refused(&bytes, "link");
    }
    for kind in [tar::EntryType::Fifo, tar::EntryType::Char, tar::EntryType::Block, tar::EntryType::GNUSparse]
    {
        let mut bytes = tar_header("odd", kind, 0).as_bytes().to_vec();
        bytes.resize(2048, 0);
        refused(&bytes, "");
    }
    let mut zip = rawzip::ZipArchiveWriter::new(Vec::new());
    let (mut entry, config) = zip.new_file("link").unix_permissions(0o120_777).start().unwrap();
    let mut writer = config.wrap(&mut entry);
    std::io::Write::write_all(&mut writer, b"/etc/passwd").unwrap();
    let (_, descriptor) = writer.finish().unwrap();
    entry.finish(descriptor).unwrap();
    refused(&zip.finish().unwrap(), "link");
}

#[test]
fn bombs_are_refused() {
    let _alone = ALONE.lock();
    let zeros = vec![0; 64 << 20];
    let mut image = npy_file("|u1", false, "(67108864,)", &[]);
    image.extend(&zeros);
    let bombs: Vec<(&str, Vec<u8>)> = vec![
        ("npy", gzip(&image)),
        ("npz", zip_file(&[("x.npy", &image)], true)),
        ("archive", gzip(&tar_file(&[("zeros", &zeros)]))),
        ("archive", zip_file(&[("zeros", &zeros)], true)),
        ("archive", zip_file(&[("inner.tar.gz", &gzip(&tar_file(&[("zeros", &zeros)])))], false)),
        ("idx", gzip(&idx_file(0x08, &[64 << 20], &zeros))),
    ];
    drop((zeros, image));
    for (target, bytes) in bombs {
        let error = run(target, &bytes).unwrap_err().to_string();
        assert!(error.contains("times its size"), "{target}: {error}");
    }
    // nested gzip shares the budget of the outer one
    let twice = gzip(&gzip(&vec![0; 64 << 20]));
    assert!(twice.len() < 4 << 10);
    let bomb = zip_file(&[("inner.tar.gz", &twice)], true);
    assert!(run("archive", &bomb).is_err());
}

#[test]
fn entries_that_share_bytes_are_refused() {
    let _alone = ALONE.lock();
    let array = npy_file("|u1", false, "(100000,)", &[7; 100_000]);
    let mut bytes = zip_file(&[("a.npy", &array)], false);
    // the list of entries again and again, each under its own name but with the same bytes
    let end = bytes.len() - 22;
    let start = u32::from_le_bytes(bytes[end + 16..end + 20].try_into().unwrap()) as usize;
    let record = bytes[start..end].to_vec();
    let mut last = bytes.split_off(end);
    for letter in b'b'..=b'z' {
        let mut twin = record.clone();
        twin[46] = letter;
        bytes.extend(twin);
    }
    let (count, size) = (26u16, (record.len() * 26) as u32);
    last[8..10].copy_from_slice(&count.to_le_bytes());
    last[10..12].copy_from_slice(&count.to_le_bytes());
    last[12..16].copy_from_slice(&size.to_le_bytes());
    bytes.extend(last);
    let error = within(2 * bytes.len() + FREE, "overlap", || run("npz", &bytes)).unwrap_err().to_string();
    assert!(error.contains("overlap"), "{error}");
}

#[test]
fn pickles_that_would_run_are_refused_by_name() {
    let _alone = ALONE.lock();
    for (code, name) in [
        (&b"cos\nsystem\n(U\x02lstR."[..], "os.system"),
        (b"\x80\x02c__builtin__\neval\nU\x011\x85R.", "__builtin__.eval"),
        (b"\x80\x04\x8c\x05posix\x8c\x06system\x93\x8c\x02ls\x85R.", "posix.system"),
        (b"\x80\x02csubprocess\nPopen\n)\x81.", "subprocess.Popen"),
    ] {
        let error = run("pickle", code).unwrap_err().to_string();
        assert!(error.contains(&format!("names {name}")), "{error}");
    }
    // other ways to name things are no instructions we know
    for code in [&b"(ios\nsystem\n."[..], b"\x82\x01.", b"P0\n.", b"(cos\no."] {
        assert!(run("pickle", code).is_err());
    }
}

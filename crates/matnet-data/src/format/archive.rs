//! Archives: tar (plain, gzip or xz) and zip, read entry by entry, never unpacked to disk.
//!
//! Names with `..`, absolute names and links are refused, and so are decompression bombs; nested archives share the budget of the
//! outermost one.

use std::io::BufReader;
use std::path::{Path, PathBuf};

use flate2::bufread::DeflateDecoder;
use lzma_rust2::XzReader;
use rawzip::{CompressionMethod, ReaderAt, ZipArchive, ZipLocator};

use crate::format::bounded::{Budget, Input};
use crate::{Error, Result, files};

/// The maximum number of entries.
const MOST_ENTRIES: usize = 1 << 20;
/// The maximum length of a name.
const LONGEST_NAME: usize = 4096;

/// One file of an archive.
pub struct ArchiveEntry<'a> {
    /// The path in the archive, separated by `/`.
    pub name: String,
    /// The bytes; an entry that is itself compressed is not decompressed.
    pub input: Input<'a>,
}

/// The callback of [`each`].
pub type Visit<'v> = &'v mut dyn FnMut(ArchiveEntry) -> Result<()>;

/// Whether the name is that of an archive that [`each`] can read.
pub fn is_archive(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    [".tar", ".tar.gz", ".tgz", ".tar.xz", ".zip"].iter().any(|end| name.ends_with(end))
}

/// Passes every file of the archive at `path` to `visit`, in order.
pub fn each(path: impl AsRef<Path>, visit: Visit) -> Result<()> {
    let path = path.as_ref();
    let mut input = Input::open_packed(path)?;
    if !input.peek(2)?.starts_with(b"PK") {
        return each_in(input, visit);
    }
    let budget = input.budget().clone();
    let file = files::open(path)?;
    let size = file.metadata().map_err(|e| Error::io(path, e))?.len();
    zip(path, rawzip::FileReader::from(file), size, &budget, visit)
}

/// Passes every file of an archive in a stream to `visit`, in order.
pub fn each_in(mut input: Input, visit: Visit) -> Result<()> {
    let head = input.peek(6)?;
    if head.starts_with(b"PK") {
        let (name, budget) = (input.name().to_owned(), input.budget().clone());
        let bytes = input.rest()?;
        let size = bytes.len() as u64;
        return zip(&name, bytes, size, &budget, visit);
    }
    if head.starts_with(b"\xfd7zXZ\0") {
        // the dictionary is allocated at once, with the size that the header claims
        let most = input.left().unwrap_or(0).saturating_mul(8).saturating_add(512 << 10) >> 10;
        let most = u32::try_from(most).unwrap_or(u32::MAX - 1);
        return tar(input.unpack(|packed| XzReader::new_mem_limit(packed, false, most)), visit);
    }
    tar(input.gunzip()?, visit)
}

/// Passes every file of an archive in memory to `visit`, in order.
pub fn each_bytes(name: impl AsRef<Path>, bytes: &[u8], visit: Visit) -> Result<()> {
    let input = Input::bytes_packed(&name, bytes);
    if bytes.starts_with(b"PK") {
        return zip(name.as_ref(), bytes, bytes.len() as u64, input.budget(), visit);
    }
    each_in(input, visit)
}

/// Where the bytes of a file stand in a zip archive, if they are stored without compression; `None` if they are compressed, or if there is
/// no such file.
pub(crate) fn stored_member(path: &Path, name: &str) -> Result<Option<std::ops::Range<u64>>> {
    let bad = |e: rawzip::Error| Error::format(path, format!("not a valid zip archive: {e}"));
    let file = files::open(path)?;
    let size = file.metadata().map_err(|e| Error::io(path, e))?.len();
    let mut buffer = vec![0; 128 << 10];
    let archive: ZipArchive<_> = ZipLocator::new()
        .locate_in_reader(rawzip::FileReader::from(file), &mut buffer, size)
        .map_err(|(_, e)| bad(e))?;
    let mut entries = archive.entries(&mut buffer);
    while let Some(header) = entries.next_entry().map_err(bad)? {
        if header.file_path().as_bytes() != name.as_bytes() {
            continue;
        }
        let stored =
            header.compression_method() == CompressionMethod::STORE && !header.flags().is_encrypted();
        let place = header.wayfinder();
        let (start, end) = archive.get_entry(place).map_err(bad)?.compressed_data_range();
        let whole = end <= size && end.checked_sub(start) == Some(place.uncompressed_size_hint());
        return Ok((stored && whole).then_some(start..end));
    }
    Ok(None)
}

/// The normalized name, or why it is refused.
fn checked_name(name: &[u8]) -> Result<String, String> {
    let shown = || String::from_utf8_lossy(&name[..name.len().min(200)]).into_owned();
    if name.len() > LONGEST_NAME {
        return Err(format!("entry {:?}… has a name of {} bytes", shown(), name.len()));
    }
    let text = std::str::from_utf8(name).map_err(|_| format!("entry {:?} is not UTF-8", shown()))?;
    let drive = text.as_bytes().get(1) == Some(&b':');
    if text.starts_with(['/', '\\']) || drive {
        return Err(format!("entry {text:?} has an absolute name"));
    }
    if text.contains('\0') {
        return Err(format!("entry {text:?} has a zero byte in its name"));
    }
    let mut parts = Vec::new();
    for part in text.split(['/', '\\']) {
        match part {
            "" | "." => {}
            ".." => return Err(format!("entry {text:?} leaves its folder by '..'")),
            part => parts.push(part),
        }
    }
    Ok(parts.join("/"))
}

/// The name of an entry in errors: the path of the archive, then that of the entry.
fn inner_name(archive: &Path, entry: &str) -> PathBuf {
    archive.join(entry)
}

fn tar(input: Input, visit: Visit) -> Result<()> {
    let archive_name = input.name().to_owned();
    let budget = input.budget().clone();
    let bad = |e: std::io::Error| match e.kind() {
        std::io::ErrorKind::UnexpectedEof => Error::format(&archive_name, "ends in the middle of an entry"),
        _ => Error::format(&archive_name, format!("not a valid tar archive: {e}")),
    };
    let mut archive = tar::Archive::new(input);
    let mut count = 0usize;
    for entry in archive.entries().map_err(bad)? {
        let entry = entry.map_err(bad)?;
        count += 1;
        if count > MOST_ENTRIES {
            return Err(Error::format(&archive_name, format!("has more than {MOST_ENTRIES} entries")));
        }
        let name = checked_name(&entry.path_bytes()).map_err(|what| Error::format(&archive_name, what))?;
        let kind = entry.header().entry_type();
        if kind.is_dir() || kind.is_pax_global_extensions() {
            continue;
        }
        if kind.is_symlink() || kind.is_hard_link() {
            return Err(Error::format(&archive_name, format!("entry {name:?} is a link; links are refused")));
        }
        if !kind.is_file() {
            let what = format!("entry {name:?} is neither a file nor a folder");
            return Err(Error::format(&archive_name, what));
        }
        let input = Input::inside(inner_name(&archive_name, &name), entry, None, budget.clone());
        visit(ArchiveEntry { name, input })?;
    }
    if count == 0 {
        return Err(Error::format(&archive_name, "has no entries; a tar or zip archive expected"));
    }
    Ok(())
}

fn zip(name: &Path, source: impl ReaderAt, size: u64, budget: &Budget, visit: Visit) -> Result<()> {
    let bad = |e: rawzip::Error| Error::format(name, format!("not a valid zip archive: {e}"));
    // a separate buffer: the central directory is read through it while entries are visited
    let mut buffer = vec![0; 128 << 10];
    let archive: ZipArchive<_> =
        ZipLocator::new().locate_in_reader(source, &mut buffer, size).map_err(|(_, e)| bad(e))?;
    if archive.entries_hint() > MOST_ENTRIES as u64 {
        return Err(Error::format(name, format!("has more than {MOST_ENTRIES} entries")));
    }
    let mut packed = 0u64;
    let mut entries = archive.entries(&mut buffer);
    while let Some(header) = entries.next_entry().map_err(bad)? {
        let entry_name =
            checked_name(header.file_path().as_bytes()).map_err(|what| Error::format(name, what))?;
        if header.is_dir() {
            continue;
        }
        if header.mode().is_symlink() {
            return Err(Error::format(name, format!("entry {entry_name:?} is a link; links are refused")));
        }
        if header.flags().is_encrypted() {
            return Err(Error::format(name, format!("entry {entry_name:?} is encrypted")));
        }
        let method = header.compression_method();
        let place = header.wayfinder();
        let entry = archive.get_entry(place).map_err(bad)?;
        let shown = inner_name(name, &entry_name);
        let claimed = place.uncompressed_size_hint();
        // entries that share bytes would let a small archive hold one large file many times
        let (start, end) = entry.compressed_data_range();
        packed = packed.saturating_add(end.saturating_sub(start));
        if packed > size {
            return Err(Error::format(name, "entries overlap"));
        }
        let input = match method {
            CompressionMethod::STORE => {
                // stored bytes are in the file, so their size can be trusted
                if end.saturating_sub(start) != claimed {
                    return Err(Error::format(shown, "has two sizes for stored bytes"));
                }
                let reader = entry.verifying_reader(BufReader::new(entry.reader()));
                Input::paid(shown, reader, Some(claimed), budget.clone())
            }
            CompressionMethod::DEFLATE => {
                let reader = DeflateDecoder::new(BufReader::with_capacity(32 << 10, entry.reader()));
                let reader = entry.verifying_reader(reader);
                Input::paid(shown, reader, None, budget.clone())
            }
            other => {
                let what =
                    format!("entry {entry_name:?} is compressed by {other}; only deflate is supported");
                return Err(Error::format(name, what));
            }
        };
        visit(ArchiveEntry { name: entry_name, input })?;
    }
    Ok(())
}

//! Verifying files by their published checksums.

use std::collections::BTreeMap;
use std::io::Read;
use std::path::{Path, PathBuf};

use md5::Md5;
use sha2::{Digest, Sha256};

use crate::error::counted;
use crate::format::archive;
use crate::format::bounded::Input;
use crate::{Error, Result};

/// One way to verify a file. Checksums are in lower-case hexadecimal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Check {
    /// The file itself.
    File {
        /// SHA-256 of its bytes.
        sha256: String,
        /// Their number.
        size: u64,
    },
    /// The contents of a gzip file; mirrors compress the same contents differently.
    Unpacked {
        /// SHA-256 of the unpacked bytes.
        sha256: String,
        /// Their number.
        size: u64,
    },
    /// The file itself, where only an MD5 is published. It guards against accidents, not against forgery.
    Md5 {
        /// MD5 of its bytes.
        md5: String,
    },
    /// Files of an archive: the base name, and the SHA-256.
    Members(Vec<(String, String)>),
    /// All `.txt` files in one folder of an archive.
    Folder {
        /// The folder's own name.
        folder: String,
        /// How many files it holds.
        files: usize,
        /// SHA-256 of the list that `sha256sum *.txt` prints there, sorted by name.
        sha256: String,
    },
    /// A variable of bytes in a MATLAB file, column by column.
    MatlabVariable {
        /// The variable's name.
        name: String,
        /// SHA-256 of its bytes.
        sha256: String,
    },
    /// No checksum is published: that of the first download is stored beside the file and compared from then on.
    FirstSeen,
}

/// The outcome of a check.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The file is right.
    Verified,
    /// There is no published checksum, and none was recorded before; this is the SHA-256 of the file.
    Unverified(String),
    /// The file is wrong; the text says what was found and what was expected.
    Mismatch(String),
}

/// Whether the file at `path` passes one of `checks`; [`Check::FirstSeen`] stores its checksum in `recorded`.
pub(super) fn run(checks: &[Check], path: &Path, recorded: &Path) -> Result<Verdict> {
    let mut last = Verdict::Mismatch("no check is known".into());
    for check in checks {
        match check.run(path, recorded) {
            Ok(Verdict::Mismatch(what)) => last = Verdict::Mismatch(what),
            Ok(verdict) => return Ok(verdict),
            // A file that cannot be opened is an error; one that does not parse is a mismatch.
            Err(Error::Format { what, .. }) => last = Verdict::Mismatch(what),
            Err(error) => return Err(error),
        }
    }
    Ok(last)
}

impl Check {
    fn run(&self, path: &Path, recorded: &Path) -> Result<Verdict> {
        match self {
            Self::File { sha256, size } => {
                let found = size_of(path)?;
                if found != *size {
                    return Ok(Verdict::Mismatch(format!(
                        "is {}, not {size}",
                        counted(found as usize, "byte")
                    )));
                }
                Ok(compare("", &digest::<Sha256>(&mut Input::open_packed(path)?)?.0, sha256))
            }
            Self::Unpacked { sha256, size } => {
                let (found, bytes) = digest::<Sha256>(&mut Input::open(path)?)?;
                if bytes != *size {
                    return Ok(Verdict::Mismatch(format!(
                        "unpacks to {}, not {size}",
                        counted(bytes as usize, "byte")
                    )));
                }
                Ok(compare("unpacked, ", &found, sha256))
            }
            Self::Md5 { md5 } => {
                let (found, _) = digest::<Md5>(&mut Input::open_packed(path)?)?;
                Ok(match found == *md5 {
                    true => Verdict::Verified,
                    false => Verdict::Mismatch(format!("has MD5 {found}, not {md5}")),
                })
            }
            Self::Members(wanted) => {
                let found = members(path, |name| wanted.iter().any(|(known, _)| known == base(name)))?;
                for (name, sha256) in wanted {
                    let Some(found) = found.get(name) else {
                        return Ok(Verdict::Mismatch(format!("holds no {name}")));
                    };
                    if found != sha256 {
                        return Ok(compare(&format!("its {name} "), found, sha256));
                    }
                }
                Ok(Verdict::Verified)
            }
            Self::Folder { folder, files, sha256 } => {
                let inside = |name: &str| {
                    let mut parts = name.rsplit('/');
                    let file = parts.next().unwrap_or_default();
                    file.ends_with(".txt") && !file.starts_with('.') && parts.next() == Some(folder)
                };
                let found = members(path, inside)?;
                if found.len() != *files {
                    return Ok(Verdict::Mismatch(format!(
                        "holds {} texts in {folder}/, not {files}",
                        found.len()
                    )));
                }
                let list: String = found.iter().map(|(name, sum)| format!("{sum}  {name}\n")).collect();
                Ok(compare(&format!("its {folder}/ "), &hex(&Sha256::digest(list)), sha256))
            }
            Self::MatlabVariable { name, sha256 } => Ok(compare(
                &format!("its variable {name} "),
                &hex(&Sha256::digest(matlab_variable(path, name)?)),
                sha256,
            )),
            Self::FirstSeen => {
                let (found, _) = digest::<Sha256>(&mut Input::open_packed(path)?)?;
                match std::fs::read_to_string(recorded) {
                    Ok(known) => Ok(compare("", &found, known.trim())),
                    Err(_) => Ok(Verdict::Unverified(found)),
                }
            }
        }
    }
}

fn compare(what: &str, found: &str, wanted: &str) -> Verdict {
    match found == wanted {
        true => Verdict::Verified,
        false => Verdict::Mismatch(format!("{what}has SHA-256 {found}, not {wanted}")),
    }
}

fn size_of(path: &Path) -> Result<u64> {
    Ok(std::fs::metadata(path).map_err(|e| Error::io(path, e))?.len())
}

fn base(name: &str) -> &str {
    name.rsplit('/').next().unwrap_or(name)
}

/// Checksum and number of the bytes left in a stream.
fn digest<D: Digest>(input: &mut Input) -> Result<(String, u64)> {
    let (mut state, mut count) = (D::new(), 0);
    let mut buffer = vec![0; 64 << 10];
    loop {
        match input.read(&mut buffer) {
            Ok(0) => return Ok((hex(&state.finalize()), count)),
            Ok(read) => {
                state.update(&buffer[..read]);
                count += read as u64;
            }
            Err(e) if e.kind() == std::io::ErrorKind::Interrupted => {}
            Err(e) => return Err(input.error(e.to_string())),
        }
    }
}

/// SHA-256 of the files of an archive that `wanted` picks, by the last part of their names.
fn members(path: &Path, wanted: impl Fn(&str) -> bool) -> Result<BTreeMap<String, String>> {
    let mut found = BTreeMap::new();
    archive::each(path, &mut |mut entry| {
        if wanted(&entry.name) {
            let (sum, _) = digest::<Sha256>(&mut entry.input)?;
            found.insert(base(&entry.name).to_owned(), sum);
        }
        Ok(())
    })?;
    Ok(found)
}

/// The bytes of a MATLAB variable, column by column as MATLAB stores them.
#[cfg(feature = "research-formats")]
fn matlab_variable(path: &Path, name: &str) -> Result<Vec<u8>> {
    use crate::format::matlab;
    use crate::format::raw::RawValues;

    let found = matlab::read(path)?.into_iter().find(|(known, _)| known == name);
    let raw =
        found.map(|(_, raw)| raw).ok_or_else(|| Error::format(path, format!("holds no variable {name}")))?;
    let (&[rows, cols], RawValues::U8(bytes)) = (raw.shape(), raw.values()) else {
        return Err(Error::format(path, format!("its variable {name} is not a matrix of bytes")));
    };
    Ok((0..cols).flat_map(|col| (0..rows).map(move |row| bytes[row * cols + col])).collect())
}

#[cfg(not(feature = "research-formats"))]
fn matlab_variable(path: &Path, _: &str) -> Result<Vec<u8>> {
    let what = "verifying a MATLAB file needs the cargo feature `research-formats` of matnet-data";
    Err(Error::Invalid(format!("{}: {what}", path.display())))
}

/// Bytes as lower-case hexadecimal.
pub(super) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The file that stores the first seen checksum of `path`.
pub(super) fn record_of(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".sha256");
    name.into()
}

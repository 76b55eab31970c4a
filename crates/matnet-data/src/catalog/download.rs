//! One attempt to download one file from one address, resumed where that is safe.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use ureq::http::{HeaderMap, Response};
use ureq::{Agent, Body};

use crate::files::{self, LockError};
use crate::{Error, Result};

/// Timeouts and retries of a download.
#[derive(Clone, Copy, Debug)]
pub struct FetchOptions {
    /// The timeout for connecting, for the response, and between two reads.
    pub timeout: Duration,
    /// How many bytes must arrive per `timeout`; a slower server counts as stalled.
    pub min_bytes: u64,
    /// How often each address is tried.
    pub attempts: u32,
    /// The delay before the same address is tried again.
    pub retry_delay: Duration,
}

impl Default for FetchOptions {
    fn default() -> Self {
        let (timeout, retry_delay) = (Duration::from_secs(30), Duration::from_secs(2));
        Self { timeout, min_bytes: 1 << 10, attempts: 3, retry_delay }
    }
}

/// Why an attempt failed.
#[derive(Debug)]
pub(super) enum Failure {
    /// Another attempt may succeed.
    Transient(String),
    /// Another attempt at this address would fail too.
    Permanent(String),
    /// The caller stopped the fetch.
    Stopped,
    /// An error on this machine.
    Local(Error),
}

/// An incomplete download, `FILE.part`.
pub(super) struct PartialFile {
    path: PathBuf,
    file: File,
    /// Whether it holds bytes of an earlier response.
    pub resumed: bool,
}

impl PartialFile {
    /// Opens or creates the partial file of `target`; fails while another process has it open.
    pub fn open(target: &Path) -> Result<Self> {
        let path = with_end(target, ".part");
        let file = files::open_alone(&path).map_err(|error| match error {
            LockError::Taken => Error::Fetch(format!("{}: another process is fetching it", path.display())),
            LockError::Failed(error) => error,
        })?;
        Ok(Self { path, file, resumed: false })
    }

    /// Its path.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Truncates it.
    pub fn clear(&mut self) -> Result<()> {
        self.resumed = false;
        files::remove(&self.origin())?;
        self.file.set_len(0).and_then(|()| self.file.rewind()).map_err(|e| Error::io(&self.path, e))
    }

    /// Deletes it.
    pub fn discard(self) -> Result<()> {
        files::remove(&self.origin())?;
        files::remove(&self.path)
    }

    /// Keeps it for the next attempt, unless it is empty.
    pub fn keep_unless_empty(self) -> Result<()> {
        if self.len()? == 0 { self.discard() } else { Ok(()) }
    }

    /// Syncs it to disk and renames it to `target`.
    pub fn finish(self, target: &Path) -> Result<()> {
        files::sync(&self.file, target)?;
        // Before the rename: after it, nobody would look for the file again.
        files::remove(&self.origin())?;
        files::rename(&self.path, target)?;
        if let Some(folder) = target.parent() {
            files::sync_folder(folder);
        }
        Ok(())
    }

    /// The file that records where the bytes come from: a line for the address, a line for the validator.
    fn origin(&self) -> PathBuf {
        with_end(&self.path, ".from")
    }

    fn len(&self) -> Result<u64> {
        Ok(self.file.metadata().map_err(|e| Error::io(&self.path, e))?.len())
    }

    /// The length and the validator, if a download from `url` can safely be resumed.
    fn resumable(&self, url: &str) -> Result<Option<(u64, String)>> {
        let length = self.len()?;
        let text = std::fs::read_to_string(self.origin()).unwrap_or_default();
        let mut lines = text.lines();
        Ok(match (lines.next(), lines.next()) {
            (Some(from), Some(validator)) if from == url && length > 0 => Some((length, validator.into())),
            _ => None,
        })
    }

    /// Requests the file, or the rest of it, from `url` and appends the response.
    pub fn download(
        &mut self,
        agent: &Agent,
        url: &str,
        options: &FetchOptions,
        max_bytes: u64,
        on_bytes: &mut dyn FnMut(u64, Option<u64>) -> ControlFlow<()>,
    ) -> Result<(), Failure> {
        let resume = self.resumable(url).map_err(Failure::Local)?;
        let mut request = agent.get(url);
        if let Some((length, validator)) = &resume {
            request = request.header("range", format!("bytes={length}-")).header("if-range", validator);
        }
        let response = request.call().map_err(describe)?;
        let mut done = match (response.status().as_u16(), &resume) {
            (206, Some((length, _))) if continues_at(&response, *length) => {
                self.resumed = true;
                let sought = self.file.seek(SeekFrom::Start(*length));
                sought.map_err(|e| Failure::Local(Error::io(&self.path, e)))?;
                *length
            }
            (200, _) => {
                self.clear().map_err(Failure::Local)?;
                self.remember(url, response.headers()).map_err(Failure::Local)?;
                0
            }
            // A partial file that cannot be resumed would block every later attempt.
            (206 | 416, _) => {
                self.clear().map_err(Failure::Local)?;
                return Err(Failure::Transient("cannot resume; starting again".into()));
            }
            (status @ (408 | 429 | 500..=599), _) => {
                return Err(Failure::Transient(format!("responded with {status}")));
            }
            (status, _) => return Err(Failure::Permanent(format!("responded with {status}"))),
        };
        let total = response.body().content_length().map(|left| done.saturating_add(left));
        if total.is_some_and(|total| total > max_bytes) {
            return Err(Failure::Permanent(format!(
                "offers more than the {max_bytes} bytes this file can have"
            )));
        }
        done = self.receive(response, done, total, options, max_bytes, on_bytes)?;
        match total {
            Some(total) if done < total => {
                Err(Failure::Transient(format!("stopped after {done} of {total} bytes")))
            }
            _ => Ok(()),
        }
    }

    fn receive(
        &mut self,
        response: Response<Body>,
        mut done: u64,
        total: Option<u64>,
        options: &FetchOptions,
        max_bytes: u64,
        on_bytes: &mut dyn FnMut(u64, Option<u64>) -> ControlFlow<()>,
    ) -> Result<u64, Failure> {
        let mut body = response.into_body().into_reader();
        let mut buffer = vec![0; 64 << 10];
        let (mut since, mut before) = (Instant::now(), done);
        loop {
            if on_bytes(done, total).is_break() {
                files::sync(&self.file, &self.path).map_err(Failure::Local)?;
                return Err(Failure::Stopped);
            }
            let read = match body.read(&mut buffer) {
                Ok(0) => return Ok(done),
                Ok(read) => read,
                Err(e) => {
                    return Err(Failure::Transient(format!("broke off after {done} bytes: {}", reason(&e))));
                }
            };
            done += read as u64;
            if done > max_bytes {
                self.clear().map_err(Failure::Local)?;
                return Err(Failure::Permanent(format!(
                    "sends more than the {max_bytes} bytes this file can have"
                )));
            }
            self.append(&buffer[..read]).map_err(Failure::Local)?;
            // A server that drips byte by byte never lets a single read time out.
            if since.elapsed() > options.timeout {
                if done - before < options.min_bytes {
                    return Err(Failure::Transient(format!("slowed to a drip after {done} bytes")));
                }
                (since, before) = (Instant::now(), done);
            }
        }
    }

    /// Records where the bytes come from, if the server identifies this version of the file.
    fn remember(&self, url: &str, headers: &HeaderMap) -> Result<()> {
        let text = |name| headers.get(name).and_then(|value| value.to_str().ok());
        // Only a strong tag guarantees the same bytes.
        let tag = text("etag").filter(|tag| !tag.starts_with("W/"));
        let Some(validator) = tag.or_else(|| text("last-modified")) else { return Ok(()) };
        files::write(&self.origin(), format!("{url}\n{validator}\n").as_bytes())
    }

    fn append(&mut self, mut bytes: &[u8]) -> Result<()> {
        while !bytes.is_empty() {
            match files::write_some(&mut self.file, bytes) {
                Ok(written) => bytes = &bytes[written..],
                Err(e) if e.kind() == std::io::ErrorKind::Interrupted => {}
                Err(e) => return Err(Error::io(&self.path, e)),
            }
        }
        Ok(())
    }
}

/// An HTTP client with the timeouts of `options`.
pub(super) fn agent(options: &FetchOptions) -> Agent {
    let timeout = Some(options.timeout);
    let config = Agent::config_builder()
        .user_agent(concat!("matnet/", env!("CARGO_PKG_VERSION")))
        .accept_encoding("identity")
        .http_status_as_error(false)
        .max_redirects(8)
        .max_redirects_will_error(true)
        .timeout_resolve(timeout)
        .timeout_connect(timeout)
        .timeout_send_request(timeout)
        .timeout_recv_response(timeout)
        .timeout_per_read(timeout);
    Agent::new_with_config(config.build())
}

/// Whether the response starts exactly where the partial file ends.
fn continues_at(response: &Response<Body>, length: u64) -> bool {
    let range = response.headers().get("content-range").and_then(|value| value.to_str().ok());
    range.and_then(|range| range.strip_prefix("bytes ")?.split_once('-')?.0.parse().ok()) == Some(length)
}

fn describe(error: ureq::Error) -> Failure {
    if let Some(what) = certificate(&error.to_string()) {
        return Failure::Permanent(what);
    }
    match error {
        ureq::Error::BadUri(_) | ureq::Error::RedirectFailed | ureq::Error::TooManyRedirects => {
            Failure::Permanent(error.to_string())
        }
        ureq::Error::Timeout(_) => Failure::Transient("does not respond in time".into()),
        ureq::Error::HostNotFound => Failure::Permanent("host not found (is there a network?)".into()),
        // No server is there: a second attempt would fail too.
        ureq::Error::ConnectionFailed => Failure::Permanent("cannot connect (is there a network?)".into()),
        ureq::Error::Io(e) if e.kind() == std::io::ErrorKind::ConnectionRefused => {
            Failure::Permanent("refuses the connection".into())
        }
        // The standard library has no kind for it.
        ureq::Error::Io(e) if e.to_string().contains("lookup address") => {
            Failure::Permanent("host not found (is there a network?)".into())
        }
        ureq::Error::Io(e) => Failure::Transient(reason(&e)),
        error => Failure::Transient(error.to_string()),
    }
}

/// What is wrong with the certificate of a server, if that is what an error says.
fn certificate(error: &str) -> Option<String> {
    let (_, problem) = error.split_once("certificate")?;
    let why = match problem {
        // A certificate that signs itself is either.
        problem if problem.contains("UnknownIssuer") || problem.contains("CaUsedAsEndEntity") => {
            "is not signed by an authority that browsers trust (does a proxy read along?)".to_owned()
        }
        problem if problem.contains("xpired") => {
            "has expired (is the clock of this machine right?)".to_owned()
        }
        problem => format!("is not accepted ({})", problem.trim_start_matches(':').trim()),
    };
    Some(format!("its certificate {why}"))
}

fn reason(error: &std::io::Error) -> String {
    let timeout = error.get_ref().and_then(|inner| inner.downcast_ref::<ureq::Error>());
    match error.kind() {
        std::io::ErrorKind::TimedOut | std::io::ErrorKind::WouldBlock => "nothing came in time".into(),
        _ if matches!(timeout, Some(ureq::Error::Timeout(_))) => "nothing came in time".into(),
        _ => error.to_string(),
    }
}

fn with_end(path: &Path, end: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(end);
    name.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_host_that_is_not_found_is_asked_for_once() {
        let looked_up = "failed to lookup address information: Name or service not known";
        for error in [ureq::Error::HostNotFound, ureq::Error::Io(std::io::Error::other(looked_up))] {
            let Failure::Permanent(what) = describe(error) else { panic!("it would be tried again") };
            assert_eq!(what, "host not found (is there a network?)");
        }
    }
}

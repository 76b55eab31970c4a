//! One attempt to bring one file from one address: resumed where that is safe, never left half believed.

use std::fs::{File, OpenOptions};
use std::io::{Read, Seek, SeekFrom, Write};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use ureq::http::{HeaderMap, Response};
use ureq::{Agent, Body};

use crate::{Error, Result};

/// How patient a download is.
#[derive(Clone, Copy, Debug)]
pub struct Patience {
    /// Longest wait for a connection, for an answer, and between two pieces of a file.
    pub idle: Duration,
    /// How many bytes must come in each such time for the server not to count as stalled.
    pub least_bytes: u64,
    /// How often one address is tried.
    pub attempts: u32,
    /// How long to wait before trying the same address again.
    pub pause: Duration,
}

impl Default for Patience {
    fn default() -> Self {
        let (idle, pause) = (Duration::from_secs(30), Duration::from_secs(2));
        Self { idle, least_bytes: 1 << 10, attempts: 3, pause }
    }
}

/// Why an attempt did not bring the whole file.
#[derive(Debug)]
pub(crate) enum Failure {
    /// Trying again may help.
    Passing(String),
    /// This address will not do.
    Lasting(String),
    /// The caller does not want to go on.
    Stopped,
    /// The trouble is on this machine.
    Local(Error),
}

/// A file being downloaded: the part so far, and what is needed to go on with it.
pub(crate) struct Part {
    path: PathBuf,
    file: File,
    /// Whether bytes of an earlier answer are in it.
    pub resumed: bool,
}

impl Part {
    /// Opens (or starts) the part of `target`; fails while another process is at it.
    pub fn open(target: &Path) -> Result<Self> {
        let path = with_end(target, ".part");
        let io = |e| Error::io(&path, e);
        let file =
            OpenOptions::new().read(true).write(true).create(true).truncate(false).open(&path).map_err(io)?;
        if let Err(e) = file.try_lock() {
            return Err(match e {
                std::fs::TryLockError::WouldBlock => {
                    Error::Fetch(format!("{}: another process is fetching it", path.display()))
                }
                std::fs::TryLockError::Error(e) => Error::io(&path, e),
            });
        }
        Ok(Self { path, file, resumed: false })
    }

    /// Where the bytes are.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Forgets everything brought so far.
    pub fn clear(&mut self) -> Result<()> {
        self.resumed = false;
        remove(&self.origin())?;
        self.file.set_len(0).and_then(|()| self.file.rewind()).map_err(|e| Error::io(&self.path, e))
    }

    /// Removes the part itself.
    pub fn discard(self) -> Result<()> {
        remove(&self.origin())?;
        remove(&self.path)
    }

    /// Leaves the part for the next attempt, unless there is nothing in it.
    pub fn keep_if_any(self) -> Result<()> {
        if self.len()? == 0 { self.discard() } else { Ok(()) }
    }

    /// Makes the part, all of it on disk, the file `target`.
    pub fn finish(self, target: &Path) -> Result<()> {
        self.file.sync_all().map_err(|e| Error::io(&self.path, e))?;
        std::fs::rename(&self.path, target).map_err(|e| Error::io(target, e))?;
        // The new name is on disk only when the folder is; not every system lets a folder be opened.
        if let Some(folder) = target.parent().and_then(|folder| File::open(folder).ok()) {
            let _ = folder.sync_all();
        }
        remove(&self.origin())
    }

    /// The file that remembers which answer the part comes from: address and validator, a line each.
    fn origin(&self) -> PathBuf {
        with_end(&self.path, ".from")
    }

    fn len(&self) -> Result<u64> {
        Ok(self.file.metadata().map_err(|e| Error::io(&self.path, e))?.len())
    }

    /// How far the part goes and under which validator, if an answer from `url` can safely be continued.
    fn resumable(&self, url: &str) -> Result<Option<(u64, String)>> {
        let length = self.len()?;
        let text = std::fs::read_to_string(self.origin()).unwrap_or_default();
        let mut lines = text.lines();
        Ok(match (lines.next(), lines.next()) {
            (Some(from), Some(validator)) if from == url && length > 0 => Some((length, validator.into())),
            _ => None,
        })
    }

    /// Asks `url` for the (rest of the) file and adds what comes.
    pub fn download(
        &mut self,
        agent: &Agent,
        url: &str,
        patience: &Patience,
        most_bytes: u64,
        report: &mut dyn FnMut(u64, Option<u64>) -> ControlFlow<()>,
    ) -> Result<(), Failure> {
        let resume = self.resumable(url).map_err(Failure::Local)?;
        let mut request = agent.get(url);
        if let Some((length, validator)) = &resume {
            request = request.header("range", format!("bytes={length}-")).header("if-range", validator);
        }
        let answer = request.call().map_err(describe)?;
        let mut done = match (answer.status().as_u16(), &resume) {
            (206, Some((length, _))) if continues_at(&answer, *length) => {
                self.resumed = true;
                self.file.seek(SeekFrom::Start(*length)).map_err(|e| self.local(e))?;
                *length
            }
            (200, _) => {
                self.clear().map_err(Failure::Local)?;
                self.remember(url, answer.headers()).map_err(Failure::Local)?;
                0
            }
            // A part that cannot be continued is in the way of a fresh start.
            (206 | 416, _) => {
                self.clear().map_err(Failure::Local)?;
                return Err(Failure::Passing("cannot continue what was begun, starting again".into()));
            }
            (status @ (408 | 429 | 500..=599), _) => {
                return Err(Failure::Passing(format!("answered {status}")));
            }
            (status, _) => return Err(Failure::Lasting(format!("answered {status}"))),
        };
        let total = answer.body().content_length().map(|left| done.saturating_add(left));
        if total.is_some_and(|total| total > most_bytes) {
            return Err(Failure::Lasting(format!(
                "offers more than the {most_bytes} bytes this file can have"
            )));
        }
        done = self.receive(answer, done, total, patience, most_bytes, report)?;
        match total {
            Some(total) if done < total => {
                Err(Failure::Passing(format!("stopped after {done} of {total} bytes")))
            }
            _ => Ok(()),
        }
    }

    fn receive(
        &mut self,
        answer: Response<Body>,
        mut done: u64,
        total: Option<u64>,
        patience: &Patience,
        most_bytes: u64,
        report: &mut dyn FnMut(u64, Option<u64>) -> ControlFlow<()>,
    ) -> Result<u64, Failure> {
        let mut body = answer.into_body().into_reader();
        let mut buffer = vec![0; 64 << 10];
        let (mut since, mut before) = (Instant::now(), done);
        loop {
            if report(done, total).is_break() {
                self.file.sync_all().map_err(|e| self.local(e))?;
                return Err(Failure::Stopped);
            }
            let read = match body.read(&mut buffer) {
                Ok(0) => return Ok(done),
                Ok(read) => read,
                Err(e) => {
                    return Err(Failure::Passing(format!("broke off after {done} bytes: {}", reason(&e))));
                }
            };
            done += read as u64;
            if done > most_bytes {
                self.clear().map_err(Failure::Local)?;
                return Err(Failure::Lasting(format!(
                    "sends more than the {most_bytes} bytes this file can have"
                )));
            }
            self.file.write_all(&buffer[..read]).map_err(|e| self.local(e))?;
            // A server that drips byte by byte never lets a single read time out.
            if since.elapsed() > patience.idle {
                if done - before < patience.least_bytes {
                    return Err(Failure::Passing(format!("slowed to a drip after {done} bytes")));
                }
                (since, before) = (Instant::now(), done);
            }
        }
    }

    /// Notes where the part comes from, if the server says how to recognise this version of the file.
    fn remember(&self, url: &str, headers: &HeaderMap) -> Result<()> {
        let text = |name| headers.get(name).and_then(|value| value.to_str().ok());
        // Only a strong tag promises the same bytes.
        let tag = text("etag").filter(|tag| !tag.starts_with("W/"));
        let Some(validator) = tag.or_else(|| text("last-modified")) else { return Ok(()) };
        let origin = self.origin();
        std::fs::write(&origin, format!("{url}\n{validator}\n")).map_err(|e| Error::io(&origin, e))
    }

    fn local(&self, e: std::io::Error) -> Failure {
        Failure::Local(Error::io(&self.path, e))
    }
}

/// An agent that waits no longer than `patience` says.
pub(crate) fn agent(patience: &Patience) -> Agent {
    let idle = Some(patience.idle);
    let config = Agent::config_builder()
        .user_agent(concat!("matnet/", env!("CARGO_PKG_VERSION")))
        .accept_encoding("identity")
        .http_status_as_error(false)
        .max_redirects(8)
        .max_redirects_will_error(true)
        .timeout_resolve(idle)
        .timeout_connect(idle)
        .timeout_send_request(idle)
        .timeout_recv_response(idle)
        .timeout_per_read(idle);
    Agent::new_with_config(config.build())
}

/// Whether the server goes on exactly where the part ends.
fn continues_at(answer: &Response<Body>, length: u64) -> bool {
    let range = answer.headers().get("content-range").and_then(|value| value.to_str().ok());
    range.and_then(|range| range.strip_prefix("bytes ")?.split_once('-')?.0.parse().ok()) == Some(length)
}

fn describe(error: ureq::Error) -> Failure {
    match error {
        ureq::Error::BadUri(_) | ureq::Error::RedirectFailed | ureq::Error::TooManyRedirects => {
            Failure::Lasting(error.to_string())
        }
        ureq::Error::Timeout(_) => Failure::Passing("does not answer in time".into()),
        ureq::Error::HostNotFound => Failure::Lasting("host not found (is there a network?)".into()),
        // Nobody is there: asking again in a moment will not help.
        ureq::Error::ConnectionFailed => Failure::Lasting("cannot connect (is there a network?)".into()),
        ureq::Error::Io(e) if e.kind() == std::io::ErrorKind::ConnectionRefused => {
            Failure::Lasting("refuses the connection".into())
        }
        ureq::Error::Io(e) => Failure::Passing(reason(&e)),
        error => Failure::Passing(error.to_string()),
    }
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

fn remove(path: &Path) -> Result<()> {
    match std::fs::remove_file(path) {
        Err(e) if e.kind() != std::io::ErrorKind::NotFound => Err(Error::io(path, e)),
        _ => Ok(()),
    }
}

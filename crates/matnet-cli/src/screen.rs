//! Standard output for people.

use std::io::{self, StdoutLock, Write};

pub use matnet_report::text::printable;

/// Standard output, for sentences and tables: names of files and classes in them cannot move the cursor or change colours. What
/// is meant for other programs, such as predictions, goes to standard output as it is.
pub struct Screen(StdoutLock<'static>);

impl Screen {
    /// Standard output, until it is dropped.
    pub fn lock() -> Self {
        Self(io::stdout().lock())
    }
}

impl Write for Screen {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.write_all(printable(&String::from_utf8_lossy(bytes)).as_bytes())?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

//! A tokenizer for lines of fields that holds one field at a time.

use crate::format::bounded::Input;
use crate::{Error, Result};

/// The maximum length of a field.
const LONGEST_FIELD: usize = 1024;

/// The byte order mark of UTF-8.
const MARK: &[u8] = "\u{feff}".as_bytes();

/// The next token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Next {
    /// A field; [`Fields::field`] returns it.
    Field,
    /// The end of a line with at least one field.
    Line,
    /// The end of the text.
    End,
}

/// Splits a text at line ends (LF, CR LF or CR), commas, semicolons, tabs and blanks. Blank lines and lines that start with `#`
/// (of a table: above the first line with fields) are skipped, and so is a byte order mark; quotes around a field are removed. In a text with semicolons or tabs, a comma is a
/// decimal point.
pub(crate) struct Fields<'a> {
    input: Input<'a>,
    block: Vec<u8>,
    at: usize,
    line: u64,
    field: Vec<u8>,
    in_line: bool,
    after_comma: bool,
    begun: bool,
    /// Whether commas are decimal points.
    decimal_commas: bool,
    /// Whether the first line decides what separates fields.
    detect: bool,
    /// The only byte that separates fields, if the first line decided so.
    only: Option<u8>,
    /// Whether commas, and whether blanks alone, have separated fields of this line.
    by_comma: bool,
    by_blank: bool,
    /// Lines with fields so far.
    lines: u64,
}

impl<'a> Fields<'a> {
    pub fn new(input: Input<'a>) -> Self {
        let (block, field) = (Vec::new(), Vec::new());
        Self {
            input,
            block,
            at: 0,
            line: 1,
            field,
            in_line: false,
            after_comma: false,
            begun: false,
            decimal_commas: false,
            detect: false,
            only: None,
            by_comma: false,
            by_blank: false,
            lines: 0,
        }
    }

    /// Fields of a table with texts: only the separator of the first line separates fields, so that they may contain blanks. That is
    /// a tab if there is one, else a semicolon, else a comma, else blanks.
    pub fn of_table(input: Input<'a>) -> Self {
        Self { detect: true, ..Self::new(input) }
    }

    /// The current field.
    pub fn field(&self) -> &[u8] {
        &self.field
    }

    /// The current field as text.
    pub fn text(&self) -> Result<&str> {
        std::str::from_utf8(&self.field).map_err(|_| self.error("a field is not UTF-8"))
    }

    /// The current field as a number.
    pub fn number(&self) -> Result<f32> {
        self.try_number().ok_or_else(|| {
            let shown = String::from_utf8_lossy(&self.field[..self.field.len().min(40)]).into_owned();
            self.error(match shown.as_str() {
                "" => "an empty field where a number was expected".to_owned(),
                _ => format!("{shown:?} is not a number"),
            })
        })
    }

    /// The current field as a number, if it is one.
    pub fn try_number(&self) -> Option<f32> {
        let text = std::str::from_utf8(&self.field).ok()?;
        match self.decimal_commas && text.contains(',') {
            true => text.replacen(',', ".", 1).parse().ok(),
            false => text.parse().ok(),
        }
    }

    /// Whether commas are decimal points.
    pub fn has_decimal_commas(&self) -> bool {
        self.decimal_commas
    }

    /// The file.
    pub fn name(&self) -> &std::path::Path {
        self.input.name()
    }

    /// An error with the line number.
    pub fn error(&self, what: impl AsRef<str>) -> Error {
        self.input.error(format!("line {}: {}", self.line, what.as_ref()))
    }

    /// The next byte, without consuming it.
    fn peek(&mut self) -> Result<Option<u8>> {
        if self.at == self.block.len() {
            self.block.resize(64 << 10, 0);
            let read = self.input.read_up_to(&mut self.block)?;
            self.block.truncate(read);
            self.end_lines()?;
            if !self.begun {
                self.decimal_commas = self.block.iter().any(|byte| b";\t".contains(byte));
                if self.detect {
                    self.only = first_separator(&self.block);
                    self.decimal_commas = self.only.is_some_and(|byte| byte != b',');
                }
            }
            self.at = if self.begun || !self.block.starts_with(MARK) { 0 } else { MARK.len() };
            self.begun = true;
        }
        Ok(self.block.get(self.at).copied())
    }

    /// Turns carriage returns that end a line by themselves into line feeds.
    fn end_lines(&mut self) -> Result<()> {
        if self.block.last() == Some(&b'\r') {
            let mut next = [0];
            if self.input.read_up_to(&mut next)? == 1 {
                self.block.push(next[0]);
            }
        }
        for at in 0..self.block.len() {
            if self.block[at] == b'\r' && self.block.get(at + 1) != Some(&b'\n') {
                self.block[at] = b'\n';
            }
        }
        Ok(())
    }

    /// Whether a byte separates fields.
    fn separates(&self, byte: u8) -> bool {
        match self.only {
            Some(only) => byte == only,
            None => byte == b';' || byte == b',' && !self.decimal_commas,
        }
    }

    /// Whether a byte is blank, and does not separate fields.
    fn is_blank(&self, byte: u8) -> bool {
        b" \t\r".contains(&byte) && self.only != Some(byte)
    }

    /// Steps to the next field, line end or the end of the text.
    pub fn next(&mut self) -> Result<Next> {
        loop {
            match self.peek()? {
                Some(byte) if self.is_blank(byte) => self.at += 1,
                // below the names of a table a # is a text like any other
                Some(b'#') if !(self.in_line || self.detect && self.lines > 0) => self.skip_line()?,
                Some(b'\n') | None if self.after_comma => {
                    // "1,2," ends in an empty field
                    self.after_comma = false;
                    self.field.clear();
                    return Ok(Next::Field);
                }
                Some(b'\n') => {
                    self.at += 1;
                    if std::mem::take(&mut self.in_line) {
                        // the line is counted when the next one starts, so that errors name this one
                        return Ok(Next::Line);
                    }
                    self.line += 1;
                }
                None if std::mem::take(&mut self.in_line) => return Ok(Next::Line),
                None => return Ok(Next::End),
                Some(byte) if self.separates(byte) => {
                    self.at += 1;
                    self.field.clear();
                    self.in_line = true;
                    self.after_comma = true;
                    return Ok(Next::Field);
                }
                Some(_) => {
                    self.read_field()?;
                    return Ok(Next::Field);
                }
            }
        }
    }

    /// Counts the line that [`Next::Line`] ended.
    pub fn next_line(&mut self) {
        self.line += 1;
        self.lines += 1;
        (self.by_comma, self.by_blank) = (false, false);
    }

    /// Whether some fields of this line were separated by commas and some by blanks: `1,5 2,5` may be four numbers, or two with
    /// decimal commas.
    pub fn is_ambiguous(&self) -> bool {
        self.by_comma && self.by_blank
    }

    fn skip_line(&mut self) -> Result<()> {
        while self.peek()?.is_some_and(|b| b != b'\n') {
            self.at += 1;
        }
        Ok(())
    }

    /// Reads a field and the separator after it, if there is one.
    fn read_field(&mut self) -> Result<()> {
        self.field.clear();
        self.in_line = true;
        self.after_comma = false;
        match self.peek()? {
            Some(b'"') => self.read_quoted()?,
            _ => self.read_plain()?,
        }
        while self.peek()?.is_some_and(|byte| self.is_blank(byte)) {
            self.at += 1;
        }
        match self.peek()? {
            Some(byte) if self.separates(byte) => {
                self.at += 1;
                self.after_comma = true;
                self.by_comma |= byte == b',';
            }
            None | Some(b'\n') => {}
            Some(_) => self.by_blank = true,
        }
        Ok(())
    }

    fn read_plain(&mut self) -> Result<()> {
        while let Some(byte) = self.peek()? {
            let blank_ends = self.only.is_none() && b" \t\r".contains(&byte);
            if byte == b'\n' || blank_ends || self.separates(byte) {
                break;
            }
            self.push(byte)?;
        }
        let kept = self.field.trim_ascii_end().len();
        self.field.truncate(kept);
        Ok(())
    }

    fn read_quoted(&mut self) -> Result<()> {
        self.at += 1;
        loop {
            match self.peek()? {
                Some(b'"') => {
                    self.at += 1;
                    // a doubled quote stands for one
                    if self.peek()? != Some(b'"') {
                        return Ok(());
                    }
                    self.push(b'"')?;
                }
                Some(b'\n') | None => return Err(self.error("a quote is not closed")),
                Some(byte) => self.push(byte)?,
            }
        }
    }

    /// Consumes a byte as part of the field.
    fn push(&mut self, byte: u8) -> Result<()> {
        if self.field.len() == LONGEST_FIELD {
            return Err(self.error(format!("a field of more than {LONGEST_FIELD} characters")));
        }
        self.field.push(byte);
        self.at += 1;
        Ok(())
    }
}

/// What separates the fields of the first line that is no comment: tab, semicolon or comma; `None` if none of them occurs.
fn first_separator(block: &[u8]) -> Option<u8> {
    let text = block.strip_prefix(MARK).unwrap_or(block);
    let mut lines = text.split(|&byte| byte == b'\n' || byte == b'\r').map(<[u8]>::trim_ascii);
    let line = lines.find(|line| !line.is_empty() && !line.starts_with(b"#"))?;
    let mut quoted = false;
    let mut found: Option<usize> = None;
    for &byte in line {
        quoted ^= byte == b'"';
        let rank = b"\t;,".iter().position(|&known| known == byte).filter(|_| !quoted);
        found = found.into_iter().chain(rank).min();
    }
    found.map(|rank| b"\t;,"[rank])
}

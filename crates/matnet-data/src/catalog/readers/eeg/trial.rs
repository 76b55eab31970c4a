//! One raw trial: UCI's text of 64 channels of 256 samples.
//!
//! ```text
//! # co2a0000364.rd
//! # 120 trials, 64 chans, 416 samples 368 post_stim samples
//! # 3.906000 msecs uV
//! # S1 obj , trial 0
//! # FP1 chan 0
//! 0 FP1 0 -8.921
//! ```
//!
//! The parser reads decimal digits directly, which is faster than decompression, so that the latter limits the speed of loading.

use std::io::Read;

use flate2::bufread::MultiGzDecoder;

/// Channels of a trial.
pub const CHANNELS: usize = 64;
/// Samples of a channel, 256 per second.
pub const SAMPLES: usize = 256;
/// The maximum length of a trial's text.
const LONGEST: u64 = 8 << 20;

/// The stimulus of a trial.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Stimulus {
    /// One image.
    Single,
    /// A second image, equal to the first.
    Match,
    /// A second image, different from the first.
    NoMatch,
}

/// The contents of a trial file.
#[derive(Clone, Debug, PartialEq)]
pub struct Trial {
    /// The subject, such as `co2a0000364`.
    pub subject: String,
    /// The stimulus.
    pub stimulus: Stimulus,
    /// Whether the subject answered wrongly (`err` in the header).
    pub wrong: bool,
    /// The number in the header, which may differ from that in the file name.
    pub header_trial: u32,
    /// The channel names.
    pub channels: Vec<String>,
    /// Microvolts, channel by channel.
    pub microvolts: Vec<f32>,
}

/// Decompresses a gzipped trial into the buffer `text`; plain bytes are returned as they are. The error says what is wrong.
pub fn unpack<'a>(bytes: &'a [u8], text: &'a mut Vec<u8>) -> Result<&'a [u8], String> {
    if !bytes.starts_with(&[0x1f, 0x8b]) {
        return Ok(bytes);
    }
    text.clear();
    let read = MultiGzDecoder::new(bytes).take(LONGEST + 1).read_to_end(text);
    read.map_err(|e| format!("gzip: {e}"))?;
    if text.len() as u64 > LONGEST {
        return Err(format!("unpacks to more than {} MiB", LONGEST >> 20));
    }
    Ok(text)
}

/// Parses the text of a trial. The error says what is wrong.
pub fn parse(text: &[u8]) -> Result<Trial, String> {
    if text.is_empty() {
        return Err("is empty".into());
    }
    let mut lines = Lines { text, at: 0, line: 0 };
    let subject = lines.head().ok_or("does not start with the subject's name")?;
    let subject = subject.strip_suffix(".rd").unwrap_or(subject).trim().to_owned();
    let valid = subject.len() == 11 && subject.bytes().all(|b| b.is_ascii_alphanumeric());
    if !valid || !matches!(subject.as_bytes()[3], b'a' | b'c') {
        return Err(format!("subject {subject:?} is not named like co2a0000364"));
    }
    let mut condition = None;
    let mut channels: Vec<String> = Vec::new();
    let mut microvolts: Vec<f32> = Vec::with_capacity(CHANNELS * SAMPLES);
    while let Some(head) = lines.head() {
        if let Some((name, number)) = head.split_once(" chan ") {
            if number.trim().parse() != Ok(channels.len()) || channels.len() == CHANNELS {
                return Err(lines.wrong_head(&format!(
                    "channel {} where {} was expected",
                    number.trim(),
                    channels.len()
                )));
            }
            let name = name.trim();
            for sample in 0..SAMPLES {
                let (index, value) = lines
                    .sample(name.as_bytes())
                    .ok_or_else(|| lines.wrong(&format!("sample {sample} of channel {name} expected")))?;
                if index != sample {
                    return Err(
                        lines.wrong(&format!("sample {index} of channel {name} where {sample} was expected"))
                    );
                }
                microvolts.push(value);
            }
            channels.push(name.to_owned());
        } else if let Some((what, trial)) = head.rsplit_once("trial ") {
            condition = Some(shown(what, trial).ok_or_else(|| lines.wrong_head("an unknown stimulus"))?);
        }
    }
    if lines.at < text.len() {
        return Err(lines.wrong("a line that belongs to no channel"));
    }
    if channels.len() != CHANNELS {
        return Err(format!("{} channels; {CHANNELS} expected", channels.len()));
    }
    let (stimulus, wrong, header_trial) = condition.ok_or("no stimulus in the header")?;
    Ok(Trial { subject, stimulus, wrong, header_trial, channels, microvolts })
}

/// Parses `S2 nomatch err,` and the number of the trial.
fn shown(what: &str, trial: &str) -> Option<(Stimulus, bool, u32)> {
    let mut words = what.split([' ', ',']).filter(|word| !word.is_empty());
    let stimulus = match (words.next()?, words.next()?) {
        ("S1", "obj") => Stimulus::Single,
        ("S2", "match") => Stimulus::Match,
        ("S2", "nomatch") => Stimulus::NoMatch,
        _ => return None,
    };
    let wrong = match words.next() {
        None => false,
        Some(word) if word.starts_with("err") => true,
        Some(_) => return None,
    };
    Some((stimulus, wrong, trial.trim().parse().ok()?))
}

/// A cursor over the lines of a trial.
struct Lines<'a> {
    text: &'a [u8],
    at: usize,
    line: usize,
}

impl<'a> Lines<'a> {
    /// An error about the next line.
    fn wrong(&self, what: &str) -> String {
        format!("line {}: {what}", self.line + 1)
    }

    /// An error about the previous line.
    fn wrong_head(&self, what: &str) -> String {
        format!("line {}: {what}", self.line)
    }

    /// The next line without its `# `, if it is a header line.
    fn head(&mut self) -> Option<&'a str> {
        let rest = self.text[self.at..].strip_prefix(b"# ")?;
        let end = rest.iter().position(|&b| b == b'\n').unwrap_or(rest.len());
        let line = std::str::from_utf8(&rest[..end]).ok()?;
        self.at = (self.at + 2 + end + 1).min(self.text.len());
        self.line += 1;
        Some(line.trim_end())
    }

    /// Index and value of the next sample, which must be of channel `name`.
    #[inline]
    fn sample(&mut self, name: &[u8]) -> Option<(usize, f32)> {
        let text = &self.text[self.at..];
        let mut at = 0;
        while text.get(at)?.is_ascii_digit() {
            at += 1;
        }
        let rest = text[at..].strip_prefix(b" ")?.strip_prefix(name)?.strip_prefix(b" ")?;
        at = text.len() - rest.len();
        let mut index = 0usize;
        while let digit @ b'0'..=b'9' = *text.get(at)? {
            index = (index * 10 + usize::from(digit - b'0')).min(1 << 20);
            at += 1;
        }
        if text[at] != b' ' {
            return None;
        }
        at += 1;
        let negative = *text.get(at)? == b'-';
        at += usize::from(negative);
        // up to 15 digits are exact in f64, and printed values have at most 7
        let (mut digits, mut count, mut decimals, mut point) = (0u64, 0, 0, false);
        while let Some(&byte) = text.get(at) {
            match byte {
                b'0'..=b'9' => {
                    digits = digits * 10 + u64::from(byte - b'0');
                    count += 1;
                    decimals += usize::from(point);
                }
                b'.' if !point => point = true,
                _ => break,
            }
            at += 1;
            if count > 15 {
                return None;
            }
        }
        if count == 0 {
            return None;
        }
        if text.get(at) == Some(&b'\r') {
            at += 1;
        }
        match text.get(at) {
            Some(b'\n') => at += 1,
            // a last line without a line end may be truncated
            _ => return None,
        }
        self.at += at;
        self.line += 1;
        const TENS: [f64; 16] =
            [1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15];
        let value = digits as f64 / TENS[decimals];
        Some((index, if negative { -value } else { value } as f32))
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// A trial in UCI's text, with sample `s` of channel `c` worth (`seed` + c − s) / 8.
    pub(crate) fn text(subject: &str, shown: &str, trial: u32, seed: i32) -> String {
        let mut out = format!("# {subject}.rd\n# 120 trials, 64 chans, 416 samples 368 post_stim samples\n");
        out += &format!("# 3.906000 msecs uV\n# {shown} trial {trial}\n");
        for channel in 0..CHANNELS {
            out += &format!("# C{channel} chan {channel}\n");
            for sample in 0..SAMPLES {
                let value = f64::from(seed + channel as i32 - sample as i32) / 8.0;
                out += &format!("{trial} C{channel} {sample} {value:.3}\n");
            }
        }
        out
    }

    #[test]
    fn a_trial_is_read_as_printed() {
        let trial = parse(text("co2a0000364", "S2 nomatch,", 17, 5).as_bytes()).unwrap();
        assert_eq!((trial.subject.as_str(), trial.stimulus), ("co2a0000364", Stimulus::NoMatch));
        assert_eq!((trial.header_trial, trial.wrong, trial.channels.len()), (17, false, 64));
        for (at, &value) in trial.microvolts.iter().enumerate() {
            let printed = format!("{:.3}", f64::from(5 + (at / 256) as i32 - (at % 256) as i32) / 8.0);
            assert_eq!(value, printed.parse::<f32>().unwrap());
        }
        assert!(parse(text("co2a0000364", "S2 match err,", 1, 0).as_bytes()).unwrap().wrong);
    }

    #[test]
    fn broken_trials_say_what_is_wrong() {
        let good = text("co2c0000337", "S1 obj ,", 0, 1);
        let error = |text: &str| parse(text.as_bytes()).unwrap_err();
        assert_eq!(error(""), "is empty");
        assert_eq!(error("# co2c0000337.rd\n"), "0 channels; 64 expected");
        assert_eq!(error(&good.replace("S1 obj", "S9 obj")), "line 4: an unknown stimulus");
        assert!(error(&good.replace("0 C3 7 ", "0 C3 8 ")).contains("sample 8 of channel C3 where 7"));
        assert!(error(&good.replace("0 C3 7 ", "0 C3 7 x")).contains("sample 7 of channel C3 expected"));
        assert!(error(&good.replace("co2c", "xx9z")).contains("not named like"));
        let half = &good[..good.len() / 2];
        assert!(parse(half.as_bytes()).is_err());
    }
}

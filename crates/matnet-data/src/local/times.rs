//! The order of rows in time.

use crate::format::calendar::days;

/// A step that is longer by this factor is another one. Months differ by three days.
const LONGER: f64 = 1.5;

/// Whether two steps are nearly the same.
pub(super) fn same_step(one: f64, other: f64) -> bool {
    one < LONGER * other && other < LONGER * one
}

/// Days in words.
pub(super) fn duration(days: f64) -> String {
    let units = [(1.0, "day"), (24.0, "hour"), (1440.0, "minute"), (86_400.0, "second")];
    let (per_day, unit) = units.into_iter().find(|(per_day, _)| days * per_day >= 0.999).unwrap_or(units[3]);
    let count = (days * per_day * 100.0).round() / 100.0;
    format!("{count} {unit}{}", if count == 1.0 { "" } else { "s" })
}

/// What is known of a column of times, after some of its rows.
#[derive(Default)]
pub(super) struct TimeOrder {
    /// The last time that could be read, with its row and its text.
    last: Option<(f64, usize, String)>,
    /// The times from each row to the next.
    steps: Vec<f64>,
    /// Whether a field was something else than a time.
    unreadable: bool,
    /// Whether a time was a date, and the least and the largest that was a number.
    dates: bool,
    numbers: Option<(f64, f64)>,
    /// The first number that is below the one before.
    back: Option<(usize, String, String)>,
}

impl TimeOrder {
    /// Takes the next row; fails if its date is before that of a row above. Numbers may be something else than times, hours of the
    /// day for instance.
    pub fn see(&mut self, row: usize, word: &str) -> Result<(), String> {
        let (now, date) = match (word.parse::<f64>(), date(word)) {
            (Ok(number), _) if number.is_finite() => (number, false),
            (_, Some(date)) => (date, true),
            _ => {
                self.unreadable = true;
                return Ok(());
            }
        };
        self.dates |= date;
        if !date {
            let (least, most) = self.numbers.unwrap_or((now, now));
            self.numbers = Some((least.min(now), most.max(now)));
        }
        if let Some((before, at, text)) = &self.last {
            match now < *before {
                true if date => return Err(format!("row {row} ({word}) is before row {at} ({text})")),
                true => {
                    self.back.get_or_insert_with(|| (row, word.to_owned(), text.clone()));
                }
                false => self.steps.push(now - before),
            }
        }
        self.last = Some((now, row, word.to_owned()));
        Ok(())
    }

    /// The days from one date or Unix time to the next, as most rows have it; `None` for other times, and where most rows have steps of
    /// their own. One step alone may be a weekend.
    pub fn step(&mut self) -> Option<f64> {
        if self.unreadable || self.steps.len() < 2 {
            return None;
        }
        let per_day = match self.numbers {
            None => 1.0,
            Some(range) if !self.dates => unix_units(range)?,
            Some(_) => return None,
        };
        let median = self.median().filter(|&step| step > 0.0)?;
        let like = self.steps.iter().filter(|&&step| same_step(step, median)).count();
        (2 * like > self.steps.len()).then_some(median / per_day)
    }

    fn median(&mut self) -> Option<f64> {
        let middle = self.steps.len().checked_sub(1)? / 2;
        let (_, &mut median, _) = self.steps.select_nth_unstable_by(middle, f64::total_cmp);
        Some(median)
    }

    /// What may be wrong with the order of the rows; nothing if some fields could not be read.
    pub fn note(mut self, column: &str) -> Option<String> {
        if self.unreadable {
            return None;
        }
        if let Some((row, now, before)) = self.back.take() {
            return Some(format!(
                "column {column:?} goes back from {before} to {now} at row {row}; rows are used as they stand"
            ));
        }
        let same = self.steps.iter().filter(|&&step| step == 0.0).count();
        if same > 0 {
            let rows = if same == 1 { "1 row has".to_owned() } else { format!("{same} rows have") };
            return Some(format!("in column {column:?} {rows} the time of the row before"));
        }
        let median = self.median()?;
        let gaps = self.steps.iter().filter(|&&step| step > LONGER * median).count();
        (gaps > 0).then(|| {
            let rows = if gaps == 1 { "1 row follows".to_owned() } else { format!("{gaps} rows follow") };
            format!("in column {column:?} {rows} after a longer time than usual; the net sees no times")
        })
    }
}

/// How many of its units a day has, if numbers from the first to the second are Unix times from 1980 to 2030: in seconds, milliseconds, microseconds
/// or nanoseconds. None of them looks like a date without separators, such as 20160701 or 2016070112.
fn unix_units((least, most): (f64, f64)) -> Option<f64> {
    let mut per_second = [1.0, 1e3, 1e6, 1e9].into_iter();
    per_second.find(|unit| least >= 3.2e8 * unit && most < 1.9e9 * unit).map(|unit| 86_400.0 * unit)
}

/// Days since some day of `2016-07-01`, `2016/07/01` or `01.07.2016`, perhaps with a time of the day behind a blank or a T, and with Z, UTC or
/// an offset such as +02:00 behind that. `None` for anything else: 01/07/2016 may be two days.
fn date(text: &str) -> Option<f64> {
    let (day, clock) = match text.split_once(['T', ' ']) {
        Some((day, clock)) => (day, clock),
        None => (text.trim_end_matches('Z'), ""),
    };
    let (clock, offset) = local_clock(clock)?;
    let parts: Vec<&str> = day.split(['-', '/', '.']).collect();
    let [first, month, last] = parts[..] else { return None };
    let (year, of_month) = match (first.len(), last.len()) {
        (4, 1..=2) => (first, last),
        (1..=2, 4) if day.contains('.') => (last, first),
        _ => return None,
    };
    let whole = |text: &str, most: u32| match text.len() {
        1..=4 if text.bytes().all(|byte| byte.is_ascii_digit()) => {
            text.parse::<u32>().ok().filter(|&n| n <= most)
        }
        _ => None,
    };
    let (year, month, of_month) = (whole(year, 9999)?, whole(month, 12)?, whole(of_month, 31)?);
    if month == 0 || of_month == 0 {
        return None;
    }
    let mut seconds = 0.0;
    if !clock.is_empty() {
        let mut parts = clock.split(':');
        let hours = whole(parts.next()?, 24)?;
        let minutes = parts.next().map_or(Some(0), |text| whole(text, 59))?;
        let rest = parts.next().unwrap_or("0");
        let plain = !rest.is_empty() && rest.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
        let rest: f64 = Some(rest).filter(|_| plain)?.parse().ok()?;
        if parts.next().is_some() {
            return None;
        }
        seconds = f64::from(hours * 3600 + minutes * 60) + rest;
    }
    Some(f64::from(days(year, month, of_month)) + (seconds - offset) / 86_400.0)
}

/// The time of a day without what follows it, and by how many seconds it is ahead of UTC.
fn local_clock(clock: &str) -> Option<(&str, f64)> {
    let plain = clock.strip_suffix('Z').or(clock.strip_suffix("UTC")).unwrap_or(clock).trim_end();
    let Some(at) = plain.rfind(['+', '-']).filter(|_| plain.len() == clock.len()) else {
        return Some((plain, 0.0));
    };
    let (clock, offset) = (plain[..at].trim_end(), plain[at + 1..].replace(':', ""));
    let digits = matches!(offset.len(), 2 | 4) && offset.bytes().all(|byte| byte.is_ascii_digit());
    let number = offset.parse::<u32>().ok().filter(|_| digits && !clock.is_empty())?;
    let (hours, minutes) = if offset.len() == 2 { (number, 0) } else { (number / 100, number % 100) };
    let ahead = f64::from(hours * 3600 + minutes * 60);
    Some((clock, if plain[at..].starts_with('-') { -ahead } else { ahead }))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn order(words: &[&str]) -> Result<Option<String>, String> {
        let mut order = TimeOrder::default();
        words.iter().enumerate().try_for_each(|(row, word)| order.see(row, word))?;
        Ok(order.note("t"))
    }

    #[test]
    fn dates_are_days() {
        let at = |text: &str| date(text).unwrap();
        assert_eq!(at("2020-03-01") - at("2020-02-28"), 2.0);
        assert_eq!(at("2021-03-01") - at("2021-02-28"), 1.0);
        assert_eq!(at("2021-01-01") - at("2020-12-31"), 1.0);
        assert_eq!(at("2101-01-01") - at("2001-01-01"), 36_525.0 - 1.0);
        assert_eq!(at("2020-01-02 12:00") - at("2.1.2020"), 0.5);
        assert_eq!(at("2020/01/02T06:00:00.000Z") - at("02.01.2020"), 0.25);
        // With the time of another place, as pandas writes it.
        for utc in ["06:00:00+00:00", "08:00:00+02:00", "01:00-05", "0:30 -0530", "06:00:00 UTC", "06:00"] {
            assert_eq!(at(&format!("2020-01-02 {utc}")) - at("2020-01-02Z"), 0.25, "{utc}");
        }
        for odd in [
            "",
            "2020",
            "2020-13-01",
            "2020-00-01",
            "01/02/2020",
            "12:30",
            "2020-01-02 1:2:3:4",
            "2020-01-02 +1:00",
            "2020-01-02 10:00+1",
            "2020-01-02 10:00+-1",
            "2020-01-02 10:00+1:00:00",
            "2020-01-02 10:00+é",
            "a-b-c",
        ] {
            assert_eq!(date(odd), None, "{odd}");
        }
    }

    #[test]
    fn steps_between_dates() {
        let step = |words: &[&str]| {
            let mut order = TimeOrder::default();
            words.iter().enumerate().for_each(|(row, word)| order.see(row, word).unwrap());
            order.step()
        };
        assert_eq!(step(&["2020-01-01", "2020-01-02", "2020-01-04", "2020-01-05"]), Some(1.0));
        for none in [&["1", "2", "3"][..], &["2020-01-01", "3"], &["2020-01-01"], &["2020-01-01"; 3], &[]] {
            assert_eq!(step(none), None, "{none:?}");
        }
        // Unix times have a unit, other numbers have none: those of hours here, and dates without separators.
        for (unit, digits) in [(1, 0), (1, 3), (1, 6), (1, 9), (24, 0)] {
            let time = |at: u64| (1_577_836_800 + 3600 * unit * at) * 10_u64.pow(digits);
            let words: Vec<String> = (0..4).map(|at| time(at).to_string()).collect();
            let words: Vec<&str> = words.iter().map(String::as_str).collect();
            let hours = step(&words).unwrap() * 24.0;
            assert!((hours - unit as f64).abs() < 1e-6, "{words:?}: {hours}");
        }
        for none in [["20200101", "20200102", "20200103"], ["2020010101", "2020010102", "2020010103"]] {
            assert_eq!(step(&none), None, "{none:?}");
        }
        // From a Friday to a Monday; and events.
        assert_eq!(step(&["2020-01-03", "2020-01-06"]), None);
        assert_eq!(step(&["2020-01-03", "2020-01-06", "2020-01-07"]), None);
        assert_eq!(step(&["2020-01-02", "2020-01-03", "2020-01-06", "2020-01-07"]), Some(1.0));
        assert_eq!(step(&["2020-01-01", "2020-01-02", "2020-01-05", "2020-01-20"]), None);
        assert!(same_step(28.0, 31.0) && !same_step(1.0, 1.0 / 24.0) && !same_step(1.0, 7.0));
        let said = [365.0, 1.0, 1.0 / 24.0, 0.25 / 24.0, 0.5 / 86_400.0].map(duration);
        assert_eq!(said, ["365 days", "1 day", "1 hour", "15 minutes", "0.5 seconds"]);
    }

    #[test]
    fn rows_are_in_the_order_of_their_dates() {
        assert_eq!(order(&["2020-01-30", "2020-01-31", "2020-02-01"]), Ok(None));
        assert_eq!(order(&["2020-01-01", "2020-02-01", "2020-03-01"]), Ok(None), "months");
        let error = order(&["2020-01-01", "2020-01-03", "2020-01-02"]).unwrap_err();
        assert_eq!(error, "row 2 (2020-01-02) is before row 1 (2020-01-03)");
        let said = |words: &[&str]| order(words).unwrap().unwrap();
        assert!(said(&["1", "2", "2"]).contains("1 row has the time of the row before"));
        assert!(said(&["22", "23", "0"]).contains("goes back from 23 to 0 at row 2"));
        assert!(said(&["1", "2", "3", "7", "8"]).contains("1 row follows after a longer time"));
        for fine in [&["Monday", "Friday", "Monday"][..], &["12", "NA", "3"], &[], &["5"]] {
            assert_eq!(order(fine), Ok(None), "{fine:?}");
        }
    }
}

//! Dates in the Gregorian calendar, and their texts.

/// Seconds of a day.
#[cfg(feature = "columnar")]
const DAY: i64 = 86_400;

/// Days since some day. The calendar repeats after 400 years; March is the first month of its year, so that a leap day is the last of one.
pub(crate) fn days(year: u32, month: u32, day: u32) -> u32 {
    let (year, month) = if month > 2 { (year + 400, month - 3) } else { (year + 399, month + 9) };
    365 * year + year / 4 - year / 100 + year / 400 + (153 * month + 2) / 5 + day
}

/// The day so many days after the first one of 1970, as `2016-07-01`; the number itself if its year does not have four digits.
#[cfg(feature = "columnar")]
pub(super) fn day_text(count: i64) -> String {
    let wanted = count.checked_add(i64::from(days(1970, 1, 1))).and_then(|day| u32::try_from(day).ok());
    let Some(wanted) = wanted.filter(|day| (days(0, 1, 1)..=days(9999, 12, 31)).contains(day)) else {
        return count.to_string();
    };
    // A year has at least 365 days, so this one is not before the year that is wanted.
    let latest = ((wanted - days(0, 1, 1)) / 365).min(9999);
    let year = (0..=latest).rev().find(|&year| days(year, 1, 1) <= wanted).unwrap_or(0);
    let month = (1..=12).rev().find(|&month| days(year, month, 1) <= wanted).unwrap_or(1);
    format!("{year:04}-{month:02}-{:02}", wanted - days(year, month, 1) + 1)
}

/// The time so long after the beginning of 1970, of whose units a second has so many, as `2016-07-01 12:30:00.25`; the number itself if its
/// year does not have four digits.
#[cfg(feature = "columnar")]
pub(super) fn time_text(count: i64, per_second: i64) -> String {
    let (seconds, rest) = (count.div_euclid(per_second), count.rem_euclid(per_second));
    let (day, second) = (day_text(seconds.div_euclid(DAY)), seconds.rem_euclid(DAY));
    if !day.contains('-') || day.starts_with('-') {
        return count.to_string();
    }
    let text = format!("{day} {:02}:{:02}:{:02}", second / 3600, second / 60 % 60, second % 60);
    if rest == 0 {
        return text;
    }
    let digits = per_second.ilog10() as usize;
    let fraction = format!("{rest:0digits$}");
    format!("{text}.{}", fraction.trim_end_matches('0'))
}

#[cfg(all(test, feature = "columnar"))]
mod tests {
    use super::*;

    #[test]
    fn days_have_the_dates_that_they_are_counted_from() {
        for (year, month, day) in [
            (1970, 1, 1),
            (1969, 12, 31),
            (2000, 2, 29),
            (2100, 2, 28),
            (0, 1, 1),
            (9999, 12, 31),
            (2024, 3, 1),
        ] {
            let count = i64::from(days(year, month, day)) - i64::from(days(1970, 1, 1));
            assert_eq!(day_text(count), format!("{year:04}-{month:02}-{day:02}"));
        }
        let all: Vec<String> = (0..1500).map(|at| day_text(10_957 + at)).collect();
        assert_eq!((&*all[0], &*all[59], &*all[366]), ("2000-01-01", "2000-02-29", "2001-01-01"));
        assert!(all.is_sorted() && all.windows(2).all(|pair| pair[0] != pair[1]));
        for beyond in [i64::MIN, i64::MAX, -719_529, 2_932_897] {
            assert_eq!(day_text(beyond), beyond.to_string());
        }
    }

    #[test]
    fn times_have_no_zeros_at_the_end() {
        assert_eq!(time_text(0, 1), "1970-01-01 00:00:00");
        assert_eq!(time_text(-1, 1000), "1969-12-31 23:59:59.999");
        assert_eq!(time_text(1_467_376_200_250_000, 1_000_000), "2016-07-01 12:30:00.25");
        assert_eq!(time_text(1_467_376_200_000_000_001, 1_000_000_000), "2016-07-01 12:30:00.000000001");
        for (beyond, per_second) in [(i64::MIN, 1), (i64::MAX, 1000)] {
            assert_eq!(time_text(beyond, per_second), beyond.to_string());
        }
    }
}

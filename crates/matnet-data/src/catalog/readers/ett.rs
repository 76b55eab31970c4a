//! Electricity transformer temperature: `ETTh1.csv` and `ETTh2.csv`, a date and 7 channels per hour.

use std::path::Path;

use crate::format::bounded::{Input, reserve};
use crate::split::RowCounts;
use crate::{Array, Result, TableData};

const CHANNELS: [&str; 7] = ["HUFL", "HULL", "MUFL", "MULL", "LUFL", "LULL", "OT"];

/// The usual protocol: 12 months of 30 days to learn from, 4 to validate, 4 to test. The remaining rows are not used.
pub const MONTHS: RowCounts = RowCounts { train: 12 * 30 * 24, valid: 4 * 30 * 24, test: 4 * 30 * 24 };

/// Reads a table of 7 channels, gzipped or not; the dates are left out. With 14,400 rows or more it has the usual split.
pub fn load(path: impl AsRef<Path>) -> Result<TableData> {
    parse(Input::open(path)?)
}

/// Reads a table from a stream.
pub fn parse(mut input: Input) -> Result<TableData> {
    let bytes = input.rest()?;
    let text = std::str::from_utf8(&bytes).map_err(|_| input.error("is not UTF-8"))?;
    let mut lines = text.lines().enumerate();
    let header = lines.next().map_or("", |(_, line)| line.trim_end());
    if header.split(',').ne(["date"].into_iter().chain(CHANNELS)) {
        let expected = CHANNELS.join(",");
        return Err(input.error(format!("line 1: the header date,{expected} expected")));
    }
    let mut values = Vec::new();
    for (at, line) in lines.filter(|(_, line)| !line.trim().is_empty()) {
        let wrong = |what: String| input.error(format!("line {}: {what}", at + 1));
        let before = values.len();
        for field in line.trim_end().split(',').skip(1) {
            // through f64, as pandas reads it
            let value: f64 = field.parse().map_err(|_| wrong(format!("{field:?} is not a number")))?;
            reserve(&mut values, 1, input.name())?;
            values.push(value as f32);
        }
        if values.len() - before != CHANNELS.len() {
            return Err(wrong(format!("{} numbers where 7 are expected", values.len() - before)));
        }
    }
    let rows = values.len() / CHANNELS.len();
    if rows == 0 {
        return Err(input.error("has no rows"));
    }
    let mut table = TableData::new(Array::new([rows, CHANNELS.len()], values)?)?;
    table.column_names = CHANNELS.map(String::from).into();
    table.split = MONTHS.check(rows).is_ok().then_some(MONTHS);
    Ok(table)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_read_and_errors_name_the_line() {
        let parsed = |rows: &str| {
            let text = format!("date,HUFL,HULL,MUFL,MULL,LUFL,LULL,OT\r\n{rows}");
            parse(Input::bytes("t.csv", text.as_bytes()).unwrap())
        };
        let table =
            parsed("2016-07-01 00:00:00,1,2,3,4,5,6,7.5\r\n2016-07-01 01:00:00,-1,0,0,0,0,0,1e1\n").unwrap();
        assert_eq!(table.values.shape(), [2, 7]);
        assert_eq!((table.values.data()[6], table.values.data()[13], table.split), (7.5, 10.0, None));
        let error = |rows| parsed(rows).unwrap_err().to_string();
        assert_eq!(error("d,1,2\n"), "t.csv: line 2: 2 numbers where 7 are expected");
        assert_eq!(error("d,1,2,x,4,5,6,7\n"), "t.csv: line 2: \"x\" is not a number");
        assert_eq!(error(""), "t.csv: has no rows");
        let other = parse(Input::bytes("t.csv", b"a,b\n1,2\n").unwrap()).unwrap_err().to_string();
        assert_eq!(other, "t.csv: line 1: the header date,HUFL,HULL,MUFL,MULL,LUFL,LULL,OT expected");
    }
}

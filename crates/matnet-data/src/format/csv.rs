//! One matrix as text: a row per line, numbers separated by commas, semicolons, tabs or blanks, with an optional header of column names.

use std::path::Path;

use crate::error::counted;
use crate::format::bounded::{Input, reserve};
use crate::format::fields::{Fields, Next};
use crate::format::table;
use crate::{Array, Result, memory};

/// Reads a matrix `[rows, cols]` from a text file, gzipped or not.
pub fn read(path: impl AsRef<Path>) -> Result<Array> {
    table::require_file(path.as_ref())?;
    // the numbers may take twice as many bytes as the text: they are counted first, to allocate once
    let mut fields = Fields::new(Input::open(&path)?);
    let mut count = 0;
    loop {
        match fields.next()? {
            Next::Field => count += 1,
            Next::Line => fields.next_line(),
            Next::End => break,
        }
    }
    let input = Input::open(path)?;
    let numbers = memory::with_capacity(count, input.name().display())?;
    parse_into(input, numbers)
}

/// Reads a matrix from a stream.
pub fn parse(input: Input) -> Result<Array> {
    parse_into(input, Vec::new())
}

fn parse_into(input: Input, mut numbers: Vec<f32>) -> Result<Array> {
    let name = input.name().to_owned();
    let mut fields = Fields::new(input);
    let (mut rows, mut cols, mut in_row) = (0usize, 0usize, 0usize);
    // whether this line may be a header, and whether it is one
    let (mut may_name, mut names) = (true, false);
    let (mut comma, mut point) = (false, false);
    loop {
        match fields.next()? {
            Next::Field if names => {}
            Next::Field => {
                if may_name && fields.try_number().is_none() && !fields.field().is_empty() {
                    names = true;
                    numbers.clear();
                    continue;
                }
                let number = fields.number()?;
                if fields.has_decimal_commas() {
                    // 1.234 may then be a thousand
                    comma |= fields.field().contains(&b',');
                    point |= fields.field().contains(&b'.');
                    if comma && point {
                        let what = "numbers with commas and numbers with points; one of them expected";
                        return Err(fields.error(what));
                    }
                }
                reserve(&mut numbers, 1, &name)?;
                numbers.push(number);
                in_row += 1;
            }
            Next::Line if names => {
                (may_name, names) = (false, false);
                in_row = 0;
                fields.next_line();
            }
            Next::Line if fields.is_ambiguous() => {
                let what = "numbers are separated by commas and by blanks; commas, or semicolons between decimal commas, expected";
                return Err(fields.error(what));
            }
            Next::Line => {
                may_name = false;
                if rows == 0 {
                    cols = in_row;
                } else if in_row != cols {
                    return Err(
                        fields.error(format!("{} where the first row has {cols}", counted(in_row, "number")))
                    );
                }
                rows += 1;
                in_row = 0;
                fields.next_line();
            }
            Next::End => break,
        }
    }
    if rows == 0 {
        return Err(fields.error("no row of numbers"));
    }
    Array::new([rows, cols], numbers)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(text: &str) -> Result<Array> {
        parse(Input::bytes("t.csv", text.as_bytes()).unwrap())
    }

    #[test]
    fn separators_names_and_comments() {
        for text in
            ["1,2\n3,4\n", "1;2\r\n3;4", "1\t2\n\n3\t4\n", " 1  2\n3 4 ", "# by hand\na,b\n1, 2\n\"3\",4"]
        {
            let array = parsed(text).unwrap();
            assert_eq!((array.shape(), array.data()), (&[2, 2][..], &[1., 2., 3., 4.][..]), "{text:?}");
        }
        assert_eq!(parsed("-1e3").unwrap().data(), [-1000.]);
    }

    #[test]
    fn errors_name_the_line() {
        let error = |text: &str| parsed(text).unwrap_err().to_string();
        assert_eq!(error("1,2\n3\n"), "t.csv: line 2: 1 number where the first row has 2");
        assert_eq!(error("1,2\n3,x\n"), "t.csv: line 2: \"x\" is not a number");
        assert_eq!(error("a,b\nc,d\n"), "t.csv: line 2: \"c\" is not a number");
        assert_eq!(error("1,2\n3,,4\n"), "t.csv: line 2: an empty field where a number was expected");
        assert_eq!(error("1,\n"), "t.csv: line 1: an empty field where a number was expected");
        assert!(error("").contains("no row"));
        assert!(error("a,b\n").contains("no row"));
        assert!(error("1,5;2\n1.234;2\n").contains("line 2: numbers with commas and numbers with points"));
        assert_eq!(parsed("1,5;2\n3;4\n").unwrap().data(), [1.5, 2., 3., 4.]);
        // Two numbers with decimal commas, or four?
        assert!(
            error("1 2\n1,5 2,5\n")
                .starts_with("t.csv: line 2: numbers are separated by commas and by blanks")
        );
    }
}

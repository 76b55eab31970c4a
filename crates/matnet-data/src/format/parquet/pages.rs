//! The sizes that a Parquet file claims, checked before the crate that reads it reserves memory for them.
//!
//! The footer and the headers of the pages are structures of Thrift's compact protocol. Only sizes are looked at here; everything else is
//! skipped.

use crate::format::bounded::Budget;

/// The last bytes of a file: the length of the footer, and `PAR1`.
const TAIL: usize = 8;
/// Deeper structures are in no Parquet file, and would fill the stack.
const MAX_DEPTH: usize = 16;
/// Groups of columns, of which a plain table has one.
const MAX_GROUPS: usize = 64;
/// What one element of a list takes in memory, at most: a column chunk.
const ELEMENT_BYTES: u64 = 1024;
/// What one value of a dictionary takes in memory, at most.
const VALUE_BYTES: u64 = 40;

/// Where the sizes stand in the header of a page, packed and not, and the number of values of a dictionary: the field around it, and its own.
const UNPACKED: (i64, i64) = (0, 2);
const PACKED: (i64, i64) = (0, 3);
const VALUES: (i64, i64) = (7, 1);

/// Checks the lists of the footer: each element takes at least a byte of the file.
pub fn check_footer(bytes: &[u8], budget: &Budget) -> Result<(), String> {
    let not_valid = || "is not a valid Parquet file: it has no footer".to_owned();
    let [a, b, c, d, b'P', b'A', b'R', b'1'] = *bytes.last_chunk::<TAIL>().ok_or_else(not_valid)? else {
        return Err(not_valid());
    };
    let length = u32::from_le_bytes([a, b, c, d]) as usize;
    let start =
        bytes.len().checked_sub(TAIL).and_then(|end| end.checked_sub(length)).ok_or_else(not_valid)?;
    let mut footer = Compact { bytes: &bytes[start..bytes.len() - TAIL], at: 0, elements: 0 };
    // Field 5 of the elements of the schema, field 2, is the number of their children.
    let mut groups = 0;
    let walked = footer.structure(0, 0, &mut |outer, field, value| {
        groups += usize::from((outer, field) == (2, 5) && value != Some(0));
    });
    walked.ok_or_else(damaged)?;
    if groups > MAX_GROUPS {
        return Err("holds nested structures; plain columns expected".to_owned());
    }
    budget.spend(ELEMENT_BYTES.saturating_mul(footer.elements)).map_err(|e| e.to_string())
}

/// Checks the pages of a column chunk.
pub fn check_chunk(bytes: &[u8], start: u64, length: u64, budget: &Budget) -> Result<(), String> {
    let end = start.checked_add(length).filter(|&end| end <= bytes.len() as u64).ok_or_else(damaged)?;
    let mut at = start as usize;
    while at < end as usize {
        let mut header = Compact { bytes: &bytes[at..end as usize], at: 0, elements: 0 };
        let (mut unpacked, mut packed, mut sound) = (0_u64, 0_u32, true);
        let walked = header.structure(0, 0, &mut |outer, field, value| {
            if ![UNPACKED, PACKED, VALUES].contains(&(outer, field)) {
                return;
            }
            // The crate takes 32 bits of whatever stands there.
            let Some(size) = value.and_then(|value| i32::try_from(value).ok()?.try_into().ok()) else {
                sound = false;
                return;
            };
            match (outer, field) {
                PACKED => packed = size,
                UNPACKED => unpacked = unpacked.saturating_add(size.into()),
                _ => unpacked = unpacked.saturating_add(VALUE_BYTES * u64::from(size)),
            }
        });
        walked.filter(|()| sound).ok_or_else(damaged)?;
        budget.spend(unpacked).map_err(|e| e.to_string())?;
        at = at.checked_add(header.at).and_then(|at| at.checked_add(packed as usize)).ok_or_else(damaged)?;
    }
    Ok(())
}

fn damaged() -> String {
    "is a damaged Parquet file".to_owned()
}

/// Thrift's compact protocol. Every method gives `None` where the bytes end too early or make no sense.
struct Compact<'a> {
    bytes: &'a [u8],
    at: usize,
    /// The elements of all lists so far.
    elements: u64,
}

/// Takes the field around a structure (0 outside), the field, and its integer if it is one.
type Found<'a> = dyn FnMut(i64, i64, Option<i64>) + 'a;

impl Compact<'_> {
    fn byte(&mut self) -> Option<u8> {
        let byte = *self.bytes.get(self.at)?;
        self.at += 1;
        Some(byte)
    }

    fn skip(&mut self, count: u64) -> Option<()> {
        let end = self.at.checked_add(usize::try_from(count).ok()?)?;
        self.at = (end <= self.bytes.len()).then_some(end)?;
        Some(())
    }

    fn varint(&mut self) -> Option<u64> {
        let mut value = 0;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            value |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return Some(value);
            }
        }
        None
    }

    fn integer(&mut self) -> Option<i64> {
        let value = self.varint()?;
        Some((value >> 1) as i64 ^ -((value & 1) as i64))
    }

    fn structure(&mut self, outer: i64, depth: usize, found: &mut Found) -> Option<()> {
        if depth > MAX_DEPTH {
            return None;
        }
        let mut field = 0_i64;
        loop {
            let head = self.byte()?;
            if head == 0 {
                return Some(());
            }
            field = match head >> 4 {
                0 => self.integer()?,
                step => field.checked_add(i64::from(step))?,
            };
            match head & 15 {
                // A boolean is its own type.
                1 | 2 => found(outer, field, None),
                4..=6 => {
                    let value = self.integer()?;
                    found(outer, field, Some(value));
                }
                kind => {
                    found(outer, field, None);
                    self.value(kind, field, depth, found)?;
                }
            }
        }
    }

    fn value(&mut self, kind: u8, field: i64, depth: usize, found: &mut Found) -> Option<()> {
        match kind {
            1..=3 => self.skip(1),
            4..=6 => self.varint().map(drop),
            7 => self.skip(8),
            8 => {
                let length = self.varint()?;
                self.skip(length)
            }
            9 | 10 => {
                let head = self.byte()?;
                let count = if head >> 4 == 15 { self.varint()? } else { u64::from(head >> 4) };
                self.list(count, &[head & 15], field, depth, found)
            }
            11 => match self.varint()? {
                0 => Some(()),
                count => {
                    let kinds = self.byte()?;
                    self.list(count, &[kinds >> 4, kinds & 15], field, depth, found)
                }
            },
            12 => self.structure(field, depth + 1, found),
            13 => self.skip(16),
            _ => None,
        }
    }

    fn list(&mut self, count: u64, kinds: &[u8], field: i64, depth: usize, found: &mut Found) -> Option<()> {
        if depth > MAX_DEPTH || count > (self.bytes.len() - self.at) as u64 {
            return None;
        }
        self.elements += count;
        for _ in 0..count {
            for &kind in kinds {
                self.value(kind, field, depth + 1, found)?;
            }
        }
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn structures_are_walked_to_their_end() {
        // {2: 300, 3: -1, 5: {1: 7}, 7: [8: "ab"], 22: true}, field 22 in the long form, and a byte that follows
        let bytes =
            [0x25, 0xd8, 0x04, 0x15, 0x01, 0x2c, 0x15, 0x0e, 0, 0x29, 0x18, 2, b'a', b'b', 0x01, 44, 0, 9];
        let mut walker = Compact { bytes: &bytes, at: 0, elements: 0 };
        let mut found = Vec::new();
        walker.structure(0, 0, &mut |outer, field, value| found.push((outer, field, value))).unwrap();
        assert_eq!((walker.at, walker.elements), (bytes.len() - 1, 1));
        let integers: Vec<_> =
            found.iter().filter_map(|&(outer, field, value)| Some((outer, field, value?))).collect();
        assert_eq!(integers, [(0, 2, 300), (0, 3, -1), (5, 1, 7)]);
        assert_eq!(found.len(), integers.len() + 3, "a structure, a list, a boolean");
    }

    #[test]
    fn lies_are_found() {
        let walk = |bytes: &[u8]| Compact { bytes, at: 0, elements: 0 }.structure(0, 0, &mut |_, _, _| {});
        assert_eq!(walk(&[0x19, 0xfc, 0xff, 0xff, 0xff, 0x7f]), None, "a list of more elements than bytes");
        assert_eq!(walk(&[0x1c; 40]), None, "a structure in a structure in a structure");
        assert_eq!(walk(&[0x18, 5, 1]), None, "a text that ends too early");
        let budget = Budget::for_size(0);
        // A page that says it unpacks to 2 GiB.
        let page = [0x25, 0xfe, 0xff, 0xff, 0xff, 0x0f, 0x15, 0x00, 0];
        let error = check_chunk(&page, 0, page.len() as u64, &budget).unwrap_err();
        assert!(error.starts_with("unpacks to more than"), "{error}");
        assert_eq!(check_chunk(&page, 0, 99, &budget).unwrap_err(), "is a damaged Parquet file");
    }

    #[test]
    fn sizes_that_the_crate_would_read_otherwise_are_damage() {
        let budget = Budget::for_size(0);
        // A dictionary of so many values, in a page of 0 bytes.
        let page = |kind: u8, count: &[u8]| {
            [&[0x25, 0, 0x15, 0, 0x4c, 0x10 | kind][..], count, &[0x15, 0, 0, 0]].concat()
        };
        let check = |page: Vec<u8>| check_chunk(&page, 0, page.len() as u64, &budget);
        assert_eq!(check(page(5, &[4])), Ok(()));
        let damaged = Err("is a damaged Parquet file".to_owned());
        // 64 bits whose lower 32 are about 10⁹; −1; a single byte, after which the crate would read on.
        assert_eq!(check(page(5, &[0xff, 0xff, 0xff, 0xff, 0xf7, 0xff, 0xff, 0xff, 0x04])), damaged);
        assert_eq!(check(page(5, &[1])), damaged);
        assert_eq!(check(page(3, &[4])), damaged);
    }
}

//! The values of a tensor in JSON: flat, or nested row by row.

use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error, SeqAccess, Visitor};

use super::datatype::DataType;

/// Arrays of more axes than a tensor can have are refused.
pub const MAX_DEPTH: usize = 8;

/// No integer type reaches as far; an `i128` does.
const FAR: f64 = 1e30;

/// Numbers and truth values from arrays within arrays, in order.
#[derive(Debug, Default)]
pub struct Numbers {
    pub values: Vec<f32>,
    /// The lengths of the arrays, from the outermost to the innermost.
    sides: Vec<usize>,
    /// How many arrays are around the values.
    depth: Option<usize>,
    /// Whether arrays of one depth differ in length, or hold numbers here and arrays there.
    uneven: bool,
    extremes: Extremes,
}

/// What decides whether values are of a datatype: the first of each kind, with its place.
#[derive(Debug, Default)]
struct Extremes {
    truth: Option<usize>,
    /// No integer of any type: it has a fraction, or is far too large.
    no_integer: Option<(usize, f64)>,
    beyond_f32: Option<(usize, f64)>,
    least: Option<(usize, i128)>,
    most: Option<(usize, i128)>,
}

impl Numbers {
    /// Fails unless values that are nested are nested as the shape says.
    pub fn check_nesting(&self, shape: &[u64]) -> Result<(), String> {
        let flat = self.sides.len() <= 1 && !self.uneven;
        if flat || !self.uneven && self.sides.iter().map(|&side| side as u64).eq(shape.iter().copied()) {
            return Ok(());
        }
        let found = match self.uneven {
            true => "arrays of different lengths".to_owned(),
            false => format!("arrays of the shape {:?}", self.sides),
        };
        Err(format!("data has {found}; flat values, or arrays of the shape {shape:?} expected"))
    }

    /// Fails if a value is not of the datatype.
    pub fn check_type(&self, datatype: DataType) -> Result<(), String> {
        let Extremes { truth, no_integer, beyond_f32, least, most } = &self.extremes;
        let expected = |at: usize, value: &dyn fmt::Display, what: String| {
            Err(format!("value {at} is {value}; {what} expected"))
        };
        let name = datatype.name();
        let Some((low, high)) = datatype.range() else {
            return match (truth, beyond_f32) {
                (Some(at), _) => expected(*at, &"a truth value", format!("numbers of {name}")),
                (_, Some((at, value))) => {
                    expected(*at, &format_args!("{value:e}"), format!("numbers up to {:e}", f32::MAX))
                }
                _ => Ok(()),
            };
        };
        let range = || format!("{name}, {low} to {high},");
        match (truth, no_integer, least, most) {
            (Some(at), ..) if datatype != DataType::Bool => expected(*at, &"a truth value", range()),
            // Like this, numbers near 0 do not have hundreds of digits.
            (_, Some((at, value)), ..) => expected(*at, &format_args!("{value:?}"), range()),
            (.., Some((at, value)), _) if *value < low => expected(*at, value, range()),
            (.., Some((at, value))) if *value > high => expected(*at, value, range()),
            _ => Ok(()),
        }
    }

    fn push_whole(&mut self, value: i128) {
        let at = self.values.len();
        let Extremes { least, most, .. } = &mut self.extremes;
        if least.is_none_or(|(_, known)| value < known) {
            *least = Some((at, value));
        }
        if most.is_none_or(|(_, known)| value > known) {
            *most = Some((at, value));
        }
    }

    /// The end of an array of so many elements, with so many arrays around it.
    fn end(&mut self, depth: usize, length: usize) {
        // Inner arrays end first.
        if self.sides.len() <= depth {
            self.sides.resize(depth + 1, usize::MAX);
        }
        match &mut self.sides[depth] {
            side if *side == usize::MAX => *side = length,
            side => self.uneven |= *side != length,
        }
    }
}

impl<'de> serde::Deserialize<'de> for Numbers {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let mut numbers = Self::default();
        deserializer.deserialize_seq(Elements { into: &mut numbers, depth: 0 })?;
        Ok(numbers)
    }
}

struct Elements<'a> {
    into: &'a mut Numbers,
    depth: usize,
}

impl<'de> DeserializeSeed<'de> for Elements<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Elements<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("a number, or an array of numbers")
    }

    fn visit_bool<E: Error>(self, value: bool) -> Result<(), E> {
        let at = self.into.values.len();
        self.into.extremes.truth.get_or_insert(at);
        self.push(f32::from(u8::from(value)))
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<(), E> {
        self.into.push_whole(value.into());
        self.push(value as f32)
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<(), E> {
        self.into.push_whole(value.into());
        self.push(value as f32)
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<(), E> {
        let at = self.into.values.len();
        if (value as f32).is_infinite() {
            self.into.extremes.beyond_f32.get_or_insert((at, value));
        }
        match value.fract() == 0.0 && value.abs() < FAR {
            true => self.into.push_whole(value as i128),
            false => drop(self.into.extremes.no_integer.get_or_insert((at, value))),
        }
        self.push(value as f32)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut elements: A) -> Result<(), A::Error> {
        let Self { into, depth } = self;
        if depth == MAX_DEPTH {
            return Err(A::Error::custom(format!("more than {MAX_DEPTH} arrays within each other")));
        }
        let mut length = 0;
        while elements.next_element_seed(Elements { into, depth: depth + 1 })?.is_some() {
            length += 1;
        }
        into.end(depth, length);
        Ok(())
    }
}

impl Elements<'_> {
    /// Appends a value, which stands in the innermost arrays.
    fn push<E>(self, value: f32) -> Result<(), E> {
        let Numbers { values, depth, uneven, .. } = self.into;
        *uneven |= *depth.get_or_insert(self.depth) != self.depth;
        values.push(value);
        Ok(())
    }
}

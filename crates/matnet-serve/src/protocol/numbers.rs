//! The values of a tensor in JSON: flat, or nested row by row.

use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error, SeqAccess, Visitor};

/// Arrays of more axes than a tensor can have are refused.
pub const MAX_DEPTH: usize = 8;

/// Numbers and truth values from arrays within arrays, in order.
#[derive(Debug, Default)]
pub struct Numbers(pub Vec<f32>);

impl<'de> serde::Deserialize<'de> for Numbers {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let mut numbers = Vec::new();
        deserializer.deserialize_seq(Elements { into: &mut numbers, depth: 0 })?;
        Ok(Self(numbers))
    }
}

struct Elements<'a> {
    into: &'a mut Vec<f32>,
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
        self.into.push(f32::from(u8::from(value)));
        Ok(())
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<(), E> {
        self.into.push(value as f32);
        Ok(())
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<(), E> {
        self.into.push(value as f32);
        Ok(())
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<(), E> {
        self.into.push(value as f32);
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut elements: A) -> Result<(), A::Error> {
        if self.depth == MAX_DEPTH {
            return Err(A::Error::custom(format!("more than {MAX_DEPTH} arrays within each other")));
        }
        while elements.next_element_seed(Elements { into: self.into, depth: self.depth + 1 })?.is_some() {}
        Ok(())
    }
}

//! From TOML values to typed configs, with errors that name the key.
//!
//! Serde reports an unknown or missing key through its error type, so an error type of our own keeps what a message
//! would lose: the path of the key and the keys that exist.

use std::fmt;

use matnet::ConfigError;
use serde::Serialize;
use serde::de::{
    self, DeserializeOwned, DeserializeSeed, Deserializer, EnumAccess, Expected, IntoDeserializer, MapAccess,
    SeqAccess, Unexpected, VariantAccess, Visitor,
};
use toml::{Table, Value};

use super::{nearest, suggestion};
use crate::Result;
use crate::error::at;

/// A value as it would stand in a config.
pub(crate) fn shown(value: &impl Serialize) -> String {
    Value::try_from(value).map(|value| value.to_string()).unwrap_or_default()
}

/// Turns the table `section` of a config into a typed config.
pub(crate) fn from_table<C: DeserializeOwned>(section: &'static str, table: Table) -> Result<C> {
    C::deserialize(De(Value::Table(table))).map_err(|fault| at(section)(fault.into_error()))
}

/// Sets a number that the config leaves out.
pub(crate) fn fill_count(table: &mut Table, key: &str, count: usize) {
    table.entry(key).or_insert(Value::Integer(count as i64));
}

/// Sets the sides of a matrix that the config leaves out.
pub(crate) fn fill_sides(table: &mut Table, key: &str, sides: &[usize]) {
    let sides = sides.iter().map(|&side| Value::Integer(side as i64)).collect();
    table.entry(key).or_insert(Value::Array(sides));
}

/// The keys that a config type knows.
pub fn keys_of<C: DeserializeOwned>() -> &'static [&'static str] {
    match C::deserialize(Probe) {
        Err(Fault { kind: FaultKind::Keys(keys), .. }) => keys,
        _ => &[],
    }
}

/// What is wrong, and at which key.
#[derive(Debug)]
struct Fault {
    /// From the innermost key outwards.
    path: Vec<String>,
    kind: FaultKind,
}

#[derive(Debug)]
enum FaultKind {
    Unknown { key: String, known: Vec<String> },
    Missing(&'static str),
    Invalid { value: String, expected: String },
    Other(String),
    Keys(&'static [&'static str]),
}

impl Fault {
    fn new(kind: FaultKind) -> Self {
        Self { path: Vec::new(), kind }
    }

    fn below(mut self, key: impl Into<String>) -> Self {
        self.path.push(key.into());
        self
    }

    fn into_error(self) -> ConfigError {
        let mut path: Vec<String> = self.path.into_iter().rev().collect();
        let (value, expected) = match self.kind {
            FaultKind::Unknown { key, known } => {
                let hint = suggestion(&key, &known);
                path.push(key);
                ("no such key".to_owned(), hint)
            }
            FaultKind::Missing(key) => {
                path.push(key.to_owned());
                ("is missing".to_owned(), "give it a value".to_owned())
            }
            FaultKind::Invalid { value, expected } => (value, expected),
            FaultKind::Other(what) => ("cannot be read".to_owned(), what),
            FaultKind::Keys(_) => Default::default(),
        };
        ConfigError::new(path.join("."), value, expected)
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self:?}")
    }
}

impl std::error::Error for Fault {}

impl de::Error for Fault {
    fn custom<T: fmt::Display>(message: T) -> Self {
        Self::new(FaultKind::Other(message.to_string()))
    }

    fn invalid_type(found: Unexpected, expected: &dyn Expected) -> Self {
        Self::invalid_value(found, expected)
    }

    fn invalid_value(found: Unexpected, expected: &dyn Expected) -> Self {
        let value = match found {
            Unexpected::Bool(value) => value.to_string(),
            Unexpected::Unsigned(value) => value.to_string(),
            Unexpected::Signed(value) => value.to_string(),
            Unexpected::Float(value) => value.to_string(),
            Unexpected::Str(value) => format!("\"{value}\""),
            Unexpected::Seq => "a list".to_owned(),
            Unexpected::Map => "a table".to_owned(),
            other => other.to_string(),
        };
        let expected = match expected.to_string().as_str() {
            "usize" | "u64" | "u32" => "a whole number expected".to_owned(),
            "f64" | "f32" => "a number expected".to_owned(),
            "a boolean" => "true or false expected".to_owned(),
            "a string" => "a text expected".to_owned(),
            "a sequence" => "a list expected".to_owned(),
            other if other.ends_with("expected") => other.to_owned(),
            other => format!("{other} expected"),
        };
        Self::new(FaultKind::Invalid { value, expected })
    }

    fn invalid_length(length: usize, expected: &dyn Expected) -> Self {
        let value = format!("a list of {length}");
        Self::new(FaultKind::Invalid { value, expected: format!("{expected} expected") })
    }

    fn unknown_variant(variant: &str, known: &'static [&'static str]) -> Self {
        let expected = match nearest(variant, known.iter().copied()) {
            Some(near) => format!("did you mean `{near}`?"),
            None => format!("one of {} expected", known.join(", ")),
        };
        Self::new(FaultKind::Invalid { value: variant.to_owned(), expected })
    }

    fn unknown_field(field: &str, known: &'static [&'static str]) -> Self {
        let known = known.iter().map(|&name| name.to_owned()).collect();
        Self::new(FaultKind::Unknown { key: field.to_owned(), known })
    }

    fn missing_field(field: &'static str) -> Self {
        Self::new(FaultKind::Missing(field))
    }
}

/// A TOML value as serde reads it.
struct De(Value);

impl<'de> Deserializer<'de> for De {
    type Error = Fault;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        match self.0 {
            Value::String(text) => visitor.visit_string(text),
            Value::Integer(number) => match u64::try_from(number) {
                Ok(number) => visitor.visit_u64(number),
                Err(_) => visitor.visit_i64(number),
            },
            Value::Float(number) => visitor.visit_f64(number),
            Value::Boolean(value) => visitor.visit_bool(value),
            Value::Datetime(time) => visitor.visit_string(time.to_string()),
            Value::Array(items) => visitor.visit_seq(Items { items: items.into_iter(), at: 0 }),
            Value::Table(table) => visitor.visit_map(Entries { entries: table.into_iter(), value: None }),
        }
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        visitor.visit_some(self)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        visitor: V,
    ) -> Result<V::Value, Fault> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _name: &'static str,
        variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Fault> {
        match self.0 {
            Value::String(name) => visitor.visit_enum(Unit(name)),
            other => Err(wrong_type(&other, format!("one of {} expected", variants.join(", ")))),
        }
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Fault> {
        match self.0 {
            Value::Table(_) => self.deserialize_any(visitor),
            // A list would be taken for its keys in order.
            other => {
                let keys = if fields.len() == 1 { "key" } else { "keys" };
                let expected = format!("a table with the {keys} {} expected", fields.join(", "));
                Err(wrong_type(&other, expected))
            }
        }
    }

    serde::forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf unit unit_struct seq tuple
        tuple_struct map identifier ignored_any
    }
}

fn wrong_type(found: &Value, expected: String) -> Fault {
    let value = match found {
        Value::Array(_) => "a list".to_owned(),
        Value::Table(_) => "a table".to_owned(),
        other => other.to_string(),
    };
    Fault::new(FaultKind::Invalid { value, expected })
}

struct Items {
    items: std::vec::IntoIter<Value>,
    at: usize,
}

impl<'de> SeqAccess<'de> for Items {
    type Error = Fault;

    fn next_element_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<Option<T::Value>, Fault> {
        let Some(item) = self.items.next() else { return Ok(None) };
        self.at += 1;
        seed.deserialize(De(item)).map(Some).map_err(|fault| fault.below(format!("[{}]", self.at - 1)))
    }

    fn size_hint(&self) -> Option<usize> {
        Some(self.items.len())
    }
}

struct Entries {
    entries: toml::map::IntoIter<String, Value>,
    value: Option<(String, Value)>,
}

impl<'de> MapAccess<'de> for Entries {
    type Error = Fault;

    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>, Fault> {
        let Some((key, value)) = self.entries.next() else { return Ok(None) };
        self.value = Some((key.clone(), value));
        seed.deserialize(De(Value::String(key))).map(Some)
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, Fault> {
        let (key, value) = self.value.take().expect("serde asks for a key first");
        let shown = value.to_string();
        seed.deserialize(De(value)).map_err(|fault| match fault {
            // An untagged enum says what it expects, but not what it found.
            Fault { kind: FaultKind::Other(expected), path } if path.is_empty() => {
                Fault::new(FaultKind::Invalid { value: shown, expected }).below(key)
            }
            fault => fault.below(key),
        })
    }
}

/// The name of an enum's variant.
struct Unit(String);

impl<'de> EnumAccess<'de> for Unit {
    type Error = Fault;
    type Variant = Self;

    fn variant_seed<V: DeserializeSeed<'de>>(self, seed: V) -> Result<(V::Value, Self), Fault> {
        let value = seed.deserialize(self.0.as_str().into_deserializer())?;
        Ok((value, self))
    }
}

impl<'de> VariantAccess<'de> for Unit {
    type Error = Fault;

    fn unit_variant(self) -> Result<(), Fault> {
        Ok(())
    }

    fn newtype_variant_seed<T: DeserializeSeed<'de>>(self, _seed: T) -> Result<T::Value, Fault> {
        Err(de::Error::custom("needs a value of its own"))
    }

    fn tuple_variant<V: Visitor<'de>>(self, _len: usize, _visitor: V) -> Result<V::Value, Fault> {
        Err(de::Error::custom("needs values of its own"))
    }

    fn struct_variant<V: Visitor<'de>>(
        self,
        _fields: &'static [&'static str],
        _visitor: V,
    ) -> Result<V::Value, Fault> {
        Err(de::Error::custom("needs a table of its own"))
    }
}

/// Learns which keys a struct has, and gives it none.
struct Probe;

impl<'de> Deserializer<'de> for Probe {
    type Error = Fault;

    fn deserialize_any<V: Visitor<'de>>(self, _visitor: V) -> Result<V::Value, Fault> {
        Err(Fault::new(FaultKind::Keys(&[])))
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        fields: &'static [&'static str],
        _visitor: V,
    ) -> Result<V::Value, Fault> {
        Err(Fault::new(FaultKind::Keys(fields)))
    }

    serde::forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf option unit unit_struct
        newtype_struct seq tuple tuple_struct map enum identifier ignored_any
    }
}

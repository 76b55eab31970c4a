//! Numbers in JSON. It has none that are not finite; these become strings, and a result with an overflowed loss can be read again.

use std::collections::BTreeMap;

use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A number that need not be finite.
pub struct Number(pub f64);

impl Serialize for Number {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0.is_finite() {
            true => self.0.serialize(serializer),
            false => self.0.to_string().serialize(serializer),
        }
    }
}

impl<'de> Deserialize<'de> for Number {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(untagged)]
        enum Written {
            Finite(f64),
            Text(String),
        }
        match Written::deserialize(deserializer)? {
            Written::Finite(number) => Ok(Self(number)),
            Written::Text(text) => text.parse().map(Self).map_err(D::Error::custom),
        }
    }
}

pub fn serialize<S: Serializer>(number: &f64, serializer: S) -> Result<S::Ok, S::Error> {
    Number(*number).serialize(serializer)
}

pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<f64, D::Error> {
    Number::deserialize(deserializer).map(|number| number.0)
}

/// Numbers by name.
pub mod by_name {
    use super::*;

    pub fn serialize<S: Serializer>(
        numbers: &BTreeMap<String, f64>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        serializer.collect_map(numbers.iter().map(|(name, number)| (name, Number(*number))))
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<BTreeMap<String, f64>, D::Error> {
        let numbers = BTreeMap::<String, Number>::deserialize(deserializer)?;
        Ok(numbers.into_iter().map(|(name, number)| (name, number.0)).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, PartialEq, Serialize, Deserialize)]
    struct Result {
        #[serde(with = "super")]
        loss: f64,
        #[serde(flatten, with = "super::by_name")]
        more: BTreeMap<String, f64>,
    }

    #[test]
    fn numbers_that_are_not_finite_can_be_read_again() {
        let more = BTreeMap::from([("mae".to_owned(), f64::NEG_INFINITY), ("mse".to_owned(), 0.1 + 0.2)]);
        let text = serde_json::to_string(&Result { loss: f64::INFINITY, more }).unwrap();
        assert_eq!(text, r#"{"loss":"inf","mae":"-inf","mse":0.30000000000000004}"#);
        let read: Result = serde_json::from_str(&text).unwrap();
        assert_eq!(serde_json::to_string(&read).unwrap(), text);
        assert!(serde_json::from_str::<Number>("\"NaN\"").unwrap().0.is_nan());
        assert!(serde_json::from_str::<Number>("null").is_err());
        assert!(serde_json::from_str::<Number>("\"x\"").is_err());
    }
}

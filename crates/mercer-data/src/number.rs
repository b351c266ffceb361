//! Numbers in JSON documents, including infinities and NaN.
//!
//! Fields are marked with `#[serde(with = "mercer_data::number")]`; other values are wrapped in [`Number`].

use std::fmt;

use serde::de::{self, Deserializer, Visitor};
use serde::{Deserialize, Serialize, Serializer};

/// A number that is written as a number if it is finite, otherwise as the text `inf`, `-inf` or `nan`, and read back
/// exactly.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Number(pub f64);

impl Serialize for Number {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        serialize(&self.0, to)
    }
}

impl<'de> Deserialize<'de> for Number {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        deserialize(from).map(Self)
    }
}

/// Writes a number as [`Number`] does.
///
/// # Errors
/// Those of the serializer.
pub fn serialize<S: Serializer>(number: &f64, to: S) -> Result<S::Ok, S::Error> {
    match *number {
        finite if finite.is_finite() => to.serialize_f64(finite),
        nan if nan.is_nan() => to.serialize_str("nan"),
        infinite if infinite > 0.0 => to.serialize_str("inf"),
        _ => to.serialize_str("-inf"),
    }
}

/// Reads a number, or the text of one that is not finite.
///
/// # Errors
/// If there is neither.
pub fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<f64, D::Error> {
    from.deserialize_any(Reader)
}

struct Reader;

impl Visitor<'_> for Reader {
    type Value = f64;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a number, \"inf\", \"-inf\" or \"nan\"")
    }

    fn visit_f64<E>(self, number: f64) -> Result<f64, E> {
        Ok(number)
    }

    fn visit_u64<E>(self, number: u64) -> Result<f64, E> {
        Ok(number as f64)
    }

    fn visit_i64<E>(self, number: i64) -> Result<f64, E> {
        Ok(number as f64)
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<f64, E> {
        match text {
            "inf" => Ok(f64::INFINITY),
            "-inf" => Ok(f64::NEG_INFINITY),
            "nan" => Ok(f64::NAN),
            _ => Err(E::invalid_value(de::Unexpected::Str(text), &self)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_read_as_they_are_written() {
        let numbers = [0.0, -0.0, 0.1, 1e-320, f64::MAX, f64::INFINITY, f64::NEG_INFINITY, f64::NAN];
        for number in numbers {
            let text = serde_json::to_string(&Number(number)).unwrap();
            let Number(read) = serde_json::from_str(&text).unwrap();
            assert!(read.to_bits() == number.to_bits() || (read.is_nan() && number.is_nan()), "{text}");
        }
        assert_eq!(serde_json::from_str::<Number>("3").unwrap(), Number(3.0));
        assert_eq!(serde_json::to_string(&Number(f64::INFINITY)).unwrap(), "\"inf\"");
        assert!(serde_json::from_str::<Number>("\"many\"").is_err());
        assert!(serde_json::from_str::<Number>("null").is_err());
    }
}

//! Settings: their builder methods, and how they are read and written.

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use crate::data::Number;
use crate::model::Facts;

/// Defines a method for each field named: `field(self, value)` returns the settings with another value of it.
macro_rules! builder {
    ($($field:ident: $kind:ty),+ $(,)?) => {
        $(
            #[doc = concat!("The same settings with another `", stringify!($field), "`.")]
            #[must_use]
            pub fn $field(mut self, $field: $kind) -> Self {
                self.$field = $field;
                self
            }
        )+
    };
}

pub(in crate::learn) use builder;

/// The settings stored in a model file: those of `keys` that the learner has, and the seed if it uses random numbers.
pub(in crate::learn) fn kept(learner: &impl Serialize, keys: &[&str], seed: Option<u64>) -> Facts {
    let settings = Facts::of_fields(learner, keys);
    match seed {
        Some(seed) => settings.with("seed", seed),
        None => settings,
    }
}

/// One number or a list of them.
#[derive(Deserialize)]
#[serde(untagged)]
enum Numbers {
    One(Number),
    Many(Vec<Number>),
}

/// Reads one number or a list of them.
pub(in crate::learn) fn numbers<'de, D: Deserializer<'de>>(source: D) -> Result<Vec<f64>, D::Error> {
    Ok(match Numbers::deserialize(source)? {
        Numbers::One(Number(number)) => vec![number],
        Numbers::Many(numbers) => numbers.into_iter().map(|Number(number)| number).collect(),
    })
}

/// Reads one number, which may be in a list of one.
pub(in crate::learn) fn number<'de, D: Deserializer<'de>>(source: D) -> Result<f64, D::Error> {
    match numbers(source)?[..] {
        [number] => Ok(number),
        _ => Err(de::Error::custom("there is one number, not a list")),
    }
}

/// Writes a number as a list of one.
pub(in crate::learn) fn listed<S: Serializer>(number: &f64, to: S) -> Result<S::Ok, S::Error> {
    [Number(*number)].serialize(to)
}

/// Writes a list of numbers.
pub(in crate::learn) fn list<S: Serializer>(numbers: &[f64], to: S) -> Result<S::Ok, S::Error> {
    to.collect_seq(numbers.iter().copied().map(Number))
}

/// Whether a setting has its default value.
pub(in crate::learn) fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

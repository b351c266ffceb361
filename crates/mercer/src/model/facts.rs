//! Named values that a model file stores with its arrays.

use std::collections::BTreeMap;
use std::fmt;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::data::Number;

/// Values by name: the settings of a fit, or what is known about its result. A value is a number, a text, or a list or table of them.
/// Wall times are not among them, so the same fit has the same facts.
///
/// ```
/// # use mercer::model::Facts;
/// let facts = Facts::new().with("solver", "cholesky").with("lambda", [0.1, 0.2]);
/// assert_eq!(facts.text("solver"), Some("cholesky"));
/// assert_eq!(facts.number_of("lambda", 1), Some(0.2));
/// assert_eq!(facts.to_string(), "lambda 0.1 0.2, solver cholesky");
/// ```
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Facts(BTreeMap<String, Value>);

impl Facts {
    /// No facts.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// The same facts with one added. Numbers that may be infinite are given as [`Number`].
    #[must_use]
    pub fn with(mut self, name: &str, value: impl Serialize) -> Self {
        self.set(name, value);
        self
    }

    /// Adds a fact, or replaces it.
    ///
    /// # Panics
    /// If the value has a map whose keys are not strings.
    pub fn set(&mut self, name: &str, value: impl Serialize) {
        let value = serde_json::to_value(value).expect("a map has strings as keys");
        self.0.insert(name.to_owned(), value);
    }

    /// The same facts without one of them.
    #[must_use]
    pub fn without(mut self, name: &str) -> Self {
        self.0.remove(name);
        self
    }

    /// The same facts with those of `more` that have other names.
    #[must_use]
    pub fn or(mut self, more: &Self) -> Self {
        for (name, value) in &more.0 {
            self.0.entry(name.clone()).or_insert_with(|| value.clone());
        }
        self
    }

    /// The fields of a serialisable struct that have one of these names and a value.
    pub(crate) fn of_fields(fields: &impl Serialize, names: &[&str]) -> Self {
        let mut facts: Self =
            serde_json::to_value(fields).and_then(serde_json::from_value).unwrap_or_default();
        facts.0.retain(|name, value| names.contains(&name.as_str()) && !value.is_null());
        facts
    }

    /// Whether there is a fact of this name.
    #[must_use]
    pub fn has(&self, name: &str) -> bool {
        self.0.contains_key(name)
    }

    /// A fact as a value of some type; `None` if there is no such fact or if it is of another type.
    #[must_use]
    pub fn read<T: DeserializeOwned>(&self, name: &str) -> Option<T> {
        self.0.get(name).and_then(|value| T::deserialize(value).ok())
    }

    /// A number, which may be infinite.
    #[must_use]
    pub fn number(&self, name: &str) -> Option<f64> {
        self.read(name).map(|Number(number)| number)
    }

    /// The number for one output: a single number applies to all outputs, as does the first of a list that is too
    /// short.
    #[must_use]
    pub fn number_of(&self, name: &str, output: usize) -> Option<f64> {
        let Some(each) = self.read::<Vec<Number>>(name) else { return self.number(name) };
        each.get(output).or(each.first()).map(|Number(number)| *number)
    }

    /// A text.
    #[must_use]
    pub fn text(&self, name: &str) -> Option<&str> {
        self.0.get(name).and_then(Value::as_str)
    }
}

impl fmt::Display for Facts {
    /// Formats names and values as text.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&listed(self.0.iter()))
    }
}

fn listed<'a>(entries: impl Iterator<Item = (&'a String, &'a Value)>) -> String {
    let is_told = |(name, value): &(&String, &Value)| !value.is_null() && (*name != "unseen" || **value != 0);
    // A score comes before that of a constant prediction.
    let (baselines, others): (Vec<_>, Vec<_>) =
        entries.filter(is_told).partition(|(name, _)| name.starts_with("baseline"));
    let each = others.into_iter().chain(baselines).map(|(name, value)| {
        let name = match name.as_str() {
            "rmse" | "mae" | "auc" | "nlpd" => name.to_uppercase(),
            "r2" => "R²".to_owned(),
            "f1" => "F1".to_owned(),
            "baseline_rmse" => "RMSE of the mean".to_owned(),
            "baseline_accuracy" => "accuracy of the most frequent class".to_owned(),
            _ => name.replace('_', " "),
        };
        match value {
            Value::Object(_) => format!("{name} ({})", words(value)),
            _ => format!("{name} {}", words(value)),
        }
    });
    each.collect::<Vec<_>>().join(", ")
}

/// A value as text.
fn words(value: &Value) -> String {
    match value {
        Value::Null => "none".to_owned(),
        Value::Bool(value) => if *value { "yes" } else { "no" }.to_owned(),
        Value::Number(number) => {
            number.as_f64().filter(|_| number.is_f64()).map_or_else(|| number.to_string(), figure)
        }
        Value::String(text) => text.clone(),
        Value::Array(values) => values.iter().map(words).collect::<Vec<_>>().join(" "),
        Value::Object(entries) => listed(entries.iter()),
    }
}

/// A number to six digits.
fn figure(value: f64) -> String {
    if value.fract() == 0.0 && value.abs() < 1e15 {
        return value.to_string();
    }
    let digits = format!("{value:.5e}").parse().unwrap_or(value);
    if (1e-4..1e7).contains(&value.abs()) { digits.to_string() } else { format!("{digits:e}") }
}

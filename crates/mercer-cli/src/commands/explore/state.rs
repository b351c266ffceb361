//! The state of the page: keys and values, as in its link.

use std::collections::BTreeMap;
use std::fmt::Display;
use std::str::FromStr;

use serde::Deserialize;

use crate::failure::Failure;

/// The keys of a state. Those in the last line are used only by the page.
const KEYS: &[&str] = &[
    "kernel", "dim", "domain", "data", "n", "noise", "seed", "points", "dims", "kind", "labels", "names",
    "x", "z", "scale", "method", "lambda", "C", "nu", "epsilon", "k", "epochs", "step", "bias", "assume",
    "gpnoise", "approx", "features", "pivot", "search", "frame", "cells", "tab", "view", "bumps",
];

/// A state; absent keys have their defaults.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(transparent)]
pub struct State(BTreeMap<String, String>);

impl State {
    /// Rejects unknown keys.
    pub fn check(self) -> Result<Self, Failure> {
        match self.0.keys().find(|key| !KEYS.contains(&key.as_str())) {
            Some(key) => Err(Failure::usage(format!(
                "there is no key `{key}` in a state; the keys are {}",
                KEYS.join(", ")
            ))),
            None => Ok(self),
        }
    }

    /// Reads the part of a link after `#`: `key=value` pairs with `&` between them, characters escaped as `%XX`.
    pub fn of_link(text: &str) -> Result<Self, Failure> {
        let text = text.rsplit_once('#').map_or(text, |(_, after)| after);
        let mut state = BTreeMap::new();
        for pair in text.split('&').filter(|pair| !pair.is_empty()) {
            let (key, value) = pair.split_once('=').unwrap_or((pair, ""));
            let value = unescape(value)
                .ok_or_else(|| Failure::usage(format!("--state: {pair} has an escape that is not %XX")))?;
            state.insert(key.to_owned(), value);
        }
        Self(state).check()
    }

    /// The value of a key as text; `None` if it is absent or empty.
    pub fn text(&self, key: &str) -> Option<&str> {
        self.0.get(key).map(|value| value.trim()).filter(|value| !value.is_empty())
    }

    /// The value of a key, if it has one.
    pub fn value<T: FromStr>(&self, key: &str) -> Result<Option<T>, Failure>
    where
        T::Err: Display,
    {
        let read =
            |text: &str| text.parse().map_err(|error| Failure::usage(format!("{key} is `{text}`: {error}")));
        self.text(key).map(read).transpose()
    }

    /// A whole number between two others.
    pub fn whole(&self, key: &str, default: usize, least: usize, most: usize) -> Result<usize, Failure> {
        let value = self.value(key)?.unwrap_or(default);
        if (least..=most).contains(&value) {
            return Ok(value);
        }
        Err(Failure::usage(format!("{key} is {value}; it must be from {least} to {most}")))
    }

    /// A finite number.
    pub fn number(&self, key: &str, default: f64) -> Result<f64, Failure> {
        let value: f64 = self.value(key)?.unwrap_or(default);
        if value.is_finite() {
            Ok(value)
        } else {
            Err(Failure::usage(format!("{key} is {value}; it must be a finite number")))
        }
    }

    /// All keys and values.
    pub fn entries(&self) -> &BTreeMap<String, String> {
        &self.0
    }
}

/// Text with `%XX` for some of its bytes.
fn unescape(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((&first, after)) = rest.split_first() {
        rest = after;
        if first != b'%' {
            bytes.push(first);
            continue;
        }
        let digits = std::str::from_utf8(rest.get(..2)?).ok()?;
        if !digits.bytes().all(|digit| digit.is_ascii_hexdigit()) {
            return None;
        }
        bytes.push(u8::from_str_radix(digits, 16).ok()?);
        rest = &rest[2..];
    }
    String::from_utf8(bytes).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links() {
        let state = State::of_link("http://127.0.0.1:1/t/#kernel=rbf(sigma%3D0.5)&n=7&assume=").unwrap();
        assert_eq!(state.text("kernel"), Some("rbf(sigma=0.5)"));
        assert_eq!((state.whole("n", 1, 1, 9).unwrap(), state.text("assume")), (7, None));
        assert_eq!(State::of_link("").unwrap(), State::default());
        for bad in ["evil=1", "kernel=%zz", "kernel=%4", "kernel=%ff", "kernel=%+1"] {
            assert!(State::of_link(bad).is_err(), "{bad}");
        }
        assert!(State::of_link("n=8").unwrap().whole("n", 1, 1, 7).is_err());
        assert!(State::of_link("lambda=inf").unwrap().number("lambda", 1.0).is_err());
    }
}

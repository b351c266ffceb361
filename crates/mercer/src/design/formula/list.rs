//! A list of features written as formulas.

use std::fmt;

use crate::kernel::{Function, nearest};

use super::Formula;
use crate::design::DesignError;

/// The most columns that an error message lists.
const LISTED: usize = 20;

/// Features written as formulas of columns: `x, x^2, x0*x1`.
///
/// `x` denotes every column in turn, `x0`, `x1`, … the column with that index, a name the column of that name. Operators
/// `+ - * / ^`, brackets, numbers, `pi`, and the functions of the kernel language. Made by parsing a
/// [`FeatureMap`](crate::design::FeatureMap).
#[derive(Debug, Clone, PartialEq)]
pub struct Formulas(pub(in crate::design) Vec<Formula>);

impl Formulas {
    /// The number of features over this many columns.
    pub(in crate::design) fn count(&self, columns: usize) -> u64 {
        let per_column = self.0.iter().filter(|formula| formula.is_per_column()).count() as u64;
        per_column.saturating_mul(columns as u64).saturating_add(self.0.len() as u64 - per_column)
    }

    /// One formula per feature: `x` replaced by each column.
    pub(in crate::design) fn expand(&self, columns: usize) -> Vec<Formula> {
        let expand = |formula: &Formula| match formula.is_per_column() {
            true => (0..columns).map(|column| formula.of_column(column)).collect(),
            false => vec![formula.clone()],
        };
        self.0.iter().flat_map(expand).collect()
    }

    /// Checks that every column used exists.
    pub(in crate::design) fn check_columns(&self, available: usize) -> Result<(), DesignError> {
        let places = || (0..available).map(|column| format!("x{column}"));
        for formula in &self.0 {
            formula.replace(&mut |part| match part {
                Formula::Name(name) => Err(unknown(name, &places().collect::<Vec<_>>())),
                Formula::Column(column) if *column >= available => Err(DesignError::MissingColumn {
                    feature: formula.to_string(),
                    column: *column,
                    available,
                }),
                leaf => Ok(leaf.clone()),
            })?;
        }
        Ok(())
    }

    pub(in crate::design) fn bind(&self, columns: &[String]) -> Result<Self, DesignError> {
        let place = |wanted: &str| columns.iter().position(|name| name == wanted);
        let ambiguous = |name: String, meaning: String| match place(&name) {
            Some(column) => Err(DesignError::Ambiguous { name, column, meaning }),
            None => Ok(()),
        };
        let bind = |part: &Formula| {
            Ok(match part {
                Formula::Name(name) => Formula::Column(place(name).ok_or_else(|| unknown(name, columns))?),
                Formula::Every if columns.len() > 1 => {
                    ambiguous("x".into(), "each column in turn".into())?;
                    Formula::Every
                }
                Formula::Column(column) => {
                    let name = format!("x{column}");
                    if columns.get(*column) != Some(&name) {
                        ambiguous(name, format!("the column at place {column}"))?;
                    }
                    Formula::Column(*column)
                }
                leaf => leaf.clone(),
            })
        };
        self.0
            .iter()
            .map(|formula| formula.replace(&mut |part| bind(part)))
            .collect::<Result<_, _>>()
            .map(Self)
    }
}

fn unknown(name: &str, columns: &[String]) -> DesignError {
    let mut known = columns.iter().take(LISTED).cloned().collect::<Vec<_>>().join(", ");
    if columns.len() > LISTED {
        known.push_str(&format!(", … ({} in all)", columns.len()));
    }
    if columns.is_empty() {
        known.push_str("none");
    }
    let near = nearest(name, columns.iter().map(String::as_str));
    DesignError::UnknownColumn {
        name: name.chars().take(40).collect(),
        suggestion: near.map(str::to_owned),
        known,
    }
}

/// A column's name as a formula would write it.
pub(in crate::design) fn quoted_where_needed(name: &str) -> String {
    let mut characters = name.chars();
    let starts = characters.next().is_some_and(|c| c.is_alphabetic() || c == '_');
    let plain = starts && characters.all(|c| c.is_alphanumeric() || c == '_');
    let taken = name == "pi" || Function::ALL.iter().any(|function| function.name() == name);
    if plain && !taken { name.into() } else { format!("`{name}`") }
}

impl fmt::Display for Formulas {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, formula) in self.0.iter().enumerate() {
            f.write_str(if i == 0 { "" } else { ", " })?;
            formula.fmt(f)?;
        }
        Ok(())
    }
}

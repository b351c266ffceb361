//! Serialises forms: lists of coefficients and products, with every number exact.

use std::collections::BTreeMap;

use num_traits::Zero;
use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::{Atom, Cols, Form, Fun, Monomial, Opaque};
use crate::check::exact::Fraction;
use crate::formula::{Parameter, Written};

impl Serialize for Form {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.0.iter().map(|(m, c)| (Fraction(c.clone()), m)))
    }
}

impl Serialize for Monomial {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.0.iter().map(|(a, e)| (a, Fraction(e.clone()))))
    }
}

impl<'de> Deserialize<'de> for Form {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let mut terms = BTreeMap::new();
        for (Fraction(c), m) in Vec::<(Fraction, Monomial)>::deserialize(deserializer)? {
            if c.is_zero() || terms.insert(m, c).is_some() {
                return Err(Error::custom("a form with a coefficient 0 or with the same term twice"));
            }
        }
        Ok(Self(terms))
    }
}

impl<'de> Deserialize<'de> for Monomial {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let mut factors = BTreeMap::new();
        for (atom, Fraction(e)) in Vec::<(Atom, Fraction)>::deserialize(deserializer)? {
            atom.check().map_err(Error::custom)?;
            if e.is_zero() || factors.insert(atom, e).is_some() {
                return Err(Error::custom("a product with an exponent 0 or with the same factor twice"));
            }
        }
        Ok(Self(factors))
    }
}

#[derive(Serialize, Deserialize)]
struct Named {
    kernel: Written,
    columns: Cols,
}

impl Serialize for Opaque {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        Named { kernel: self.named.clone(), columns: self.cols.clone() }.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Opaque {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let Named { kernel, columns } = Named::deserialize(deserializer)?;
        let slots = kernel.family.slots();
        let fits = kernel.parameters.len() == slots.len()
            && kernel.parameters.iter().zip(slots).all(|((spelling, value), slot)| {
                let no_list = |list: &[_]| list.is_empty();
                *spelling < slot.spellings.len()
                    && !matches!(value, Parameter::PerColumn(l) | Parameter::Over(l) if no_list(l))
            });
        if !fits {
            return Err(Error::custom("a named kernel with other hyper-parameters than it has"));
        }
        Ok(Self::new(kernel, columns))
    }
}

impl Atom {
    /// The problem with an atom that was read from a document, if any.
    fn check(&self) -> Result<(), &'static str> {
        match self {
            Self::Dot(cols) | Self::Distance(cols) | Self::Distance1(cols) => check_columns(cols),
            Self::NormX(cols) | Self::NormZ(cols) => check_columns(cols),
            Self::Named(kernel) => check_columns(&kernel.cols),
            Self::Call(fun, args) => {
                let fits = match fun {
                    Fun::Min | Fun::Max => args.len() >= 2,
                    _ => args.len() == 1,
                };
                if fits { Ok(()) } else { Err("a function with too few or too many arguments") }
            }
            _ => Ok(()),
        }
    }
}

fn check_columns(cols: &Cols) -> Result<(), &'static str> {
    let Some(list) = cols else { return Ok(()) };
    let repeats = (1..list.len()).any(|i| list[..i].contains(&list[i]));
    if list.is_empty() || repeats || list.iter().any(|c| *c > crate::size::MAX_COLUMN) {
        return Err("a choice of no columns, of the same column twice or of one that cannot be");
    }
    Ok(())
}

//! Named kernels with their hyper-parameters: the declarations of families, and the values in texts.

use super::error::EvalError;
use super::expr::Expr;
use super::family::FamilyId;

/// The values a hyper-parameter may take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Allowed {
    /// Any finite number.
    Finite,
    /// 0 or more.
    NonNegative,
    /// More than 0.
    Positive,
    /// 0, 1 or 2.
    Order,
}

/// The meaning of `auto` in a hyper-parameter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Auto {
    /// The median distance between rows of a seeded sample.
    MedianDistance,
    /// 1/(d·variance of all entries), scikit-learn's `scale`.
    InverseVariance,
}

/// One way to write a hyper-parameter.
#[derive(Debug, PartialEq)]
pub struct Spelling {
    /// The name in kernel text.
    pub name: &'static str,
    /// The numbers it takes.
    pub allowed: Allowed,
    /// Whether a list, one value per column, is possible.
    pub per_column: bool,
    /// The meaning of `auto`, if it has one.
    pub auto: Option<Auto>,
    /// The range that a bare `?` searches.
    pub search: Search,
}

/// The default range of `?`.
#[derive(Debug, PartialEq)]
pub enum Search {
    /// Between these multiples of the value that `auto` would give, on a log scale.
    AroundAuto(f64, f64),
    /// Between these numbers, on a log scale.
    Between(f64, f64),
    /// One of these.
    OneOf(&'static [f64]),
}

/// A hyper-parameter: its spellings (the first one carries the default) and that default.
#[derive(Debug, PartialEq)]
pub struct Slot {
    /// Its spellings; a text uses at most one of them.
    pub spellings: &'static [Spelling],
    /// The default value of the first spelling.
    pub default: f64,
}

/// A hyper-parameter's value in a kernel text.
#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    /// A number.
    Number(f64),
    /// `[a, b, …]`: one value per column.
    PerColumn(Vec<f64>),
    /// `auto`: from the data.
    Auto,
    /// `?`: tune over the default range.
    Tune,
    /// `?lo..hi`: tune between these, on a log scale.
    TuneBetween(f64, f64),
    /// `?{a,b,c}`: tune over these.
    TuneOver(Vec<f64>),
    /// `?~lognormal(mu,s)` or `?lo..hi~lognormal(mu,s)`: an unknown with a prior.
    WithPrior(Box<Value>, Prior),
    /// `[?]`: one unknown per column; their number follows from the data.
    EachColumn(Box<Value>),
    /// `[?, ?, …]`: one unknown per column, two or more.
    Unknowns(Vec<Value>),
}

/// The prior distribution of an unknown.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub enum Prior {
    /// `lognormal(mu,s)`: the logarithm is normal with mean μ and standard deviation s > 0.
    LogNormal {
        /// μ.
        mu: f64,
        /// s.
        s: f64,
    },
}

impl Prior {
    /// The logarithm of the density of log θ at `log_value`, and its derivative.
    #[must_use]
    pub fn log_density(self, log_value: f64) -> (f64, f64) {
        let Self::LogNormal { mu, s } = self;
        let deviation = (log_value - mu) / s;
        let normaliser = s.ln() + 0.5 * (2.0 * std::f64::consts::PI).ln();
        (-0.5 * deviation * deviation - normaliser, -deviation / s)
    }
}

impl Value {
    /// Whether the data or a search must still determine it.
    #[must_use]
    pub fn is_open(&self) -> bool {
        !matches!(self, Self::Number(_) | Self::PerColumn(_))
    }

    /// Whether it is a `?` or a list of them.
    #[must_use]
    pub fn is_unknown(&self) -> bool {
        self.is_open() && *self != Self::Auto
    }

    /// The unknown without its prior, and the prior.
    #[must_use]
    pub fn split_prior(&self) -> (&Self, Option<Prior>) {
        match self {
            Self::WithPrior(value, prior) => (value, Some(*prior)),
            value => (value, None),
        }
    }

    /// The number of values, if it is a list of known length.
    #[must_use]
    pub fn listed(&self) -> Option<usize> {
        match self {
            Self::PerColumn(values) => Some(values.len()),
            Self::Unknowns(values) => Some(values.len()),
            _ => None,
        }
    }
}

/// A hyper-parameter as given: the spelling and its value.
#[derive(Debug, Clone, PartialEq)]
pub struct Argument {
    /// Index into [`Slot::spellings`].
    pub spelling: usize,
    /// The value given.
    pub value: Value,
}

/// A named kernel with one [`Argument`] per [`Slot`] of its family.
#[derive(Debug, Clone, PartialEq)]
pub struct Named {
    /// Which kernel.
    pub family: FamilyId,
    /// One per slot, in the slots' order.
    pub arguments: Vec<Argument>,
}

impl Named {
    /// The family with every hyper-parameter at its default.
    #[must_use]
    pub fn with_defaults(family: FamilyId) -> Self {
        let arguments = family
            .slots()
            .iter()
            .map(|slot| Argument { spelling: 0, value: Value::Number(slot.default) })
            .collect();
        Self { family, arguments }
    }

    /// The spelling used for a slot.
    #[must_use]
    pub fn spelling(&self, slot: usize) -> &'static Spelling {
        &self.family.slots()[slot].spellings[self.arguments[slot].spelling]
    }

    /// The single number in a slot.
    ///
    /// # Errors
    /// If it is still `auto` or `?`, or is a list.
    pub fn number(&self, slot: usize) -> Result<f64, EvalError> {
        match &self.arguments[slot].value {
            Value::Number(value) => Ok(*value),
            _ => Err(self.unresolved(slot)),
        }
    }

    /// The number in a slot for each of `ncols` columns, a single number repeated.
    ///
    /// # Errors
    /// If it is still `auto` or `?`, or is a list of another length.
    pub fn per_column(&self, slot: usize, ncols: usize) -> Result<Vec<f64>, EvalError> {
        match &self.arguments[slot].value {
            Value::Number(value) => Ok(vec![*value; ncols]),
            Value::PerColumn(values) if values.len() == ncols => Ok(values.clone()),
            Value::PerColumn(values) => Err(EvalError::ListLength {
                family: self.family.name(),
                parameter: self.spelling(slot).name,
                values: values.len(),
                columns: ncols,
            }),
            _ => Err(self.unresolved(slot)),
        }
    }

    /// The kernel as a formula of atoms and functions, equal to it at every pair of points; `None` if the language
    /// cannot write it or if a hyper-parameter is not a single number.
    #[must_use]
    pub fn expand(&self) -> Option<Expr> {
        self.family.formula(self)
    }

    fn unresolved(&self, slot: usize) -> EvalError {
        EvalError::Unresolved { family: self.family.name(), parameter: self.spelling(slot).name }
    }
}

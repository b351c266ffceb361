//! The named kernels, one file for each, with everything the library knows about it.
//!
//! A family is a value of a type that implements [`Family`]. Its file has the hyper-parameters, the value at one pair of
//! points (the oracle of every test), the program for tiles, the enclosure in exact arithmetic, the domain on which it
//! is positive semidefinite and the theorem; then, if they exist, its formula, logarithm, spectral density and feature
//! map.

pub mod arc_cosine;
mod arguments;
pub mod chi_squared;
pub mod constant;
pub mod cosine;
pub mod gaussian;
pub mod laplacian;
pub mod linear;
pub mod matern;
pub mod noise;
pub mod periodic;
pub mod polynomial;
pub mod rational_quadratic;
pub mod sigmoid;
pub mod spline;
pub mod wendland;

use std::fmt;
use std::hash::{Hash, Hasher};
use std::ops::Deref;

use super::check::exact::{self, Q};
use super::check::form::{Cols, Form, Space};
use super::check::interval::{Fault, Interval};
use super::error::EvalError;
use super::expr::{Expr, Function};
use super::lower::{Binary, Embedding, Kind, Lower, NodeId, PointStatistic, Side, Special};
use super::named::{Allowed, Auto, Named, Search, Slot, Spelling, Value};
use super::spectrum::Shape;
use super::{check, eval, recognise, special};
pub use crate::formula::Written;

/// Every family, in the order of the language reference.
pub static FAMILIES: &[FamilyId] = &[
    linear::LINEAR,
    polynomial::POLYNOMIAL,
    gaussian::GAUSSIAN,
    laplacian::LAPLACIAN,
    matern::MATERN,
    rational_quadratic::RATIONAL_QUADRATIC,
    periodic::PERIODIC,
    cosine::COSINE,
    chi_squared::CHI_SQUARED,
    arc_cosine::ARC_COSINE,
    wendland::WENDLAND,
    spline::SPLINE,
    constant::CONSTANT,
    noise::NOISE,
    sigmoid::SIGMOID,
];

/// A named kernel without its hyper-parameters. Dereferences to its [`Family`]; two are equal if their names are.
#[derive(Clone, Copy)]
pub struct FamilyId(&'static dyn Family);

impl FamilyId {
    /// The id of a family.
    pub(super) const fn of<F: Family>(family: &'static F) -> Self {
        Self(family)
    }

    /// The family with this name in kernel text.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        let is_called = |family: &&Self| family.name() == name || family.aliases().contains(&name);
        FAMILIES.iter().find(is_called).copied()
    }
}

impl Deref for FamilyId {
    type Target = dyn Family;

    fn deref(&self) -> &Self::Target {
        self.0
    }
}

impl PartialEq for FamilyId {
    fn eq(&self, other: &Self) -> bool {
        self.name() == other.name()
    }
}

impl Eq for FamilyId {}

impl Hash for FamilyId {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.name().hash(state);
    }
}

impl serde::Serialize for FamilyId {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

impl<'de> serde::Deserialize<'de> for FamilyId {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let name = String::deserialize(deserializer)?;
        Self::from_name(&name)
            .ok_or_else(|| serde::de::Error::custom(format!("there is no named kernel `{name}`")))
    }
}

impl fmt::Debug for FamilyId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// The arguments on which the value of a kernel depends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Invariance {
    /// On the two points.
    None,
    /// On x − z.
    Shift,
    /// On distances between the points, over all columns or over some.
    Radial,
}

/// A formula in canonical form that may be a named kernel.
#[derive(Debug, Clone, Copy)]
pub enum Pattern<'a> {
    /// base^exponent.
    Power {
        /// The base.
        base: &'a Expr,
        /// The exponent.
        exponent: f64,
    },
    /// A function other than exp of one argument.
    Call(Function, &'a Expr),
    /// e^(−rate·a) with rate > 0.
    Decay {
        /// The rate.
        rate: f64,
        /// a.
        of: &'a Expr,
    },
}

/// A kernel that is a polynomial in t = ⟨x,z⟩.
#[derive(Debug, Clone, PartialEq)]
pub enum PowerSeries {
    /// Σₖ aₖtᵏ, by its coefficients.
    Coefficients(Vec<f64>),
    /// (γt + c)^degree.
    Power {
        /// The degree; the kernel is a polynomial if it is a whole number.
        degree: f64,
        /// γ.
        gamma: f64,
        /// c.
        c: f64,
    },
}

/// The definition and the properties of one named kernel.
///
/// The methods receive the kernel with its hyper-parameters as `named`; those that `check` calls receive them as
/// written. `eval` is the reference of the tests: it is written from the definition and shares no code with `lower`.
/// The proof checker calls `psd`, `defined` and `range` only.
pub trait Family: fmt::Debug + Sync {
    /// The name in kernel text.
    fn name(&self) -> &'static str;

    /// The hyper-parameters, in the order they are printed.
    fn slots(&self) -> &'static [Slot];

    /// The value at one pair of points; NaN where it is undefined.
    ///
    /// # Errors
    /// If a hyper-parameter is still `auto` or `?`, or lists another number of values than there are columns.
    fn eval(&self, named: &Named, x: &[f64], z: &[f64]) -> Result<f64, EvalError>;

    /// The value as statistics of a pair of rows and operations on them.
    ///
    /// # Errors
    /// As [`eval`](Self::eval).
    fn lower(&self, named: &Named, to: &mut dyn Lower) -> Result<NodeId, EvalError>;

    /// An enclosure of the value at exact points, with hyper-parameters read as exact decimals.
    ///
    /// # Errors
    /// [`Fault::Undefined`] if there is no value; [`Fault::Unknown`] if that could not be decided.
    #[doc(hidden)]
    fn enclose(&self, named: &Written, x: &[Q], z: &[Q], bits: u32) -> Result<Interval, Fault>;

    /// Whether a theorem shows that it is positive semidefinite on the space for every value that the hyper-parameters
    /// may take: `auto` and `?` mean all of them.
    fn psd(&self, named: &Written, space: &Space) -> bool;

    /// The reason why it is positive semidefinite, with a reference: its entry in the table of named kernels in
    /// docs/check.md.
    fn theorem(&self) -> &'static str;

    /// Whether a theorem shows that all its positive powers are positive semidefinite, for every value that the
    /// hyper-parameters may take.
    fn is_infinitely_divisible(&self, _named: &Written) -> bool {
        false
    }

    /// A note in proofs about this kernel on points of `columns` coordinates.
    fn remark(&self, _named: &Written, _columns: Option<usize>) -> Option<String> {
        None
    }

    /// Other names in kernel text.
    fn aliases(&self) -> &'static [&'static str] {
        &[]
    }

    /// The kernel as a formula of atoms and functions, equal to it at every pair of points; `None` if the language
    /// cannot write it or if a hyper-parameter is not a single number.
    fn formula(&self, _named: &Named) -> Option<Expr> {
        None
    }

    /// The canonical form, if it differs from the kernel.
    fn canonical(&self, _named: &Named) -> Option<Expr> {
        None
    }

    /// The kernel of this family that equals a formula.
    fn recognise(&self, _found: Pattern<'_>) -> Option<Named> {
        None
    }

    /// The kernel of this family that equals the product of two factors, and their indices.
    fn recognise_factors(&self, _factors: &[Expr]) -> Option<(Named, [usize; 2])> {
        None
    }

    /// The normal form of the kernel in proofs; `None` if it stays an atom.
    #[doc(hidden)]
    fn form(&self, _named: &Written, _cols: &Cols, _space: &Space) -> Option<Form> {
        None
    }

    /// The exact value at rational points, if it is rational.
    #[doc(hidden)]
    fn exact_value(&self, _named: &Written, _x: &[Q], _z: &[Q]) -> Option<Q> {
        None
    }

    /// Whether it has a value at every pair of points of the space.
    fn defined(&self, _named: &Written, _space: &Space) -> bool {
        true
    }

    /// Whether it is continuous on the space.
    fn is_continuous(&self, _named: &Written, _space: &Space) -> bool {
        true
    }

    /// Bounds of its values on the space, wherever it is defined: doubles that lie at the least and the greatest value or
    /// beyond them. A constant has its own double twice.
    fn range(&self, _named: &Written, _space: &Space) -> Option<(f64, f64)> {
        None
    }

    /// The arguments on which its value depends.
    fn invariance(&self) -> Invariance {
        Invariance::None
    }

    /// log k as a formula that is finite where k underflows.
    fn logarithm(&self, _named: &Named) -> Option<Expr> {
        None
    }

    /// The law of its frequencies on this many columns: the shape, and the scale of each column. `None` if no spectral
    /// density is known.
    ///
    /// # Errors
    /// As [`eval`](Self::eval).
    fn spectrum(&self, _named: &Named, _columns: usize) -> Result<Option<(Shape, Vec<f64>)>, EvalError> {
        Ok(None)
    }

    /// ∂k/∂log h for the hyper-parameter h in `slot`, which every point of `columns` coordinates shares or, where it is
    /// a list, belongs to the coordinate `column`. Written in the kernel language, with a value wherever k has one.
    /// `None` if h is a choice, such as a degree, or if no derivative is known. The hyper-parameters are numbers.
    fn derivative(
        &self,
        _named: &Named,
        _slot: usize,
        _column: Option<usize>,
        _columns: usize,
    ) -> Option<Expr> {
        None
    }

    /// The kernel as a polynomial in ⟨x,z⟩, which gives its finite feature map.
    fn power_series(&self, _named: &Named) -> Option<PowerSeries> {
        None
    }
}

/// The product of factors.
fn product(factors: impl Into<Vec<Expr>>) -> Expr {
    Expr::Product(factors.into())
}

/// `a`, or a tiny number instead of 0: a divisor of a term that vanishes with it.
pub(crate) fn above_zero(a: Expr) -> Expr {
    Expr::Call(Function::Max, vec![a, Expr::Number(f64::MIN_POSITIVE)])
}

const LENGTH_SEARCH: Search = Search::AroundAuto(0.05, 20.0);
const GAMMA_SEARCH: Search = Search::AroundAuto(1e-3, 1e3);
const OFFSET_SEARCH: Search = Search::Between(1e-2, 1e2);

const fn spelling(
    name: &'static str,
    allowed: Allowed,
    per_column: bool,
    auto: Option<Auto>,
    search: Search,
) -> Spelling {
    Spelling { name, allowed, per_column, auto, search }
}

/// A length > 0, possibly one per column.
const fn length(name: &'static str) -> Spelling {
    spelling(name, Allowed::Positive, true, Some(Auto::MedianDistance), LENGTH_SEARCH)
}

/// `gamma`: the inverse of a squared length.
const fn gamma(allowed: Allowed, per_column: bool) -> Spelling {
    spelling("gamma", allowed, per_column, Some(Auto::InverseVariance), GAMMA_SEARCH)
}

/// A number > 0 that is tuned over a few choices.
const fn shape(name: &'static str, choices: &'static [f64]) -> Spelling {
    spelling(name, Allowed::Positive, false, None, Search::OneOf(choices))
}

/// `order` and `k`: 0, 1 or 2.
const fn order(name: &'static str) -> Spelling {
    spelling(name, Allowed::Order, false, None, Search::OneOf(&[0.0, 1.0, 2.0]))
}

/// The hyper-parameter with one spelling and its default.
const fn slot(spellings: &'static [Spelling], default: f64) -> Slot {
    Slot { spellings, default }
}

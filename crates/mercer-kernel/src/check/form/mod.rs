//! The normal form in which proofs are written: sums of rational multiples of products of powers of atoms.
//!
//! Two formulas that agree by the laws of algebra, by e^(a+b) = e^a·e^b, by sin² + cos² = 1 or by the meaning of an
//! atom on the domain (|x| = 1 on the sphere, |x−z|₁ = |x−z| in one dimension) have the same form, so that a proof
//! rule can compare its conclusion with its premises by equality.

mod algebra;
mod columns;
mod document;
mod read;
mod show;

pub use algebra::refuel;

use std::cmp::Ordering;
use std::collections::BTreeMap;

use num_traits::{One, Zero};

use super::exact::{self, Q};
use super::{Dim, Domain};
use crate::formula::Written;

/// The most terms of a form; a larger formula is not analysed.
pub const MOST_TERMS: usize = 600;

/// The columns an atom reads: all of them, or a list.
pub type Cols = Option<Vec<usize>>;

/// A named kernel that stays an atom: its hyper-parameters are lists or unknown, or its formula is not in the language.
#[derive(Debug, Clone)]
pub struct Opaque {
    key: String,
    /// The kernel.
    pub named: Written,
    /// The columns it reads.
    pub cols: Cols,
}

impl Opaque {
    fn new(named: Written, cols: Cols) -> Self {
        Self { key: format!("{named:?}{cols:?}"), named, cols }
    }
}

impl PartialEq for Opaque {
    fn eq(&self, other: &Self) -> bool {
        self.key == other.key
    }
}

impl Eq for Opaque {}

impl PartialOrd for Opaque {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Opaque {
    fn cmp(&self, other: &Self) -> Ordering {
        self.key.cmp(&other.key)
    }
}

/// Functions that stay atoms of a form.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Fun {
    /// Natural logarithm.
    Log,
    /// Sine.
    Sin,
    /// Cosine.
    Cos,
    /// Tangent.
    Tan,
    /// sin a / a, 1 at 0.
    Sinc,
    /// Hyperbolic sine.
    Sinh,
    /// Hyperbolic cosine.
    Cosh,
    /// Hyperbolic tangent.
    Tanh,
    /// Inverse sine; acos a is π/2 − asin a.
    Asin,
    /// Inverse tangent.
    Atan,
    /// Absolute value.
    Abs,
    /// The least argument.
    Min,
    /// The greatest argument.
    Max,
}

/// The atoms of forms.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Atom {
    /// The argument t of a function of one variable.
    Var,
    /// ⟨x,z⟩.
    Dot(Cols),
    /// |x−z|.
    Distance(Cols),
    /// |x−z|₁.
    Distance1(Cols),
    /// |x|.
    NormX(Cols),
    /// |z|.
    NormZ(Cols),
    /// A named kernel.
    Named(Opaque),
    /// π.
    Pi,
    /// e^m; the coefficient in the exponent is the atom's power.
    Exp(Monomial),
    /// The base of a negative or fractional power, 1 as its constant term where it has one.
    Power(Form),
    /// A function of forms.
    Call(Fun, Vec<Form>),
}

/// A product of powers of atoms.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Monomial(pub BTreeMap<Atom, Q>);

/// A sum of rational multiples of monomials.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Form(pub BTreeMap<Monomial, Q>);

/// The space on which a form holds; the values of its atoms depend on it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Space {
    /// The ambient dimension.
    pub dim: Dim,
    /// The set the points lie in.
    pub domain: Domain,
}

impl Space {
    /// All points of every dimension.
    pub const EVERYWHERE: Self = Self { dim: Dim::Any, domain: Domain::All };

    /// The number of coordinates that an atom with these columns reads, if it is fixed.
    pub fn width(&self, cols: &Cols) -> Option<usize> {
        match (cols, self.dim) {
            (Some(list), _) => Some(list.len()),
            (None, Dim::Exactly(d)) => Some(d),
            (None, Dim::Any) => None,
        }
    }

    /// Whether the domain is the sphere and the columns are all of its columns.
    pub fn on_sphere(&self, cols: &Cols) -> bool {
        self.domain == Domain::Sphere && cols.is_none()
    }
}

/// The points on which a value depends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Dependence {
    /// On x alone.
    pub x: bool,
    /// On z alone.
    pub z: bool,
    /// On both through a statistic of the pair.
    pub pair: bool,
    /// On the variable of a function.
    pub var: bool,
}

impl Dependence {
    const NONE: Self = Self { x: false, z: false, pair: false, var: false };

    fn or(self, other: Self) -> Self {
        Self {
            x: self.x || other.x,
            z: self.z || other.z,
            pair: self.pair || other.pair,
            var: self.var || other.var,
        }
    }

    /// On nothing: a constant.
    pub fn is_constant(self) -> bool {
        self == Self::NONE
    }
}

impl Atom {
    /// The points on which its value depends.
    pub fn dependence(&self) -> Dependence {
        let none = Dependence::NONE;
        match self {
            Self::Var => Dependence { var: true, ..none },
            Self::Dot(_) | Self::Distance(_) | Self::Distance1(_) | Self::Named(_) => {
                Dependence { pair: true, ..none }
            }
            Self::NormX(_) => Dependence { x: true, ..none },
            Self::NormZ(_) => Dependence { z: true, ..none },
            Self::Pi => none,
            Self::Exp(m) => m.dependence(),
            Self::Power(f) => f.dependence(),
            Self::Call(_, args) => args.iter().fold(none, |d, f| d.or(f.dependence())),
        }
    }
}

impl Monomial {
    /// The empty product.
    pub fn one() -> Self {
        Self::default()
    }

    /// One atom to the first power.
    pub fn atom(atom: Atom) -> Self {
        Self(BTreeMap::from([(atom, Q::one())]))
    }

    /// The points on which its value depends.
    pub fn dependence(&self) -> Dependence {
        self.0.keys().fold(Dependence::NONE, |d, a| d.or(a.dependence()))
    }

    fn least_dim(&self) -> usize {
        let inside = |atom: &Atom| match atom {
            Atom::Dot(cols)
            | Atom::Distance(cols)
            | Atom::Distance1(cols)
            | Atom::NormX(cols)
            | Atom::NormZ(cols) => cols.iter().flatten().map(|c| c + 1).max().unwrap_or(1),
            Atom::Named(kernel) => {
                let chosen = kernel.cols.iter().flatten().map(|c| c + 1).max().unwrap_or(1);
                chosen.max(kernel.named.listed_values())
            }
            Atom::Exp(m) => m.least_dim(),
            Atom::Power(form) => form.least_dim(),
            Atom::Call(_, args) => args.iter().map(Form::least_dim).max().unwrap_or(1),
            Atom::Var | Atom::Pi => 1,
        };
        self.0.keys().map(inside).max().unwrap_or(1)
    }

    fn constant_bits(&self) -> u64 {
        let inside = |(atom, e): (&Atom, &Q)| {
            let own = match atom {
                Atom::Exp(m) => m.constant_bits(),
                Atom::Power(form) => form.constant_bits(),
                Atom::Call(_, args) => args.iter().map(Form::constant_bits).max().unwrap_or(0),
                _ => 0,
            };
            own.max(exact::bits(e))
        };
        self.0.iter().map(inside).max().unwrap_or(0)
    }

    /// The factors that satisfy a condition, and the others.
    pub fn split(&self, keep: impl Fn(&Atom) -> bool) -> (Self, Self) {
        let (a, b): (BTreeMap<_, _>, BTreeMap<_, _>) =
            self.0.iter().map(|(a, e)| (a.clone(), e.clone())).partition(|(a, _)| keep(a));
        (Self(a), Self(b))
    }

    /// The atom and exponent of a product of one factor.
    pub fn single(&self) -> Option<(&Atom, &Q)> {
        if self.0.len() == 1 { self.0.iter().next() } else { None }
    }
}

impl Form {
    /// Zero.
    pub fn zero() -> Self {
        Self::default()
    }

    /// A rational constant.
    pub fn constant(value: Q) -> Self {
        Self::term(value, Monomial::one())
    }

    /// c·m.
    pub fn term(coefficient: Q, monomial: Monomial) -> Self {
        let mut form = Self::zero();
        form.push(coefficient, monomial);
        form
    }

    /// One atom.
    pub fn atom(atom: Atom) -> Self {
        Self::term(Q::one(), Monomial::atom(atom))
    }

    /// The variable t.
    pub fn var() -> Self {
        Self::atom(Atom::Var)
    }

    fn push(&mut self, coefficient: Q, monomial: Monomial) {
        if coefficient.is_zero() {
            return;
        }
        let entry = self.0.entry(monomial).or_insert_with(Q::zero);
        *entry += coefficient;
        if entry.is_zero() {
            self.0.retain(|_, c| !c.is_zero());
        }
    }

    /// Whether it is the constant zero.
    pub fn is_zero(&self) -> bool {
        self.0.is_empty()
    }

    /// The rational constant it is, if it is one.
    pub fn as_constant(&self) -> Option<Q> {
        match self.0.len() {
            0 => Some(Q::zero()),
            1 => self.0.get(&Monomial::one()).cloned(),
            _ => None,
        }
    }

    /// The coefficient of the empty product.
    pub fn constant_term(&self) -> Q {
        self.0.get(&Monomial::one()).cloned().unwrap_or_else(Q::zero)
    }

    /// The coefficient and monomial of a form of one term.
    pub fn single(&self) -> Option<(&Monomial, &Q)> {
        if self.0.len() == 1 { self.0.iter().next() } else { None }
    }

    /// The points on which its value depends.
    pub fn dependence(&self) -> Dependence {
        self.0.keys().fold(Dependence::NONE, |d, m| d.or(m.dependence()))
    }

    /// The largest column it reads on its own, plus one; 1 where it reads all of them.
    pub fn least_dim(&self) -> usize {
        self.0.keys().map(Monomial::least_dim).max().unwrap_or(1)
    }

    /// The bits of its longest constant, which bound the precision needed to distinguish two constants.
    pub fn constant_bits(&self) -> u64 {
        self.0.iter().map(|(m, c)| exact::bits(c).max(m.constant_bits())).max().unwrap_or(0)
    }

    /// f + g.
    pub fn add(&self, other: &Self) -> Self {
        let mut sum = self.clone();
        for (m, c) in &other.0 {
            sum.push(c.clone(), m.clone());
        }
        sum
    }

    /// q·f.
    pub fn scale(&self, factor: &Q) -> Self {
        if factor.is_zero() {
            return Self::zero();
        }
        Self(self.0.iter().map(|(m, c)| (m.clone(), c * factor)).collect())
    }

    /// −f.
    pub fn neg(&self) -> Self {
        self.scale(&-Q::one())
    }

    /// f − g.
    pub fn sub(&self, other: &Self) -> Self {
        self.add(&other.neg())
    }

    /// f without its constant term.
    pub fn without_constant(&self) -> Self {
        let mut form = self.clone();
        form.0.remove(&Monomial::one());
        form
    }

    /// The terms that satisfy a condition, and the others.
    pub fn partition(&self, keep: impl Fn(&Monomial, &Q) -> bool) -> (Self, Self) {
        let (a, b): (BTreeMap<_, _>, BTreeMap<_, _>) =
            self.0.iter().map(|(m, c)| (m.clone(), c.clone())).partition(|(m, c)| keep(m, c));
        (Self(a), Self(b))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Kernel;

    fn form(text: &str, dim: Dim, domain: Domain) -> Form {
        let kernel: Kernel = text.parse().expect("a formula");
        Form::of(&kernel.formula(), &Space { dim, domain }).expect("a form")
    }

    #[test]
    fn equal_formulas_have_one_form() {
        for (a, b) in [
            ("(<x,z>+1)^2", "<x,z>^2 + 2*<x,z> + 1"),
            ("exp(<x,z>+1)", "exp(1)*exp(<x,z>)"),
            ("exp(-|x-z|^2/2)^2", "exp(-|x-z|^2)"),
            ("sin(<x,z>)^2", "1-cos(<x,z>)^2"),
            ("sqrt(|x|^2)", "|x|"),
            ("sqrt(<x,z>^2)", "abs(<x,z>)"),
            ("1-|x-z|^2/(1+|x-z|^2)", "1/(1+|x-z|^2)"),
            ("exp(2*log(1+|x|))", "(1+|x|)^2"),
            ("acos(<x,z>)+asin(<x,z>)", "asin(<x,z>)+acos(<x,z>)"),
            ("log(2+2*|x-z|)", "log(2)+log(1+|x-z|)"),
            ("cos(2*acos(<x,z>))", "2*<x,z>^2-1"),
            ("1/sqrt((1+|x|^2)*(1+|z|^2))", "(1+|x|^2)^(-0.5)*(1+|z|^2)^(-0.5)"),
        ] {
            assert_eq!(form(a, Dim::Any, Domain::All), form(b, Dim::Any, Domain::All), "{a} and {b}");
        }
    }

    #[test]
    fn atoms_mean_what_they_do_on_the_domain() {
        assert_eq!(
            form("<x,z>/(|x|*|z|)", Dim::Any, Domain::Sphere),
            form("<x,z>", Dim::Any, Domain::Sphere)
        );
        assert_eq!(
            form("|x-z|_1", Dim::Exactly(1), Domain::All),
            form("|x-z|", Dim::Exactly(1), Domain::All)
        );
        assert_ne!(
            form("|x-z|_1", Dim::Exactly(2), Domain::All),
            form("|x-z|", Dim::Exactly(2), Domain::All)
        );
        assert_eq!(
            form("<x,z>", Dim::Exactly(1), Domain::Orthant),
            form("|x|*|z|", Dim::Exactly(1), Domain::Orthant)
        );
        assert_eq!(
            form("rbf(gamma=2)", Dim::Any, Domain::All),
            form("exp(-2*|x-z|^2)", Dim::Any, Domain::All)
        );
    }

    #[test]
    fn different_formulas_have_different_forms() {
        for (a, b) in [
            ("sqrt(<x,z>^2)", "<x,z>"),
            ("abs(<x,z>)^3", "<x,z>^3"),
            ("|x|", "|z|"),
            ("exp(-|x-z|)", "exp(-|x-z|_1)"),
            ("rbf[0]", "rbf[1]"),
        ] {
            assert_ne!(form(a, Dim::Any, Domain::All), form(b, Dim::Any, Domain::All), "{a} and {b}");
        }
    }
}

//! Formulas as written: decimals are exact, π is π, and every open hyper-parameter is a separate symbol.
//!
//! [`Expr`] holds the doubles that a kernel computes with. A proof is about the exact text, so the parser keeps both.

use num_bigint::BigInt;
use num_traits::One;

use crate::check::enclose::{enclose, exact_value};
use crate::check::exact::{self, Q};
use crate::expr::{Columns, Expr, Function};
use crate::family::FamilyId;
use crate::named::{Argument, Named, Value};

/// The largest decimal exponent and number of digits that are read exactly.
const LONGEST: usize = 5_000;

/// A kernel formula in two points with exact constants. The cases are those of [`Expr`].
#[derive(Debug, Clone, PartialEq)]
pub enum Formula {
    /// A decimal as written.
    Number(Q),
    /// π.
    Pi,
    /// A constant with too many digits for exact arithmetic.
    Unreadable,
    /// ⟨x,z⟩.
    Dot,
    /// |x−z|.
    Distance,
    /// |x−z|₁.
    Distance1,
    /// |x|.
    NormX,
    /// |z|.
    NormZ,
    /// A named kernel.
    Named(Written),
    /// The formula on some of the columns.
    Columns(Box<Formula>, Columns),
    /// a + b + …
    Sum(Vec<Formula>),
    /// a·b·…
    Product(Vec<Formula>),
    /// −a.
    Neg(Box<Formula>),
    /// a/b.
    Div(Box<Formula>, Box<Formula>),
    /// a^b.
    Pow(Box<Formula>, Box<Formula>),
    /// A function.
    Call(Function, Vec<Formula>),
}

/// A named kernel with its hyper-parameters as written.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Written {
    /// Which kernel.
    pub family: FamilyId,
    /// One per slot: which of its spellings, and the value.
    pub parameters: Vec<(usize, Parameter)>,
    /// Distinguishes kernels whose hyper-parameters may differ although their texts are equal; 0 if they cannot differ.
    pub symbol: usize,
}

/// A hyper-parameter as written.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Parameter {
    /// A rational number.
    Number(#[serde(with = "exact::text")] Q),
    /// One rational number per column.
    PerColumn(#[serde(with = "exact::texts")] Vec<Q>),
    /// An irrational constant between two numbers.
    Irrational(#[serde(with = "exact::text")] Q, #[serde(with = "exact::text")] Q),
    /// `auto`: any allowed value, the same for equal kernels on the same columns.
    Auto,
    /// `?`: any allowed value.
    Any,
    /// Any value between two numbers.
    Between(#[serde(with = "exact::text")] Q, #[serde(with = "exact::text")] Q),
    /// One of these.
    Over(#[serde(with = "exact::texts")] Vec<Q>),
    /// A constant without known bounds.
    Unknown,
}

impl Parameter {
    /// The parameter given by a constant formula.
    pub fn constant(formula: &Formula) -> Self {
        if let Some(value) = exact_value(formula, &[], &[]) {
            return Self::Number(value);
        }
        match enclose(formula, &[], &[], 256) {
            Ok(value) => {
                let (low, high) = value.bounds();
                Self::Irrational(low, high)
            }
            Err(_) => Self::Unknown,
        }
    }

    /// The parameter for a list of constants, where all are rational.
    pub fn list(formulas: &[Formula], build: fn(Vec<Q>) -> Self) -> Self {
        let values: Option<Vec<Q>> = formulas.iter().map(|f| exact_value(f, &[], &[])).collect();
        values.map_or(Self::Unknown, build)
    }

    fn of(value: &Value) -> Self {
        let list =
            |values: &[f64]| values.iter().map(|v| exact::from_decimal(*v)).collect::<Option<Vec<Q>>>();
        let parameter = match value {
            Value::Number(value) => exact::from_decimal(*value).map(Self::Number),
            Value::PerColumn(values) => list(values).map(Self::PerColumn),
            Value::Auto => Some(Self::Auto),
            Value::Tune => Some(Self::Any),
            Value::TuneBetween(low, high) => exact::from_decimal(*low)
                .zip(exact::from_decimal(*high))
                .map(|(low, high)| Self::Between(low, high)),
            Value::TuneOver(values) => list(values).map(Self::Over),
            Value::WithPrior(value, _) | Value::EachColumn(value) => Some(Self::of(value)),
            // Unknowns with different ranges cannot be one statement about all of them.
            Value::Unknowns(each) => {
                let first = each.first().map(Self::of);
                first.filter(|first| each.iter().all(|value| Self::of(value) == *first))
            }
        };
        parameter.unwrap_or(Self::Unknown)
    }

    /// Whether it denotes a single value, known or not.
    fn is_settled(&self) -> bool {
        matches!(self, Self::Number(_) | Self::PerColumn(_))
    }

    fn rounded(&self) -> Value {
        let list = |values: &[Q]| values.iter().map(exact::to_f64).collect();
        match self {
            Self::Number(value) => Value::Number(exact::to_f64(value)),
            Self::PerColumn(values) => Value::PerColumn(list(values)),
            Self::Irrational(low, _) => Value::Number(exact::to_f64(low)),
            Self::Auto => Value::Auto,
            Self::Any | Self::Unknown => Value::Tune,
            Self::Between(low, high) => Value::TuneBetween(exact::to_f64(low), exact::to_f64(high)),
            Self::Over(values) => Value::TuneOver(list(values)),
        }
    }
}

impl Written {
    /// The kernel with hyper-parameters given as doubles, each read as its shortest decimal.
    pub fn of(named: &Named) -> Self {
        let parameters = named.arguments.iter().map(|a| (a.spelling, Parameter::of(&a.value))).collect();
        Self { family: named.family, parameters, symbol: 0 }
    }

    /// The kernel with every hyper-parameter rounded to a double.
    pub fn named(&self) -> Named {
        let argument =
            |(spelling, value): &(usize, Parameter)| Argument { spelling: *spelling, value: value.rounded() };
        Named { family: self.family, arguments: self.parameters.iter().map(argument).collect() }
    }

    /// The length of its longest list, one value for each column; 0 without a list.
    pub(crate) fn listed_values(&self) -> usize {
        let length = |value: &Parameter| if let Parameter::PerColumn(list) = value { list.len() } else { 0 };
        self.parameters.iter().map(|(_, value)| length(value)).max().unwrap_or(0)
    }

    /// The same kernel with a value for every open hyper-parameter.
    fn filled(&self) -> Self {
        let slots = self.family.slots();
        let parameters = self.parameters.iter().zip(slots).map(|((spelling, value), slot)| {
            let default = || exact::from_decimal(slot.default).map_or(Parameter::Unknown, Parameter::Number);
            let value = match value {
                Parameter::Auto | Parameter::Any => default(),
                Parameter::Between(low, _) => Parameter::Number(low.clone()),
                Parameter::Over(list) => list.first().cloned().map_or_else(default, Parameter::Number),
                settled => settled.clone(),
            };
            (*spelling, value)
        });
        Self { family: self.family, parameters: parameters.collect(), symbol: self.symbol }
    }
}

impl Formula {
    /// The number written as digits, a point and an exponent.
    pub fn literal(text: &str) -> Self {
        decimal(text).map_or(Self::Unreadable, Self::Number)
    }

    /// The formula of an expression that did not come from a text: each double is read as its shortest decimal, and the
    /// one nearest to π as π.
    pub fn of(expr: &Expr) -> Self {
        let boxed = |e: &Expr| Box::new(Self::of(e));
        let each = |parts: &[Expr]| parts.iter().map(Self::of).collect::<Vec<_>>();
        match expr {
            Expr::Number(value) if value.abs() == std::f64::consts::PI => {
                if *value > 0.0 {
                    Self::Pi
                } else {
                    Self::Neg(Box::new(Self::Pi))
                }
            }
            Expr::Number(value) => exact::from_decimal(*value).map_or(Self::Unreadable, Self::Number),
            Expr::Dot => Self::Dot,
            Expr::Distance => Self::Distance,
            Expr::Distance1 => Self::Distance1,
            Expr::NormX => Self::NormX,
            Expr::NormZ => Self::NormZ,
            Expr::Named(named) => Self::Named(Written::of(named)),
            Expr::Columns(inner, columns) => Self::Columns(boxed(inner), columns.clone()),
            Expr::Sum(parts) => Self::Sum(each(parts)),
            Expr::Product(parts) => Self::Product(each(parts)),
            Expr::Neg(a) => Self::Neg(boxed(a)),
            Expr::Div(a, b) => Self::Div(boxed(a), boxed(b)),
            Expr::Pow(a, b) => Self::Pow(boxed(a), boxed(b)),
            Expr::Call(function, parts) => Self::Call(*function, each(parts)),
        }
    }

    /// The expression with every constant rounded to a double.
    pub fn rounded(&self) -> Expr {
        let boxed = |f: &Self| Box::new(f.rounded());
        let each = |parts: &[Self]| parts.iter().map(Self::rounded).collect::<Vec<_>>();
        match self {
            Self::Number(value) => Expr::Number(exact::to_f64(value)),
            Self::Pi => Expr::Number(std::f64::consts::PI),
            Self::Unreadable => Expr::Number(f64::NAN),
            Self::Dot => Expr::Dot,
            Self::Distance => Expr::Distance,
            Self::Distance1 => Expr::Distance1,
            Self::NormX => Expr::NormX,
            Self::NormZ => Expr::NormZ,
            Self::Named(written) => Expr::Named(written.named()),
            Self::Columns(inner, columns) => Expr::Columns(boxed(inner), columns.clone()),
            Self::Sum(parts) => Expr::Sum(each(parts)),
            Self::Product(parts) => Expr::Product(each(parts)),
            Self::Neg(a) => Expr::Neg(boxed(a)),
            Self::Div(a, b) => Expr::Div(boxed(a), boxed(b)),
            Self::Pow(a, b) => Expr::Pow(boxed(a), boxed(b)),
            Self::Call(function, parts) => Expr::Call(*function, each(parts)),
        }
    }

    /// Its parts, one level down.
    pub fn children(&self) -> Vec<&Self> {
        match self {
            Self::Columns(inner, _) | Self::Neg(inner) => vec![inner],
            Self::Div(a, b) | Self::Pow(a, b) => vec![a, b],
            Self::Sum(parts) | Self::Product(parts) | Self::Call(_, parts) => parts.iter().collect(),
            _ => Vec::new(),
        }
    }

    fn each_child(&mut self, visit: &mut dyn FnMut(&mut Self)) {
        match self {
            Self::Columns(inner, _) | Self::Neg(inner) => visit(inner),
            Self::Div(a, b) | Self::Pow(a, b) => {
                visit(a);
                visit(b);
            }
            Self::Sum(parts) | Self::Product(parts) | Self::Call(_, parts) => {
                parts.iter_mut().for_each(visit)
            }
            _ => {}
        }
    }

    /// Replaces parts by other formulas; replacements are not searched again.
    pub(crate) fn replace(&mut self, change: &mut dyn FnMut(&Self) -> Option<Self>) {
        match change(self) {
            Some(other) => *self = other,
            None => self.each_child(&mut |child| child.replace(change)),
        }
    }

    /// The formula with a separate symbol for every named kernel that has an open hyper-parameter.
    pub(crate) fn numbered(mut self) -> Self {
        fn number(formula: &mut Formula, next: &mut usize) {
            if let Formula::Named(written) = formula {
                let shared = |p: &Parameter| p.is_settled() || *p == Parameter::Auto;
                if !written.parameters.iter().all(|(_, p)| shared(p)) {
                    *next += 1;
                    written.symbol = *next;
                }
            }
            formula.each_child(&mut |child| number(child, next));
        }
        number(&mut self, &mut 0);
        self
    }

    /// The formula with an allowed value for every open hyper-parameter: one is enough to refute a claim about all.
    /// Irrational constants stay as they are.
    pub(crate) fn filled(&self) -> Self {
        fn fill(formula: &mut Formula) {
            if let Formula::Named(written) = formula {
                *written = written.filled();
            }
            formula.each_child(&mut fill);
        }
        let mut filled = self.clone();
        fill(&mut filled);
        filled
    }

    /// The bits of its longest constant, which bound the precision needed to distinguish two constants.
    pub(crate) fn constant_bits(&self) -> u64 {
        let own = match self {
            Self::Number(q) => exact::bits(q),
            Self::Named(written) => {
                written.parameters.iter().map(|(_, p)| parameter_bits(p)).max().unwrap_or(0)
            }
            _ => 0,
        };
        self.children().into_iter().map(Self::constant_bits).fold(own, u64::max)
    }
}

fn parameter_bits(parameter: &Parameter) -> u64 {
    match parameter {
        Parameter::Number(q) => exact::bits(q),
        Parameter::PerColumn(list) | Parameter::Over(list) => list.iter().map(exact::bits).max().unwrap_or(0),
        _ => 0,
    }
}

fn decimal(text: &str) -> Option<Q> {
    let text = text.replace('−', "-").to_ascii_lowercase();
    let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    if whole.len() + fraction.len() > LONGEST {
        return None;
    }
    let digits: BigInt = format!("{whole}{fraction}").parse().ok()?;
    let exponent: i64 = exponent.trim_start_matches('+').parse().ok()?;
    let shift = exponent - i64::try_from(fraction.len()).ok()?;
    let size = u32::try_from(shift.unsigned_abs()).ok().filter(|s| *s as usize <= 2 * LONGEST)?;
    let scale = BigInt::from(10).pow(size);
    Some(if shift >= 0 { Q::from_integer(digits * scale) } else { Q::new(digits, scale) })
}

/// Whether a decimal text has the value that its double is read as.
pub(crate) fn is_shortest_decimal(text: &str, value: f64) -> bool {
    decimal(text).is_some_and(|q| exact::from_decimal(value) == Some(q))
}

impl Default for Formula {
    fn default() -> Self {
        Self::Number(Q::one())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Kernel;

    fn formula(text: &str) -> Formula {
        text.parse::<Kernel>().unwrap().formula()
    }

    #[test]
    fn numbers_are_exact_as_written() {
        let third: Q = Q::new(BigInt::from(33_333_333_333_333_334_i64), BigInt::from(10).pow(17));
        assert_eq!(formula("0.33333333333333334"), Formula::Number(third));
        assert_eq!(formula("1e-400"), Formula::Number(Q::new(1.into(), BigInt::from(10).pow(400))));
        assert_eq!(formula("-2.50E+1"), Formula::Number(exact::int(-25)));
        assert_eq!(formula("pi"), Formula::Pi);
        assert_eq!(formula("1e-99999"), Formula::Unreadable);
        let Formula::Named(written) = formula("rbf(gamma=1/3)") else { panic!("a named kernel") };
        assert_eq!(written.parameters[0].1, Parameter::Number(exact::ratio(1, 3)));
        let Formula::Named(written) = formula("rbf(sigma=sqrt(2))") else { panic!("a named kernel") };
        assert!(matches!(written.parameters[0].1, Parameter::Irrational(..)));
    }

    #[test]
    fn every_open_parameter_is_a_symbol_of_its_own() {
        let Formula::Sum(parts) = formula("rbf(sigma=?) + rbf(sigma=?) + rbf + rbf(sigma=auto)") else {
            panic!("a sum")
        };
        let symbols: Vec<usize> =
            parts.iter().map(|p| if let Formula::Named(w) = p { w.symbol } else { 9 }).collect();
        assert_eq!(symbols, [1, 2, 0, 0]);
    }

    #[test]
    fn the_formula_rounds_to_the_expression() {
        for text in ["1-2*acos(<x,z>)/pi", "rbf(sigma=[1,2])[0,3]^2 - 0.1*|x|*|z|", "max(0, 1-|x-z|_1)/-3"] {
            let kernel: Kernel = text.parse().unwrap();
            assert_eq!(kernel.formula().rounded(), *kernel.expr(), "{text}");
            assert_eq!(Formula::of(kernel.expr()), kernel.formula(), "{text}");
        }
    }
}

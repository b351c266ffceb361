//! The value of a formula at exact points, as an enclosure.

use num_bigint::BigInt;
use num_integer::Integer;
use num_traits::{One, Signed, Zero};

use super::exact::{self, Q};
use super::interval::{Fault, Interval};
use super::steps;
use crate::expr::Function;
use crate::formula::{Formula, Written};

/// An enclosure of `formula` at `(x, z)`, with numbers read as exact decimals.
///
/// # Errors
/// [`Fault::Undefined`] if the formula certainly has no value there; [`Fault::Unknown`] if that could not be decided at
/// this precision.
pub fn enclose(formula: &Formula, x: &[Q], z: &[Q], bits: u32) -> Result<Interval, Fault> {
    let own = |named: &Written, x: &[Q], z: &[Q]| named.family.enclose(named, x, z, bits);
    Evaluation { bits, named: &own }.of(formula, x, z)
}

/// The value of a named kernel at two points.
pub(crate) type NamedValue<'a> = dyn Fn(&Written, &[Q], &[Q]) -> Result<Interval, Fault> + 'a;

/// An evaluation at some precision, with the values that named kernels have in it.
pub(crate) struct Evaluation<'a> {
    /// Bits after the point.
    pub bits: u32,
    /// The value of a named kernel at two points.
    pub named: &'a NamedValue<'a>,
}

impl Evaluation<'_> {
    /// An enclosure of a formula at `(x, z)`.
    ///
    /// # Errors
    /// As [`enclose`].
    pub fn of(&self, formula: &Formula, x: &[Q], z: &[Q]) -> Result<Interval, Fault> {
        let bits = self.bits;
        steps::count(4 + 4 * x.len());
        match formula {
            Formula::Number(value) => Ok(Interval::exact(value, bits)),
            Formula::Pi => Ok(Interval::pi(bits)),
            Formula::Unreadable => Err(Fault::Unknown),
            Formula::Dot => Ok(Interval::exact(&dot(x, z), bits)),
            Formula::Distance => Interval::exact(&squared_distance(x, z), bits).sqrt(),
            Formula::Distance1 => Ok(Interval::exact(&distance1(x, z), bits)),
            Formula::NormX => Interval::exact(&dot(x, x), bits).sqrt(),
            Formula::NormZ => Interval::exact(&dot(z, z), bits).sqrt(),
            Formula::Named(named) => (self.named)(named, x, z),
            Formula::Columns(inner, columns) => {
                if columns.span() > x.len() {
                    return Err(Fault::Unknown);
                }
                let chosen = |p: &[Q]| columns.iter().map(|c| p[c].clone()).collect::<Vec<_>>();
                self.of(inner, &chosen(x), &chosen(z))
            }
            Formula::Sum(terms) => terms
                .iter()
                .try_fold(Interval::integer(0, bits), |sum, term| Ok(sum.add(&self.of(term, x, z)?))),
            Formula::Product(factors) => factors
                .iter()
                .try_fold(Interval::integer(1, bits), |product, f| Ok(product.mul(&self.of(f, x, z)?))),
            Formula::Neg(inner) => Ok(self.of(inner, x, z)?.neg()),
            Formula::Div(numerator, denominator) => {
                let (above, below) = (self.of(numerator, x, z)?, self.of(denominator, x, z)?);
                above.div(&below).or_else(|fault| match exact_value(denominator, x, z) {
                    Some(exact) => above.div(&Interval::exact(&exact, bits)),
                    None => Err(fault),
                })
            }
            Formula::Pow(base, exponent) => self.power(base, exponent, x, z),
            Formula::Call(function, arguments) => {
                let values = arguments.iter().map(|a| self.of(a, x, z)).collect::<Result<Vec<_>, _>>()?;
                // At the boundary of the domain of definition, only the exact argument decides.
                apply(*function, &values).or_else(|fault| match exact_value(&arguments[0], x, z) {
                    Some(exact) if arguments.len() == 1 => apply(*function, &[Interval::exact(&exact, bits)]),
                    _ => Err(fault),
                })
            }
        }
    }

    fn power(&self, base: &Formula, exponent: &Formula, x: &[Q], z: &[Q]) -> Result<Interval, Fault> {
        let bits = self.bits;
        if let Some(e) = exact_value(exponent, x, z) {
            // Squares of distances and norms, exact before any root is taken.
            let squared = match base {
                Formula::Distance => Some(squared_distance(x, z)),
                Formula::NormX => Some(dot(x, x)),
                Formula::NormZ => Some(dot(z, z)),
                _ => None,
            };
            return match (squared, exact_value(base, x, z)) {
                (Some(square), _) => Interval::exact(&square, bits).pow(&(e / exact::int(2))),
                (None, Some(value)) => Interval::exact(&value, bits).pow(&e),
                (None, None) => self.of(base, x, z)?.pow(&e),
            };
        }
        let (base, exponent) = (self.of(base, x, z)?, self.of(exponent, x, z)?);
        if base.is_negative() && exponent.lies_between_integers() {
            return Err(Fault::Undefined("fractional power of a negative number"));
        }
        if base.is_zero() && exponent.is_negative() {
            return Err(Fault::Undefined("division by zero"));
        }
        if base.is_zero() && exponent.is_positive() {
            return Ok(base);
        }
        if !base.is_positive() {
            return Err(Fault::Unknown);
        }
        exponent.mul(&base.ln()?).exp()
    }
}

/// The exact value where the formula is rational at rational points: integer exponents of dots and squares.
pub fn exact_value(formula: &Formula, x: &[Q], z: &[Q]) -> Option<Q> {
    match formula {
        Formula::Number(value) => Some(value.clone()),
        Formula::Pi | Formula::Unreadable => None,
        Formula::Dot => Some(dot(x, z)),
        Formula::Distance => exact::rational_power(&squared_distance(x, z), &exact::ratio(1, 2)),
        Formula::Distance1 => Some(distance1(x, z)),
        Formula::NormX => exact::rational_power(&dot(x, x), &exact::ratio(1, 2)),
        Formula::NormZ => exact::rational_power(&dot(z, z), &exact::ratio(1, 2)),
        Formula::Columns(inner, columns) => {
            if columns.span() > x.len() {
                return None;
            }
            let chosen = |p: &[Q]| columns.iter().map(|c| p[c].clone()).collect::<Vec<_>>();
            exact_value(inner, &chosen(x), &chosen(z))
        }
        Formula::Sum(terms) => terms.iter().try_fold(Q::zero(), |sum, t| Some(sum + exact_value(t, x, z)?)),
        Formula::Product(factors) => {
            factors.iter().try_fold(exact::int(1), |product, f| Some(product * exact_value(f, x, z)?))
        }
        Formula::Neg(inner) => Some(-exact_value(inner, x, z)?),
        Formula::Div(n, d) => {
            let denominator = exact_value(d, x, z)?;
            if denominator.is_zero() { None } else { Some(exact_value(n, x, z)? / denominator) }
        }
        Formula::Pow(base, exponent) => match (base.as_ref(), exact_value(exponent, x, z)?) {
            // |x−z|² and its even powers are rational even where |x−z| is not.
            (Formula::Distance, e) if exact::as_integer(&e).is_some_and(|n| n % 2 == 0) => {
                exact::rational_power(&squared_distance(x, z), &(e / exact::int(2)))
            }
            (Formula::NormX, e) if exact::as_integer(&e).is_some_and(|n| n % 2 == 0) => {
                exact::rational_power(&dot(x, x), &(e / exact::int(2)))
            }
            (Formula::NormZ, e) if exact::as_integer(&e).is_some_and(|n| n % 2 == 0) => {
                exact::rational_power(&dot(z, z), &(e / exact::int(2)))
            }
            (base, e) => exact::rational_power(&exact_value(base, x, z)?, &e),
        },
        Formula::Call(function, arguments) => {
            let values = arguments.iter().map(|a| exact_value(a, x, z)).collect::<Option<Vec<_>>>()?;
            match function {
                Function::Sqrt => exact::rational_power(&values[0], &exact::ratio(1, 2)),
                Function::Abs => Some(values[0].abs()),
                Function::Min => values.into_iter().min(),
                Function::Max => values.into_iter().max(),
                Function::Exp | Function::Cos | Function::Cosh | Function::Sinc => {
                    values[0].is_zero().then(|| exact::int(1))
                }
                Function::Sin
                | Function::Tan
                | Function::Sinh
                | Function::Tanh
                | Function::Asin
                | Function::Atan => values[0].is_zero().then(Q::zero),
                Function::Log => (values[0] == exact::int(1)).then(Q::zero),
                Function::Acos => None,
            }
        }
        Formula::Named(named) => named.family.exact_value(named, x, z),
    }
}

fn apply(function: Function, values: &[Interval]) -> Result<Interval, Fault> {
    let a = &values[0];
    match function {
        Function::Exp => a.exp(),
        Function::Log => a.ln(),
        Function::Sin => a.sin(),
        Function::Cos => a.cos(),
        Function::Tan => a.tan(),
        Function::Sinc => a.sinc(),
        Function::Sinh => a.sinh(),
        Function::Cosh => a.cosh(),
        Function::Tanh => a.tanh(),
        Function::Sqrt => a.sqrt(),
        Function::Abs => Ok(a.abs()),
        Function::Asin => a.asin(),
        Function::Acos => a.acos(),
        Function::Atan => Ok(a.atan()),
        Function::Min => Ok(values[1..].iter().fold(a.clone(), |m, v| m.min(v))),
        Function::Max => Ok(values[1..].iter().fold(a.clone(), |m, v| m.max(v))),
    }
}

/// ⟨x,z⟩.
pub(crate) fn dot(x: &[Q], z: &[Q]) -> Q {
    let (points, denominator) = over_one_denominator(x, z);
    Q::new(points.map(|(a, b)| a * b).sum(), denominator.pow(2))
}

/// |x−z|².
pub(crate) fn squared_distance(x: &[Q], z: &[Q]) -> Q {
    let (points, denominator) = over_one_denominator(x, z);
    Q::new(points.map(|(a, b)| (a - b).pow(2)).sum(), denominator.pow(2))
}

/// |x−z|₁.
pub(crate) fn distance1(x: &[Q], z: &[Q]) -> Q {
    let (points, denominator) = over_one_denominator(x, z);
    Q::new(points.map(|(a, b)| (a - b).abs()).sum(), denominator)
}

/// The numerators of the coordinates of two points over their least common denominator. Sums of them need no reduction of fractions,
/// which would take most of the time.
fn over_one_denominator<'a>(x: &'a [Q], z: &'a [Q]) -> (impl Iterator<Item = (BigInt, BigInt)> + 'a, BigInt) {
    let mut denominator = BigInt::one();
    for c in x.iter().chain(z) {
        if *c.denom() != denominator {
            denominator = denominator.lcm(c.denom());
        }
    }
    let common = denominator.clone();
    let numerator =
        move |c: &Q| if *c.denom() == common { c.numer().clone() } else { c.numer() * (&common / c.denom()) };
    (x.iter().zip(z).map(move |(a, b)| (numerator(a), numerator(b))), denominator)
}

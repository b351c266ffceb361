//! Formulas of the attack: their text for the library, their value in [`Fixed`].

use num_bigint::BigInt;
use num_rational::BigRational;
use num_traits::{One, Signed, Zero};

use super::real::{Fixed, Gap, Value};

/// A formula. Constants are the texts that the library reads.
#[derive(Debug, Clone)]
pub enum Node {
    Number(String),
    Pi,
    /// `<x,z>`, `|x-z|`, `|x-z|_1`, `|x|`, `|z|`, on all columns or some.
    Atom(&'static str, Vec<usize>),
    Sum(Vec<Node>),
    Product(Vec<Node>),
    Negative(Box<Node>),
    Quotient(Box<Node>, Box<Node>),
    Power(Box<Node>, String),
    Call(&'static str, Vec<Node>),
    /// `rbf(gamma=…)`.
    Gaussian(String),
    /// `rbf(gamma=?)`, of which number.
    Open(usize),
}

/// The value of a text of digits, a point, an exponent and at most one fraction bar.
pub fn number(text: &str) -> BigRational {
    if let Some((n, d)) = text.split_once('/') {
        return number(n) / number(d);
    }
    let (mantissa, exponent) = text.split_once('e').unwrap_or((text, "0"));
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let digits: BigInt = format!("{whole}{fraction}").parse().unwrap();
    let exponent = exponent.parse::<i32>().unwrap() - i32::try_from(fraction.len()).unwrap();
    BigRational::from_integer(digits) * BigRational::from_integer(10.into()).pow(exponent)
}

impl Node {
    pub fn text(&self) -> String {
        let all = |parts: &[Self], sign: &str| parts.iter().map(Self::text).collect::<Vec<_>>().join(sign);
        match self {
            Self::Number(text) => text.clone(),
            Self::Pi => "pi".into(),
            Self::Atom(name, columns) if columns.is_empty() => (*name).into(),
            Self::Atom(name, columns) => {
                let list: Vec<String> = columns.iter().map(ToString::to_string).collect();
                format!("({name})[{}]", list.join(","))
            }
            Self::Sum(parts) => format!("({})", all(parts, " + ")),
            Self::Product(parts) => format!("({})", all(parts, "*")),
            Self::Negative(a) => format!("(-{})", a.text()),
            Self::Quotient(a, b) => format!("({}/{})", a.text(), b.text()),
            Self::Power(a, e) => format!("({})^({e})", a.text()),
            Self::Call(name, parts) => format!("{name}({})", all(parts, ", ")),
            Self::Gaussian(gamma) => format!("rbf(gamma={gamma})"),
            Self::Open(_) => "rbf(gamma=?)".into(),
        }
    }

    /// Its value; `open` holds the values of open hyper-parameters.
    pub fn value(&self, x: &[BigRational], z: &[BigRational], open: &[BigRational], f: Fixed) -> Value {
        let of = |node: &Self| node.value(x, z, open, f);
        Ok(match self {
            Self::Number(text) => f.rational(&number(text)),
            Self::Pi => f.pi(),
            Self::Atom(name, columns) => return atom(name, columns, x, z, f),
            Self::Sum(parts) => parts.iter().map(of).sum::<Value>()?,
            Self::Product(parts) => {
                parts.iter().try_fold(f.one(), |product, part| Ok::<_, Gap>(f.mul(&product, &of(part)?)))?
            }
            Self::Negative(a) => -of(a)?,
            Self::Quotient(a, b) => f.div(&of(a)?, &of(b)?)?,
            Self::Power(a, e) => f.pow(&of(a)?, &number(e))?,
            Self::Call(name, parts) => {
                return call(name, &parts.iter().map(of).collect::<Result<Vec<_>, _>>()?, f);
            }
            Self::Gaussian(gamma) => f.exp(&-f.rational(&(squared_distance(x, z) * number(gamma))))?,
            Self::Open(index) => f.exp(&-f.rational(&(squared_distance(x, z) * &open[*index])))?,
        })
    }

    /// Whether it has a constant far from 1, or a large power, which magnifies rounding in what it multiplies.
    pub fn is_extreme(&self) -> bool {
        let far =
            |text: &str| text.contains("e-") || text.contains("e1") || text.contains("e3") || text.len() > 15;
        match self {
            Self::Number(text) | Self::Gaussian(text) => far(text),
            Self::Sum(parts) | Self::Product(parts) | Self::Call(_, parts) => {
                parts.iter().any(Self::is_extreme)
            }
            Self::Negative(a) => a.is_extreme(),
            Self::Quotient(a, b) => a.is_extreme() || b.is_extreme(),
            Self::Power(a, e) => a.is_extreme() || far(e) || e.parse::<f64>().is_ok_and(|e| e.abs() >= 16.0),
            _ => false,
        }
    }
}

fn squared_distance(x: &[BigRational], z: &[BigRational]) -> BigRational {
    x.iter().zip(z).fold(BigRational::zero(), |sum, (a, b)| sum + (a - b) * (a - b))
}

fn atom(name: &str, columns: &[usize], x: &[BigRational], z: &[BigRational], f: Fixed) -> Value {
    let all: Vec<usize> = (0..x.len()).collect();
    let columns = if columns.is_empty() { &all } else { columns };
    let sum =
        |term: &dyn Fn(usize) -> BigRational| columns.iter().fold(BigRational::zero(), |s, &j| s + term(j));
    let root = |square: BigRational| -> Value { Ok((f.rational(&square) << f.bits).sqrt()) };
    match name {
        "<x,z>" => Ok(f.rational(&sum(&|j| &x[j] * &z[j]))),
        "|x-z|" => root(sum(&|j| (&x[j] - &z[j]) * (&x[j] - &z[j]))),
        "|x-z|_1" => Ok(f.rational(&sum(&|j| (&x[j] - &z[j]).abs()))),
        "|x|" => root(sum(&|j| &x[j] * &x[j])),
        _ => root(sum(&|j| &z[j] * &z[j])),
    }
}

fn call(name: &str, values: &[BigInt], f: Fixed) -> Value {
    let a = &values[0];
    Ok(match name {
        "exp" => f.exp(a)?,
        "log" => f.ln(a)?,
        "sin" => f.sin_cos(a)?.0,
        "cos" => f.sin_cos(a)?.1,
        "sinc" if a.is_zero() => f.one(),
        "sinc" => f.sin_cos(a).and_then(|(s, _)| f.div(&s, a))?,
        "tan" => f.sin_cos(a).and_then(|(s, c)| f.div(&s, &c))?,
        "cosh" => (f.exp(a)? + f.exp(&-a)?) / 2,
        "sinh" => (f.exp(a)? - f.exp(&-a)?) / 2,
        "tanh" => {
            let decay = f.exp(&(-a.abs() * 2))?;
            ((f.one() - &decay) << f.bits) / (f.one() + decay) * a.signum()
        }
        "sqrt" => f.sqrt(a)?,
        "abs" => a.abs(),
        "asin" => f.asin(a)?,
        "acos" => f.pi() / 2 - f.asin(a)?,
        "atan" => f.atan(a),
        "min" => values.iter().min().cloned().unwrap_or_else(BigInt::one),
        _ => values.iter().max().cloned().unwrap_or_else(BigInt::one),
    })
}

//! Prints expressions as kernel text: the inverse of the parser, without redundant brackets.

use std::fmt::{self, Write};

use super::Kernel;
use super::expr::{Columns, Expr};
use super::named::{Named, Prior, Value};

/// How tightly the outermost operator of a text binds.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Level {
    Sum,
    Product,
    Unary,
    Power,
    Primary,
}

fn level(expr: &Expr) -> Level {
    match expr {
        Expr::Sum(_) => Level::Sum,
        Expr::Product(_) | Expr::Div(..) => Level::Product,
        Expr::Neg(_) => Level::Unary,
        Expr::Number(value) if value.is_sign_negative() => Level::Unary,
        Expr::Pow(..) => Level::Power,
        _ => Level::Primary,
    }
}

/// The number at the start of an expression's text, if a minus before the text would be read as its sign.
fn leading_number(expr: &Expr) -> Option<f64> {
    match expr {
        Expr::Number(value) => Some(*value),
        Expr::Product(factors) => match factors.first()? {
            Expr::Product(_) => None,
            first => leading_number(first),
        },
        Expr::Div(numerator, _) => leading_number(numerator),
        _ => None,
    }
}

impl fmt::Display for Kernel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.expr().fmt(f)
    }
}

impl fmt::Display for Expr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut text = String::new();
        print(self, &mut text)?;
        f.pad(&text)
    }
}

fn print(expr: &Expr, out: &mut String) -> fmt::Result {
    match expr {
        Expr::Number(value) => write!(out, "{}", Shortest(*value)),
        Expr::Dot => out.write_str("<x,z>"),
        Expr::Distance => out.write_str("|x-z|"),
        Expr::Distance1 => out.write_str("|x-z|_1"),
        Expr::NormX => out.write_str("|x|"),
        Expr::NormZ => out.write_str("|z|"),
        Expr::Named(named) => write!(out, "{named}"),
        Expr::Columns(inner, columns) => {
            operand(inner, level(inner) < Level::Primary, out)?;
            write!(out, "{columns}")
        }
        Expr::Sum(terms) => sum(terms, out),
        Expr::Product(factors) => product(factors, out),
        Expr::Neg(inner) => {
            let number = matches!(**inner, Expr::Number(value) if value.is_sign_positive());
            out.push('-');
            operand(inner, number || level(inner) < Level::Unary, out)
        }
        Expr::Div(numerator, denominator) => {
            operand(numerator, level(numerator) < Level::Product, out)?;
            out.push('/');
            operand(denominator, level(denominator) < Level::Unary, out)
        }
        Expr::Pow(base, exponent) => {
            operand(base, level(base) < Level::Primary, out)?;
            out.push('^');
            operand(exponent, level(exponent) < Level::Unary, out)
        }
        Expr::Call(function, arguments) => {
            out.push_str(function.name());
            out.push('(');
            for (i, argument) in arguments.iter().enumerate() {
                out.push_str(if i == 0 { "" } else { ", " });
                print(argument, out)?;
            }
            out.write_char(')')
        }
    }
}

fn operand(expr: &Expr, brackets: bool, out: &mut String) -> fmt::Result {
    if !brackets {
        return print(expr, out);
    }
    out.push('(');
    print(expr, out)?;
    out.write_char(')')
}

fn sum(terms: &[Expr], out: &mut String) -> fmt::Result {
    for (i, term) in terms.iter().enumerate() {
        match (term, leading_number(term)) {
            (first, _) if i == 0 => operand(first, level(first) < Level::Product, out)?,
            (Expr::Neg(inner), _) => {
                out.push_str(" - ");
                let sign_would_move = leading_number(inner).is_some_and(f64::is_sign_positive);
                operand(inner, sign_would_move || level(inner) < Level::Product, out)?;
            }
            (negative, Some(value)) if value.is_sign_negative() => {
                out.push_str(" - ");
                let sign = out.len();
                print(negative, out)?;
                out.remove(sign);
            }
            (term, _) => {
                out.push_str(" + ");
                operand(term, level(term) < Level::Product, out)?;
            }
        }
    }
    Ok(())
}

fn product(factors: &[Expr], out: &mut String) -> fmt::Result {
    for (i, factor) in factors.iter().enumerate() {
        out.push_str(if i == 0 { "" } else { "*" });
        // A quotient may lead a product, `a/b*c`, but not follow in it.
        let leading_quotient = i == 0 && matches!(factor, Expr::Div(..));
        operand(factor, level(factor) < Level::Unary && !leading_quotient, out)?;
    }
    Ok(())
}

impl fmt::Display for Columns {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_char('[')?;
        for (i, range) in self.0.iter().enumerate() {
            f.write_str(if i == 0 { "" } else { "," })?;
            match range.len() {
                1 => write!(f, "{}", range.start)?,
                _ => write!(f, "{}..{}", range.start, range.end)?,
            }
        }
        f.write_char(']')
    }
}

impl fmt::Display for Named {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.family.name())?;
        for (slot, argument) in self.arguments.iter().enumerate() {
            f.write_str(if slot == 0 { "(" } else { ", " })?;
            write!(f, "{}={}", self.spelling(slot).name, argument.value)?;
        }
        f.write_str(if self.arguments.is_empty() { "" } else { ")" })
    }
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let list = |values: &[f64]| {
            values.iter().map(|&value| Shortest(value).to_string()).collect::<Vec<_>>().join(", ")
        };
        match self {
            Self::Number(value) => Shortest(*value).fmt(f),
            Self::PerColumn(values) => write!(f, "[{}]", list(values)),
            Self::Auto => f.write_str("auto"),
            Self::Tune => f.write_str("?"),
            Self::TuneBetween(low, high) => write!(f, "?{}..{}", Shortest(*low), Shortest(*high)),
            Self::TuneOver(values) => write!(f, "?{{{}}}", list(values)),
            Self::WithPrior(value, prior) => write!(f, "{value}~{prior}"),
            Self::EachColumn(value) => write!(f, "[{value}]"),
            Self::Unknowns(each) => {
                let each: Vec<String> = each.iter().map(ToString::to_string).collect();
                write!(f, "[{}]", each.join(", "))
            }
        }
    }
}

impl fmt::Display for Prior {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self::LogNormal { mu, s } = self;
        write!(f, "lognormal({}, {})", Shortest(*mu), Shortest(*s))
    }
}

/// A number in its shortest exact form, with an exponent if the plain form would be long.
pub struct Shortest(pub f64);

impl fmt::Display for Shortest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let plain = self.0 == 0.0 || (1e-5..1e16).contains(&self.0.abs()) || !self.0.is_finite();
        if plain { write!(f, "{}", self.0) } else { write!(f, "{:e}", self.0) }
    }
}

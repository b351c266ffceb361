//! One feature written as a formula of columns.

mod list;

use std::borrow::Cow;
use std::fmt::{self, Write};

use crate::kernel::{Function, Shortest};

pub use list::Formulas;
pub(super) use list::quoted_where_needed;

/// A formula of the columns of a sample.
///
/// Sums and products are n-ary, so that a sum of a thousand columns is two levels deep.
#[derive(Debug, Clone, PartialEq)]
pub(in crate::design) enum Formula {
    /// A finite constant, 0 or more; a minus sign is an operator.
    Number(f64),
    /// `x`: each column in turn.
    Every,
    /// `x3`: the column at this place, from 0.
    Column(usize),
    /// A column by its name, before it is resolved to an index.
    Name(String),
    /// `-a`.
    Neg(Box<Formula>),
    /// `a + b - c …`: at least two terms, each with whether it is subtracted.
    Sum(Vec<(bool, Formula)>),
    /// `a * b / c …`: at least two factors, each with whether it divides.
    Product(Vec<(bool, Formula)>),
    /// `a ^ b`, right-associative and binding tighter than a leading minus.
    Pow(Box<Formula>, Box<Formula>),
    /// A function of one argument; `min` and `max` take two or more.
    Call(Function, Vec<Formula>),
}

/// How tightly the outermost operator of a text binds.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Level {
    Sum,
    Product,
    Unary,
    Power,
    Primary,
}

impl Formula {
    /// The operands.
    fn operands(&self) -> Vec<&Self> {
        match self {
            Self::Number(_) | Self::Every | Self::Column(_) | Self::Name(_) => Vec::new(),
            Self::Neg(inner) => vec![inner],
            Self::Pow(base, exponent) => vec![base, exponent],
            Self::Sum(parts) | Self::Product(parts) => parts.iter().map(|(_, part)| part).collect(),
            Self::Call(_, arguments) => arguments.iter().collect(),
        }
    }

    /// Calls `visit` with every part.
    pub fn visit(&self, visit: &mut impl FnMut(&Self)) {
        visit(self);
        self.operands().into_iter().for_each(|operand| operand.visit(visit));
    }

    /// Whether the formula gives one feature per column.
    pub fn is_per_column(&self) -> bool {
        let mut found = false;
        self.visit(&mut |part| found |= *part == Self::Every);
        found
    }

    /// The columns of the formula, ascending, not counting [`Every`](Self::Every).
    pub fn columns(&self) -> Vec<usize> {
        let mut columns = Vec::new();
        self.visit(&mut |part| {
            if let Self::Column(column) = part {
                columns.push(*column);
            }
        });
        columns.sort_unstable();
        columns.dedup();
        columns
    }

    /// The same formula with every leaf replaced by `leaf` of it.
    pub fn replace<E>(&self, leaf: &mut impl FnMut(&Self) -> Result<Self, E>) -> Result<Self, E> {
        let mut all = |parts: &[(bool, Self)]| {
            parts.iter().map(|(inverse, part)| Ok((*inverse, part.replace(leaf)?))).collect::<Result<_, E>>()
        };
        Ok(match self {
            Self::Sum(terms) => Self::Sum(all(terms)?),
            Self::Product(factors) => Self::Product(all(factors)?),
            Self::Neg(inner) => Self::Neg(Box::new(inner.replace(leaf)?)),
            Self::Pow(base, exponent) => {
                Self::Pow(Box::new(base.replace(leaf)?), Box::new(exponent.replace(leaf)?))
            }
            Self::Call(function, arguments) => {
                let arguments = arguments.iter().map(|argument| argument.replace(leaf));
                Self::Call(*function, arguments.collect::<Result<_, E>>()?)
            }
            Self::Number(_) | Self::Every | Self::Column(_) | Self::Name(_) => leaf(self)?,
        })
    }

    /// The formula for one column of those that `x` stands for.
    pub fn of_column(&self, column: usize) -> Self {
        let replaced = self.replace(&mut |part| {
            Ok::<_, std::convert::Infallible>(match part {
                Self::Every => Self::Column(column),
                other => other.clone(),
            })
        });
        match replaced {
            Ok(formula) => formula,
            Err(never) => match never {},
        }
    }

    /// Its values at the rows of a block: `columns[j·rows + i]` is column j of row i.
    pub fn values<'a>(&self, columns: &'a [f64], rows: usize) -> Cow<'a, [f64]> {
        let parts = |parts: &[(bool, Self)], forward: fn(f64, f64) -> f64, inverse: fn(f64, f64) -> f64| {
            let mut result = parts[0].1.values(columns, rows).into_owned();
            for (inverted, part) in &parts[1..] {
                let join = if *inverted { inverse } else { forward };
                let values = part.values(columns, rows);
                result.iter_mut().zip(values.iter()).for_each(|(r, v)| *r = join(*r, *v));
            }
            result
        };
        Cow::Owned(match self {
            Self::Number(value) => vec![*value; rows],
            Self::Column(column) => return Cow::Borrowed(&columns[column * rows..][..rows]),
            // A formula bound to columns has no names and no `x`; a feature without a value is an error.
            Self::Every | Self::Name(_) => vec![f64::NAN; rows],
            Self::Neg(inner) => inner.values(columns, rows).iter().map(|v| -v).collect(),
            Self::Sum(terms) => parts(terms, |a, b| a + b, |a, b| a - b),
            Self::Product(factors) => parts(factors, |a, b| a * b, |a, b| a / b),
            Self::Pow(base, exponent) => {
                let base = base.values(columns, rows);
                match whole(exponent) {
                    Some(n) => base.iter().map(|v| v.powi(n)).collect(),
                    None => {
                        let exponent = exponent.values(columns, rows);
                        base.iter().zip(exponent.iter()).map(|(b, e)| b.powf(*e)).collect()
                    }
                }
            }
            Self::Call(function, arguments) => {
                let values: Vec<_> = arguments.iter().map(|a| a.values(columns, rows)).collect();
                let mut at = vec![0.0; values.len()];
                let value = |i: usize| {
                    at.iter_mut().zip(&values).for_each(|(a, v)| *a = v[i]);
                    function.apply(&at)
                };
                (0..rows).map(value).collect()
            }
        })
    }

    fn level(&self) -> Level {
        match self {
            Self::Sum(_) => Level::Sum,
            Self::Product(_) => Level::Product,
            Self::Neg(_) => Level::Unary,
            Self::Pow(..) => Level::Power,
            _ => Level::Primary,
        }
    }

    /// The text with the columns under these names, none of them quoted.
    pub fn text(&self, column_name: &dyn Fn(usize) -> String) -> String {
        let mut out = String::new();
        // Writing to a string does not fail.
        let _ = self.print(&mut out, column_name);
        out
    }

    fn print(&self, out: &mut String, name: &dyn Fn(usize) -> String) -> fmt::Result {
        match self {
            Self::Number(value) => write!(out, "{}", Shortest(*value)),
            Self::Every => out.write_char('x'),
            Self::Column(column) => out.write_str(&name(*column)),
            Self::Name(name) => write!(out, "`{name}`"),
            Self::Neg(inner) => {
                out.push('-');
                inner.operand(Level::Unary, out, name)
            }
            Self::Sum(terms) => {
                terms[0].1.operand(Level::Product, out, name)?;
                terms[1..].iter().try_for_each(|(minus, term)| {
                    out.push_str(if *minus { " - " } else { " + " });
                    term.operand(Level::Product, out, name)
                })
            }
            Self::Product(factors) => {
                factors[0].1.operand(Level::Unary, out, name)?;
                factors[1..].iter().try_for_each(|(divides, factor)| {
                    out.push(if *divides { '/' } else { '*' });
                    factor.operand(Level::Unary, out, name)
                })
            }
            Self::Pow(base, exponent) => {
                base.operand(Level::Primary, out, name)?;
                out.push('^');
                exponent.operand(Level::Unary, out, name)
            }
            Self::Call(function, arguments) => {
                out.push_str(function.name());
                for (i, argument) in arguments.iter().enumerate() {
                    out.push_str(if i == 0 { "(" } else { ", " });
                    argument.print(out, name)?;
                }
                out.write_char(')')
            }
        }
    }

    fn operand(&self, least: Level, out: &mut String, name: &dyn Fn(usize) -> String) -> fmt::Result {
        if self.level() >= least {
            return self.print(out, name);
        }
        out.push('(');
        self.print(out, name)?;
        out.write_char(')')
    }
}

/// The exponent as a small integer, if it is one: a few products are more accurate than a general power.
fn whole(exponent: &Formula) -> Option<i32> {
    match exponent {
        Formula::Number(n) if n.fract() == 0.0 && *n <= 64.0 => Some(*n as i32),
        Formula::Neg(inner) => whole(inner).map(|n| -n),
        _ => None,
    }
}

impl fmt::Display for Formula {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text(&|column| format!("x{column}")))
    }
}

//! Kernel expressions, which the parser builds.

use std::ops::Range;

use super::named::Named;

/// A kernel expression in two points `x` and `z`.
///
/// Sums and products are n-ary, so that a sum of a thousand kernels is two levels deep. `a - b` is
/// `Sum[a, Neg(b)]`, except that a minus directly before a number belongs to it: `a - 2*b` is
/// `Sum[a, Product[-2, b]]`. `a/b` is [`Expr::Div`].
#[derive(Debug, Clone, PartialEq)]
pub enum Expr {
    /// A finite constant.
    Number(f64),
    /// `<x,z>`, the inner product.
    Dot,
    /// `|x-z|`, the Euclidean distance.
    Distance,
    /// `|x-z|_1`, the sum of the coordinates' absolute differences.
    Distance1,
    /// `|x|`, the Euclidean norm of the first point.
    NormX,
    /// `|z|`, the Euclidean norm of the second point.
    NormZ,
    /// A named kernel with its hyper-parameters.
    Named(Named),
    /// The expression on some of the columns only. Column numbers inside count within this choice.
    Columns(Box<Expr>, Columns),
    /// `a + b + …`, at least two terms.
    Sum(Vec<Expr>),
    /// `a * b * …`, at least two factors.
    Product(Vec<Expr>),
    /// `-a`.
    Neg(Box<Expr>),
    /// `a / b`.
    Div(Box<Expr>, Box<Expr>),
    /// `a ^ b`, right-associative and binding tighter than a leading minus.
    Pow(Box<Expr>, Box<Expr>),
    /// A function of one argument; `min` and `max` take two or more.
    Call(Function, Vec<Expr>),
}

impl Expr {
    /// The operands; empty for an atom, a number or a named kernel.
    #[must_use]
    pub fn children(&self) -> Vec<&Expr> {
        match self {
            Self::Number(_)
            | Self::Dot
            | Self::Distance
            | Self::Distance1
            | Self::NormX
            | Self::NormZ
            | Self::Named(_) => Vec::new(),
            Self::Columns(inner, _) | Self::Neg(inner) => vec![inner],
            Self::Div(a, b) | Self::Pow(a, b) => vec![a, b],
            Self::Sum(operands) | Self::Product(operands) | Self::Call(_, operands) => {
                operands.iter().collect()
            }
        }
    }
}

/// Constructors of formulas, for the families.
impl Expr {
    /// factor·a.
    pub(super) fn scaled(self, factor: f64) -> Self {
        Self::Product(vec![Self::Number(factor), self])
    }

    /// a + c.
    pub(super) fn plus(self, c: f64) -> Self {
        Self::Sum(vec![self, Self::Number(c)])
    }

    /// a^n.
    pub(super) fn power(self, n: f64) -> Self {
        Self::Pow(Box::new(self), Box::new(Self::Number(n)))
    }

    /// a on one column.
    pub(super) fn on_column(self, column: usize) -> Self {
        Self::Columns(Box::new(self), Columns(std::iter::once(column..column + 1).collect()))
    }

    /// f(a).
    pub(super) fn call(self, function: Function) -> Self {
        Self::Call(function, vec![self])
    }
}

/// The functions of the kernel language.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Function {
    /// e^a.
    Exp,
    /// The natural logarithm.
    Log,
    /// Sine, in radians.
    Sin,
    /// Cosine, in radians.
    Cos,
    /// Tangent, in radians.
    Tan,
    /// sin a / a, which is 1 at 0.
    Sinc,
    /// Hyperbolic sine.
    Sinh,
    /// Hyperbolic cosine.
    Cosh,
    /// Hyperbolic tangent.
    Tanh,
    /// Square root.
    Sqrt,
    /// Absolute value.
    Abs,
    /// Inverse sine.
    Asin,
    /// Inverse cosine.
    Acos,
    /// Inverse tangent.
    Atan,
    /// The least of two or more values.
    Min,
    /// The greatest of two or more values.
    Max,
}

impl Function {
    /// Every function, in the order of the language reference.
    pub const ALL: [Self; 16] = [
        Self::Exp,
        Self::Log,
        Self::Sin,
        Self::Cos,
        Self::Tan,
        Self::Sinc,
        Self::Sinh,
        Self::Cosh,
        Self::Tanh,
        Self::Sqrt,
        Self::Abs,
        Self::Asin,
        Self::Acos,
        Self::Atan,
        Self::Min,
        Self::Max,
    ];

    /// The names in kernel text, in the same order.
    const NAMES: [&'static str; 16] = [
        "exp", "log", "sin", "cos", "tan", "sinc", "sinh", "cosh", "tanh", "sqrt", "abs", "asin", "acos",
        "atan", "min", "max",
    ];

    /// The name in kernel text.
    #[must_use]
    pub fn name(self) -> &'static str {
        Self::NAMES[self as usize]
    }

    /// Whether it takes two or more arguments (`min`, `max`) instead of one.
    #[must_use]
    pub fn is_variadic(self) -> bool {
        matches!(self, Self::Min | Self::Max)
    }

    /// Its value; `min` and `max` fold over all arguments, the others use the first.
    #[must_use]
    pub fn apply(self, arguments: &[f64]) -> f64 {
        let a = arguments[0];
        match self {
            Self::Exp => a.exp(),
            Self::Log => a.ln(),
            Self::Sin => a.sin(),
            Self::Cos => a.cos(),
            Self::Tan => a.tan(),
            Self::Sinc if a == 0.0 => 1.0,
            // The limit at ±∞, where the sine of a double is not defined.
            Self::Sinc if a.is_infinite() => 0.0,
            Self::Sinc => a.sin() / a,
            Self::Sinh => a.sinh(),
            Self::Cosh => a.cosh(),
            Self::Tanh => a.tanh(),
            Self::Sqrt => a.sqrt(),
            Self::Abs => a.abs(),
            Self::Asin => a.asin(),
            Self::Acos => a.acos(),
            Self::Atan => a.atan(),
            // NaN among the arguments is propagated: an undefined value stays undefined.
            Self::Min => arguments[1..].iter().fold(a, |m, &v| if m < v || m.is_nan() { m } else { v }),
            Self::Max => arguments[1..].iter().fold(a, |m, &v| if m > v || m.is_nan() { m } else { v }),
        }
    }
}

/// A choice of columns, as ranges in the order written; no column occurs twice.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Columns(pub(crate) Vec<Range<usize>>);

impl Columns {
    /// The columns of these ranges, in their order.
    #[must_use]
    pub fn from_ranges(ranges: Vec<Range<usize>>) -> Self {
        Self(ranges)
    }

    /// The chosen columns in the order written.
    pub fn iter(&self) -> impl Iterator<Item = usize> + '_ {
        self.0.iter().cloned().flatten()
    }

    /// The number of chosen columns.
    #[must_use]
    pub fn len(&self) -> usize {
        self.0.iter().map(ExactSizeIterator::len).sum()
    }

    /// Never true for a parsed choice: `[]` and `[3..3]` are rejected.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// One more than the largest chosen column: the least number of columns the data must have.
    #[must_use]
    pub fn span(&self) -> usize {
        self.0.iter().map(|r| r.end).max().unwrap_or(0)
    }

    /// The same columns in the same order, in as few ranges as possible.
    #[must_use]
    pub(crate) fn joined(self) -> Self {
        let mut ranges: Vec<Range<usize>> = Vec::with_capacity(self.0.len());
        for range in self.0 {
            match ranges.last_mut() {
                Some(last) if last.end == range.start => last.end = range.end,
                _ => ranges.push(range),
            }
        }
        Self(ranges)
    }

    /// The same columns in ascending order.
    #[must_use]
    pub(crate) fn sorted(mut self) -> Self {
        self.0.sort_by_key(|range| range.start);
        self.joined()
    }

    /// The columns that `within` chooses when it counts inside this choice; `None` if it asks for more than there are.
    #[must_use]
    pub(crate) fn compose(&self, within: &Self) -> Option<Self> {
        let starts: Vec<usize> = self
            .0
            .iter()
            .scan(0, |total, range| Some(std::mem::replace(total, *total + range.len())))
            .collect();
        let mut ranges = Vec::new();
        for wanted in &within.0 {
            let mut at = wanted.start;
            while at < wanted.end {
                let i = starts.partition_point(|&start| start <= at).checked_sub(1)?;
                let first = self.0[i].start + (at - starts[i]);
                let length = self.0[i].end.checked_sub(first)?.min(wanted.end - at);
                if length == 0 {
                    return None;
                }
                ranges.push(first..first + length);
                at += length;
            }
        }
        Some(Self(ranges).joined())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn undefined_values_stay_undefined_in_min_and_max() {
        for function in [Function::Min, Function::Max] {
            assert!(function.apply(&[f64::NAN, 1.0]).is_nan());
            assert!(function.apply(&[1.0, f64::NAN, 2.0]).is_nan());
        }
        assert_eq!(Function::Min.apply(&[2.0, 1.0, 3.0]), 1.0);
        assert_eq!(Function::Max.apply(&[2.0, 3.0, 1.0]), 3.0);
    }
}

//! The compiled form of a kernel.

use crate::kernel::lower::{Kind, PointStatistic, Side};
use crate::kernel::{EvalError, Expr, Function, Kernel};

use super::compile::Compiler;
use super::group::Group;

/// A kernel compiled for samples with a given number of columns: the statistics it needs of a pair of rows, and
/// the operations that turn them into its value.
///
/// The value at a pair of rows (x, z) is computed in three stages, each of which another crate can print as source for
/// a device:
///
/// 1. For every [`Group`] the columns `columns` of x and of z are taken and mapped by its embedding.
/// 2. Every [`Statistic`] is computed from the mapped rows of its group.
/// 3. The [`Node`]s are evaluated in order. The last one is k(x, z).
///
/// All of it is arithmetic on real numbers; an engine chooses the precision, may fuse products with sums, and may
/// compute a squared distance as |x|² − 2⟨x,z⟩ + |z|² if rounding allows it.
#[derive(Debug, Clone)]
pub struct Program {
    pub(crate) groups: Vec<Group>,
    pub(crate) statistics: Vec<Statistic>,
    pub(crate) nodes: Vec<Node>,
    /// The nodes of the program's results: k(x, z) alone, or several functions that share nodes.
    pub(crate) outputs: Vec<usize>,
    symmetric: bool,
    ncols: usize,
}

/// A number computed from a pair of rows: the formula [`Kind`] on the mapped rows of a group.
#[derive(Debug, Clone, PartialEq)]
pub struct Statistic {
    /// The formula.
    pub kind: Kind,
    /// The group, as an index in [`Program::groups`].
    pub group: usize,
}

/// One value of the program, computed for every pair of the tile. Operands are earlier nodes, as indices in
/// [`Program::nodes`]; a and b denote their values.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub enum Node {
    /// A constant.
    Number(f64),
    /// A pairwise statistic, as an index in [`Program::statistics`].
    Pair(usize),
    /// A statistic of the row x or z over the columns of a group, without its embedding: |x|, or 1 where |x| ≠ 0 and 0 otherwise.
    Point(PointStatistic, Side, usize),
    /// 1 where x and z are the same row of one set of samples, else 0; always 0 between two sets.
    SameRow,
    /// scale·a + shift.
    Affine {
        /// a.
        of: usize,
        /// The factor.
        scale: f64,
        /// The summand.
        shift: f64,
    },
    /// scale·e^(slope·a + shift).
    Exp {
        /// a.
        of: usize,
        /// The factor in the exponent.
        slope: f64,
        /// The summand in the exponent.
        shift: f64,
        /// The factor of the power.
        scale: f64,
    },
    /// a + b.
    Sum(usize, usize),
    /// a·b.
    Product(usize, usize),
    /// a/b, as IEEE 754 divides.
    Quotient(usize, usize),
    /// a^b, as `f64::powf`.
    Power(usize, usize),
    /// aⁿ, by repeated squaring; 1/a^|n| for negative n.
    IntegerPower(usize, i32),
    /// A function of one argument, as [`Function::apply`]; never `Min` or `Max`.
    Call(Function, usize),
    /// The lesser of a and b; NaN where either is.
    Least(usize, usize),
    /// The greater of a and b; NaN where either is.
    Greatest(usize, usize),
    /// The Matérn function of order ν, 2^(1−ν)/Γ(ν)·s^ν·K_ν(s), at s = √a: [`special::matern`](crate::kernel::special::matern).
    Matern {
        /// ν > 0.
        nu: f64,
        /// a ≥ 0.
        squared: usize,
    },
    /// Jₙ(θ)/π of Cho and Saul (2009) for unit vectors at squared distance a = 2 − 2cos θ, 0 ≤ θ ≤ π:
    ///
    /// ```text
    /// J₀ = π − θ,  J₁ = sin θ + (π − θ)cos θ,  J₂ = 3 sin θ cos θ + (π − θ)(1 + 2cos²θ).
    /// ```
    ArcCosine {
        /// n: 0, 1 or 2.
        order: u8,
        /// a, from 0 to 4.
        chord: usize,
    },
}

impl Node {
    /// The nodes it uses.
    pub fn operands(self) -> impl Iterator<Item = usize> {
        let (a, b) = match self {
            Self::Number(_) | Self::Pair(_) | Self::Point(..) | Self::SameRow => (None, None),
            Self::Affine { of, .. }
            | Self::Exp { of, .. }
            | Self::IntegerPower(of, _)
            | Self::Call(_, of)
            | Self::Matern { squared: of, .. }
            | Self::ArcCosine { chord: of, .. } => (Some(of), None),
            Self::Sum(a, b)
            | Self::Product(a, b)
            | Self::Quotient(a, b)
            | Self::Power(a, b)
            | Self::Least(a, b)
            | Self::Greatest(a, b) => (Some(a), Some(b)),
        };
        a.into_iter().chain(b)
    }
}

impl Program {
    /// Compiles `kernel` for samples of `ncols` columns.
    ///
    /// # Errors
    /// If a hyper-parameter is still `auto` or `?`, or if the kernel uses columns that do not exist.
    pub fn compile(kernel: &Kernel, ncols: usize) -> Result<Self, EvalError> {
        Self::compile_expr(kernel.expr(), ncols)
    }

    /// As [`compile`](Self::compile), from an expression.
    pub(crate) fn compile_expr(expr: &Expr, ncols: usize) -> Result<Self, EvalError> {
        Self::compile_all(std::iter::once(expr), ncols)
    }

    /// One program for several expressions, which share statistics and nodes.
    ///
    /// # Errors
    /// As [`compile`](Self::compile).
    pub(crate) fn compile_all<'e>(
        exprs: impl Iterator<Item = &'e Expr>,
        ncols: usize,
    ) -> Result<Self, EvalError> {
        let mut compiler = Compiler::new(ncols);
        let (mut roots, mut symmetric) = (Vec::new(), true);
        for expr in exprs {
            let root = compiler.expression(expr)?;
            symmetric &= compiler.mirrored(expr)? == root;
            roots.push(root);
        }
        let (groups, statistics, nodes, outputs) = compiler.finish(&roots);
        Ok(Self { groups, statistics, nodes, outputs, symmetric, ncols })
    }

    /// The column groups that statistics are taken over.
    #[must_use]
    pub fn groups(&self) -> &[Group] {
        &self.groups
    }

    /// The statistics of a pair of rows.
    #[must_use]
    pub fn statistics(&self) -> &[Statistic] {
        &self.statistics
    }

    /// The operations, at least one: each uses only nodes before it, and the last one is the kernel's value.
    #[must_use]
    pub fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    /// Whether the expression shows that k(x, z) = k(z, x): a Gram matrix is then computed once per pair.
    #[must_use]
    pub fn is_symmetric(&self) -> bool {
        self.symmetric
    }

    /// The number of columns of the samples.
    #[must_use]
    pub fn ncols(&self) -> usize {
        self.ncols
    }
}

//! The compiled form of a kernel.

use crate::kernel::lower::{Kind, PointStatistic, Side};
use crate::kernel::{EvalError, Expr, Function, Kernel};

use super::compile::Compiler;
use super::group::Group;

/// A kernel compiled for samples with a given number of columns: the statistics it needs of a pair of rows, and
/// the operations that turn them into its value.
#[derive(Debug, Clone)]
pub struct Program {
    pub(crate) groups: Vec<Group>,
    pub(crate) statistics: Vec<Statistic>,
    /// Every node uses only nodes before it; the last one is the kernel's value.
    pub(crate) nodes: Vec<Node>,
    symmetric: bool,
    ncols: usize,
}

/// A number that belongs to a pair of rows, from the features of a group.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Statistic {
    /// What it is.
    pub kind: Kind,
    /// Over which group.
    pub group: usize,
}

/// One value of the program, computed for every pair of the tile.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Node {
    /// A constant.
    Number(f64),
    /// A pairwise statistic, by its place in the list.
    Pair(usize),
    /// A statistic of one row over a group.
    Point(PointStatistic, Side, usize),
    /// scale·a + shift.
    Affine { of: usize, scale: f64, shift: f64 },
    /// scale·e^(slope·a + shift).
    Exp { of: usize, slope: f64, shift: f64, scale: f64 },
    /// a + b.
    Sum(usize, usize),
    /// a·b.
    Product(usize, usize),
    /// a/b.
    Quotient(usize, usize),
    /// a^b.
    Power(usize, usize),
    /// aⁿ.
    IntegerPower(usize, i32),
    /// A function of one argument.
    Call(Function, usize),
    /// The lesser, ignoring NaN.
    Least(usize, usize),
    /// The greater, ignoring NaN.
    Greatest(usize, usize),
    /// The Matérn function of order ν at √a.
    Matern { nu: f64, squared: usize },
    /// Jₙ(θ)/π of Cho and Saul (2009) for unit vectors at squared distance a = 2 − 2cos θ.
    ArcCosine { order: u8, chord: usize },
}

impl Node {
    /// The nodes it uses.
    pub fn operands(self) -> impl Iterator<Item = usize> {
        let (a, b) = match self {
            Self::Number(_) | Self::Pair(_) | Self::Point(..) => (None, None),
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
    /// Where a hyper-parameter is still `auto` or `?`, or where the kernel asks for columns that are not there.
    pub fn compile(kernel: &Kernel, ncols: usize) -> Result<Self, EvalError> {
        Self::compile_expr(kernel.expr(), ncols)
    }

    /// As [`compile`](Self::compile), from an expression.
    pub(crate) fn compile_expr(expr: &Expr, ncols: usize) -> Result<Self, EvalError> {
        let mut compiler = Compiler::new(ncols);
        let root = compiler.expression(expr)?;
        let symmetric = compiler.mirrored(expr)? == root;
        let (groups, statistics, nodes) = compiler.finish(root);
        Ok(Self { groups, statistics, nodes, symmetric, ncols })
    }

    /// The column groups its statistics are summed over.
    pub(crate) fn groups(&self) -> &[Group] {
        &self.groups
    }

    /// Whether k(x, z) = k(z, x) can be seen from the expression: a Gram matrix is then computed once per pair.
    #[must_use]
    pub fn is_symmetric(&self) -> bool {
        self.symmetric
    }

    /// The number of columns it was compiled for.
    #[must_use]
    pub fn ncols(&self) -> usize {
        self.ncols
    }
}

//! The kernel language: text in, expression out, and the readings of it that need no data.

pub mod check;
pub mod error;
pub mod eval;
pub mod expr;
pub mod named;
pub mod special;

pub use error::EvalError;
pub use expr::{Columns, Expr, Function};
pub use named::{Argument, Family, Named, Value};

/// A kernel: an expression in two points.
#[derive(Debug, Clone, PartialEq)]
pub struct Kernel {
    expr: Expr,
}

impl Kernel {
    /// The kernel of an expression.
    #[must_use]
    pub fn from_expr(expr: Expr) -> Self {
        Self { expr }
    }

    /// Its expression.
    #[must_use]
    pub fn expr(&self) -> &Expr {
        &self.expr
    }

    /// Its value at one pair of points; NaN where the formula is undefined there.
    ///
    /// # Errors
    /// Where a hyper-parameter is still `auto` or `?`, or where the points lack columns the kernel asks for.
    pub fn eval(&self, x: &[f64], z: &[f64]) -> Result<f64, EvalError> {
        eval::eval(&self.expr, x, z)
    }
}

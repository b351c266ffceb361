//! The kernel language: parsing and printing, and the interpretations of expressions that need no data.

mod canonical;
pub mod check;
pub mod column_names;
mod compose;
mod cursor;
pub mod error;
pub mod eval;
pub mod expr;
pub mod family;
pub mod formula;
mod gradient;
mod hyper_parameters;
pub mod lower;
pub mod named;
mod parse;
mod parse_atoms;
mod parse_error;
mod print;
mod radial;
#[doc(hidden)]
pub mod random;
mod recognise;
mod resolve;
mod shared_columns;
mod size;
pub mod special;
mod spectral_density;
pub mod spectrum;
mod token;

use std::str::FromStr;
use std::sync::Arc;

pub use column_names::{ColumnNameError, bind_columns, name_columns, names_columns, with_unknown_columns};
pub use compose::ComposeError;
#[doc(hidden)]
pub use cursor::{Cursor, nested};
pub use cursor::{SyntaxProblem, TextError, TextProblem};
pub use error::EvalError;
pub use expr::{Columns, Expr, Function};
pub use family::{FAMILIES, Family, FamilyId};
use formula::Formula;
pub use named::{Argument, Named, Prior, Value};
#[doc(hidden)]
pub use parse_error::nearest;
pub use parse_error::{ParseError, Problem};
#[doc(hidden)]
pub use print::Shortest;
pub use resolve::{ResolveError, Scales, SearchSpace, Tunable};
use size::MAX_STORED_CHARACTERS;
pub use size::{MAX_CHARACTERS, MAX_DEPTH, MAX_NODES, TooLarge, check_size};
pub use spectral_density::Marginal;
pub use spectrum::{Spectrum, SpectrumError};
#[doc(hidden)]
pub use token::{Kind as TokenKind, Token};

/// A kernel: an expression in two points. Two are equal if their expressions are.
#[derive(Debug, Clone)]
pub struct Kernel {
    expr: Expr,
    /// The formula as written, if it came from a text: its numbers are not rounded.
    written: Option<Arc<Formula>>,
}

impl PartialEq for Kernel {
    fn eq(&self, other: &Self) -> bool {
        self.expr == other.expr
    }
}

impl Kernel {
    /// The kernel of an expression, without checks: one that did not come from text or from another kernel should pass
    /// [`check_size`] first, so that recursion over it cannot exhaust the stack.
    #[must_use]
    pub fn from_expr(expr: Expr) -> Self {
        Self { expr, written: None }
    }

    fn from_written((expr, written): (Expr, Formula)) -> Self {
        Self { expr, written: Some(Arc::new(written)) }
    }

    /// The formula that [`check`](Self::check) reasons about: as written, or, if it did not come from a text, with each
    /// number read as its shortest decimal.
    #[must_use]
    pub fn formula(&self) -> Formula {
        let written = self.written.as_ref().map(|written| Formula::clone(written));
        written.unwrap_or_else(|| Formula::of(&self.expr)).numbered()
    }

    /// Its expression.
    #[must_use]
    pub fn expr(&self) -> &Expr {
        &self.expr
    }

    /// The canonical form: the same value, up to rounding, in a form that equal kernels share.
    ///
    /// Constants are folded, sums and products flattened, collected and sorted, quotients written as powers, and
    /// formulas recognised as named kernels.
    ///
    /// ```
    /// use mercer_kernel::Kernel;
    /// let kernel: Kernel = "exp(-|x-z|^2/(2*4))".parse()?;
    /// assert_eq!(kernel.canonical().to_string(), "rbf(sigma=2)");
    /// # Ok::<(), mercer_kernel::ParseError>(())
    /// ```
    #[must_use]
    pub fn canonical(&self) -> Self {
        Self::from_expr(canonical::canonical(&self.expr))
    }

    /// Its value at one pair of points; NaN where the formula is undefined there.
    ///
    /// # Errors
    /// If a hyper-parameter is still `auto` or `?`, or if the points lack columns that the kernel uses.
    pub fn eval(&self, x: &[f64], z: &[f64]) -> Result<f64, EvalError> {
        eval::eval(&self.expr, x, z)
    }
}

/// Reads a kernel text of at most [`MAX_CHARACTERS`] characters.
///
/// Printing is the inverse, but a printed kernel names every hyper-parameter: a text near the limit may print to a
/// longer one, which serde still reads.
impl FromStr for Kernel {
    type Err = ParseError;

    fn from_str(text: &str) -> Result<Self, ParseError> {
        parse::parse(text, MAX_CHARACTERS).map(Self::from_written)
    }
}

impl serde::Serialize for Kernel {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// Reads the output of [`Serialize`](serde::Serialize), which may be longer than the limit for kernel texts.
impl<'de> serde::Deserialize<'de> for Kernel {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        parse::parse(&text, MAX_STORED_CHARACTERS).map(Self::from_written).map_err(serde::de::Error::custom)
    }
}

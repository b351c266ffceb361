//! The derivatives of a kernel in its hyper-parameters, as kernels of the same language.

use super::Kernel;
use super::expr::{Expr, Function};
use super::family::above_zero;
use super::resolve::{ResolveError, Tunable};

impl Kernel {
    /// ∂k/∂log θ for each of its [`tunables`](Self::tunables), in their order, at `values`, on points of `columns` coordinates.
    ///
    /// Each is an expression of the kernel language, so that it is evaluated, printed and compiled like a kernel; it need not be
    /// positive semidefinite. Unknowns are numbers > 0, and derivatives in their logarithms have the scale of the
    /// kernel for any unit of θ.
    ///
    /// ```
    /// use mercer_kernel::Kernel;
    /// let kernel: Kernel = "?*rbf(sigma=?)".parse()?;
    /// let gradient = kernel.gradient(&[3.0, 2.0], 1)?;
    /// assert_eq!(gradient[0].to_string(), "const(value=3)*rbf(sigma=2)");
    /// assert_eq!(gradient[1].eval(&[0.0], &[1.0])?, 3.0 * (-0.125f64).exp() * 0.25);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// If the number of values differs or one is out of range; if an unknown is a choice, such as a degree, or stands
    /// inside of `min` or `max`; or if `[?]` has not been given its columns by [`resolve_auto`](Self::resolve_auto).
    pub fn gradient(&self, values: &[f64], columns: usize) -> Result<Vec<Self>, ResolveError> {
        let filled = self.with_values(values)?;
        let derivative = |tunable: &Tunable| derivative(filled.expr(), &tunable.path, tunable, columns);
        self.tunables()?.iter().map(|tunable| derivative(tunable).map(Self::from_expr)).collect()
    }
}

/// The derivative of `expr` in the hyper-parameter `of`, whose named kernel is at the end of `path`, by the chain rule.
fn derivative(expr: &Expr, path: &[usize], of: &Tunable, columns: usize) -> Result<Expr, ResolveError> {
    if let Expr::Named(named) = expr {
        let (family, parameter) = (of.family.name(), of.parameter);
        let found = named.family.derivative(named, of.slot, of.column, columns);
        return found.ok_or(ResolveError::NoDerivative { family, parameter });
    }
    // Every path ends at a named kernel.
    let Some((&place, rest)) = path.split_first() else { return Ok(Expr::Number(0.0)) };
    let inner = |operand: &Expr, columns: usize| derivative(operand, rest, of, columns);
    let boxed = |a: Expr| Box::new(a);
    Ok(match expr {
        Expr::Columns(operand, chosen) => Expr::Columns(boxed(inner(operand, chosen.len())?), chosen.clone()),
        Expr::Sum(terms) => inner(&terms[place], columns)?,
        Expr::Product(factors) => {
            let mut factors = factors.clone();
            factors[place] = inner(&factors[place], columns)?;
            Expr::Product(factors)
        }
        Expr::Neg(operand) => Expr::Neg(boxed(inner(operand, columns)?)),
        Expr::Div(a, b) if place == 0 => Expr::Div(boxed(inner(a, columns)?), b.clone()),
        Expr::Div(a, b) => {
            let numerator = Expr::Product(vec![(**a).clone(), inner(b, columns)?]);
            Expr::Neg(boxed(Expr::Div(boxed(numerator), boxed(b.as_ref().clone().power(2.0)))))
        }
        Expr::Pow(base, exponent) if place == 0 => {
            let lowered = Expr::Pow(base.clone(), boxed(exponent.as_ref().clone().plus(-1.0)));
            Expr::Product(vec![(**exponent).clone(), lowered, inner(base, columns)?])
        }
        Expr::Pow(base, exponent) => {
            // 0 to a positive power does not depend on the power.
            let log = above_zero((**base).clone()).call(Function::Log);
            Expr::Product(vec![expr.clone(), log, inner(exponent, columns)?])
        }
        Expr::Call(function, arguments) => {
            let slope =
                slope(*function, &arguments[0]).ok_or(ResolveError::Corner { function: function.name() })?;
            Expr::Product(vec![slope, inner(&arguments[place], columns)?])
        }
        _ => Expr::Number(0.0),
    })
}

/// f′(a), if f has a derivative; at a corner of a root or an absolute value, some finite number.
fn slope(function: Function, a: &Expr) -> Option<Expr> {
    let of = |function: Function| a.clone().call(function);
    let over = |numerator: Expr, denominator: Expr| Expr::Div(Box::new(numerator), Box::new(denominator));
    let one = Expr::Number(1.0);
    let square = |a: Expr| a.power(2.0);
    Some(match function {
        Function::Exp => of(Function::Exp),
        Function::Log => over(one, a.clone()),
        Function::Sin => of(Function::Cos),
        Function::Cos => of(Function::Sin).scaled(-1.0),
        Function::Tan => square(of(Function::Tan)).plus(1.0),
        Function::Sinc => {
            let difference = Expr::Sum(vec![of(Function::Cos), of(Function::Sinc).scaled(-1.0)]);
            over(Expr::Product(vec![a.clone(), difference]), above_zero(square(a.clone())))
        }
        Function::Sinh => of(Function::Cosh),
        Function::Cosh => of(Function::Sinh),
        // 1 − tanh² has no digits where tanh is near ±1.
        Function::Tanh => of(Function::Cosh).power(-2.0),
        Function::Sqrt => over(one, above_zero(of(Function::Sqrt)).scaled(2.0)),
        Function::Abs => over(a.clone(), above_zero(of(Function::Abs))),
        Function::Asin => over(one, square(a.clone()).scaled(-1.0).plus(1.0).call(Function::Sqrt)),
        Function::Acos => {
            over(one, square(a.clone()).scaled(-1.0).plus(1.0).call(Function::Sqrt)).scaled(-1.0)
        }
        Function::Atan => over(one, square(a.clone()).plus(1.0)),
        Function::Min | Function::Max => return None,
    })
}

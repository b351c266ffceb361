//! Named kernels as formulas of atoms.

use super::expr::{Expr, Function};
use super::named::{Family, Named};

impl Named {
    /// The kernel as a formula of atoms and functions, equal to it at every pair of points; none where the
    /// language cannot write it or where a hyper-parameter is no single number.
    ///
    /// `cosine` and `arccos` have none because they are 0 at the zero vector, where their formulas are undefined.
    #[must_use]
    pub fn expand(&self) -> Option<Expr> {
        let number = |slot: usize| self.number(slot).ok();
        let scaled = |factor: f64, expr: Expr| Expr::Product(vec![Expr::Number(factor), expr]);
        let plus = |expr: Expr, c: f64| Expr::Sum(vec![expr, Expr::Number(c)]);
        let power = |base: Expr, n: f64| Expr::Pow(Box::new(base), Box::new(Expr::Number(n)));
        let exp = |argument: Expr| Expr::Call(Function::Exp, vec![argument]);
        Some(match self.family {
            Family::Linear => Expr::Dot,
            Family::Polynomial => power(plus(scaled(number(1)?, Expr::Dot), number(2)?), number(0)?),
            Family::Gaussian => {
                let width = number(0)?;
                let gamma = if self.spelling(0).name == "sigma" { 0.5 / (width * width) } else { width };
                exp(scaled(-gamma, power(Expr::Distance, 2.0)))
            }
            Family::Laplacian => exp(scaled(-number(0)?, Expr::Distance1)),
            Family::Matern => {
                let nu = number(0)?;
                let rate = (2.0 * nu).sqrt() / number(1)?;
                let decay = exp(scaled(-rate, Expr::Distance));
                let polynomial = vec![Expr::Number(1.0), scaled(rate, Expr::Distance)];
                let square = scaled(rate * rate / 3.0, power(Expr::Distance, 2.0));
                match nu {
                    0.5 => decay,
                    1.5 => Expr::Product(vec![Expr::Sum(polynomial), decay]),
                    2.5 => Expr::Product(vec![Expr::Sum([polynomial, vec![square]].concat()), decay]),
                    _ => return None,
                }
            }
            Family::RationalQuadratic => {
                let (alpha, length) = (number(0)?, number(1)?);
                power(plus(scaled(0.5 / (alpha * length * length), power(Expr::Distance, 2.0)), 1.0), -alpha)
            }
            Family::Sigmoid => {
                Expr::Call(Function::Tanh, vec![plus(scaled(number(0)?, Expr::Dot), number(1)?)])
            }
            Family::Periodic | Family::Cosine | Family::ChiSquared | Family::ArcCosine => return None,
        })
    }
}

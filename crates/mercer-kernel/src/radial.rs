//! Radial kernels: weights of a smoother, their sign, and their logarithm where they underflow.

use super::expr::{Expr, Function};
use super::family::Invariance;
use super::size::check_size;
use super::{Kernel, eval};

impl Kernel {
    /// Whether its value depends only on distances between the two points: `rbf`, `laplacian`, `matern`, `rq` and
    /// formulas of those, of `|x-z|` and of `|x-z|_1`, each on all columns or on some.
    #[must_use]
    pub fn is_radial(&self) -> bool {
        is_radial(&self.expr)
    }

    /// Whether the formula of a radial kernel shows that it is 0 or more at every distance, up to rounding. `false`
    /// means unknown.
    #[must_use]
    pub fn is_visibly_nonnegative(&self) -> bool {
        range(&self.expr).0 >= 0.0
    }

    /// log k of a radial kernel that is nowhere negative, as a formula that is finite where k itself underflows.
    ///
    /// −|x−z|²/(2σ²) of `rbf`, sums for products, max + log Σ exp(· − max) for sums; where no rule applies, the
    /// logarithm of the value. For `matern` with ν other than ½, 1½ and 2½ it is the leading term for large distances,
    /// up to a constant: (ν−½) log r − r. `None` if the formula would be larger than a kernel may be.
    #[must_use]
    pub fn logarithm(&self) -> Option<Self> {
        let expr = logarithm(&self.expr);
        check_size(&expr).ok().map(|()| Self::from_expr(expr))
    }
}

fn is_radial(expr: &Expr) -> bool {
    match expr {
        Expr::Dot | Expr::NormX | Expr::NormZ => false,
        Expr::Named(named) => named.family.invariance() == Invariance::Radial,
        _ => expr.children().into_iter().all(is_radial),
    }
}

/// Bounds of a radial expression over all distances ≥ 0.
fn range(expr: &Expr) -> (f64, f64) {
    const EVERYTHING: (f64, f64) = (f64::NEG_INFINITY, f64::INFINITY);
    let known =
        |(low, high): (f64, f64)| if low.is_nan() || high.is_nan() { EVERYTHING } else { (low, high) };
    let within = |low: f64, high: f64| (low.min(high), low.max(high));
    if let Some(value) = eval::constant(expr) {
        return known((value, value));
    }
    known(match expr {
        Expr::Number(value) => (*value, *value),
        Expr::Distance | Expr::Distance1 | Expr::NormX | Expr::NormZ => (0.0, f64::INFINITY),
        Expr::Named(named) => named.bounds().unwrap_or(EVERYTHING),
        Expr::Dot => EVERYTHING,
        Expr::Columns(inner, _) => range(inner),
        Expr::Sum(terms) => terms.iter().map(range).fold((0.0, 0.0), |(a, b), (c, d)| (a + c, b + d)),
        Expr::Product(factors) => factors.iter().map(range).fold((1.0, 1.0), product),
        Expr::Neg(inner) => {
            let (low, high) = range(inner);
            (-high, -low)
        }
        Expr::Div(numerator, denominator) => product(range(numerator), power(range(denominator), -1.0)),
        Expr::Pow(base, exponent) => match (range(base), range(exponent)) {
            (base, (low, high)) if low == high => power(base, low),
            // e^(b·log a), of which only the sign is known.
            ((low, _), _) if low >= 0.0 => (0.0, f64::INFINITY),
            _ => EVERYTHING,
        },
        Expr::Call(function, arguments) => {
            let (low, high) = range(&arguments[0]);
            match function {
                Function::Exp => (low.exp(), high.exp()),
                Function::Log if low >= 0.0 => (low.ln(), high.ln()),
                Function::Sqrt => (low.max(0.0).sqrt(), high.max(0.0).sqrt()),
                Function::Sin | Function::Cos | Function::Sinc => (-1.0, 1.0),
                Function::Sinh => (low.sinh(), high.sinh()),
                Function::Cosh => (1.0, f64::INFINITY),
                Function::Tanh => (low.tanh(), high.tanh()),
                Function::Atan => (low.atan(), high.atan()),
                Function::Abs if low >= 0.0 || high <= 0.0 => within(low.abs(), high.abs()),
                Function::Abs => (0.0, low.abs().max(high)),
                Function::Min => arguments
                    .iter()
                    .map(range)
                    .fold((f64::INFINITY, f64::INFINITY), |m, v| (m.0.min(v.0), m.1.min(v.1))),
                Function::Max => arguments
                    .iter()
                    .map(range)
                    .fold((f64::NEG_INFINITY, f64::NEG_INFINITY), |m, v| (m.0.max(v.0), m.1.max(v.1))),
                Function::Acos => (0.0, std::f64::consts::PI),
                Function::Log | Function::Tan | Function::Asin => EVERYTHING,
            }
        }
    })
}

/// The range of a product; 0·∞ is 0, since distances are finite.
fn product(a: (f64, f64), b: (f64, f64)) -> (f64, f64) {
    let times = |a: f64, b: f64| if a == 0.0 || b == 0.0 { 0.0 } else { a * b };
    let ends = [times(a.0, b.0), times(a.0, b.1), times(a.1, b.0), times(a.1, b.1)];
    (ends.into_iter().fold(f64::INFINITY, f64::min), ends.into_iter().fold(f64::NEG_INFINITY, f64::max))
}

/// The range of a power with a constant exponent.
fn power((low, high): (f64, f64), exponent: f64) -> (f64, f64) {
    let (a, b) = (low.abs().powf(exponent), high.abs().powf(exponent));
    let even = exponent.rem_euclid(2.0) == 0.0;
    match (low >= 0.0, exponent > 0.0) {
        (true, true) => (a, b),
        (true, false) => (b, a),
        (false, true) if even => (0.0, a.max(b)),
        (false, false) if even => (0.0, f64::INFINITY),
        _ => (f64::NEG_INFINITY, f64::INFINITY),
    }
}

fn log(expr: Expr) -> Expr {
    Expr::Call(Function::Log, vec![expr])
}

fn logarithm(expr: &Expr) -> Expr {
    let nonnegative = |expr: &Expr| range(expr).0 >= 0.0;
    match expr {
        Expr::Named(named) => named.family.logarithm(named).unwrap_or_else(|| log(expr.clone())),
        Expr::Columns(inner, columns) => Expr::Columns(Box::new(logarithm(inner)), columns.clone()),
        Expr::Call(Function::Exp, arguments) => arguments[0].clone(),
        Expr::Call(Function::Sqrt, arguments) if nonnegative(&arguments[0]) => {
            logarithm(&arguments[0]).scaled(0.5)
        }
        Expr::Product(factors) if factors.iter().all(nonnegative) => {
            Expr::Sum(factors.iter().map(logarithm).collect())
        }
        Expr::Div(a, b) if nonnegative(a) && nonnegative(b) => {
            Expr::Sum(vec![logarithm(a), Expr::Neg(Box::new(logarithm(b)))])
        }
        Expr::Pow(base, exponent) if nonnegative(base) => {
            Expr::Product(vec![exponent.as_ref().clone(), logarithm(base)])
        }
        Expr::Sum(terms) if terms.iter().all(nonnegative) => {
            let terms: Vec<Expr> = terms.iter().map(logarithm).collect();
            let largest = Expr::Call(Function::Max, terms.clone());
            let relative = terms.into_iter().map(|term| {
                let below = Expr::Sum(vec![term, Expr::Neg(Box::new(largest.clone()))]);
                Expr::Call(Function::Exp, vec![below])
            });
            Expr::Sum(vec![largest.clone(), log(Expr::Sum(relative.collect()))])
        }
        _ => log(expr.clone()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kernel(text: &str) -> Kernel {
        text.parse().unwrap()
    }

    #[test]
    fn radial_is_what_uses_distances_alone() {
        for text in
            ["rbf(sigma=2)", "laplacian[0]*matern(nu=1.5)[1]", "max(0, 1-|x-z|)", "rq + exp(-|x-z|_1)"]
        {
            assert!(kernel(text).is_radial(), "{text}");
        }
        for text in ["linear", "rbf + <x,z>", "periodic", "|x-z|*|x|", "chi2"] {
            assert!(!kernel(text).is_radial(), "{text}");
        }
    }

    #[test]
    fn the_sign_is_seen_from_the_formula() {
        let visible = [
            "rbf",
            "max(0, 1-|x-z|)",
            "1+cos(|x-z|)",
            "(1-|x-z|^2)^2",
            "1/(1+|x-z|)",
            "1/|x-z|^2",
            "exp(-|x-z|^1.5)",
            "2*rbf + matern(nu=2.5)",
            "0.5^|x-z|",
            "1 - tanh(|x-z|)",
            "exp(-|x-z|_1)/(1+|x-z|^2)",
        ];
        for text in visible {
            assert!(kernel(text).is_visibly_nonnegative(), "{text}");
        }
        for text in ["1-|x-z|", "cos(|x-z|)", "-rbf", "rbf - 2*rbf(sigma=3)", "(1-|x-z|)^3"] {
            assert!(!kernel(text).is_visibly_nonnegative(), "{text}");
        }
    }

    #[test]
    fn the_logarithm_matches_the_value() {
        let texts = [
            "rbf(sigma=2)",
            "rbf(gamma=0.3)",
            "laplacian(gamma=0.7)",
            "matern(nu=0.5, length=2)",
            "matern(nu=1.5)",
            "matern(nu=2.5, length=0.5)",
            "rq(alpha=1.5, length=2)",
            "rbf(sigma=[1,2,0.5])",
            "laplacian(gamma=[1,2,3])",
            "rq(alpha=2, length=[1,2,3])",
            "matern(nu=1.5, length=[1,2,3])",
            "2*rbf*laplacian",
            "rbf(sigma=1)^3",
            "0.3*rbf(sigma=1) + 2*rbf(sigma=9) + laplacian",
            "1/(1+|x-z|^2)",
            "rbf[0..2]*matern(nu=1.5)[2]",
            "sqrt(rbf)",
            "max(0, 20-|x-z|)",
            "exp(-|x-z|)*(1+cos(|x-z|))",
        ];
        let (x, z) = ([0.3, -1.2, 2.0], [1.1, 0.4, 1.5]);
        for text in texts {
            let k = kernel(text);
            let (value, log) = (k.eval(&x, &z).unwrap(), k.logarithm().unwrap().eval(&x, &z).unwrap());
            assert!((value.ln() - log).abs() < 1e-12 * (1.0 + log.abs()), "{text}: {} ≠ {log}", value.ln());
        }
    }

    #[test]
    fn the_logarithm_is_finite_where_the_value_underflows() {
        let (x, z) = ([0.0], [1e4]);
        for text in
            ["rbf", "laplacian", "matern(nu=1.5)", "matern(nu=0.8)", "rbf + 3*rbf(sigma=2)", "rbf*laplacian"]
        {
            let k = kernel(text);
            assert_eq!(k.eval(&x, &z).unwrap(), 0.0, "{text}");
            assert!(k.logarithm().unwrap().eval(&x, &z).unwrap() < -1e3, "{text}");
        }
        // The leading term of another order: differences of logarithms agree at large distances.
        let k = kernel("matern(nu=0.8)");
        let log = |r: f64| k.logarithm().unwrap().eval(&[0.0], &[r]).unwrap();
        let value = |r: f64| k.eval(&[0.0], &[r]).unwrap().ln();
        assert!(((log(300.0) - log(200.0)) - (value(300.0) - value(200.0))).abs() < 1e-3);
    }
}

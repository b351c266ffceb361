//! The first coefficients of a power series, by truncated series arithmetic: for the reader, and to find negative ones.

use num_traits::{One, Signed, Zero};

use crate::check::exact::{self, Q, as_integer, int};
use crate::check::form::{Atom, Form, Fun, Monomial};
use crate::check::steps;

/// Coefficients up to a fixed order; irrational constants are replaced by nearby rationals.
type Series = Vec<Q>;

/// The bits that a coefficient may have.
const MOST_BITS: u64 = 6_000;

/// The coefficients of `function` below order `n`, and whether they are exact; `None` if they are too long to hold.
pub fn first(function: &Form, n: usize) -> Option<(Series, bool)> {
    if function.constant_bits().saturating_mul(n as u64) > MOST_BITS {
        return None;
    }
    let mut exact = true;
    let series = of_form(function, n, &mut exact)?;
    Some((series, exact))
}

/// "coefficients 1, 2, 1/2, 0 … all ≥ 0, because …", where there is more than one.
pub fn explain(function: &Form, base: &Form) -> Option<String> {
    let (coefficients, exact) = first(function, 16)?;
    if !exact || function.single().is_some_and(|(m, _)| matches!(m.single(), Some((Atom::Var, _)))) {
        return None;
    }
    let shown: Vec<String> = coefficients.iter().take(8).map(exact::show).collect();
    let polynomial = function.0.keys().all(|m| m.0.keys().all(|a| *a == Atom::Var));
    let reason = if polynomial {
        String::new()
    } else if let Some(pattern) = factorial_pattern(&coefficients) {
        format!(", because n!·aₙ = ({pattern} by n mod 4) ≥ 0 for every n")
    } else {
        ", shown for every n by exact comparison of their ratios".into()
    };
    let dots = if polynomial { "" } else { " …" };
    Some(format!(
        "power series in {base} with coefficients {}{dots} all ≥ 0{reason}; powers of a kernel are kernels (Schur), and so are their limits",
        shown.join(", ")
    ))
}

fn factorial_pattern(coefficients: &[Q]) -> Option<String> {
    let scaled: Vec<Q> =
        coefficients.iter().enumerate().map(|(n, c)| c * exact::factorial(n as u64)).collect();
    let periodic = (4..scaled.len()).all(|n| scaled[n] == scaled[n - 4]);
    periodic.then(|| scaled[..4].iter().map(exact::show).collect::<Vec<_>>().join(", "))
}

fn of_form(form: &Form, n: usize, exact: &mut bool) -> Option<Series> {
    let mut sum = vec![Q::zero(); n];
    for (m, c) in &form.0 {
        for (total, v) in sum.iter_mut().zip(of_monomial(m, n, exact)?) {
            *total += v * c;
        }
    }
    Some(sum)
}

fn of_monomial(m: &Monomial, n: usize, exact: &mut bool) -> Option<Series> {
    let mut product = constant(Q::one(), n);
    for (atom, e) in &m.0 {
        let factor = match atom {
            Atom::Var => {
                let k = as_integer(e).and_then(|k| usize::try_from(k).ok())?;
                let mut series = vec![Q::zero(); n];
                if k < n {
                    series[k] = Q::one();
                }
                series
            }
            Atom::Exp(inner) => {
                exp(&of_monomial(inner, n, exact)?.iter().map(|c| c * e).collect::<Vec<_>>(), exact)?
            }
            Atom::Power(base) => power(&of_form(base, n, exact)?, e, exact)?,
            Atom::Call(fun, args) => power(&call(*fun, &of_form(&args[0], n, exact)?, exact)?, e, exact)?,
            Atom::Pi => constant(near(std::f64::consts::PI, exact).map(|v| v * int(1))?, n),
            _ => return None,
        };
        product = mul(&product, &factor);
    }
    Some(product)
}

fn constant(value: Q, n: usize) -> Series {
    let mut series = vec![Q::zero(); n];
    if n > 0 {
        series[0] = value;
    }
    series
}

fn near(value: f64, exact: &mut bool) -> Option<Q> {
    *exact = false;
    exact::from_decimal(value)
}

/// f(c₀) for the constant term: exact at 0, near otherwise.
fn start(c: &Q, at_zero: i64, f: impl Fn(f64) -> f64, exact: &mut bool) -> Option<Q> {
    if c.is_zero() { Some(int(at_zero)) } else { near(f(exact::to_f64(c)), exact) }
}

/// Counts the steps of `terms` products whose sums are as long as `like`.
fn count(terms: usize, like: Option<&Q>) {
    let words = like.map_or(0, |q| q.numer().bits().max(q.denom().bits())) as usize / 64;
    steps::count(terms * (8 + words * words));
}

fn mul(p: &[Q], q: &[Q]) -> Series {
    let n = p.len();
    let mut product = vec![Q::zero(); n];
    for (i, a) in p.iter().enumerate().filter(|(_, a)| !a.is_zero()) {
        for j in 0..n - i {
            product[i + j] += a * &q[j];
        }
    }
    count(n * n / 2, product.last());
    product
}

fn derivative(p: &[Q]) -> Series {
    (0..p.len()).map(|i| p.get(i + 1).map_or_else(Q::zero, |c| c * int(i as i64 + 1))).collect()
}

fn integral(p: &[Q], at_zero: Q) -> Series {
    let mut result = vec![at_zero];
    result.extend(p[..p.len() - 1].iter().enumerate().map(|(i, c)| c / int(i as i64 + 1)));
    result
}

/// g′ = f′g.
fn exp(f: &[Q], exact: &mut bool) -> Option<Series> {
    let mut g = vec![start(&f[0], 1, f64::exp, exact)?];
    for n in 1..f.len() {
        let sum = (1..=n).fold(Q::zero(), |s, k| s + int(k as i64) * &f[k] * &g[n - k]);
        g.push(sum / int(n as i64));
        count(n, g.last());
    }
    Some(g)
}

/// f·g′ = e·f′·g.
fn power(f: &[Q], e: &Q, exact: &mut bool) -> Option<Series> {
    if let Some(n) = as_integer(e).filter(|n| (0..=64).contains(n)) {
        return Some((0..n).fold(constant(Q::one(), f.len()), |p, _| mul(&p, f)));
    }
    if f[0].is_zero() {
        return None;
    }
    let first = match exact::rational_power(&f[0], e) {
        Some(v) => v,
        None => near(exact::to_f64(&f[0]).powf(exact::to_f64(e)), exact)?,
    };
    let mut g = vec![first];
    for n in 1..f.len() {
        let sum =
            (1..=n).fold(Q::zero(), |s, k| s + (e * int(k as i64) - int((n - k) as i64)) * &f[k] * &g[n - k]);
        g.push(sum / (int(n as i64) * &f[0]));
        count(n, g.last());
    }
    Some(g)
}

fn call(fun: Fun, f: &[Q], exact: &mut bool) -> Option<Series> {
    let n = f.len();
    let one = || constant(Q::one(), n);
    let minus = |p: &[Q], q: &[Q]| p.iter().zip(q).map(|(a, b)| a - b).collect::<Vec<_>>();
    let slope = derivative(f);
    match fun {
        Fun::Log => {
            let c = if f[0].is_one() { Q::zero() } else { near(exact::to_f64(&f[0]).ln(), exact)? };
            Some(integral(&mul(&slope, &power(f, &-Q::one(), exact)?), c))
        }
        Fun::Sin | Fun::Cos | Fun::Sinh | Fun::Cosh => {
            let hyperbolic = matches!(fun, Fun::Sinh | Fun::Cosh);
            let (mut s, mut c) = if hyperbolic {
                (vec![start(&f[0], 0, f64::sinh, exact)?], vec![start(&f[0], 1, f64::cosh, exact)?])
            } else {
                (vec![start(&f[0], 0, f64::sin, exact)?], vec![start(&f[0], 1, f64::cos, exact)?])
            };
            for i in 1..n {
                let pair = |g: &[Q]| {
                    (1..=i).fold(Q::zero(), |t, k| t + int(k as i64) * &f[k] * &g[i - k]) / int(i as i64)
                };
                let (next_s, next_c) = (pair(&c), pair(&s));
                s.push(next_s);
                count(2 * i, s.last());
                c.push(if hyperbolic { next_c } else { -next_c });
            }
            Some(if matches!(fun, Fun::Sin | Fun::Sinh) { s } else { c })
        }
        Fun::Tan | Fun::Tanh => {
            let (top, bottom) = if fun == Fun::Tan { (Fun::Sin, Fun::Cos) } else { (Fun::Sinh, Fun::Cosh) };
            let below = power(&call(bottom, f, exact)?, &-Q::one(), exact)?;
            Some(mul(&call(top, f, exact)?, &below))
        }
        Fun::Sinc if f[0].is_zero() => {
            // Σ (−1)^k·f^(2k)/(2k+1)!
            let square = mul(f, f);
            let (mut power, mut sum) = (one(), vec![Q::zero(); n]);
            for k in 0..=n as u64 / 2 {
                let factor = exact::factorial(2 * k + 1).recip();
                for (total, c) in sum.iter_mut().zip(&power) {
                    *total += if k % 2 == 0 { c * &factor } else { -(c * &factor) };
                }
                power = mul(&power, &square);
            }
            Some(sum)
        }
        Fun::Sinc => Some(mul(&call(Fun::Sin, f, exact)?, &power(f, &-Q::one(), exact)?)),
        Fun::Asin => {
            let c = start(&f[0], 0, f64::asin, exact)?;
            let root = power(&minus(&one(), &mul(f, f)), &exact::ratio(-1, 2), exact)?;
            Some(integral(&mul(&slope, &root), c))
        }
        Fun::Atan => {
            let c = start(&f[0], 0, f64::atan, exact)?;
            let square = mul(f, f);
            let below: Series = one().iter().zip(&square).map(|(a, b)| a + b).collect();
            Some(integral(&mul(&slope, &power(&below, &-Q::one(), exact)?), c))
        }
        Fun::Abs if f[0].is_positive() => Some(f.to_vec()),
        Fun::Abs | Fun::Min | Fun::Max => None,
    }
}

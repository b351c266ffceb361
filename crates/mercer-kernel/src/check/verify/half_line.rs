//! Kernels of s = |x| and t = |z| on the half-line: functions of min(s,t) and max(s,t).

use std::collections::BTreeMap;

use num_traits::{One, Signed, Zero};

use super::pattern::{natural, symmetric};
use super::piecewise::nonnegative_between;
use super::polynomial::{self, Polynomial};
use super::range::Range;
use super::{finite_rank, polya};
use crate::check::Domain;
use crate::check::exact::{self, Q, binomial, int};
use crate::check::form::{Atom, Cols, Form, Fun, Monomial, Space};
use crate::check::steps;

/// Coefficients of mⁱ·Mʲ, m the lesser and M the greater of the two norms.
type Pairs = BTreeMap<(usize, usize), Q>;

/// The highest power of m or M.
const HIGHEST: usize = 16;

fn times(p: &Pairs, q: &Pairs) -> Option<Pairs> {
    let mut product = Pairs::new();
    for ((i, j), a) in p {
        for ((k, l), b) in q {
            if i + k > HIGHEST || j + l > HIGHEST {
                return None;
            }
            *product.entry((i + k, j + l)).or_default() += a * b;
        }
    }
    steps::count(20 * p.len() * q.len());
    product.retain(|_, c| !c.is_zero());
    Some(product)
}

/// Reads a form with |x| as one of m and M and |z| as the other.
struct Reader<'a> {
    space: &'a Space,
    x_is_less: bool,
    cols: Option<Cols>,
}

impl Reader<'_> {
    fn form(&mut self, form: &Form) -> Option<Pairs> {
        let mut sum = Pairs::new();
        for (m, c) in &form.0 {
            let mut product = Pairs::from([((0, 0), c.clone())]);
            for (atom, e) in &m.0 {
                let factor = self.atom(atom)?;
                for _ in 0..natural(e).filter(|n| *n <= HIGHEST)? {
                    product = times(&product, &factor)?;
                }
            }
            for (key, c) in product {
                *sum.entry(key).or_default() += c;
            }
        }
        sum.retain(|_, c| !c.is_zero());
        Some(sum)
    }

    fn atom(&mut self, atom: &Atom) -> Option<Pairs> {
        let (less, greater) = (Pairs::from([((1, 0), Q::one())]), Pairs::from([((0, 1), Q::one())]));
        let gap = || Pairs::from([((1, 0), int(-1)), ((0, 1), Q::one())]);
        // On a line of points ≥ 0 the distance and the product are those of the norms.
        let on_half_line =
            |cols: &Cols| self.space.domain == Domain::Orthant && self.space.width(cols) == Some(1);
        let (cols, value) = match atom {
            Atom::NormX(cols) => (cols, if self.x_is_less { less } else { greater }),
            Atom::NormZ(cols) => (cols, if self.x_is_less { greater } else { less }),
            Atom::Distance(cols) if on_half_line(cols) => (cols, gap()),
            Atom::Dot(cols) if on_half_line(cols) => (cols, Pairs::from([((1, 1), Q::one())])),
            Atom::Call(fun @ (Fun::Min | Fun::Max | Fun::Abs), args) => return self.call(*fun, args),
            _ => return None,
        };
        if self.cols.as_ref().is_some_and(|known| known != cols) {
            return None;
        }
        self.cols = Some(cols.clone());
        Some(value)
    }

    /// min and max of c·|x|^k and c·|z|^k, and the absolute value of their difference.
    fn call(&mut self, fun: Fun, args: &[Form]) -> Option<Pairs> {
        let read = args.iter().map(|a| self.form(a)).collect::<Option<Vec<_>>>()?;
        let power = |p: &Pairs| match p.iter().next() {
            Some((key, c)) if p.len() == 1 && c.is_positive() => Some((*key, c.clone())),
            _ => None,
        };
        match (fun, read.as_slice()) {
            (Fun::Abs, [difference]) if difference.len() == 2 => {
                let (at_less, at_greater) = ((1, 0), (0, 1));
                let (a, b) = (difference.get(&at_less)?, difference.get(&at_greater)?);
                // |c·(M − m)|
                (*a == -b).then(|| Pairs::from([(at_less, -b.abs()), (at_greater, b.abs())]))
            }
            (Fun::Min | Fun::Max, [p, q]) => {
                let (((i, j), a), ((k, l), b)) = (power(p)?, power(q)?);
                let same = a == b && i + j == k + l && (i, j) == (l, k) && (i == 0 || j == 0);
                let n = i + j;
                let key = if fun == Fun::Min { (n, 0) } else { (0, n) };
                same.then(|| Pairs::from([(key, a)]))
            }
            _ => None,
        }
    }
}

/// A form as a polynomial of the lesser and the greater norm.
fn read(form: &Form, space: &Space) -> Option<Pairs> {
    if space.domain == Domain::Sphere {
        return None;
    }
    let one_way = |x_is_less| Reader { space, x_is_less, cols: None }.form(form);
    let (p, q) = (one_way(true)?, one_way(false)?);
    (p == q).then_some(p)
}

/// Accepts ∫₀^m w(u)·(s−u)^(n−1)·(t−u)^(n−1) du + Σ cᵢⱼsⁱtʲ with w ≥ 0, i, j < n and a positive semidefinite matrix (cᵢⱼ): a
/// process whose n-th derivative is white noise of variance w, from a random polynomial on.
pub(super) fn integrated(form: &Form, space: &Space) -> Result<(), String> {
    let kernel = read(form, space).ok_or("not a polynomial of min(|x|, |z|) and max(|x|, |z|)")?;
    let n = kernel.keys().map(|(_, j)| j + 1).max().unwrap_or(1);
    let weight = weight(&kernel, n);
    let radius = match space.domain {
        Domain::All | Domain::Orthant => None,
        Domain::Ball(radius) => Some(exact::from_decimal(radius).ok_or("the radius is not finite")?),
        _ => return Err("not on a half-line".into()),
    };
    if !nonnegative_between(&weight, &Q::zero(), radius.as_ref()) {
        return Err("the variance w is not shown to be ≥ 0".into());
    }
    let mut rest = kernel;
    for (key, c) in integral(&weight, n) {
        *rest.entry(key).or_default() -= c;
    }
    rest.retain(|_, c| !c.is_zero());
    if rest.keys().any(|(i, j)| *i >= n || *j >= n) {
        return Err("not the covariance of an integrated process".into());
    }
    let entry = |i: usize, j: usize| rest.get(&(i, j)).cloned().unwrap_or_else(Q::zero);
    if (0..n).any(|i| (0..i).any(|j| entry(i, j) != entry(j, i))) {
        return Err("what is left is not symmetric".into());
    }
    finite_rank::eliminate((0..n).map(|i| (0..n).map(|j| entry(i, j)).collect()).collect())
}

/// w from P(s+h, s) − P(s, s+h) = ∫ w(u)(s−u)^(n−1)(s+h−u)^(n−1) du over [s, s+h]: the coefficient of h^(2n−1) is
/// (−1)^(n−1)·w(s)·B(n,n).
fn weight(kernel: &Pairs, n: usize) -> Polynomial {
    let order = 2 * n - 1;
    let mut weight: Polynomial = Vec::new();
    let mut push = |power: usize, c: Q| {
        if weight.len() <= power {
            weight.resize(power + 1, Q::zero());
        }
        weight[power] += c;
    };
    for ((i, j), c) in kernel {
        // Of (s+h)^i·s^j; s^i·(s+h)^j has no such term, since j < n.
        if *i >= order {
            push(i - order + j, c * binomial(*i as u64, order as u64));
        }
    }
    let (k, top) = (n as u64 - 1, order as u64);
    let beta = exact::factorial(k) * exact::factorial(k) / exact::factorial(top);
    let factor = if n % 2 == 1 { beta.recip() } else { -beta.recip() };
    polynomial::mul(&weight, &[factor])
}

/// ∫₀^m w(u)·(m−u)^(n−1)·(M−u)^(n−1) du.
fn integral(weight: &[Q], n: usize) -> Pairs {
    let k = n as u64 - 1;
    let mut sum = Pairs::new();
    for (power, w) in weight.iter().enumerate().filter(|(_, w)| !w.is_zero()) {
        for j in 0..=k {
            // (M−u)^k has C(k,j)·M^j·(−u)^(k−j), and ∫₀^m (m−u)^k·u^q du = m^(k+q+1)·k!·q!/(k+q+1)!.
            let q = power as u64 + k - j;
            let sign = if (k - j).is_multiple_of(2) { Q::one() } else { -Q::one() };
            let beta = exact::factorial(k) * exact::factorial(q) / exact::factorial(k + q + 1);
            let key = ((k + q + 1) as usize, j as usize);
            *sum.entry(key).or_default() += w * sign * binomial(k, j) * beta;
        }
    }
    sum
}

/// Whether a form is a rising function of one min(f(x), f(z)) with f ≥ 0, or a falling one of one max(f(x), f(z)), with values
/// ≥ 0: it is then the minimum of that function of f(x) and of f(z).
pub(super) fn is_monotone_of_extremum(form: &Form, space: &Space) -> bool {
    [Fun::Min, Fun::Max].into_iter().any(|fun| {
        let Some(args) = sole_extremum(form, fun) else { return false };
        let Some(args) = symmetric(&args, space) else { return false };
        // A distance replaces the extremum: it takes all values ≥ 0.
        let everywhere = Space { domain: Domain::All, ..*space };
        let is_monotone = polya::is_monotone(&with_distance(form, fun), &everywhere, fun == Fun::Min);
        is_monotone && args.iter().all(|a| Range::of(a, space).is_nonnegative())
    })
}

/// The form with every min, or max, replaced by |x−z|.
fn with_distance(form: &Form, fun: Fun) -> Form {
    fn monomial(m: &Monomial, fun: Fun) -> Monomial {
        let atom = |a: &Atom| match a {
            Atom::Call(f, _) if *f == fun => Atom::Distance(None),
            Atom::Exp(inner) => Atom::Exp(monomial(inner, fun)),
            Atom::Power(base) => Atom::Power(with_distance(base, fun)),
            Atom::Call(f, args) => Atom::Call(*f, args.iter().map(|a| with_distance(a, fun)).collect()),
            other => other.clone(),
        };
        Monomial(m.0.iter().map(|(a, e)| (atom(a), e.clone())).collect())
    }
    Form(form.0.iter().map(|(m, c)| (monomial(m, fun), c.clone())).collect())
}

/// The arguments of the one min or max through which a form reads the points.
fn sole_extremum(form: &Form, fun: Fun) -> Option<Vec<Form>> {
    let mut found: Option<Vec<Form>> = None;
    for atom in form.0.keys().flat_map(|m| m.0.keys()) {
        let args = match atom {
            Atom::Call(f, args) if *f == fun => Some(args.clone()),
            _ if atom.dependence().is_constant() => continue,
            Atom::Exp(m) => sole_extremum(&Form::term(Q::one(), m.clone()), fun),
            Atom::Power(base) => sole_extremum(base, fun),
            Atom::Call(_, args) => {
                let inside: Vec<_> = args.iter().filter(|a| !a.dependence().is_constant()).collect();
                match inside.as_slice() {
                    [one] => sole_extremum(one, fun),
                    _ => None,
                }
            }
            _ => None,
        }?;
        if found.as_ref().is_some_and(|known| *known != args) {
            return None;
        }
        found = Some(args);
    }
    found
}

/// The columns of the one distance through which a form reads the points.
pub(super) fn sole_distance(form: &Form) -> Option<Cols> {
    let mut found: Option<Cols> = None;
    for m in form.0.keys() {
        for atom in m.0.keys().filter(|a| !a.dependence().is_constant()) {
            let cols = match atom {
                Atom::Distance(cols) => Some(cols.clone()),
                Atom::Exp(inner) => sole_distance(&Form::term(Q::one(), inner.clone())),
                Atom::Power(base) => sole_distance(base),
                Atom::Call(_, args) => {
                    let varying: Vec<_> = args.iter().filter(|a| !a.dependence().is_constant()).collect();
                    let mut columns = varying.into_iter().map(sole_distance);
                    let first = columns.next()?;
                    if columns.all(|c| c == first) { first } else { None }
                }
                _ => None,
            }?;
            if found.as_ref().is_some_and(|known| *known != cols) {
                return None;
            }
            found = Some(cols);
        }
    }
    found
}

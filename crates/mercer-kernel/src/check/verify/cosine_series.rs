//! Sums of cosines of a distance on a line: polynomials of cos b(x−z), and functions on a segment continued periodically.

use num_traits::{One, Signed, Zero};

use super::gegenbauer;
use super::pattern::{multiple_of_distance, natural};
use super::piecewise::{self, nonnegative_between};
use super::polynomial::{self, Polynomial};
use crate::check::Domain;
use crate::check::exact::{self, Q, int};
use crate::check::form::{Atom, Form, Fun, Space};
use crate::check::interval::Interval;

/// The highest power of a cosine.
const HIGHEST: usize = 60;

/// Accepts Σ cₙ·cosⁿ(b·|x−z|) on a line where the coefficients of cos(nb|x−z|) in it are ≥ 0.
pub(super) fn polynomial_of_cosine(form: &Form, space: &Space) -> Result<(), String> {
    let mut argument: Option<&Form> = None;
    let mut coefficients: Vec<Q> = Vec::new();
    for (m, c) in &form.0 {
        let degree = match m.single() {
            None => 0,
            Some((Atom::Call(Fun::Cos, args), e)) => {
                if argument.is_some_and(|known| *known != args[0]) {
                    return Err("cosines of different arguments".into());
                }
                argument = Some(&args[0]);
                natural(e).filter(|n| *n <= HIGHEST).ok_or("not a polynomial of a cosine")?
            }
            _ => return Err("not a polynomial of a cosine".into()),
        };
        if coefficients.len() <= degree {
            coefficients.resize(degree + 1, Q::zero());
        }
        coefficients[degree] += c;
    }
    let cols = argument.and_then(multiple_of_distance).ok_or("not the cosine of a distance")?;
    if space.width(&cols) != Some(1) {
        return Err("not on a line".into());
    }
    // On a circle Gegenbauer's polynomials are those of Chebyshev: Tₙ(cos θ) = cos nθ.
    let waves = gegenbauer::in_basis(coefficients, 2)?;
    if waves.iter().any(Signed::is_negative) { Err("a coefficient is negative".into()) } else { Ok(()) }
}

/// Accepts a polynomial of |x−z| on a segment of length D whose even continuation of period 2D has cosine coefficients ≥ 0.
///
/// With w = kπ/D, ∫ f(r)·cos(wr) dr over [0, D] is Σ_j (−1)^j·((−1)^k·f^(2j+1)(D) − f^(2j+1)(0))·w^(−2j−2), for odd and for even k a
/// polynomial of w^(−2) ≤ (D/π)², or (D/2π)².
pub(super) fn periodic_continuation(form: &Form, space: &Space) -> Result<(), String> {
    let (cols, function) = piecewise::read(form).ok_or("not a polynomial of one distance")?;
    let [f] = function.pieces.as_slice() else { return Err("a polynomial in pieces".into()) };
    if space.width(&cols) != Some(1) {
        return Err("not on a line".into());
    }
    let length = match space.domain {
        Domain::Ball(radius) => exact::from_decimal(radius).map(|r| r * int(2)),
        _ => space.domain.ends().map(|(low, high)| high - low),
    };
    let length = length.filter(Signed::is_positive).ok_or("not on a segment")?;
    let (mut at_zero, mut at_end): (Polynomial, Polynomial) = (Vec::new(), Vec::new());
    let mut derivative = derived(f);
    let mut sign = Q::one();
    while !derivative.is_empty() {
        at_zero.push(&sign * polynomial::at(&derivative, &Q::zero()));
        at_end.push(&sign * polynomial::at(&derivative, &length));
        derivative = derived(&derived(&derivative));
        sign = -sign;
    }
    let integral: Polynomial = [Q::zero()].into_iter().chain((1..).zip(f).map(|(n, c)| c / int(n))).collect();
    let even = polynomial::sub(&at_end, &at_zero);
    let minus_end: Polynomial = at_end.iter().map(|c| -c).collect();
    let odd = polynomial::sub(&minus_end, &at_zero);
    let least_pi = Interval::pi(192).bounds().0;
    let slowest = (&length / &least_pi) * (&length / &least_pi);
    let holds = !polynomial::at(&integral, &length).is_negative()
        && nonnegative_between(&odd, &Q::zero(), Some(&slowest))
        && nonnegative_between(&even, &Q::zero(), Some(&(slowest / int(4))));
    if holds { Ok(()) } else { Err("a cosine coefficient is not shown to be ≥ 0".into()) }
}

fn derived(p: &[Q]) -> Polynomial {
    p.iter().enumerate().skip(1).map(|(n, c)| c * int(n as i64)).collect()
}

//! Polynomials on the unit sphere in Gegenbauer's basis.

use num_traits::{One, Zero};

use super::pattern::natural;
use crate::check::exact::{self, Q, int};
use crate::check::form::{Atom, Form, Space};
use crate::check::steps;
use crate::check::{Dim, Domain};

/// The coefficients cₙ of f(s) = Σ cₙPₙ(s), Pₙ the Gegenbauer polynomial of R^d with Pₙ(1) = 1; f(⟨x,z⟩) is positive
/// semidefinite on the unit sphere of R^d exactly where all are ≥ 0 (Schoenberg 1942).
pub fn coefficients(form: &Form, space: &Space) -> Result<Vec<Q>, String> {
    let Dim::Exactly(d) = space.dim else { return Err("the dimension is not fixed".into()) };
    if space.domain != Domain::Sphere {
        return Err("not on the sphere".into());
    }
    let mut polynomial: Vec<Q> = Vec::new();
    for (m, c) in &form.0 {
        let degree = match m.single() {
            None if m.0.is_empty() => Some(0),
            Some((Atom::Dot(None), e)) => natural(e),
            _ => None,
        }
        .filter(|n| *n <= 200)
        .ok_or("not a polynomial in <x,z>")?;
        if polynomial.len() <= degree {
            polynomial.resize(degree + 1, Q::zero());
        }
        polynomial[degree] += c;
    }
    in_basis(polynomial, d)
}

/// The coefficients cₙ of Σ cₙPₙ for a polynomial of s, in dimension d.
pub(super) fn in_basis(mut polynomial: Vec<Q>, d: usize) -> Result<Vec<Q>, String> {
    if d == 1 {
        // On {−1, 1} every even power is 1 and every odd one is ⟨x,z⟩.
        let part = |odd: usize| polynomial.iter().skip(odd).step_by(2).fold(Q::zero(), |s, c| s + c);
        return Ok(vec![part(0), part(1)]);
    }
    let mut basis: Vec<Vec<Q>> = vec![vec![Q::one()], vec![Q::zero(), Q::one()]];
    while basis.len() < polynomial.len() {
        // (n+d−2)·Pₙ₊₁ = (2n+d−2)·s·Pₙ − n·Pₙ₋₁
        let n = basis.len() as i64 - 1;
        let below = int(n + d as i64 - 2);
        let mut next = vec![Q::zero(); basis.len() + 1];
        if steps::are_spent() {
            return Err("the steps are used up".into());
        }
        for (k, c) in basis[n as usize].iter().enumerate().filter(|(_, c)| !c.is_zero()) {
            exact::count(exact::bits(c));
            next[k + 1] += c * int(2 * n + d as i64 - 2) / &below;
        }
        for (k, c) in basis[n as usize - 1].iter().enumerate().filter(|(_, c)| !c.is_zero()) {
            next[k] -= c * int(n) / &below;
        }
        basis.push(next);
    }
    let mut result = vec![Q::zero(); polynomial.len()];
    for n in (0..polynomial.len()).rev() {
        let c = &polynomial[n] / &basis[n][n];
        for (k, b) in basis[n].iter().enumerate().filter(|(_, b)| !b.is_zero()) {
            exact::count(exact::bits(&c) + exact::bits(b));
            polynomial[k] -= &c * b;
        }
        result[n] = c;
    }
    Ok(result)
}

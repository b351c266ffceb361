//! Polynomials with rational coefficients, and whether they are ≥ 0 on a half-line.

use num_traits::{One, Signed, Zero};

use crate::check::exact::{self, Q};
use crate::check::steps;

/// Coefficients from the constant term on.
pub type Polynomial = Vec<Q>;

/// p·q.
pub fn mul(p: &[Q], q: &[Q]) -> Polynomial {
    if p.is_empty() || q.is_empty() {
        return Vec::new();
    }
    let words = p.iter().chain(q).map(exact::bits).max().unwrap_or(0) as usize / 64;
    steps::count(p.len() * q.len() * (8 + words * words * 4 / 3));
    let mut product = vec![Q::zero(); p.len() + q.len() - 1];
    for (i, a) in p.iter().enumerate() {
        for (j, b) in q.iter().enumerate() {
            product[i + j] += a * b;
        }
    }
    product
}

/// p − q.
pub fn sub(p: &[Q], q: &[Q]) -> Polynomial {
    let at = |v: &[Q], i: usize| v.get(i).cloned().unwrap_or_else(Q::zero);
    (0..p.len().max(q.len())).map(|i| at(p, i) - at(q, i)).collect()
}

/// p(v).
pub fn at(p: &[Q], v: &Q) -> Q {
    p.iter().rev().fold(Q::zero(), |sum, c| {
        exact::count(exact::bits(&sum) + exact::bits(v));
        sum * v + c
    })
}

/// p(s + v) as a polynomial in v.
pub fn shift(p: &[Q], s: &Q) -> Polynomial {
    let mut result: Polynomial = Vec::new();
    for c in p.iter().rev() {
        result = mul(&result, &[s.clone(), Q::one()]);
        if result.is_empty() {
            result.push(Q::zero());
        }
        result[0] += c;
    }
    result
}

/// Whether all coefficients are ≥ 0, so that p ≥ 0 on [0, ∞).
pub fn has_no_negative(p: &[Q]) -> bool {
    p.iter().all(|c| !c.is_negative())
}

/// Whether p ≥ 0 on [0, ∞), by Vincent's bisection at 1: [1, ∞) is p(1 + v), [0, 1] is (1 + v)ⁿ·p(1/(1 + v)). A `false`
/// means "not shown": a double root inside is never reached.
pub fn nonnegative_on_half_line(p: &[Q]) -> bool {
    vincent(p, 14)
}

fn vincent(p: &[Q], depth: usize) -> bool {
    if has_no_negative(p) {
        return true;
    }
    let leading = p.iter().rev().find(|c| !c.is_zero());
    if depth == 0 || steps::are_spent() || leading.is_some_and(Signed::is_negative) || p[0].is_negative() {
        return false;
    }
    let one = Q::one();
    let above = shift(p, &one);
    if above[0].is_negative() {
        return false;
    }
    let reversed: Polynomial = p.iter().rev().cloned().collect();
    vincent(&above, depth - 1) && vincent(&shift(&reversed, &one), depth - 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::exact::int;

    fn poly(c: &[i64]) -> Polynomial {
        c.iter().map(|v| int(*v)).collect()
    }

    #[test]
    fn signs_on_the_half_line() {
        assert!(nonnegative_on_half_line(&poly(&[3, -3, 1])));
        assert!(!nonnegative_on_half_line(&poly(&[2, -3, 1])));
        assert!(nonnegative_on_half_line(&poly(&[1, 2, 1])));
        assert!(!nonnegative_on_half_line(&poly(&[1, 0, -1])));
    }

    #[test]
    fn shifting_is_substitution() {
        let p = poly(&[5, -2, 0, 7]);
        let q = shift(&p, &int(3));
        for v in -3..4 {
            assert_eq!(at(&q, &int(v)), at(&p, &int(v + 3)));
        }
    }
}

//! Functions of distances that stay below a negative number from some distance on.
//!
//! On the points i·R·(1, …, 1) with i = 1, …, n every distance, over all columns or some, is at least R. If k ≤ −ε < 0 there, then
//! Σᵢⱼ k(xᵢ,xⱼ) ≤ n·k(0) − n(n−1)·ε, which is negative for some n.

use num_traits::{One, Signed};

use super::range::{Range, of_call};
use crate::check::exact::{Q, int};
use crate::check::form::{Atom, Form, Fun, Monomial, Space};

/// An upper bound of a form over all pairs of points whose distances are at least `least`; `None` without a bound, or if the
/// form reads more than distances.
pub fn greatest_beyond(form: &Form, least: &Q) -> Option<Q> {
    of_form(form, least)?.hi
}

fn of_form(form: &Form, least: &Q) -> Option<Range> {
    let zero = Range::point(&int(0));
    form.0.iter().try_fold(zero, |sum, (m, c)| Some(sum.add(&of_monomial(m, least)?.mul(&Range::point(c)))))
}

fn of_monomial(m: &Monomial, least: &Q) -> Option<Range> {
    let mut product = Range::point(&Q::one());
    let mut left = m.clone();
    for (atom, e) in &m.0 {
        if let Atom::Exp(inner) = atom
            && let Some((distance, p)) = inner.single()
            && let Some(growth) = left.0.get(distance).filter(|growth| growth.is_positive())
        {
            product = product.mul(&damped_power(growth, &-e, p, least)?);
            left.0.remove(distance);
            left.0.remove(atom);
        }
    }
    for (atom, e) in &left.0 {
        let factor = match atom {
            Atom::Distance(_) | Atom::Distance1(_) => Range::at_least(least.clone()).power(e),
            Atom::Exp(inner) => of_monomial(inner, least)?.mul(&Range::point(e)).exp(),
            Atom::Power(base) => of_form(base, least)?.power(e),
            Atom::Call(fun, args) => of_function(*fun, args, least)?.power(e),
            Atom::Pi => Range::of(&Form::atom(Atom::Pi), &Space::EVERYWHERE).power(e),
            Atom::Var | Atom::Dot(_) | Atom::NormX(_) | Atom::NormZ(_) | Atom::Named(_) => return None,
        };
        product = product.mul(&factor);
    }
    Some(product)
}

fn of_function(fun: Fun, args: &[Form], least: &Q) -> Option<Range> {
    let ranges: Vec<Range> = args.iter().map(|arg| of_form(arg, least)).collect::<Option<_>>()?;
    Some(of_call(fun, &ranges))
}

/// Bounds of r^a·exp(−b·r^p) for r ≥ R, a function that falls from r^p = a/(bp) on; `None` if R is less than that.
fn damped_power(a: &Q, b: &Q, p: &Q, least: &Q) -> Option<Range> {
    let power = Range::point(least).power(p);
    let falls = p.is_positive() && b.is_positive() && power.lo.as_ref().is_some_and(|low| low * b * p >= *a);
    let greatest = Range::point(least).power(a).mul(&power.mul(&Range::point(&-b)).exp());
    falls.then_some(Range { lo: Some(int(0)), hi: greatest.hi })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Kernel;

    fn bound(text: &str, least: i64) -> Option<f64> {
        let formula = text.parse::<Kernel>().unwrap().formula();
        let form = Form::of(&formula, &Space::EVERYWHERE).unwrap();
        greatest_beyond(&form, &int(least)).map(|q| crate::check::exact::to_f64(&q))
    }

    #[test]
    fn the_bound_is_the_greatest_value_of_a_falling_function() {
        for (text, expected) in [
            ("exp(-|x-z|)-1", (-3f64).exp() - 1.0),
            ("|x-z|^2*exp(-|x-z|)", 9.0 * (-3f64).exp()),
            ("1/(1+|x-z|^2)", 0.1),
            ("2-log(1+|x-z|_1)", 2.0 - 4f64.ln()),
            ("max(0,1-|x-z|)^3", 0.0),
            ("sinc(2*|x-z|)", 1.0 / 6.0),
        ] {
            let found = bound(text, 3).unwrap();
            assert!((found - expected).abs() < 1e-12, "{text}: {found} is not {expected}");
        }
        // r^4·exp(−r) rises up to 4; ⟨x,z⟩ is no distance.
        assert_eq!([bound("|x-z|^4*exp(-|x-z|)", 3), bound("<x,z>-|x-z|", 3)], [None, None]);
        assert_eq!(bound("|x-z|-5", 3), None);
    }
}

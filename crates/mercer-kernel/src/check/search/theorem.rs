//! Theorems that refute, and hints for finding points.

use num_traits::{Signed, Zero};

use super::{Found, coefficients, view};
use crate::check::exact::{self, Q, int, ratio};
use crate::check::form::{Atom, Form, Space};
use crate::check::proof::Failure;
use crate::check::verdict::Theorem;
use crate::check::verify::{density, gegenbauer, radial, series};
use crate::check::{Dim, Domain};

/// Adds refuting theorems or hints for a form.
pub fn hints(form: &Form, space: &Space, found: &mut Found) {
    let dot = Form::atom(Atom::Dot(None));
    let function = view::as_function_of(form, &dot, space);
    if let Some((series, exact)) = function.as_ref().and_then(|f| coefficients::first(f, 24)) {
        let size = series.iter().fold(Q::zero(), |m, c| m.max(c.abs()));
        let floor = if exact { Q::zero() } else { size * ratio(1, 1_000_000_000) };
        found.hints.negative_coefficients =
            series.iter().enumerate().filter(|(_, c)| **c < -floor.clone()).map(|(n, _)| n).collect();
    }
    if let Some(theorem) = function.and_then(negative_coefficient).filter(|_| space.domain != Domain::Sphere)
    {
        found.theorem = Some(theorem);
        return;
    }
    let dims: Vec<usize> = match space.dim {
        Dim::Exactly(d) => vec![d],
        Dim::Any => (1..=8).chain([12, 16, 32]).collect(),
    };
    if space.domain == Domain::All {
        for &d in &dims {
            if let Some(theorem) = askey(form, d).or_else(|| negative_density(form, d)) {
                if d <= 6 {
                    found.hints.dims.push(d);
                }
                found.theorem = Some(theorem);
                return;
            }
        }
    }
    if space.domain == Domain::All && space.dim == Dim::Any && radial::has_negative_atom(form) {
        found.theorem = Some(Theorem {
            reference: "Schoenberg 1938, Metric spaces and completely monotone functions, Theorem 2".into(),
            dim: 0,
            text: "a radial kernel of every dimension is a mixture of exp(−a|x−z|²) with weights ≥ 0 in one way only, \
                   and here a weight is negative: it fails from some dimension on"
                .into(),
            value: -1.0,
            failure: Failure::Mixture { form: form.clone() },
        });
        return;
    }
    if space.domain == Domain::Sphere {
        for &d in &dims {
            let at = Space { dim: Dim::Exactly(d), domain: Domain::Sphere };
            let Ok(coefficients) = gegenbauer::coefficients(form, &at) else { return };
            if let Some(degree) = coefficients.iter().position(Signed::is_negative) {
                let value = exact::to_f64(&coefficients[degree]);
                found.theorem = Some(Theorem {
                    reference: "Schoenberg 1942, Positive definite functions on spheres, Theorem 1".into(),
                    dim: d,
                    text: format!(
                        "the Gegenbauer coefficient of degree {degree} on the unit sphere of R^{d} is {value:.4}, which is negative"
                    ),
                    value,
                    failure: Failure::Gegenbauer { form: form.clone(), dim: d, degree },
                });
                if d <= 6 {
                    found.hints.dims.push(d);
                }
                return;
            }
        }
    }
}

/// A negative coefficient of a power series in ⟨x,z⟩.
fn negative_coefficient(function: Form) -> Option<Theorem> {
    const FARTHEST: usize = 400;
    if function.constant_bits() > 200 {
        return None;
    }
    let order = (0..FARTHEST).find(|n| series::is_negative_at(&function, *n))?;
    Some(Theorem {
        reference: "differences of order n at the origin: wᵀKw = aₙ·(n!)²·h²ⁿ + O(h²ⁿ⁺²)".into(),
        dim: 1,
        text: format!("the power series in <x,z> has a negative coefficient: that of <x,z>^{order}"),
        value: -1.0,
        failure: Failure::Coefficient { function, order },
    })
}

fn askey(form: &Form, d: usize) -> Option<Theorem> {
    let plain = crate::check::verify::askey(form).map(|(_, power)| (power, 0));
    let (power, k) = plain.or_else(|| radial::wendland(form).map(|(_, power, k)| (power, k)))?;
    let needed = ratio(d as i64 + 2 * k + 1, 2);
    let (reference, condition) = if k == 0 {
        (
            "Askey 1973; Golubov 1981: (1−r)₊^ℓ is positive semidefinite on R^d exactly where ℓ ≥ (d+1)/2",
            "(d+1)/2",
        )
    } else {
        (
            "Golubov 1981; Wendland 2005, Theorem 9.6: φ_{ℓ,k} is positive semidefinite on R^d exactly where (1−r)₊^ℓ is on R^(d+2k)",
            "(d+1)/2 + k",
        )
    };
    (power < needed).then(|| Theorem {
        reference: reference.into(),
        dim: d,
        text: format!("on R^{d}: ℓ = {} < {condition} = {}", exact::show(&power), exact::show(&needed)),
        value: exact::to_f64(&(power - needed)),
        failure: Failure::Askey { form: form.clone(), dim: d },
    })
}

fn negative_density(form: &Form, d: usize) -> Option<Theorem> {
    for v in frequencies(form) {
        if density::is_negative_at(form, d, &v) {
            let frequency = 2.0 * exact::to_f64(&v).sqrt();
            let shown = exact::significant(frequency);
            return Some(Theorem {
                reference: "Bochner 1933; Wendland 2005, Scattered Data Approximation, Theorem 6.11".into(),
                dim: d,
                text: format!("on R^{d}: the spectral density at |ω| = {shown} is negative"),
                value: -frequency,
                failure: Failure::Density { form: form.clone(), dim: d, v },
            });
        }
    }
    None
}

/// Values of |ω|²/4 at which a density may be negative: a geometric row, some far beyond it where the leading terms decide,
/// and for functions of compact support many in a row.
fn frequencies(form: &Form) -> Vec<Q> {
    let ten_to_the = |n: u32| Q::from_integer(num_bigint::BigInt::from(10).pow(n));
    let tiny = ten_to_the(40).recip();
    let row =
        std::iter::successors(Some(ratio(1, 1_000_000)), |v| Some(v * int(2)).filter(|v| *v < int(100_000)));
    let far = [8, 12, 16, 24, 32].map(ten_to_the);
    let mut list: Vec<Q> = std::iter::once(tiny).chain(row).chain(far).collect();
    if let Some(reach) = density::reach(form) {
        // |ω| in steps of 0.4/reach up to 60/reach.
        list.extend((1..150).map(|n| ratio(n, 5) / &reach).map(|half| &half * &half));
        list.retain(|v| v * &reach * &reach < int(1_000));
    }
    list
}

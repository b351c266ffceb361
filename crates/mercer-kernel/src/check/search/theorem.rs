//! Theorems that refute, and hints for finding points.

use num_traits::{Signed, Zero};

use super::{Found, coefficients, view};
use crate::check::exact::{self, Q, int, ratio};
use crate::check::form::{Atom, Form, Space};
use crate::check::interval::Interval;
use crate::check::proof::Failure;
use crate::check::verdict::Theorem;
use crate::check::verify::{density, far, gegenbauer, monotone, radial, series};
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
    // Large dimensions come last: their densities take many steps.
    let (dims, large): (Vec<usize>, &[usize]) = match space.dim {
        Dim::Exactly(d) => (vec![d], &[]),
        Dim::Any => ((1..=8).collect(), &[12, 16, 32]),
    };
    if space.domain == Domain::All {
        let fails =
            |d: &usize| askey(form, *d).or_else(|| negative_density(form, *d)).map(|theorem| (*d, theorem));
        let compact = || (space.dim == Dim::Any).then(|| askey_dim(form)).flatten();
        let theorem = compact().and_then(|d| Some((d, askey(form, d)?)));
        if let Some((d, theorem)) = theorem.or_else(|| dims.iter().find_map(fails)) {
            if d <= 6 {
                found.hints.dims.push(d);
            }
            found.theorem = Some(theorem);
            return;
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
    if matches!(space.domain, Domain::All | Domain::Orthant)
        && let Some(theorem) = negative_far_away(form, space).or_else(|| not_monotone(form, space))
    {
        found.theorem = Some(theorem);
        return;
    }
    if space.domain == Domain::All {
        found.theorem = large.iter().find_map(|d| negative_density(form, *d));
        return;
    }
    if space.domain == Domain::Sphere {
        for &d in dims.iter().chain(large) {
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

/// A function of distances that stays below a negative number from some distance on.
fn negative_far_away(form: &Form, space: &Space) -> Option<Theorem> {
    for exponent in [0, 1, 2, 3, 4, 5, 6, 8, 12, 16, 24, 32, 48, 80, 150, 300, 600, 1200, 2000] {
        let least = Q::from_integer(num_bigint::BigInt::from(10).pow(exponent));
        let Some(bound) = far::greatest_beyond(form, &least).filter(Signed::is_negative) else { continue };
        let value = exact::to_f64(&bound);
        return Some(Theorem {
            reference: "Σᵢⱼ k(xᵢ,xⱼ) ≤ n·k(0) − n(n−1)·ε for n points far apart".into(),
            dim: of_least_dim(space),
            text: format!(
                "k(x,z) ≤ {} wherever |x−z| ≥ 10^{exponent}: the sum of k over many points so far apart is negative",
                exact::significant(value)
            ),
            value,
            failure: Failure::Far { form: form.clone(), least },
        });
    }
    None
}

/// The least dimension of a space.
fn of_least_dim(space: &Space) -> usize {
    match space.dim {
        Dim::Exactly(d) => d,
        Dim::Any => 1,
    }
}

/// A radial function that is not completely monotone: it fails from some dimension on.
fn not_monotone(form: &Form, space: &Space) -> Option<Theorem> {
    const NODES: usize = 40;
    const BITS: u32 = 192;
    let distance = monotone::sole_distance(form).filter(|_| space.dim == Dim::Any)?;
    let sides = (-6..=8).filter_map(|k| exact::pow(&int(4), k));
    let mut rows: Vec<(Q, Vec<Interval>)> = sides
        .filter_map(|side| monotone::values(form, &side, 0, NODES, BITS).map(|row| (side, row)))
        .collect();
    for order in 0..=NODES {
        for (side, row) in &mut rows {
            let vanishes = |value: &Interval| order == 0 && value.is_zero() && row[0].is_positive();
            if let Some(skip) = row.iter().position(|value| value.is_negative() || vanishes(value)) {
                let failure = Failure::Difference { form: form.clone(), side: side.clone(), skip, order };
                return Some(not_a_mixture(failure, &distance, &row[skip]));
            }
            *row = row.windows(2).map(|pair| pair[0].sub(&pair[1])).collect();
        }
    }
    None
}

fn not_a_mixture(failure: Failure, distance: &Atom, value: &Interval) -> Theorem {
    let value = value.midpoint();
    let (statistic, square) =
        if matches!(distance, Atom::Distance1(_)) { ("|x−z|₁", "") } else { ("|x−z|²", "²") };
    let text = match &failure {
        Failure::Difference { skip, side, order: 0, .. } => format!(
            "a radial kernel of every dimension is positive everywhere, and k(x,z) = {} at {statistic} = {skip}·{}{square}: it fails from some \
             dimension on",
            if value == 0.0 { "0".into() } else { exact::significant(value) },
            exact::show(side)
        ),
        Failure::Difference { skip, side, order, .. } => format!(
            "a radial kernel of every dimension is a completely monotone function of {statistic}, and the difference of order {order} at \
             {statistic} = {side}{square}·({skip}, …, {}) is {}, with the wrong sign: it fails from some dimension on",
            skip + order,
            exact::significant(value),
            side = exact::show(side)
        ),
        _ => String::new(),
    };
    Theorem {
        reference: "Schoenberg 1938, Metric spaces and completely monotone functions, Theorem 2; Bretagnolle, Dacunha-Castelle, Krivine 1966"
            .into(),
        dim: 0,
        text,
        value,
        failure,
    }
}

/// ℓ and k of a Wendland function, k = 0 for (1 − r)₊^ℓ.
fn wendland(form: &Form) -> Option<(Q, i64)> {
    let plain = crate::check::verify::askey(form).map(|(_, power)| (power, 0));
    plain.or_else(|| radial::wendland(form).map(|(_, power, k)| (power, k)))
}

/// The least dimension in which a Wendland function fails.
fn askey_dim(form: &Form) -> Option<usize> {
    let (power, k) = wendland(form)?;
    let d = exact::as_integer(&(power * int(2)).floor())? - 2 * k;
    usize::try_from(d.max(1)).ok()
}

fn askey(form: &Form, d: usize) -> Option<Theorem> {
    let (power, k) = wendland(form)?;
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

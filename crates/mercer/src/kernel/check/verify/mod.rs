//! The checker: accepts a proof only where every rule application follows from the tree alone.
//!
//! It shares no code with [`search`](super::search). What both stand on is the normal form, whose reading of the
//! formula is compared here with the formula's own values at sample points.

pub mod density;
mod finite_rank;
pub mod gegenbauer;
mod named;
pub mod polynomial;
pub mod radial;
pub mod range;
pub mod series;

use num_traits::{One, Signed, Zero};

use super::exact::{Q, as_integer, int, ratio};
use super::form::{Atom, Form, Fun, Monomial, Space};
use super::proof::{Claim, Failure, Proof, Property, Rule};
use super::{Dim, Domain};
use crate::kernel::expr::Expr;
use range::Range;

/// Why a proof was not accepted.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{rule}: {reason}")]
pub struct Rejection {
    /// The rule that was misapplied.
    pub rule: &'static str,
    /// What is wrong.
    pub reason: String,
}

/// Checks that `proof` proves `expr` positive semidefinite on the question's space.
///
/// # Errors
/// The first rule application that does not follow.
pub fn verify(proof: &Proof, expr: &Expr, dim: Dim, domain: Domain) -> Result<(), Rejection> {
    super::form::refuel();
    let space = Space { dim, domain };
    let reject = |reason: &str| Rejection { rule: proof.rule.name(), reason: reason.into() };
    if proof.rule != Rule::Formula || proof.premises.len() != 1 {
        return Err(reject("a proof starts at the formula"));
    }
    if proof.claim.space() != space || proof.claim.property != Property::PositiveSemidefinite {
        return Err(reject("it proves another claim"));
    }
    let form = Form::of(expr, &space).ok_or_else(|| reject("the formula has no form"))?;
    if form != proof.claim.form || form != proof.premises[0].claim.form {
        return Err(reject("the form is not the formula's"));
    }
    if proof.premises[0].claim.space() != space {
        return Err(reject("the premise holds elsewhere"));
    }
    if !range::is_defined(expr, &space) {
        return Err(reject("the formula may be undefined on the domain"));
    }
    if !agrees(expr, &form, &space) {
        return Err(reject("the form and the formula differ in value"));
    }
    check(&proof.premises[0])
}

/// Whether the form has the formula's values at points spread over the domain.
fn agrees(expr: &Expr, form: &Form, space: &Space) -> bool {
    let dim = match space.dim {
        Dim::Any => 3.max(range::least_dim(expr)),
        Dim::Exactly(d) => d,
    };
    // A fixed low-discrepancy sequence: the golden ratio's multiples.
    let coordinate = |i: usize| ((i as f64 + 1.0) * 0.618_033_988_749_895).fract() * 2.0 - 1.0;
    let point = |index: usize| {
        let mut p: Vec<f64> = (0..dim).map(|j| coordinate(index * dim + j * 7 + 3)).collect();
        if space.domain == Domain::Orthant {
            p.iter_mut().for_each(|c| *c = c.abs());
        }
        let norm = p.iter().map(|c| c * c).sum::<f64>().sqrt();
        let scale = match space.domain {
            Domain::Sphere => 1.0 / norm,
            Domain::Ball(radius) => 0.9 * radius / norm.max(1.0),
            _ => 1.0,
        };
        p.iter_mut().for_each(|c| *c *= scale);
        p
    };
    (0..12).all(|i| {
        let (x, z) = (point(2 * i), point(2 * i + 1));
        let Ok(direct) = crate::kernel::eval::eval(expr, &x, &z) else { return true };
        let through = form.value(&x, &z);
        !direct.is_finite() || !through.is_finite() || (direct - through).abs() <= 1e-6 * (1.0 + direct.abs())
    })
}

/// Whether the last step of a proof follows from its premises' claims, which are not looked into.
pub fn follows(proof: &Proof) -> bool {
    step(&proof.claim, &proof.rule, &proof.premises.iter().map(|p| &p.claim).collect::<Vec<_>>()).is_ok()
}

fn check(proof: &Proof) -> Result<(), Rejection> {
    step(&proof.claim, &proof.rule, &proof.premises.iter().map(|p| &p.claim).collect::<Vec<_>>())
        .map_err(|reason| Rejection { rule: proof.rule.name(), reason })?;
    proof.premises.iter().try_for_each(check)
}

const PSD: Property = Property::PositiveSemidefinite;
const CND: Property = Property::NegativeType;

/// Checks one rule application: the claim follows from the premises' claims.
fn step(claim: &Claim, rule: &Rule, premises: &[&Claim]) -> Result<(), String> {
    let space = claim.space();
    let form = &claim.form;
    let ensure = |condition: bool, reason: &str| if condition { Ok(()) } else { Err(reason.to_string()) };
    let concludes =
        |property: Property| ensure(claim.property == property, "the rule concludes something else");
    let from = |count: usize, property: Property| {
        ensure(premises.len() == count, "the wrong number of premises")?;
        ensure(premises.iter().all(|p| p.property == property), "a premise claims something else")
    };
    if !matches!(rule, Rule::Restriction) {
        ensure(premises.iter().all(|p| p.space() == space), "a premise holds elsewhere")?;
    }
    let same = |other: Option<Form>| ensure(other.as_ref() == Some(form), "the form does not follow");
    match rule {
        Rule::Formula => Err("the formula stands only at the root".into()),
        Rule::Restriction => {
            from(1, claim.property)?;
            ensure(contains(&premises[0].space(), &space), "the premise's set is not larger")?;
            same(restrict(&premises[0].form, &space))
        }
        Rule::Polarisation => {
            from(1, claim.property)?;
            let (ours, theirs) = (polarise(form, &space), polarise(&premises[0].form, &space));
            ensure(ours.is_some() && ours == theirs, "the forms differ")
        }
        Rule::Constant => {
            concludes(PSD)?;
            from(0, PSD)?;
            ensure(form.is_nonnegative_constant(), "not a constant shown to be ≥ 0")
        }
        Rule::InnerProduct => {
            concludes(PSD)?;
            from(0, PSD)?;
            ensure(matches!(sole_atom(form), Some((Atom::Dot(_), e)) if e.is_one()), "not an inner product")
        }
        Rule::RankOne { function } => {
            concludes(PSD)?;
            from(0, PSD)?;
            ensure(of_x_alone(function), "the function depends on more than x")?;
            same(function.swapped(&space).and_then(|other| function.mul(&other, &space)))
        }
        Rule::FiniteRank => {
            concludes(PSD)?;
            from(0, PSD)?;
            finite_rank::check(form, &space)
        }
        Rule::Minimum => {
            concludes(PSD)?;
            from(0, PSD)?;
            let args = symmetric_arguments(form, Fun::Min, &space).ok_or("not min(f(x), f(z))")?;
            ensure(args.iter().all(|a| Range::of(a, &space).lo >= 0.0), "an argument may be negative")
        }
        Rule::Maximum => {
            concludes(CND)?;
            from(0, CND)?;
            symmetric_arguments(form, Fun::Max, &space)
                .map(|_| ())
                .ok_or_else(|| "not max(f(x), f(z))".into())
        }
        Rule::CosineOfDifference => {
            concludes(PSD)?;
            from(0, PSD)?;
            match sole_atom(form) {
                Some((Atom::Call(Fun::Cos, args), e)) if e.is_one() => {
                    ensure(is_difference(&args[0], &space), "not the cosine of f(x) − f(z)")
                }
                _ => Err("not a cosine".into()),
            }
        }
        Rule::DifferencePower => {
            concludes(CND)?;
            from(0, CND)?;
            match sole_atom(form) {
                Some((Atom::Call(Fun::Abs, args), p)) if p.is_positive() && *p <= int(2) => {
                    ensure(is_difference(&args[0], &space), "not a power of |f(x) − f(z)|")
                }
                _ => Err("not a power of |f(x) − f(z)| between 0 and 2".into()),
            }
        }
        Rule::Sum { weights } => {
            from(weights.len(), claim.property)?;
            ensure(!weights.is_empty(), "an empty sum")?;
            ensure(
                weights.iter().all(Form::is_nonnegative_constant),
                "a coefficient is not shown to be ≥ 0",
            )?;
            let mut sum = Form::zero();
            for (weight, premise) in weights.iter().zip(premises) {
                sum = sum.add(&weight.mul(&premise.form, &space).ok_or("too many terms")?);
            }
            same(Some(sum))
        }
        Rule::Product => {
            concludes(PSD)?;
            from(premises.len(), PSD)?;
            ensure(premises.len() >= 2, "a product of fewer than two kernels")?;
            let mut product = Form::constant(Q::one());
            for premise in premises {
                product = product.mul(&premise.form, &space).ok_or("too many terms")?;
            }
            same(Some(product))
        }
        Rule::PowerSeries { function } => {
            concludes(PSD)?;
            from(1, PSD)?;
            same(function.at(&premises[0].form, &space))?;
            let radius = series::nonnegative(function)?;
            if radius.is_infinite() {
                return Ok(());
            }
            let diagonal = diagonal(&premises[0].form, &space).ok_or("the kernel's diagonal is not known")?;
            let bound = Range::of(&diagonal, &space).hi;
            ensure(radius.holds(bound), "the series need not converge on the kernel's values")
        }
        Rule::Schoenberg => {
            concludes(PSD)?;
            from(1, CND)?;
            same(premises[0].form.neg().exp(&space))
        }
        Rule::NegativePower { power } => {
            concludes(PSD)?;
            from(1, CND)?;
            ensure(power.is_positive(), "the exponent is not negative")?;
            ensure(least_of_negative_type(&premises[0].form, &space) > 0.0, "ψ is not shown to be > 0")?;
            same(premises[0].form.power(&-power, &space))
        }
        Rule::Anchored => {
            concludes(PSD)?;
            from(1, CND)?;
            ensure(premises[0].form == form.neg(), "the premise is not about −k")?;
            ensure(space.domain != Domain::Sphere, "the origin is not in the domain")?;
            let at_origin = at_origin(form, &space).ok_or("the value at the origin is not known")?;
            ensure(at_origin.is_nonnegative_constant(), "k(x,0) is not a constant ≥ 0")
        }
        Rule::SpectralDensity => {
            concludes(PSD)?;
            from(0, PSD)?;
            density::nonnegative(form, &space)
        }
        Rule::Askey => {
            concludes(PSD)?;
            from(0, PSD)?;
            let (cols, power) = askey(form).ok_or("not max(0, 1 − |x−z|/c)^ℓ")?;
            let d = space.width(&cols).ok_or("the dimension is not fixed")?;
            ensure(power * int(2) >= int(d as i64 + 1), "ℓ < (d+1)/2")
        }
        Rule::Wendland => {
            concludes(PSD)?;
            from(0, PSD)?;
            let (cols, power, degree) = radial::wendland(form).ok_or("not a Wendland function")?;
            let d = space.width(&cols).ok_or("the dimension is not fixed")?;
            ensure(power * int(2) >= int(d as i64 + 2 * degree + 1), "ℓ < (d+1)/2 + k")
        }
        Rule::CosineOnLine => {
            concludes(PSD)?;
            from(0, PSD)?;
            match sole_atom(form) {
                Some((Atom::Call(Fun::Cos, args), e)) if e.is_one() => {
                    let cols = multiple_of_distance(&args[0]).ok_or("not the cosine of a distance")?;
                    ensure(space.width(&cols) == Some(1), "not on a line")
                }
                _ => Err("not a cosine".into()),
            }
        }
        Rule::HyperbolicSecant => {
            from(0, claim.property)?;
            let inside = match (claim.property, sole_atom(form)) {
                (PSD, Some((Atom::Call(Fun::Cosh, args), e))) if e.is_negative() => args[0].clone(),
                (CND, Some((Atom::Call(Fun::Log, args), e))) if e.is_one() => match sole_atom(&args[0]) {
                    Some((Atom::Call(Fun::Cosh, inner), k)) if k.is_positive() => inner[0].clone(),
                    _ => return Err("not log cosh".into()),
                },
                _ => return Err("not a negative power of cosh".into()),
            };
            multiple_of_distance(&inside).map(|_| ()).ok_or_else(|| "not of a distance".into())
        }
        Rule::BoundedBernstein => {
            from(0, claim.property)?;
            ensure(
                radial::bounded_bernstein(form, claim.property == PSD),
                "not a bounded Bernstein function of a distance",
            )
        }
        Rule::BrownianBridge => {
            concludes(PSD)?;
            from(0, PSD)?;
            let (minimum, product) =
                form.partition(|m, _| m.0.keys().any(|a| matches!(a, Atom::Call(Fun::Min, _))));
            let args =
                symmetric_arguments(&minimum, Fun::Min, &space).ok_or("not min(f(x), f(z)) − f(x)·f(z)")?;
            let [f, g] = args.as_slice() else { return Err("not two arguments".into()) };
            let values = Range::of(f, &space);
            ensure(values.lo >= 0.0 && values.hi <= 1.0, "f is not shown to lie in [0, 1]")?;
            ensure(!f.dependence().is_constant(), "f is a constant")?;
            ensure(f.mul(g, &space).map(|p| p.neg()) == Some(product), "not min(f(x), f(z)) − f(x)·f(z)")
        }
        Rule::Named => {
            concludes(PSD)?;
            from(0, PSD)?;
            match sole_atom(form) {
                Some((Atom::Named(kernel), e)) if e.is_one() => named::allowed(kernel, &space),
                _ => Err("not a named kernel".into()),
            }
        }
        Rule::Gegenbauer => {
            concludes(PSD)?;
            from(0, PSD)?;
            let coefficients = gegenbauer::coefficients(form, &space)?;
            ensure(coefficients.iter().all(|c| !c.is_negative()), "a coefficient is negative")
        }
        Rule::DistancePower => {
            concludes(CND)?;
            from(0, CND)?;
            match sole_atom(form) {
                Some((Atom::Distance(_), p)) => {
                    ensure(p.is_positive() && *p <= int(2), "the power of |x−z| is not between 0 and 2")
                }
                Some((Atom::Distance1(_), p)) => {
                    ensure(p.is_positive() && *p <= Q::one(), "the power of |x−z|_1 is not between 0 and 1")
                }
                _ => Err("not a power of a distance".into()),
            }
        }
        Rule::Separable { function } => {
            concludes(CND)?;
            from(0, CND)?;
            ensure(of_x_alone(function), "the function depends on more than x")?;
            same(function.swapped(&space).map(|other| function.add(&other)))
        }
        Rule::NegatedKernel => {
            concludes(CND)?;
            from(1, PSD)?;
            same(Some(premises[0].form.neg()))
        }
        Rule::FractionalPower { power } => {
            concludes(CND)?;
            from(1, CND)?;
            ensure(power.is_positive() && *power <= Q::one(), "the power is not between 0 and 1")?;
            ensure(least_of_negative_type(&premises[0].form, &space) >= 0.0, "ψ is not shown to be ≥ 0")?;
            same(premises[0].form.power(power, &space))
        }
        Rule::Logarithm => {
            concludes(CND)?;
            from(1, CND)?;
            ensure(least_of_negative_type(&premises[0].form, &space) > 0.0, "ψ is not shown to be > 0")?;
            same(premises[0].form.log(&space))
        }
    }
}

/// The atom and power of a form that is one power of one atom with coefficient 1.
fn sole_atom(form: &Form) -> Option<(&Atom, &Q)> {
    let (m, c) = form.single()?;
    if c.is_one() { m.single() } else { None }
}

fn of_x_alone(form: &Form) -> bool {
    let d = form.dependence();
    !d.z && !d.pair && !d.var
}

/// Whether a form is f(x) − f(z).
fn is_difference(form: &Form, space: &Space) -> bool {
    let (of_x, rest) = form.partition(|m, _| m.dependence().x);
    let d = of_x.dependence();
    !d.z && !d.pair && !d.var && of_x.swapped(space).is_some_and(|other| other.neg() == rest)
}

/// The arguments of min or max where they are f₁(x), …, f₁(z), … and constants.
fn symmetric_arguments(form: &Form, fun: Fun, space: &Space) -> Option<Vec<Form>> {
    let args = match sole_atom(form)? {
        (Atom::Call(f, args), e) if *f == fun && e.is_one() => args,
        _ => return None,
    };
    for arg in args {
        let d = arg.dependence();
        if d.pair || d.var || (d.x && d.z) || !args.contains(&arg.swapped(space)?) {
            return None;
        }
    }
    Some(args.clone())
}

/// The columns of c·|x−z|, c ≠ 0.
fn multiple_of_distance(form: &Form) -> Option<super::form::Cols> {
    let (m, _) = form.single()?;
    match m.split(|a| !a.dependence().is_constant()).0.single()? {
        (Atom::Distance(cols), e) if e.is_one() => Some(cols.clone()),
        _ => None,
    }
}

/// The columns and ℓ of max(0, a − b|x−z|)^ℓ with a, b > 0.
pub fn askey(form: &Form) -> Option<(super::form::Cols, Q)> {
    let (Atom::Call(Fun::Max, args), power) = sole_atom(form)? else { return None };
    let [zero, line] = args.as_slice() else { return None };
    let (zero, line) = if zero.is_zero() { (zero, line) } else { (line, zero) };
    let slope = line.without_constant();
    let (m, b) = slope.single()?;
    let fits = zero.is_zero() && line.constant_term().is_positive() && b.is_negative() && power.is_positive();
    match m.single()? {
        (Atom::Distance(cols), e) if e.is_one() && fits => Some((cols.clone(), power.clone())),
        _ => None,
    }
}

fn contains(larger: &Space, smaller: &Space) -> bool {
    let dims = larger.dim == Dim::Any || larger.dim == smaller.dim;
    dims && match (larger.domain, smaller.domain) {
        (Domain::All, _) | (Domain::Orthant, Domain::Orthant) | (Domain::Sphere, Domain::Sphere) => true,
        (Domain::Ball(big), Domain::Ball(small)) => small <= big,
        (Domain::Ball(big), Domain::Sphere) => big >= 1.0,
        _ => false,
    }
}

fn power_of(atom: Atom, e: &Q) -> Form {
    Form::term(Q::one(), Monomial([(atom, e.clone())].into()))
}

/// A form read again on a smaller space, where its atoms may be worth more.
fn restrict(form: &Form, space: &Space) -> Option<Form> {
    form.replace(
        &|atom, e| match atom {
            Atom::NormX(cols) | Atom::NormZ(cols) if space.on_sphere(cols) => Some(Form::constant(Q::one())),
            Atom::Distance1(cols) if space.width(cols) == Some(1) => {
                Some(power_of(Atom::Distance(cols.clone()), e))
            }
            Atom::Dot(cols) if space.width(cols) == Some(1) && space.domain == Domain::Orthant => {
                power_of(Atom::NormX(cols.clone()), e).mul(&power_of(Atom::NormZ(cols.clone()), e), space)
            }
            _ => None,
        },
        space,
    )
}

/// Every |x−z| written as (|x|² + |z|² − 2⟨x,z⟩)^½.
fn polarise(form: &Form, space: &Space) -> Option<Form> {
    form.replace(
        &|atom, e| match atom {
            Atom::Distance(cols) => {
                let square = |norm: Atom| Form::norm(norm, space).power(&int(2), space);
                square(Atom::NormX(cols.clone()))?
                    .add(&square(Atom::NormZ(cols.clone()))?)
                    .sub(&power_of(Atom::Dot(cols.clone()), &Q::one()).scale(&int(2)))
                    .power(&(e * ratio(1, 2)), space)
            }
            _ => None,
        },
        space,
    )
}

/// A lower bound of ψ of negative type: ψ(x,z) ≥ (ψ(x,x) + ψ(z,z))/2, from the weights 1 and −1.
fn least_of_negative_type(form: &Form, space: &Space) -> f64 {
    let direct = Range::of(form, space).lo;
    match diagonal(form, space) {
        Some(diagonal) if diagonal != *form => direct.max(Range::of(&diagonal, space).lo),
        _ => direct,
    }
}

/// The form at z = x.
fn diagonal(form: &Form, space: &Space) -> Option<Form> {
    if form.0.keys().any(|m| m.0.keys().any(|a| mentions(a, &|b| matches!(b, Atom::Named(_))))) {
        // Named kernels: bounded ones are bounded by their value at z = x anyway.
        return Some(form.clone());
    }
    form.replace(
        &|atom, e| match atom {
            Atom::Distance(_) | Atom::Distance1(_) => Form::zero().power(e, space),
            Atom::Dot(cols) => Form::norm(Atom::NormX(cols.clone()), space).power(&(e * int(2)), space),
            Atom::NormZ(cols) => Form::norm(Atom::NormX(cols.clone()), space).power(e, space),
            _ => None,
        },
        space,
    )
}

/// The form at z = 0.
fn at_origin(form: &Form, space: &Space) -> Option<Form> {
    if form
        .0
        .keys()
        .any(|m| m.0.keys().any(|a| mentions(a, &|b| matches!(b, Atom::Named(_) | Atom::Distance1(_)))))
    {
        return None;
    }
    let negative_power_of_zero = |atom: &Atom| matches!(atom, Atom::Dot(_) | Atom::NormZ(_));
    if form.0.keys().any(|m| m.0.iter().any(|(a, e)| negative_power_of_zero(a) && e.is_negative())) {
        return None;
    }
    form.replace(
        &|atom, e| match atom {
            Atom::Dot(_) | Atom::NormZ(_) => Form::zero().power(e, space),
            Atom::Distance(cols) => Some(power_of(Atom::NormX(cols.clone()), e)),
            _ => None,
        },
        space,
    )
}

fn mentions(atom: &Atom, what: &dyn Fn(&Atom) -> bool) -> bool {
    let inside = |form: &Form| form.0.keys().any(|m| m.0.keys().any(|a| mentions(a, what)));
    what(atom)
        || match atom {
            Atom::Exp(m) => m.0.keys().any(|a| mentions(a, what)),
            Atom::Power(form) => inside(form),
            Atom::Call(_, args) => args.iter().any(inside),
            _ => false,
        }
}

/// Checks a theorem that refutes: its condition fails for the formula in a dimension the question asks about.
pub fn fails(failure: &Failure, expr: &Expr, dim: Dim, domain: Domain) -> bool {
    super::form::refuel();
    let at = |d: usize| {
        (dim == Dim::Any || dim == Dim::Exactly(d)).then_some(Space { dim: Dim::Exactly(d), domain })
    };
    let is_formula = |form: &Form, space: &Space| Form::of(expr, space).as_ref() == Some(form);
    match failure {
        Failure::Density { form, dim: d, v } => at(*d).is_some_and(|space| {
            domain == Domain::All
                && range::is_defined(expr, &space)
                && is_formula(form, &space)
                && density::is_negative_at(form, *d, v)
        }),
        Failure::Askey { form, dim: d } => at(*d).is_some_and(|space| {
            domain == Domain::All
                && is_formula(form, &space)
                && askey(form).is_some_and(|(cols, l)| cols.is_none() && l * int(2) < int(*d as i64 + 1))
        }),
        Failure::Mixture { form } => {
            let space = Space { dim, domain };
            dim == Dim::Any
                && domain == Domain::All
                && range::is_defined(expr, &space)
                && is_formula(form, &space)
                && radial::has_negative_atom(form)
        }
        Failure::Gegenbauer { form, dim: d, degree } => at(*d).is_some_and(|space| {
            is_formula(form, &space)
                && gegenbauer::coefficients(form, &space)
                    .is_ok_and(|c| c.get(*degree).is_some_and(Signed::is_negative))
        }),
    }
}

/// A nonnegative integer exponent.
fn natural(e: &Q) -> Option<usize> {
    if e.is_zero() { Some(0) } else { as_integer(e).and_then(|n| usize::try_from(n).ok()) }
}

//! One rule application at a time: does the claim follow from the premises' claims?

use num_traits::{One, Signed};

use super::pattern::{
    askey, is_difference, multiple_of_distance, of_x_alone, sole_atom, symmetric_arguments,
};
use super::range::Range;
use super::rewrite::{at_origin, contains, diagonal, least_of_negative_type, polarise, restrict};
use super::{density, finite_rank, gegenbauer, polya, radial, series};
use crate::check::Domain;
use crate::check::exact::{Q, int};
use crate::check::form::{Atom, Form, Fun};
use crate::check::proof::{Claim, Property, Rule};

const PSD: Property = Property::PositiveSemidefinite;
const CND: Property = Property::NegativeType;

/// Checks one rule application: the claim follows from the premises' claims.
pub(super) fn step(claim: &Claim, rule: &Rule, premises: &[&Claim]) -> Result<(), String> {
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
            // c − max(f(x), f(z)) = min(c − f(x), c − f(z))
            if let Some(args) = symmetric_arguments(&form.without_constant().neg(), Fun::Max, &space) {
                let top = Form::constant(form.constant_term());
                let above = |a: &Form| Range::of(&top.sub(a), &space).lo >= 0.0;
                return ensure(args.iter().all(above), "an argument may exceed the constant");
            }
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
        Rule::Polya => {
            concludes(PSD)?;
            from(0, PSD)?;
            polya::check(form, &space)
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
                Some((Atom::Named(kernel), e)) if e.is_one() => {
                    let named = &kernel.named;
                    let reason =
                        format!("{} is not a kernel for every such parameter here", named.family.name());
                    ensure(named.family.psd(named, &space), &reason)
                }
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

//! Verifies single rule applications: whether the claim follows from the premises' claims.

use num_traits::{One, Signed};

use super::pattern::{
    askey, has_column_weights, is_difference, is_low_power_of_distance, of_x_alone, sole_atom, symmetric,
    symmetric_arguments,
};
use super::range::Range;
use super::rewrite::{at_origin, contains, diagonal, least_of_negative_type};
use super::value::{At, Care, Ground, Pair, is_nonnegative_constant, of_form, of_function};
use super::{
    cosine_series, defined, density, derive, finite_rank, gegenbauer, half_line, polya, radial, series,
};
use crate::check::Domain;
use crate::check::exact::{Q, int, ratio};
use crate::check::form::{Atom, Form, Fun, Space};
use crate::check::interval::Interval;
use crate::check::proof::{Claim, Property, Rule};

const PSD: Property = Property::PositiveSemidefinite;
const CND: Property = Property::NegativeType;

type Outcome = Result<(), String>;

fn ensure(condition: bool, reason: &str) -> Outcome {
    if condition { Ok(()) } else { Err(reason.to_string()) }
}

/// Checks one rule application: the claim follows from the premises' claims.
///
/// A form claimed by a rule without premises must have a value at all points of its space: powers, logarithms and
/// inverse functions must be real. Other forms have the values given by their premises.
pub(super) fn step(claim: &Claim, rule: &Rule, premises: &[&Claim], care: Care) -> Outcome {
    let step = Step { claim, form: &claim.form, space: claim.space(), premises, care };
    step.has_the_shape_of(rule)?;
    if premises.is_empty() {
        ensure(defined::form_is_defined(step.form, &step.space), "the form may have no value")?;
    }
    if care == Care::Full {
        ensure(derive::is_derived(claim, rule, premises), "the algebra arrives at another form")?;
    }
    match rule {
        Rule::Formula => Err("the formula stands only at the root".into()),
        Rule::Restriction => step.restriction(),
        Rule::Polarisation | Rule::DecidedBranch => step.polarisation(),
        Rule::Constant => ensure(is_nonnegative_constant(step.form), "not a constant shown to be ≥ 0"),
        Rule::InnerProduct => step.inner_product(),
        Rule::RankOne { function } => step.rank_one(function),
        Rule::FiniteRank => finite_rank::check(step.form, &step.space),
        Rule::Minimum => step.minimum(),
        Rule::Maximum => step.maximum(),
        Rule::CosineOfDifference => step.cosine_of_difference(),
        Rule::DifferencePower => step.difference_power(),
        Rule::Sum { weights } => step.sum(weights),
        Rule::Product => step.product(),
        Rule::PowerSeries { function } => step.power_series(function),
        Rule::Schoenberg => step.is(&|p, bits| of_form(&premises[0].form, p, bits)?.neg().exp()),
        Rule::NegativePower { power } => step.negative_power(power),
        Rule::Anchored => step.anchored(),
        Rule::SpectralDensity => density::nonnegative(step.form, &step.space),
        Rule::Askey => step.askey(),
        Rule::Wendland => step.wendland(),
        Rule::Polya => polya::check(step.form, &step.space),
        Rule::CosineOnLine => cosine_series::polynomial_of_cosine(step.form, &step.space),
        Rule::PeriodicContinuation => cosine_series::periodic_continuation(step.form, &step.space),
        Rule::HyperbolicSecant => step.hyperbolic_secant(),
        Rule::BoundedBernstein => step.bounded_bernstein(),
        Rule::BrownianBridge => step.brownian_bridge(),
        Rule::IntegratedBrownianMotion => half_line::integrated(step.form, &step.space),
        Rule::Reflection => step.reflection(),
        Rule::InfinitelyDivisible => step.infinitely_divisible(),
        Rule::Named => step.named(),
        Rule::Gegenbauer => step.gegenbauer(),
        Rule::DistancePower => step.distance_power(),
        Rule::Separable { function } => step.separable(function),
        Rule::NegatedKernel => step.is(&|p, bits| Ok(of_form(&premises[0].form, p, bits)?.neg())),
        Rule::FractionalPower { power } => step.fractional_power(power),
        Rule::Logarithm => step.logarithm(),
    }
}

/// A claim and its premises.
struct Step<'a> {
    claim: &'a Claim,
    form: &'a Form,
    space: Space,
    premises: &'a [&'a Claim],
    care: Care,
}

impl Step<'_> {
    /// Whether the claim is of the kind that the rule concludes, and the premises as many and of the kind that it needs.
    fn has_the_shape_of(&self, rule: &Rule) -> Outcome {
        let claimed = self.claim.property;
        let (concludes, count, from) = match rule {
            Rule::Formula => return Ok(()),
            Rule::Restriction | Rule::Polarisation | Rule::DecidedBranch => (claimed, 1, claimed),
            Rule::HyperbolicSecant | Rule::BoundedBernstein => (claimed, 0, claimed),
            Rule::Sum { weights } => (claimed, weights.len(), claimed),
            Rule::Product => (PSD, self.premises.len(), PSD),
            Rule::PowerSeries { .. } => (PSD, 1, PSD),
            Rule::Schoenberg | Rule::NegativePower { .. } | Rule::Anchored => (PSD, 1, CND),
            Rule::Maximum | Rule::DifferencePower | Rule::DistancePower | Rule::Separable { .. } => {
                (CND, 0, CND)
            }
            Rule::NegatedKernel => (CND, 1, PSD),
            Rule::Reflection => (PSD, 1, self.premises.first().map_or(PSD, |p| p.property)),
            Rule::FractionalPower { .. } | Rule::Logarithm => (CND, 1, CND),
            Rule::Constant
            | Rule::InnerProduct
            | Rule::RankOne { .. }
            | Rule::FiniteRank
            | Rule::Minimum
            | Rule::CosineOfDifference
            | Rule::SpectralDensity
            | Rule::Askey
            | Rule::Wendland
            | Rule::Polya
            | Rule::CosineOnLine
            | Rule::PeriodicContinuation
            | Rule::BrownianBridge
            | Rule::IntegratedBrownianMotion
            | Rule::InfinitelyDivisible
            | Rule::Named
            | Rule::Gegenbauer => (PSD, 0, PSD),
        };
        if !matches!(rule, Rule::Restriction) {
            ensure(self.premises.iter().all(|p| p.space() == self.space), "a premise holds elsewhere")?;
        }
        ensure(claimed == concludes, "the rule concludes something else")?;
        ensure(self.premises.len() == count, "the wrong number of premises")?;
        ensure(self.premises.iter().all(|p| p.property == from), "a premise claims something else")
    }

    /// Whether the claimed form has this value at all points.
    fn is(&self, value: At<'_>) -> Outcome {
        self.has(&self.claim.form, value)
    }

    fn has(&self, form: &Form, value: At<'_>) -> Outcome {
        self.agrees(&[form], form, value)
    }

    /// Whether the claimed form has the values of a function of one point.
    fn is_by(&self, function: &Form, value: At<'_>) -> Outcome {
        self.agrees(&[self.form, function], self.form, value)
    }

    fn agrees(&self, forms: &[&Form], form: &Form, value: At<'_>) -> Outcome {
        let mut forms = forms.to_vec();
        forms.extend(self.premises.iter().map(|p| &p.form));
        let ground = Ground::of(&forms, &self.space, self.care);
        ensure(ground.agree(&|p, bits| of_form(form, p, bits), value), "the form does not follow")
    }

    fn restriction(&self) -> Outcome {
        ensure(contains(&self.premises[0].space(), &self.space), "the premise's set is not larger")?;
        self.polarisation()
    }

    fn polarisation(&self) -> Outcome {
        self.is(&|p, bits| of_form(&self.premises[0].form, p, bits))
    }

    fn inner_product(&self) -> Outcome {
        let dot = |atom: &Atom, e: &Q| match atom {
            Atom::Dot(cols) if e.is_one() => Some(cols.clone()),
            _ => None,
        };
        ensure(has_column_weights(self.form, &self.space, dot), "not an inner product with weights ≥ 0")
    }

    fn rank_one(&self, function: &Form) -> Outcome {
        ensure(of_x_alone(function), "the function depends on more than x")?;
        ensure(defined::form_is_defined(function, &self.space), "the function may have no real value")?;
        self.is_by(function, &|p, bits| {
            Ok(of_form(function, p, bits)?.mul(&of_form(function, &p.swapped(), bits)?))
        })
    }

    fn minimum(&self) -> Outcome {
        let (constant, rest) = (Form::constant(self.form.constant_term()), self.form.without_constant());
        // c − max(f(x), f(z)) = min(c − f(x), c − f(z))
        if let Some(args) = symmetric_arguments(&rest.neg(), Fun::Max, &self.space) {
            let above = |a: &Form| Range::of(&constant.sub(a), &self.space).is_nonnegative();
            return ensure(args.iter().all(above), "an argument may exceed the constant");
        }
        // min(f(x), f(z)) + c = min(f(x) + c, f(z) + c)
        if let Some(args) = symmetric_arguments(&rest, Fun::Min, &self.space) {
            let above = |a: &Form| Range::of(&constant.add(a), &self.space).is_nonnegative();
            return ensure(args.iter().all(above), "an argument may be less than minus the constant");
        }
        // min(f(x), f(z))^p = min(f(x)^p, f(z)^p) where f ≥ 0.
        let args = match sole_atom(self.form) {
            Some((Atom::Call(Fun::Min, args), p)) if p.is_positive() => symmetric(args, &self.space),
            _ if half_line::is_monotone_of_extremum(self.form, &self.space) => return Ok(()),
            _ => None,
        }
        .ok_or("not a rising function of min(f(x), f(z)), nor a falling one of max(f(x), f(z))")?;
        ensure(args.iter().all(|a| Range::of(a, &self.space).is_nonnegative()), "an argument may be negative")
    }

    fn maximum(&self) -> Outcome {
        symmetric_arguments(self.form, Fun::Max, &self.space)
            .map(|_| ())
            .ok_or_else(|| "not max(f(x), f(z))".into())
    }

    fn cosine_of_difference(&self) -> Outcome {
        match sole_atom(self.form) {
            Some((Atom::Call(Fun::Cos, args), e)) if e.is_one() => {
                ensure(is_difference(&args[0], &self.space), "not the cosine of f(x) − f(z)")
            }
            _ => Err("not a cosine".into()),
        }
    }

    fn difference_power(&self) -> Outcome {
        match sole_atom(self.form) {
            Some((Atom::Call(Fun::Abs, args), p)) if p.is_positive() && *p <= int(2) => {
                ensure(is_difference(&args[0], &self.space), "not a power of |f(x) − f(z)|")
            }
            _ => Err("not a power of |f(x) − f(z)| between 0 and 2".into()),
        }
    }

    fn sum(&self, weights: &[Form]) -> Outcome {
        ensure(!weights.is_empty(), "an empty sum")?;
        ensure(weights.iter().all(is_nonnegative_constant), "a coefficient is not shown to be ≥ 0")?;
        self.is(&|p, bits| {
            weights.iter().zip(self.premises).try_fold(
                Interval::integer(0, bits),
                |sum, (weight, premise)| {
                    Ok(sum.add(&of_form(weight, p, bits)?.mul(&of_form(&premise.form, p, bits)?)))
                },
            )
        })
    }

    fn product(&self) -> Outcome {
        ensure(self.premises.len() >= 2, "a product of fewer than two kernels")?;
        self.is(&|p, bits| {
            self.premises.iter().try_fold(Interval::integer(1, bits), |product, premise| {
                Ok(product.mul(&of_form(&premise.form, p, bits)?))
            })
        })
    }

    fn power_series(&self, function: &Form) -> Outcome {
        self.is(&|p, bits| of_function(function, &of_form(&self.premises[0].form, p, bits)?))?;
        let radius = series::nonnegative(function)?;
        if radius.is_infinite() {
            return Ok(());
        }
        let diagonal =
            diagonal(&self.premises[0].form, &self.space).ok_or("the kernel's diagonal is not known")?;
        let bound = Range::of(&diagonal, &self.space).hi;
        ensure(
            bound.is_some_and(|bound| radius.holds(&bound)),
            "the series need not converge on the kernel's values",
        )
    }

    fn negative_power(&self, power: &Q) -> Outcome {
        ensure(power.is_positive(), "the exponent is not negative")?;
        ensure(
            least_of_negative_type(&self.premises[0].form, &self.space).is_positive(),
            "ψ is not shown to be > 0",
        )?;
        self.is(&|p, bits| of_form(&self.premises[0].form, p, bits)?.pow(&-power))
    }

    fn anchored(&self) -> Outcome {
        self.is(&|p, bits| Ok(of_form(&self.premises[0].form, p, bits)?.neg()))?;
        ensure(self.space.domain.holds_origin(), "the origin is not in the domain")?;
        let at_origin = at_origin(self.form, &self.space).ok_or("the value at the origin is not known")?;
        ensure(is_nonnegative_constant(&at_origin), "k(x,0) is not a constant ≥ 0")
    }

    fn askey(&self) -> Outcome {
        let (cols, power) = askey(self.form).ok_or("not max(0, 1 − |x−z|/c)^ℓ")?;
        let d = self.space.width(&cols).ok_or("the dimension is not fixed")?;
        ensure(power * int(2) >= int(d as i64 + 1), "ℓ < (d+1)/2")
    }

    fn wendland(&self) -> Outcome {
        let (cols, power, degree) = radial::wendland(self.form).ok_or("not a Wendland function")?;
        let d = self.space.width(&cols).ok_or("the dimension is not fixed")?;
        ensure(power * int(2) >= int(d as i64 + 2 * degree + 1), "ℓ < (d+1)/2 + k")
    }

    fn hyperbolic_secant(&self) -> Outcome {
        let inside = match (self.claim.property, sole_atom(self.form)) {
            (PSD, Some((Atom::Call(Fun::Cosh, args), e))) if e.is_negative() => args[0].clone(),
            (CND, Some((Atom::Call(Fun::Log, args), e))) if e.is_one() => match sole_atom(&args[0]) {
                Some((Atom::Call(Fun::Cosh, inner), k)) if k.is_positive() => inner[0].clone(),
                _ => return Err("not log cosh".into()),
            },
            _ => return Err("not a negative power of cosh".into()),
        };
        ensure(is_low_power_of_distance(&inside), "not of a power of a distance up to 1")
    }

    fn bounded_bernstein(&self) -> Outcome {
        ensure(
            radial::bounded_bernstein(self.form, self.claim.property == PSD),
            "not a bounded Bernstein function of a distance",
        )
    }

    fn brownian_bridge(&self) -> Outcome {
        let (minimum, product) =
            self.form.partition(|m, _| m.0.keys().any(|a| matches!(a, Atom::Call(Fun::Min, _))));
        let args =
            symmetric_arguments(&minimum, Fun::Min, &self.space).ok_or("not min(f(x), f(z)) − f(x)·f(z)")?;
        let [f, g] = args.as_slice() else { return Err("not two arguments".into()) };
        let values = Range::of(f, &self.space);
        ensure(!f.dependence().is_constant(), "f is a constant")?;
        // min(s,t) − c·st is min(cs,ct) − cs·ct divided by c.
        let whole = f.mul(g, &self.space).ok_or("f(x)·f(z) is too large")?;
        let ends = whole.0.values().next().zip(product.0.values().next());
        let factor =
            ends.map(|(a, b)| -(b / a)).filter(Signed::is_positive).ok_or("not minus c·f(x)·f(z)")?;
        ensure(values.is_within(&int(0), &factor.recip()), "f is not shown to lie in [0, 1/c]")?;
        let derived = whole.scale(&-factor.clone());
        ensure(derive::is_same(&derived, &product, &self.space), "not minus c·f(x)·f(z)")?;
        self.has(&product, &|p, bits| {
            let scaled = of_form(f, p, bits)?.mul(&Interval::exact(&factor, bits));
            Ok(scaled.mul(&of_form(g, p, bits)?).neg())
        })
    }

    /// k(x−z) ± k(x+z), or ψ(x+z) − ψ(x−z), or ψ(x) + ψ(z) − ψ(x+z)/2 − ψ(x−z)/2 − ψ(0), on a line.
    fn reflection(&self) -> Outcome {
        let premise = self.premises[0];
        let cols = half_line::sole_distance(&premise.form).ok_or("not a function of one distance")?;
        ensure(self.space.width(&cols) == Some(1), "not on a line")?;
        // With each point, its reflection, moved along the line where it has to be.
        let holds = matches!(self.space.domain, Domain::All | Domain::Ball(_) | Domain::Orthant);
        ensure(holds, "the set does not hold reflections")?;
        let near = |p: &Pair, bits| of_form(&premise.form, p, bits);
        let far = |p: &Pair, bits| of_form(&premise.form, &p.reflected(), bits);
        if premise.property == PSD {
            return self
                .is(&|p, bits| Ok(near(p, bits)?.sub(&far(p, bits)?)))
                .or_else(|_| self.is(&|p, bits| Ok(near(p, bits)?.add(&far(p, bits)?))));
        }
        self.is(&|p, bits| Ok(far(p, bits)?.sub(&near(p, bits)?))).or_else(|_| {
            self.is(&|p, bits| {
                let half = Interval::exact(&ratio(1, 2), bits);
                let of_x = near(&p.to_origin(), bits)?;
                let of_z = near(&p.swapped().to_origin(), bits)?;
                let at_zero = near(&p.diagonal(), bits)?;
                let both = near(p, bits)?.add(&far(p, bits)?).mul(&half);
                Ok(of_x.add(&of_z).sub(&both).sub(&at_zero))
            })
        })
    }

    /// A positive power of a named kernel all of whose positive powers are kernels.
    fn infinitely_divisible(&self) -> Outcome {
        let kernel = match sole_atom(self.form) {
            Some((Atom::Named(kernel), e)) if e.is_positive() => Some(kernel),
            Some((Atom::Power(base), e)) if e.is_positive() => match sole_atom(base) {
                Some((Atom::Named(kernel), e)) if e.is_positive() => Some(kernel),
                _ => None,
            },
            _ => None,
        };
        let kernel = kernel.ok_or("not a positive power of a named kernel")?;
        ensure(
            kernel.named.family.is_infinitely_divisible(&kernel.named),
            "not an infinitely divisible kernel for every such parameter",
        )
    }

    fn named(&self) -> Outcome {
        match sole_atom(self.form) {
            Some((Atom::Named(kernel), e)) if e.is_one() => {
                let named = &kernel.named;
                let reason = format!("{} is not a kernel for every such parameter here", named.family.name());
                ensure(named.family.psd(named, &self.space), &reason)
            }
            _ => Err("not a named kernel".into()),
        }
    }

    fn gegenbauer(&self) -> Outcome {
        let coefficients = gegenbauer::coefficients(self.form, &self.space)?;
        ensure(coefficients.iter().all(|c| !c.is_negative()), "a coefficient is negative")
    }

    fn distance_power(&self) -> Outcome {
        let square = |atom: &Atom, e: &Q| match atom {
            Atom::Distance(cols) if *e == int(2) => Some(cols.clone()),
            _ => None,
        };
        let sum = |atom: &Atom, e: &Q| match atom {
            Atom::Distance1(cols) if e.is_one() => Some(cols.clone()),
            _ => None,
        };
        if has_column_weights(self.form, &self.space, square)
            || has_column_weights(self.form, &self.space, sum)
        {
            return Ok(());
        }
        match sole_atom(self.form) {
            Some((Atom::Distance(_), p)) => {
                ensure(p.is_positive() && *p <= int(2), "the power of |x−z| is not between 0 and 2")
            }
            Some((Atom::Distance1(_), p)) => {
                ensure(p.is_positive() && *p <= Q::one(), "the power of |x−z|_1 is not between 0 and 1")
            }
            _ => Err("not a power of a distance".into()),
        }
    }

    fn separable(&self, function: &Form) -> Outcome {
        ensure(of_x_alone(function), "the function depends on more than x")?;
        self.is_by(function, &|p, bits| {
            Ok(of_form(function, p, bits)?.add(&of_form(function, &p.swapped(), bits)?))
        })
    }

    fn fractional_power(&self, power: &Q) -> Outcome {
        ensure(power.is_positive() && *power <= Q::one(), "the power is not between 0 and 1")?;
        ensure(
            least_of_negative_type(&self.premises[0].form, &self.space).is_nonnegative(),
            "ψ is not shown to be ≥ 0",
        )?;
        self.is(&|p, bits| of_form(&self.premises[0].form, p, bits)?.pow(power))
    }

    fn logarithm(&self) -> Outcome {
        ensure(
            least_of_negative_type(&self.premises[0].form, &self.space).is_positive(),
            "ψ is not shown to be > 0",
        )?;
        self.is(&|p, bits| of_form(&self.premises[0].form, p, bits)?.ln())
    }
}

//! Whether a kernel is strictly definite, characteristic or universal, derived from the steps of a proof.
//!
//! A kernel k(x−z) that is continuous and whose spectral measure has all of R^d as its support is strictly positive definite
//! (Wendland 2005, Theorem 6.8), characteristic (Sriperumbudur et al. 2010, Theorem 9) and universal on compact sets (Micchelli,
//! Xu, Zhang 2006). A power series in ⟨x,z⟩ with every coefficient > 0 is universal on compact sets (Steinwart 2001).
//! Kernels of finite rank, and those that do not distinguish two points, have none of the three properties.

use std::fmt;

use num_traits::{One, Signed, Zero};
use serde_json::{Value as Json, json};

use crate::check::enclose::enclose;
use crate::check::exact::{Q, int};
use crate::check::form::{Atom, Cols, Form, Fun, Monomial, Opaque, Space};
use crate::check::proof::{Proof, Property, Rule};
use crate::check::verify::range::Range;
use crate::check::{Dim, Domain, Needs, verify};
use crate::family::Invariance;
use crate::family::noise::NOISE;
use crate::formula::{Formula, Parameter};

/// Whether a kernel has a property, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Quality {
    /// It has the property.
    Yes(String),
    /// It does not have the property.
    No(String),
    /// Not known here.
    Unknown,
}

/// The properties of a proven kernel on its domain.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Qualities {
    /// Gram matrices of distinct points are positive definite.
    pub strict: Quality,
    /// Distinct probability measures have distinct means in its feature space.
    pub characteristic: Quality,
    /// Its functions are dense in the continuous ones on every compact subset of the domain.
    pub universal: Quality,
}

const FULL: &str = "the support of its spectral measure is all of R^d";
const SERIES: &str = "a power series in <x,z> with every coefficient > 0 (Steinwart 2001)";

/// The properties that a checked proof shows.
pub(super) fn of(proof: &Proof, formula: &Formula) -> Qualities {
    let all = |quality: Quality| Qualities {
        strict: quality.clone(),
        characteristic: quality.clone(),
        universal: quality,
    };
    if let Some(reason) = does_not_tell_apart(proof) {
        return all(Quality::No(reason));
    }
    if may_vanish(formula) {
        return all(Quality::Unknown);
    }
    if let Some(qualities) = discontinuous(proof) {
        return qualities;
    }
    if full(proof) {
        return Qualities {
            strict: Quality::Yes(format!("{FULL} (Wendland 2005, Theorem 6.8)")),
            characteristic: Quality::Yes(format!("{FULL} (Sriperumbudur et al. 2010, Theorem 9)")),
            universal: Quality::Yes(format!("{FULL} (Micchelli, Xu, Zhang 2006), on compact sets")),
        };
    }
    if let Some(qualities) = band_limited(proof) {
        return qualities;
    }
    let mut qualities = all(Quality::Unknown);
    if let Some(reason) = universal(proof) {
        qualities.universal = Quality::Yes(format!("{reason}, on compact sets"));
        qualities.strict = Quality::Yes(format!("it is universal: {reason}"));
        let compact = match (proof.claim.domain, proof.claim.dim) {
            (Domain::Ball(_) | Domain::Sphere, _) => true,
            (Domain::Box(..), dim) => dim != Dim::Any,
            _ => false,
        };
        if compact {
            qualities.characteristic = Quality::Yes("it is universal and the domain is compact".into());
        }
    }
    if qualities.strict == Quality::Unknown {
        if let Some(reason) = strict(proof) {
            qualities.strict = Quality::Yes(reason);
        } else if vanishes_at_origin(formula, proof) {
            qualities.strict = Quality::No("k(0,0) = 0".into());
        }
    }
    qualities
}

/// The qualities of a kernel with a part that is not continuous; the theorems about universal and characteristic kernels are
/// about continuous ones.
fn discontinuous(proof: &Proof) -> Option<Qualities> {
    let (form, space) = (&proof.claim.form, proof.claim.space());
    let mut named = Vec::new();
    atoms(form, &mut |atom| {
        if let Atom::Named(kernel) = atom {
            named.push(kernel.clone());
        }
    });
    let is_continuous = |kernel: &Opaque| {
        // Some columns of a point of the sphere may all be 0.
        let domain =
            if kernel.cols.is_some() && space.domain == Domain::Sphere { Domain::All } else { space.domain };
        kernel.named.family.is_continuous(&kernel.named, &Space { domain, ..space })
    };
    if named.iter().all(is_continuous) {
        return None;
    }
    let reason = strict(proof).map_or(Quality::Unknown, Quality::Yes);
    Some(Qualities { strict: reason, characteristic: Quality::Unknown, universal: Quality::Unknown })
}

/// Whether a form is v·noise with v > 0, the identity matrix on distinct points.
fn is_noise(form: &Form) -> bool {
    match form.single().and_then(|(m, c)| m.single().filter(|_| c.is_positive())) {
        Some((Atom::Named(kernel), e)) if kernel.cols.is_none() && e.is_positive() => {
            let is_positive = |value: &Parameter| matches!(value, Parameter::Number(v) if v.is_positive());
            kernel.named.family == NOISE
                && kernel.named.parameters.iter().all(|(_, value)| is_positive(value))
        }
        _ => false,
    }
}

/// Whether a formula has an unknown number that may be 0, such as the factor `?`, which stands for every number from 0.
fn may_vanish(formula: &Formula) -> bool {
    let is_positive = |parameter: &Parameter| match parameter {
        Parameter::Number(value) | Parameter::Between(value, _) => value.is_positive(),
        Parameter::Over(values) => values.iter().all(Q::is_positive),
        _ => false,
    };
    let is_open = match formula {
        Formula::Named(kernel) => {
            kernel.family.name() == "const" && !kernel.parameters.iter().all(|(_, value)| is_positive(value))
        }
        _ => false,
    };
    is_open || formula.children().into_iter().any(may_vanish)
}

/// The qualities of sinc(b|x−z|) on all of R^d: its spectral measure is the projection of the uniform law on a sphere of R³,
/// which is compact, and a ball where d ≤ 2.
fn band_limited(proof: &Proof) -> Option<Qualities> {
    let claim = &proof.claim;
    let Dim::Exactly(d @ 1..=3) = claim.dim else { return None };
    let (Atom::Call(Fun::Sinc, args), power) = claim.form.single().and_then(|(m, _)| m.single())? else {
        return None;
    };
    let (inside, _) = args[0].single()?;
    let of_distance = matches!(inside.single()?, (Atom::Distance(None), e) if e.is_one());
    if claim.domain != Domain::All || !power.is_one() || !of_distance {
        return None;
    }
    let ball = "the support of its spectral measure is a ball";
    let on_ball = |reference: &str| match d {
        3 => Quality::Unknown,
        _ => Quality::Yes(format!("{ball} ({reference})")),
    };
    let compact = "the support of its spectral measure is compact (Sriperumbudur et al. 2010, Theorem 9)";
    Some(Qualities {
        strict: on_ball("Wendland 2005, Theorem 6.8"),
        characteristic: Quality::No(compact.into()),
        universal: on_ball("on compact sets: Micchelli, Xu, Zhang 2006"),
    })
}

/// Whether k(0,0) is exactly 0 and the origin belongs to the domain.
fn vanishes_at_origin(formula: &Formula, proof: &Proof) -> bool {
    let d = match proof.claim.dim {
        Dim::Any => Needs::of(formula).least,
        Dim::Exactly(d) => d,
    };
    let origin = vec![Q::zero(); d];
    let settled = formula.filled() == *formula;
    settled
        && proof.claim.domain.holds(&origin)
        && enclose(formula, &origin, &origin, 128).is_ok_and(|value| value.is_zero())
}

/// Why the kernel does not distinguish two points, or why more points than its rank are dependent.
fn does_not_tell_apart(proof: &Proof) -> Option<String> {
    let claim = &proof.claim;
    // The sphere of R^1 has two points only.
    let is_finite_set = claim.domain == Domain::Sphere && !matches!(claim.dim, Dim::Exactly(d) if d > 1);
    if is_finite_set {
        return None;
    }
    if has_finite_rank(proof) {
        return Some("its feature space has finite dimension".into());
    }
    if let Dim::Exactly(d) = claim.dim {
        let mut read = vec![false; d];
        let mut all = false;
        atoms(&claim.form, &mut |atom| match columns(atom) {
            Some(Some(list)) => list.iter().for_each(|c| read[*c] = true),
            Some(None) => all = true,
            None => {}
        });
        if !all && read.contains(&false) {
            return Some("it does not read every column".into());
        }
    }
    let symmetric = matches!(claim.domain, Domain::All | Domain::Ball(_));
    if symmetric && !claim.form.dependence().pair {
        return Some("it depends on |x| and |z| alone: x and −x look the same".into());
    }
    None
}

/// The columns that an atom of the points reads.
fn columns(atom: &Atom) -> Option<&Cols> {
    match atom {
        Atom::Dot(cols)
        | Atom::Distance(cols)
        | Atom::Distance1(cols)
        | Atom::NormX(cols)
        | Atom::NormZ(cols) => Some(cols),
        Atom::Named(kernel) => Some(&kernel.cols),
        _ => None,
    }
}

/// Visits every atom of a form, those inside others, too.
fn atoms(form: &Form, visit: &mut dyn FnMut(&Atom)) {
    fn inside(m: &Monomial, visit: &mut dyn FnMut(&Atom)) {
        for atom in m.0.keys() {
            visit(atom);
            match atom {
                Atom::Exp(inner) => inside(inner, visit),
                Atom::Power(base) => atoms(base, visit),
                Atom::Call(_, args) => args.iter().for_each(|a| atoms(a, visit)),
                _ => {}
            }
        }
    }
    form.0.keys().for_each(|m| inside(m, visit));
}

fn has_finite_rank(proof: &Proof) -> bool {
    let premises = || proof.premises.iter().all(has_finite_rank);
    match &proof.rule {
        Rule::Constant | Rule::InnerProduct | Rule::RankOne { .. } | Rule::FiniteRank => true,
        Rule::CosineOfDifference | Rule::CosineOnLine => true,
        Rule::Sum { .. } | Rule::Product | Rule::Formula | Rule::Restriction | Rule::Polarisation => {
            proof.claim.property == Property::PositiveSemidefinite && premises()
        }
        Rule::PowerSeries { function } => is_polynomial(function) && premises(),
        _ => false,
    }
}

fn is_polynomial(function: &Form) -> bool {
    function.0.keys().all(|m| m.0.iter().all(|(a, e)| *a == Atom::Var && e.is_integer() && e.is_positive()))
}

/// Whether a form reads the points through x − z alone, and all columns of it.
fn is_shift_invariant(form: &Form) -> bool {
    let mut fits = true;
    atoms(form, &mut |atom| {
        fits &= match atom {
            Atom::Distance(cols) | Atom::Distance1(cols) => cols.is_none(),
            Atom::Dot(_) | Atom::NormX(_) | Atom::NormZ(_) => false,
            Atom::Named(kernel) => {
                kernel.cols.is_none() && kernel.named.family.invariance() != Invariance::None
            }
            _ => true,
        };
    });
    fits
}

/// Whether a form reads the points through |x−z| alone.
fn is_radial(form: &Form) -> bool {
    let mut fits = true;
    atoms(form, &mut |atom| {
        fits &= match atom {
            Atom::Distance(cols) => cols.is_none(),
            Atom::Distance1(_) | Atom::Dot(_) | Atom::NormX(_) | Atom::NormZ(_) | Atom::Named(_) => false,
            _ => true,
        };
    });
    fits
}

/// Whether a kernel is continuous and shift-invariant with a spectral measure whose support is all of R^d.
fn full(proof: &Proof) -> bool {
    let claim = &proof.claim;
    if !verify::varies(&claim.form, &claim.space()) {
        return false;
    }
    match &proof.rule {
        Rule::Formula | Rule::Restriction | Rule::Polarisation => return full(&proof.premises[0]),
        _ if !is_shift_invariant(&claim.form) => return false,
        // A rule that holds only on the domain gives no statement about the kernel on R^d.
        _ if claim.domain != Domain::All && !is_global(proof) => return false,
        _ => {}
    }
    // A radial kernel of every dimension is a mixture of Gaussians, and one that varies is not a constant alone
    // (Schoenberg 1938).
    if claim.dim == Dim::Any && claim.domain == Domain::All && is_radial(&claim.form) {
        return true;
    }
    match &proof.rule {
        Rule::SpectralDensity => has_analytic_density(&claim.form),
        // Functions of compact support have analytic densities.
        Rule::Askey | Rule::Wendland => true,
        // Mixtures of triangles on the line; mixtures of Gaussians.
        Rule::Polya | Rule::HyperbolicSecant | Rule::BoundedBernstein => true,
        Rule::Named => match claim.form.single().and_then(|(m, _)| m.single()) {
            Some((Atom::Named(kernel), _)) => {
                ["rbf", "laplacian", "matern", "rq", "wendland"].contains(&kernel.named.family.name())
            }
            _ => false,
        },
        // exp(−ψ), and mixtures of exp(−sψ) over s > 0.
        Rule::Schoenberg | Rule::NegativePower { .. } => full_exponent(&proof.premises[0]),
        Rule::Sum { weights } => {
            weights.iter().zip(&proof.premises).any(|(w, p)| is_positive_constant(w) && full(p))
        }
        // The measure of a product is the convolution.
        Rule::Product => {
            proof.premises.iter().all(|p| is_shift_invariant(&p.claim.form))
                && proof.premises.iter().any(full)
        }
        // Some power k^n with n ≥ 1 has a coefficient > 0, because the series varies.
        Rule::PowerSeries { .. } => full(&proof.premises[0]),
        _ => false,
    }
}

/// Whether a radial form is one of those whose density is analytic away from 0, so that it vanishes on no open set: every
/// term that varies has an exponential as a factor, or the form is a piecewise polynomial.
fn has_analytic_density(form: &Form) -> bool {
    let has_exponential = |m: &Monomial| m.0.keys().any(|a| matches!(a, Atom::Exp(_)));
    let mut is_piecewise = true;
    atoms(form, &mut |atom| {
        is_piecewise &= match atom {
            Atom::Call(fun, _) => matches!(fun, Fun::Max | Fun::Min | Fun::Abs),
            other => matches!(other, Atom::Distance(_)),
        };
    });
    is_piecewise || form.without_constant().0.keys().all(has_exponential)
}

/// Whether all steps of a proof hold on all of R^d, whatever their domain is.
fn is_global(proof: &Proof) -> bool {
    let rule = match &proof.rule {
        Rule::DistancePower | Rule::SpectralDensity | Rule::Askey | Rule::Wendland | Rule::Constant => true,
        Rule::HyperbolicSecant | Rule::BoundedBernstein | Rule::CosineOnLine | Rule::NegatedKernel => true,
        Rule::Sum { .. } | Rule::Product | Rule::Schoenberg => true,
        Rule::PowerSeries { function } => is_polynomial(function),
        Rule::Named => ["rbf", "laplacian", "matern", "rq", "wendland", "periodic"].iter().any(|name| {
            let kernel = proof.claim.form.single().and_then(|(m, _)| m.single());
            matches!(kernel, Some((Atom::Named(k), _)) if k.named.family.name() == *name)
        }),
        _ => false,
    };
    rule && proof.premises.iter().all(is_global)
}

/// Whether exp(−sψ) is [`full`] for every s > 0.
fn full_exponent(proof: &Proof) -> bool {
    let claim = &proof.claim;
    if matches!(proof.rule, Rule::Polarisation | Rule::Restriction) {
        return full_exponent(&proof.premises[0]);
    }
    if !is_shift_invariant(&claim.form) || !verify::varies(&claim.form, &claim.space()) {
        return false;
    }
    match &proof.rule {
        // Stable laws and products of them.
        Rule::DistancePower => true,
        Rule::HyperbolicSecant | Rule::BoundedBernstein => true,
        Rule::FractionalPower { .. } | Rule::Logarithm => full_exponent(&proof.premises[0]),
        Rule::NegatedKernel => full(&proof.premises[0]),
        Rule::Sum { weights } => {
            weights.iter().zip(&proof.premises).any(|(w, p)| is_positive_constant(w) && full_exponent(p))
        }
        _ => false,
    }
}

fn is_positive_constant(form: &Form) -> bool {
    form.dependence().is_constant() && Range::of(form, &Space::EVERYWHERE).is_positive()
}

/// Whether a form is shown to be nowhere 0: its bounds say so, or it is a product of exponentials and such factors.
fn is_never_zero(form: &Form, space: &Space) -> bool {
    let bounded = |form: &Form| Range::of(form, space).excludes_zero();
    let factor = |atom: &Atom| matches!(atom, Atom::Exp(_)) || bounded(&Form::atom(atom.clone()));
    bounded(form) || form.single().is_some_and(|(m, _)| m.0.keys().all(factor))
}

/// Why the kernel is universal on compact sets although it is not a function of x − z.
fn universal(proof: &Proof) -> Option<String> {
    let claim = &proof.claim;
    if full(proof) {
        return Some(FULL.into());
    }
    match &proof.rule {
        Rule::Formula | Rule::Restriction | Rule::Polarisation => universal(&proof.premises[0]),
        // exp(−ψ), and a mixture of exp(−sψ) over all s > 0: a measure in the null space of the mixture is in that of
        // every one of them.
        Rule::Schoenberg | Rule::NegativePower { .. } => universal_exponent(&proof.premises[0]),
        Rule::PowerSeries { function } if has_positive_coefficients(function) => {
            universal_series(&proof.premises[0])
        }
        Rule::Sum { weights } => weights
            .iter()
            .zip(&proof.premises)
            .filter(|(w, _)| is_positive_constant(w))
            .find_map(|(_, p)| universal(p))
            .map(|reason| format!("one of its terms is: {reason}")),
        // f(x)·k(x,z)·f(z) with f continuous and never 0.
        Rule::Product => {
            let (factors, kernels): (Vec<&Proof>, Vec<&Proof>) =
                proof.premises.iter().partition(|p| matches!(p.rule, Rule::RankOne { .. }));
            let never_zero = |p: &&Proof| match &p.rule {
                Rule::RankOne { function } => is_never_zero(function, &claim.space()),
                _ => false,
            };
            match kernels.as_slice() {
                [kernel] if factors.iter().all(never_zero) => {
                    Some(format!("f(x)k(x,z)f(z) with f ≠ 0: {}", universal(kernel)?))
                }
                _ => None,
            }
        }
        _ => None,
    }
}

/// Why Σ aₙkⁿ with every aₙ > 0 is universal on compact sets.
fn universal_series(premise: &Proof) -> Option<String> {
    match premise.claim.form.single().map(|(m, c)| (m.single(), c)) {
        Some((Some((Atom::Dot(None), e)), c)) if e.is_one() && c.is_positive() => Some(SERIES.into()),
        // It has k itself as one of its terms.
        _ => universal(premise),
    }
}

/// Why exp(−sψ) is universal on compact sets for every s > 0.
fn universal_exponent(proof: &Proof) -> Option<String> {
    match &proof.rule {
        Rule::Restriction | Rule::Polarisation => universal_exponent(&proof.premises[0]),
        Rule::NegatedKernel => universal_series(&proof.premises[0]),
        // exp(−f(x) − f(z)) is a product of functions that are never 0.
        Rule::Sum { weights } => {
            let parts = || weights.iter().zip(&proof.premises);
            let mut joint = parts().filter(|(_, p)| !matches!(p.rule, Rule::Separable { .. }));
            match (joint.next(), joint.next()) {
                (Some((w, part)), None) if is_positive_constant(w) => universal_exponent(part),
                _ => None,
            }
        }
        _ => {
            let everywhere = proof.claim.domain == Domain::All || is_global(proof);
            (everywhere && full_exponent(proof)).then(|| FULL.into())
        }
    }
}

/// Whether every coefficient of a power series is shown to be > 0: exp(bt) and (a − bt)^(−e) alone or with powers of t and
/// each other, all with coefficients > 0 in front.
fn has_positive_coefficients(function: &Form) -> bool {
    let is_series = |m: &Monomial| match m.single() {
        Some((Atom::Exp(inner), b)) => b.is_positive() && *inner == Monomial::atom(Atom::Var),
        Some((Atom::Power(base), e)) => {
            let slope = base.without_constant();
            let falls =
                slope.single().is_some_and(|(m, b)| b.is_negative() && *m == Monomial::atom(Atom::Var));
            e.is_negative() && base.constant_term().is_positive() && falls
        }
        _ => false,
    };
    let is_power = |m: &Monomial| m.0.iter().all(|(a, e)| *a == Atom::Var && e.is_integer() && *e >= int(0));
    let terms = || function.0.iter();
    terms().all(|(m, c)| c.is_positive() && (is_power(m) || is_series(m)))
        && terms().any(|(m, _)| is_series(m))
}

/// Why Gram matrices of distinct points are positive definite.
fn strict(proof: &Proof) -> Option<String> {
    if let Some(reason) = universal(proof) {
        return Some(reason);
    }
    match &proof.rule {
        Rule::Named if is_noise(&proof.claim.form) => Some("the identity matrix on distinct points".into()),
        Rule::Formula | Rule::Restriction | Rule::Polarisation => strict(&proof.premises[0]),
        Rule::Sum { weights } => weights
            .iter()
            .zip(&proof.premises)
            .filter(|(w, _)| is_positive_constant(w))
            .find_map(|(_, p)| strict(p))
            .map(|reason| format!("one of its terms is: {reason}")),
        // A positive definite matrix times, entry by entry, one with a positive diagonal (Schur 1911).
        Rule::Product => {
            let index = proof.premises.iter().position(|p| strict(p).is_some())?;
            let others = proof.premises.iter().enumerate().filter(|(i, _)| *i != index);
            let positive = |p: &Proof| {
                let space = p.claim.space();
                strict(p).is_some()
                    || verify::diagonal(&p.claim.form, &space).is_some_and(|d| is_never_zero(&d, &space))
            };
            others.map(|(_, p)| p).all(positive).then(|| {
                let reason = strict(&proof.premises[index]).unwrap_or_default();
                format!("one of its factors is, and the others are positive at x = z: {reason}")
            })
        }
        _ => None,
    }
}

impl Quality {
    pub(super) fn to_json(&self) -> Json {
        match self {
            Self::Yes(reason) => json!({"value": true, "text": reason}),
            Self::No(reason) => json!({"value": false, "text": reason}),
            Self::Unknown => json!({"value": null, "text": "not known"}),
        }
    }
}

impl fmt::Display for Quality {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Yes(reason) => write!(f, "yes, {reason}"),
            Self::No(reason) => write!(f, "no, {reason}"),
            Self::Unknown => f.write_str("not known"),
        }
    }
}

impl fmt::Display for Qualities {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "strictly positive definite: {}", self.strict)?;
        write!(f, "\ncharacteristic: {}", self.characteristic)?;
        write!(f, "\nuniversal: {}", self.universal)
    }
}

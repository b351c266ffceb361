//! The value of a form at two points, and whether two values agree at points spread over a domain.
//!
//! The checker verifies in this way that a form equals a formula, or that a claim is the conclusion of its rule: not by
//! rewriting one into the other, but by enclosures of both at exact points of the domain. Two values differ as soon as
//! their enclosures are disjoint; the precision exceeds that of the constants.

use std::hash::{DefaultHasher, Hash, Hasher};

use num_bigint::BigInt;
use num_traits::{One, Signed, Zero};
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use super::branches::{self, Branches, Seen};
use crate::check::enclose::{Evaluation, distance1, dot, squared_distance};
use crate::check::exact::{self, Q, int, ratio};
use crate::check::form::{Atom, Cols, Form, Fun, Monomial, Space};
use crate::check::interval::{Fault, Interval};
use crate::check::steps;
use crate::check::{Dim, Domain};
use crate::family::constant::CONSTANT;
use crate::formula::{Formula, Written};

/// Two points.
#[derive(Debug, Clone)]
pub(super) struct Pair {
    x: Vec<Q>,
    z: Vec<Q>,
}

impl Pair {
    /// (0, z).
    pub(super) fn from_origin(z: Vec<Q>) -> Self {
        Self { x: vec![Q::zero(); z.len()], z }
    }

    /// (z, x).
    pub(super) fn swapped(&self) -> Self {
        Self { x: self.z.clone(), z: self.x.clone() }
    }

    /// (x, x).
    pub(super) fn diagonal(&self) -> Self {
        Self { x: self.x.clone(), z: self.x.clone() }
    }

    /// (x, −z).
    pub(super) fn reflected(&self) -> Self {
        Self { x: self.x.clone(), z: self.z.iter().map(|c| -c).collect() }
    }

    /// (x, 0).
    pub(super) fn to_origin(&self) -> Self {
        Self { x: self.x.clone(), z: vec![Q::zero(); self.x.len()] }
    }
}

/// The value of a named kernel; without an enclosure, a number in (0, 1) that represents it at these points.
fn named_value(named: &Written, x: &[Q], z: &[Q], bits: u32) -> Result<Interval, Fault> {
    match named.family.enclose(named, x, z, bits) {
        Err(Fault::Unknown) => {
            let mut hasher = DefaultHasher::new();
            format!("{named:?}").hash(&mut hasher);
            if x <= z {
                (x, z).hash(&mut hasher)
            } else {
                (z, x).hash(&mut hasher)
            }
            let thousandths = i64::try_from(hasher.finish() % 751).unwrap_or(0);
            Ok(Interval::exact(&ratio(125 + thousandths, 1000), bits))
        }
        known => known,
    }
}

/// The value of a formula.
pub(super) fn of_formula(formula: &Formula, at: &Pair, bits: u32) -> Result<Interval, Fault> {
    let named = |named: &Written, x: &[Q], z: &[Q]| named_value(named, x, z, bits);
    Evaluation { bits, named: &named }.of(formula, &at.x, &at.z)
}

/// The value of a form.
pub(super) fn of_form(form: &Form, at: &Pair, bits: u32) -> Result<Interval, Fault> {
    Valuation { at: Some(at), var: None, bits }.form(form)
}

/// The value of a function of t.
pub(super) fn of_function(function: &Form, t: &Interval) -> Result<Interval, Fault> {
    Valuation { at: None, var: Some(t), bits: t.bits() }.form(function)
}

/// An enclosure of a form without points and without t.
pub(crate) fn constant(form: &Form, bits: u32) -> Result<Interval, Fault> {
    Valuation { at: None, var: None, bits }.form(form)
}

/// Whether a form is a constant that is shown to be at least zero, also for every value of unknown constants.
pub(crate) fn is_nonnegative_constant(form: &Form) -> bool {
    if let Some(c) = form.as_constant() {
        return !c.is_negative();
    }
    if form.dependence().is_constant() {
        return constant(form, 256).is_ok_and(|v| v.is_nonnegative());
    }
    form.single().is_some_and(|(m, c)| {
        let (unknown, known) = m.split(is_unknown_constant);
        !unknown.0.is_empty()
            && unknown.0.values().all(Signed::is_positive)
            && is_nonnegative_constant(&Form::term(c.clone(), known))
    })
}

/// Whether an atom is `?` or another constant with open values, all of which are at least zero.
pub(crate) fn is_unknown_constant(atom: &Atom) -> bool {
    match atom {
        Atom::Named(kernel) => {
            let named = &kernel.named;
            named.family == CONSTANT && named.family.psd(named, &Space::EVERYWHERE)
        }
        _ => false,
    }
}

struct Valuation<'a> {
    at: Option<&'a Pair>,
    var: Option<&'a Interval>,
    bits: u32,
}

impl Valuation<'_> {
    fn form(&self, form: &Form) -> Result<Interval, Fault> {
        let mut sum = Interval::integer(0, self.bits);
        for (m, c) in &form.0 {
            sum = sum.add(&self.monomial(m)?.mul(&Interval::exact(c, self.bits)));
        }
        Ok(sum)
    }

    fn monomial(&self, m: &Monomial) -> Result<Interval, Fault> {
        let mut product = Interval::integer(1, self.bits);
        for (atom, e) in &m.0 {
            product = product.mul(&self.power(atom, e)?);
        }
        Ok(product)
    }

    fn points(&self, cols: &Cols) -> Result<(Vec<Q>, Vec<Q>), Fault> {
        let at = self.at.ok_or(Fault::Unknown)?;
        let chosen = |p: &[Q]| match cols {
            None => Ok(p.to_vec()),
            Some(list) => list.iter().map(|c| p.get(*c).cloned().ok_or(Fault::Unknown)).collect(),
        };
        Ok((chosen(&at.x)?, chosen(&at.z)?))
    }

    fn power(&self, atom: &Atom, e: &Q) -> Result<Interval, Fault> {
        let exactly = |q: &Q| Interval::exact(q, self.bits);
        // The square of a distance is rational, so that one root at most is taken.
        let root_of = |square: &Q| exactly(square).pow(&(e / int(2)));
        let value = match atom {
            Atom::Var => self.var.cloned().ok_or(Fault::Unknown)?,
            Atom::Dot(cols) => self.points(cols).map(|(x, z)| exactly(&dot(&x, &z)))?,
            Atom::Distance(cols) => {
                return self.points(cols).and_then(|(x, z)| root_of(&squared_distance(&x, &z)));
            }
            Atom::Distance1(cols) => self.points(cols).map(|(x, z)| exactly(&distance1(&x, &z)))?,
            Atom::NormX(cols) => return self.points(cols).and_then(|(x, _)| root_of(&dot(&x, &x))),
            Atom::NormZ(cols) => return self.points(cols).and_then(|(_, z)| root_of(&dot(&z, &z))),
            Atom::Named(kernel) => {
                let (x, z) = self.points(&kernel.cols)?;
                named_value(&kernel.named, &x, &z, self.bits)?
            }
            Atom::Pi => Interval::pi(self.bits),
            Atom::Exp(m) => return self.monomial(m)?.mul(&exactly(e)).exp(),
            Atom::Power(base) => self.form(base)?,
            Atom::Call(fun, args) => {
                call(*fun, &args.iter().map(|a| self.form(a)).collect::<Result<Vec<_>, _>>()?)?
            }
        };
        if e.is_one() { Ok(value) } else { value.pow(e) }
    }
}

fn call(fun: Fun, values: &[Interval]) -> Result<Interval, Fault> {
    let a = &values[0];
    match fun {
        Fun::Log => a.ln(),
        Fun::Sin => a.sin(),
        Fun::Cos => a.cos(),
        Fun::Tan => a.tan(),
        Fun::Sinc => a.sinc(),
        Fun::Sinh => a.sinh(),
        Fun::Cosh => a.cosh(),
        Fun::Tanh => a.tanh(),
        Fun::Asin => a.asin(),
        Fun::Atan => Ok(a.atan()),
        Fun::Abs => Ok(a.abs()),
        Fun::Min => Ok(values[1..].iter().fold(a.clone(), |m, v| m.min(v))),
        Fun::Max => Ok(values[1..].iter().fold(a.clone(), |m, v| m.max(v))),
    }
}

/// The number of points at which values are compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Care {
    /// A few: enough to reject a guess.
    Quick,
    /// Many, of several sizes, and at least two of them with a result: required for a proof.
    Full,
}

/// The comparison of values: the space, the least number of columns, and the bits of constants.
#[derive(Debug, Clone)]
pub(super) struct Ground {
    pub(super) space: Space,
    pub(super) least_dim: usize,
    pub(super) bits: u64,
    pub(super) care: Care,
    /// The branches in each of which values are compared.
    pub(super) branches: Branches,
}

/// The most coordinates of points for comparing values.
const MOST_COORDINATES: usize = 512;

/// The result of comparing two values at one pair of points.
enum Outcome {
    /// They differ.
    Apart,
    /// They agree to 64 bits.
    Equal,
    /// Both are close to zero.
    Small,
    /// Undecided.
    Unknown,
}

/// A value at two points, to some bits after the point.
pub(super) type At<'a> = &'a dyn Fn(&Pair, u32) -> Result<Interval, Fault>;

impl Ground {
    /// The settings for comparing forms.
    pub(super) fn of(forms: &[&Form], space: &Space, care: Care) -> Self {
        let mut branches = Branches::default();
        if care == Care::Full {
            forms.iter().for_each(|f| branches.add_form(f));
        }
        Self {
            branches,
            space: *space,
            least_dim: forms.iter().map(|f| f.least_dim()).max().unwrap_or(1),
            bits: forms.iter().map(|f| f.constant_bits()).max().unwrap_or(0),
            care,
        }
    }

    /// Whether two values agree wherever they are compared. If only one of them has a value, they differ.
    pub(super) fn agree(&self, a: At<'_>, b: At<'_>) -> bool {
        self.agree_nearby(a, b) && self.agree_on_branches(a, b)
    }

    /// Whether two values agree in every piece of piecewise analytic functions.
    fn agree_on_branches(&self, a: At<'_>, b: At<'_>) -> bool {
        if self.branches.is_empty() {
            return true;
        }
        let mut seen = Seen::none(&self.branches);
        let mut random = Xoshiro256PlusPlus::seed_from_u64(0xb4a7);
        let dim = match self.space.dim {
            Dim::Exactly(d) => self.coordinates(d),
            Dim::Any => self.least_dim.max(2),
        };
        for (index, size) in branches::sizes(self.bits).iter().enumerate() {
            let one = Q::one();
            let mut at = |size: &Q| point(self.space.domain, dim, size, &mut random);
            let mut pairs = vec![Pair { x: at(size), z: at(size) }, Pair { x: at(size), z: at(&one) }];
            if self.space.domain != Domain::Sphere && *size < one {
                // Two points close together, between two of a convex set.
                let (x, y) = (at(&one), at(&one));
                let z = x.iter().zip(&y).map(|(x, y)| x + (y - x) * size).collect();
                pairs.push(Pair { x, z });
            }
            for pair in pairs {
                let wanted = seen.wants(&pair) || (self.branches.has_roots && index % 4 == 0);
                if wanted && matches!(self.compare(&pair, a, b, 0..1), Outcome::Apart) {
                    return false;
                }
            }
            if steps::are_spent() {
                return false;
            }
        }
        seen.is_complete(&self.space)
    }

    fn agree_nearby(&self, a: At<'_>, b: At<'_>) -> bool {
        let (mut compared, mut small) = (0, Vec::new());
        for pair in self.pairs() {
            match self.compare(&pair, a, b, 0..2) {
                Outcome::Apart => return false,
                Outcome::Equal => compared += 1,
                Outcome::Small => small.push(pair),
                Outcome::Unknown => {}
            }
            if steps::are_spent() {
                return false;
            }
        }
        if self.care == Care::Quick || compared >= 2 {
            return true;
        }
        // Values near zero wherever they were compared: zero, or too small to tell but with more bits.
        for pair in small.iter().take(4) {
            match self.compare(pair, a, b, 2..5) {
                Outcome::Apart => return false,
                Outcome::Equal | Outcome::Small => compared += 1,
                Outcome::Unknown => {}
            }
        }
        compared >= 2
    }

    /// Whether a value is seen to differ between two of the places where values are compared.
    pub(super) fn has_two_values(&self, a: At<'_>) -> bool {
        let values: Vec<Interval> = self.pairs().iter().filter_map(|pair| a(pair, 256).ok()).collect();
        values.iter().any(|v| v.is_apart(&values[0]))
    }

    fn compare(&self, pair: &Pair, a: At<'_>, b: At<'_>, rounds: std::ops::Range<u32>) -> Outcome {
        let base = 128 + u32::try_from(self.bits.min(6_000)).unwrap_or(0);
        let mut outcome = Outcome::Unknown;
        for round in rounds {
            // A comparison at many bits may take many steps.
            if steps::are_spent() {
                return Outcome::Unknown;
            }
            let bits = base << round;
            match (a(pair, bits), b(pair, bits)) {
                (Ok(u), Ok(v)) => {
                    if u.is_apart(&v) {
                        return Outcome::Apart;
                    }
                    let both = u.hull(&v);
                    if both.is_relatively_narrow(64) {
                        return Outcome::Equal;
                    }
                    if both.is_narrow(base) {
                        outcome = Outcome::Small;
                    }
                }
                (Err(Fault::Undefined(_)), Ok(_)) | (Ok(_), Err(Fault::Undefined(_))) => {
                    return Outcome::Apart;
                }
                (Err(Fault::Undefined(_)), Err(Fault::Undefined(_))) => return Outcome::Unknown,
                _ => {}
            }
            if self.care == Care::Quick {
                break;
            }
        }
        outcome
    }

    /// The number of coordinates for points of R^d; beyond a limit the others are 0 and left out.
    fn coordinates(&self, d: usize) -> usize {
        let holds_zeros = !matches!(self.space.domain, Domain::Box(..)) || self.space.domain.holds_origin();
        if holds_zeros { d.min(self.least_dim.max(MOST_COORDINATES)) } else { d }
    }

    /// Pairs of points of the domain: generic ones of several sizes, opposite ones, equal ones, and the origin.
    fn pairs(&self) -> Vec<Pair> {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(0x5eed);
        let least = self.least_dim.max(1);
        let dims = match (self.space.dim, self.care) {
            (Dim::Exactly(d), _) => vec![self.coordinates(d)],
            (Dim::Any, Care::Quick) => vec![least.max(2)],
            (Dim::Any, Care::Full) => vec![least.max(2), least, least.max(2) + 1],
        };
        let far = i64::try_from(self.bits.min(8_000)).unwrap_or(0) / 2;
        let mut pairs = Vec::new();
        for (index, dim) in dims.into_iter().enumerate() {
            let mut point = |size: &Q| point(self.space.domain, dim, size, &mut random);
            let sizes: Vec<Q> = match self.care {
                Care::Quick => vec![Q::one(), Q::one()],
                Care::Full if index > 0 => vec![Q::one(), ratio(1, 4)],
                Care::Full => {
                    let mut sizes = vec![Q::one(), Q::one(), ratio(1, 4), int(3), Q::one(), ratio(1, 16)];
                    if far > 40 {
                        // Constants far from 1 show at points far from 1.
                        let power = Q::from_integer(BigInt::one() << far);
                        sizes.extend([power.recip(), power]);
                    }
                    sizes
                }
            };
            for size in &sizes {
                pairs.push(Pair { x: point(size), z: point(size) });
            }
            if self.care == Care::Full && index == 0 {
                let (x, one) = (point(&Q::one()), Q::one());
                let special = [
                    x.iter().map(|c| -c).collect(),
                    x.iter().map(|c| c / int(2)).collect(),
                    vec![Q::zero(); dim],
                    x.clone(),
                ];
                let inside = special.into_iter().filter(|z| self.space.domain.holds(z));
                pairs.extend(inside.map(|z| Pair { x: x.clone(), z }));
                pairs.push(Pair { x: point(&one), z: point(&ratio(1, 8)) });
            }
        }
        pairs
    }
}

/// A point of the domain, of about this size where the domain has points of all sizes.
fn point(domain: Domain, dim: usize, size: &Q, random: &mut Xoshiro256PlusPlus) -> Vec<Q> {
    let mut coordinate = |most: i64, below: i64| {
        let n = random.random_range(1..=most);
        ratio(if random.random_range(0..2) == 0 { n } else { -n }, below)
    };
    match domain {
        Domain::All => (0..dim).map(|_| coordinate(47, 16) * size).collect(),
        Domain::Orthant => (0..dim).map(|_| coordinate(47, 16).abs() * size).collect(),
        Domain::Ball(radius) => {
            let radius = exact::from_decimal(radius).unwrap_or_else(Q::zero);
            let scale = radius * size.clone().min(Q::one());
            // One coordinate of up to 15/16, the others below 1/(4d): the norm stays below 1.
            let large = usize::try_from(coordinate(1 << 20, 1).numer().bits()).unwrap_or(0) % dim.max(1);
            let small = 64 * i64::try_from(dim).unwrap_or(1);
            (0..dim)
                .map(|j| if j == large { coordinate(15, 16) } else { coordinate(15, small) } * &scale)
                .collect()
        }
        Domain::Box(..) => {
            let (low, high) = domain.ends().unwrap_or_else(|| (Q::zero(), Q::one()));
            let shrink = if domain.holds_origin() { size.clone().min(Q::one()) } else { Q::one() };
            let mut between = || (&low + (&high - &low) * (coordinate(47, 96) + ratio(1, 2))) * &shrink;
            (0..dim).map(|_| between()).collect()
        }
        Domain::Sphere => {
            // (2y, |y|² − 1)/(|y|² + 1).
            let y: Vec<Q> = (1..dim).map(|_| coordinate(24, 12)).collect();
            let square = y.iter().fold(Q::zero(), |sum, c| sum + c * c);
            let below = &square + Q::one();
            let last = if dim == 1 { coordinate(1, 1) } else { (square - Q::one()) / &below };
            y.iter().map(|c| int(2) * c / &below).chain([last]).collect()
        }
    }
}

//! An a-priori bound on the error of a program's value.
//!
//! Intervals of every node follow from the size of the data; errors follow from those, to first order, as
//! |computed − true| ≤ absolute + relative·|true|. Sums over features are taken to err like a random walk, by
//! 2√m units for m terms in a row (Higham and Mary, 2019). A value without a useful bound gets an infinite one: it is
//! then computed in double precision.

use crate::kernel::Function;
use crate::kernel::lower::{Coordinate, Fold, Kind, PointStatistic, Step};

use super::extent::Extent;
use super::plan::Method;
use super::program::{Node, Program};
use super::statistic::longest_sum;

/// The range of a value and a bound on its error.
#[derive(Debug, Clone, Copy)]
struct Bound {
    low: f64,
    high: f64,
    absolute: f64,
    relative: f64,
}

impl Bound {
    fn size(self) -> f64 {
        self.low.abs().max(self.high.abs())
    }

    /// The largest error over the range of the value.
    fn error(self) -> f64 {
        if self.relative == 0.0 { self.absolute } else { self.absolute + self.relative * self.size() }
    }

    fn unknown() -> Self {
        Self { low: f64::NEG_INFINITY, high: f64::INFINITY, absolute: f64::INFINITY, relative: 0.0 }
    }
}

/// The largest error of the program's value, relative to the larger of 1 and the largest value it may take; NaN or
/// infinite if no bound is known. `unit` is the unit roundoff of the tiles.
pub(super) fn relative_error(
    program: &Program,
    methods: &[Method],
    centred: &[bool],
    extents: &[Extent],
    sparse: bool,
    unit: f64,
) -> f64 {
    let mut bounds: Vec<Bound> = Vec::with_capacity(program.nodes.len());
    for &node in &program.nodes {
        let bound = match node {
            Node::Pair(p) => {
                let group = program.statistics[p].group;
                let features = program.groups[group].width();
                match &program.statistics[p].kind {
                    Kind::Coordinate(terms) => coordinate(terms, extents[group], features, sparse, unit),
                    _ => statistic(methods[p], centred[p], extents[group], features, sparse, unit),
                }
            }
            Node::Point(what, _, group) => point(what, extents[group], unit),
            _ => operation(node, &bounds, unit),
        };
        bounds.push(bound);
    }
    let root = bounds[bounds.len() - 1];
    root.error() / root.size().max(1.0)
}

fn statistic(
    method: Method,
    centred: bool,
    extent: Extent,
    features: usize,
    sparse: bool,
    unit: f64,
) -> Bound {
    let walk = 2.0 * (longest_sum(features) as f64).sqrt() + 2.0;
    let squared = if centred { extent.centred } else { extent.raw };
    // Sparse sums are taken in double precision, then rounded.
    let (step, rounding) = if sparse { (walk * 0.5 * f64::EPSILON, unit) } else { (walk * unit, 0.0) };
    // Sums of products of whole numbers are whole, and exact as long as they are below 1/unit.
    let exact = extent.whole && !centred && 4.0 * squared * unit <= 1.0;
    let product = if exact { 0.0 } else { step * squared };
    let spread = 2.0 * squared.sqrt();
    let manhattan = spread * (features as f64).sqrt();
    match method {
        Method::Dot => Bound { low: -squared, high: squared, absolute: product, relative: rounding },
        Method::DistanceByDots => {
            Bound { low: 0.0, high: 4.0 * squared, absolute: 4.0 * product, relative: rounding }
        }
        Method::DistanceByDifferences => {
            // Features that were centred or mapped are rounded: by u|x|, which moves a distance r by 2ru|x|.
            let absolute = if centred { 4.0 * unit * squared } else { 0.0 };
            Bound { low: 0.0, high: 4.0 * squared, absolute, relative: step + rounding }
        }
        Method::Distance1 => {
            let absolute = if centred { unit * manhattan } else { 0.0 };
            let absolute = if sparse { step * manhattan } else { absolute };
            Bound { low: 0.0, high: manhattan, absolute, relative: step + rounding }
        }
        Method::ChiSquared if extent.non_negative => {
            let absolute = if sparse { step * manhattan } else { 0.0 };
            Bound { low: 0.0, high: manhattan, absolute, relative: step + 4.0 * unit }
        }
        Method::ChiSquared | Method::Coordinate => Bound::unknown(),
    }
}

/// The fold of a program's terms over `features` coordinates of exact data.
fn coordinate(terms: &Coordinate, extent: Extent, features: usize, sparse: bool, unit: f64) -> Bound {
    // Sparse folds are taken in double precision, then rounded.
    let (u, rounding) = if sparse { (0.5 * f64::EPSILON, unit) } else { (unit, 0.0) };
    let largest = extent.raw.sqrt();
    let lowest = if extent.non_negative { 0.0 } else { -largest };
    let data = Bound { low: lowest, high: largest, absolute: 0.0, relative: 0.0 };
    let mut values = vec![data, data];
    for step in terms.steps() {
        let operands = step.operands().map_or((data, data), |(a, b)| (values[a], values[b]));
        values.push(coordinate_step(*step, operands, u));
    }
    let (term, times) = (values[values.len() - 1], features as f64);
    match terms.fold() {
        Fold::Sum => {
            let absolute = times * (term.error() + u * times * term.size());
            Bound { low: times * term.low, high: times * term.high, absolute, relative: rounding }
        }
        // The largest possible value of a product says little about its actual values: only relative errors are used.
        Fold::Product if term.low > 0.0 && term.absolute == 0.0 => {
            let power = integer_power(term, features as u32, u);
            Bound { relative: power.relative + rounding, ..power }
        }
        Fold::Product => Bound::unknown(),
    }
}

fn coordinate_step(step: Step, (a, b): (Bound, Bound), u: f64) -> Bound {
    match step {
        Step::Number(value) => Bound { low: value, high: value, absolute: 0.0, relative: u },
        Step::Sum(..) => sum(a, b, u),
        Step::Product(..) => product(a, b, u),
        Step::Quotient(..) => product(a, reciprocal(b, u), u),
        Step::Least(..) => least(a, b),
        Step::Greatest(..) => greatest(a, b),
        Step::Distance(..) => {
            let high = (a.high - b.low).max(b.high - a.low);
            Bound { low: 0.0, high, absolute: a.error() + b.error(), relative: u }
        }
    }
}

fn point(what: PointStatistic, extent: Extent, unit: f64) -> Bound {
    match what {
        PointStatistic::Norm => Bound { low: 0.0, high: extent.raw.sqrt(), absolute: 0.0, relative: unit },
        PointStatistic::NonZero => Bound { low: 0.0, high: 1.0, absolute: 0.0, relative: 0.0 },
    }
}

fn operation(node: Node, bounds: &[Bound], u: f64) -> Bound {
    match node {
        Node::Pair(_) | Node::Point(..) => Bound::unknown(),
        Node::SameRow => Bound { low: 0.0, high: 1.0, absolute: 0.0, relative: 0.0 },
        Node::Number(value) => Bound { low: value, high: value, absolute: 0.0, relative: u },
        Node::Affine { of, scale, shift } => affine(bounds[of], scale, shift, u),
        Node::Exp { of, slope, shift, scale } => {
            let t = affine(bounds[of], slope, shift, u);
            // |δeᵗ| ≤ eᵗ(absolute + relative·|t|), and |t|eᵗ has its largest value at an end or at −1.
            let weight = |t: f64| if t == f64::NEG_INFINITY { 0.0 } else { t.abs() * t.exp() };
            let inside = if t.low < -1.0 && t.high > -1.0 { weight(-1.0) } else { 0.0 };
            let steepest = weight(t.low).max(weight(t.high)).max(inside);
            let absolute = t.high.exp() * t.absolute + t.relative * steepest;
            let (a, b) = (scale * t.low.exp(), scale * t.high.exp());
            Bound { low: a.min(b), high: a.max(b), absolute: scale.abs() * absolute, relative: 3.0 * u }
        }
        Node::Sum(a, b) => sum(bounds[a], bounds[b], u),
        Node::Product(a, b) => product(bounds[a], bounds[b], u),
        Node::Quotient(a, b) => product(bounds[a], reciprocal(bounds[b], u), u),
        Node::IntegerPower(a, n) => {
            let power = integer_power(bounds[a], n.unsigned_abs(), u);
            if n < 0 { reciprocal(power, u) } else { power }
        }
        Node::Power(a, b) => {
            let (a, b) = (bounds[a], bounds[b]);
            if a.low <= 0.0 || b.low != b.high {
                return Bound::unknown();
            }
            let (p, q) = (a.low.powf(b.low), a.high.powf(b.low));
            let relative =
                b.low.abs() * (a.relative + a.absolute / a.low + u * a.low.ln().abs().max(a.high.ln().abs()));
            Bound { low: p.min(q), high: p.max(q), absolute: 0.0, relative: relative + 2.0 * u }
        }
        Node::Call(function, a) => call(function, bounds[a], u),
        Node::Least(a, b) => least(bounds[a], bounds[b]),
        Node::Greatest(a, b) => greatest(bounds[a], bounds[b]),
        // |dM/da| ≤ 1/(4(ν−1)) at a = 0, where it is largest; a|dM/da| is below ½.
        Node::Matern { nu, squared } if nu > 1.0 => {
            let a = bounds[squared];
            let absolute = a.absolute / (4.0 * (nu - 1.0)) + 0.5 * a.relative;
            Bound { low: 0.0, high: 1.0, absolute, relative: 4.0 * u }
        }
        Node::Matern { .. } => Bound::unknown(),
        // The angle itself is not smooth at 0 and π; J₁ and J₂ are smooth in the chord.
        Node::ArcCosine { order: 0, .. } => Bound::unknown(),
        Node::ArcCosine { chord, .. } => {
            Bound { low: 0.0, high: 3.0, absolute: 3.0 * bounds[chord].error() + 6.0 * u, relative: 0.0 }
        }
    }
}

fn sum(a: Bound, b: Bound, u: f64) -> Bound {
    let same_sign = (a.low >= 0.0 && b.low >= 0.0) || (a.high <= 0.0 && b.high <= 0.0);
    let (absolute, relative) = if same_sign {
        (a.absolute + b.absolute, a.relative.max(b.relative) + u)
    } else {
        (a.error() + b.error(), u)
    };
    Bound { low: a.low + b.low, high: a.high + b.high, absolute, relative }
}

fn least(a: Bound, b: Bound) -> Bound {
    either(a, b, a.low.min(b.low), a.high.min(b.high))
}

fn greatest(a: Bound, b: Bound) -> Bound {
    either(a, b, a.low.max(b.low), a.high.max(b.high))
}

fn either(a: Bound, b: Bound, low: f64, high: f64) -> Bound {
    Bound { low, high, absolute: a.absolute.max(b.absolute), relative: a.relative.max(b.relative) }
}

fn affine(a: Bound, scale: f64, shift: f64, u: f64) -> Bound {
    let (p, q) = (scale * a.low + shift, scale * a.high + shift);
    let (low, high) = (p.min(q), p.max(q));
    if shift == 0.0 {
        return Bound { low, high, absolute: scale.abs() * a.absolute, relative: a.relative + 2.0 * u };
    }
    let absolute = scale.abs() * (a.error() + u * a.size());
    Bound { low, high, absolute, relative: u }
}

fn product(a: Bound, b: Bound, u: f64) -> Bound {
    let ends = [a.low * b.low, a.low * b.high, a.high * b.low, a.high * b.high];
    if ends.iter().any(|e| e.is_nan()) {
        return Bound::unknown();
    }
    Bound {
        low: ends.iter().copied().fold(f64::INFINITY, f64::min),
        high: ends.iter().copied().fold(f64::NEG_INFINITY, f64::max),
        absolute: a.absolute * b.size() + b.absolute * a.size() + a.absolute * b.absolute,
        relative: a.relative + b.relative + u,
    }
}

fn reciprocal(a: Bound, u: f64) -> Bound {
    let nearest = if a.low > 0.0 { a.low } else { -a.high };
    if nearest <= 2.0 * a.absolute {
        return Bound::unknown();
    }
    let relative = a.relative + 2.0 * a.absolute / nearest + u;
    Bound { low: a.high.recip(), high: a.low.recip(), absolute: 0.0, relative }
}

fn integer_power(a: Bound, n: u32, u: f64) -> Bound {
    let (p, q) = (a.low.powi(n as i32), a.high.powi(n as i32));
    let least = if n.is_multiple_of(2) && a.low < 0.0 && a.high > 0.0 { 0.0 } else { p.min(q) };
    let times = f64::from(n);
    Bound {
        low: least,
        high: p.max(q),
        absolute: times * a.absolute * (a.size() + a.absolute).powi(n as i32 - 1),
        relative: times * (a.relative + u),
    }
}

fn call(function: Function, a: Bound, u: f64) -> Bound {
    match function {
        Function::Abs => Bound { low: if a.low > 0.0 { a.low } else { 0.0 }, high: a.size(), ..a },
        Function::Sqrt if a.low >= 0.0 => {
            let root = a.low.sqrt();
            let steep = if root == 0.0 { f64::INFINITY } else { 0.5 * a.absolute / root };
            let absolute = if a.absolute == 0.0 { 0.0 } else { steep.min(a.absolute.sqrt()) };
            Bound { low: root, high: a.high.sqrt(), absolute, relative: 0.5 * a.relative + u }
        }
        // Functions with a slope of at most 1.
        Function::Sin | Function::Cos | Function::Sinc => {
            Bound { low: -1.0, high: 1.0, absolute: a.error(), relative: u }
        }
        Function::Tanh => Bound {
            low: a.low.tanh(),
            high: a.high.tanh(),
            absolute: a.absolute + 0.5 * a.relative,
            relative: u,
        },
        Function::Atan => Bound {
            low: a.low.atan(),
            high: a.high.atan(),
            absolute: a.absolute + 0.5 * a.relative,
            relative: u,
        },
        _ => Bound::unknown(),
    }
}

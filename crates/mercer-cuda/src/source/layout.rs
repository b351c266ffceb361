//! The stored features of every row, and the sums over the features of a pair.

use std::f64::consts::LOG2_E;

use mercer::real::Precision;
use mercer::tile::{Coordinate, Group, Kind, Method, Node, Plan, PointStatistic, Program};

/// The features and numbers of a row, and the sums over a pair of rows, from which a program is computed.
#[derive(Debug, Clone, PartialEq)]
pub struct Layout {
    /// The precision of the tiles.
    pub precision: Precision,
    /// Features, one segment after the other.
    pub segments: Vec<Segment>,
    /// Numbers of a row.
    pub scalars: Vec<Scalar>,
    /// Sums over the features of a pair.
    pub sums: Vec<Sum>,
    /// How each statistic of the program follows from the sums.
    pub readings: Vec<Reading>,
}

/// The mapped columns of a group, optionally centred before and scaled after the map.
#[derive(Debug, Clone, PartialEq)]
pub struct Segment {
    /// The columns and their map.
    pub group: Group,
    /// The centre subtracted from the columns before the map.
    pub centre: Option<Vec<f64>>,
    /// The factor of every feature.
    pub scale: f64,
    /// The index of its first feature.
    pub start: usize,
}

/// A number of a row.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Scalar {
    /// |x|² over the scaled features of a segment.
    SquaredNorm(usize),
    /// shift − |x|²/2 over the scaled features of a segment.
    Exponent {
        /// The segment.
        segment: usize,
        /// The summand.
        shift: f64,
    },
    /// A statistic of the row over the columns of a group of the program.
    Point(PointStatistic, usize),
}

/// A sum, or product, of terms over the features of a segment.
#[derive(Debug, Clone, PartialEq)]
pub struct Sum {
    /// The segment.
    pub segment: usize,
    /// The terms.
    pub term: Term,
}

/// A term of a pair of features a and b.
#[derive(Debug, Clone, PartialEq)]
pub enum Term {
    /// a·b.
    Product,
    /// (a − b)².
    SquaredDifference,
    /// |a − b|.
    Difference,
    /// (a − b)²/(a + b), with 0/0 = 0.
    ChiSquared,
    /// A [`Coordinate`](mercer::kernel::lower::Coordinate) program.
    Coordinate(Coordinate),
}

/// How a statistic of the program follows from a sum.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reading {
    /// The sum itself.
    Sum(usize),
    /// max(0, |x|² + |z|² − 2·sum), with the numbers of the rows.
    Distance {
        /// The sum.
        sum: usize,
        /// The number that holds |x|².
        scalar: usize,
    },
    /// The sum, started at the numbers of both rows: the argument of the only exponential that uses the statistic, to
    /// the base 2 in single and e in double precision.
    Exponent {
        /// The sum.
        sum: usize,
        /// Its initial number.
        scalar: usize,
    },
}

impl Segment {
    /// Number of features.
    #[must_use]
    pub fn width(&self) -> usize {
        self.group.width()
    }
}

impl Layout {
    /// The layout of `program` by `plan`.
    #[must_use]
    pub fn new(program: &Program, plan: &Plan) -> Self {
        let precision = if plan.double { Precision::Double } else { Precision::Single };
        let mut layout = Self {
            precision,
            segments: Vec::new(),
            scalars: Vec::new(),
            sums: Vec::new(),
            readings: Vec::new(),
        };
        let mut start = 0;
        for features in &plan.features {
            let group = program.groups()[features.group].clone();
            start += group.width();
            let start = start - group.width();
            layout.segments.push(Segment { group, centre: features.centre.clone(), scale: 1.0, start });
        }
        for (place, route) in plan.routes.iter().enumerate() {
            let segment = route.features;
            let alone = plan.routes.iter().filter(|r| r.features == segment).count() == 1;
            let reading = match route.method {
                Method::DistanceByDots if alone => match exponent_of(program, place) {
                    Some((slope, shift)) => layout.exponent(segment, slope, shift),
                    None => layout.distance(segment),
                },
                Method::DistanceByDots => layout.distance(segment),
                method => {
                    let term = term_of(method, &program.statistics()[place].kind);
                    Reading::Sum(layout.sum(segment, term))
                }
            };
            layout.readings.push(reading);
        }
        for node in program.nodes() {
            if let Node::Point(what, _, group) = *node {
                layout.scalar(Scalar::Point(what, group));
            }
        }
        layout
    }

    /// Number of features of a row.
    #[must_use]
    pub fn width(&self) -> usize {
        self.segments.iter().map(Segment::width).sum()
    }

    /// The index of a number of a row.
    pub(super) fn scalar_of(&self, what: PointStatistic, group: usize) -> usize {
        let wanted = Scalar::Point(what, group);
        self.scalars.iter().position(|s| *s == wanted).expect("every point statistic has a number")
    }

    /// Whether tensor cores can compute its only sum: products in single precision.
    #[must_use]
    pub fn is_one_product(&self) -> bool {
        self.precision == Precision::Single
            && self.sums.len() == 1
            && self.segments.len() == 1
            && self.sums[0].term == Term::Product
    }

    /// Whether its first sum starts at numbers of the rows.
    #[must_use]
    pub fn is_started(&self) -> bool {
        self.readings.iter().any(|reading| matches!(reading, Reading::Exponent { .. }))
    }

    fn distance(&mut self, segment: usize) -> Reading {
        let sum = self.sum(segment, Term::Product);
        Reading::Distance { sum, scalar: self.scalar(Scalar::SquaredNorm(segment)) }
    }

    /// slope·|x−z|² + shift = (shift/2 + slope·|x|²) + (shift/2 + slope·|z|²) − 2·slope·⟨x,z⟩, for a slope below 0.
    fn exponent(&mut self, segment: usize, slope: f64, shift: f64) -> Reading {
        let base = if self.precision == Precision::Single { LOG2_E } else { 1.0 };
        self.segments[segment].scale = (-2.0 * slope * base).sqrt();
        let sum = self.sum(segment, Term::Product);
        let scalar = self.scalar(Scalar::Exponent { segment, shift: 0.5 * shift * base });
        Reading::Exponent { sum, scalar }
    }

    fn sum(&mut self, segment: usize, term: Term) -> usize {
        place_of(&mut self.sums, Sum { segment, term })
    }

    fn scalar(&mut self, scalar: Scalar) -> usize {
        place_of(&mut self.scalars, scalar)
    }
}

/// The index of an item, which is added if it is new.
fn place_of<T: PartialEq>(items: &mut Vec<T>, item: T) -> usize {
    items.iter().position(|i| *i == item).unwrap_or_else(|| {
        items.push(item);
        items.len() - 1
    })
}

fn term_of(method: Method, kind: &Kind) -> Term {
    match (method, kind) {
        (Method::DistanceByDifferences, _) => Term::SquaredDifference,
        (Method::Distance1, _) => Term::Difference,
        (Method::ChiSquared, _) => Term::ChiSquared,
        (Method::Coordinate, Kind::Coordinate(program)) => Term::Coordinate(program.clone()),
        _ => Term::Product,
    }
}

/// Slope and shift of the exponential that is the only use of a statistic, if the slope is negative.
fn exponent_of(program: &Program, statistic: usize) -> Option<(f64, f64)> {
    let nodes = program.nodes();
    let pair = nodes.iter().position(|node| *node == Node::Pair(statistic))?;
    let mut users = nodes.iter().filter(|node| node.operands().any(|operand| operand == pair));
    match (users.next(), users.next()) {
        (Some(&Node::Exp { slope, shift, .. }), None) if slope < 0.0 && slope.is_finite() => {
            Some((slope, shift))
        }
        _ => None,
    }
}

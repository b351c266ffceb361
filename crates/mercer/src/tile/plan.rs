//! The choice of precision and features for the statistics of a program on given samples.

use crate::kernel::lower::Kind;
use crate::real::Precision;

use super::bound::relative_error;
use super::extent::Extent;
use super::program::Program;

/// The error that single-precision tiles may have, relative to the larger of 1 and the largest kernel value.
pub(crate) const SINGLE_TOLERANCE: f64 = 1e-5;

/// The same if single precision was requested, by a caller that checks its result in double precision.
const CHECKED_TOLERANCE: f64 = 2e-3;

/// The same for tiles in double precision of double-precision data, if there is a choice.
const DOUBLE_TOLERANCE: f64 = 1e-11;

/// The methods chosen for each statistic of a program. Both operands of a matrix are packed by the same plan.
#[derive(Debug, Clone)]
pub struct Plan {
    /// The features to pack.
    pub features: Vec<Features>,
    /// One per statistic of the program.
    pub routes: Vec<Route>,
    /// Whether rows are packed without their zeros.
    pub sparse: bool,
    /// Whether tiles are computed in double precision.
    pub double: bool,
}

/// A packed set of features: a group's, possibly translated.
#[derive(Debug, Clone, PartialEq)]
pub struct Features {
    /// The group.
    pub group: usize,
    /// The centre subtracted from the columns of the group before its map.
    pub centre: Option<Vec<f64>>,
}

/// How one statistic is computed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Route {
    /// The method.
    pub method: Method,
    /// The index in [`Plan::features`].
    pub features: usize,
}

/// A method for a pairwise statistic.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Method {
    /// Σ xⱼzⱼ.
    Dot,
    /// |x|² + |z|² − 2⟨x,z⟩, clamped at 0: half the work of the differences, but subject to cancellation.
    DistanceByDots,
    /// Σ (xⱼ−zⱼ)²: as accurate as the data.
    DistanceByDifferences,
    /// Σ |xⱼ−zⱼ|.
    Distance1,
    /// Σ (xⱼ−zⱼ)²/(xⱼ+zⱼ).
    ChiSquared,
    /// The program of the statistic, folded over the coordinates.
    Coordinate,
}

/// The methods for squared distances, from the cheapest to the most accurate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Distances {
    /// From inner products of the original data, which may be shared with a kernel's own inner products, sparse, or
    /// exact.
    Shared,
    /// From inner products of centred data.
    Centred,
    /// From differences.
    Differences,
}

/// Properties of the samples on both sides of a matrix.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Known<'a> {
    /// One per group of the program.
    pub extents: &'a [Extent],
    /// One per column.
    pub means: &'a [f64],
    /// Whether rows are packed without their zeros.
    pub sparse: bool,
    /// Whether most entries of the samples are zeros, which centring would destroy.
    pub zeros: bool,
    /// Whether the samples are in double precision on either side.
    pub double: bool,
    /// The requested precision of the tiles, if any; the plan may still choose double precision if single is not
    /// enough.
    pub wanted: Option<Precision>,
}

impl Known<'_> {
    /// Whether packing rounds the data.
    fn rounds(&self) -> bool {
        self.double && self.wanted == Some(Precision::Single)
    }
}

impl Plan {
    /// The cheapest plan whose error bound holds.
    pub(crate) fn new(program: &Program, known: Known<'_>) -> Self {
        // The bounds on these statistics do not allow for rounded data.
        let per_coordinate =
            || program.statistics.iter().any(|s| matches!(s.kind, Kind::ChiSquared | Kind::Coordinate(_)));
        let try_single = match known.wanted {
            Some(Precision::Single) => !(known.rounds() && per_coordinate()),
            Some(Precision::Double) => false,
            None => !known.double,
        };
        let strict = known.double || known.wanted == Some(Precision::Double);
        let loose = if known.wanted.is_some() { CHECKED_TOLERANCE } else { SINGLE_TOLERANCE };
        let strict = if strict { DOUBLE_TOLERANCE } else { SINGLE_TOLERANCE };
        // Without centring, products skip zeros, or are exact for whole numbers.
        let as_they_are = known.zeros || known.extents.iter().all(|extent| extent.whole);
        // Differences do not skip zeros: products that do are faster even in double precision.
        let skip_in_double = known.zeros && known.wanted.is_none();
        use Distances::{Centred, Differences, Shared};
        let candidates = [
            (try_single, false, Shared),
            (try_single, false, Centred),
            (skip_in_double, true, Shared),
            (try_single, false, Differences),
            (true, true, Shared),
            (true, true, Centred),
        ];
        for (_, double, distances) in candidates.into_iter().filter(|(tried, ..)| *tried) {
            let plan = Self::with(program, known, distances, double);
            if distances == Shared && !plan.shares() && !as_they_are {
                continue;
            }
            let methods: Vec<Method> = plan.routes.iter().map(|r| r.method).collect();
            let centred: Vec<bool> = plan.routes.iter().map(|r| plan.inexact(program, *r)).collect();
            let (unit, tolerance) =
                if double { (f64::EPSILON, strict) } else { (f64::from(f32::EPSILON), loose) };
            let error = relative_error(program, &methods, &centred, known.extents, known.sparse, 0.5 * unit);
            if error <= tolerance {
                return plan;
            }
        }
        Self::with(program, known, Differences, true)
    }

    /// The most accurate plan: double precision, distances of dense rows from differences.
    pub(crate) fn accurate(program: &Program, known: Known<'_>) -> Self {
        Self::with(program, known, Distances::Differences, true)
    }

    /// The plan of one distance, whatever its error: from rows less `means` (from sparse rows as they are), a Euclidean
    /// distance from inner products.
    pub(crate) fn of_distance(program: &Program, means: &[f64], sparse: bool, double: bool) -> Self {
        let known = Known { extents: &[], means, sparse, zeros: false, double, wanted: None };
        let mut plan = Self::with(program, known, Distances::Centred, double);
        for features in plan.features.iter_mut().filter(|_| !sparse) {
            let columns = &program.groups[features.group].columns;
            features.centre = Some(columns.iter().map(|&c| means[c]).collect());
        }
        plan
    }

    /// Whether two statistics use the same features.
    fn shares(&self) -> bool {
        self.routes.len() > self.features.len()
    }

    /// Whether the features of the route were centred or mapped, and so rounded.
    fn inexact(&self, program: &Program, route: Route) -> bool {
        let features = &self.features[route.features];
        features.centre.is_some() || !program.groups[features.group].is_plain()
    }

    fn with(program: &Program, known: Known<'_>, distances: Distances, double: bool) -> Self {
        let mut features: Vec<Features> = Vec::new();
        let mut routes = Vec::new();
        let rounds = known.rounds() && !double;
        for statistic in &program.statistics {
            let group = &program.groups[statistic.group];
            let by_dots = known.sparse || distances != Distances::Differences;
            let (method, centre) = match statistic.kind {
                Kind::Dot => (Method::Dot, false),
                Kind::ChiSquared => (Method::ChiSquared, false),
                Kind::Coordinate(_) => (Method::Coordinate, false),
                // Differences of plain columns are exact without a centre; scaled columns are rounded.
                Kind::Distance1 => (Method::Distance1, !group.is_plain() || rounds),
                Kind::SquaredDistance if by_dots => (Method::DistanceByDots, distances == Distances::Centred),
                Kind::SquaredDistance => (Method::DistanceByDifferences, !group.is_plain() || rounds),
            };
            let centre = (centre && !known.sparse && group.may_centre())
                .then(|| group.columns.iter().map(|&c| known.means[c]).collect());
            let wanted = Features { group: statistic.group, centre };
            let place = features.iter().position(|f| *f == wanted).unwrap_or_else(|| {
                features.push(wanted);
                features.len() - 1
            });
            routes.push(Route { method, features: place });
        }
        Self { features, routes, sparse: known.sparse, double }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::{AnySamples, Samples};
    use crate::kernel::family::gaussian::GAUSSIAN;
    use crate::kernel::{Expr, Named, Value};

    /// The plan for single-precision points on a segment around `centre`.
    fn plan(expr: &Expr, centre: f32, half_length: f32) -> Plan {
        plan_of((0..20).map(|i| centre + half_length * (i as f32 / 9.5 - 1.0)).collect(), centre, expr)
    }

    /// The plan for ten points in the plane.
    fn plan_of(entries: Vec<f32>, centre: f32, expr: &Expr) -> Plan {
        let zeros = entries.iter().filter(|entry| **entry == 0.0).count() > 12;
        let samples = AnySamples::F32(Samples::dense(10, 2, entries).unwrap());
        let program = Program::compile_expr(expr, 2).unwrap();
        let means = [f64::from(centre); 2];
        let extents: Vec<Extent> =
            program.groups().iter().map(|group| Extent::of(group, &samples, &means)).collect();
        Plan::new(
            &program,
            Known { extents: &extents, means: &means, sparse: false, zeros, double: false, wanted: None },
        )
    }

    fn gaussian(sigma: f64) -> Expr {
        let mut named = Named::with_defaults(GAUSSIAN);
        named.arguments[0].value = Value::Number(sigma);
        Expr::Named(named)
    }

    #[test]
    fn distances_come_from_inner_products_where_they_are_accurate_enough() {
        let easy = plan(&gaussian(1.0), 0.0, 1.0);
        assert_eq!((easy.double, easy.routes[0].method), (false, Method::DistanceByDots));
        let far = plan(&gaussian(1.0), 1e6, 1.0);
        assert_eq!((far.double, far.routes[0].method), (false, Method::DistanceByDots), "centred");
        let narrow = plan(&gaussian(1e-3), 0.0, 1.0);
        assert_eq!((narrow.double, narrow.routes[0].method), (false, Method::DistanceByDifferences));
    }

    #[test]
    fn products_of_whole_numbers_are_exact_and_products_skip_zeros() {
        let narrow = gaussian(1e-3);
        let whole = plan_of((0..20).map(|i| (i % 5) as f32).collect(), 2.0, &narrow);
        assert_eq!((whole.double, whole.routes[0].method), (false, Method::DistanceByDots));
        assert!(whole.features[0].centre.is_none());
        let mostly_zeros = plan_of((0..20).map(|i| (i % 5 / 4) as f32 * 0.3).collect(), 0.06, &narrow);
        assert_eq!((mostly_zeros.double, mostly_zeros.routes[0].method), (true, Method::DistanceByDots));
        let too_large = plan_of((0..20).map(|i| i as f32 * 4096.0).collect(), 0.0, &narrow);
        assert_eq!(too_large.routes[0].method, Method::DistanceByDifferences);
    }

    #[test]
    fn one_product_serves_both_uses_only_near_the_origin() {
        // The factor keeps the largest value, which errors are relative to, near 1.
        let both = Expr::Sum(vec![gaussian(1.0), Expr::Product(vec![Expr::Number(1e-4), Expr::Dot])]);
        assert_eq!(plan(&both, 0.0, 1.0).features.len(), 1);
        assert_eq!(plan(&both, 100.0, 1.0).features.len(), 2);
    }

    #[test]
    fn statistics_without_a_bound_use_double_precision() {
        let tangent = Expr::Call(crate::kernel::Function::Tan, vec![Expr::Dot]);
        assert!(plan(&tangent, 0.0, 1.0).double);
    }
}

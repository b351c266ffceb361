//! How the statistics of a program are computed on given samples.

use super::group::Group;
use super::program::{Kind, Program};

/// The ways chosen for each statistic of a program. Both operands of a matrix are packed by the same plan.
#[derive(Debug, Clone)]
pub(crate) struct Plan {
    /// What to pack.
    pub features: Vec<Features>,
    /// One per statistic of the program.
    pub routes: Vec<Route>,
    /// One per group of the program: which point statistics to take along.
    pub sparse: bool,
}

/// A packed set of features: a group's, possibly translated.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Features {
    /// The group.
    pub group: usize,
    /// What is subtracted from the columns of the group before its map.
    pub centre: Option<Vec<f64>>,
}

/// How one statistic is computed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Route {
    /// The way.
    pub way: Way,
    /// Which of [`Plan::features`].
    pub features: usize,
}

/// A way to compute a pairwise statistic.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Way {
    /// Σ xⱼzⱼ.
    Dot,
    /// |x|² + |z|² − 2⟨x,z⟩, clamped at 0: half the work of the differences.
    DistanceByDots,
    /// Σ (xⱼ−zⱼ)²: as accurate as the data.
    DistanceByDifferences,
    /// Σ |xⱼ−zⱼ|.
    Distance1,
    /// Σ (xⱼ−zⱼ)²/(xⱼ+zⱼ).
    ChiSquared,
}

impl Plan {
    /// Chooses for samples with the given column means.
    pub fn new(program: &Program, means: &[f64], sparse: bool) -> Self {
        let mut features: Vec<Features> = Vec::new();
        let mut routes = Vec::new();
        for statistic in &program.statistics {
            let group = &program.groups[statistic.group];
            let way = match statistic.kind {
                Kind::Dot => Way::Dot,
                Kind::SquaredDistance if sparse => Way::DistanceByDots,
                Kind::SquaredDistance => Way::DistanceByDifferences,
                Kind::Distance1 => Way::Distance1,
                Kind::ChiSquared => Way::ChiSquared,
            };
            let invariant = matches!(statistic.kind, Kind::SquaredDistance | Kind::Distance1);
            let centre = (invariant && !sparse && group.may_centre()).then(|| centre(group, means));
            let wanted = Features { group: statistic.group, centre };
            let place = features.iter().position(|f| *f == wanted).unwrap_or_else(|| {
                features.push(wanted);
                features.len() - 1
            });
            routes.push(Route { way, features: place });
        }
        Self { features, routes, sparse }
    }
}

fn centre(group: &Group, means: &[f64]) -> Vec<f64> {
    group.columns.iter().map(|&c| means[c]).collect()
}

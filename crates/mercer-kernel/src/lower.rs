//! The lowering of kernels to statistics of a pair of rows and operations on them.
//!
//! A family describes itself to a [`Lower`]: the tile compiler builds vector code from the description, and another
//! implementation may print it as source for a device.

use super::expr::Function;

/// A value of the program that a [`Lower`] builds.
pub type NodeId = usize;

/// The kinds of pairwise statistics.
#[derive(Debug, Clone, PartialEq)]
pub enum Kind {
    /// Σⱼ xⱼzⱼ.
    Dot,
    /// Σⱼ (xⱼ−zⱼ)².
    SquaredDistance,
    /// Σⱼ |xⱼ−zⱼ|.
    Distance1,
    /// Σⱼ (xⱼ−zⱼ)²/(xⱼ+zⱼ), with 0/0 = 0. A separate case because it is faster than a [`Coordinate`] program.
    ChiSquared,
    /// Terms of a [`Coordinate`] program, folded over the coordinates.
    Coordinate(Coordinate),
}

/// A statistic that treats all coordinates alike: a straight-line program gives a term for s = xⱼ and t = zⱼ, and the terms are
/// added or multiplied.
#[derive(Debug, Clone, PartialEq)]
pub struct Coordinate {
    steps: Vec<Step>,
    fold: Fold,
}

/// How the terms of a [`Coordinate`] program are combined.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fold {
    /// Σⱼ.
    Sum,
    /// ∏ⱼ.
    Product,
}

/// A step of a [`Coordinate`] program. Operands are values by number: 0 is s, 1 is t, 2 the first step.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Step {
    /// A constant.
    Number(f64),
    /// a + b.
    Sum(usize, usize),
    /// a·b.
    Product(usize, usize),
    /// a/b.
    Quotient(usize, usize),
    /// The lesser; NaN where either is.
    Least(usize, usize),
    /// The greater; NaN where either is.
    Greatest(usize, usize),
    /// |a − b|.
    Distance(usize, usize),
}

/// The most steps of a [`Coordinate`] program.
pub const MAX_STEPS: usize = 14;

impl Fold {
    /// The value of an empty fold.
    #[must_use]
    pub fn neutral(self) -> f64 {
        match self {
            Self::Sum => 0.0,
            Self::Product => 1.0,
        }
    }

    /// Adds a term.
    #[must_use]
    pub fn join(self, folded: f64, term: f64) -> f64 {
        match self {
            Self::Sum => folded + term,
            Self::Product => folded * term,
        }
    }
}

impl Step {
    /// The values it uses.
    #[must_use]
    pub fn operands(self) -> Option<(usize, usize)> {
        match self {
            Self::Number(_) => None,
            Self::Sum(a, b)
            | Self::Product(a, b)
            | Self::Quotient(a, b)
            | Self::Least(a, b)
            | Self::Greatest(a, b)
            | Self::Distance(a, b) => Some((a, b)),
        }
    }
}

impl Coordinate {
    /// The program whose last step is the term.
    ///
    /// # Panics
    /// If there are no steps or more than [`MAX_STEPS`], or if a step uses a value that does not come before it.
    #[must_use]
    pub fn new(fold: Fold, steps: Vec<Step>) -> Self {
        assert!((1..=MAX_STEPS).contains(&steps.len()), "a program has 1 to {MAX_STEPS} steps");
        let before = |(i, step): (usize, &Step)| step.operands().is_none_or(|(a, b)| a.max(b) < i + 2);
        assert!(steps.iter().enumerate().all(before), "a step uses values before it");
        Self { steps, fold }
    }

    /// The steps, at least one.
    #[must_use]
    pub fn steps(&self) -> &[Step] {
        &self.steps
    }

    /// How the terms are combined.
    #[must_use]
    pub fn fold(&self) -> Fold {
        self.fold
    }

    /// The term for the coordinates s and t.
    #[must_use]
    pub fn at(&self, s: f64, t: f64) -> f64 {
        let mut values = [0.0; MAX_STEPS + 2];
        (values[0], values[1]) = (s, t);
        for (i, step) in self.steps.iter().enumerate() {
            values[i + 2] = match *step {
                Step::Number(value) => value,
                Step::Sum(a, b) => values[a] + values[b],
                Step::Product(a, b) => values[a] * values[b],
                Step::Quotient(a, b) => values[a] / values[b],
                Step::Least(a, b) => Function::Min.apply(&[values[a], values[b]]),
                Step::Greatest(a, b) => Function::Max.apply(&[values[a], values[b]]),
                Step::Distance(a, b) => (values[a] - values[b]).abs(),
            };
        }
        values[self.steps.len() + 1]
    }
}

/// A map applied to the columns of a row before a statistic. Every map sends zeros to zeros, so that sparse rows stay
/// sparse.
#[derive(Debug, Clone, PartialEq)]
pub enum Embedding {
    /// The identity.
    Plain,
    /// Column j times the j-th factor: per-column weights of a distance.
    Scaled(Vec<f64>),
    /// Column j to (cos θ − 1, sin θ)/(2ℓⱼ) with θ = 2πxⱼ/pⱼ. The squared distance of two such points is
    /// Σⱼ sin²(π(xⱼ−zⱼ)/pⱼ)/ℓⱼ², because |e^{iθ} − e^{iθ'}|² = 4 sin²((θ−θ')/2).
    Circle {
        /// pⱼ.
        periods: Vec<f64>,
        /// ℓⱼ.
        lengths: Vec<f64>,
    },
    /// The row divided by its Euclidean norm; the zero row stays zero.
    Unit,
}

/// A number computed from one row.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum PointStatistic {
    /// Its Euclidean norm.
    Norm,
    /// 1, and 0 for the zero row.
    NonZero,
}

/// The row that a [`PointStatistic`] belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Side {
    /// The first argument of the kernel.
    X,
    /// The second argument of the kernel.
    Z,
}

/// An operation on two values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Binary {
    /// a + b.
    Sum,
    /// a·b.
    Product,
    /// a/b.
    Quotient,
    /// a^b.
    Power,
    /// The lesser.
    Least,
    /// The greater.
    Greatest,
}

/// A function that is not part of the kernel language.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Special {
    /// The Matérn function of order ν at √a.
    Matern {
        /// ν > 0.
        nu: f64,
    },
    /// Jₙ(θ)/π of Cho and Saul (2009) for unit vectors at squared distance a = 2 − 2cos θ.
    ArcCosine {
        /// n: 0, 1 or 2.
        order: u8,
    },
}

/// Builds the program of a kernel on the columns it sees. A value equal to an earlier one is that one.
pub trait Lower {
    /// The number of columns that the kernel uses.
    fn columns(&self) -> usize;

    /// A constant.
    fn number(&mut self, value: f64) -> NodeId;

    /// A statistic of the pair of rows, each mapped by the embedding.
    fn statistic(&mut self, kind: Kind, embedding: Embedding) -> NodeId;

    /// A statistic of one row, without an embedding.
    fn point(&mut self, what: PointStatistic, side: Side) -> NodeId;

    /// 1 where both rows are the same row of one set of samples, else 0: the identity matrix for a set with itself, 0
    /// between two sets.
    fn same_row(&mut self) -> NodeId;

    /// scale·a + shift.
    fn affine(&mut self, of: NodeId, scale: f64, shift: f64) -> NodeId;

    /// An operation on two values.
    fn binary(&mut self, operation: Binary, a: NodeId, b: NodeId) -> NodeId;

    /// A function of one argument; not `min` or `max`.
    fn call(&mut self, function: Function, of: NodeId) -> NodeId;

    /// A function that is not part of the kernel language.
    fn special(&mut self, function: Special, of: NodeId) -> NodeId;

    /// e^(−a).
    fn exp_of_minus(&mut self, of: NodeId) -> NodeId {
        let exponent = self.affine(of, -1.0, 0.0);
        self.call(Function::Exp, exponent)
    }

    /// scale·⟨x,z⟩ + shift.
    fn affine_dot(&mut self, scale: f64, shift: f64) -> NodeId {
        let dot = self.statistic(Kind::Dot, Embedding::Plain);
        self.affine(dot, scale, shift)
    }

    /// Σⱼ wⱼ·(xⱼ−zⱼ)² or Σⱼ wⱼ·|xⱼ−zⱼ|: equal weights become a factor, so that the plain statistic is shared.
    fn weighted(&mut self, kind: Kind, weights: &[f64]) -> NodeId {
        let first = weights.first().copied().unwrap_or(1.0);
        if weights.iter().all(|w| *w == first) {
            let plain = self.statistic(kind, Embedding::Plain);
            return self.affine(plain, first, 0.0);
        }
        let factor = |w: &f64| if kind == Kind::SquaredDistance { w.sqrt() } else { *w };
        let factors = weights.iter().map(factor).collect();
        self.statistic(kind, Embedding::Scaled(factors))
    }

    /// Σⱼ ((xⱼ−zⱼ)/ℓⱼ)².
    fn scaled_squared_distance(&mut self, lengths: &[f64]) -> NodeId {
        let weights: Vec<f64> = lengths.iter().map(|length| 1.0 / (length * length)).collect();
        let factors: Vec<f64> = lengths.iter().map(|length| 1.0 / length).collect();
        self.squared_distance(&weights, &factors)
    }

    /// Σⱼ wⱼ·(xⱼ−zⱼ)² with wⱼ = fⱼ². Coordinates are scaled before they are squared if the weights are so large or so
    /// small that the product would be 0·∞ or lose a square to underflow.
    fn squared_distance(&mut self, weights: &[f64], factors: &[f64]) -> NodeId {
        if weights.iter().all(|w| (1e-200..=1e200).contains(w)) {
            return self.weighted(Kind::SquaredDistance, weights);
        }
        let largest = factors.iter().copied().fold(0.0, f64::max).min(f64::MAX);
        // Coordinates of any usual size stay finite.
        let common = largest.clamp(1e-150, 1e150);
        let scaled = factors.iter().map(|f| f.min(f64::MAX) / largest * common).collect();
        let statistic = self.statistic(Kind::SquaredDistance, Embedding::Scaled(scaled));
        let rest = largest / common;
        self.affine(statistic, (rest * rest).min(f64::MAX), 0.0)
    }
}

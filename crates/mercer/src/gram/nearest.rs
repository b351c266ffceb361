//! The nearest samples of each query.

use serde::{Deserialize, Serialize};

/// The distance between two rows.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum Metric {
    /// √Σⱼ(xⱼ−zⱼ)².
    #[default]
    Euclidean,
    /// Σⱼ|xⱼ−zⱼ|.
    Manhattan,
    /// maxⱼ|xⱼ−zⱼ|.
    Chebyshev,
    /// (Σⱼ|xⱼ−zⱼ|ᵖ)^(1/p); a metric for p ≥ 1.
    Minkowski {
        /// More than 0 and finite.
        p: f64,
    },
}

impl Metric {
    /// Its name.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Euclidean => "euclidean",
            Self::Manhattan => "manhattan",
            Self::Chebyshev => "chebyshev",
            Self::Minkowski { .. } => "minkowski",
        }
    }
}

/// The nearest samples of each query, nearest first.
#[derive(Debug, Clone, PartialEq)]
pub struct Nearest {
    /// How many each query has.
    pub k: usize,
    /// Their numbers, k for each query, query after query.
    pub rows: Vec<usize>,
    /// Their distances, in the same order.
    pub distances: Vec<f64>,
}

impl Nearest {
    /// The nearest samples of one query and their distances.
    pub fn of(&self, query: usize) -> impl Iterator<Item = (usize, f64)> + '_ {
        let here = query * self.k..(query + 1) * self.k;
        self.rows[here.clone()].iter().copied().zip(self.distances[here].iter().copied())
    }
}

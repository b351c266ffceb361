//! The numerical rank of a Gram matrix, by Cholesky with diagonal pivoting.

use std::fmt;

use super::operator::Gram;
use super::values::TileMut;

/// The largest number of pivots: the cost grows with its square.
const LIMIT: usize = 3_000;

/// A numerical rank.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NumericalRank {
    /// This.
    Exactly(usize),
    /// At least this: the count stopped there.
    AtLeast(usize),
}

impl fmt::Display for NumericalRank {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Exactly(rank) => write!(f, "{rank}"),
            Self::AtLeast(rank) => write!(f, "at least {rank}"),
        }
    }
}

/// The number of pivots above n·ε·max kᵢᵢ in a Cholesky factorisation that takes the largest pivot first.
///
/// O(n·r²) time and O(n·r) memory for rank r; cut short at 3,000.
#[must_use]
pub fn numerical_rank(gram: &dyn Gram) -> NumericalRank {
    let n = gram.nrows();
    let mut diagonal = gram.diagonal().into_owned();
    let largest = diagonal.iter().copied().fold(0.0, f64::max);
    let threshold = n as f64 * f64::EPSILON * largest;
    let all: Vec<usize> = (0..n).collect();
    let mut columns: Vec<Vec<f64>> = Vec::new();
    while columns.len() < n.min(LIMIT) {
        let Some(pivot) = (0..n).max_by(|&a, &b| diagonal[a].total_cmp(&diagonal[b])) else { break };
        if diagonal[pivot].is_nan() || diagonal[pivot] <= threshold {
            return NumericalRank::Exactly(columns.len());
        }
        let mut column = vec![0.0; n];
        gram.block(&all, &[pivot], TileMut::new(&mut column, 1));
        for known in &columns {
            let factor = known[pivot];
            column.iter_mut().zip(known).for_each(|(c, k)| *c -= factor * k);
        }
        let root = diagonal[pivot].sqrt();
        for (c, d) in column.iter_mut().zip(&mut diagonal) {
            *c /= root;
            *d -= *c * *c;
        }
        diagonal[pivot] = f64::NEG_INFINITY;
        columns.push(column);
    }
    if columns.len() == n { NumericalRank::Exactly(n) } else { NumericalRank::AtLeast(columns.len()) }
}

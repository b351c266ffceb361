//! Groups of columns over which pairwise statistics are summed.

use std::f64::consts::PI;

use crate::kernel::lower::Embedding;

/// Some columns of the samples, and the map applied to each row before the statistic.
#[derive(Debug, Clone, PartialEq)]
pub struct Group {
    /// The columns, numbered in the samples.
    pub columns: Vec<usize>,
    /// The map.
    pub embedding: Embedding,
}

impl Group {
    /// Number of features after the map.
    #[must_use]
    pub fn width(&self) -> usize {
        match self.embedding {
            Embedding::Circle { .. } => 2 * self.columns.len(),
            _ => self.columns.len(),
        }
    }

    /// Whether the statistics of the mapped rows may be taken after a translation that depends on the data.
    pub(crate) fn may_centre(&self) -> bool {
        matches!(self.embedding, Embedding::Plain | Embedding::Scaled(_))
    }

    /// Whether the columns are used without a map.
    pub(crate) fn is_plain(&self) -> bool {
        self.embedding == Embedding::Plain
    }

    /// The features of position `j` of the group where its column holds `value`; `norm` is the Euclidean norm of the row over the
    /// columns of the group. Calls `put(feature, value)` once, or twice for a circle.
    pub fn features(&self, j: usize, value: f64, norm: f64, mut put: impl FnMut(usize, f64)) {
        match &self.embedding {
            Embedding::Plain => put(j, value),
            Embedding::Scaled(factors) => put(j, value * factors[j]),
            Embedding::Circle { periods, lengths } => {
                let half = PI * turn(value, periods[j]);
                let (sin, cos) = half.sin_cos();
                put(2 * j, -sin * sin / lengths[j]);
                put(2 * j + 1, sin * cos / lengths[j]);
            }
            Embedding::Unit => put(j, if norm == 0.0 { 0.0 } else { value / norm }),
        }
    }
}

/// value/period without whole turns, between −½ and ½.
fn turn(value: f64, period: f64) -> f64 {
    let turns = match value / period {
        turns if turns.abs() < 4_503_599_627_370_496.0 => turns,
        // Beyond 2⁵² turns only the remainder, which is exact, gives the position within the period.
        _ => (value % period) / period,
    };
    turns - turns.round()
}

//! The interface of solvers to a matrix: operations on the whole matrix, without access to samples or kernel.

use std::borrow::Cow;
use std::ops::Range;

use rayon::prelude::*;

use crate::data::Matrix;
use crate::linalg::{HostMatrix, Scalar, SymmetricMatrix, zeroed};
use crate::real::Precision;
use crate::tile::Element;
use crate::watch::{Stopped, Watch};

use super::cpu::LeastAndGreatest;
use super::descent::{BoxProblem, Descent};
use super::engine::Part;
use super::low_rank::{HostFactor, LowRankFactor};
use super::values::{TileMut, Value, ValuesMut};

/// A matrix that can be applied to several right-hand sides at once.
pub trait LinearOperator: Sync {
    /// Number of rows.
    fn nrows(&self) -> usize;

    /// Number of columns.
    fn ncols(&self) -> usize;

    /// `out = A·rhs`, with `rhs` of [`ncols`](Self::ncols) rows and `out` of [`nrows`](Self::nrows) rows.
    ///
    /// The order of summation does not depend on the number of threads.
    ///
    /// # Errors
    /// [`Stopped`] if `watch` requests it; `out` is then unspecified.
    fn apply(&self, out: &mut Matrix<f64>, rhs: &Matrix<f64>, watch: &dyn Watch) -> Result<(), Stopped>;
}

/// A matrix of kernel values that can be written out.
pub trait KernelValues: LinearOperator {
    /// Writes the matrix into `out`, row-major, rounded to the precision of `out`. `part` applies to square matrices.
    ///
    /// # Errors
    /// [`Stopped`] if `watch` requests it; `out` is then unspecified.
    ///
    /// # Panics
    /// If `out` does not have `nrows·ncols` entries.
    fn fill(&self, part: Part, out: ValuesMut<'_>, watch: &dyn Watch) -> Result<(), Stopped>;
}

/// A square, symmetric kernel matrix.
pub trait Gram: KernelValues {
    /// The precision in which its values are computed or stored.
    fn precision(&self) -> Precision;

    /// The cost of a value in multiply-adds; 0 where values are stored.
    fn cost(&self) -> usize;

    /// k(xᵢ, xᵢ) for every i.
    fn diagonal(&self) -> Cow<'_, [f64]>;

    /// Writes k(xᵢ, xⱼ) for i in `rows` and j in `columns`, which may repeat.
    ///
    /// # Panics
    /// If the segments of `out` do not cover the request or exceed its buffer.
    fn block(&self, rows: &[usize], columns: &[usize], out: TileMut<'_>);

    /// out[c, o] = Σᵣ rhs[r, o]·K(rows[r], columns[c]).
    ///
    /// # Errors
    /// [`Stopped`] if `watch` requests it; `out` is then unspecified.
    ///
    /// # Panics
    /// If `rhs` does not have one row for each of `rows`, or `out` one for each of `columns` and a column for each of
    /// `rhs`.
    fn apply_part(
        &self,
        columns: &[usize],
        rows: &[usize],
        rhs: &Matrix<f64>,
        out: &mut Matrix<f64>,
        watch: &dyn Watch,
    ) -> Result<(), Stopped>;

    /// Sums of rows over the columns `columns`, which are prepared once for many calls. O(their features) time and memory.
    fn row_sums<'a>(&'a self, columns: &[usize], keep: KeepRows) -> Box<dyn RowSums + 'a>;

    /// Lowers the objective of `problem` from `beta` with `f` = Kβ, and updates both, until the optimality conditions are violated by at
    /// most the tolerance or the engine gets no further. None, with nothing changed, where the engine has no such solver.
    ///
    /// f is summed in double precision from the values of this matrix. O(kn) kernel values for k changed variables.
    ///
    /// # Errors
    /// [`Stopped`] if `watch` requests it; `beta` and `f` are then unspecified.
    ///
    /// # Panics
    /// If `beta`, `f` and the parts of the problem differ in length.
    fn descend(
        &self,
        problem: &BoxProblem<'_>,
        beta: &mut [f64],
        f: &mut [f64],
        watch: &dyn Watch,
    ) -> Result<Option<Descent>, Stopped> {
        let _ = (problem, beta, f, watch);
        Ok(None)
    }

    /// maxᵢ Σⱼ|kᵢⱼ|: an upper bound of the eigenvalues. O(n) memory; NaN where a value is NaN.
    ///
    /// # Errors
    /// [`Stopped`] if `watch` requests it.
    fn largest_row_sum(&self, watch: &dyn Watch) -> Result<f64, Stopped> {
        let n = self.nrows();
        let all: Vec<usize> = (0..n).collect();
        let mut band = vec![0f64; BAND.min(n) * n];
        let mut largest = 0.0f64;
        for rows in all.chunks(BAND) {
            watch.check()?;
            let band = &mut band[..rows.len() * n];
            self.block(rows, &all, TileMut::new(&mut *band, n));
            let sums: Vec<f64> = band.par_chunks(n).map(|row| row.iter().map(|k| k.abs()).sum()).collect();
            // Written so that a NaN is propagated.
            largest = sums.into_iter().fold(largest, |l, s| if s <= l { l } else { s });
        }
        Ok(largest)
    }

    /// K with a penalty, stored in this precision where the values are computed, to be factored there. n² numbers of memory.
    ///
    /// # Errors
    /// [`Stopped`] if `watch` requests it.
    fn regularised(
        &self,
        penalty: Penalty<'_>,
        precision: Precision,
        watch: &dyn Watch,
    ) -> Result<Box<dyn SymmetricMatrix>, Stopped> {
        let fill = |out: ValuesMut<'_>| self.fill(Part::Lower, out, watch);
        Ok(match precision {
            Precision::Single => Box::new(on_host::<f32>(self.nrows(), penalty, fill)?),
            Precision::Double => Box::new(on_host::<f64>(self.nrows(), penalty, fill)?),
        })
    }

    /// Whether a factor in single precision is faster than one in double precision, or the only one that fits the
    /// memory.
    fn prefers_single(&self) -> bool {
        true
    }

    /// A factor F of K ≈ FFᵀ without columns yet, with room for `rank`, stored where the values are computed.
    ///
    /// # Errors
    /// [`Stopped`] if the engine has no room for it.
    fn low_rank(&self, rank: usize) -> Result<Box<dyn LowRankFactor>, Stopped> {
        Ok(Box::new(HostFactor::<f32>::new(self.nrows(), rank)))
    }

    /// The matrix stored for many products.
    ///
    /// # Errors
    /// [`Stopped`] if `watch` requests it.
    fn store(&self, form: StoreAs, watch: &dyn Watch) -> Result<Stored, Stopped>;
}

/// The terms that turn a kernel matrix K into SKS + λI + N.
#[derive(Debug, Clone, Copy, Default)]
pub struct Penalty<'a> {
    /// λ.
    pub lambda: f64,
    /// The diagonal of S, the square roots of sample weights; `None` for the identity.
    pub root_weights: Option<&'a [f64]>,
    /// The diagonal of N; `None` for zeros.
    pub noise: Option<&'a [f64]>,
}

impl Penalty<'_> {
    /// λI alone.
    #[must_use]
    pub fn uniform(lambda: f64) -> Self {
        Self { lambda, ..Self::default() }
    }
}

/// K with a penalty in host memory, its lower triangle written by `fill`.
fn on_host<T: Value + Scalar>(
    n: usize,
    Penalty { lambda, root_weights, noise }: Penalty<'_>,
    fill: impl FnOnce(ValuesMut<'_>) -> Result<(), Stopped>,
) -> Result<HostMatrix<T>, Stopped> {
    let mut matrix: Vec<T> = zeroed(n * n);
    fill(T::erase_mut(&mut matrix))?;
    matrix.par_chunks_mut(n.max(1)).enumerate().for_each(|(i, row)| {
        if let Some(root) = root_weights {
            for (entry, s) in row[..=i].iter_mut().zip(root) {
                *entry = T::from_f64(entry.to_f64() * s * root[i]);
            }
        }
        row[i] = T::from_f64(row[i].to_f64() + (lambda + noise.map_or(0.0, |noise| noise[i])));
    });
    Ok(HostMatrix::new(n, matrix))
}

/// Matrices of derivatives ∂k(xᵢ, zⱼ)/∂log θₚ, one for each hyper-parameter θₚ, that can be summed but are never stored.
pub trait KernelGradient: Sync {
    /// Number of rows.
    fn nrows(&self) -> usize;

    /// Number of columns.
    fn ncols(&self) -> usize;

    /// Number of hyper-parameters.
    fn len(&self) -> usize;

    /// Whether [`contract`](Self::contract) reads weights above the diagonal.
    fn reads_both_triangles(&self) -> bool;

    /// Whether there are no hyper-parameters.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Σᵢⱼ W[i,j]·∂k(xᵢ, zⱼ)/∂log θₚ for every p, in one pass over the tiles. `weights` holds W row after row; if rows
    /// and columns are the same samples, W is symmetric, and above the diagonal it is read only if
    /// [`reads_both_triangles`](Self::reads_both_triangles).
    ///
    /// O(nm(d + p)) time and O(1) memory a thread. The order of summation does not depend on the number of threads.
    ///
    /// # Errors
    /// [`Stopped`] if `watch` requests it.
    ///
    /// # Panics
    /// If there are not `nrows·ncols` weights.
    fn contract(&self, weights: &[f64], watch: &dyn Watch) -> Result<Vec<f64>, Stopped>;

    /// Σᵢ wᵢ·∂k(xᵢ, zᵢ)/∂log θₚ for every p. O(n(d + p)) time.
    ///
    /// # Panics
    /// If the matrix is not square, or there is not one weight for each row.
    fn contract_diagonal(&self, weights: &[f64]) -> Vec<f64>;
}

/// Rows that [`Gram::largest_row_sum`] computes at a time.
const BAND: usize = 64;

/// Which rows a [`RowSums`] keeps once they are computed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct KeepRows {
    /// Bytes that kept rows may take.
    pub bytes: u64,
    /// The precision in which values are computed and kept.
    pub precision: Precision,
    /// Which rows are worth keeping.
    pub policy: Policy,
}

/// Which rows are worth caching. Rows of a stored matrix are never copied.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Policy {
    /// Rows that are used a second time, if values cost at least [`EXPENSIVE_VALUE`]: most rows are needed once, and
    /// writing to fresh memory costs more than computing a row again.
    SecondUse,
    /// Every row, and at least the last one for any number of bytes.
    Always,
}

/// The least cost, in multiply-adds, of a kernel value worth caching: a cheaper one is computed as fast as it is read
/// from memory.
pub const EXPENSIVE_VALUE: usize = 96;

/// Rows of a kernel matrix over chosen columns, some of them kept.
pub trait RowSums: Send {
    /// f[c] += Σ factor·K(row, c) over all chosen columns c, for `terms` of distinct rows. With `ends`, returns the least f + up and
    /// the greatest f + low of each group afterwards; without, nothing.
    ///
    /// For each column the sum runs over the kept rows, then over the others, each in the order of `terms`.
    ///
    /// # Errors
    /// [`Stopped`] if `watch` requests it; `f` and the kept rows are then unspecified.
    fn add(
        &mut self,
        terms: &[(usize, f64)],
        f: &mut [f64],
        ends: Option<Ends<'_>>,
        watch: &dyn Watch,
    ) -> Result<Vec<(f64, f64)>, Stopped>;

    /// Writes K(row, c) for each of `rows` and all chosen columns c. Nothing is kept.
    ///
    /// # Panics
    /// If the segments of `out` do not cover the request or exceed its buffer.
    fn rows(&mut self, rows: &[usize], out: TileMut<'_>);

    /// Restricts the chosen columns to `kept`, by their place among the present ones, ascending. Kept rows stay.
    fn narrow(&mut self, kept: &[usize]);

    /// Kernel values computed so far.
    fn evaluations(&self) -> u64;
}

/// The quantities whose extremes [`RowSums::add`] finds: f + up and f + low within each group of columns.
#[derive(Debug, Clone, Copy)]
pub struct Ends<'a> {
    /// Ranges of columns, ascending.
    pub groups: &'a [Range<usize>],
    /// One number for each column.
    pub up: &'a [f64],
    /// One number for each column.
    pub low: &'a [f64],
}

impl Ends<'_> {
    /// The least f + up and the greatest f + low of each group, over the columns from `start` on, whose sums are `f`.
    #[must_use]
    pub fn extremes(&self, start: usize, f: &[f64]) -> Vec<(f64, f64)> {
        let part = |group: &Range<usize>| {
            let (from, to) = (group.start.max(start), group.end.min(start + f.len()));
            if from >= to {
                return (f64::INFINITY, f64::NEG_INFINITY);
            }
            let f = &f[from - start..to - start];
            f64::vectorize(LeastAndGreatest { f, up: &self.up[from..to], low: &self.low[from..to] })
        };
        self.groups.iter().map(part).collect()
    }
}

/// How [`Gram::store`] stores a matrix.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StoreAs {
    /// Double precision.
    F64,
    /// Single precision. Products with three or more right-hand sides are summed in single precision, too: about six digits.
    F32,
    /// 16 bits an entry, the triangle only: products alone, with errors of about [`rounding`](Self::rounding).
    I16,
}

/// A stored matrix.
pub enum Stored {
    /// One with readable values.
    Gram(Box<dyn Gram>),
    /// One that can only be applied.
    Products {
        /// K + E.
        operator: Box<dyn LinearOperator>,
        /// |Ev|/|v|, approximately.
        rounding: f64,
    },
}

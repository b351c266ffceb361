//! Ridge regression for a whole path of λ: exact leave-one-out, k-fold and generalised cross-validation from one
//! factorisation of the kernel matrix.
//!
//! With S the diagonal of the square roots of the weights, s = S1 and M = SKS + λI, put
//!
//! ```text
//! C = M⁻¹                               without an intercept
//! C = M⁻¹ − M⁻¹s sᵀM⁻¹/(sᵀM⁻¹s)         with one that is not penalised
//! u = C S y
//! ```
//!
//! Then S(y − f) = λu for the fitted f, and for any set F of rows the residuals of the fit without them are, exactly,
//!
//! ```text
//! S_F (y_F − f₋F) = (C_FF)⁻¹ u_F        uᵢ/Cᵢᵢ for a single row
//! ```
//!
//! because C is the block of the inverse of the (bordered) system that belongs to the coefficients, and removing rows
//! from a system is a Schur complement in its inverse. Generalised cross-validation (Golub, Heath and Wahba 1979) is
//! n‖S(y − f)‖²/(trace(I − H))² = n‖u‖²/(trace C)², with the intercept included in the trace.
//!
//! SKS = QBQᵀ with B block tridiagonal serves every λ: B + λI has a Cholesky factor L in O(nb²), and with W = L⁻¹Qᵀ, a
//! product of small matrices per block, M⁻¹ = WᵀW. An eigen-decomposition would make the steps for one λ cheaper still,
//! but costs several times the reduction. If SKS equals GGᵀ to rounding with r ≪ n columns, all of this applies to the
//! r × r matrix GᵀG = ZBZᵀ: with P = GZ, M⁻¹ = (I − P(B + λI)⁻¹Pᵀ)/λ.

mod banded;
mod cross_validation;
mod low_rank;
mod panel;
mod reduction;
mod refit;

use faer::{Mat, MatMut, MatRef};
use rayon::prelude::*;

use crate::data::Matrix;
use crate::linalg::products;
use crate::watch::{Stopped, Watch};

pub use refit::{cross_validate, refit};

use banded::{Banded, BandedCholesky};
use low_rank::{gram_of_rows, low_rank_rows};
use reduction::{Reduction, reduce};

/// Columns that one task multiplies.
const SLICE: usize = 128;

/// The trace of the residual that is treated as rounding error, in units of ε·trace K: it is a difference of sums of
/// squares that are no more accurate.
const ROUNDING: f64 = 8.0;

/// The largest omitted trace for which the low-rank form is used, relative to the smallest λ.
const NEGLIGIBLE: f64 = 1e-5;

/// The regression on a kernel matrix.
#[derive(Debug, Clone, Copy)]
pub struct PathProblem<'a> {
    /// One row per sample, one column per target.
    pub targets: &'a Matrix<f64>,
    /// The square roots of the sample weights, each more than 0; all ones where there are none.
    pub root_weights: Option<&'a [f64]>,
    /// Whether there is an intercept that is not penalised.
    pub intercept: bool,
    /// The values of λ, in any order.
    pub lambdas: &'a [f64],
}

/// The solution at one λ: f(xⱼ) = Σᵢ aᵢ k(xᵢ, xⱼ) + b for each target.
#[derive(Debug, Clone, PartialEq)]
pub struct PathSolution {
    /// a, one column per target.
    pub dual: Matrix<f64>,
    /// b, one per target; 0 without an intercept.
    pub intercepts: Vec<f64>,
}

/// A kernel matrix factored for every λ of a [`PathProblem`].
///
/// Every method returns one result per λ, in the order of the problem; it is `None` if SKS + λI is not positive
/// definite to working precision.
#[derive(Debug)]
pub struct RidgePath {
    order: usize,
    lambdas: Vec<f64>,
    root_weights: Option<Vec<f64>>,
    intercept: bool,
    basis: Basis,
    /// S[y] or S[y 1], one row per column of it.
    columns: Matrix<f64>,
    /// The same, transformed to the basis.
    rotated: Matrix<f64>,
}

/// An orthogonal basis in which SKS is block tridiagonal.
#[derive(Debug)]
enum Basis {
    /// Q as reflections.
    Reflections(Reduction),
    /// Qᵀ, row-major.
    Orthogonal { band: Banded, rows: Vec<f64> },
    /// Pᵀ, row-major with fewer rows than columns, and SKS = PPᵀ up to rounding.
    LowRank { band: Banded, rows: Vec<f64> },
}

impl Basis {
    fn band(&self) -> &Banded {
        match self {
            Self::Reflections(reduction) => &reduction.band,
            Self::Orthogonal { band, .. } | Self::LowRank { band, .. } => band,
        }
    }

    fn is_low_rank(&self) -> bool {
        matches!(self, Self::LowRank { .. })
    }
}

/// The parts of the inverse C of a (bordered) system at one λ that are common to all rows.
struct Inverse {
    lambda: f64,
    factor: BandedCholesky,
    /// u = C S y, one row per target.
    dual: Matrix<f64>,
    /// b.
    intercepts: Vec<f64>,
    /// M⁻¹s/√(sᵀM⁻¹s) if there is an intercept: C = M⁻¹ − vvᵀ.
    border: Option<Vec<f64>>,
}

impl RidgePath {
    /// Factors the symmetric n × n `gram`, whose buffer is used up.
    ///
    /// 4n³/3 flops, or 4nr² + 4r³/3 where the numerical rank r is below n/2 and the smallest λ is well above rounding.
    /// Little memory beyond the matrix itself.
    ///
    /// # Errors
    /// [`Stopped`] if `watch` requests it.
    ///
    /// # Panics
    /// If the matrix is not square, or targets or weights do not have as many rows.
    pub fn factor(gram: Matrix<f64>, problem: PathProblem<'_>, watch: &dyn Watch) -> Result<Self, Stopped> {
        let n = gram.nrows();
        assert!(gram.ncols() == n && problem.targets.nrows() == n, "a square matrix and a target per row");
        assert!(problem.root_weights.is_none_or(|roots| roots.len() == n), "a weight per row");
        let mut matrix = gram.into_entries();
        if let Some(roots) = problem.root_weights {
            matrix.par_chunks_mut(n.max(1)).zip(roots).for_each(|(row, root)| {
                row.iter_mut().zip(roots).for_each(|(entry, other)| *entry *= root * other);
            });
        }
        let basis = Self::basis(n, matrix, problem.lambdas, watch)?;
        let columns = weighted_columns(&problem);
        let mut path = Self {
            order: n,
            lambdas: problem.lambdas.to_vec(),
            root_weights: problem.root_weights.map(<[f64]>::to_vec),
            intercept: problem.intercept,
            basis,
            rotated: Matrix::zeros(0, 0),
            columns,
        };
        path.rotated = path.rotate(&path.columns, watch)?;
        Ok(path)
    }

    fn basis(n: usize, matrix: Vec<f64>, lambdas: &[f64], watch: &dyn Watch) -> Result<Basis, Stopped> {
        let least = lambdas.iter().copied().fold(f64::INFINITY, f64::min);
        let trace: f64 = (0..n).map(|i| matrix[i * n + i]).sum();
        let rounding = ROUNDING * f64::EPSILON * trace;
        if n > 2 * reduction::WIDTH
            && trace > 0.0
            && rounding <= NEGLIGIBLE * least
            && let Some(mut rows) = low_rank_rows(n, &matrix, rounding.max(1e-11 * least), n / 2, watch)?
        {
            drop(matrix);
            let rank = rows.len() / n;
            let reduction = reduce(rank, gram_of_rows(n, &rows), watch)?;
            let view = MatMut::from_row_major_slice_mut(&mut rows, rank, n);
            reduction.multiply(view.transpose_mut(), watch)?;
            return Ok(Basis::LowRank { band: reduction.band, rows });
        }
        Ok(Basis::Reflections(reduce(n, matrix, watch)?))
    }

    /// The number of samples.
    #[must_use]
    pub fn order(&self) -> usize {
        self.order
    }

    /// The order of the block tridiagonal matrix: the number of samples, or the numerical rank where that is used.
    #[must_use]
    pub fn rank(&self) -> usize {
        self.basis.band().order()
    }

    /// The coefficients at each λ. O(n²) a λ and target.
    ///
    /// # Errors
    /// [`Stopped`] if `watch` requests it.
    pub fn coefficients(&self, watch: &dyn Watch) -> Result<Vec<Option<PathSolution>>, Stopped> {
        let solution = |inverse: Inverse| {
            let (n, targets) = (self.order, inverse.dual.nrows());
            let mut dual = Matrix::zeros(n, targets);
            for target in 0..targets {
                for (i, u) in inverse.dual.row(target).iter().enumerate() {
                    dual.row_mut(i)[target] = u * self.root_weight(i);
                }
            }
            PathSolution { dual, intercepts: inverse.intercepts }
        };
        Ok(self.inverses(watch)?.into_iter().map(|inverse| inverse.map(solution)).collect())
    }

    fn root_weight(&self, row: usize) -> f64 {
        self.root_weights.as_ref().map_or(1.0, |roots| roots[row])
    }

    /// Forms Q if it is not formed yet.
    fn form_rows(&mut self, watch: &dyn Watch) -> Result<(), Stopped> {
        let empty = Basis::Orthogonal { band: Banded::default(), rows: Vec::new() };
        self.basis = match std::mem::replace(&mut self.basis, empty) {
            Basis::Reflections(reduction) => {
                let (band, rows) = reduction.into_rows(watch)?;
                Basis::Orthogonal { band, rows }
            }
            formed => formed,
        };
        Ok(())
    }

    /// Qᵀ or Pᵀ once it is formed.
    fn rows(&self) -> MatRef<'_, f64> {
        match &self.basis {
            Basis::Orthogonal { rows, .. } | Basis::LowRank { rows, .. } => {
                MatRef::from_row_major_slice(rows, rows.len() / self.order.max(1), self.order)
            }
            Basis::Reflections(_) => unreachable!("rows are formed before they are asked for"),
        }
    }

    /// Every row x of `columns` as xᵀQ, or xᵀP.
    fn rotate(&self, columns: &Matrix<f64>, watch: &dyn Watch) -> Result<Matrix<f64>, Stopped> {
        let count = columns.nrows();
        if let Basis::Reflections(reduction) = &self.basis {
            let mut out = columns.clone();
            reduction.multiply(products::view_mut(&mut out), watch)?;
            return Ok(out);
        }
        let mut out = Matrix::zeros(count, self.rank());
        let x = products::view(columns);
        let view = products::view_mut(&mut out);
        view.par_col_chunks_mut(SLICE).enumerate().try_for_each(|(slice, out)| {
            watch.check()?;
            let rows = self.rows().subrows(slice * SLICE, out.ncols());
            products::assign(out, 1.0, x, rows.transpose());
            Ok(())
        })?;
        Ok(out)
    }

    /// Every row v of `rotated` as Qv, or Pv.
    fn rotate_back(&self, mut rotated: Matrix<f64>, watch: &dyn Watch) -> Result<Matrix<f64>, Stopped> {
        let (count, n) = (rotated.nrows(), self.order);
        if let Basis::Reflections(reduction) = &self.basis {
            let view = products::view_mut(&mut rotated);
            reduction.multiply_transposed(view, watch)?;
            return Ok(rotated);
        }
        let mut out = Matrix::zeros(count, n);
        let v = products::view(&rotated);
        let view = products::view_mut(&mut out);
        view.par_col_chunks_mut(SLICE).enumerate().try_for_each(|(slice, out)| {
            watch.check()?;
            let rows = self.rows().subcols(slice * SLICE, out.ncols());
            products::assign(out, 1.0, v, rows);
            Ok(())
        })?;
        Ok(out)
    }

    /// The factors and solutions for each λ that every method needs.
    fn inverses(&self, watch: &dyn Watch) -> Result<Vec<Option<Inverse>>, Stopped> {
        let (count, rank) = (self.columns.nrows(), self.rank());
        let rotated = products::view(&self.rotated);
        let solved: Vec<Option<(f64, BandedCholesky, Mat<f64>)>> = self
            .lambdas
            .par_iter()
            .map(|&lambda| {
                watch.check()?;
                Ok(BandedCholesky::factor(self.basis.band(), lambda).map(|factor| {
                    let solution = factor.solve(rotated.transpose());
                    (lambda, factor, solution)
                }))
            })
            .collect::<Result<_, Stopped>>()?;
        let mut stacked = Matrix::zeros(self.lambdas.len() * count, rank);
        for (place, (_, _, solution)) in solved.iter().enumerate().filter_map(|(p, s)| Some((p, s.as_ref()?)))
        {
            for column in 0..count {
                let row = stacked.row_mut(place * count + column);
                row.iter_mut().enumerate().for_each(|(i, out)| *out = solution[(i, column)]);
            }
        }
        let applied = self.rotate_back(stacked, watch)?;
        let finish = |(place, solved): (usize, Option<(f64, BandedCholesky, Mat<f64>)>)| {
            let (lambda, factor, _) = solved?;
            let mut inverted = Matrix::zeros(count, self.order);
            for column in 0..count {
                let out = inverted.row_mut(column);
                out.copy_from_slice(applied.row(place * count + column));
                if self.basis.is_low_rank() {
                    let pairs = out.iter_mut().zip(self.columns.row(column));
                    pairs.for_each(|(v, c)| *v = (c - *v) / lambda);
                }
            }
            Some(self.bordered(lambda, factor, inverted))
        };
        Ok(solved.into_iter().enumerate().map(finish).collect())
    }

    /// From M⁻¹S[y] or M⁻¹S[y 1], one row each, to C.
    fn bordered(&self, lambda: f64, factor: BandedCholesky, inverted: Matrix<f64>) -> Inverse {
        if !self.intercept {
            let intercepts = vec![0.0; inverted.nrows()];
            return Inverse { lambda, factor, dual: inverted, intercepts, border: None };
        }
        let (targets, n) = (inverted.nrows() - 1, self.order);
        let dot_s = |v: &[f64]| v.iter().zip(self.columns.row(targets)).map(|(v, s)| v * s).sum::<f64>();
        let ones = inverted.row(targets);
        let total = dot_s(ones);
        let mut dual = Matrix::zeros(targets, n);
        let mut intercepts = Vec::with_capacity(targets);
        for target in 0..targets {
            let u = inverted.row(target);
            let b = dot_s(u) / total;
            let entries = dual.row_mut(target).iter_mut().zip(u).zip(ones);
            entries.for_each(|((out, u), v)| *out = u - b * v);
            intercepts.push(b);
        }
        let border = ones.iter().map(|v| v / total.sqrt()).collect();
        Inverse { lambda, factor, dual, intercepts, border: Some(border) }
    }
}

/// S[y] or S[y 1], one row per column of it.
fn weighted_columns(problem: &PathProblem<'_>) -> Matrix<f64> {
    let (n, targets) = (problem.targets.nrows(), problem.targets.ncols());
    let mut columns = Matrix::zeros(targets + usize::from(problem.intercept), n);
    for i in 0..n {
        let root = problem.root_weights.map_or(1.0, |roots| roots[i]);
        for (target, y) in problem.targets.row(i).iter().enumerate() {
            columns.row_mut(target)[i] = root * y;
        }
        if problem.intercept {
            columns.row_mut(targets)[i] = root;
        }
    }
    columns
}

//! Leave-one-out, k-fold and generalised cross-validation on a factored path.

use faer::linalg::matmul::triangular::{self, BlockStructure};
use faer::{Accum, Mat, MatRef, Par};
use rayon::prelude::*;

use crate::data::Matrix;
use crate::linalg::{factor_in_place, products};
use crate::watch::{Stopped, Watch};

use super::banded::copy_rows;
use super::{Inverse, RidgePath};

/// Rows per task for the leverages of every λ: their part of Qᵀ stays in cache.
const SLICE: usize = 128;

impl RidgePath {
    /// The residuals yᵢ − f₋ᵢ(xᵢ) of the fits without row i, one row per sample and one column per target, at each λ.
    ///
    /// O(n²b) a λ for blocks of b = 16, and 4n³/3 flops once to form Q.
    ///
    /// # Errors
    /// [`Stopped`] if `watch` requests it.
    pub fn leave_one_out(&mut self, watch: &dyn Watch) -> Result<Vec<Option<Matrix<f64>>>, Stopped> {
        self.form_rows(watch)?;
        let inverses = self.inverses(watch)?;
        let diagonals = self.diagonals(&inverses, watch)?;
        let residuals = |(place, inverse): (usize, &Option<Inverse>)| {
            let inverse = inverse.as_ref()?;
            let targets = inverse.dual.nrows();
            let mut residuals = Matrix::zeros(self.order, targets);
            for i in 0..self.order {
                let border = inverse.border.as_ref().map_or(0.0, |v| v[i]);
                let own = diagonals[place][i] - border * border;
                // An entry of C that is almost zero, as for a row that alone determines the intercept, may be lost to
                // rounding.
                if own.is_nan() || own <= 0.0 {
                    return None;
                }
                for (target, out) in residuals.row_mut(i).iter_mut().enumerate() {
                    *out = inverse.dual.row(target)[i] / own / self.root_weight(i);
                }
            }
            Some(residuals)
        };
        Ok(inverses.iter().enumerate().map(residuals).collect())
    }

    /// The diagonal of M⁻¹ at each λ; empty where there is no factor.
    fn diagonals(&self, inverses: &[Option<Inverse>], watch: &dyn Watch) -> Result<Vec<Vec<f64>>, Stopped> {
        let n = self.order;
        watch.begin("leave-one-out", n as u64);
        let rows = self.rows();
        let slices: Vec<Vec<Vec<f64>>> = (0..n.div_ceil(SLICE))
            .into_par_iter()
            .map(|slice| {
                let width = SLICE.min(n - slice * SLICE);
                let part = rows.subcols(slice * SLICE, width);
                let diagonals = inverses
                    .iter()
                    .map(|inverse| {
                        watch.check()?;
                        Ok(inverse.as_ref().map_or_else(Vec::new, |inverse| self.diagonal(inverse, part)))
                    })
                    .collect::<Result<_, Stopped>>()?;
                watch.advance(width as u64);
                Ok(diagonals)
            })
            .collect::<Result<_, Stopped>>()?;
        let joined =
            |place: usize| slices.iter().flat_map(|slice: &Vec<Vec<f64>>| slice[place].clone()).collect();
        Ok((0..inverses.len()).map(joined).collect())
    }

    /// The diagonal entries of M⁻¹ for the columns of `part` of Qᵀ.
    fn diagonal(&self, inverse: &Inverse, part: MatRef<'_, f64>) -> Vec<f64> {
        let mut squares = vec![0.0; part.ncols()];
        inverse.factor.forward(part, |_, block| {
            for row in block.chunks_exact(part.ncols()) {
                squares.iter_mut().zip(row).for_each(|(sum, w)| *sum += w * w);
            }
        });
        if self.basis.is_low_rank() {
            squares.iter_mut().for_each(|square| *square = (1.0 - *square) / inverse.lambda);
        }
        squares
    }

    /// The residuals yᵢ − f(xᵢ) of the fits without the fold of row i, one row per sample and one column per target, at
    /// each λ. `folds` numbers the fold of every row; each leaves at least one row in the others.
    ///
    /// n³/k flops a λ for k folds of one size, and 4n³/3 flops once to form Q; O(n²/k) memory a thread.
    ///
    /// # Errors
    /// [`Stopped`] if `watch` requests it.
    ///
    /// # Panics
    /// If `folds` does not have one entry per row.
    pub fn k_fold(
        &mut self,
        folds: &[usize],
        watch: &dyn Watch,
    ) -> Result<Vec<Option<Matrix<f64>>>, Stopped> {
        assert_eq!(folds.len(), self.order, "a fold per row");
        self.form_rows(watch)?;
        let inverses = self.inverses(watch)?;
        let empty = |inverse: &Inverse| Matrix::zeros(self.order, inverse.dual.nrows());
        let mut residuals: Vec<Option<Matrix<f64>>> =
            inverses.iter().map(|inverse| inverse.as_ref().map(empty)).collect();
        let count = folds.iter().max().map_or(0, |last| last + 1);
        watch.begin("cross-validation", (count * inverses.len()) as u64);
        for fold in 0..count {
            let members: Vec<usize> = (0..self.order).filter(|&i| folds[i] == fold).collect();
            let rows = self.rows();
            let part = Mat::from_fn(rows.nrows(), members.len(), |i, j| rows[(i, members[j])]);
            residuals.par_iter_mut().zip(&inverses).try_for_each(|(residuals, inverse)| {
                watch.check()?;
                if let (Some(out), Some(inverse)) = (residuals.as_mut(), inverse) {
                    match self.fold_residuals(inverse, part.as_ref(), &members) {
                        Some(found) => (0..members.len()).for_each(|j| {
                            let row = out.row_mut(members[j]);
                            row.iter_mut().enumerate().for_each(|(target, e)| *e = found[(j, target)]);
                        }),
                        None => *residuals = None,
                    }
                }
                watch.advance(1);
                Ok(())
            })?;
        }
        Ok(residuals)
    }

    /// (C_FF)⁻¹ u_F without the weights, one row per member of the fold F.
    fn fold_residuals(
        &self,
        inverse: &Inverse,
        part: MatRef<'_, f64>,
        members: &[usize],
    ) -> Option<Mat<f64>> {
        let size = members.len();
        let mut w = Mat::zeros(part.nrows(), size);
        inverse.factor.forward(part, |start, block| copy_rows(w.as_mut(), start, block));
        let mut c = Mat::zeros(size, size);
        let (sign, lower) =
            (if self.basis.is_low_rank() { -1.0 } else { 1.0 }, BlockStructure::TriangularLower);
        let full = BlockStructure::Rectangular;
        triangular::matmul(
            c.as_mut(),
            lower,
            Accum::Replace,
            w.transpose(),
            full,
            w.as_ref(),
            full,
            sign,
            Par::Seq,
        );
        for j in 0..size {
            for i in j..size {
                if self.basis.is_low_rank() {
                    let unit = if i == j { 1.0 } else { 0.0 };
                    c[(i, j)] = (unit + c[(i, j)]) / inverse.lambda;
                }
                if let Some(v) = &inverse.border {
                    c[(i, j)] -= v[members[i]] * v[members[j]];
                }
            }
        }
        factor_in_place(c.as_mut()).ok()?;
        let targets = inverse.dual.nrows();
        let mut e = Mat::from_fn(size, targets, |j, target| inverse.dual.row(target)[members[j]]);
        products::solve_lower(c.as_ref(), e.as_mut());
        products::solve_upper(c.transpose(), e.as_mut());
        for (j, &i) in members.iter().enumerate() {
            (0..targets).for_each(|target| e[(j, target)] /= self.root_weight(i));
        }
        Some(e)
    }

    /// n‖S(y − f)‖²/(trace(I − H))² for every target, at each λ.
    ///
    /// O(nb²) a λ, and O(n²) for all targets of a λ together: Q is not formed.
    ///
    /// # Errors
    /// [`Stopped`] if `watch` requests it.
    pub fn generalised(&self, watch: &dyn Watch) -> Result<Vec<Option<Vec<f64>>>, Stopped> {
        let n = self.order as f64;
        let score = |inverse: Inverse| {
            let outside = (self.order - self.rank()) as f64 / inverse.lambda;
            let mut trace = inverse.factor.trace_of_inverse(self.basis.band());
            if self.basis.is_low_rank() {
                trace += outside;
            }
            trace -= inverse.border.as_ref().map_or(0.0, |v| v.iter().map(|v| v * v).sum());
            let squares = |target| inverse.dual.row(target).iter().map(|u| u * u).sum::<f64>();
            (0..inverse.dual.nrows()).map(|target| n * squares(target) / (trace * trace)).collect()
        };
        Ok(self.inverses(watch)?.into_iter().map(|inverse| inverse.map(score)).collect())
    }
}

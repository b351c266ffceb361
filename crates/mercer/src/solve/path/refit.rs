//! Cross-validation by refits: one factorisation per fold serves every λ.
//!
//! The residuals of a fold F also follow from the inverse on all rows, which takes one factorisation for all folds but
//! O(n·|F|²) for each fold and λ. With few folds and many values of λ, factoring the rows of each fit costs less.

use faer::{Mat, MatMut};
use rayon::prelude::*;

use crate::data::Matrix;
use crate::linalg::{products, zeroed};
use crate::watch::{Stopped, Watch};

use super::reduction::WIDTH;
use super::{PathProblem, PathSolution, RidgePath};

/// Rows per task for predictions.
const SLICE: usize = 32;

/// The residuals yᵢ − f(xᵢ) of the fits without the fold of row i, one row per sample and one column per target, at
/// each λ of `problem`; `None` if a system is not positive definite. `folds` numbers the fold of every row from 0; each
/// leaves at least one row in the others.
///
/// Exact, by refits or by [`RidgePath::k_fold`], whichever takes fewer flops.
///
/// # Errors
/// [`Stopped`] if `watch` requests it.
///
/// # Panics
/// If the matrix is not square, or targets, weights or folds do not have as many rows.
pub fn cross_validate(
    gram: Matrix<f64>,
    problem: PathProblem<'_>,
    folds: &[usize],
    watch: &dyn Watch,
) -> Result<Vec<Option<Matrix<f64>>>, Stopped> {
    let count = folds.iter().max().map_or(0, |last| last + 1);
    let members = |fold| (0..folds.len()).filter(|&i| folds[i] == fold).collect::<Vec<_>>();
    if prefers_refits(folds, count, problem.lambdas.len()) {
        let groups: Vec<Vec<usize>> = (0..count).map(members).collect();
        return refit(&gram, problem, &groups, watch);
    }
    RidgePath::factor(gram, problem, watch)?.k_fold(folds, watch)
}

fn prefers_refits(folds: &[usize], count: usize, lambdas: usize) -> bool {
    let mut sizes = vec![0.0; count];
    folds.iter().for_each(|&fold| sizes[fold] += 1.0);
    let n = folds.len() as f64;
    let refits: f64 = sizes.iter().map(|f| 4.0 / 3.0 * (n - f).powi(3)).sum();
    let for_one = |f: &f64| f * f * n + 4.0 * WIDTH as f64 * n * f + f.powi(3) / 3.0;
    refits < 8.0 / 3.0 * n.powi(3) + lambdas as f64 * sizes.iter().map(for_one).sum::<f64>()
}

/// The residuals on each of `groups` of the fit on all rows outside of it, at each λ; 0 for rows in no group.
///
/// 4m³/3 flops for each group that leaves m rows, for any number of λ; m² numbers in addition to `gram`.
///
/// # Errors
/// [`Stopped`] if `watch` requests it.
///
/// # Panics
/// If the matrix is not square, or targets or weights do not have as many rows.
pub fn refit(
    gram: &Matrix<f64>,
    problem: PathProblem<'_>,
    groups: &[Vec<usize>],
    watch: &dyn Watch,
) -> Result<Vec<Option<Matrix<f64>>>, Stopped> {
    let (n, targets) = (gram.nrows(), problem.targets.ncols());
    let mut residuals = vec![Some(Matrix::zeros(n, targets)); problem.lambdas.len()];
    for held in groups {
        let mut inside = vec![false; n];
        held.iter().for_each(|&i| inside[i] = true);
        let rows: Vec<usize> = (0..n).filter(|&i| !inside[i]).collect();
        let entries = rows.iter().flat_map(|&i| problem.targets.row(i).to_vec()).collect();
        let part_targets = Matrix::from_entries(rows.len(), targets, entries);
        let part_roots: Option<Vec<f64>> =
            problem.root_weights.map(|roots| rows.iter().map(|&i| roots[i]).collect());
        let part = PathProblem { targets: &part_targets, root_weights: part_roots.as_deref(), ..problem };
        let solutions =
            RidgePath::factor(submatrix(gram, &rows, watch)?, part, watch)?.coefficients(watch)?;
        let fitted = predict(gram, held, &rows, &solutions, targets, watch)?;
        for (place, (solution, out)) in solutions.iter().zip(&mut residuals).enumerate() {
            let (Some(solution), Some(residuals)) = (solution, out.as_mut()) else {
                *out = None;
                continue;
            };
            for (row, &i) in held.iter().enumerate() {
                let fitted = &fitted.row(row)[place * targets..][..targets];
                for (target, e) in residuals.row_mut(i).iter_mut().enumerate() {
                    *e = problem.targets.row(i)[target] - fitted[target] - solution.intercepts[target];
                }
            }
        }
    }
    Ok(residuals)
}

/// The rows and columns `rows` of a square matrix.
fn submatrix(matrix: &Matrix<f64>, rows: &[usize], watch: &dyn Watch) -> Result<Matrix<f64>, Stopped> {
    let m = rows.len();
    let mut entries = zeroed(m * m);
    entries.par_chunks_mut(m.max(1)).zip(rows).try_for_each(|(out, &i)| {
        watch.check()?;
        let from = matrix.row(i);
        out.iter_mut().zip(rows).for_each(|(out, &j)| *out = from[j]);
        Ok(())
    })?;
    Ok(Matrix::from_entries(m, m, entries))
}

/// K_held,rows times the coefficients of every λ, side by side; zeros where there is no solution.
fn predict(
    gram: &Matrix<f64>,
    held: &[usize],
    rows: &[usize],
    solutions: &[Option<PathSolution>],
    targets: usize,
    watch: &dyn Watch,
) -> Result<Matrix<f64>, Stopped> {
    let width = solutions.len() * targets;
    let mut dual = Mat::zeros(rows.len(), width);
    for (place, solution) in solutions.iter().enumerate().filter_map(|(p, s)| Some((p, s.as_ref()?))) {
        let entries = products::view(&solution.dual);
        dual.subcols_mut(place * targets, targets).copy_from(entries);
    }
    let mut fitted = Matrix::zeros(held.len(), width);
    let slices = fitted.entries_mut().par_chunks_mut((SLICE * width).max(1));
    slices.zip(held.par_chunks(SLICE)).try_for_each(|(out, held)| {
        watch.check()?;
        let values = Mat::from_fn(held.len(), rows.len(), |i, j| gram.row(held[i])[rows[j]]);
        let out = MatMut::from_row_major_slice_mut(out, held.len(), width);
        products::assign(out, 1.0, values.as_ref(), dual.as_ref());
        Ok(())
    })?;
    Ok(fitted)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::watch::Unwatched;

    /// Refits and the formula on the inverse are two ways to one answer.
    #[test]
    fn refits_agree_with_the_formula() {
        let n = 60;
        let entries =
            (0..n * n).map(|k| (-(((k / n) as f64 - (k % n) as f64) / 4.0).powi(2)).exp()).collect();
        let gram = Matrix::from_entries(n, n, entries);
        let targets = Matrix::from_entries(n, 2, (0..2 * n).map(|k| (k as f64 * 0.7).sin() + 1.0).collect());
        let roots: Vec<f64> = (0..n).map(|i| 0.5 + (i % 4) as f64).collect();
        let folds: Vec<usize> = (0..n).map(|i| i * i % 3).collect();
        let groups: Vec<Vec<usize>> =
            (0..3).map(|fold| (0..n).filter(|&i| folds[i] == fold).collect()).collect();
        for (intercept, root_weights) in [(false, None), (true, Some(roots.as_slice()))] {
            let problem =
                PathProblem { targets: &targets, root_weights, intercept, lambdas: &[-5.0, 0.01, 1.0] };
            let refits = refit(&gram, problem, &groups, &Unwatched).unwrap();
            let mut path = RidgePath::factor(gram.clone(), problem, &Unwatched).unwrap();
            let formula = path.k_fold(&folds, &Unwatched).unwrap();
            let either = cross_validate(gram.clone(), problem, &folds, &Unwatched).unwrap();
            assert!(refits[0].is_none() && formula[0].is_none() && either[0].is_none());
            for place in 1..3 {
                let of = |found: &[Option<Matrix<f64>>]| found[place].clone().unwrap().into_entries();
                for ((a, b), c) in of(&refits).iter().zip(of(&formula)).zip(of(&either)) {
                    assert!((a - b).abs() < 1e-9 && (a - c).abs() < 1e-9, "{a}, {b}, {c}");
                }
            }
        }
    }

    #[test]
    fn few_folds_are_refitted_and_many_are_not() {
        let folds = |k: usize| (0..2_000).map(|i| i % k).collect::<Vec<_>>();
        assert!(prefers_refits(&folds(2), 2, 1));
        assert!(prefers_refits(&folds(5), 5, 20));
        assert!(!prefers_refits(&folds(5), 5, 1));
        assert!(!prefers_refits(&folds(20), 20, 20));
    }
}

//! Errors of fits on held-out samples, from the sums of each fold.

use rayon::prelude::*;

use crate::watch::Watch;

use super::{Intercept, NormalEquations, NormalEquationsError, RidgePath};

impl RidgePath {
    /// Σw(y − f)² of each target over the samples of `held_out`, for every λ; `None` for a λ that has no fit: 0 where
    /// the features are linearly dependent, or below the rounding error of the sums.
    ///
    /// O(D²) for each λ and target.
    ///
    /// # Errors
    /// If a λ is negative or not finite, if `held_out` is of other features or targets, or if `watch` asks to stop.
    pub fn squared_errors(
        &self,
        held_out: &NormalEquations,
        lambdas: &[f64],
        watch: &dyn Watch,
    ) -> Result<Vec<Option<Vec<f64>>>, NormalEquationsError> {
        let at = |&lambda: &f64| {
            watch.check()?;
            match self.solution(lambda) {
                Ok(fit) => held_out.squared_errors(&fit).map(Some),
                Err(NormalEquationsError::RankDeficient { .. } | NormalEquationsError::Indefinite { .. }) => {
                    Ok(None)
                }
                Err(error) => Err(error),
            }
        };
        lambdas.par_iter().map(at).collect()
    }
}

impl NormalEquations {
    /// The path of fits on the samples of these sums without those of `fold`, which must be among them.
    ///
    /// # Errors
    /// If the fold holds all samples or is of other features or targets, and as [`ridge_path`](Self::ridge_path).
    pub fn path_without(&self, fold: &Self, intercept: Intercept) -> Result<RidgePath, NormalEquationsError> {
        let mut training = self.clone();
        training.subtract(fold)?;
        if training.rows() == 0 {
            return Err(NormalEquationsError::Empty);
        }
        training.ridge_path(intercept)
    }
}

/// Σw(y − f)² over each fold (first index) for every λ (second) and target, by a fit on the other folds; `None` for a λ
/// that the fit does not exist with.
///
/// One eigen-decomposition for each fold, each on a separate thread, and O(D²) for each fold, λ and target.
///
/// # Errors
/// If there are fewer than two folds, as [`NormalEquations::path_without`] and [`RidgePath::squared_errors`], or if
/// `watch` asks to stop.
pub fn fold_errors(
    folds: &[NormalEquations],
    lambdas: &[f64],
    intercept: Intercept,
    watch: &dyn Watch,
) -> Result<Vec<Vec<Option<Vec<f64>>>>, NormalEquationsError> {
    let [first, others @ ..] = folds else {
        return Err(NormalEquationsError::Shape { what: "folds", found: 0, expected: 2 });
    };
    if others.is_empty() {
        return Err(NormalEquationsError::Shape { what: "folds", found: 1, expected: 2 });
    }
    let mut all = first.clone();
    for fold in others {
        all.merge(fold)?;
    }
    watch.begin("cross-validation", folds.len() as u64);
    let of_fold = |fold: &NormalEquations| {
        watch.check()?;
        let errors = all.path_without(fold, intercept)?.squared_errors(fold, lambdas, watch);
        watch.advance(1);
        errors
    };
    folds.par_iter().map(of_fold).collect()
}

/// The mean squared error of every λ (row) and target (column), each fold predicted by a fit on the others; `None` for
/// a λ that some fit does not exist with.
///
/// # Errors
/// As [`fold_errors`].
pub fn cross_validate(
    folds: &[NormalEquations],
    lambdas: &[f64],
    intercept: Intercept,
    watch: &dyn Watch,
) -> Result<Vec<Option<Vec<f64>>>, NormalEquationsError> {
    let by_fold = fold_errors(folds, lambdas, intercept, watch)?;
    let weight: f64 = folds.iter().map(NormalEquations::weight).sum();
    let mean = |place: usize| {
        let mut means = vec![0.0; folds[0].targets()];
        for errors in &by_fold {
            means.iter_mut().zip(errors[place].as_ref()?).for_each(|(mean, square)| *mean += square / weight);
        }
        Some(means)
    };
    Ok((0..lambdas.len()).map(mean).collect())
}

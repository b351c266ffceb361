//! Errors on samples that a fit has not seen, from the sums of each fold.

use crate::watch::Watch;

use super::{Intercept, Moments, MomentsError};

/// The mean squared error of every λ (row) and target (column), each fold predicted by a fit on the others.
///
/// One eigen-decomposition for each fold, O(D²) for each fold, λ and target.
///
/// # Errors
/// Where there are fewer than two folds, as [`Moments::ridge_path`] and [`RidgePath::fit`](super::RidgePath::fit), and where
/// `watch` asks to stop.
pub fn cross_validate(
    folds: &[Moments],
    lambdas: &[f64],
    intercept: Intercept,
    watch: &dyn Watch,
) -> Result<Vec<Vec<f64>>, MomentsError> {
    let [first, others @ ..] = folds else {
        return Err(MomentsError::Shape { what: "folds", found: 0, expected: 2 });
    };
    if others.is_empty() {
        return Err(MomentsError::Shape { what: "folds", found: 1, expected: 2 });
    }
    let mut all = first.clone();
    for fold in others {
        all.merge(fold)?;
    }
    let mut errors = vec![vec![0.0; all.targets()]; lambdas.len()];
    watch.begin("cross-validation", folds.len() as u64);
    for fold in folds {
        watch.check()?;
        let mut training = all.clone();
        training.subtract(fold)?;
        let path = training.ridge_path(intercept)?;
        for (sums, &lambda) in errors.iter_mut().zip(lambdas) {
            watch.check()?;
            let squares = fold.squared_errors(&path.fit(lambda)?)?;
            sums.iter_mut().zip(squares).for_each(|(sum, s)| *sum += s / all.weight());
        }
        watch.advance(1);
    }
    Ok(errors)
}

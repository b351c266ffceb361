//! Several logistic problems that differ only in the weights of their rows, such as the folds of a cross-validation,
//! solved together.
//!
//! A row that a fold leaves out has weight 0, and therefore coefficient 0. The vectors of all folds are multiplied by
//! the kernel matrix together: reading the matrix takes longer than multiplying it by a few vectors. The same products
//! give the logits of the held-out rows.
//!
//! Products use a matrix rounded as far as the smallest λ allows; one product with the exact matrix confirms every
//! solution.

use rayon::prelude::*;

use crate::data::Matrix;
use crate::gram::{Gram, LinearOperator};
use crate::linalg::vectors::add_multiple;
use crate::solve::error::SolveError;
use crate::watch::{Stopped, Watch};

use super::LogisticSettings;
use super::cg::{Direction, DirectionSearch, Effort};
use super::extrapolated;
use super::iterate::{Iterate, Residual};
use super::labels::Labels;
use super::loss::Curvature;
use super::newton::{MOST_PRODUCTS, Place, STALLED, is_unchanged, reduction};
use super::products::Products;

/// A kernel matrix and the labels of every fold, in which rows that are left out have weight 0.
pub struct LogisticFolds<'a> {
    products: Products<'a>,
    folds: &'a [Labels<'a>],
}

/// The state of one fold.
struct Fold<'a> {
    labels: &'a Labels<'a>,
    place: Place,
    /// The coefficients and intercepts of the two last λ, the later one at the end.
    known: Vec<(f64, Matrix<f64>, Vec<f64>)>,
    /// The norm of the last residual.
    previous: f64,
    iterations: usize,
    /// Steps without progress.
    stalled: usize,
    done: bool,
}

impl<'a> LogisticFolds<'a> {
    /// Stores the kernel matrix within `budget` bytes, as [`LogisticProblem::new`](super::LogisticProblem::new).
    ///
    /// # Errors
    /// [`Stopped`] if `watch` requests it.
    ///
    /// # Panics
    /// Without folds, if they differ in the number of outputs, and if there is not a label for every row of `gram`.
    pub fn new(
        gram: &'a dyn Gram,
        folds: &'a [Labels<'a>],
        smallest: f64,
        budget: u64,
        watch: &dyn Watch,
    ) -> Result<Self, Stopped> {
        assert!(folds.iter().all(|labels| labels.nrows() == gram.nrows()), "one label a row");
        assert!(folds.iter().all(|labels| labels.outputs() == folds[0].outputs()), "the same classes");
        let products = Products::new(gram, &folds[0], smallest, budget, watch)?;
        Ok(Self { products, folds })
    }

    /// The logits at all rows for each fold, for every λ > 0 of `lambdas`, which descend; `settings` with Newton's method.
    ///
    /// # Errors
    /// [`SolveError::NotFinite`] if the kernel matrix is not, and if `watch` stops the work.
    pub fn path(
        &self,
        lambdas: &[f64],
        settings: &LogisticSettings,
        watch: &dyn Watch,
    ) -> Result<Vec<Vec<Matrix<f64>>>, SolveError> {
        let start = |labels: &'a Labels<'a>| Fold {
            labels,
            place: Place::new(labels, Iterate::zero(labels.nrows(), labels.outputs())),
            known: Vec::new(),
            previous: f64::INFINITY,
            iterations: 0,
            stalled: 0,
            done: false,
        };
        let mut folds: Vec<Fold<'_>> = self.folds.iter().map(start).collect();
        let mut logits = Vec::with_capacity(lambdas.len());
        for &lambda in lambdas {
            self.begin(&mut folds, lambda, watch)?;
            while self.step(&mut folds, &LogisticSettings { lambda, ..settings.clone() }, watch)? {}
            logits.push(folds.iter().map(|fold| fold.place.logits.clone()).collect());
            for fold in &mut folds {
                let at = &fold.place.at;
                fold.known.push((lambda, at.dual.clone(), at.intercepts.clone()));
                let surplus = fold.known.len().saturating_sub(2);
                fold.known.drain(..surplus);
            }
        }
        Ok(logits)
    }

    /// Sets every fold to a start for `lambda`: its last solution or, if that has a smaller objective, the
    /// extrapolation of the last two.
    fn begin(&self, folds: &mut [Fold<'_>], lambda: f64, watch: &dyn Watch) -> Result<(), Stopped> {
        let ahead = |fold: &Fold<'_>| {
            let [earlier, last] = &fold.known[..] else { return None };
            extrapolated(lambda, (earlier.0, &earlier.1, &earlier.2), (last.0, &last.1, &last.2))
        };
        let starts: Vec<Option<(Matrix<f64>, Vec<f64>)>> = folds.iter().map(ahead).collect();
        let duals: Vec<&Matrix<f64>> = starts.iter().flatten().map(|(dual, _)| dual).collect();
        let mut images = multiplied(self.products.fast(), &duals, watch)?.into_iter();
        for (fold, start) in folds.iter_mut().zip(starts) {
            (fold.previous, fold.iterations, fold.stalled, fold.done) = (f64::INFINITY, 0, 0, false);
            let Some((dual, intercepts)) = start else { continue };
            let Some(image) = images.next() else { continue };
            let moved = Place::new(fold.labels, Iterate { dual, image, intercepts });
            let objective = |place: &Place| place.loss.total + place.at.penalty(lambda);
            if objective(&moved) < objective(&fold.place) {
                fold.place = moved;
            }
        }
        Ok(())
    }

    /// Takes one Newton step for every unfinished fold; returns whether there was one.
    fn step(
        &self,
        folds: &mut [Fold<'_>],
        settings: &LogisticSettings,
        watch: &dyn Watch,
    ) -> Result<bool, SolveError> {
        watch.check()?;
        let mut residuals = residuals(folds, settings);
        if folds.iter().zip(&residuals).any(|(fold, residual)| !fold.done && residual.size <= settings.tol) {
            self.confirm(folds, &mut residuals, settings, watch)?;
        }
        let finite = |(fold, residual): (&Fold<'_>, &Residual)| {
            residual.size.is_finite() && fold.place.loss.total.is_finite()
        };
        if !folds.iter().zip(&residuals).all(finite) {
            return Err(SolveError::NotFinite);
        }
        let directions = self.directions(folds, &residuals, settings, watch)?;
        let moves: Vec<_> = folds.iter_mut().zip(&residuals).zip(directions).collect();
        let moved: Result<Vec<bool>, Stopped> = moves
            .into_par_iter()
            .map(|((fold, residual), direction)| {
                let Some(direction) = direction else { return Ok(false) };
                let place = &mut fold.place;
                let part = place.line_search(fold.labels, settings.lambda, residual, &direction, watch)?;
                add_multiple(&mut place.at.dual, part, &direction.dual);
                add_multiple(&mut place.at.image, part, &direction.image);
                let shifts = place.at.intercepts.iter_mut().zip(&direction.intercepts);
                shifts.for_each(|(b, d)| *b += part * d);
                let before = place.loss.total;
                *place = Place::new(fold.labels, place.at.clone());
                let unchanged = is_unchanged(before, place.loss.total);
                fold.stalled =
                    if unchanged && residual.size >= 0.9 * fold.previous { fold.stalled + 1 } else { 0 };
                fold.done = fold.stalled == STALLED;
                (fold.previous, fold.iterations) = (residual.size, fold.iterations + 1);
                Ok(true)
            })
            .collect();
        Ok(moved?.contains(&true))
    }

    /// Recomputes the fit at the samples for folds that appear solved; those that are solved are finished.
    fn confirm(
        &self,
        folds: &mut [Fold<'_>],
        residuals: &mut [Residual],
        settings: &LogisticSettings,
        watch: &dyn Watch,
    ) -> Result<(), Stopped> {
        let solved: Vec<usize> =
            (0..folds.len()).filter(|&k| !folds[k].done && residuals[k].size <= settings.tol).collect();
        let duals: Vec<&Matrix<f64>> = solved.iter().map(|&k| &folds[k].place.at.dual).collect();
        let images = multiplied(self.products.exact(), &duals, watch)?;
        for (k, image) in solved.into_iter().zip(images) {
            let fold = &mut folds[k];
            fold.place = Place::new(fold.labels, Iterate { image, ..fold.place.at.clone() });
            residuals[k] = fold.residual(settings);
            fold.done = residuals[k].size <= settings.tol;
        }
        Ok(())
    }

    /// The Newton steps of the unfinished folds, whose products are computed together.
    fn directions(
        &self,
        folds: &[Fold<'_>],
        residuals: &[Residual],
        settings: &LogisticSettings,
        watch: &dyn Watch,
    ) -> Result<Vec<Option<Direction>>, Stopped> {
        let curvatures: Vec<Curvature<'_>> = folds
            .iter()
            .map(|fold| Curvature::new(fold.labels, &fold.place.loss.probabilities, settings.intercept))
            .collect();
        let mut searches: Vec<Option<DirectionSearch<'_>>> = Vec::with_capacity(folds.len());
        for ((fold, residual), curvature) in folds.iter().zip(residuals).zip(&curvatures) {
            let reduction = reduction(residual.size, fold.previous, settings.tol);
            let effort = Effort { reduction, products: MOST_PRODUCTS, penalised: true };
            let open = !fold.done && fold.iterations < settings.max_iter;
            searches.push(open.then(|| DirectionSearch::new(settings.lambda, curvature, residual, effort)));
        }
        loop {
            let mut open: Vec<&mut DirectionSearch<'_>> =
                searches.iter_mut().flatten().filter(|search| search.wanted().is_some()).collect();
            if open.is_empty() {
                break;
            }
            let wanted: Vec<&Matrix<f64>> = open.iter().filter_map(|search| search.wanted()).collect();
            let images = multiplied(self.products.fast(), &wanted, watch)?;
            open.par_iter_mut().zip(&images).for_each(|(search, image)| search.advance(image));
        }
        Ok(searches.into_iter().map(|search| search.map(DirectionSearch::direction)).collect())
    }
}

impl Fold<'_> {
    fn residual(&self, settings: &LogisticSettings) -> Residual {
        let LogisticSettings { lambda, intercept, .. } = *settings;
        Residual::penalised(self.labels, lambda, intercept, &self.place.at, &self.place.loss)
    }
}

fn residuals(folds: &[Fold<'_>], settings: &LogisticSettings) -> Vec<Residual> {
    folds.par_iter().map(|fold| fold.residual(settings)).collect()
}

/// K times each of `vectors`, by one product with all of them.
fn multiplied(
    kernel: &dyn LinearOperator,
    vectors: &[&Matrix<f64>],
    watch: &dyn Watch,
) -> Result<Vec<Matrix<f64>>, Stopped> {
    if vectors.is_empty() {
        return Ok(Vec::new());
    }
    let (n, width) = (kernel.nrows(), vectors.iter().map(|vector| vector.ncols()).sum());
    let mut side_by_side = Matrix::zeros(n, width);
    let mut images = Matrix::zeros(n, width);
    for i in 0..n {
        let rows = vectors.iter().flat_map(|vector| vector.row(i));
        side_by_side.row_mut(i).iter_mut().zip(rows).for_each(|(to, from)| *to = *from);
    }
    kernel.apply(&mut images, &side_by_side, watch)?;
    let mut first = 0;
    let image = |vector: &&Matrix<f64>| {
        let columns = first..first + vector.ncols();
        first = columns.end;
        let entries = (0..n).flat_map(|i| images.row(i)[columns.clone()].iter().copied()).collect();
        Matrix::from_entries(n, columns.len(), entries)
    };
    Ok(vectors.iter().map(image).collect())
}

//! Newton's method with a line search.

use crate::data::Matrix;
use crate::linalg::vectors::add_multiple;
use crate::solve::error::SolveError;
use crate::watch::{Stopped, Watch};

use super::cg::{Direction, Effort, dot, newton_direction};
use super::factored::factored_direction;
use super::iterate::{Iterate, Residual, shift_rows};
use super::labels::Labels;
use super::loss::{Curvature, Loss};
use super::products::Products;
use super::{LogisticSettings, LogisticSolution};

/// The most halvings of a step.
const HALVINGS: usize = 40;

/// The fraction of the decrease predicted by the slope that a step must reach.
const SUFFICIENT: f64 = 1e-4;

/// The decrease that rounding errors may hide, relative to the objective.
const ROUNDING: f64 = 1e-13;

/// The most steps without progress, at the limit of rounding.
pub(super) const STALLED: usize = 4;

/// The order up to which a factor is always faster than conjugate gradients.
const SMALL: usize = 512;

/// A factorisation costs about as much as one product with K for every 64 rows (measured at n = 4,600 and 10,000):
/// after a step that needs more products, the next one uses a factor.
const ROWS_PER_PRODUCT: usize = 64;

/// The fewest products allowed for a step.
const FEWEST_PRODUCTS: usize = 20;

/// The most products of a step if no factor can be used.
pub(super) const MOST_PRODUCTS: usize = 2_000;

/// Logits beyond this mean probabilities within 10⁻⁶ of 0 or 1.
const CERTAIN: f64 = 14.0;

/// Minimises the objective from `start`.
pub(super) fn minimise(
    products: &Products<'_>,
    labels: &Labels<'_>,
    settings: &LogisticSettings,
    start: Iterate,
    watch: &dyn Watch,
) -> Result<LogisticSolution, SolveError> {
    let (lambda, intercept) = (settings.lambda, settings.intercept);
    let may_factor = labels.outputs() == 1 && products.factor_fits();
    let mut factoring = may_factor && labels.nrows() <= SMALL;
    let mut place = Place::new(labels, start);
    let (mut iterations, mut stalled) = (0, 0);
    let mut previous = f64::INFINITY;
    watch.begin("Newton", 0);
    loop {
        if lambda == 0.0 && labels.separated_by(&place.logits) {
            return Err(SolveError::Separable);
        }
        let residual = Residual::new(products, labels, lambda, intercept, &place.at, &place.loss, watch)?;
        if !residual.size.is_finite() || !place.loss.total.is_finite() {
            return Err(SolveError::NotFinite);
        }
        watch.note(&format!("residual {:.1e}", residual.size));
        let converged = residual.size <= settings.tol;
        if converged || iterations == settings.max_iter || stalled == STALLED {
            let solver = if factoring { "newton, cholesky" } else { "newton, conjugate gradients" };
            let warnings = place.doubts(lambda);
            let achieved = (residual.size, settings.tol);
            let mut found = place.at.solution(place.loss.total, achieved, solver, iterations);
            found.report.warnings = warnings;
            if stalled == STALLED && !converged {
                found.report.reasons.push(format!("rounding keeps the residual at {:.1e}", residual.size));
            }
            return Ok(found);
        }
        iterations += 1;
        // Without a penalty the steps are damped by the size of the gradient, which preserves quadratic convergence.
        let damping = if lambda > 0.0 {
            lambda
        } else {
            products.largest_diagonal() * labels.scale() * residual.size.clamp(1e-9, 1.0)
        };
        let curvature = Curvature::new(labels, &place.loss.probabilities, intercept);
        let direction = if factoring {
            factored_direction(products, damping, &curvature, intercept, &place.at, &residual, watch)?
        } else {
            let limit = if may_factor { labels.nrows() / ROWS_PER_PRODUCT } else { MOST_PRODUCTS };
            let reduction = reduction(residual.size, previous, settings.tol);
            let effort = Effort { reduction, products: limit.max(FEWEST_PRODUCTS), penalised: lambda > 0.0 };
            let direction = newton_direction(products.fast(), damping, &curvature, &residual, effort, watch)?;
            factoring = may_factor && direction.products == effort.products;
            direction
        };
        let step = place.line_search(labels, lambda, &residual, &direction, watch)?;
        let before = place.loss.total;
        let mut at = place.at;
        add_multiple(&mut at.dual, step, &direction.dual);
        at.intercepts.iter_mut().zip(&direction.intercepts).for_each(|(b, d)| *b += step * d);
        at.update_image(products, watch)?;
        place = Place::new(labels, at);
        let unchanged = is_unchanged(before, place.loss.total);
        stalled = if unchanged && residual.size >= 0.9 * previous { stalled + 1 } else { 0 };
        previous = residual.size;
        watch.advance(1);
    }
}

/// Whether a loss has changed by no more than rounding.
pub(super) fn is_unchanged(before: f64, after: f64) -> bool {
    (after - before).abs() <= ROUNDING * before.abs()
}

/// The tolerance of a step: loose far from the solution, and tight near it (Eisenstat & Walker, 1996, choice 2).
pub(super) fn reduction(size: f64, previous: f64, tol: f64) -> f64 {
    let shrunk = size / previous;
    let forced = if previous.is_finite() { 0.9 * shrunk * shrunk } else { 0.1 };
    forced.min(0.1).max(0.3 * tol / size).clamp(1e-4, 0.5)
}

/// Coefficients, their logits and the loss there.
pub(super) struct Place {
    pub at: Iterate,
    pub logits: Matrix<f64>,
    pub loss: Loss,
}

impl Place {
    pub fn new(labels: &Labels<'_>, at: Iterate) -> Self {
        let logits = at.logits();
        let loss = Loss::at(labels, &logits);
        Self { at, logits, loss }
    }

    /// The fraction of `direction` with a sufficient decrease of the objective: 1, a half, a quarter, …
    pub fn line_search(
        &self,
        labels: &Labels<'_>,
        lambda: f64,
        residual: &Residual,
        direction: &Direction,
        watch: &dyn Watch,
    ) -> Result<f64, Stopped> {
        let slope = dot(&residual.entries, &direction.image)
            + residual.pull.iter().zip(&direction.intercepts).map(|(g, b)| g * b).sum::<f64>();
        let (linear, square) = (dot(&self.at.dual, &direction.image), dot(&direction.dual, &direction.image));
        let noise = ROUNDING * (self.loss.total.abs() + self.at.penalty(lambda).abs());
        let mut step = 1.0;
        for _ in 0..HALVINGS {
            watch.check()?;
            let mut moved = self.logits.clone();
            add_multiple(&mut moved, step, &direction.image);
            shift_rows(&mut moved, step, &direction.intercepts);
            let penalty = lambda * step * (linear + 0.5 * step * square);
            let change = Loss::at(labels, &moved).total - self.loss.total + penalty;
            if change <= SUFFICIENT * step * slope + noise {
                break;
            }
            step *= 0.5;
        }
        Ok(step)
    }

    /// The warnings about a solution without a penalty.
    fn doubts(&self, lambda: f64) -> Vec<String> {
        if lambda > 0.0 || self.logits.entries().iter().all(|f| f.abs() <= CERTAIN) {
            return Vec::new();
        }
        let doubt = "some probabilities are 0 or 1 to six digits: with lambda = 0 the classes may be separated in part, \
                     and the coefficients then mean nothing";
        vec![doubt.into()]
    }
}

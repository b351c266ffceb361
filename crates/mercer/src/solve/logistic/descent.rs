//! Gradient descent, on all rows at once and row by row.
//!
//! In the space of functions the gradient of the objective is Σᵢ(λaᵢ + gᵢ)k(xᵢ, ·), so that a step against it is a ← a
//! − ε(λa + g), without a product with K. The objective decreases for ε < 2/(λ + ‖D‖λmax(K)), where ‖D‖ ≤ w/4 for two
//! classes and w/2 for more.
//!
//! Row by row, aᵢ ← aᵢ − ε(λaᵢ + gᵢ) moves aᵢ towards the stationary point of its row. With ε ≤ 1/(λ + ‖Dᵢ‖kᵢᵢ) it
//! never overshoots, and is therefore coordinate descent on the dual problem (Keerthi et al., 2005). The intercepts are
//! set to their best values after each step, or pass.

use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_xoshiro::Xoshiro256PlusPlus;

use crate::data::Matrix;
use crate::linalg::vectors::add_multiple;
use crate::solve::error::SolveError;
use crate::solve::report::Status;
use crate::watch::Watch;

use super::intercepts::settle;
use super::iterate::{Iterate, Residual};
use super::labels::Labels;
use super::loss::{Loss, row_gradient};
use super::products::Products;
use super::{LogisticSettings, LogisticSolution};

/// The relative growth of the objective that exceeds rounding errors.
const GROWTH: f64 = 1e-9;

/// Steps on all rows at once.
pub(super) fn all_rows(
    products: &Products<'_>,
    labels: &Labels<'_>,
    settings: &LogisticSettings,
    start: Iterate,
    watch: &dyn Watch,
) -> Result<LogisticSolution, SolveError> {
    let safe = 1.0 / (settings.lambda + labels.largest_curvature() * products.largest_row_sum(watch)?);
    let step = settings.step.unwrap_or(safe);
    let mut at = start;
    let mut image = Matrix::zeros(at.dual.nrows(), at.dual.ncols());
    let (mut iterations, mut objective) = (0, f64::INFINITY);
    watch.begin("gradient descent", settings.max_iter as u64);
    loop {
        let loss = settled(labels, settings, &mut at);
        let now = loss.total + at.penalty(settings.lambda);
        let residual = judged(products, labels, settings, &at, &loss, watch)?;
        if now > objective * (1.0 + GROWTH) {
            return Err(SolveError::Diverges { step, largest: 2.0 * safe });
        }
        objective = now;
        if residual.size <= settings.tol || iterations == settings.max_iter {
            return Ok(at.solution(
                loss.total,
                (residual.size, settings.tol),
                "gradient descent",
                iterations,
            ));
        }
        iterations += 1;
        products.exact().apply(&mut image, &residual.entries, watch)?;
        add_multiple(&mut at.dual, -step, &residual.entries);
        add_multiple(&mut at.image, -step, &image);
        watch.advance(1);
    }
}

/// Steps on one row after the other.
pub(super) fn row_by_row(
    products: &Products<'_>,
    labels: &Labels<'_>,
    settings: &LogisticSettings,
    start: Iterate,
    watch: &dyn Watch,
) -> Result<LogisticSolution, SolveError> {
    let (n, m) = (labels.nrows(), labels.outputs());
    let LogisticSettings { lambda, step, seed, .. } = *settings;
    let safe = |i: usize| 1.0 / (lambda + labels.curvature_bound(i) * products.diagonal()[i]);
    let safest = (0..n).map(safe).fold(f64::INFINITY, f64::min);
    let too_large = |step: f64| SolveError::Diverges { step, largest: 2.0 * safest };
    let mut at = start;
    let mut order: Vec<usize> = (0..n).collect();
    let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
    let (mut row, mut f, mut r) = (vec![0.0; n], vec![0.0; m], vec![0.0; m]);
    let mut iterations = 0;
    watch.begin("stochastic gradient descent", settings.max_iter as u64);
    loop {
        let mut loss = settled(labels, settings, &mut at);
        let mut residual = match (judged(products, labels, settings, &at, &loss, watch), step) {
            (Err(SolveError::NotFinite), Some(step)) => return Err(too_large(step)),
            (residual, _) => residual?,
        };
        if residual.size <= settings.tol {
            // Ka was accumulated row by row: it is recomputed before convergence is accepted.
            at.update_image(products, watch)?;
            loss = settled(labels, settings, &mut at);
            residual = judged(products, labels, settings, &at, &loss, watch)?;
        }
        if residual.size <= settings.tol || iterations == settings.max_iter {
            let (achieved, solver) = ((residual.size, settings.tol), "stochastic gradient descent");
            let mut found = at.solution(loss.total, achieved, solver, iterations);
            if let Some(step) =
                step.filter(|&step| found.report.status != Status::Converged && step > 2.0 * safest)
            {
                found.report.reasons.push(too_large(step).to_string());
            }
            return Ok(found);
        }
        iterations += 1;
        order.shuffle(&mut random);
        for &i in &order {
            watch.check()?;
            f.iter_mut().zip(at.image.row(i)).zip(&at.intercepts).for_each(|((f, k), b)| *f = k + b);
            row_gradient(labels, i, &f, &mut r);
            r.iter_mut().zip(at.dual.row(i)).for_each(|(r, a)| *r += lambda * a);
            if r.iter().all(|r| *r == 0.0) {
                continue;
            }
            let step = step.unwrap_or_else(|| safe(i));
            products.row(i, &mut row);
            at.dual.row_mut(i).iter_mut().zip(&r).for_each(|(a, r)| *a -= step * r);
            for (values, k) in at.image.entries_mut().chunks_exact_mut(m).zip(&row) {
                values.iter_mut().zip(&r).for_each(|(v, r)| *v -= step * r * k);
            }
        }
        watch.advance(1);
    }
}

/// The loss with the best intercepts.
fn settled(labels: &Labels<'_>, settings: &LogisticSettings, at: &mut Iterate) -> Loss {
    if settings.intercept {
        settle(labels, &at.image, &mut at.intercepts)
    } else {
        Loss::at(labels, &at.image)
    }
}

/// The residual, checked to be finite and to have a minimum.
fn judged(
    products: &Products<'_>,
    labels: &Labels<'_>,
    settings: &LogisticSettings,
    at: &Iterate,
    loss: &Loss,
    watch: &dyn Watch,
) -> Result<Residual, SolveError> {
    if settings.lambda == 0.0 && labels.separated_by(&at.logits()) {
        return Err(SolveError::Separable);
    }
    let residual = Residual::new(products, labels, settings.lambda, settings.intercept, at, loss, watch)?;
    watch.note(&format!("residual {:.1e}", residual.size));
    if residual.size.is_finite() && loss.total.is_finite() {
        Ok(residual)
    } else {
        Err(SolveError::NotFinite)
    }
}

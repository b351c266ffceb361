//! A support vector machine on features, by the method of multipliers with Newton steps.
//!
//! ```text
//! minimise over w, b    P = ½‖w‖² + Σᵢ cᵢ·max(0, uᵢ),      uᵢ = 1 − sᵢ(⟨w, φᵢ⟩ + b)
//! ```
//!
//! by the method of multipliers: with α the multipliers of rows and a sharpness σ, each round minimises
//!
//! ```text
//! ½‖w‖² + Σᵢ mᵢ(σuᵢ + αᵢ)/σ,      m′(v) = clamp(v, 0, cᵢ),
//! ```
//!
//! the hinge with a parabola of width cᵢ/σ in place of its corner, and then sets α to ν = clamp(σu + α, 0, c). Rounds
//! are solved by Newton's method: only the rows B whose ν is strictly between its bounds have curvature, and they are
//! few near the solution, so that a step solves
//!
//! ```text
//! (I + σBᵀB)δ = −(w − Σᵢ sᵢνᵢφᵢ)       or, by the rows,       (BBᵀ + I/σ)q = …,
//! ```
//!
//! whichever is smaller, with the intercept as a border. The line search along δ is exact: the objective there is
//! piecewise quadratic and follows at every length from one product with δ. (Yin and Li 2019, "A semismooth Newton
//! method for support vector classification and regression", here with an unpenalised intercept.)
//!
//! ν always satisfies the bounds of the dual problem; scaled down for one class so that Σᵢ sᵢνᵢ = 0, it gives a lower
//! bound of the minimum. The stopping rule uses this bound, in double precision for features of either precision.

use faer::{MatMut, MatRef};
use rayon::prelude::*;

use crate::data::Matrix;
use crate::design::{Access, Design, DesignError};
use crate::gram::{Values, with_values};
use crate::linalg::vectors::{dot, norm};
use crate::linalg::{Cholesky, Intercept, NormalEquations, NormalEquationsError, products};
use crate::watch::Watch;

use super::report::Status;

/// The factor by which the sharpness grows from round to round.
const SHARPENING: f64 = 4.0;

/// The most rounds: the sharpness has then grown by 10¹⁸.
const ROUNDS: usize = 30;

/// The gradient at which a round ends, relative to ‖w‖.
const SETTLED: f64 = 1e-2;

/// The most steps of a round.
const STEPS: usize = 50;

/// Rows of B whose features are gathered at a time.
const STRIP: usize = 256;

/// The rows of a design with the sides and bounds of one machine.
#[derive(Clone, Copy)]
pub struct HingeNewton<'a> {
    /// Φ, with access to any rows.
    pub rows: &'a dyn Design,
    /// Whether s is 1, otherwise −1, for each row.
    pub positive: &'a [bool],
    /// c ≥ 0 for each row, and positive for at least one.
    pub bounds: &'a [f64],
    /// Whether there is an unpenalised intercept.
    pub intercept: Intercept,
}

/// The solution f(x) = ⟨w, φ(x)⟩ + b and its quality.
#[derive(Debug, Clone, PartialEq)]
pub struct HingeFit {
    /// w.
    pub weights: Vec<f64>,
    /// b.
    pub intercept: f64,
    /// P.
    pub objective: f64,
    /// An upper bound of the relative distance of P from its minimum.
    pub gap: f64,
    /// Newton steps.
    pub iterations: usize,
    /// The status.
    pub status: Status,
}

impl HingeNewton<'_> {
    /// Minimises from w and b, until the gap is at most `tolerance` or after `max_iter` steps.
    ///
    /// A step takes O(nD) and, with k rows of curvature and l = min(k, D), O(kDl + l³).
    ///
    /// # Errors
    /// If features are not finite, if rows can be read in order only, or if `watch` asks to stop.
    ///
    /// # Panics
    /// If there is not a side and a bound for each row, or a start weight for each feature.
    pub fn solve(
        &self,
        (weights, intercept): (Vec<f64>, f64),
        tolerance: f64,
        max_iter: usize,
        watch: &dyn Watch,
    ) -> Result<HingeFit, DesignError> {
        if self.rows.access() == Access::Sequential {
            return Err(DesignError::Sequential);
        }
        let mut state = State::new(self, weights, intercept, watch)?;
        let mut best = HingeFit {
            weights: state.weights.clone(),
            intercept,
            objective: f64::INFINITY,
            gap: f64::INFINITY,
            iterations: 0,
            status: Status::OutOfIterations,
        };
        let (mut bound, mut rounds, mut steps) = (0.0f64, 0, 0);
        loop {
            let place = state.evaluate(watch)?;
            if place.primal < best.objective {
                best.objective = place.primal;
                best.weights.copy_from_slice(&state.weights);
                best.intercept = state.intercept;
            }
            bound = bound.max(place.dual);
            best.gap = if best.objective > bound { (best.objective - bound) / best.objective } else { 0.0 };
            watch.note(&format!("gap {:.1e}", best.gap));
            if best.gap <= tolerance {
                best.status = Status::Converged;
                return Ok(best);
            }
            if best.iterations == max_iter {
                return Ok(best);
            }
            let settled = place.residual(self.rows.nrows()) <= SETTLED * norm(&state.weights);
            if steps == STEPS || (steps > 0 && settled) {
                if rounds == ROUNDS {
                    best.status = Status::Stagnated;
                    return Ok(best);
                }
                state.multipliers.copy_from_slice(&state.dual);
                state.sharpness *= SHARPENING;
                (rounds, steps) = (rounds + 1, 0);
                continue;
            }
            let direction = state.direction(&place, watch)?;
            state.step_along(&direction, watch)?;
            (best.iterations, steps) = (best.iterations + 1, steps + 1);
        }
    }
}

struct State<'a> {
    problem: &'a HingeNewton<'a>,
    /// w.
    weights: Vec<f64>,
    /// b.
    intercept: f64,
    /// u.
    short: Vec<f64>,
    /// α.
    multipliers: Vec<f64>,
    /// σ.
    sharpness: f64,
    /// ν.
    dual: Vec<f64>,
    /// Σνφ over the rows of each side, the negative one first.
    sums: [Vec<f64>; 2],
}

/// The objective, its gradient and the dual bound at (w, b, α).
struct Place {
    /// The rows with curvature.
    band: Vec<usize>,
    /// The gradient in w.
    gradient: Vec<f64>,
    /// The gradient in b; 0 without an intercept.
    pull: f64,
    primal: f64,
    /// A lower bound of the minimum.
    dual: f64,
}

impl Place {
    fn residual(&self, rows: usize) -> f64 {
        (dot(&self.gradient, &self.gradient) + self.pull * self.pull / rows as f64).sqrt()
    }
}

/// δ and the change of b.
struct Direction {
    weights: Vec<f64>,
    intercept: f64,
}

impl<'a> State<'a> {
    /// Multipliers of zero, and parabolas of width 1.
    fn new(
        problem: &'a HingeNewton<'a>,
        weights: Vec<f64>,
        intercept: f64,
        watch: &dyn Watch,
    ) -> Result<Self, DesignError> {
        let (n, d) = (problem.rows.nrows(), problem.rows.ncols());
        assert_eq!((problem.positive.len(), problem.bounds.len(), weights.len()), (n, n, d));
        let mut short = vec![0.0; n];
        all_dots(problem.rows, &weights, &mut short, watch)?;
        for (u, positive) in short.iter_mut().zip(problem.positive) {
            *u = 1.0 - sign(*positive) * (*u + intercept);
        }
        let (bounds, count) =
            (problem.bounds.iter().sum::<f64>(), problem.bounds.iter().filter(|c| **c > 0.0).count());
        let sharpness = bounds / count.max(1) as f64;
        let zeros = || vec![0.0; n];
        let sums = [vec![0.0; d], vec![0.0; d]];
        Ok(Self { problem, weights, intercept, short, multipliers: zeros(), sharpness, dual: zeros(), sums })
    }

    /// Updates ν and its sums for u and α.
    fn evaluate(&mut self, watch: &dyn Watch) -> Result<Place, DesignError> {
        let HingeNewton { rows, positive, bounds, intercept } = *self.problem;
        let (mut band, mut loss, mut totals) = (Vec::new(), 0.0, [0.0; 2]);
        let mut changes = [(Vec::new(), Vec::new()), (Vec::new(), Vec::new())];
        for (i, &c) in bounds.iter().enumerate() {
            let side = usize::from(positive[i]);
            let v = self.sharpness * self.short[i] + self.multipliers[i];
            if v > 0.0 && v < c {
                band.push(i);
            }
            let v = v.clamp(0.0, c);
            loss += c * self.short[i].max(0.0);
            totals[side] += v;
            if v != self.dual[i] {
                changes[side].0.push(i);
                changes[side].1.push(v - self.dual[i]);
                self.dual[i] = v;
            }
        }
        for (sum, (changed, by)) in self.sums.iter_mut().zip(&changes) {
            let mut change = vec![0.0; sum.len()];
            rows.combine_at(changed, by, &mut change, watch)?;
            sum.iter_mut().zip(change).for_each(|(sum, change)| *sum += change);
        }
        // The sum of each side is limited to the smaller one.
        let lighter = totals[0].min(totals[1]);
        let share =
            totals.map(
                |total| if intercept == Intercept::None || total <= lighter { 1.0 } else { lighter / total },
            );
        let [minus, plus] = &self.sums;
        let (mut square, mut gradient) = (0.0, self.weights.clone());
        for ((g, plus), minus) in gradient.iter_mut().zip(plus).zip(minus) {
            *g -= plus - minus;
            square += (share[1] * plus - share[0] * minus).powi(2);
        }
        Ok(Place {
            band,
            gradient,
            pull: if intercept == Intercept::None { 0.0 } else { totals[0] - totals[1] },
            primal: 0.5 * dot(&self.weights, &self.weights) + loss,
            dual: share[0] * totals[0] + share[1] * totals[1] - 0.5 * square,
        })
    }

    /// The Newton step, by whichever of the two systems is smaller. A system that rounding has made indefinite is
    /// damped, as if σ were smaller: the step is still a direction of descent.
    fn direction(&self, at: &Place, watch: &dyn Watch) -> Result<Direction, DesignError> {
        let n = self.problem.rows.nrows();
        if at.band.is_empty() {
            let weights = at.gradient.iter().map(|g| -g).collect();
            return Ok(Direction { weights, intercept: -at.pull / (self.sharpness * n as f64) });
        }
        if at.band.len() <= self.problem.rows.ncols() {
            self.by_rows(at, watch)
        } else {
            self.by_features(at, watch)
        }
    }

    /// (BBᵀ + I/σ)q = Bg − 1β for the border β, the change of b: δ = −g + Bᵀq, 1ᵀq = the gradient in b.
    fn by_rows(&self, at: &Place, watch: &dyn Watch) -> Result<Direction, DesignError> {
        let (rows, k) = (self.problem.rows, at.band.len());
        let products = gram_of_rows(rows, &at.band, watch)?;
        let mut slopes = vec![0.0; k];
        rows.dots_at(&at.band, &at.gradient, &mut slopes, watch)?;
        let mut ridge = 1.0 / self.sharpness;
        let factor = loop {
            let mut matrix = products.clone();
            (0..k).for_each(|i| matrix[i * k + i] += ridge);
            match Cholesky::try_factor(k, matrix, watch)? {
                Ok(factor) => break factor,
                Err(_) if ridge.is_finite() => ridge *= 10.0,
                Err(_) => return Err(NormalEquationsError::Indefinite { lambda: ridge }.into()),
            }
        };
        let sides = slopes.iter().flat_map(|slope| [*slope, 1.0]).collect();
        let mut solved = Matrix::from_entries(k, 2, sides);
        factor.solve(&mut solved, watch)?;
        let totals = solved.entries().chunks_exact(2).fold([0.0; 2], |t, s| [t[0] + s[0], t[1] + s[1]]);
        let intercept = match self.problem.intercept {
            Intercept::None => 0.0,
            Intercept::Centred | Intercept::Column => (totals[0] - at.pull) / totals[1],
        };
        let q: Vec<f64> = solved.entries().chunks_exact(2).map(|s| s[0] - s[1] * intercept).collect();
        let mut weights = vec![0.0; rows.ncols()];
        rows.combine_at(&at.band, &q, &mut weights, watch)?;
        weights.iter_mut().zip(&at.gradient).for_each(|(w, g)| *w -= g);
        Ok(Direction { weights, intercept })
    }

    /// (G + I/σ)δ = −(g − φ̄·pull)/σ with G the centred second moment of B, and φ̄ its mean.
    fn by_features(&self, at: &Place, watch: &dyn Watch) -> Result<Direction, DesignError> {
        let d = self.problem.rows.ncols();
        let mut sums = NormalEquations::new(d, 0);
        for chosen in at.band.chunks(2 * STRIP) {
            let mut phi = Values::zeros(self.problem.rows.precision(), chosen.len(), d);
            self.problem.rows.fill_at(chosen, phi.entries_mut(), watch)?;
            let none = Matrix::zeros(chosen.len(), 0);
            with_values!(Values, &phi, phi => sums.add(phi, &none, None, watch))?;
        }
        let means = sums.feature_means(self.problem.intercept)?;
        let side = at.gradient.iter().zip(&means).map(|(g, mean)| g - mean * at.pull).collect();
        let mut step = Matrix::from_entries(d, 1, side);
        let mut ridge = 1.0 / self.sharpness;
        let factor = loop {
            match sums.factor(ridge, self.problem.intercept, watch) {
                Err(NormalEquationsError::Indefinite { .. }) if ridge.is_finite() => ridge *= 10.0,
                other => break other?,
            }
        };
        factor.solve(&mut step, watch)?;
        let weights: Vec<f64> = step.entries().iter().map(|s| -ridge * s).collect();
        let intercept = match self.problem.intercept {
            Intercept::None => 0.0,
            Intercept::Centred | Intercept::Column => {
                -ridge * at.pull / at.band.len() as f64 - dot(&means, &weights)
            }
        };
        Ok(Direction { weights, intercept })
    }

    /// Takes the step along `direction` that minimises the objective.
    fn step_along(&mut self, direction: &Direction, watch: &dyn Watch) -> Result<(), DesignError> {
        let mut change = vec![0.0; self.short.len()];
        all_dots(self.problem.rows, &direction.weights, &mut change, watch)?;
        for (change, positive) in change.iter_mut().zip(self.problem.positive) {
            *change = -sign(*positive) * (*change + direction.intercept);
        }
        let length = self.best_length(direction, &change);
        self.weights.iter_mut().zip(&direction.weights).for_each(|(w, d)| *w += length * d);
        self.intercept += length * direction.intercept;
        self.short.iter_mut().zip(&change).for_each(|(u, change)| *u += length * change);
        Ok(())
    }

    /// The length at which the slope along a direction, which increases and is piecewise linear, is about zero:
    /// Newton's method, safeguarded by a bracket.
    fn best_length(&self, direction: &Direction, change: &[f64]) -> f64 {
        let (linear, square) =
            (dot(&self.weights, &direction.weights), dot(&direction.weights, &direction.weights));
        let slope = |t: f64| {
            let (mut slope, mut curvature) = (linear + t * square, square);
            for (i, (&c, &change)) in self.problem.bounds.iter().zip(change).enumerate() {
                let v = self.sharpness * (self.short[i] + t * change) + self.multipliers[i];
                slope += v.clamp(0.0, c) * change;
                if v > 0.0 && v < c {
                    curvature += self.sharpness * change * change;
                }
            }
            (slope, curvature)
        };
        let enough = 1e-3 * slope(0.0).0.abs();
        let (mut short, mut long, mut t) = (0.0, f64::INFINITY, 1.0);
        for _ in 0..40 {
            let (rise, curvature) = slope(t);
            if rise.abs() <= enough {
                break;
            }
            if rise > 0.0 {
                long = t;
            } else {
                short = t;
            }
            let next = t - rise / curvature;
            t = if next > short && next < long {
                next
            } else if long.is_finite() {
                0.5 * (short + long)
            } else {
                2.0 * t
            };
        }
        t
    }
}

/// ⟨φᵢ, v⟩ for all rows.
fn all_dots(rows: &dyn Design, v: &[f64], out: &mut [f64], watch: &dyn Watch) -> Result<(), DesignError> {
    let v = Matrix::from_entries(v.len(), 1, v.to_vec());
    let mut dots = Matrix::zeros(out.len(), 1);
    rows.apply(&v, &mut dots, watch)?;
    out.copy_from_slice(dots.entries());
    Ok(())
}

/// BBᵀ in double precision, its lower triangle, row-major.
fn gram_of_rows(rows: &dyn Design, band: &[usize], watch: &dyn Watch) -> Result<Vec<f64>, DesignError> {
    let (k, d) = (band.len(), rows.ncols());
    let mut products = vec![0.0; k * k];
    let widened = |chosen: &[usize]| {
        let mut phi = vec![0.0; chosen.len() * d];
        rows.fill_at(chosen, (&mut phi).into(), watch).map(|()| phi)
    };
    let strips = products.par_chunks_mut(STRIP * k).zip(band.par_chunks(STRIP)).enumerate();
    strips.try_for_each(|(strip, (out, chosen))| {
        let left = widened(chosen)?;
        let left = MatRef::from_row_major_slice(&left, chosen.len(), d);
        let mut out = MatMut::from_row_major_slice_mut(out, chosen.len(), k);
        for (other, chosen) in band.chunks(STRIP).enumerate().take(strip + 1) {
            watch.check()?;
            let right = widened(chosen)?;
            let right = MatRef::from_row_major_slice(&right, chosen.len(), d);
            let out = out.as_mut().subcols_mut(other * STRIP, chosen.len());
            products::assign(out, 1.0, left, right.transpose());
        }
        Ok::<_, DesignError>(())
    })?;
    Ok(products)
}

fn sign(positive: bool) -> f64 {
    if positive { 1.0 } else { -1.0 }
}

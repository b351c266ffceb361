//! Box-constrained minimisation of a smooth function, by projected limited-memory BFGS.
//!
//! A variable is fixed while it is at a bound and the gradient pushes it outwards. The direction is that of limited-memory BFGS
//! in the remaining variables (Bertsekas 1982), and the line search follows the projection of x + t·d onto the box
//! until it finds a point that satisfies the weak Wolfe conditions. The objective may be +∞ or NaN at a trial point:
//! the line search then shortens the step.

use std::convert::Infallible;

use crate::linalg::vectors::dot;
use crate::watch::Watch;

use super::SolveError;
use super::quasi_newton::Memory;

/// The number of steps stored for the curvature.
const MEMORY: usize = 20;

/// The most evaluations of one line search.
const TRIALS: usize = 30;

/// The fraction of the predicted decrease that a step must reach.
const SUFFICIENT: f64 = 1e-4;

/// The fraction of the initial slope below which a step is long enough.
const FLAT: f64 = 0.9;

/// The relative size of rounding errors in values of the objective.
const ROUNDING: f64 = 1e-13;

/// The stopping rules.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Options {
    /// The most steps.
    pub max_steps: usize,
    /// Converged if no entry of the projected gradient exceeds this.
    pub gradient: f64,
    /// Converged if a step lowers the objective f by less than this times max(|f|, 1), and the next step is expected to do so or the
    /// previous one did.
    pub decrease: f64,
}

impl Default for Options {
    fn default() -> Self {
        Self { max_steps: 200, gradient: 1e-5, decrease: 1e-9 }
    }
}

/// The best point found.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Minimum {
    /// The point.
    pub at: Vec<f64>,
    /// The objective there; not finite only where it was not finite at the start.
    pub value: f64,
    /// The gradient there.
    pub gradient: Vec<f64>,
    /// Steps taken.
    pub steps: usize,
    /// Whether one of the tolerances of [`Options`] was reached.
    pub converged: bool,
    /// The curvature estimate of the last steps.
    pub curvature: Memory,
}

/// The start of a minimisation.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Start {
    /// The point.
    pub at: Vec<f64>,
    /// The initial curvature estimate.
    pub curvature: Memory,
}

impl From<Vec<f64>> for Start {
    /// A start without a curvature estimate.
    fn from(at: Vec<f64>) -> Self {
        Self { at, curvature: Memory::new(MEMORY) }
    }
}

/// A function to minimise: its value and gradient at a point.
pub(crate) type Objective<'a> = dyn FnMut(&[f64]) -> Result<(f64, Vec<f64>), SolveError> + 'a;

/// Minimises `objective`, which returns its value and gradient, over the box `bounds` of (lower, upper) pairs.
///
/// `start` is projected onto the box first. If the objective is not finite there, no step is taken. The number of steps
/// is reported to `watch`; the objective reports its own notes.
///
/// # Errors
/// Those of the objective, and if `watch` asks to stop.
pub(crate) fn minimise(
    objective: &mut Objective<'_>,
    start: impl Into<Start>,
    bounds: &[(f64, f64)],
    options: Options,
    watch: &dyn Watch,
) -> Result<Minimum, SolveError> {
    let Start { at: start, curvature: mut memory } = start.into();
    if start.len() != bounds.len() {
        return Err(SolveError::Shape { what: "bounds", found: bounds.len(), expected: start.len() });
    }
    let mut problem = Problem { objective, bounds };
    let mut x = problem.point(problem.projected(&start))?;
    let (mut steps, mut converged) = (0, false);
    // Whether the last step was a small one. One alone may be a short step in a poor direction.
    let mut was_small = false;
    while x.value.is_finite() {
        watch.check()?;
        if problem.projected_gradient(&x) <= options.gradient {
            converged = true;
            break;
        }
        if steps == options.max_steps {
            break;
        }
        let smallest = options.decrease * x.value.abs().max(1.0);
        let direction = problem.direction(&x, &memory);
        if was_small && -0.5 * dot(&direction, &x.gradient) <= smallest {
            converged = true;
            break;
        }
        let Some(next) = problem.line_search(&x, &direction)? else {
            // A decrease as small as that is below rounding errors.
            converged = -dot(&direction, &x.gradient) <= smallest;
            if converged || memory.is_empty() {
                break;
            }
            memory.clear();
            continue;
        };
        steps += 1;
        watch.advance(1);
        memory.push(difference(&next.at, &x.at), difference(&next.gradient, &x.gradient));
        let is_small = x.value - next.value <= smallest;
        x = next;
        if is_small && was_small {
            converged = true;
            break;
        }
        was_small = is_small;
    }
    Ok(Minimum { at: x.at, value: x.value, gradient: x.gradient, steps, converged, curvature: memory })
}

struct Point {
    at: Vec<f64>,
    value: f64,
    gradient: Vec<f64>,
}

struct Problem<'a> {
    objective: &'a mut Objective<'a>,
    bounds: &'a [(f64, f64)],
}

impl Problem<'_> {
    /// The objective at `at`; a gradient that is not finite makes the value infinite.
    fn point(&mut self, at: Vec<f64>) -> Result<Point, SolveError> {
        let (value, gradient) = (self.objective)(&at)?;
        let finite = gradient.len() == at.len() && gradient.iter().all(|g| g.is_finite());
        Ok(Point { at, value: if finite { value } else { f64::INFINITY }, gradient })
    }

    /// The nearest point of the box.
    fn projected(&self, x: &[f64]) -> Vec<f64> {
        x.iter().zip(self.bounds).map(|(x, (lower, upper))| x.min(*upper).max(*lower)).collect()
    }

    /// Whether variable i would leave the box in this direction.
    fn leaves(&self, i: usize, x: f64, direction: f64) -> bool {
        let (lower, upper) = self.bounds[i];
        (x <= lower && direction < 0.0) || (x >= upper && direction > 0.0)
    }

    /// The largest entry of x − P(x − g), which is 0 exactly where the first-order conditions hold.
    fn projected_gradient(&self, x: &Point) -> f64 {
        let moved: Vec<f64> = x.at.iter().zip(&x.gradient).map(|(x, g)| x - g).collect();
        let gaps = self.projected(&moved).into_iter().zip(&x.at);
        gaps.map(|(to, from)| (to - from).abs()).fold(0.0, f64::max)
    }

    /// A direction of descent along which no variable leaves the box immediately.
    fn direction(&self, x: &Point, memory: &Memory) -> Vec<f64> {
        let n = x.at.len();
        let mut free: Vec<bool> = (0..n).map(|i| !self.leaves(i, x.at[i], -x.gradient[i])).collect();
        let steepest: Vec<f64> = (0..n).map(|i| if free[i] { -x.gradient[i] } else { 0.0 }).collect();
        // At least one more variable is fixed in every round but the last.
        while !memory.is_empty() {
            let restricted = memory.restricted(&free);
            let Some(scale) = restricted.scale() else { break };
            let mut q: Vec<f64> = (0..n).map(|i| if free[i] { -x.gradient[i] } else { 0.0 }).collect();
            let scaled = |q: &mut [f64]| {
                q.iter_mut().for_each(|q| *q *= scale);
                Ok::<_, Infallible>(())
            };
            let Ok(()) = restricted.apply(&mut q, scaled);
            let outwards: Vec<usize> = (0..n).filter(|&i| self.leaves(i, x.at[i], q[i])).collect();
            if outwards.is_empty() {
                // False for NaN, too.
                if dot(&q, &x.gradient) < 0.0 && q.iter().all(|q| q.is_finite()) {
                    return q;
                }
                break;
            }
            outwards.into_iter().for_each(|i| free[i] = false);
        }
        // No variable moves by more than 1 at first.
        let largest = steepest.iter().fold(0.0, |m: f64, d| m.max(d.abs()));
        steepest.into_iter().map(|d| d / largest.max(1.0)).collect()
    }

    /// A point on the projection of x + t·d that satisfies the weak Wolfe conditions; else the best one with sufficient decrease.
    fn line_search(&mut self, x: &Point, direction: &[f64]) -> Result<Option<Point>, SolveError> {
        let slope = dot(direction, &x.gradient);
        let mut low = (0.0, x.value, slope);
        let mut high: Option<(f64, f64)> = None;
        let mut best: Option<Point> = None;
        let mut t = 1.0;
        for _ in 0..TRIALS {
            let moved: Vec<f64> = x.at.iter().zip(direction).map(|(x, d)| x + t * d).collect();
            let at = self.projected(&moved);
            if at == x.at {
                break;
            }
            let predicted: f64 = (0..at.len()).map(|i| x.gradient[i] * (at[i] - x.at[i])).sum();
            // Variables that have reached a bound no longer move.
            let moving: Vec<f64> =
                (0..at.len()).map(|i| if at[i] == moved[i] { direction[i] } else { 0.0 }).collect();
            let trial = self.point(at)?;
            let slope_here = if trial.value.is_finite() { dot(&moving, &trial.gradient) } else { f64::NAN };
            // If the decrease is below rounding errors, the slopes decide (Hager and Zhang 2005).
            let level = trial.value <= x.value + ROUNDING * x.value.abs()
                && slope_here <= (2.0 * SUFFICIENT - 1.0) * slope;
            if trial.value <= x.value + SUFFICIENT * predicted || level {
                if slope_here >= FLAT * slope || moving.iter().all(|d| *d == 0.0) {
                    return Ok(Some(trial));
                }
                low = (t, trial.value, slope_here);
                if best.as_ref().is_none_or(|best| trial.value < best.value) {
                    best = Some(trial);
                }
            } else {
                high = Some((t, trial.value));
            }
            t = match high {
                None => 2.0 * t,
                Some(high) => between(low, high),
            };
        }
        Ok(best)
    }
}

/// A step between `low` (step, value, slope) and `high` (step, value): the minimum of the parabola through them if it
/// is well inside.
fn between(low: (f64, f64, f64), high: (f64, f64)) -> f64 {
    let width = high.0 - low.0;
    let excess = high.1 - low.1 - low.2 * width;
    let part = if excess.is_finite() && excess > 0.0 { -low.2 * width / (2.0 * excess) } else { 0.3 };
    low.0 + width * part.clamp(0.1, 0.7)
}

fn difference(a: &[f64], b: &[f64]) -> Vec<f64> {
    a.iter().zip(b).map(|(a, b)| a - b).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::watch::Unwatched;

    const TIGHT: Options = Options { max_steps: 500, gradient: 1e-10, decrease: 0.0 };

    fn rosenbrock(x: &[f64]) -> (f64, Vec<f64>) {
        let mut gradient = vec![0.0; x.len()];
        let mut value = 0.0;
        for i in 0..x.len() - 1 {
            let (a, b) = (1.0 - x[i], x[i + 1] - x[i] * x[i]);
            value += a * a + 100.0 * b * b;
            gradient[i] += -2.0 * a - 400.0 * x[i] * b;
            gradient[i + 1] += 200.0 * b;
        }
        (value, gradient)
    }

    fn minimum(
        f: impl Fn(&[f64]) -> (f64, Vec<f64>),
        start: &[f64],
        bounds: &[(f64, f64)],
        options: Options,
    ) -> (Minimum, usize) {
        let mut calls = 0;
        let mut objective = |x: &[f64]| {
            assert!(x.iter().zip(bounds).all(|(x, (l, u))| l <= x && x <= u), "{x:?} is in the box");
            calls += 1;
            Ok(f(x))
        };
        let found = minimise(&mut objective, start.to_vec(), bounds, options, &Unwatched).unwrap();
        (found, calls)
    }

    #[test]
    fn finds_the_minimum_of_rosenbrocks_function() {
        for n in [2, 5, 20] {
            let start: Vec<f64> = (0..n).map(|i| if i % 2 == 0 { -1.2 } else { 1.0 }).collect();
            let (found, calls) = minimum(rosenbrock, &start, &vec![(-5.0, 5.0); n], TIGHT);
            assert!(found.converged && calls < 40 * n + 60, "{n}: {found:?} after {calls} calls");
            // A second local minimum exists near (−1, 1, …, 1) for n ≥ 4; the gradient vanishes in both.
            assert!(found.gradient.iter().all(|g| g.abs() < 1e-9), "{found:?}");
            if n == 2 {
                assert!(found.at.iter().all(|x| (x - 1.0).abs() < 1e-9), "{found:?}");
            }
        }
    }

    #[test]
    fn continues_from_the_curvature_of_a_smaller_objective() {
        let bounds = vec![(-5.0, 5.0); 5];
        let start = vec![-1.2, 1.0, -1.2, 1.0, -1.2];
        let options = Options { max_steps: 30, ..TIGHT };
        let (first, _) = minimum(rosenbrock, &start, &bounds, options);
        let hundredfold = |x: &[f64]| {
            let (value, gradient) = rosenbrock(x);
            (100.0 * value, gradient.into_iter().map(|g| 100.0 * g).collect())
        };
        let mut calls = 0;
        let mut objective = |x: &[f64]| {
            calls += 1;
            Ok(hundredfold(x))
        };
        let start = Start { at: first.at.clone(), curvature: first.curvature.clone().times(100.0) };
        let found = minimise(&mut objective, start, &bounds, TIGHT, &Unwatched).unwrap();
        let (anew, others) = minimum(hundredfold, &first.at, &bounds, TIGHT);
        assert!(found.converged && found.gradient.iter().all(|g| g.abs() < 1e-7), "{found:?}");
        assert!(calls < others, "{calls} calls with the curvature, {others} without it: {anew:?}");
    }

    #[test]
    fn stops_at_the_bounds_of_rosenbrocks_function() {
        // On x ≤ 0.8 the function decreases towards (1, 1), so x = 0.8 and y = x².
        let (found, _) = minimum(rosenbrock, &[-1.2, 1.0], &[(-2.0, 0.8), (-2.0, 2.0)], TIGHT);
        assert!(found.converged, "{found:?}");
        assert!(found.at[0] == 0.8 && (found.at[1] - 0.64).abs() < 1e-12, "{found:?}");
        assert!(found.gradient[0] < 0.0 && found.gradient[1].abs() < 1e-9, "{found:?}");
        // With y ≤ 0.3 as well the minimum is where the derivative in x vanishes.
        let (found, _) = minimum(rosenbrock, &[-1.2, 0.0], &[(-2.0, 0.8), (-2.0, 0.3)], TIGHT);
        assert!(found.at[1] == 0.3 && found.gradient[1] < 0.0 && found.gradient[0].abs() < 1e-8, "{found:?}");
    }

    #[test]
    fn quadratics_satisfy_the_first_order_conditions_at_active_bounds() {
        // ½xᵀAx − bᵀx with A = MMᵀ + I for fixed pseudo-random M and b.
        let n = 12;
        let noise = |k: usize| ((k * 7919 + k * k % 104_729) % 1000) as f64 / 500.0 - 1.0;
        let a: Vec<f64> = (0..n * n)
            .map(|e| {
                let (i, j) = (e / n, e % n);
                let product: f64 = (0..n).map(|k| noise(i * n + k) * noise(j * n + k)).sum();
                product + if i == j { 1.0 } else { 0.0 }
            })
            .collect();
        let b: Vec<f64> = (0..n).map(|k| 3.0 * noise(k + 1000)).collect();
        let quadratic = |x: &[f64]| {
            let ax: Vec<f64> = (0..n).map(|i| dot(&a[i * n..][..n], x)).collect();
            (0.5 * dot(x, &ax) - dot(&b, x), difference(&ax, &b))
        };
        for width in [0.1, 0.3, 1.0, 10.0] {
            let bounds: Vec<(f64, f64)> =
                (0..n).map(|i| (-width, if i == 3 { -width } else { width })).collect();
            let (found, _) = minimum(quadratic, &vec![0.05; n], &bounds, TIGHT);
            assert!(found.converged, "width {width}: {found:?}");
            // A gradient of 1e-6 changes the objective, about 100 here, by less than its rounding error.
            for i in 0..n {
                let (x, g, (lower, upper)) = (found.at[i], found.gradient[i], bounds[i]);
                let holds =
                    (x == lower && g >= 0.0) || (x == upper && g <= 0.0) || lower == upper || g.abs() < 1e-6;
                assert!(holds, "width {width}, variable {i}: x = {x}, g = {g}");
            }
            let active = (0..n).filter(|&i| found.at[i].abs() == width).count();
            assert!(if width < 0.2 { active >= n / 3 } else { active >= 1 }, "width {width}: {active}");
        }
    }

    #[test]
    fn backs_away_from_values_that_are_not_finite() {
        // −log x − log(1 − x) + x is +∞ or NaN outside of (0, 1); a step of length 1 leaves it.
        for outside in [f64::INFINITY, f64::NAN] {
            let barrier = |x: &[f64]| {
                let x = x[0];
                if x <= 0.0 || x >= 1.0 {
                    return (outside, vec![f64::NAN]);
                }
                (-x.ln() - (1.0 - x).ln() + x, vec![-1.0 / x + 1.0 / (1.0 - x) + 1.0])
            };
            let (found, _) = minimum(barrier, &[0.99], &[(-10.0, 10.0)], TIGHT);
            // 1/x − 1/(1 − x) = 1 at x = (3 − √5)/2.
            assert!((found.at[0] - (3.0 - 5f64.sqrt()) / 2.0).abs() < 1e-9, "{found:?}");
            let (found, calls) = minimum(barrier, &[2.0], &[(-10.0, 10.0)], TIGHT);
            assert!(!found.converged && found.steps == 0 && calls == 1, "{found:?}");
        }
    }

    #[test]
    fn stops_when_asked_and_hands_errors_on() {
        let stop = std::sync::atomic::AtomicBool::new(true);
        let mut fine = |x: &[f64]| Ok(rosenbrock(x));
        let bounds = [(-5.0, 5.0); 2];
        let stopped = minimise(&mut fine, vec![0.0, 0.0], &bounds, TIGHT, &stop);
        assert!(matches!(stopped, Err(SolveError::Stopped(_))));
        let mut fails = |_: &[f64]| Err(SolveError::NotFinite);
        let error = minimise(&mut fails, vec![0.0, 0.0], &bounds, TIGHT, &Unwatched);
        assert_eq!(error, Err(SolveError::NotFinite));
    }
}

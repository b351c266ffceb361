//! Counter-examples: points and weights with a negative quadratic form, points without a value, theorems.

pub mod configurations;
pub mod confirm;
mod descend;
mod differences;
mod jacobi;
mod spectrum;
mod sphere;

use std::cell::Cell;

use super::exact::{self, Q};
use super::steps::{self, Limit};
use super::verdict::{Evidence, Refutation};
use super::{Dim, Domain};
use crate::eval::eval;
use crate::expr::Expr;
use crate::formula::Formula;
use configurations::Pool;
use spectrum::Gram;

/// Hints for a refutation from the search for a proof.
#[derive(Debug, Clone, Default)]
pub struct Hints {
    /// Orders n at which a power series in ⟨x,z⟩ has a negative coefficient.
    pub negative_coefficients: Vec<usize>,
    /// Dimensions worth trying first.
    pub dims: Vec<usize>,
}

/// The search's state: the question, the limit, and the lowest relative eigenvalue so far.
pub struct Search<'a> {
    formula: &'a Formula,
    /// The formula in doubles, for the search of candidates.
    expr: Expr,
    dim: Dim,
    domain: Domain,
    limit: Limit,
    /// The observations, for an undecided verdict.
    pub evidence: Evidence,
    best: Option<(f64, Pool)>,
    /// Relative eigenvalues above this are treated as rounding errors; the limit grows with every candidate that was
    /// one.
    doubt: f64,
    /// Candidates that interval arithmetic did not confirm.
    refusals: Cell<usize>,
}

/// The number of unconfirmed candidates after which the search stops trusting double precision.
const MOST_REFUSALS: usize = 30;

/// The steps reserved for the confirmation of a counter-example.
const CONFIRMATION: u64 = 200_000;

impl<'a> Search<'a> {
    /// A search for counter-examples to `formula` that stops at `limit`.
    pub fn new(formula: &'a Formula, dim: Dim, domain: Domain, limit: Limit) -> Self {
        Self {
            formula,
            expr: formula.rounded(),
            dim,
            domain,
            limit,
            evidence: Evidence::default(),
            best: None,
            doubt: -1e-10,
            refusals: Cell::new(0),
        }
    }

    /// A counter-example confirmed in interval arithmetic; small ones are tried first.
    pub fn run(&mut self, least_dim: usize, hints: &Hints) -> Option<Refutation> {
        let dims: Vec<usize> = match self.dim {
            Dim::Exactly(d) => vec![d],
            Dim::Any => {
                let mut dims: Vec<_> = [1, 2, 3].iter().map(|d| least_dim.max(*d)).collect();
                if matches!(self.domain, Domain::Box(..)) {
                    // Norms of points of a box grow with the dimension.
                    dims.extend([6, 16].iter().map(|d| least_dim.max(*d)));
                }
                dims.extend(hints.dims.iter().map(|d| (*d).max(least_dim)));
                dims.dedup();
                dims
            }
        };
        if dims.iter().any(|d| *d > 512) {
            return None;
        }
        for &dim in &dims {
            let small = self.fit(&configurations::small(dim), dim);
            self.evidence.tried.push(format!("round points in R^{dim}"));
            let mut candidates = small.clone();
            if let Domain::Ball(radius) = self.domain {
                candidates.splice(0..0, configurations::rim(dim, radius));
            }
            let found = self.undefined_or_asymmetric(&candidates).or_else(|| self.barely_negative(&small));
            if let Some(found) = found.or_else(|| self.subsets(&small)).or_else(|| self.growing(dim)) {
                return Some(found);
            }
        }
        for &dim in &dims {
            self.evidence.tried.push(format!("lines, grids, simplices and polygons in R^{dim}"));
            for pool in configurations::structured(dim) {
                let pool = self.fit(&pool, dim);
                if let Some(found) = self.whole(&pool) {
                    return Some(found);
                }
                if self.late() {
                    return None;
                }
            }
            for pool in sphere::random_pools(dim, self.domain) {
                if let Some(found) = self.whole(&pool) {
                    return Some(found);
                }
                if self.late() {
                    return None;
                }
            }
        }
        if let Some(found) = self.finite_differences(least_dim, hints) {
            return Some(found);
        }
        self.descend()
    }

    fn fit(&self, pool: &Pool, dim: usize) -> Pool {
        match self.domain {
            Domain::Sphere => sphere::rational_points(dim, pool.len().max(24)),
            _ => configurations::fit(pool, self.domain),
        }
    }

    fn late(&self) -> bool {
        self.limit.is_reached()
    }

    fn undefined_or_asymmetric(&self, pool: &Pool) -> Option<Refutation> {
        let mut exact = rationals(pool, self.domain)?;
        exact.retain(|point| confirm::in_domain(point, self.dim, self.domain));
        for (i, x) in exact.iter().enumerate() {
            for z in exact[..=i].iter().rev() {
                for (x, z) in [(x, z), (z, x)] {
                    if self.late() {
                        return None;
                    }
                    let Some(value) = self.quick(x, z) else { continue };
                    if !value.is_finite()
                        && let Some(reason) = confirm::undefined(self.formula, x, z)
                    {
                        return Some(Refutation::Undefined {
                            x: x.clone(),
                            z: z.clone(),
                            reason: reason.into(),
                        });
                    }
                    let backward = self.quick(z, x)?;
                    if (value - backward).abs() > 1e-9 * (value.abs() + backward.abs())
                        && let Some((forward, backward)) = confirm::asymmetric(self.formula, x, z)
                    {
                        return Some(Refutation::Asymmetric {
                            x: x.clone(),
                            z: z.clone(),
                            forward,
                            backward,
                        });
                    }
                }
            }
        }
        None
    }

    fn quick(&self, x: &[Q], z: &[Q]) -> Option<f64> {
        steps::count(spectrum::value_steps(&self.expr, x.len()) + 4 * x.len());
        let double = |p: &[Q]| p.iter().map(exact::to_f64).collect::<Vec<_>>();
        eval(&self.expr, &double(x), &double(z)).ok()
    }

    /// A point at which the formula is negative by less than rounding errors of doubles.
    fn barely_negative(&self, pool: &Pool) -> Option<Refutation> {
        pool.iter().take(3).find_map(|p| {
            let value = eval(&self.expr, p, p).ok()?;
            if value.abs() <= 1e-9 { self.confirmed(&vec![p.clone()], &[1.0]) } else { None }
        })
    }

    /// A far point, or a pair of opposite ones, at which the sign of the fastest-growing term dominates.
    fn growing(&self, dim: usize) -> Option<Refutation> {
        if !matches!(self.domain, Domain::All | Domain::Orthant) {
            return None;
        }
        for [p, opposite] in configurations::far(dim) {
            steps::count(2 * spectrum::value_steps(&self.expr, dim));
            let (own, other) = (eval(&self.expr, &p, &p).ok()?, eval(&self.expr, &p, &opposite).ok()?);
            if !own.is_finite() || self.late() {
                return None;
            }
            if own < -1e12
                && let Some(found) = self.confirmed(&vec![p.clone()], &[1.0])
            {
                return Some(found);
            }
            let is_larger = other.is_finite() && other.abs() > 1e12 && other.abs() > 1.001 * own.abs();
            if self.domain == Domain::All && is_larger {
                let sign = if other < 0.0 { 1.0 } else { -1.0 };
                if let Some(found) = self.confirmed(&vec![p, opposite], &[1.0, sign]) {
                    return Some(found);
                }
            }
        }
        None
    }

    /// As many points of a pool as have finite values with each other, early ones first.
    fn finite(&self, pool: &Pool) -> Pool {
        let mut kept: Pool = Vec::new();
        let steps_each = 2 * spectrum::value_steps(&self.expr, pool.first().map_or(0, Vec::len));
        for p in pool {
            steps::count((kept.len() + 1) * steps_each);
            kept.push(p.clone());
            let is_finite = |a: &[f64], b: &[f64]| eval(&self.expr, a, b).is_ok_and(|v| v.abs() < 1e12);
            if !kept.iter().all(|q| is_finite(p, q) && is_finite(q, p)) {
                kept.pop();
            }
        }
        kept
    }

    /// One, two and three points of a pool, then all of it.
    fn subsets(&mut self, pool: &Pool) -> Option<Refutation> {
        let finite = self.finite(pool);
        let gram = Gram::of(&self.expr, &finite)?;
        let n = gram.n;
        for i in 0..n {
            if gram.at(i, i) < -1e-9
                && let Some(found) = self.choose(&gram, &finite, &[i])
            {
                return Some(found);
            }
        }
        for i in 0..n {
            for j in 0..i {
                let determinant = gram.at(i, i) * gram.at(j, j) - gram.at(i, j).powi(2);
                if determinant < -1e-7 * gram.at(i, j).powi(2)
                    && let Some(found) = self.choose(&gram, &finite, &[j, i])
                {
                    return Some(found);
                }
            }
        }
        for i in 0..n {
            for j in 0..i {
                for k in 0..j {
                    let [a, b, c] = [gram.at(i, i), gram.at(j, j), gram.at(k, k)];
                    let [d, e, f] = [gram.at(i, j), gram.at(i, k), gram.at(j, k)];
                    let determinant = a * (b * c - f * f) - d * (d * c - f * e) + e * (d * f - b * e);
                    let size = a.abs().max(d.abs()) * b.abs().max(f.abs()) * c.abs().max(e.abs());
                    if determinant < -1e-6 * size
                        && let Some(found) = self.choose(&gram, &finite, &[k, j, i])
                    {
                        return Some(found);
                    }
                }
            }
            if self.late() {
                return None;
            }
        }
        self.whole(&finite)
    }

    /// The whole pool, then as few of its points as keep a negative direction.
    fn whole(&mut self, pool: &Pool) -> Option<Refutation> {
        if pool.is_empty() {
            return None;
        }
        let pool = &self.finite(pool);
        let gram = Gram::of(&self.expr, pool)?;
        let relative = gram.relative_lowest()?;
        if self.best.as_ref().is_none_or(|(lowest, _)| relative < *lowest) {
            self.best = Some((relative, pool.clone()));
            self.evidence.lowest_relative_eigenvalue = Some(relative);
        }
        if relative > self.doubt {
            return None;
        }
        let mut chosen: Vec<usize> = (0..gram.n).collect();
        loop {
            let (value, vector) = gram.restrict(&chosen).lowest();
            let weakest = (0..chosen.len()).min_by(|&a, &b| vector[a].abs().total_cmp(&vector[b].abs()))?;
            let mut fewer = chosen.clone();
            fewer.remove(weakest);
            let kept = (!fewer.is_empty()).then(|| gram.restrict(&fewer).lowest());
            match kept {
                Some((lower, _))
                    if lower < 0.35 * value || (lower < -1e-6 * gram.scale() && lower < 0.02 * value) =>
                {
                    chosen = fewer;
                }
                _ => break,
            }
            if self.late() {
                return None;
            }
        }
        let found = self.choose(&gram, pool, &chosen);
        if found.is_none() {
            self.doubt *= 10.0;
        }
        found
    }

    /// The points of `chosen` as a counter-example, if interval arithmetic agrees.
    fn choose(&self, gram: &Gram, pool: &Pool, chosen: &[usize]) -> Option<Refutation> {
        let part = gram.restrict(chosen);
        let (value, vector) = part.lowest();
        if value >= 0.0 {
            return None;
        }
        let weights = spectrum::round_weights(&part, &vector, value);
        let points: Pool = chosen.iter().map(|&i| pool[i].clone()).collect();
        self.confirmed(&points, &weights)
    }

    /// The counter-example if every point lies in the domain and the form is shown to be negative.
    fn confirmed(&self, points: &Pool, weights: &[f64]) -> Option<Refutation> {
        let points = rationals(points, self.domain)?;
        let weights: Vec<Q> = weights.iter().map(|w| exact::from_decimal(*w)).collect::<Option<_>>()?;
        let (points, weights): (Vec<_>, Vec<_>) =
            points.into_iter().zip(weights).filter(|(_, w)| !num_traits::Zero::is_zero(w)).unzip();
        if !points.iter().all(|p| confirm::in_domain(p, self.dim, self.domain)) {
            return None;
        }
        if self.refusals.get() > MOST_REFUSALS {
            return None;
        }
        self.refusals.update(|n| n + 1);
        let limit = self.limit.max(Limit::after(CONFIRMATION));
        let (value, _) = confirm::negative_form(self.formula, &points, &weights, limit)?;
        let matrix = self.matrix(&points);
        Some(Refutation::Points { points, weights, value, matrix, filled: None })
    }

    fn matrix(&self, points: &[Vec<Q>]) -> Vec<Vec<f64>> {
        points.iter().map(|x| points.iter().map(|z| self.quick(x, z).unwrap_or(f64::NAN)).collect()).collect()
    }
}

/// The decimals of a pool as exact numbers; on the sphere the fractions they stand for.
fn rationals(pool: &Pool, domain: Domain) -> Option<Vec<Vec<Q>>> {
    let exact_point = |p: &Vec<f64>| match domain {
        Domain::Sphere => sphere::exact(p),
        _ => p.iter().map(|c| exact::from_decimal(*c)).collect::<Option<Vec<Q>>>(),
    };
    pool.iter().map(exact_point).collect()
}

//! Probabilities of support vector machines, from decisions on rows that were held out.

use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_xoshiro::Xoshiro256PlusPlus;
use rayon::prelude::*;

use crate::gram::TileMut;
use crate::learn::error::LearnError;
use crate::learn::learner::Requires;
use crate::model::{Calibration, Sigmoid};
use crate::solve::SolveError;
use crate::watch::{Stopped, Watch};

use super::dual::Work;
use super::machine::{Decision, Machine, Part};
use super::machines::Machines;
use super::multiclass::{LARGE, Programs};
use super::sigmoid::fit_sigmoid;

/// The number of parts of the rows; each is held out once.
const FOLDS: usize = 5;

/// Kernel values in memory at a time: 32 MiB.
const AT_ONCE: usize = 1 << 22;

impl Work<'_> {
    /// Calibrates the decisions of trained machines: a sigmoid for each machine of a classifier, the scale of the errors of a
    /// regression, density marks of a one-class machine.
    pub(super) fn calibrate(&self, machines: &mut Machines) -> Result<(), LearnError> {
        machines.calibration = match self.svm.machine.requires() {
            Requires::Classes => Some(Calibration::Sigmoids(self.sigmoids()?)),
            Requires::Nothing => {
                let all: Vec<usize> = (0..self.training.nrows()).collect();
                let terms: Vec<(usize, f64)> = machines
                    .support
                    .iter()
                    .copied()
                    .zip(machines.coefficients.entries().iter().copied())
                    .collect();
                density_marks(&self.decisions(&terms, machines.rho[0], &all)?).map(Calibration::Marks)
            }
            _ => Some(Calibration::Laplace { scale: self.laplace_scale()? }),
        };
        if machines.calibration.is_none() {
            machines.warnings.push(
                "fewer than five rows are on one side of the boundary: too few for probabilities".to_owned(),
            );
        }
        Ok(())
    }

    /// The sigmoid of every machine, fitted to decisions on five stratified parts of its rows, each held out once.
    fn sigmoids(&self) -> Result<Vec<Sigmoid>, LearnError> {
        let programs = Programs::new(&self.labels, self.svm.multiclass)?;
        self.session.begin("probabilities", (FOLDS * programs.len()) as u64);
        let one = |program: usize| {
            let part = programs.part(program);
            let held_out =
                self.held_out_decisions(&part, self.session.seed().wrapping_add(program as u64))?;
            let positive: Vec<bool> = (0..part.rows.len()).map(|k| k < part.positive).collect();
            Ok(fit_sigmoid(&held_out, &positive))
        };
        if (0..programs.len()).any(|program| programs.size(program) >= LARGE) {
            return (0..programs.len()).map(one).collect();
        }
        (0..programs.len()).into_par_iter().map(one).collect()
    }

    /// The decision on each row of a machine that was trained without the part it is in.
    fn held_out_decisions(&self, part: &Part, seed: u64) -> Result<Vec<f64>, LearnError> {
        let Part { rows, positive } = part;
        let folds = stratified(*positive, rows.len(), seed);
        let mut found = vec![0.0; rows.len()];
        for fold in 0..FOLDS {
            self.session.check()?;
            let (held_out, kept): (Vec<usize>, Vec<usize>) = (0..rows.len()).partition(|&k| folds[k] == fold);
            let first = kept.iter().filter(|k| **k < *positive).count();
            let kept: Vec<usize> = kept.iter().map(|&k| rows[k]).collect();
            let values = match (first, kept.len() - first) {
                (0, 0) => vec![0.0; held_out.len()],
                // A machine trained on a single class always predicts it.
                (0, _) => vec![-1.0; held_out.len()],
                (_, 0) => vec![1.0; held_out.len()],
                _ => {
                    let queries: Vec<usize> = held_out.iter().map(|&k| rows[k]).collect();
                    self.decisions_without(&Part { rows: kept, positive: first }, &queries)?
                }
            };
            held_out.iter().zip(values).for_each(|(&k, f)| found[k] = f);
            self.session.advance(1);
        }
        Ok(found)
    }

    /// The decisions at rows `queries` of a machine trained on `kept`.
    fn decisions_without(&self, kept: &Part, queries: &[usize]) -> Result<Vec<f64>, LearnError> {
        let Decision { coefficients, rho, .. } = self.solve_feasible(kept)?;
        let terms: Vec<(usize, f64)> =
            kept.rows.iter().copied().zip(coefficients).filter(|(_, a)| *a != 0.0).collect();
        Ok(self.decisions(&terms, rho, queries)?)
    }

    /// Solves the program of some rows. Where ν is infeasible without the rows held out, the largest feasible one is used.
    fn solve_feasible(&self, part: &Part) -> Result<Decision, LearnError> {
        match self.solve(part) {
            Err(LearnError::Solve(SolveError::InfeasibleNu { largest, .. })) => {
                self.solve_as(Machine::NuSvc { nu: largest }, part)
            }
            other => other,
        }
    }

    /// Σ aₛ k(xₛ, x) − ρ at rows x, in double precision.
    fn decisions(&self, terms: &[(usize, f64)], rho: f64, rows: &[usize]) -> Result<Vec<f64>, Stopped> {
        let (support, coefficients): (Vec<usize>, Vec<f64>) = terms.iter().copied().unzip();
        let mut out = Vec::with_capacity(rows.len());
        if support.is_empty() {
            return Ok(vec![-rho; rows.len()]);
        }
        for chunk in rows.chunks((AT_ONCE / support.len()).max(1)) {
            self.session.check()?;
            let mut values = vec![0.0; chunk.len() * support.len()];
            self.training.exact().block(chunk, &support, TileMut::new(&mut values, support.len()));
            let f = |row: &[f64]| row.iter().zip(&coefficients).map(|(k, a)| k * a).sum::<f64>() - rho;
            out.extend(values.chunks_exact(support.len()).map(f));
        }
        Ok(out)
    }

    /// σ of errors with the density e^(−|z|/σ)/(2σ), from five parts of the rows, each held out once: the mean of |z| without
    /// those beyond five standard deviations.
    fn laplace_scale(&self) -> Result<f64, LearnError> {
        let targets = self.labels.targets;
        let rows: Vec<usize> = (0..targets.len()).filter(|&row| self.labels.counts(row)).collect();
        let folds = stratified(0, rows.len(), self.session.seed());
        let mut errors = Vec::with_capacity(rows.len());
        self.session.begin("probabilities", FOLDS as u64);
        for fold in 0..FOLDS {
            self.session.check()?;
            let of = |held: bool| {
                let places = rows.iter().zip(&folds).filter(|(_, of)| (**of == fold) == held);
                places.map(|(row, _)| *row).collect::<Vec<usize>>()
            };
            let (held_out, kept) = (of(true), of(false));
            if kept.is_empty() || held_out.is_empty() {
                continue;
            }
            let values = self.decisions_without(&Part { rows: kept, positive: 0 }, &held_out)?;
            errors.extend(held_out.iter().zip(values).map(|(&row, f)| (targets[row] - f).abs()));
            self.session.advance(1);
        }
        let mean = |errors: &[f64]| errors.iter().sum::<f64>() / errors.len().max(1) as f64;
        // The standard deviation of this density is √2 times its mean deviation.
        let most = 5.0 * std::f64::consts::SQRT_2 * mean(&errors);
        errors.retain(|error| *error <= most);
        Ok(mean(&errors))
    }
}

/// Ten marks that cut the decisions of a one-class machine into parts of equal density, five on each side of 0 (Que &
/// Lin 2022); `None` if fewer than five decisions are on a side.
#[must_use]
pub fn density_marks(decisions: &[f64]) -> Option<Vec<f64>> {
    const HALF: usize = 5;
    let mut sorted = decisions.to_vec();
    sorted.sort_by(f64::total_cmp);
    let below = sorted.partition_point(|f| *f < 0.0);
    let above = sorted.len() - below;
    if below < HALF || above < HALF {
        return None;
    }
    let mut ends: Vec<f64> = (0..HALF).map(|i| sorted[i * below / HALF]).collect();
    ends.push(0.0);
    ends.extend((1..=HALF).map(|i| sorted[below + i * above / HALF - 1]));
    Some(ends.windows(2).map(|pair| 0.5 * (pair[0] + pair[1])).collect())
}

/// The part of each position; positions below `positive` and those above are both spread evenly.
fn stratified(positive: usize, count: usize, seed: u64) -> Vec<usize> {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
    let mut order: Vec<usize> = (0..count).collect();
    order[..positive].shuffle(&mut random);
    order[positive..].shuffle(&mut random);
    let mut folds = vec![0; count];
    order.iter().enumerate().for_each(|(place, &k)| folds[k] = place % FOLDS);
    folds
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_stratified_and_seeded() {
        let folds = stratified(23, 60, 7);
        for fold in 0..FOLDS {
            let within =
                |places: std::ops::Range<usize>| folds[places].iter().filter(|f| **f == fold).count();
            assert!((4..=5).contains(&within(0..23)) && (7..=8).contains(&within(23..60)));
        }
        assert_eq!(folds, stratified(23, 60, 7));
        assert_ne!(folds, stratified(23, 60, 8));
    }

    #[test]
    fn marks_halve_each_side() {
        let decisions: Vec<f64> = (-10..10).map(|k| f64::from(k) + 0.5).collect();
        let marks = density_marks(&decisions).unwrap();
        assert_eq!(marks, [-8.5, -6.5, -4.5, -2.5, -0.75, 0.75, 2.5, 4.5, 6.5, 8.5]);
        assert_eq!(density_marks(&decisions[7..]), None);
    }
}

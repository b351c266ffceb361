//! Probabilities of support vector machines, from decisions on rows that were held out.

use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_xoshiro::Xoshiro256PlusPlus;
use rayon::prelude::*;

use crate::gram::TileMut;
use crate::learn::error::LearnError;
use crate::model::{Sigmoid, pairs_of};
use crate::session::Session;
use crate::solve::svm::SvmError;
use crate::watch::{Stopped, Watch};

use super::classify::counted;
use super::one_class::OneClass;
use super::one_vs_one::{Pair, members};
use super::regress::{NuSvr, Svr};
use super::sigmoid::fit_sigmoid;
use super::training::{SupportVectors, Training};
use super::{NuSvc, Svc};

/// Parts that the rows are cut into; each is held out once.
const FOLDS: usize = 5;

/// Kernel values held at once: 32 MiB.
const AT_ONCE: usize = 1 << 22;

/// From this many rows on a machine is trained by all threads together.
const LARGE: usize = 8_000;

impl Svc {
    /// The sigmoid of every pair of classes, in their order: fitted to decisions on five stratified parts of the pair's rows, each
    /// held out once, chosen by `seed`.
    ///
    /// About four times the work of [`fit_on`](Self::fit_on).
    ///
    /// # Errors
    /// As [`fit_on`](Self::fit_on).
    pub fn sigmoids_on(
        &self,
        training: &Training<'_>,
        codes: &[usize],
        nclasses: usize,
        weights: Option<&[f64]>,
        seed: u64,
        session: &Session<'_>,
    ) -> Result<Vec<Sigmoid>, LearnError> {
        let machine = self.machine(training, codes, nclasses, weights, session)?;
        let problems = of_pairs(codes, nclasses, counted(weights))?;
        sigmoids(training, &problems, seed, &machine, session)
    }

    /// The sigmoid of every machine of [`fit_one_vs_rest_on`](Self::fit_one_vs_rest_on), found as by
    /// [`sigmoids_on`](Self::sigmoids_on).
    ///
    /// # Errors
    /// As [`fit_on`](Self::fit_on).
    pub fn one_vs_rest_sigmoids_on(
        &self,
        training: &Training<'_>,
        codes: &[usize],
        nclasses: usize,
        weights: Option<&[f64]>,
        seed: u64,
        session: &Session<'_>,
    ) -> Result<Vec<Sigmoid>, LearnError> {
        let machine = self.machine(training, codes, nclasses, weights, session)?;
        let problems = of_classes(codes, nclasses, counted(weights))?;
        sigmoids(training, &problems, seed, &machine, session)
    }
}

impl NuSvc {
    /// As [`Svc::sigmoids_on`]. Where ν is infeasible without the rows held out, the largest feasible one stands in.
    ///
    /// # Errors
    /// As [`fit_on`](Self::fit_on).
    pub fn sigmoids_on(
        &self,
        training: &Training<'_>,
        codes: &[usize],
        nclasses: usize,
        weights: Option<&[f64]>,
        seed: u64,
        session: &Session<'_>,
    ) -> Result<Vec<Sigmoid>, LearnError> {
        let problems = of_pairs(codes, nclasses, counted(weights))?;
        sigmoids(training, &problems, seed, &self.feasible(training, codes, weights, session)?, session)
    }

    /// As [`Svc::one_vs_rest_sigmoids_on`], with ν as in [`sigmoids_on`](Self::sigmoids_on).
    ///
    /// # Errors
    /// As [`fit_on`](Self::fit_on).
    pub fn one_vs_rest_sigmoids_on(
        &self,
        training: &Training<'_>,
        codes: &[usize],
        nclasses: usize,
        weights: Option<&[f64]>,
        seed: u64,
        session: &Session<'_>,
    ) -> Result<Vec<Sigmoid>, LearnError> {
        let problems = of_classes(codes, nclasses, counted(weights))?;
        sigmoids(training, &problems, seed, &self.feasible(training, codes, weights, session)?, session)
    }

    /// [`machine`](Self::machine), at the largest feasible ν where this one is not.
    fn feasible<'a>(
        &'a self,
        training: &'a Training<'_>,
        codes: &'a [usize],
        weights: Option<&'a [f64]>,
        session: &'a Session<'a>,
    ) -> Result<impl Fn(&[usize], usize) -> Result<Pair, LearnError> + Sync + 'a, LearnError> {
        let machine = self.machine(training, codes, weights, session)?;
        Ok(move |rows: &[usize], first: usize| match machine(rows, first) {
            Err(LearnError::Svm(SvmError::InfeasibleNu { largest, .. })) => {
                let nearest = Self { nu: largest, ..self.clone() };
                nearest.machine(training, codes, weights, session)?(rows, first)
            }
            other => other,
        })
    }
}

impl Svr {
    /// σ of errors with the density e^(−|z|/σ)/(2σ), from five parts of the rows, each held out once, chosen by `seed`: the mean
    /// of |z| without those beyond five standard deviations.
    ///
    /// # Errors
    /// As [`fit_on`](Self::fit_on).
    pub fn laplace_scale_on(
        &self,
        training: &Training<'_>,
        targets: &[f64],
        weights: Option<&[f64]>,
        seed: u64,
        session: &Session<'_>,
    ) -> Result<f64, LearnError> {
        let machine = self.machine(training, targets, weights, session)?;
        laplace_scale(training, targets, weights, seed, machine, session)
    }
}

impl NuSvr {
    /// As [`Svr::laplace_scale_on`].
    ///
    /// # Errors
    /// As [`fit_on`](Self::fit_on).
    pub fn laplace_scale_on(
        &self,
        training: &Training<'_>,
        targets: &[f64],
        weights: Option<&[f64]>,
        seed: u64,
        session: &Session<'_>,
    ) -> Result<f64, LearnError> {
        let machine = self.machine(training, targets, weights, session)?;
        laplace_scale(training, targets, weights, seed, |rows| Ok(machine(rows)?.0), session)
    }
}

impl OneClass {
    /// The [`density_marks`] of a fitted machine, from its decisions on the samples it was trained on.
    ///
    /// # Errors
    /// Where the session asks to stop.
    pub fn density_marks_on(
        training: &Training<'_>,
        fitted: &SupportVectors,
        session: &Session<'_>,
    ) -> Result<Option<Vec<f64>>, LearnError> {
        let all: Vec<usize> = (0..training.nrows()).collect();
        let terms: Vec<(usize, f64)> =
            fitted.support.iter().copied().zip(fitted.coefficients.iter().copied()).collect();
        Ok(density_marks(&decisions(training, &terms, fitted.rho, &all, session)?))
    }
}

/// Ten marks that cut the decisions of a one-class machine into parts of equal density, five on each side of 0 (Que & Lin
/// 2022); none where fewer than five decisions are on a side.
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

/// Rows of which the first `positive` are to be told from the others.
struct Problem {
    rows: Vec<usize>,
    positive: usize,
}

impl Problem {
    fn new(positive: &[usize], others: &[usize]) -> Self {
        Self { rows: [positive, others].concat(), positive: positive.len() }
    }
}

fn of_pairs(
    codes: &[usize],
    nclasses: usize,
    present: impl Fn(usize) -> bool,
) -> Result<Vec<Problem>, LearnError> {
    let members = members(codes, nclasses, present)?;
    Ok(pairs_of(nclasses).map(|(i, j)| Problem::new(&members[i], &members[j])).collect())
}

fn of_classes(
    codes: &[usize],
    nclasses: usize,
    present: impl Fn(usize) -> bool,
) -> Result<Vec<Problem>, LearnError> {
    let members = members(codes, nclasses, present)?;
    let machines = if nclasses == 2 { 1..2 } else { 0..nclasses };
    let against = |class: usize| {
        let others: Vec<usize> =
            (0..nclasses).filter(|c| *c != class).flat_map(|c| members[c].clone()).collect();
        Problem::new(&members[class], &others)
    };
    Ok(machines.map(against).collect())
}

/// The sigmoid of each problem.
fn sigmoids(
    training: &Training<'_>,
    problems: &[Problem],
    seed: u64,
    machine: &(impl Fn(&[usize], usize) -> Result<Pair, LearnError> + Sync),
    session: &Session<'_>,
) -> Result<Vec<Sigmoid>, LearnError> {
    session.begin("probabilities", (FOLDS * problems.len()) as u64);
    let one = |(place, problem): (usize, &Problem)| {
        let held_out =
            held_out_decisions(training, problem, seed.wrapping_add(place as u64), machine, session)?;
        let positive: Vec<bool> = (0..problem.rows.len()).map(|k| k < problem.positive).collect();
        Ok(fit_sigmoid(&held_out, &positive))
    };
    if problems.iter().any(|problem| problem.rows.len() >= LARGE) {
        return problems.iter().enumerate().map(one).collect();
    }
    problems.par_iter().enumerate().map(one).collect()
}

/// The decision on each row of a machine that was trained without the part it is in.
fn held_out_decisions(
    training: &Training<'_>,
    problem: &Problem,
    seed: u64,
    machine: &impl Fn(&[usize], usize) -> Result<Pair, LearnError>,
    session: &Session<'_>,
) -> Result<Vec<f64>, LearnError> {
    let Problem { rows, positive } = problem;
    let folds = stratified(*positive, rows.len(), seed);
    let mut found = vec![0.0; rows.len()];
    for fold in 0..FOLDS {
        session.check()?;
        let (held_out, kept): (Vec<usize>, Vec<usize>) = (0..rows.len()).partition(|&k| folds[k] == fold);
        let first = kept.iter().filter(|k| **k < *positive).count();
        let kept: Vec<usize> = kept.iter().map(|&k| rows[k]).collect();
        let values = match (first, kept.len() - first) {
            (0, 0) => vec![0.0; held_out.len()],
            // What was never seen is taken for the class that was.
            (0, _) => vec![-1.0; held_out.len()],
            (_, 0) => vec![1.0; held_out.len()],
            _ => {
                let solved = machine(&kept, first)?;
                let terms: Vec<(usize, f64)> =
                    kept.iter().copied().zip(solved.coefficients).filter(|(_, a)| *a != 0.0).collect();
                let queries: Vec<usize> = held_out.iter().map(|&k| rows[k]).collect();
                decisions(training, &terms, solved.rho, &queries, session)?
            }
        };
        held_out.iter().zip(values).for_each(|(&k, f)| found[k] = f);
        session.advance(1);
    }
    Ok(found)
}

/// The part of each place: those below `positive` and those above are spread alike.
fn stratified(positive: usize, count: usize, seed: u64) -> Vec<usize> {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
    let mut order: Vec<usize> = (0..count).collect();
    order[..positive].shuffle(&mut random);
    order[positive..].shuffle(&mut random);
    let mut folds = vec![0; count];
    order.iter().enumerate().for_each(|(place, &k)| folds[k] = place % FOLDS);
    folds
}

/// Σ aₛ k(xₛ, x) − ρ at rows x, in double precision.
fn decisions(
    training: &Training<'_>,
    terms: &[(usize, f64)],
    rho: f64,
    rows: &[usize],
    session: &Session<'_>,
) -> Result<Vec<f64>, Stopped> {
    let (support, coefficients): (Vec<usize>, Vec<f64>) = terms.iter().copied().unzip();
    let mut out = Vec::with_capacity(rows.len());
    if support.is_empty() {
        return Ok(vec![-rho; rows.len()]);
    }
    for chunk in rows.chunks((AT_ONCE / support.len()).max(1)) {
        session.check()?;
        let mut values = vec![0.0; chunk.len() * support.len()];
        training.exact().block(chunk, &support, TileMut::new(&mut values, support.len()));
        let f = |row: &[f64]| row.iter().zip(&coefficients).map(|(k, a)| k * a).sum::<f64>() - rho;
        out.extend(values.chunks_exact(support.len()).map(f));
    }
    Ok(out)
}

fn laplace_scale(
    training: &Training<'_>,
    targets: &[f64],
    weights: Option<&[f64]>,
    seed: u64,
    machine: impl Fn(&[usize]) -> Result<SupportVectors, LearnError>,
    session: &Session<'_>,
) -> Result<f64, LearnError> {
    let counts = counted(weights);
    let rows: Vec<usize> = (0..targets.len()).filter(|&row| counts(row)).collect();
    let folds = stratified(0, rows.len(), seed);
    let mut errors = Vec::with_capacity(rows.len());
    session.begin("probabilities", FOLDS as u64);
    for fold in 0..FOLDS {
        session.check()?;
        let (held_out, kept): (Vec<usize>, Vec<usize>) = (0..rows.len()).partition(|&k| folds[k] == fold);
        if kept.is_empty() || held_out.is_empty() {
            continue;
        }
        let [held_out, kept] =
            [held_out, kept].map(|places| places.iter().map(|&k| rows[k]).collect::<Vec<_>>());
        let solved = machine(&kept)?;
        let places = solved.support.iter().map(|&k| kept[k]);
        let terms: Vec<(usize, f64)> = places.zip(solved.coefficients.iter().copied()).collect();
        let values = decisions(training, &terms, solved.rho, &held_out, session)?;
        errors.extend(held_out.iter().zip(values).map(|(&row, f)| (targets[row] - f).abs()));
        session.advance(1);
    }
    let mean = |errors: &[f64]| errors.iter().sum::<f64>() / errors.len().max(1) as f64;
    // The standard deviation of this density is √2 times its mean deviation.
    let most = 5.0 * std::f64::consts::SQRT_2 * mean(&errors);
    errors.retain(|error| *error <= most);
    Ok(mean(&errors))
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

//! Mean squared errors of ridge regression for every λ at one kernel.

use crate::data::{AnySamples, Matrix};
use crate::gram::{CpuEngine, DenseGram, Engine, Resident};
use crate::kernel::Kernel;
use crate::learn::{Admission, LearnError};
use crate::solve::{PathProblem, PathSolution, RidgePath};
use crate::watch::Watch;

use super::criterion::{Criterion, Judgement};

/// Samples and targets, ready for any kernel: rows of weight 0 are left out, for they count in no fit and in no score.
pub(super) struct RidgeScores<'a> {
    samples: &'a AnySamples<'a>,
    /// All counted samples; those trained on where some are held out.
    train: Part,
    held_out: Option<Part>,
    judgement: Judgement,
    intercept: bool,
    warnings: Vec<String>,
}

/// Some of the samples, with their targets and weights.
struct Part {
    resident: Box<dyn Resident>,
    targets: Matrix<f64>,
    weights: Option<Vec<f64>>,
}

impl Part {
    fn new(samples: &AnySamples<'_>, targets: &Matrix<f64>, weights: Option<&[f64]>, rows: &[usize]) -> Self {
        let entries = rows.iter().flat_map(|&i| targets.row(i).to_vec()).collect();
        Self {
            resident: CpuEngine.load(&samples.select(rows)),
            targets: Matrix::from_entries(rows.len(), targets.ncols(), entries),
            weights: weights.map(|w| rows.iter().map(|&i| w[i]).collect()),
        }
    }

    /// Σᵢ wᵢ eᵢ²/Σᵢ wᵢ, the mean over the targets.
    fn mean_square(&self, residuals: &Matrix<f64>) -> f64 {
        let (mut sum, mut total) = (0.0, 0.0);
        for i in 0..residuals.nrows() {
            let weight = self.weights.as_ref().map_or(1.0, |w| w[i]);
            total += weight;
            sum += weight * residuals.row(i).iter().map(|e| e * e).sum::<f64>();
        }
        sum / total / residuals.ncols() as f64
    }
}

/// Says when to stop, but keeps the progress of one factorisation to itself.
struct Quiet<'a>(&'a dyn Watch);

impl Watch for Quiet<'_> {
    fn stop_requested(&self) -> bool {
        self.0.stop_requested()
    }
}

impl<'a> RidgeScores<'a> {
    /// The scores of `targets` on `samples` by `criterion`; the input has been checked.
    pub fn new(
        samples: &'a AnySamples<'a>,
        targets: &Matrix<f64>,
        weights: Option<&[f64]>,
        intercept: bool,
        criterion: &Criterion,
    ) -> Result<Self, LearnError> {
        let counted: Vec<usize> =
            (0..samples.nrows()).filter(|&i| weights.is_none_or(|w| w[i] > 0.0)).collect();
        let judgement = criterion.on_rows(samples.nrows(), &counted)?;
        let part = |rows: &[usize]| Part::new(samples, targets, weights, rows);
        let (train, held_out) = match &judgement {
            Judgement::HoldOut(split) => {
                let of = |places: &[usize]| places.iter().map(|&p| counted[p]).collect::<Vec<_>>();
                (part(&of(&split.train)), Some(part(&of(&split.held_out))))
            }
            _ => (part(&counted), None),
        };
        Ok(Self { samples, train, held_out, judgement, intercept, warnings: Vec::new() })
    }

    /// The mean squared error at each λ; none where K + λI is not positive definite.
    ///
    /// # Errors
    /// Where the kernel is refuted or has a value that is not finite, and where `watch` asks to stop.
    pub fn score(
        &mut self,
        kernel: &Kernel,
        lambdas: &[f64],
        admission: Admission,
        watch: &dyn Watch,
    ) -> Result<Vec<Option<f64>>, LearnError> {
        let warning = admission.decide(kernel, self.samples)?.warning;
        self.warnings.extend(warning.filter(|w| !self.warnings.contains(w)));
        let watch = &Quiet(watch);
        let n = self.train.resident.nrows();
        let gram = DenseGram::<f64>::compute(&*self.train.resident, kernel, watch)?;
        if let Some(place) = gram.entries().iter().position(|k| !k.is_finite()) {
            return Err(LearnError::KernelValue { row: place / n, column: place % n });
        }
        let roots: Option<Vec<f64>> =
            self.train.weights.as_ref().map(|weights| weights.iter().map(|w| w.sqrt()).collect());
        let problem = PathProblem {
            targets: &self.train.targets,
            root_weights: roots.as_deref(),
            intercept: self.intercept,
            lambdas,
        };
        let mut path = RidgePath::factor(Matrix::from_entries(n, n, gram.into_entries()), problem, watch)?;
        let mean_squares = |residuals: Vec<Option<Matrix<f64>>>| {
            residuals.iter().map(|r| r.as_ref().map(|r| self.train.mean_square(r))).collect()
        };
        Ok(match &self.judgement {
            Judgement::LeaveOneOut => mean_squares(path.leave_one_out(watch)?),
            Judgement::Folds(folds) => mean_squares(path.k_fold(folds, watch)?),
            Judgement::Gcv => {
                let mean_weight = roots.map_or(1.0, |r| r.iter().map(|r| r * r).sum::<f64>() / n as f64);
                let mean = |scores: Vec<f64>| scores.iter().sum::<f64>() / scores.len() as f64 / mean_weight;
                path.generalised(watch)?.into_iter().map(|scores| scores.map(mean)).collect()
            }
            Judgement::HoldOut(_) => self.held_out_errors(kernel, &path, watch)?,
        })
    }

    /// The errors on the held-out rows of the solution at each λ, all predicted by one product.
    fn held_out_errors(
        &self,
        kernel: &Kernel,
        path: &RidgePath,
        watch: &dyn Watch,
    ) -> Result<Vec<Option<f64>>, LearnError> {
        let Some(held_out) = &self.held_out else { return Ok(Vec::new()) };
        let solutions = path.coefficients(watch)?;
        let (n, targets) = (path.order(), self.train.targets.ncols());
        let mut dual = Matrix::zeros(n, solutions.len() * targets);
        for (place, solution) in solutions.iter().enumerate().filter_map(|(p, s)| Some((p, s.as_ref()?))) {
            for i in 0..n {
                dual.row_mut(i)[place * targets..][..targets].copy_from_slice(solution.dual.row(i));
            }
        }
        let rows = held_out.resident.nrows();
        let mut predicted = Matrix::zeros(rows, dual.ncols());
        held_out.resident.cross(kernel, &*self.train.resident)?.apply(&mut predicted, &dual, watch)?;
        let error = |(place, solution): (usize, &Option<PathSolution>)| {
            let solution = solution.as_ref()?;
            let mut residuals = held_out.targets.clone();
            for i in 0..rows {
                let row = &predicted.row(i)[place * targets..][..targets];
                let fitted = row.iter().zip(&solution.intercepts).map(|(f, b)| f + b);
                residuals.row_mut(i).iter_mut().zip(fitted).for_each(|(e, f)| *e -= f);
            }
            Some(held_out.mean_square(&residuals))
        };
        Ok(solutions.iter().enumerate().map(error).collect())
    }

    /// What was noticed on the way.
    pub fn into_warnings(self) -> Vec<String> {
        self.warnings
    }
}

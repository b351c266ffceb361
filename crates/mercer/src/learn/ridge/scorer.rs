//! Mean squared errors of ridge regression for every λ at one kernel.

use crate::data::{AnySamples, Matrix, Samples};
use crate::gram::{DenseGram, Resident};
use crate::kernel::Kernel;
use crate::learn::error::{KERNEL_MATRIX, LearnError};
use crate::learn::kernel_check::KernelCheck;
use crate::learn::lift::Lift;
use crate::learn::problem::Problem;
use crate::learn::search::{
    Criterion, LeftOut, Measure, NO_KERNEL, Parts, Score, Scorer, Shared, Tally, Tunable,
};
use crate::linalg::Intercept;
use crate::pool;
use crate::session::Session;
use crate::solve::{PathProblem, RidgePath, cross_validate, refit};

use super::Ridge;
use super::feature_scorer::FeatureScorer;

/// One factorisation of the kernel matrix scores every λ: see [`RidgePath`]. On approximate features one pass over the
/// rows for each kernel gives sums over the features of each fold; the best model follows from the sums.
impl Tunable for Ridge {
    fn open_kernel(&self) -> Option<&Kernel> {
        self.lift.kernel()
    }

    fn with_kernel(self, kernel: Kernel) -> Self {
        Self { lift: self.lift.with_kernel(kernel), ..self }
    }

    fn shared(&self) -> Shared {
        Shared::Lambda
    }

    fn with_shared(self, lambda: f64) -> Self {
        Self { lambda: vec![lambda], ..self }
    }

    /// Kernels of approximate features are checked when the features are drawn.
    fn check_of_trials(&self) -> KernelCheck {
        if matches!(self.lift, Lift::Approximate { .. }) { KernelCheck::Assume } else { self.kernel_check }
    }

    fn usual_criterion(&self) -> Criterion {
        if matches!(self.lift, Lift::Approximate { .. }) {
            Criterion::Folds(5)
        } else {
            Criterion::LeaveOneOut
        }
    }

    fn identity(&self, criterion: &str, measure: Measure, seed: u64) -> Option<String> {
        let bias = self.intercept;
        let measure = match measure {
            Measure::SquaredError => String::new(),
            other => format!(" {other:?}"),
        };
        Some(match &self.lift {
            Lift::Approximate { kernel, approx } => {
                format!("{kernel} {approx:?} {bias:?} {criterion} {seed}{measure}")
            }
            Lift::Features(map) => format!("{map:?} {bias:?} {criterion}{measure}"),
            lift => format!("{} {bias:?} {criterion}{measure}", lift.kernel()?),
        })
    }

    fn scorer<'a>(
        &'a self,
        problem: &'a Problem<'a>,
        criterion: &Criterion,
        measure: Measure,
        session: &Session<'_>,
    ) -> Result<Box<dyn Scorer + 'a>, LearnError> {
        match &self.lift {
            Lift::Kernel(_) | Lift::Features(_) => {
                Ok(Box::new(RidgeScorer::new(self, problem, criterion, measure, session)?))
            }
            Lift::Approximate { .. } if measure != Measure::SquaredError => Err(LearnError::Unsupported(
                "on approximate features the squared error alone follows from sums over the rows; use rmse",
            )),
            Lift::Approximate { .. } => Ok(Box::new(FeatureScorer::new(self, problem, criterion, session)?)),
            Lift::Auto(_) => Err(LearnError::Unsupported(
                "ridge regression is tuned on a kernel, on features or on a chosen approximation",
            )),
        }
    }
}

/// Samples and targets, prepared for any kernel. Rows of weight 0 are left out: they enter no fit and no score.
struct RidgeScorer {
    resident: Box<dyn Resident>,
    /// The kernel of explicit features.
    linear: Option<Kernel>,
    targets: Matrix<f64>,
    root_weights: Option<Vec<f64>>,
    /// The targets of rows of positive weight.
    left_out: LeftOut,
    intercept: bool,
    measure: Measure,
}

impl RidgeScorer {
    fn new(
        ridge: &Ridge,
        problem: &Problem<'_>,
        criterion: &Criterion,
        measure: Measure,
        session: &Session<'_>,
    ) -> Result<Self, LearnError> {
        if ridge.intercept == Intercept::Column {
            return Err(LearnError::Unsupported(
                "bias = column centres the data by all of its rows, so no row can be left out; tune with centred or none",
            ));
        }
        let mut left_out = criterion.on(problem, session)?;
        let counted = problem.counted();
        if let LeftOut::Parts(Parts { of_row, .. }) = &mut left_out {
            *of_row = counted.iter().map(|&row| of_row[row]).collect();
        }
        if measure != Measure::SquaredError && matches!(left_out, LeftOut::Generalised) {
            return Err(LearnError::Unsupported(
                "generalised cross-validation estimates the squared error alone; use rmse, or another criterion",
            ));
        }
        let needed = bytes(&left_out, counted.len(), pool::available());
        LearnError::check_memory(problem.nrows(), KERNEL_MATRIX, needed, session.memory())?;
        let samples = problem.samples()?.select(&counted);
        let resident = match &ridge.lift {
            // The inner products of explicit features are their kernel.
            Lift::Features(map) => {
                let features = map.transform(&samples, session)?;
                let (rows, columns) = (features.nrows(), features.ncols());
                let features = Samples::dense(rows, columns, features.into_entries());
                let features = features.map_err(|_| LearnError::Empty { rows, columns })?;
                session.load(&AnySamples::F64(features))?
            }
            _ => session.load(&samples)?,
        };
        Ok(Self {
            resident,
            linear: matches!(ridge.lift, Lift::Features(_)).then(Kernel::linear),
            targets: problem.numbers()?.select(&counted),
            root_weights: problem.weights().map(|w| counted.iter().map(|&i| w[i].sqrt()).collect()),
            left_out,
            intercept: ridge.intercept == Intercept::Centred,
            measure,
        })
    }

    fn weight(&self, row: usize) -> f64 {
        self.root_weights.as_ref().map_or(1.0, |roots| roots[row] * roots[row])
    }

    /// The score of residuals, kept separate for each group of rows.
    fn judged(&self, residuals: &Matrix<f64>, groups: &[Vec<usize>]) -> Option<Score> {
        let tallied = |rows: &Vec<usize>| {
            let mut tally = Tally::of_numbers(self.measure, residuals.ncols());
            for &row in rows {
                tally.add_residuals(residuals.row(row), self.targets.row(row), self.weight(row));
            }
            tally
        };
        Tally::score(&groups.iter().map(tallied).collect::<Vec<_>>())
    }
}

impl Scorer for RidgeScorer {
    /// `None` if K + λI is not positive definite.
    fn score(
        &mut self,
        kernel: Option<&Kernel>,
        lambdas: &[f64],
        session: &Session<'_>,
    ) -> Result<Vec<Option<Score>>, LearnError> {
        let session = &session.part();
        let n = self.resident.nrows();
        let gram = match &self.linear {
            Some(linear) => finite_gram(&*self.resident, linear, session)?,
            None => finite_gram(&*self.resident, kernel.ok_or(NO_KERNEL)?, session)?,
        };
        let problem = PathProblem {
            targets: &self.targets,
            root_weights: self.root_weights.as_deref(),
            intercept: self.intercept,
            lambdas,
        };
        let (residuals, groups) = match &self.left_out {
            LeftOut::Generalised => {
                let scores = RidgePath::factor(gram, problem, session)?.generalised(session)?;
                let mean_weight = (0..n).map(|i| self.weight(i)).sum::<f64>() / n as f64;
                let mean = |scores: Vec<f64>| scores.iter().sum::<f64>() / scores.len() as f64 / mean_weight;
                return Ok(scores.into_iter().map(|scores| scores.map(mean).map(Score::from)).collect());
            }
            LeftOut::EachRow => {
                (RidgePath::factor(gram, problem, session)?.leave_one_out(session)?, vec![(0..n).collect()])
            }
            LeftOut::Parts(parts) if parts.others => {
                let groups = parts.rows();
                (refit(&gram, problem, &groups, session)?, groups)
            }
            LeftOut::Parts(parts) => {
                let folds: Vec<usize> = parts.of_row.iter().copied().flatten().collect();
                (cross_validate(gram, problem, &folds, session)?, parts.rows())
            }
        };
        Ok(residuals.iter().map(|found| self.judged(found.as_ref()?, &groups)).collect())
    }
}

/// The kernel matrix of samples, all of its values finite.
///
/// # Errors
/// [`LearnError::KernelValue`] at the first value that is not, and if the session is stopped.
pub(in crate::learn) fn finite_gram(
    samples: &dyn Resident,
    kernel: &Kernel,
    session: &Session<'_>,
) -> Result<Matrix<f64>, LearnError> {
    let n = samples.nrows();
    let gram = DenseGram::<f64>::compute(samples, kernel, session)?;
    match gram.entries().iter().position(|k| !k.is_finite()) {
        Some(place) => Err(LearnError::KernelValue { row: place / n, column: place % n }),
        None => Ok(Matrix::from_entries(n, n, gram.into_entries())),
    }
}

/// Bytes that scoring a kernel of `rows` rows takes on `threads` threads, at most.
fn bytes(left_out: &LeftOut, rows: usize, threads: usize) -> u64 {
    let (n, threads) = (rows as u64, threads as u64);
    // The matrix, and half as much for a low-rank factor and the reduction's partial sums; a refit has its own matrix
    // in addition.
    let (matrices, fold) = match left_out {
        LeftOut::EachRow | LeftOut::Generalised => (12, 0),
        LeftOut::Parts(parts) if parts.others => (20, 0),
        LeftOut::Parts(parts) => (20, parts.largest() as u64),
    };
    let matrix = n.saturating_mul(n).saturating_mul(matrices);
    matrix.saturating_add((1 + threads).saturating_mul(fold).saturating_mul(n + fold).saturating_mul(8))
}

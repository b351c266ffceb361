//! Mean squared errors of ridge regression for every λ at one kernel.

use crate::data::Matrix;
use crate::gram::{DenseGram, Resident};
use crate::kernel::Kernel;
use crate::learn::admission::Admission;
use crate::learn::error::LearnError;
use crate::learn::lift::Lift;
use crate::learn::problem::Problem;
use crate::learn::search::{
    Criterion, LeftOut, Measure, NO_KERNEL, Parts, Score, Scorer, Shared, Tunable, require_memory,
};
use crate::linalg::Intercept;
use crate::pool;
use crate::session::Session;
use crate::solve::{PathProblem, RidgePath, cross_validate, refit};

use super::Ridge;
use super::feature_scorer::FeatureScorer;

/// One factorisation of the kernel matrix scores every λ: see [`RidgePath`]. On approximate features the rows are gone through
/// once for each kernel, into sums over the features of each fold; the best model follows from the sums.
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

    /// Features that approximate a kernel are checked when they are drawn.
    fn kernel_admission(&self) -> Admission {
        if matches!(self.lift, Lift::Approximate { .. }) { Admission::Assume } else { self.admission }
    }

    fn usual_criterion(&self) -> Criterion {
        if matches!(self.lift, Lift::Approximate { .. }) {
            Criterion::Folds(5)
        } else {
            Criterion::LeaveOneOut
        }
    }

    fn identity(&self, criterion: &str, _: Measure, seed: u64) -> Option<String> {
        let bias = self.intercept;
        Some(match &self.lift {
            Lift::Approximate { kernel, approx } => {
                format!("{kernel} {approx:?} {bias:?} {criterion} {seed}")
            }
            lift => format!("{} {bias:?} {criterion}", lift.kernel()?),
        })
    }

    fn scorer<'a>(
        &'a self,
        problem: &'a Problem<'a>,
        criterion: &Criterion,
        _: Measure,
        session: &Session<'_>,
    ) -> Result<Box<dyn Scorer + 'a>, LearnError> {
        match &self.lift {
            Lift::Kernel(_) => Ok(Box::new(RidgeScorer::new(self, problem, criterion, session)?)),
            Lift::Approximate { .. } => Ok(Box::new(FeatureScorer::new(self, problem, criterion, session)?)),
            Lift::Features(_) | Lift::Auto(_) => Err(LearnError::Unsupported(
                "ridge regression is tuned on a kernel or on features of a chosen approximation",
            )),
        }
    }
}

/// Samples and targets, ready for any kernel. Rows of weight 0 are left out: they count in no fit and in no score.
struct RidgeScorer {
    resident: Box<dyn Resident>,
    targets: Matrix<f64>,
    root_weights: Option<Vec<f64>>,
    /// Of the rows that count.
    left_out: LeftOut,
    intercept: bool,
}

impl RidgeScorer {
    fn new(
        ridge: &Ridge,
        problem: &Problem<'_>,
        criterion: &Criterion,
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
        require_memory(problem.nrows(), bytes(&left_out, counted.len(), pool::available()), session)?;
        Ok(Self {
            resident: session.load(&problem.samples()?.select(&counted))?,
            targets: problem.numbers()?.select(&counted),
            root_weights: problem.weights().map(|w| counted.iter().map(|&i| w[i].sqrt()).collect()),
            left_out,
            intercept: ridge.intercept == Intercept::Centred,
        })
    }

    fn weight(&self, row: usize) -> f64 {
        self.root_weights.as_ref().map_or(1.0, |roots| roots[row] * roots[row])
    }

    /// Σᵢ wᵢ eᵢ²/Σᵢ wᵢ over some of the rows, the mean over the targets.
    fn mean_square(&self, residuals: &Matrix<f64>, rows: &[usize]) -> f64 {
        let (mut sum, mut total) = (0.0, 0.0);
        for &i in rows {
            total += self.weight(i);
            sum += self.weight(i) * residuals.row(i).iter().map(|e| e * e).sum::<f64>();
        }
        sum / total / residuals.ncols() as f64
    }
}

impl Scorer for RidgeScorer {
    /// None where K + λI is not positive definite.
    fn score(
        &mut self,
        kernel: Option<&Kernel>,
        lambdas: &[f64],
        session: &Session<'_>,
    ) -> Result<Vec<Option<Score>>, LearnError> {
        let session = &session.part();
        let n = self.resident.nrows();
        let gram = finite_gram(&*self.resident, kernel.ok_or(NO_KERNEL)?, session)?;
        let problem = PathProblem {
            targets: &self.targets,
            root_weights: self.root_weights.as_deref(),
            intercept: self.intercept,
            lambdas,
        };
        let all = || (0..n).collect::<Vec<_>>();
        let (residuals, rows) = match &self.left_out {
            LeftOut::Generalised => {
                let scores = RidgePath::factor(gram, problem, session)?.generalised(session)?;
                let mean_weight = (0..n).map(|i| self.weight(i)).sum::<f64>() / n as f64;
                let mean = |scores: Vec<f64>| scores.iter().sum::<f64>() / scores.len() as f64 / mean_weight;
                return Ok(scores.into_iter().map(|scores| scores.map(mean).map(Score::from)).collect());
            }
            LeftOut::EachRow => (RidgePath::factor(gram, problem, session)?.leave_one_out(session)?, all()),
            LeftOut::Parts(parts) if parts.others => {
                let groups = parts.rows();
                (refit(&gram, problem, &groups, session)?, groups.concat())
            }
            LeftOut::Parts(parts) => {
                let folds: Vec<usize> = parts.of_row.iter().copied().flatten().collect();
                (cross_validate(gram, problem, &folds, session)?, all())
            }
        };
        let score = |found: &Option<Matrix<f64>>| Some(self.mean_square(found.as_ref()?, &rows).into());
        Ok(residuals.iter().map(score).collect())
    }
}

/// The kernel matrix of samples, all of its values finite.
///
/// # Errors
/// [`LearnError::KernelValue`] at the first value that is not, and where the session is stopped.
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
    // The matrix, and half of it once more for a low-rank factor and the reduction's partial sums; a refit has its own matrix
    // besides.
    let (matrices, fold) = match left_out {
        LeftOut::EachRow | LeftOut::Generalised => (12, 0),
        LeftOut::Parts(parts) if parts.others => (20, 0),
        LeftOut::Parts(parts) => (20, parts.largest() as u64),
    };
    let matrix = n.saturating_mul(n).saturating_mul(matrices);
    matrix.saturating_add((1 + threads).saturating_mul(fold).saturating_mul(n + fold).saturating_mul(8))
}

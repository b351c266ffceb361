//! Ridge regression on features that approximate a kernel: linear in the number of samples, in memory or streamed.
//!
//! Minimises Σᵢ wᵢ(yᵢ − ⟨v, φ(xᵢ)⟩ − b)² + λ‖v‖² with ⟨φ(x), φ(z)⟩ ≈ k(x, z). All that is kept of the samples are sums
//! over their features ([`NormalEquations`]), so samples in memory, in chunks and on several machines give the same fit.

use std::slice;

use crate::data::{AnySamples, Matrix};
use crate::design::{Approximation, Design, DesignError, Features, Parts, Recomputed};
use crate::kernel::Kernel;
use crate::kernel::check::Domain;
use crate::linalg::{Intercept, LinearFit, NormalEquations};
use crate::model::Predictor;
use crate::session::Session;
use crate::solve::{Report, Status};

use super::admission::Admission;
use super::error::LearnError;
use super::held_features::PassesFit;
use super::ridge::{Bias, check_problem, targets_by_lambda};

/// Ridge regression on approximate features: its hyper-parameters.
///
/// ```
/// use mercer::data::{AnySamples, Matrix, Samples};
/// use mercer::design::Approximation;
/// use mercer::learn::ApproxRidge;
/// use mercer::session::Session;
/// let samples = AnySamples::F64(Samples::dense(50, 1, (0..50).map(|i| 0.1 * i as f64).collect::<Vec<_>>())?);
/// let targets = Matrix::from_entries(50, 1, (0..50).map(|i| (0.1 * i as f64).sin()).collect());
/// let ridge = ApproxRidge::new("rbf(sigma=1)".parse()?, Approximation::fourier(64), 1e-3);
/// let fit = ridge.fit(&samples, &targets, None, &Session::default())?;
/// let found = fit.predictor.predict(&samples, &Session::default())?;
/// assert!((found.row(7)[0] - 0.7f64.sin()).abs() < 1e-2);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct ApproxRidge {
    /// The kernel, with every hyper-parameter a number.
    pub kernel: Kernel,
    /// The approximation of the kernel.
    pub approximation: Approximation,
    /// λ ≥ 0: one for all targets, or one each.
    pub lambda: Vec<f64>,
    /// What is done about a constant; not [`Bias::Column`].
    pub bias: Bias,
    /// Whether a kernel on landmarks must be proven to be one. One with random features is, by its spectral density.
    pub admission: Admission,
}

/// Features that samples are summed over.
#[derive(Debug, Clone, PartialEq)]
pub struct Prepared {
    /// φ.
    pub features: Features,
    /// Where the kernel is proven to be positive semidefinite.
    pub domain: Option<Domain>,
    /// What the user should know.
    pub warning: Option<String>,
}

/// A fit and the sums that tell of its features.
#[derive(Debug, Clone, PartialEq)]
pub struct ApproxFit {
    /// What predicts.
    pub predictor: Predictor,
    /// How good the answer of the normal equations is.
    pub report: Report,
    /// φ.
    pub prepared: Prepared,
    /// The sums over φ that the fit follows from, or those over a sample where the features of all rows were held.
    pub sums: NormalEquations,
    /// The solution of the sums, with λ times the share of a sample.
    pub solution: Solution,
    /// The errors over all rows, where the sums are over a sample of them.
    pub all_rows: Option<AllRows>,
}

/// The solution of the normal equations, from one factor of them for each λ.
#[derive(Debug, Clone, PartialEq)]
pub struct Solution {
    /// β and b.
    pub fit: LinearFit,
    /// ‖c − (G + λI)β‖/‖c‖ of the normal equations, the largest over the targets.
    pub residual: f64,
    /// An estimate of tr G(G + λI)⁻¹ at the largest λ: what the fit uses of its features.
    pub effective_dimension: f64,
}

/// The errors over all rows of a fit whose sums are over a sample of them.
#[derive(Debug, Clone, PartialEq)]
pub struct AllRows {
    /// Σw of the sample as a part of that of all rows.
    pub share: f64,
    /// The mean squared error of each target over all rows.
    pub errors: Vec<f64>,
}

/// The errors of a fit over the samples of some sums, for one target.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TargetError {
    /// Samples.
    pub rows: u64,
    /// √ of the mean of the squared errors.
    pub rmse: f64,
    /// 1 − Σ(y−f)²/Σ(y−ȳ)²; none where the targets are all equal.
    pub r2: Option<f64>,
}

impl ApproxRidge {
    /// Creates a ridge learner with this kernel, approximation and λ, and an unpenalised intercept; other settings take their
    /// defaults.
    #[must_use]
    pub fn new(kernel: Kernel, approximation: Approximation, lambda: f64) -> Self {
        Self { kernel, approximation, lambda: vec![lambda], bias: Bias::Centred, admission: Admission::Check }
    }

    /// Fits `targets` (one row per sample, one column per target).
    ///
    /// O(nD(d + D) + D³) time, O(D²) memory for D features. In large problems, from n = 8D on, where the features of all rows
    /// fit the memory budget, they are held, and some twenty passes over them replace the sums of their products
    /// ([`NormalCg`](crate::solve::NormalCg)): O(nDd + D³).
    ///
    /// # Errors
    /// Where the input does not line up, where the kernel has no such features, where the sums do not fit the memory
    /// budget, where λ = 0 and the features are linearly dependent, and where the session is stopped.
    pub fn fit(
        &self,
        samples: &AnySamples<'_>,
        targets: &Matrix<f64>,
        weights: Option<&[f64]>,
        session: &Session<'_>,
    ) -> Result<ApproxFit, LearnError> {
        check_problem(&self.lambda, samples.nrows(), targets, weights)?;
        self.fit_prepared(self.prepare(samples, session)?, samples, targets, weights, session)
    }

    /// As [`fit`](Self::fit), on features that are ready.
    ///
    /// # Errors
    /// As [`fit`](Self::fit).
    pub fn fit_prepared(
        &self,
        prepared: Prepared,
        samples: &AnySamples<'_>,
        targets: &Matrix<f64>,
        weights: Option<&[f64]>,
        session: &Session<'_>,
    ) -> Result<ApproxFit, LearnError> {
        check_problem(&self.lambda, samples.nrows(), targets, weights)?;
        let columns = samples.ncols();
        let mut sums = Self::sums(prepared.features.count(columns)?, targets.ncols(), session)?;
        if let Some(PassesFit { fit, mut report, sample: (sums, solution), all_rows }) =
            self.passes(&prepared, samples, targets, weights, session)?
        {
            report.warnings.extend(prepared.warning.clone());
            let predictor = prepared.predictor(fit, columns);
            return Ok(ApproxFit { predictor, report, prepared, sums, solution, all_rows: Some(all_rows) });
        }
        let design = Recomputed::new(prepared.features.ready(columns, None, session)?, samples)?;
        design.normal_equations(targets, weights, &Parts::All, slice::from_mut(&mut sums), session)?;
        self.fit_sums(prepared, columns, sums, session)
    }

    /// The features: frequencies drawn, or landmarks chosen among `samples`.
    ///
    /// # Errors
    /// Where there are no samples, where the settings do not fit each other, where the kernel has no such features, and
    /// where the session is stopped.
    pub fn prepare(&self, samples: &AnySamples<'_>, session: &Session<'_>) -> Result<Prepared, LearnError> {
        let (rows, columns) = (samples.nrows(), samples.ncols());
        if rows == 0 || columns == 0 {
            return Err(LearnError::Empty { rows, columns });
        }
        if self.bias == Bias::Column {
            let reason = "bias = column is not for approximate features; use centred or none";
            return Err(LearnError::Unsupported(reason));
        }
        self.kernel.check_columns(columns)?;
        let features = self.approximation.of(&self.kernel, samples, session)?;
        let (domain, warning) = match &features {
            // A spectral density is a proof (Bochner).
            Features::Fourier(_) | Features::Map(_) => (Some(Domain::All), None),
            Features::Landmarks(_) => {
                let admitted = self.admission.decide(&self.kernel, samples)?;
                (admitted.domain, admitted.warning)
            }
        };
        Ok(Prepared { features, domain, warning })
    }

    /// The features for this number of rows, with landmarks chosen among a sample of them: a kernel that is proven only where the
    /// sample is has no domain.
    ///
    /// # Errors
    /// As [`prepare`](Self::prepare).
    pub fn prepare_from_sample(
        &self,
        sample: &AnySamples<'_>,
        rows: u64,
        session: &Session<'_>,
    ) -> Result<Prepared, LearnError> {
        let mut prepared = self.prepare(sample, session)?;
        if let Some(domain) = prepared.domain.filter(|domain| *domain != Domain::All)
            && rows > sample.nrows() as u64
        {
            prepared.domain = None;
            prepared.warning = Some(format!(
                "{} is proven positive semidefinite on the {domain} of a sample only, not where all rows are",
                self.kernel
            ));
        }
        Ok(prepared)
    }

    /// Empty sums over this number of features and targets.
    ///
    /// # Errors
    /// Where they, and the matrix that is factored, do not fit the memory budget.
    pub fn sums(
        features: usize,
        targets: usize,
        session: &Session<'_>,
    ) -> Result<NormalEquations, LearnError> {
        let (needed, budget) = (Self::bytes_needed(features, targets), session.memory());
        if needed > budget {
            let what = "the sums over the features and the factor of them";
            return Err(DesignError::Memory { what, needed, budget }.into());
        }
        Ok(NormalEquations::new(features, targets))
    }

    /// Bytes that a fit takes beside the samples: the sums, their matrix and a chunk of features.
    #[must_use]
    pub fn bytes_needed(features: usize, targets: usize) -> u64 {
        let d = features as u64;
        NormalEquations::bytes_needed(features, targets)
            .saturating_add(8 * d.saturating_mul(d))
            .saturating_add(8 * 1024 * d)
    }

    /// The fit on features of samples with this many columns, from sums over them.
    ///
    /// # Errors
    /// As [`solve`](Self::solve).
    pub fn fit_sums(
        &self,
        prepared: Prepared,
        columns: usize,
        sums: NormalEquations,
        session: &Session<'_>,
    ) -> Result<ApproxFit, LearnError> {
        let solution = self.solve(&sums, session)?;
        let (predictor, report) = self.finish(&prepared, columns, &solution);
        Ok(ApproxFit { predictor, report, prepared, sums, solution, all_rows: None })
    }

    /// The predictor of a solution for samples with this many columns, and the quality of the solution.
    #[must_use]
    pub fn finish(&self, prepared: &Prepared, columns: usize, solution: &Solution) -> (Predictor, Report) {
        let report = Report {
            status: Status::Converged,
            solver: format!("cholesky f64 on {}", self.approximation),
            iterations: 0,
            residual: solution.residual,
            warnings: prepared.warning.iter().cloned().collect(),
        };
        (prepared.predictor(solution.fit.clone(), columns), report)
    }

    /// The solution of sums.
    ///
    /// D³/3 multiply-adds for each different λ.
    ///
    /// # Errors
    /// Where there are no samples, where λ = 0 and the features are linearly dependent, and where the session is stopped.
    pub fn solve(&self, sums: &NormalEquations, session: &Session<'_>) -> Result<Solution, LearnError> {
        let (features, targets) = (sums.features(), sums.targets());
        let fit = LinearFit { weights: Matrix::zeros(features, targets), intercepts: vec![0.0; targets] };
        let mut all = Solution { fit, residual: 0.0, effective_dimension: f64::INFINITY };
        for (lambda, group) in targets_by_lambda(&self.lambda, targets) {
            let factor = sums.factor(lambda, self.intercept(), session)?;
            let fit = factor.fit(session)?;
            all.residual = all.residual.max(factor.residual(&fit));
            all.take(&fit, factor.effective_dimension(session)?, &group);
        }
        Ok(all)
    }

    /// What the sums are solved with.
    pub(crate) fn intercept(&self) -> Intercept {
        if self.bias == Bias::None { Intercept::None } else { Intercept::Unpenalised }
    }

    /// The errors on samples held out, by a fit that has not seen them: `held_out` are their sums, `solution` is that of
    /// the others.
    ///
    /// # Errors
    /// Where the fit is of other features or targets.
    pub fn held_out(
        &self,
        solution: &Solution,
        held_out: &NormalEquations,
    ) -> Result<Vec<TargetError>, LearnError> {
        let squares = held_out.squared_errors(&solution.fit)?;
        let spreads = held_out.target_spreads();
        let of_target = |(squares, spread): (f64, f64)| TargetError {
            rows: held_out.rows(),
            rmse: (squares / held_out.weight()).sqrt(),
            r2: (spread > 0.0).then(|| 1.0 - squares / spread),
        };
        Ok(squares.into_iter().zip(spreads).map(of_target).collect())
    }
}

impl Prepared {
    /// The predictor of a linear function of the features.
    pub(super) fn predictor(&self, fit: LinearFit, columns: usize) -> Predictor {
        Predictor::on_features(self.features.clone(), columns, fit.weights, fit.intercepts, self.domain)
    }
}

impl Solution {
    /// Takes the answer of some targets, which share one λ. The larger λ is, the smaller the effective dimension.
    pub(super) fn take(&mut self, fit: &LinearFit, effective_dimension: f64, targets: &[usize]) {
        self.effective_dimension = self.effective_dimension.min(effective_dimension);
        for &o in targets {
            self.fit.intercepts[o] = fit.intercepts[o];
            (0..fit.weights.nrows()).for_each(|k| self.fit.weights.row_mut(k)[o] = fit.weights.row(k)[o]);
        }
    }
}

//! Least mean squares with a kernel: gradient descent on ½ Σᵢ (yᵢ − f(xᵢ))² over f = Σᵢ βᵢ k(xᵢ, ·) (+ b).
//!
//! ```text
//! bias none      β := β + α(y − Kβ)
//! bias centred   the same with HKH for K and Hy for y, H = I − 11ᵀ/n; then a = Hβ and b = ȳ − (1/n)1ᵀKa, which is the
//!                unpenalised intercept of ridge regression as λ → 0
//! bias column    X and y are centred and 1 is added to the kernel
//! ```
//!
//! There is no penalty: it is the number of steps that keeps f smooth, since components along small eigenvalues of K
//! come last. The steps and their theory: [`solve::descent`](crate::solve::descent).

use serde::{Deserialize, Serialize};

use crate::data::{AnySamples, Matrix};
use crate::gram::{DenseGram, Gram, Resident, Wanted};
use crate::kernel::{Expr, Kernel};
use crate::model::{Expansion, subtract};
use crate::session::Session;
use crate::solve::Report;
use crate::solve::descent::{CurvePoint, Descended, Descent, DescentError, Dual, Mode, Step};

use super::admission::Admission;
use super::error::LearnError;
use super::ridge::{Bias, column_means, explain};
use super::targets;

/// Least mean squares with a kernel: its hyper-parameters.
#[derive(Debug, Clone, PartialEq)]
pub struct Lms {
    /// The kernel, with every hyper-parameter a number.
    pub kernel: Kernel,
    /// α.
    pub step: Step,
    /// Passes over the data at most, 1 or more.
    pub epochs: usize,
    /// The work ends when ‖K(y − Kβ)‖ ≤ tol·‖Ky‖; 0 or more.
    pub tol: f64,
    /// All samples a step, or one.
    pub mode: Mode,
    /// What is done about a constant.
    pub bias: Bias,
    /// Whether the kernel must be proven to be one.
    pub admission: Admission,
}

/// How the kernel matrix was had.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum GramStorage {
    /// Computed once and kept.
    Stored,
    /// Computed in every pass, tile by tile.
    Tiled,
    /// Not at all: the features were given.
    Unused,
}

/// How a descent went.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LmsReport {
    /// Status, epochs as iterations, and ‖y − f‖/‖y‖ (of the centred targets, where they are).
    #[serde(flatten)]
    pub report: Report,
    /// α, as it was used.
    pub step: f64,
    /// Whether the kernel matrix was stored.
    pub gram: GramStorage,
    /// Training error and gradient after some of the epochs, 200 points at most.
    pub curve: Vec<CurvePoint>,
}

/// What least mean squares finds on a kernel matrix: f(xⱼ) = Σᵢ aᵢ k(xᵢ, xⱼ) + b for each target.
#[derive(Debug, Clone, PartialEq)]
pub struct LmsCoefficients {
    /// a, one column per target.
    pub dual: Matrix<f64>,
    /// b, one per target.
    pub intercepts: Vec<f64>,
    /// How the descent went.
    pub report: LmsReport,
}

impl Lms {
    /// 200 batch steps at most, of a size chosen by itself, with an unpenalised intercept.
    #[must_use]
    pub fn new(kernel: Kernel) -> Self {
        Self {
            kernel,
            step: Step::Auto,
            epochs: 200,
            tol: 1e-6,
            mode: Mode::Batch,
            bias: Bias::Centred,
            admission: Admission::Check,
        }
    }

    /// Fits `targets` (one row per sample, one column per target).
    ///
    /// O(n²) time an epoch and O(n²) memory where the kernel matrix fits the budget, O(n²d) an epoch and O(n) memory
    /// otherwise.
    ///
    /// # Errors
    /// Where the input does not line up, a setting is out of its range, the step is too large, or the session asks to stop.
    pub fn fit(
        &self,
        samples: &AnySamples<'_>,
        targets: &Matrix<f64>,
        session: &Session<'_>,
    ) -> Result<(Expansion, LmsReport), LearnError> {
        let (rows, columns) = (samples.nrows(), samples.ncols());
        if rows == 0 || columns == 0 {
            return Err(LearnError::Empty { rows, columns });
        }
        targets::check(rows, targets)?;
        self.kernel.check_columns(columns)?;
        let mut kernel = self.kernel.clone();
        let mut shift = None;
        let mut centres = samples.view();
        if self.bias == Bias::Column {
            let means = column_means(samples, None)?;
            centres = subtract(samples, &means);
            shift = Some(means);
            kernel = Kernel::sum(&[kernel, Kernel::from_expr(Expr::Number(1.0))])?;
        }
        let admitted = self.admission.decide(&kernel, &centres)?;
        let resident = session.load(&centres)?;
        let (gram, storage) = self.gram(&*resident, &kernel, &centres, session)?;
        let found = self.descend(&*gram, targets, storage, session)?;
        let LmsCoefficients { dual, intercepts, mut report } = found;
        report.report.warnings.extend(admitted.warning);
        let centres = centres.into_owned();
        Ok((
            Expansion { kernel, domain: admitted.domain, centres, shift, coefficients: dual, intercepts },
            report,
        ))
    }

    /// Fits on a kernel matrix, precomputed or not; `kernel`, `admission` and `memory` do not matter.
    ///
    /// # Errors
    /// As [`fit`](Self::fit); `bias: Column` needs the samples themselves and is refused here.
    pub fn fit_gram(
        &self,
        gram: &dyn Gram,
        targets: &Matrix<f64>,
        session: &Session<'_>,
    ) -> Result<LmsCoefficients, LearnError> {
        targets::check(gram.nrows(), targets)?;
        if self.bias == Bias::Column {
            return Err(LearnError::Unsupported(
                "bias = column centres the samples, which a kernel matrix hides",
            ));
        }
        self.descend(gram, targets, GramStorage::Stored, session)
    }

    /// The kernel matrix, stored in the precision of the samples where the budget allows it.
    fn gram<'a>(
        &self,
        resident: &'a dyn Resident,
        kernel: &Kernel,
        samples: &AnySamples<'_>,
        session: &Session<'_>,
    ) -> Result<(Box<dyn Gram + 'a>, GramStorage), LearnError> {
        let single = matches!(samples, AnySamples::F32(_));
        let n = samples.nrows() as u64;
        let needed = n.saturating_mul(n).saturating_mul(if single { 4 } else { 8 });
        if needed > session.memory() {
            return Ok((resident.gram(kernel, Wanted::Exact)?, GramStorage::Tiled));
        }
        let gram: Box<dyn Gram + 'a> = if single {
            Box::new(DenseGram::<f32>::compute(resident, kernel, session)?)
        } else {
            Box::new(DenseGram::<f64>::compute(resident, kernel, session)?)
        };
        Ok((gram, GramStorage::Stored))
    }

    fn descend(
        &self,
        gram: &dyn Gram,
        targets: &Matrix<f64>,
        storage: GramStorage,
        session: &Session<'_>,
    ) -> Result<LmsCoefficients, LearnError> {
        let (aims, means) = match self.bias {
            Bias::None => (targets.clone(), vec![0.0; targets.ncols()]),
            Bias::Centred | Bias::Column => targets::centred(targets),
        };
        let dual = match self.bias {
            Bias::Centred => Dual::centred(gram, session)?,
            Bias::None | Bias::Column => Dual::new(gram),
        };
        let settings = Descent { step: self.step, epochs: self.epochs, tol: self.tol, mode: self.mode };
        let descended = settings.run(&dual, &aims, session).map_err(|error| match error {
            DescentError::NotFinite => explain(gram, error.into()),
            _ => error.into(),
        })?;
        let report = LmsReport::new(&descended, &aims, self.mode, storage);
        let (dual, intercepts) = dual.expand(descended.unknown, &means);
        Ok(LmsCoefficients { dual, intercepts, report })
    }
}

impl LmsReport {
    pub(super) fn new(descended: &Descended, aims: &Matrix<f64>, mode: Mode, gram: GramStorage) -> Self {
        let columns = aims.ncols();
        let square =
            |m: &Matrix<f64>, j: usize| m.entries().iter().skip(j).step_by(columns).map(|v| v * v).sum();
        let ratio = |j: usize| -> f64 {
            let (left, whole): (f64, f64) = (square(&descended.residual, j), square(aims, j));
            if whole > 0.0 { (left / whole).sqrt() } else { left.sqrt() }
        };
        let solver = match mode {
            Mode::Batch => "lms, batch",
            Mode::Stochastic { .. } => "lms, one sample at a time",
        };
        Self {
            report: Report {
                status: descended.status,
                solver: solver.into(),
                iterations: descended.epochs,
                residual: (0..columns).map(ratio).fold(0.0, f64::max),
                warnings: Vec::new(),
            },
            step: descended.step,
            gram,
            curve: descended.curve.clone(),
        }
    }
}

//! Least mean squares: gradient descent on ½ Σᵢ (yᵢ − f(xᵢ))².
//!
//! ```text
//! kernel     f = Σᵢ βᵢ k(xᵢ, ·) (+ b):   β := β + α(y − Kβ)
//! features   f = ⟨θ, φ(·)⟩ (+ b):        θ := θ + αΦᵀ(y − Φθ), the same steps for the kernel ⟨φ(x), φ(z)⟩
//!
//! bias none      b = 0
//! bias centred   the same with HKH for K and Hy for y, H = I − 11ᵀ/n; then a = Hβ and b = ȳ − (1/n)1ᵀKa, which is the
//!                unpenalised intercept of ridge regression as λ → 0
//! bias column    X and y are centred and 1 is added to the kernel
//! ```
//!
//! There is no penalty: the number of steps controls the smoothness of f, since components along small eigenvalues of K
//! converge last. The steps and their theory: [`solve::descent`](crate::solve::descent).

use serde::{Deserialize, Serialize};

use crate::data::{AnySamples, Matrix, Number};
use crate::design::{Design, FeatureMap, Held};
use crate::gram::{DenseGram, Gram, Resident, Values, Wanted};
use crate::kernel::Kernel;
use crate::linalg::Intercept;
use crate::model::{Facts, Linear, Method};
use crate::session::Session;
use crate::solve::Report;
use crate::solve::SolveError;
use crate::solve::descent::{Descended, Descent, Dual, Mode, Primal, Step};

use super::basis::Basis;
use super::error::LearnError;
use super::fitted::{Answer, Fitted};
use super::kernel_check::KernelCheck;
use super::learner::{Learner, Requires};
use super::lift::Lift;
use super::problem::{Inputs, Problem};
use super::ridge::explain;
use super::settings::{builder, kept};
use super::targets;

/// Least mean squares: its settings.
///
/// The facts of a fit are `step`, the α that was used; `epochs_run`; `gram`, whether the kernel matrix was `stored`, computed
/// in every pass (`tiled`) or `unused`; and `curve`, the training error and gradient after at most 200 of the epochs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct Lms {
    /// The kernel or the features.
    #[serde(flatten)]
    pub lift: Lift,
    /// α.
    pub step: Step,
    /// The most passes over the data, 1 or more.
    pub epochs: usize,
    /// Training stops when ‖K(y − Kβ)‖ ≤ tol·‖Ky‖; 0 or more.
    #[serde(with = "crate::data::number")]
    pub tol: f64,
    /// The samples of a step.
    pub solver: LmsSolver,
    /// The intercept; [`Intercept::Column`] is for kernels on samples.
    #[serde(rename = "bias")]
    pub intercept: Intercept,
    /// Whether the kernel must be proven positive semidefinite.
    #[serde(alias = "admission")]
    pub kernel_check: KernelCheck,
}

/// The samples of a step of least mean squares.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum LmsSolver {
    /// All of them.
    #[default]
    Batch,
    /// One; every epoch visits all of them in a new order, which the seed of the session determines.
    Sgd,
}

impl Lms {
    /// Creates a learner on a kernel, with the defaults of [`on`](Self::on).
    #[must_use]
    pub fn new(kernel: Kernel) -> Self {
        Self::on(kernel)
    }

    /// Creates a learner that makes at most 200 batch steps of an automatic size, with an unpenalised intercept.
    #[must_use]
    pub fn on(lift: impl Into<Lift>) -> Self {
        Self {
            lift: lift.into(),
            step: Step::Auto,
            epochs: 200,
            tol: 1e-6,
            solver: LmsSolver::Batch,
            intercept: Intercept::Centred,
            kernel_check: KernelCheck::Check,
        }
    }

    builder! {
        step: Step,
        epochs: usize,
        tol: f64,
        solver: LmsSolver,
        intercept: Intercept,
        kernel_check: KernelCheck,
    }

    /// O(n²) time an epoch and O(n²) memory where the kernel matrix fits the budget, O(n²d) an epoch and O(n) memory otherwise.
    fn on_kernel(
        &self,
        kernel: &Kernel,
        problem: &Problem<'_>,
        session: &Session<'_>,
    ) -> Result<Answer, LearnError> {
        let targets = problem.numbers()?;
        let basis = Basis::new(kernel, self.intercept, self.kernel_check, problem, session)?;
        let (dual, intercepts, found) = match problem.inputs {
            Inputs::Gram(gram) => self.descend(gram, targets, "stored", session)?,
            Inputs::Samples(_) | Inputs::Stream(_) => {
                let resident = session.load(&basis.centres)?;
                match stored(&*resident, &basis, session)? {
                    Some(gram) => self.descend(&*gram, targets, "stored", session)?,
                    None => {
                        let gram = resident.gram(&basis.kernel, Wanted::Exact)?;
                        self.descend(&*gram, targets, "tiled", session)?
                    }
                }
            }
        };
        Ok(Answer { facts: found.facts, ..basis.answer(dual, intercepts, found.report) })
    }

    fn descend(
        &self,
        gram: &dyn Gram,
        targets: &Matrix<f64>,
        storage: &'static str,
        session: &Session<'_>,
    ) -> Result<(Matrix<f64>, Vec<f64>, Course), LearnError> {
        let (aims, means) = match self.intercept {
            Intercept::None => (targets.clone(), vec![0.0; targets.ncols()]),
            Intercept::Centred | Intercept::Column => targets::centred(targets, None),
        };
        let dual = match self.intercept {
            Intercept::Centred => Dual::centred(gram, session)?,
            Intercept::None | Intercept::Column => Dual::new(gram),
        };
        let descended = self.descent(session).run(&dual, &aims, session).map_err(|error| match error {
            SolveError::NotFinite => explain(gram, error.into()),
            _ => error.into(),
        })?;
        let course = self.course(&descended, &aims, storage);
        let (dual, intercepts) = dual.expand(descended.unknown, &means);
        Ok((dual, intercepts, course))
    }

    /// O(nD) time an epoch and O(nD) memory for D features.
    fn on_features(
        &self,
        map: &FeatureMap,
        problem: &Problem<'_>,
        session: &Session<'_>,
    ) -> Result<Answer, LearnError> {
        let (samples, targets) = (problem.samples()?, problem.numbers()?);
        if self.intercept == Intercept::Column {
            return Err(LearnError::Unsupported(
                "bias = column is not for explicit features; use centred or none",
            ));
        }
        let design = Held::from(Values::F64(map.transform(samples, session)?));
        let primal = Primal::new(&design, self.intercept == Intercept::Centred, session)?;
        let (aims, means) = match self.intercept {
            Intercept::Centred => targets::centred(targets, None),
            _ => (targets.clone(), vec![0.0; targets.ncols()]),
        };
        let descended = match self.descent(session).run(&primal, &aims, session) {
            Ok(descended) => descended,
            Err(SolveError::Stopped(_)) => return Err(primal.failure().into()),
            Err(SolveError::NotFinite) => {
                check_finite(&design, session)?;
                return Err(SolveError::NotFinite.into());
            }
            Err(error) => return Err(error.into()),
        };
        let Course { report, facts } = self.course(&descended, &aims, "unused");
        let intercepts = primal.intercepts(&descended.unknown, &means);
        let (map, columns, weights) = (map.clone().into(), samples.ncols(), descended.unknown);
        let linear = Linear { map, columns, shift: None, weights, intercepts };
        Ok(Answer { facts, ..Answer::new(linear, report) })
    }

    fn descent(&self, session: &Session<'_>) -> Descent {
        let mode = match self.solver {
            LmsSolver::Batch => Mode::Batch,
            LmsSolver::Sgd => Mode::Stochastic { seed: session.seed() },
        };
        Descent { step: self.step, epochs: self.epochs, tol: self.tol, mode }
    }

    /// The report of a descent. The residual is ‖y − f‖/‖y‖, with centred targets if there is an intercept.
    fn course(&self, descended: &Descended, aims: &Matrix<f64>, storage: &'static str) -> Course {
        let columns = aims.ncols();
        let square =
            |m: &Matrix<f64>, j: usize| m.entries().iter().skip(j).step_by(columns).map(|v| v * v).sum();
        let ratio = |j: usize| -> f64 {
            let (left, whole): (f64, f64) = (square(&descended.residual, j), square(aims, j));
            if whole > 0.0 { (left / whole).sqrt() } else { left.sqrt() }
        };
        let solver = match self.solver {
            LmsSolver::Batch => "lms, batch",
            LmsSolver::Sgd => "lms, one sample at a time",
        };
        let residual = (0..columns).map(ratio).fold(0.0, f64::max);
        let report = Report::new(descended.status, solver, descended.epochs, residual);
        let facts = Facts::new()
            .with("step", Number(descended.step))
            .with("epochs_run", descended.epochs)
            .with("gram", storage)
            .with("curve", &descended.curve);
        Course { report, facts }
    }
}

/// The facts of a descent.
struct Course {
    report: Report,
    facts: Facts,
}

impl Default for Lms {
    fn default() -> Self {
        Self::on(Lift::default())
    }
}

impl Learner for Lms {
    fn method(&self) -> Method {
        Method::Lms
    }

    fn requires(&self) -> Requires {
        Requires::Numbers
    }

    fn settings(&self, session: &Session<'_>) -> Facts {
        kept(self, &["bias", "epochs", "solver", "tol"], Some(session.seed()))
    }

    fn train(&self, problem: &Problem<'_>, session: &Session<'_>) -> Result<Fitted, LearnError> {
        problem.unweighted()?;
        let answer = match &self.lift {
            Lift::Kernel(kernel) => self.on_kernel(kernel, problem, session)?,
            Lift::Features(map) => self.on_features(map, problem, session)?,
            Lift::Approximate { .. } | Lift::Auto(_) => {
                return Err(LearnError::Unsupported("least mean squares has no approximate features"));
            }
        };
        Ok(Fitted::new(self, problem, session, answer))
    }
}

/// The kernel matrix in the precision of the samples; `None` if it does not fit the budget.
fn stored<'a>(
    resident: &'a dyn Resident,
    basis: &Basis<'_>,
    session: &Session<'_>,
) -> Result<Option<Box<dyn Gram + 'a>>, LearnError> {
    let single = matches!(basis.centres, AnySamples::F32(_));
    let n = basis.centres.nrows() as u64;
    let needed = n.saturating_mul(n).saturating_mul(if single { 4 } else { 8 });
    if needed > session.memory() {
        return Ok(None);
    }
    Ok(Some(if single {
        Box::new(DenseGram::<f32>::compute(resident, &basis.kernel, session)?)
    } else {
        Box::new(DenseGram::<f64>::compute(resident, &basis.kernel, session)?)
    }))
}

/// Checks that all features are finite.
fn check_finite(design: &dyn Design, session: &Session<'_>) -> Result<(), LearnError> {
    let (width, mut bad) = (design.ncols(), None);
    design.blocks(256, session, &mut |rows, phi| {
        let at = phi.iter().position(|f| !f.is_finite());
        bad = bad.or(at.map(|at| (rows.start + at / width, phi[at])));
        Ok(())
    })?;
    bad.map_or(Ok(()), |(row, value)| Err(LearnError::NonFinite { what: "feature", row, value }))
}

//! Kernel ridge regression on landmarks: as many coefficients as landmarks, whatever the number of samples.

use crate::data::{AnySamples, Matrix};
use crate::features::{KernelFeatures, Landmarks, Nystrom};
use crate::kernel::Kernel;
use crate::model::Expansion;
use crate::session::Session;
use crate::solve::{CgProblem, ConjugateGradient, Report, RestrictedNormal, RestrictedPreconditioner};

use super::admission::Admission;
use super::error::LearnError;
use super::ridge::Bias;

/// Ridge regression among the functions Σⱼ aⱼ k(cⱼ, ·) of M landmarks cⱼ, by conjugate gradients: Falkon (Rudi, Carratino
/// and Rosasco 2017).
///
/// The same answer as ridge regression on [`Nystrom`] features, without the nM² operations of their normal equations:
/// O(nMd) time a step, O(M²) memory.
#[derive(Debug, Clone, PartialEq)]
pub struct RestrictedRidge {
    /// The kernel, with every hyper-parameter a number.
    pub kernel: Kernel,
    /// λ > 0.
    pub lambda: f64,
    /// M.
    pub landmarks: usize,
    /// How landmarks are chosen; uniform ones suit the preconditioner best.
    pub choice: Landmarks,
    /// What is done about a constant; not [`Bias::Column`].
    pub bias: Bias,
    /// Whether the kernel must be proven to be one.
    pub admission: Admission,
    /// The stopping rule.
    pub solver: ConjugateGradient,
}

impl RestrictedRidge {
    /// With this kernel, λ and number of uniform landmarks, an unpenalised intercept and everything else by itself.
    #[must_use]
    pub fn new(kernel: Kernel, lambda: f64, landmarks: usize) -> Self {
        Self {
            kernel,
            lambda,
            landmarks,
            choice: Landmarks::Uniform,
            bias: Bias::Centred,
            admission: Admission::Check,
            solver: ConjugateGradient::default(),
        }
    }

    /// Fits `targets` (one row per sample, one column per target).
    ///
    /// # Errors
    /// Where the input does not line up, where λ is not positive, where landmarks cannot be had, and where the session asks to
    /// stop.
    pub fn fit(
        &self,
        samples: &AnySamples<'_>,
        targets: &Matrix<f64>,
        weights: Option<&[f64]>,
        session: &Session<'_>,
    ) -> Result<(Expansion, Report), LearnError> {
        super::iterative::validate(
            super::iterative::Given {
                kernel: &self.kernel,
                lambda: self.lambda,
                bias: self.bias,
                solver: self.solver,
            },
            samples,
            targets,
            weights,
        )?;
        let admitted = self.admission.decide(&self.kernel, samples)?;
        let nystrom =
            Nystrom::fit(&self.kernel, samples, self.landmarks, self.choice, session.seed(), session)?;
        let (queries, centres) = (session.load(samples)?, session.load(nystrom.landmarks())?);
        let (forward, backward) =
            (queries.cross(&self.kernel, &*centres)?, centres.cross(&self.kernel, &*queries)?);
        let operator = RestrictedNormal {
            forward: &*forward,
            backward: &*backward,
            lower: nystrom.whitening(),
            lambda: self.lambda,
            weights,
            centred: self.bias == Bias::Centred,
        };
        let total = weights.map_or(samples.nrows() as f64, |w| w.iter().sum());
        let preconditioner = RestrictedPreconditioner::new(
            nystrom.whitening(),
            nystrom.features(),
            total,
            self.lambda,
            session,
        )?;
        let rhs = operator.transposed(targets, session)?;
        let problem = CgProblem {
            coarse: None,
            operator: &operator,
            exact: None,
            rhs: &rhs,
            preconditioner: &preconditioner,
        };
        let (beta, mut report) = self.solver.solve(&problem, session)?;
        report.warnings.extend(admitted.warning);
        let coefficients = operator.coefficients(&beta);
        let mut intercepts = vec![0.0; targets.ncols()];
        if self.bias == Bias::Centred {
            let mut values = Matrix::zeros(samples.nrows(), targets.ncols());
            operator.forward.apply(&mut values, &coefficients, session)?;
            let (y, f) = (operator.means(targets), operator.means(&values));
            intercepts.iter_mut().zip(y.iter().zip(&f)).for_each(|(b, (y, f))| *b = y - f);
        }
        let (kernel, centres) = (self.kernel.clone(), nystrom.landmarks().clone());
        Ok((
            Expansion { kernel, domain: admitted.domain, centres, shift: None, coefficients, intercepts },
            report,
        ))
    }
}

//! Kernel ridge regression on landmarks: as many coefficients as landmarks, whatever the number of samples.

use crate::data::{AnySamples, Matrix};
use crate::design::{
    Crossed, Design, LandmarkChoice, Landmarks, Recomputed, RowFeatures, column_means, subtract_and_weight,
};
use crate::kernel::Kernel;
use crate::model::Expansion;
use crate::session::Session;
use crate::solve::{CgError, CgProblem, ConjugateGradient, FalkonPreconditioner, NormalOperator, Report};

use super::admission::Admission;
use super::error::LearnError;
use super::ridge::Bias;

/// Ridge regression among the functions Σⱼ aⱼ k(cⱼ, ·) of M landmarks cⱼ, by conjugate gradients: Falkon (Rudi, Carratino
/// and Rosasco 2017).
///
/// The same answer as ridge regression on [`Landmarks`] features, without the nM² operations of their normal equations:
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
    pub choice: LandmarkChoice,
    /// What is done about a constant; not [`Bias::Column`].
    pub bias: Bias,
    /// Whether the kernel must be proven to be one.
    pub admission: Admission,
    /// The stopping rule.
    pub solver: ConjugateGradient,
}

impl RestrictedRidge {
    /// Creates a ridge learner with this kernel, λ and number of uniform landmarks, and an unpenalised intercept; other settings
    /// take their defaults.
    #[must_use]
    pub fn new(kernel: Kernel, lambda: f64, landmarks: usize) -> Self {
        Self {
            kernel,
            lambda,
            landmarks,
            choice: LandmarkChoice::Uniform,
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
        let landmarks = Landmarks::fit(&self.kernel, samples, self.landmarks, self.choice, session)?;
        let (queries, centres) = (session.load(samples)?, session.load(landmarks.landmarks())?);
        let (forward, backward) =
            (queries.cross(&self.kernel, &*centres)?, centres.cross(&self.kernel, &*queries)?);
        let rows = Recomputed::new(RowFeatures::Landmarks(&landmarks, session), samples)?;
        let centred = self.bias == Bias::Centred;
        let design = Crossed::new(&rows, &landmarks, &*forward, &*backward).centred(centred);
        let means = |v: &Matrix<f64>| {
            if centred { column_means(v, weights) } else { vec![0.0; v.ncols()] }
        };
        let target_means = means(targets);
        let mut centred_targets = targets.clone();
        subtract_and_weight(&mut centred_targets, &target_means, weights);
        let mut rhs = Matrix::zeros(landmarks.count(), targets.ncols());
        design.apply_transposed(&centred_targets, &mut rhs, session)?;
        let total = weights.map_or(samples.nrows() as f64, |w| w.iter().sum());
        let (whitening, count) = (landmarks.whitening(), landmarks.count());
        let preconditioner = FalkonPreconditioner::new(whitening, count, total, self.lambda, session)?;
        let operator = NormalOperator::new(&design, weights, None, self.lambda);
        let problem = CgProblem {
            coarse: None,
            operator: &operator,
            exact: None,
            rhs: &rhs,
            preconditioner: &preconditioner,
        };
        let (beta, mut report) = match self.solver.solve(&problem, session) {
            Err(CgError::Stopped(_)) => return Err(operator.failure().into()),
            solved => solved?,
        };
        report.warnings.extend(admitted.warning);
        let mut intercepts = target_means;
        if centred {
            let mut values = Matrix::zeros(samples.nrows(), targets.ncols());
            design.apply(&beta, &mut values, session)?;
            intercepts.iter_mut().zip(means(&values)).for_each(|(b, f)| *b -= f);
        }
        let coefficients = landmarks.coefficients(beta);
        let (kernel, centres) = (self.kernel.clone(), landmarks.landmarks().clone());
        Ok((
            Expansion { kernel, domain: admitted.domain, centres, shift: None, coefficients, intercepts },
            report,
        ))
    }
}

//! Ridge regression on landmarks: as many coefficients as landmarks, whatever the number of samples.

use crate::data::Matrix;
use crate::design::{
    Crossed, Design, LandmarkChoice, Landmarks, Recomputed, RowFeatures, column_means, subtract_and_weight,
};
use crate::kernel::Kernel;
use crate::model::{Expansion, Facts};
use crate::session::Session;
use crate::solve::{CgProblem, FalkonPreconditioner, NormalOperator, SolveError};

use super::super::error::LearnError;
use super::super::fitted::Answer;
use super::super::problem::Problem;
use super::{Intercept, Ridge};

impl Ridge {
    /// The fit among the functions Σⱼ aⱼ k(cⱼ, ·) of M landmarks cⱼ, by conjugate gradients: Falkon (Rudi, Carratino and Rosasco
    /// 2017).
    ///
    /// The same answer as on [`Landmarks`] features, without the nM² operations of their normal equations: O(nMd) time a step,
    /// O(M²) memory. Uniform landmarks suit the preconditioner best.
    pub(super) fn on_landmarks(
        &self,
        kernel: &Kernel,
        (count, choice): (usize, LandmarkChoice),
        problem: &Problem<'_>,
        session: &Session<'_>,
    ) -> Result<Answer, LearnError> {
        let (samples, targets, weights) = (problem.samples()?, problem.numbers()?, problem.weights());
        let (lambda, solver) = self.stopping_rule()?;
        let admitted = self.admission.decide(kernel, samples)?;
        let landmarks = Landmarks::fit(kernel, samples, count, choice, session)?;
        let (queries, centres) = (session.load(samples)?, session.load(landmarks.landmarks())?);
        let (forward, backward) = (queries.cross(kernel, &*centres)?, centres.cross(kernel, &*queries)?);
        let rows = Recomputed::new(RowFeatures::Landmarks(&landmarks, session), samples)?;
        let centred = self.intercept == Intercept::Centred;
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
        let preconditioner = FalkonPreconditioner::new(whitening, count, total, lambda, session)?;
        let operator = NormalOperator::new(&design, weights, None, lambda);
        let problem = CgProblem {
            coarse: None,
            operator: &operator,
            exact: None,
            rhs: &rhs,
            preconditioner: &preconditioner,
        };
        let (beta, mut report) = match solver.solve(&problem, session) {
            Err(SolveError::Stopped(_)) => return Err(operator.failure().into()),
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
        let (kernel, centres) = (kernel.clone(), landmarks.landmarks().clone());
        let facts = Facts::new().with("iterations", report.iterations);
        let expansion =
            Expansion { kernel, domain: admitted.domain, centres, shift: None, coefficients, intercepts };
        Ok(Answer { facts, ..Answer::new(expansion, report) })
    }
}

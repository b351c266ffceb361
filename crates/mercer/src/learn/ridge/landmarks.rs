//! Ridge regression on landmarks: one coefficient per landmark, for any number of samples.

use crate::data::{AnySamples, Matrix};
use crate::design::{LandmarkChoice, LandmarkFactor};
use crate::gram::LinearOperator;
use crate::kernel::Kernel;
use crate::model::{Expansion, Facts};
use crate::session::Session;
use crate::solve::{CgProblem, FalkonPreconditioner, LandmarkSystem};

use super::super::error::LearnError;
use super::super::fitted::Answer;
use super::super::problem::Problem;
use super::cg::in_double;
use super::{Intercept, Ridge};

impl Ridge {
    /// The fit among the functions Σⱼ aⱼ k(cⱼ, ·) of M landmarks cⱼ, by conjugate gradients: Falkon (Rudi, Carratino and Rosasco
    /// 2017).
    ///
    /// The same answer as on [`Landmarks`](crate::design::Landmarks) features, without the nM² operations of their normal equations: O(nMd) time a step,
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
        let checked = self.kernel_check.decide(kernel, samples)?;
        let landmarks = samples.select(&choice.choose(kernel, samples, count, session)?);
        let LandmarkFactor { factor, jitter } = LandmarkFactor::new(kernel, &landmarks, session)?;
        let total = weights.map_or(samples.nrows() as f64, |w| w.iter().sum());
        let preconditioner = FalkonPreconditioner::new(&*factor, total, lambda, session)?;
        let (queries, centres) = (session.load(samples)?, session.load(&landmarks)?);
        let (forward, backward) = (queries.cross(kernel, &*centres)?, centres.cross(kernel, &*queries)?);
        // Steps on samples in single precision are corrected by residuals in double precision.
        let exact = if matches!(samples, AnySamples::F32(_)) {
            Some((session.load(&in_double(samples))?, session.load(&in_double(&landmarks))?))
        } else {
            None
        };
        let exact = match &exact {
            Some((queries, centres)) => {
                Some((queries.cross(kernel, &**centres)?, centres.cross(kernel, &**queries)?))
            }
            None => None,
        };
        let system = LandmarkSystem {
            forward: &*forward,
            backward: &*backward,
            factor: &*factor,
            weights,
            centred: self.intercept == Intercept::Centred,
            lambda,
        };
        let exact = exact.as_ref().map(|(forward, backward)| LandmarkSystem {
            forward: &**forward,
            backward: &**backward,
            ..system
        });
        let best = exact.as_ref().unwrap_or(&system);
        let (rhs, mut intercepts) = best.right_hand_side(targets, session)?;
        let problem = CgProblem {
            coarse: None,
            operator: &system,
            exact: exact.as_ref().map(|exact| exact as &dyn LinearOperator),
            rhs: &rhs,
            preconditioner: &preconditioner,
        };
        let (beta, mut report) = solver.solve(&problem, session)?;
        report.warnings.extend(checked.warning);
        if jitter > 0.0 {
            report.warnings.push(format!(
                "some landmarks add nothing to the others: {jitter:.1e} was added to the diagonal of their kernel matrix"
            ));
        }
        let coefficients = system.coefficients(&beta, session)?;
        if system.centred {
            let mut values = Matrix::zeros(samples.nrows(), targets.ncols());
            best.forward.apply(&mut values, &coefficients, session)?;
            intercepts.iter_mut().zip(system.means(&values)).for_each(|(b, f)| *b -= f);
        }
        let (kernel, centres) = (kernel.clone(), landmarks.into_owned());
        let facts = Facts::new().with("iterations", report.iterations);
        let expansion =
            Expansion { kernel, domain: checked.domain, centres, shift: None, coefficients, intercepts };
        Ok(Answer { facts, ..Answer::new(expansion, report) })
    }
}

//! Classification: Laplace's approximation, one latent function for two classes, else one for each.

use crate::data::{Matrix, Number};
use crate::gram::{GramError, Part, Resident, Wanted};
use crate::kernel::Kernel;
use crate::model::{Expansion, Facts, GaussianClasses};
use crate::session::Session;
use crate::solve::{Laplace, MinimiseOptions, Report, SolveError, Status};

use super::super::error::LearnError;
use super::super::fitted::{Answer, Fitted};
use super::super::knn::check_features;
use super::super::problem::Problem;
use super::{Gp, has_noise, unknowns};

/// The most Newton steps to the mode.
const STEPS: usize = 100;

/// Classes of rows, to be explained by latent functions with the prior N(0, K).
struct ClassProcess<'a> {
    samples: Box<dyn Resident>,
    /// The kernel with its unknowns.
    kernel: &'a Kernel,
    codes: &'a [usize],
    classes: usize,
    /// Coefficients of the last mode, the starting point of the next search.
    last: Option<Matrix<f64>>,
}

impl ClassProcess<'_> {
    /// K and the approximation at `theta`; `None` if K is not positive semidefinite to working precision.
    fn at(
        &mut self,
        theta: &[f64],
        session: &Session<'_>,
    ) -> Result<Option<(Matrix<f64>, Laplace)>, LearnError> {
        let values: Vec<f64> = theta.iter().map(|t| t.exp()).collect();
        let gram = self.samples.gram(&self.kernel.with_values(&values)?, Wanted::Double)?;
        let n = gram.nrows();
        let mut k = Matrix::zeros(n, n);
        gram.fill(Part::Full, k.entries_mut().into(), &session.part()).map_err(GramError::from)?;
        let start = self.last.as_ref();
        match Laplace::at_mode(&k, self.codes, self.classes, start, STEPS, &session.part()) {
            Ok(laplace) => {
                self.last = Some(laplace.coefficients().clone());
                Ok(Some((k, laplace)))
            }
            Err(SolveError::NegativePivot { .. }) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    /// The approximate log marginal likelihood and its gradient.
    fn evaluate(
        &mut self,
        theta: &[f64],
        session: &Session<'_>,
    ) -> Result<Option<(f64, Vec<f64>)>, LearnError> {
        let Some((k, laplace)) = self.at(theta, session)? else { return Ok(None) };
        let weights = laplace.gradient_weights(&k, &session.part()).map_err(GramError::from)?;
        drop(k);
        let values: Vec<f64> = theta.iter().map(|t| t.exp()).collect();
        let derivatives = self.kernel.gradient(&values, self.samples.ncols())?;
        let of_kernel = self.samples.gradient(&derivatives, None)?;
        let gradient = of_kernel.contract(weights.entries(), &session.part()).map_err(GramError::from)?;
        Ok(Some((laplace.log_likelihood(), gradient)))
    }
}

impl Gp {
    /// Trains a classifier.
    pub(super) fn train_classes(
        &self,
        problem: &Problem<'_>,
        session: &Session<'_>,
    ) -> Result<Fitted, LearnError> {
        self.check_classes()?;
        problem.unweighted()?;
        let (codes, classes) = problem.codes()?;
        let samples = problem.samples()?;
        check_features(samples)?;
        let rows = samples.nrows();
        let matrices = if classes == 2 { 4 } else { classes as u64 + 5 };
        let (needed, budget) = ((rows as u64).pow(2).saturating_mul(8 * matrices), session.memory());
        LearnError::check_memory(rows, "the kernel matrices of the classes", needed, budget)?;
        self.kernel.check_columns(samples.ncols())?;
        let kernel = self.kernel.resolve_auto(&session.scales(samples))?;
        if has_noise(kernel.expr()) {
            return Err(LearnError::Unsupported(
                "a kernel with noise is for regression; classes have a likelihood of their own",
            ));
        }
        let mut unknowns = unknowns::of_kernel(&kernel, &session.scales(samples), 1.0)?;
        unknowns::begin_at(&mut unknowns, self.initial.as_deref())?;
        let values: Vec<f64> = unknowns.iter().map(|unknown| unknown.start.exp()).collect();
        kernel.gradient(&values, samples.ncols())?;
        let checked = self.kernel_check.decide(&kernel, samples)?;
        let mut process = ClassProcess {
            samples: session.load(&samples.widened())?,
            kernel: &kernel,
            codes,
            classes,
            last: None,
        };
        let options = MinimiseOptions { max_steps: self.max_iter, ..MinimiseOptions::default() };
        let learnt = self.optimum(
            &mut |theta| process.evaluate(theta, session),
            (&unknowns, self.learn && !unknowns.is_empty()),
            options,
            session,
        )?;
        let Some((_, laplace)) = process.at(&learnt.theta, session)? else {
            return Err(LearnError::Unsupported(
                "the kernel matrix is not positive semidefinite; check that the kernel is one",
            ));
        };
        let values: Vec<f64> = learnt.theta.iter().map(|t| t.exp()).collect();
        let learnt_kernel = kernel.with_values(&values)?;
        let checked = checked.settled(&learnt_kernel, samples);
        let mut warnings: Vec<String> = checked.warning.iter().cloned().collect();
        warnings.extend(learnt.warnings(&unknowns, &problem.column_names()));
        let report = Report {
            status: if laplace.converged() { learnt.status() } else { Status::OutOfIterations },
            solver: "laplace".to_owned(),
            iterations: learnt.steps(),
            residual: 0.0,
            reasons: Vec::new(),
            warnings,
        };
        let facts = Facts::new()
            .with("log_likelihood", Number(laplace.log_likelihood()))
            .with("parameters", unknowns::table(&unknowns, &learnt.theta));
        let coefficients = laplace.coefficients().clone();
        let model = GaussianClasses {
            latent: Expansion {
                kernel: learnt_kernel,
                domain: checked.domain,
                centres: samples.view().into_owned(),
                shift: None,
                intercepts: vec![0.0; coefficients.ncols()],
                coefficients,
            },
        };
        let answer = Answer { facts, ..Answer::new(model, report) };
        Ok(Fitted::new(self, problem, session, answer))
    }

    /// Rejects settings that do not apply to classification.
    fn check_classes(&self) -> Result<(), LearnError> {
        if self.noise.is_some() {
            return Err(LearnError::Unsupported("noise is a setting of regression; classification has none"));
        }
        if !self.variance {
            return Err(LearnError::Unsupported(
                "a Gaussian process classifier stores only its coefficients: leave out --no-variance",
            ));
        }
        if self.inducing.is_some() {
            return Err(LearnError::Unsupported(
                "inducing points (--approx) are for regression; classes need all rows",
            ));
        }
        if self.objective != super::GpObjective::Likelihood {
            return Err(LearnError::Unsupported("a Gaussian process for classes maximises its likelihood"));
        }
        Ok(())
    }
}

//! The result of training: support vectors, their coefficients, and reports.

use crate::data::{AnySamples, Matrix, Number, counted};
use crate::kernel::Kernel;
use crate::kernel::check::Domain;
use crate::model::{Calibration, Expansion, Facts, Pairs, Predictor};
use crate::solve::svm::SvmReport;
use crate::solve::{Report, Status};

use super::machine::Decision;

/// Trained machines, each a function Σ aₛ k(xₛ, ·) − ρ over support vectors that they share.
#[derive(Debug, Clone, PartialEq)]
pub struct Machines {
    /// The kernel, with every hyper-parameter a number.
    pub kernel: Kernel,
    /// The domain on which the kernel is proven to be positive semidefinite; `None` if that was assumed or is
    /// undecided.
    pub domain: Option<Domain>,
    /// Rows that are a support vector of any machine: class by class for pairs of classes, and ascending within.
    pub support: Vec<usize>,
    /// For pairs of classes, the number of support vectors of each class.
    pub per_class: Option<Vec<usize>>,
    /// One row per support vector. One column per machine; for pairs of classes one column less than there are classes: the
    /// coefficients of a pair (i, j) are in column j − 1 for class i's support vectors and in column i for class j's.
    pub coefficients: Matrix<f64>,
    /// ρ of each machine, for pairs of classes in the order (0, 1), (0, 2), …, (1, 2), …
    pub rho: Vec<f64>,
    /// Half the width of the tube of ν-regression.
    pub epsilon: Option<f64>,
    /// The report on each machine.
    pub reports: Vec<SvmReport>,
    /// The calibration of decisions to probabilities.
    pub calibration: Option<Calibration>,
    /// Warnings in addition to those of the reports.
    pub warnings: Vec<String>,
}

impl Machines {
    /// One machine over all rows.
    pub(super) fn single(kernel: Kernel, decision: Decision) -> Self {
        let Decision { coefficients: dense, rho, epsilon, report } = decision;
        let support: Vec<usize> = (0..dense.len()).filter(|&i| dense[i] != 0.0).collect();
        let entries = support.iter().map(|&i| dense[i]).collect();
        let coefficients = Matrix::from_entries(support.len(), 1, entries);
        Self { epsilon, ..Self::new(kernel, support, None, coefficients, vec![(rho, report)]) }
    }

    /// Machines with their ρ and reports.
    pub(super) fn new(
        kernel: Kernel,
        support: Vec<usize>,
        per_class: Option<Vec<usize>>,
        coefficients: Matrix<f64>,
        solved: Vec<(f64, SvmReport)>,
    ) -> Self {
        let (rho, reports) = solved.into_iter().unzip();
        Self {
            kernel,
            domain: None,
            support,
            per_class,
            coefficients,
            rho,
            epsilon: None,
            reports,
            calibration: None,
            warnings: Vec::new(),
        }
    }

    /// The predictor over the support vectors among the training samples.
    ///
    /// # Panics
    /// If a support vector is not a row of the samples.
    #[must_use]
    pub fn predictor(self, samples: &AnySamples<'_>) -> Predictor {
        let Self { kernel, domain, support, per_class, coefficients, rho, .. } = self;
        let centres = samples.select(&support);
        match per_class {
            Some(per_class) => Pairs { kernel, domain, centres, per_class, coefficients, rho }.into(),
            None => {
                let intercepts = rho.iter().map(|rho| -rho).collect();
                Expansion { kernel, domain, centres, shift: None, coefficients, intercepts }.into()
            }
        }
    }

    /// The sum over all machines.
    fn sum<T: std::iter::Sum>(&self, part: impl Fn(&SvmReport) -> T) -> T {
        self.reports.iter().map(part).sum()
    }

    /// The largest violation of the optimality conditions, and at most the tolerance where every machine converged.
    #[must_use]
    pub fn violation(&self) -> f64 {
        self.reports.iter().map(|report| report.violation).fold(0.0, f64::max)
    }

    /// The report on all machines together: the worst status and violation, sums of everything else.
    #[must_use]
    pub fn report(&self) -> Report {
        let worst = |a: Status, b: Status| if a == Status::Converged { b } else { a };
        let reasons = distinct(self.reports.iter().flat_map(|report| &report.reasons));
        let mut warnings = distinct(self.reports.iter().flat_map(|report| &report.warnings));
        warnings.extend_from_slice(&self.warnings);
        let (iterations, evaluations) = (self.sum(|r| r.iterations), self.sum(|r| r.evaluations));
        let epsilon = self
            .epsilon
            .map(|epsilon| match epsilon {
                0.0 | 1e-3..1e6 => format!(", ε {epsilon:.4}"),
                _ => format!(", ε {epsilon:.4e}"),
            })
            .unwrap_or_default();
        Report {
            status: self.reports.iter().map(|report| report.status).fold(Status::Converged, worst),
            solver: format!(
                "{}{epsilon}, objective {:.6}, duality gap {:.1e}, {}, {evaluations} kernel values",
                counted(self.support.len(), "support vector"),
                self.sum(|r| r.objective),
                self.sum(|r| r.gap),
                counted(iterations, "iteration"),
            ),
            iterations: usize::try_from(iterations).unwrap_or(usize::MAX),
            residual: self.violation(),
            reasons,
            warnings,
        }
    }

    /// Facts of all machines together.
    pub(super) fn facts(&self) -> Facts {
        let mut facts = Facts::new()
            .with("support_vectors", self.support.len())
            .with("violation", Number(self.violation()))
            .with("duality_gap", Number(self.sum(|r| r.gap)))
            .with("objective", Number(self.sum(|r| r.objective)))
            .with("iterations", self.sum(|r| r.iterations))
            .with("kernel_evaluations", self.sum(|r| r.evaluations));
        if let Some(epsilon) = self.epsilon {
            facts.set("epsilon", Number(epsilon));
        }
        if let Some(Calibration::Laplace { scale }) = &self.calibration {
            facts.set("error_scale", Number(*scale));
        }
        facts
    }
}

/// The distinct texts, in the order of their first occurrence.
fn distinct<'a>(texts: impl Iterator<Item = &'a String>) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    for text in texts {
        if !found.contains(text) {
            found.push(text.clone());
        }
    }
    found
}

//! The basis functions of a learner on a kernel.

use crate::data::{AnySamples, Matrix, Samples};
use crate::gram::{Gram, Wanted};
use crate::kernel::check::Domain;
use crate::kernel::{Expr, Kernel};
use crate::linalg::Intercept;
use crate::model::{Expansion, subtract};
use crate::real::Precision;
use crate::session::Session;
use crate::solve::Report;

use super::error::LearnError;
use super::fitted::Answer;
use super::kernel_check::KernelCheck;
use super::problem::{Inputs, Problem};
use super::ridge::column_means;

/// k(cᵢ, · − s) for every row cᵢ of a problem.
pub(super) struct Basis<'a> {
    /// k, not known to be indefinite, with every hyper-parameter a number.
    pub kernel: Kernel,
    /// cᵢ; the rows of the identity if the kernel matrix is given: the samples of such a model are rows of kernel
    /// values.
    pub centres: AnySamples<'a>,
    /// s.
    shift: Option<Vec<f64>>,
    /// The domain on which the kernel is proven to be positive semidefinite.
    pub domain: Option<Domain>,
    warning: Option<String>,
}

impl<'a> Basis<'a> {
    /// The basis of a problem: resolves `auto` in the kernel and checks it. With [`Intercept::Column`] the samples are centred and 1
    /// is added to the kernel.
    ///
    /// # Errors
    /// If the kernel does not fit the samples or is refuted, or if a kernel matrix comes with [`Intercept::Column`].
    pub fn new(
        kernel: &Kernel,
        intercept: Intercept,
        kernel_check: KernelCheck,
        problem: &'a Problem<'_>,
        session: &Session<'_>,
    ) -> Result<Self, LearnError> {
        if let Inputs::Gram(gram) = problem.inputs {
            if intercept == Intercept::Column {
                return Err(LearnError::Unsupported(
                    "bias = column needs the samples, not their kernel matrix",
                ));
            }
            let (kernel, centres) = (Kernel::linear(), unit_vectors(gram.nrows())?);
            return Ok(Self { kernel, centres, shift: None, domain: None, warning: None });
        }
        let samples = problem.samples()?;
        kernel.check_columns(samples.ncols())?;
        let mut kernel = kernel.resolve_auto(&session.scales(samples))?;
        let (mut centres, mut shift) = (samples.view(), None);
        if intercept == Intercept::Column {
            let means = column_means(samples, problem.weights())?;
            centres = subtract(samples, &means);
            shift = Some(means);
            kernel = Kernel::sum(&[kernel, Kernel::from_expr(Expr::Number(1.0))])?;
        }
        let checked = kernel_check.decide(&kernel, &centres)?;
        Ok(Self { kernel, centres, shift, domain: checked.domain, warning: checked.warning })
    }

    /// Calls `work` with the kernel matrix of the basis: the one given, or one whose values are computed on demand, in
    /// double precision if the matrix is factored and a factor in double precision costs no more.
    ///
    /// # Errors
    /// The errors of the work, and if the engine has no such matrix.
    pub fn with_gram<R>(
        &self,
        problem: &Problem<'_>,
        session: &Session<'_>,
        is_factored: bool,
        work: impl FnOnce(&dyn Gram) -> Result<R, LearnError>,
    ) -> Result<R, LearnError> {
        match problem.inputs {
            Inputs::Gram(gram) => work(gram),
            Inputs::Samples(_) | Inputs::Stream(_) => {
                let resident = session.load(&self.centres)?;
                let gram = resident.gram(&self.kernel, Wanted::Exact)?;
                let precise = is_factored && gram.precision() == Precision::Single && !gram.prefers_single();
                if precise { work(&*resident.gram(&self.kernel, Wanted::Double)?) } else { work(&*gram) }
            }
        }
    }

    /// Σᵢ aᵢ k(cᵢ, · − s) + b, with all the centres.
    pub fn answer(mut self, coefficients: Matrix<f64>, intercepts: Vec<f64>, mut report: Report) -> Answer {
        report.warnings.extend(self.warning.take());
        let Self { kernel, centres, shift, domain, .. } = self;
        let centres = centres.into_owned();
        Answer::new(Expansion { kernel, domain, centres, shift, coefficients, intercepts }, report)
    }

    /// The same with the centres whose coefficients are not all zero.
    pub fn sparse_answer(self, coefficients: &Matrix<f64>, intercepts: Vec<f64>, report: Report) -> Answer {
        let nonzero = |i: &usize| coefficients.row(*i).iter().any(|a| *a != 0.0);
        let used: Vec<usize> = (0..coefficients.nrows()).filter(nonzero).collect();
        let centres = self.centres.select(&used);
        let answer = Basis { centres, ..self }.answer(coefficients.select(&used), intercepts, report);
        Answer { centres: Some(used), ..answer }
    }

    /// The warning of the kernel's check, for results that are not an expansion.
    pub fn warning(&self) -> Option<String> {
        self.warning.clone()
    }
}

/// The rows of the identity.
pub(super) fn unit_vectors(n: usize) -> Result<AnySamples<'static>, LearnError> {
    let indices = (0..n).map(u32::try_from).collect::<Result<Vec<u32>, _>>();
    let indices = indices.map_err(|_| LearnError::Unsupported("a kernel matrix has fewer than 2³² rows"))?;
    let samples = Samples::sparse(n, (0..=n).collect::<Vec<usize>>(), indices, vec![1.0; n]);
    samples.map(AnySamples::F64).map_err(|_| LearnError::Empty { rows: n, columns: n })
}

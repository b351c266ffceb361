//! Support vector classification, with C and with ν.

use crate::data::AnySamples;
use crate::kernel::Kernel;
use crate::learn::admission::Admission;
use crate::learn::error::LearnError;
use crate::learn::weights::check_weights;
use crate::session::Session;
use crate::solve::svm::{BoxQp, SvmSettings};

use super::one_vs_one::{OneVsOne, Pair, one_vs_one};
use super::one_vs_rest::{OneVsRest, one_vs_rest};
use super::training::{Training, bounds, check_length, load};

/// C-classification, one machine per pair of classes: minimises ½‖w‖² + Σ Cᵢ max(0, 1 − yᵢ(⟨w, φ(xᵢ)⟩ − ρ)).
#[derive(Debug, Clone, PartialEq)]
pub struct Svc {
    /// The kernel, with every hyper-parameter a number.
    pub kernel: Kernel,
    /// C > 0: what a sample on the wrong side costs.
    pub c: f64,
    /// A factor of C for each class; none is 1.
    pub class_weight: Option<Vec<f64>>,
    /// Whether the kernel must be proven to be one.
    pub admission: Admission,
    /// How the problems are solved.
    pub settings: SvmSettings,
}

impl Svc {
    /// C-classification with this kernel and C, and everything else by itself.
    #[must_use]
    pub fn new(kernel: Kernel, c: f64) -> Self {
        Self { kernel, c, class_weight: None, admission: Admission::Check, settings: SvmSettings::default() }
    }

    /// Fits to classes given by their codes 0, 1, …, `nclasses` − 1.
    ///
    /// O(sn) kernel values for s support vectors of a pair of n rows.
    ///
    /// # Errors
    /// Where the input does not line up, a parameter is out of range, or the kernel is not one.
    pub fn fit(
        &self,
        samples: &AnySamples<'_>,
        codes: &[usize],
        nclasses: usize,
        weights: Option<&[f64]>,
        session: &Session<'_>,
    ) -> Result<OneVsOne, LearnError> {
        self.kernel.check_columns(samples.ncols())?;
        let resident = load(samples, session)?;
        self.admission.decide(&self.kernel, samples)?;
        self.fit_on(&Training::new(&*resident, &self.kernel)?, codes, nclasses, weights, session)
    }

    /// As [`fit`](Self::fit), on a matrix that is ready; the kernel is not looked at.
    ///
    /// # Errors
    /// As [`fit`](Self::fit).
    pub fn fit_on(
        &self,
        training: &Training<'_>,
        codes: &[usize],
        nclasses: usize,
        weights: Option<&[f64]>,
        session: &Session<'_>,
    ) -> Result<OneVsOne, LearnError> {
        let machine = self.machine(training, codes, nclasses, weights, session)?;
        one_vs_one(codes, nclasses, counted(weights), session, machine)
    }

    /// As [`fit_on`](Self::fit_on), with one machine for each class against all others; for two classes one, which is positive for
    /// the second.
    ///
    /// # Errors
    /// As [`fit`](Self::fit).
    pub fn fit_one_vs_rest_on(
        &self,
        training: &Training<'_>,
        codes: &[usize],
        nclasses: usize,
        weights: Option<&[f64]>,
        session: &Session<'_>,
    ) -> Result<OneVsRest, LearnError> {
        let machine = self.machine(training, codes, nclasses, weights, session)?;
        one_vs_rest(codes, nclasses, counted(weights), session, machine)
    }

    /// What tells the first of some rows, which are of one class, from those after them.
    pub(super) fn machine<'a>(
        &'a self,
        training: &'a Training<'_>,
        codes: &[usize],
        nclasses: usize,
        weights: Option<&[f64]>,
        session: &'a Session<'a>,
    ) -> Result<impl Fn(&[usize], usize) -> Result<Pair, LearnError> + Sync + 'a, LearnError> {
        check_length("classes", training.nrows(), codes.len())?;
        let c = self.bounds(self.c, codes, nclasses, weights)?;
        Ok(move |rows: &[usize], first: usize| {
            let positive: Vec<bool> = (0..rows.len()).map(|k| k < first).collect();
            let c: Vec<f64> = rows.iter().map(|&row| c[row]).collect();
            let qp = BoxQp::classify(rows, &positive, &c)?;
            let solution = training.solve(&qp, &self.settings, session)?;
            Ok(Pair { rho: solution.rho(), coefficients: solution.beta, report: solution.report })
        })
    }

    /// The bound of each row's variable: `c` times the weight of the row and that of its class.
    pub(super) fn bounds(
        &self,
        c: f64,
        codes: &[usize],
        nclasses: usize,
        weights: Option<&[f64]>,
    ) -> Result<Vec<f64>, LearnError> {
        let mut bounds = bounds(c, codes.len(), weights)?;
        if let Some(factors) = &self.class_weight {
            check_length("class weights", nclasses, factors.len())?;
            check_weights(nclasses, Some(factors))?;
            let factor = |code: usize| factors.get(code).copied().unwrap_or(1.0);
            bounds.iter_mut().zip(codes).for_each(|(bound, &code)| *bound *= factor(code));
        }
        Ok(bounds)
    }
}

/// Rows of weight 0 are not there.
pub(super) fn counted(weights: Option<&[f64]>) -> impl Fn(usize) -> bool + '_ {
    move |row| weights.is_none_or(|w| w[row] > 0.0)
}

/// ν-classification, one machine per pair of classes: ν bounds the fraction of margin errors from above and that of support
/// vectors from below (Schölkopf et al. 2000).
#[derive(Debug, Clone, PartialEq)]
pub struct NuSvc {
    /// The kernel, with every hyper-parameter a number.
    pub kernel: Kernel,
    /// ν, above 0 and at most 1, and at most what the smaller class of each pair allows.
    pub nu: f64,
    /// Whether the kernel must be proven to be one.
    pub admission: Admission,
    /// How the problems are solved.
    pub settings: SvmSettings,
}

impl NuSvc {
    /// ν-classification with this kernel and ν, and everything else by itself.
    #[must_use]
    pub fn new(kernel: Kernel, nu: f64) -> Self {
        Self { kernel, nu, admission: Admission::Check, settings: SvmSettings::default() }
    }

    /// As [`Svc::fit`].
    ///
    /// # Errors
    /// As [`Svc::fit`], and where ν is infeasible for a pair of classes.
    pub fn fit(
        &self,
        samples: &AnySamples<'_>,
        codes: &[usize],
        nclasses: usize,
        weights: Option<&[f64]>,
        session: &Session<'_>,
    ) -> Result<OneVsOne, LearnError> {
        self.kernel.check_columns(samples.ncols())?;
        let resident = load(samples, session)?;
        self.admission.decide(&self.kernel, samples)?;
        self.fit_on(&Training::new(&*resident, &self.kernel)?, codes, nclasses, weights, session)
    }

    /// As [`fit`](Self::fit), on a matrix that is ready; the kernel is not looked at.
    ///
    /// # Errors
    /// As [`fit`](Self::fit).
    pub fn fit_on(
        &self,
        training: &Training<'_>,
        codes: &[usize],
        nclasses: usize,
        weights: Option<&[f64]>,
        session: &Session<'_>,
    ) -> Result<OneVsOne, LearnError> {
        let machine = self.machine(training, codes, weights, session)?;
        one_vs_one(codes, nclasses, counted(weights), session, machine)
    }

    /// As [`Svc::fit_one_vs_rest_on`].
    ///
    /// # Errors
    /// As [`fit`](Self::fit).
    pub fn fit_one_vs_rest_on(
        &self,
        training: &Training<'_>,
        codes: &[usize],
        nclasses: usize,
        weights: Option<&[f64]>,
        session: &Session<'_>,
    ) -> Result<OneVsRest, LearnError> {
        let machine = self.machine(training, codes, weights, session)?;
        one_vs_rest(codes, nclasses, counted(weights), session, machine)
    }

    /// What tells the first of some rows, which are of one class, from those after them.
    pub(super) fn machine<'a>(
        &'a self,
        training: &'a Training<'_>,
        codes: &[usize],
        weights: Option<&'a [f64]>,
        session: &'a Session<'a>,
    ) -> Result<impl Fn(&[usize], usize) -> Result<Pair, LearnError> + Sync + 'a, LearnError> {
        let rows = training.nrows();
        check_length("classes", rows, codes.len())?;
        check_weights(rows, weights)?;
        Ok(move |rows: &[usize], first: usize| {
            // Positive samples come first, so the variables are in the order of the rows.
            let positive: Vec<bool> = (0..rows.len()).map(|k| k < first).collect();
            let w: Vec<f64> = rows.iter().map(|&row| weights.map_or(1.0, |w| w[row])).collect();
            let qp = BoxQp::nu_classify(rows, &positive, self.nu, &w)?;
            let mut solution = training.solve(&qp, &self.settings, session)?;
            // The margin is 1 in the scale of the decision function. Where it vanishes (all samples of a pair equal) there is no such
            // scale.
            let scale = match solution.margin() {
                margin if margin > 0.0 => margin.recip(),
                _ => 1.0,
            };
            solution.beta.iter_mut().for_each(|b| *b *= scale);
            solution.report.objective *= scale * scale;
            Ok(Pair { rho: solution.rho() * scale, coefficients: solution.beta, report: solution.report })
        })
    }
}

//! Support vector regression, with ε and with ν.

use crate::data::AnySamples;
use crate::kernel::Kernel;
use crate::learn::admission::Admission;
use crate::learn::error::LearnError;
use crate::session::Session;
use crate::solve::svm::{BoxQp, SvmSettings};
use crate::watch::Watch;

use super::training::{SupportVectors, Training, bounds, check_length, load};

/// ε-regression: minimises ½‖w‖² + Σ Cᵢ max(0, |zᵢ − ⟨w, φ(xᵢ)⟩ + ρ| − ε).
#[derive(Debug, Clone, PartialEq)]
pub struct Svr {
    /// The kernel, with every hyper-parameter a number.
    pub kernel: Kernel,
    /// C > 0: what a unit of error beyond the tube costs.
    pub c: f64,
    /// ε ≥ 0: half the width of the tube in which errors cost nothing.
    pub epsilon: f64,
    /// Whether the kernel must be proven to be one.
    pub admission: Admission,
    /// How the problem is solved.
    pub settings: SvmSettings,
}

impl Svr {
    /// ε-regression with this kernel, C and ε, and everything else by itself.
    #[must_use]
    pub fn new(kernel: Kernel, c: f64, epsilon: f64) -> Self {
        Self { kernel, c, epsilon, admission: Admission::Check, settings: SvmSettings::default() }
    }

    /// Fits `targets`, one per sample.
    ///
    /// O(sn) kernel values for s support vectors of n samples.
    ///
    /// # Errors
    /// Where the input does not line up, a parameter is out of range, or the kernel is not one.
    pub fn fit(
        &self,
        samples: &AnySamples<'_>,
        targets: &[f64],
        weights: Option<&[f64]>,
        session: &Session<'_>,
    ) -> Result<SupportVectors, LearnError> {
        self.kernel.check_columns(samples.ncols())?;
        let resident = load(samples, session)?;
        self.admission.decide(&self.kernel, samples)?;
        self.fit_on(&Training::new(&*resident, &self.kernel)?, targets, weights, session)
    }

    /// As [`fit`](Self::fit), on a matrix that is ready; the kernel is not looked at.
    ///
    /// # Errors
    /// As [`fit`](Self::fit).
    pub fn fit_on(
        &self,
        training: &Training<'_>,
        targets: &[f64],
        weights: Option<&[f64]>,
        session: &Session<'_>,
    ) -> Result<SupportVectors, LearnError> {
        let all: Vec<usize> = (0..training.nrows()).collect();
        session.begin("support vectors", 0);
        self.machine(training, targets, weights, session)?(&all)
    }

    /// What fits some of the rows; its support vectors are places among them.
    pub(super) fn machine<'a>(
        &'a self,
        training: &'a Training<'_>,
        targets: &'a [f64],
        weights: Option<&[f64]>,
        session: &'a Session<'a>,
    ) -> Result<impl Fn(&[usize]) -> Result<SupportVectors, LearnError> + 'a, LearnError> {
        let rows = training.nrows();
        check_length("targets", rows, targets.len())?;
        let c = bounds(self.c, rows, weights)?;
        Ok(move |rows: &[usize]| {
            let (targets, c) = (at(targets, rows), at(&c, rows));
            let qp = BoxQp::regress(rows, &targets, self.epsilon, &c)?;
            let solution = training.solve(&qp, &self.settings, session)?;
            let rho = solution.rho();
            Ok(SupportVectors::new(&solution.beta, rho, solution.report))
        })
    }
}

fn at(values: &[f64], rows: &[usize]) -> Vec<f64> {
    rows.iter().map(|&row| values[row]).collect()
}

/// A function and ε, half the width of its tube.
type WithTube = (SupportVectors, f64);

/// ν-regression: the width of the tube is found such that at most a fraction ν of the samples lies outside (Schölkopf et al.
/// 2000).
#[derive(Debug, Clone, PartialEq)]
pub struct NuSvr {
    /// The kernel, with every hyper-parameter a number.
    pub kernel: Kernel,
    /// C > 0: what a unit of error beyond the tube costs.
    pub c: f64,
    /// ν, above 0 and at most 1.
    pub nu: f64,
    /// Whether the kernel must be proven to be one.
    pub admission: Admission,
    /// How the problem is solved.
    pub settings: SvmSettings,
}

impl NuSvr {
    /// ν-regression with this kernel, C and ν, and everything else by itself.
    #[must_use]
    pub fn new(kernel: Kernel, c: f64, nu: f64) -> Self {
        Self { kernel, c, nu, admission: Admission::Check, settings: SvmSettings::default() }
    }

    /// As [`Svr::fit`]; with the function comes ε, half the width of the tube.
    ///
    /// # Errors
    /// As [`Svr::fit`].
    pub fn fit(
        &self,
        samples: &AnySamples<'_>,
        targets: &[f64],
        weights: Option<&[f64]>,
        session: &Session<'_>,
    ) -> Result<(SupportVectors, f64), LearnError> {
        self.kernel.check_columns(samples.ncols())?;
        let resident = load(samples, session)?;
        self.admission.decide(&self.kernel, samples)?;
        self.fit_on(&Training::new(&*resident, &self.kernel)?, targets, weights, session)
    }

    /// As [`fit`](Self::fit), on a matrix that is ready; the kernel is not looked at.
    ///
    /// # Errors
    /// As [`fit`](Self::fit).
    pub fn fit_on(
        &self,
        training: &Training<'_>,
        targets: &[f64],
        weights: Option<&[f64]>,
        session: &Session<'_>,
    ) -> Result<(SupportVectors, f64), LearnError> {
        let all: Vec<usize> = (0..training.nrows()).collect();
        session.begin("support vectors", 0);
        self.machine(training, targets, weights, session)?(&all)
    }

    /// What fits some of the rows; its support vectors are places among them.
    pub(super) fn machine<'a>(
        &'a self,
        training: &'a Training<'_>,
        targets: &'a [f64],
        weights: Option<&[f64]>,
        session: &'a Session<'a>,
    ) -> Result<impl Fn(&[usize]) -> Result<WithTube, LearnError> + 'a, LearnError> {
        let rows = training.nrows();
        check_length("targets", rows, targets.len())?;
        let c = bounds(self.c, rows, weights)?;
        Ok(move |rows: &[usize]| {
            let (targets, c) = (at(targets, rows), at(&c, rows));
            let qp = BoxQp::nu_regress(rows, &targets, self.nu, &c)?;
            let solution = training.solve(&qp, &self.settings, session)?;
            let (over, under) = solution.beta.split_at(rows.len());
            let net: Vec<f64> = over.iter().zip(under).map(|(a, b)| a + b).collect();
            let (rho, epsilon) = (solution.rho(), -solution.margin());
            Ok((SupportVectors::new(&net, rho, solution.report), epsilon))
        })
    }
}

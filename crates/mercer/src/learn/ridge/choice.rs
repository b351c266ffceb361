//! Choices by operation counts: primal or dual, and the approximation of a kernel.

use crate::data::AnySamples;
use crate::design::{Approximation, FeatureMap, kernel_error};
use crate::kernel::{Kernel, Spectrum};
use crate::session::Session;
use crate::solve::normal_equations_bytes;

use super::super::cost;
use super::super::error::LearnError;
use super::RidgeSolver;

/// The costs of ridge regression in primal and dual form, and the choice between them.
#[derive(Debug, Clone, PartialEq)]
pub struct FormChoice {
    /// The map to fit on; `None` for the dual.
    pub primal: Option<FeatureMap>,
    /// Multiply-adds of the dual: n²d + n³/3.
    pub dual_cost: f64,
    /// Multiply-adds of the primal, nD² + D³/3; `None` for a kernel without a finite map.
    pub primal_cost: Option<f64>,
    /// Features D; `None` if there is no finite map or they are too many to count.
    pub features: Option<u64>,
    /// The reason for the choice.
    pub reason: String,
}

impl RidgeSolver {
    /// Chooses the form for n `rows` of d `columns`: [`Auto`](Self::Auto) takes the form that fits the memory budget,
    /// and of two that do the one with fewer multiply-adds. Both give the same predictions.
    ///
    /// [`Primal`](Self::Primal) has no map only if the kernel has no finite one.
    #[must_use]
    pub fn choose(self, kernel: &Kernel, rows: usize, columns: usize, budget: u64) -> FormChoice {
        let dual_cost = cost::dual_ridge(rows, columns);
        let map = FeatureMap::of_kernel(kernel, columns);
        let features = map.as_ref().and_then(|map| map.count(columns).ok());
        let primal_cost = features.map(|count| cost::primal_ridge(rows, count));
        let choice = |primal: Option<FeatureMap>, reason: String| FormChoice {
            primal,
            dual_cost,
            primal_cost,
            features,
            reason,
        };
        let Some(map) = map else {
            return choice(None, "the kernel has no finite feature map".into());
        };
        match self {
            Self::Primal => return choice(Some(map), "the primal form was requested".into()),
            Self::Auto => {}
            Self::Dual | Self::Cholesky | Self::Mixed | Self::Cg => {
                return choice(None, "the dual form was requested".into());
            }
        }
        let (Some(count), Some(primal_cost)) = (features, primal_cost) else {
            return choice(None, format!("{map} has more features than can be counted"));
        };
        let dual_fits = cost::matrix_bytes(rows) <= budget;
        let primal_fits = normal_equations_bytes(rows, count, 1) <= budget;
        let reason = |form: &str| {
            format!(
                "{form}: {count} features for {rows} rows, {primal_cost:.1e} multiply-adds in the primal form against \
                 {dual_cost:.1e} in the dual"
            )
        };
        match (primal_fits, dual_fits) {
            (true, false) => {
                choice(Some(map), format!("primal: a matrix of {rows}² does not fit the memory budget"))
            }
            (false, _) => choice(None, format!("dual: a matrix of {count}² does not fit the memory budget")),
            (true, true) if primal_cost < dual_cost => choice(Some(map), reason("primal")),
            (true, true) => choice(None, reason("dual")),
        }
    }
}

/// The most rows for which the kernel matrix is formed if it fits.
const EXACT: u64 = 10_000;

/// The number of features of both kinds in the comparison.
const TRIED: usize = 256;

/// The number of pairs of samples in the comparison.
const PAIRS: usize = 1_000;

/// The approximation for this number of rows, of which `sample` is a part, and why; `None` if the kernel matrix is
/// small enough.
///
/// Random features and landmarks are both tried on the sample, and the kind that is closer to the kernel is taken.
///
/// # Errors
/// If the kernel does not fit the samples, or if the session is stopped.
pub fn choose_approximation(
    kernel: &Kernel,
    sample: &AnySamples<'_>,
    rows: u64,
    session: &Session<'_>,
) -> Result<Option<(Approximation, String)>, LearnError> {
    let budget = session.memory();
    if rows <= EXACT && 8 * rows * rows <= budget {
        return Ok(None);
    }
    let size = cost::affordable_features(rows, budget);
    let nystrom = Approximation::nystrom(size.min(sample.nrows()));
    if let Err(reason) = Spectrum::of(kernel, sample.ncols()) {
        return Ok(Some((nystrom, format!("landmarks, because random features cannot be used: {reason}"))));
    }
    let tried = TRIED.min(sample.nrows());
    let error = |approximation: Approximation| -> Result<f64, LearnError> {
        let features = approximation.of(kernel, sample, session)?;
        Ok(kernel_error(&features.ready(sample.ncols(), None, session)?, kernel, sample, PAIRS, session)?
            .relative)
    };
    let (random, landmarks) = (error(Approximation::fourier(TRIED))?, error(Approximation::nystrom(tried))?);
    let why = format!(
        "with {TRIED} features random ones have a kernel error of {random:.1e} on a sample, landmarks {landmarks:.1e}"
    );
    Ok(Some((if landmarks < random { nystrom } else { Approximation::fourier(size) }, why)))
}

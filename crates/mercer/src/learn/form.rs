//! Primal or dual: the same ridge regression on features or on the kernel matrix.

use crate::design::FeatureMap;
use crate::kernel::Kernel;
use crate::solve::normal_equations_bytes;

/// Which form of ridge regression is solved. Both give the same predictions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Form {
    /// The cheaper one.
    #[default]
    Auto,
    /// n coefficients, on the kernel matrix.
    Dual,
    /// One weight for each of D features, where the kernel has finitely many.
    Primal,
}

/// What ridge regression costs in either form, and the one to take.
#[derive(Debug, Clone, PartialEq)]
pub struct FormChoice {
    /// The map to fit on; none for the dual.
    pub primal: Option<FeatureMap>,
    /// Multiply-adds of the dual: n²d + n³/3.
    pub dual_cost: f64,
    /// Multiply-adds of the primal, nD² + D³/3; none for a kernel without a finite map.
    pub primal_cost: Option<f64>,
    /// Features D; none where there is no finite map or they are too many to count.
    pub features: Option<u64>,
    /// Why this form.
    pub reason: String,
}

impl Form {
    /// The form to take for n `rows` of d `columns`: the one that fits the memory budget, and of two that do the one with fewer multiply-adds.
    ///
    /// [`Primal`](Self::Primal) falls back to the dual only for a kernel that has no finite map.
    #[must_use]
    pub fn choose(self, kernel: &Kernel, rows: usize, columns: usize, budget: u64) -> FormChoice {
        let (n, d) = (rows as f64, columns as f64);
        let dual_cost = n * n * d + n * n * n / 3.0;
        let map = FeatureMap::of_kernel(kernel, columns);
        let features = map.as_ref().and_then(|map| map.count(columns).ok());
        let primal_cost = features.map(|count| {
            let count = count as f64;
            n * count * count + count * count * count / 3.0
        });
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
            Self::Dual => return choice(None, "the dual form was asked for".into()),
            Self::Primal => return choice(Some(map), "the primal form was asked for".into()),
            Self::Auto => {}
        }
        let (Some(count), Some(primal_cost)) = (features, primal_cost) else {
            return choice(None, format!("{map} has more features than can be counted"));
        };
        let dual_bytes = (rows as u64).saturating_mul(rows as u64).saturating_mul(8);
        let dual_fits = dual_bytes <= budget;
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

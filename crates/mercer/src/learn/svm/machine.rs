//! The differences between support vector machines: the quadratic program and the scale of its solution.

use serde::{Deserialize, Serialize};

use crate::learn::error::LearnError;
use crate::learn::learner::Requires;
use crate::learn::search::Shared;
use crate::model::Method;
use crate::solve::SolveError;
use crate::solve::svm::{BoxQp, Solution, SvmReport};

/// The kind of support vector machine, with its hyper-parameters.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(tag = "method", rename_all = "kebab-case")]
pub enum Machine {
    /// C-classification: minimises ½‖w‖² + Σ Cᵢ max(0, 1 − yᵢ(⟨w, φ(xᵢ)⟩ − ρ)).
    Svc {
        /// C > 0: the cost of a sample on the wrong side.
        #[serde(rename = "C", with = "crate::data::number")]
        c: f64,
    },
    /// ν-classification: ν bounds the fraction of margin errors from above and that of support vectors from below (Schölkopf
    /// et al. 2000).
    NuSvc {
        /// ν, above 0 and at most 1; the smaller class of each machine limits it further.
        #[serde(with = "crate::data::number")]
        nu: f64,
    },
    /// ε-regression: minimises ½‖w‖² + Σ Cᵢ max(0, |zᵢ − ⟨w, φ(xᵢ)⟩ + ρ| − ε).
    Svr {
        /// C > 0: the cost of a unit of error beyond the tube.
        #[serde(rename = "C", with = "crate::data::number")]
        c: f64,
        /// ε ≥ 0: half the width of the tube in which errors cost nothing.
        #[serde(with = "crate::data::number")]
        epsilon: f64,
    },
    /// ν-regression: the width of the tube is such that at most a fraction ν of the samples lies outside (Schölkopf et al.
    /// 2000).
    NuSvr {
        /// C > 0: the cost of a unit of error beyond the tube.
        #[serde(rename = "C", with = "crate::data::number")]
        c: f64,
        /// ν, above 0 and at most 1.
        #[serde(with = "crate::data::number")]
        nu: f64,
    },
    /// One-class estimation: a function that is positive on most samples; ν bounds the fraction outside from above and that
    /// of support vectors from below (Schölkopf et al. 2001).
    OneClass {
        /// ν, above 0 and at most 1.
        #[serde(with = "crate::data::number")]
        nu: f64,
    },
}

impl Machine {
    /// The machine of a method, C-classification for those that are not support vector machines. C is 1, ν is ½ and ε is 0.1
    /// where they are not given.
    #[must_use]
    pub fn of(method: Method, c: Option<f64>, nu: Option<f64>, epsilon: Option<f64>) -> Self {
        let (c, nu, epsilon) = (c.unwrap_or(1.0), nu.unwrap_or(0.5), epsilon.unwrap_or(0.1));
        match method {
            Method::NuSvc => Self::NuSvc { nu },
            Method::Svr => Self::Svr { c, epsilon },
            Method::NuSvr => Self::NuSvr { c, nu },
            Method::OneClass => Self::OneClass { nu },
            _ => Self::Svc { c },
        }
    }
}

/// The rows of one quadratic program; of a classification, the first `positive` are separated from the others.
pub(super) struct Part {
    pub rows: Vec<usize>,
    pub positive: usize,
}

/// A function Σ aᵢ k(xᵢ, ·) − ρ over the rows of a [`Part`].
pub(super) struct Decision {
    /// aᵢ for each row of the part.
    pub coefficients: Vec<f64>,
    pub rho: f64,
    /// Half the width of the tube of ν-regression.
    pub epsilon: Option<f64>,
    pub report: SvmReport,
}

impl Machine {
    /// The method's name in a model.
    #[must_use]
    pub fn method(&self) -> Method {
        match self {
            Self::Svc { .. } => Method::Svc,
            Self::NuSvc { .. } => Method::NuSvc,
            Self::Svr { .. } => Method::Svr,
            Self::NuSvr { .. } => Method::NuSvr,
            Self::OneClass { .. } => Method::OneClass,
        }
    }

    /// The targets it works on.
    #[must_use]
    pub fn requires(&self) -> Requires {
        match self {
            Self::Svc { .. } | Self::NuSvc { .. } => Requires::Classes,
            Self::Svr { .. } | Self::NuSvr { .. } => Requires::Numbers,
            Self::OneClass { .. } => Requires::Nothing,
        }
    }

    /// The hyper-parameter that is searched at each kernel: C or ν; none for one-class estimation, whose ν is the share of
    /// outliers that the user expects.
    #[must_use]
    pub fn shared(&self) -> Shared {
        match self {
            Self::Svc { .. } | Self::Svr { .. } | Self::NuSvr { .. } => Shared::Cost,
            Self::NuSvc { .. } => Shared::Nu,
            Self::OneClass { .. } => Shared::None,
        }
    }

    /// The same machine with another value of [`shared`](Self::shared).
    #[must_use]
    pub fn with_shared(self, value: f64) -> Self {
        match self {
            Self::Svc { .. } => Self::Svc { c: value },
            Self::Svr { epsilon, .. } => Self::Svr { c: value, epsilon },
            Self::NuSvr { nu, .. } => Self::NuSvr { c: value, nu },
            Self::NuSvc { .. } => Self::NuSvc { nu: value },
            Self::OneClass { nu } => Self::OneClass { nu },
        }
    }

    /// The hyper-parameter other than C that can be searched for: ε or ν of a regression.
    #[must_use]
    pub fn second(&self) -> Shared {
        match self {
            Self::Svr { .. } => Shared::Epsilon,
            Self::NuSvr { .. } => Shared::Nu,
            Self::Svc { .. } | Self::NuSvc { .. } | Self::OneClass { .. } => Shared::None,
        }
    }

    /// The same machine with another value of [`second`](Self::second).
    #[must_use]
    pub fn with_second(self, value: f64) -> Self {
        match self {
            Self::Svr { c, .. } => Self::Svr { c, epsilon: value },
            Self::NuSvr { c, .. } => Self::NuSvr { c, nu: value },
            other => other,
        }
    }

    /// The bound of a variable whose sample has the weight 1: C, and 1 for the machines without C.
    ///
    /// # Errors
    /// If C is not a finite number above 0.
    pub(super) fn bound(&self) -> Result<f64, LearnError> {
        match *self {
            Self::Svc { c } | Self::Svr { c, .. } | Self::NuSvr { c, .. } => check_cost(c),
            Self::NuSvc { .. } | Self::OneClass { .. } => Ok(1.0),
        }
    }

    /// The quadratic program over the rows of a part. `targets` and `bounds` are those of all rows.
    pub(super) fn qp(&self, part: &Part, targets: &[f64], bounds: &[f64]) -> Result<BoxQp, SolveError> {
        let rows = &part.rows;
        let at = |values: &[f64]| rows.iter().map(|&row| values[row]).collect::<Vec<f64>>();
        // Positive samples come first, so variables are in the order of the rows for both classifications.
        let sides = || (0..rows.len()).map(|k| k < part.positive).collect::<Vec<bool>>();
        let bounds = at(bounds);
        match *self {
            Self::Svc { .. } => BoxQp::classify(rows, &sides(), &bounds),
            Self::NuSvc { nu } => BoxQp::nu_classify(rows, &sides(), nu, &bounds),
            Self::Svr { epsilon, .. } => BoxQp::regress(rows, &at(targets), epsilon, &bounds),
            Self::NuSvr { nu, .. } => BoxQp::nu_regress(rows, &at(targets), nu, &bounds),
            Self::OneClass { nu } => BoxQp::one_class(rows, nu, &bounds),
        }
    }

    /// The decision function of a solution.
    ///
    /// # Errors
    /// [`SolveError::NoMargin`] if the margin of ν-classification is zero up to rounding.
    pub(super) fn scale(&self, mut solution: Solution) -> Result<Decision, SolveError> {
        let (mut rho, mut epsilon) = (solution.rho(), None);
        match *self {
            Self::NuSvc { nu } => {
                // The margin is 1 in the scale of the decision function.
                let margin = solution.margin();
                if margin.abs() <= solution.rounding {
                    return Err(SolveError::NoMargin { nu });
                }
                if margin > 0.0 && margin <= solution.report.violation {
                    solution.report.warnings.push(format!(
                        "the margin is {margin:.1e}, within the tolerance of the solver: the size of the decisions is uncertain; \
                         use a smaller tolerance"
                    ));
                }
                // Negative only if the kernel is not positive semidefinite: then there is no scale.
                let scale = if margin > 0.0 { margin.recip() } else { 1.0 };
                solution.beta.iter_mut().for_each(|b| *b *= scale);
                solution.report.objective *= scale * scale;
                rho *= scale;
            }
            Self::NuSvr { .. } => {
                epsilon = Some(-solution.margin());
                let (over, under) = solution.beta.split_at(solution.beta.len() / 2);
                solution.beta = over.iter().zip(under).map(|(a, b)| a + b).collect();
            }
            Self::OneClass { .. } if rho.abs() <= solution.rounding => {
                solution.report.warnings.push(
                    "the decision function is zero everywhere up to rounding, because the kernel does not separate the samples \
                     from the origin; use one that does, such as rbf"
                        .into(),
                );
            }
            Self::Svc { .. } | Self::Svr { .. } | Self::OneClass { .. } => {}
        }
        Ok(Decision { coefficients: solution.beta, rho, epsilon, report: solution.report })
    }
}

/// C, checked.
pub(super) fn check_cost(c: f64) -> Result<f64, LearnError> {
    if c > 0.0 && c.is_finite() {
        return Ok(c);
    }
    Err(LearnError::parameter("C", c, "a finite number above 0"))
}

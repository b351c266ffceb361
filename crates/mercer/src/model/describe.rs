//! The description of a model, printed by `mercer info --json` and Python's `info`.

use std::fmt;

use crate::data::{AnySamples, Schema};
use crate::design::Features;
use crate::kernel::Kernel;
use crate::kernel::check::Domain;

use super::{
    Expansion, FORMAT, Facts, GaussianClasses, GaussianProcess, Model, Pairs, Predictor, Rule, Voted, Weights,
};

impl Model {
    /// The model without its arrays.
    #[must_use]
    pub fn description(&self) -> Facts {
        let columns = self.schema.as_ref().map(Schema::feature_names).unwrap_or_default();
        let mut facts = self
            .predictor
            .description()
            .with("format", FORMAT)
            .with("method", self.method)
            .with("settings", &self.settings)
            .with("outputs", &self.outputs)
            .with("columns", columns)
            .with("scaling", &self.scaling)
            .with("report", &self.report);
        if let Some(classes) = &self.classes {
            facts.set("classes", classes);
        }
        if let Some(label_type) = &self.label_type {
            facts.set("label_type", label_type);
        }
        if let Some(calibration) = &self.calibration {
            facts.set("calibration", calibration);
        }
        facts
    }
}

impl Predictor {
    /// The predictor without its arrays: kernel and domain, feature map, or rule, and the sizes of the arrays.
    #[must_use]
    pub fn description(&self) -> Facts {
        match self {
            Self::Expansion(Expansion { kernel, domain, centres, intercepts, .. }) => {
                over_centres(kernel, *domain, centres).with("intercepts", intercepts)
            }
            Self::GaussianClasses(GaussianClasses { latent }) => {
                over_centres(&latent.kernel, latent.domain, &latent.centres)
            }
            Self::GaussianProcess(process) => {
                let GaussianProcess { mean, scales, noise, .. } = process;
                over_centres(&mean.kernel, mean.domain, &mean.centres)
                    .with("intercepts", &mean.intercepts)
                    .with("scales", scales)
                    .with("noise", noise)
                    .with("variance", process.has_variance())
            }
            Self::Linear(linear) => {
                let facts = Facts::new()
                    .with("features", linear.map.to_string())
                    .with("feature_count", linear.weights.nrows())
                    .with("intercepts", &linear.intercepts);
                match &linear.map {
                    Features::Fourier(fourier) => {
                        facts.with("kernel", &fourier.spec.kernel).with("random", &fourier.spec)
                    }
                    _ => facts,
                }
            }
            Self::Neighbours(neighbours) => {
                Facts::new().with("rule", &neighbours.rule).with("rows", size(&neighbours.rows))
            }
            Self::Voted(Voted { kernel, domain, centres, steps, .. }) => {
                over_centres(kernel, *domain, centres).with("steps", steps.len())
            }
            Self::Pairs(Pairs { kernel, domain, centres, per_class, rho, .. }) => {
                over_centres(kernel, *domain, centres).with("per_class", per_class).with("rho", rho)
            }
        }
    }
}

/// The common part of predictors over a kernel and stored rows.
fn over_centres(kernel: &Kernel, domain: Option<Domain>, centres: &AnySamples<'_>) -> Facts {
    let domain = domain.map(|domain| domain.to_string());
    Facts::new().with("kernel", kernel).with("domain", domain).with("centres", size(centres))
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Nearest { k, weights, metric } => {
                let weights = match weights {
                    Weights::Uniform => "all alike",
                    Weights::Distance => "by 1/distance",
                };
                match k {
                    1 => write!(f, "the nearest row by {} distance", metric.name()),
                    k => write!(f, "the {k} nearest rows by {} distance, weighted {weights}", metric.name()),
                }
            }
            Self::Smoother { kernel } => write!(f, "all rows, weighted by {kernel}"),
        }
    }
}

fn size(samples: &AnySamples<'_>) -> Facts {
    Facts::new()
        .with("rows", samples.nrows())
        .with("columns", samples.ncols())
        .with("sparse", samples.is_sparse())
}

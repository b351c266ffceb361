//! The description of a model, printed by `mercer info --json` and Python's `info`.

use std::fmt;

use crate::data::{AnySamples, Schema};
use crate::design::Features;

use super::{Expansion, FORMAT, Facts, Model, Pairs, Predictor, Rule, Voted, Weights};

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
        let facts = self.basis().map_or_else(Facts::new, |(kernel, domain, centres)| {
            let domain = domain.map(|domain| domain.to_string());
            Facts::new().with("kernel", kernel).with("domain", domain).with("centres", size(centres))
        });
        match self {
            Self::Expansion(Expansion { intercepts, .. }) => facts.with("intercepts", intercepts),
            Self::GaussianClasses(_) => facts,
            Self::GaussianProcess(process) => facts
                .with("intercepts", &process.mean.intercepts)
                .with("scales", &process.scales)
                .with("noise", process.noise)
                .with("variance", process.has_variance()),
            Self::Linear(linear) => {
                let facts = facts
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
                facts.with("rule", &neighbours.rule).with("rows", size(&neighbours.rows))
            }
            Self::Voted(Voted { steps, .. }) => facts.with("steps", steps.len()),
            Self::Pairs(Pairs { per_class, rho, .. }) => facts.with("per_class", per_class).with("rho", rho),
        }
    }
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

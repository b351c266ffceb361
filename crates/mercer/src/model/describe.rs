//! A model in words: what `mercer info --json` and Python's `info` say.

use std::collections::BTreeMap;
use std::fmt;

use serde_json::{Value, json};

use crate::data::{AnySamples, Schema};
use crate::design::Features;
use crate::kernel::Kernel;
use crate::kernel::check::Domain;

use super::{
    Expansion, FORMAT, GaussianClasses, GaussianProcess, Model, Pairs, Predictor, Rule, Voted, Weights,
};

impl Model {
    /// The model without its arrays, as one JSON object.
    #[must_use]
    pub fn description(&self) -> Value {
        let mut object = json!({
            "format": FORMAT,
            "method": self.method,
            "settings": self.settings,
            "outputs": self.outputs,
            "columns": self.schema.as_ref().map(Schema::feature_names).unwrap_or_default(),
            "scaling": self.scaling,
            "report": self.report,
        });
        for (key, value) in self.predictor.description() {
            object[key] = value;
        }
        if let Some(classes) = &self.classes {
            object["classes"] = json!(classes);
        }
        if let Some(label_type) = &self.label_type {
            object["label_type"] = json!(label_type);
        }
        if let Some(calibration) = &self.calibration {
            object["calibration"] = json!(calibration);
        }
        object
    }
}

impl Predictor {
    /// The predictor without its arrays: kernel and domain, feature map, or rule, and the size of what is kept.
    #[must_use]
    pub fn description(&self) -> BTreeMap<&'static str, Value> {
        match self {
            Self::Expansion(Expansion { kernel, domain, centres, intercepts, .. }) => {
                over_centres(kernel, *domain, centres, [("intercepts", json!(intercepts))])
            }
            Self::GaussianClasses(GaussianClasses { latent }) => {
                over_centres(&latent.kernel, latent.domain, &latent.centres, [])
            }
            Self::GaussianProcess(process) => {
                let GaussianProcess { mean, scales, noise, .. } = process;
                let own = [
                    ("intercepts", json!(mean.intercepts)),
                    ("scales", json!(scales)),
                    ("noise", json!(noise)),
                    ("variance", json!(process.has_variance())),
                ];
                over_centres(&mean.kernel, mean.domain, &mean.centres, own)
            }
            Self::Linear(linear) => {
                let mut words = BTreeMap::from([
                    ("features", json!(linear.map.to_string())),
                    ("feature_count", json!(linear.weights.nrows())),
                    ("intercepts", json!(linear.intercepts)),
                ]);
                if let Features::Fourier(fourier) = &linear.map {
                    words.extend([("kernel", json!(fourier.spec.kernel)), ("random", json!(fourier.spec))]);
                }
                words
            }
            Self::Neighbours(neighbours) => {
                BTreeMap::from([("rule", json!(neighbours.rule)), ("rows", size(&neighbours.rows))])
            }
            Self::Voted(Voted { kernel, domain, centres, steps, .. }) => {
                over_centres(kernel, *domain, centres, [("steps", json!(steps.len()))])
            }
            Self::Pairs(Pairs { kernel, domain, centres, per_class, rho, .. }) => {
                over_centres(kernel, *domain, centres, [("per_class", json!(per_class)), ("rho", json!(rho))])
            }
        }
    }
}

/// What predictors over a kernel and kept rows have in common, and what one has besides.
fn over_centres<const N: usize>(
    kernel: &Kernel,
    domain: Option<Domain>,
    centres: &AnySamples<'_>,
    own: [(&'static str, Value); N],
) -> BTreeMap<&'static str, Value> {
    let domain = json!(domain.map(|domain| domain.to_string()));
    let common = [("kernel", json!(kernel)), ("domain", domain), ("centres", size(centres))];
    common.into_iter().chain(own).collect()
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

fn size(samples: &AnySamples<'_>) -> Value {
    json!({ "rows": samples.nrows(), "columns": samples.ncols(), "sparse": samples.is_sparse() })
}

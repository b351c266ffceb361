//! Predictors and approximations described for people.

use mercer::design::Approximation;
use mercer::kernel::Kernel;
use mercer::kernel::check::Domain;
use mercer::learn::Facts;
use mercer::model::Predictor;
use serde_json::Value;

/// Labelled lines on a predictor.
pub fn lines(predictor: &Predictor) -> Vec<(&'static str, String)> {
    match predictor {
        Predictor::Expansion(expansion) => kernel(&expansion.kernel, expansion.domain),
        Predictor::Pairs(pairs) => kernel(&pairs.kernel, pairs.domain),
        Predictor::GaussianClasses(classes) => kernel(&classes.latent.kernel, classes.latent.domain),
        Predictor::GaussianProcess(process) => {
            let mut lines = kernel(&process.mean.kernel, process.mean.domain);
            let deviations: Vec<String> =
                process.scales.iter().map(|scale| format!("{:.6}", scale * process.noise.sqrt())).collect();
            lines.push(("noise", format!("standard deviation {}", deviations.join(", "))));
            if process.factor.is_none() {
                lines.push(("variance", "left out: there are no standard deviations".to_owned()));
            }
            lines
        }
        Predictor::Linear(linear) => {
            vec![("features", format!("{} ({} of them)", linear.map, linear.weights.nrows()))]
        }
        Predictor::Neighbours(neighbours) => vec![("rule", neighbours.rule.to_string())],
        Predictor::Voted(voted) => {
            let mut lines = kernel(&voted.kernel, voted.domain);
            lines.push(("voters", voted.steps.iter().filter(|step| step.votes > 0).count().to_string()));
            lines
        }
    }
}

fn kernel(kernel: &Kernel, domain: Option<Domain>) -> Vec<(&'static str, String)> {
    let mut lines = vec![("kernel", kernel.to_string())];
    lines.extend(
        domain.map(|domain| ("check", format!("proven positive semidefinite on {}", domain.describe()))),
    );
    lines
}

/// Lines about what a Gaussian process learnt: its likelihood, and its hyper-parameters, those of single columns from the most to the
/// least relevant.
pub fn learnt(facts: &Facts, columns: &[String]) -> Vec<(&'static str, String)> {
    let Some(parameters) = facts.get("parameters").and_then(Value::as_array) else { return Vec::new() };
    let likelihood = facts.get("log_likelihood").and_then(Value::as_f64).unwrap_or(f64::NAN);
    let error = facts.get("log_likelihood_error").and_then(Value::as_f64);
    let error = error.map_or(String::new(), |error| {
        let probes = facts.get("probes").and_then(Value::as_u64).unwrap_or_default();
        format!(", estimated from {probes} random probes with a standard error of {error:.2}")
    });
    let mut lines =
        vec![("likelihood", format!("log-likelihood {likelihood:.4} of the normalised targets{error}"))];
    let name = |column: &Value| {
        let place = column.as_u64().and_then(|c| usize::try_from(c).ok());
        place.and_then(|c| columns.get(c).cloned()).unwrap_or_else(|| column.to_string())
    };
    let mut rows: Vec<(f64, String)> = Vec::new();
    for parameter in parameters {
        let value = parameter["value"].as_f64().unwrap_or(f64::NAN);
        let of = parameter["columns"].as_array().map_or(&[][..], Vec::as_slice);
        let subset = match of {
            [] => String::new(),
            several => format!(" [{}]", several.iter().map(name).collect::<Vec<_>>().join(", ")),
        };
        let bound =
            parameter["at_bound"].as_str().map_or(String::new(), |end| format!("  at its {end} bound"));
        let (kernel, parameter) = (
            parameter["kernel"].as_str().unwrap_or_default(),
            parameter["parameter"].as_str().unwrap_or_default(),
        );
        let is_length = ["sigma", "length", "radius"].contains(&parameter);
        // A column with a long length scale hardly matters; other parameters stay before the columns.
        let rank = match (of.len(), is_length, parameter) {
            (1, true, _) => value,
            (1, _, "gamma") => 1.0 / value,
            _ => 0.0,
        };
        rows.push((rank, format!("{:<24} {value:.6}{bound}", format!("{kernel} {parameter}{subset}"))));
    }
    rows.sort_by(|a, b| a.0.total_cmp(&b.0));
    let labels = std::iter::once("parameters").chain(std::iter::repeat(""));
    lines.extend(labels.zip(rows).map(|(label, (_, row))| (label, row)));
    lines
}

/// Lines about an approximation from the facts of a fit, with the reason for it where there is one.
pub fn approximation(
    facts: &Facts,
    approximation: Approximation,
    reason: Option<String>,
) -> Vec<(&'static str, String)> {
    let count = approximation.features();
    let kind = match approximation {
        Approximation::Fourier { .. } => "random features",
        Approximation::Nystrom { .. } => "landmarks",
    };
    let number = |value: Option<&Value>| value.and_then(Value::as_f64).unwrap_or(f64::NAN);
    let mut lines = vec![("approximation", format!("{count} {kind}"))];
    lines.extend(reason.map(|reason| ("", reason)));
    lines.push((
        "quality",
        format!(
            "relative kernel error {:.1e} on a sample; effective dimension about {:.0} of {count}",
            number(facts.get("kernel_error")),
            number(facts.get("effective_dimension"))
        ),
    ));
    let sizes = facts.get("sizes").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
    for size in sizes {
        let name = match size["target"].as_str() {
            Some(target) if sizes.len() > 1 => format!("{target}: "),
            _ => String::new(),
        };
        lines.push((
            "",
            format!(
                "{name}RMSE {:.6} with half as many, {:.6} with these, about {:.6} with twice as many",
                number(size.get("rmse_half")),
                number(size.get("rmse")),
                number(size.get("rmse_doubled_about"))
            ),
        ));
    }
    lines
}

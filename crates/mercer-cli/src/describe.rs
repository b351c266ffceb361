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
